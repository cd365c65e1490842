"""
The terminal line by line, and the parts that forms and URLs share there.

A thread in ``input()`` cannot be cancelled and keeps the process alive until
the user presses Enter.  Therefore the event loop watches the terminal's file
descriptor and reads complete lines.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio

from mcp_elicit_client.handlers.terminal.host_application import suspended_host
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import request_details, title_line
from mcp_elicit_client.presentation.quoting import quote, wrap
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.typing import Request, UrlRequest

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment,unused-ignore]

_INTERRUPT = b"\x03"
_POLL = 0.05
"""Seconds between two checks whether the terminal is free."""

_MIN_WIDTH = 20


class EndOfInputError(Exception):
    """The input of the console has ended."""


class InterruptedByUserError(Exception):
    """The user pressed Ctrl+C."""


class Console(Protocol):
    """A place to show lines and to read lines that the user types."""

    @property
    def width(self) -> int:
        """The number of columns."""
        ...

    def write(self, text: str) -> None:
        """Show *text* and a line break."""
        ...

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        """
        Show *prompt* and wait for a line.

        Input from before the prompt is discarded, because it was meant for
        something else.

        Args:
            prompt: The prompt, shown without a line break.
            hidden: Do not show the input.

        Raises:
            EndOfInputError: If the input has ended.
            InterruptedByUserError: If the user pressed Ctrl+C.
        """
        ...


class Tty:
    """The terminal of this process."""

    def __init__(self, reader: int, writer: int, encoding: str) -> None:
        self._reader = reader
        self._writer = writer
        self._encoding = encoding
        self._mode = termios.tcgetattr(reader)

    @property
    def width(self) -> int:
        return shutil.get_terminal_size().columns

    def write(self, text: str) -> None:
        self._put(f"{text}\n")

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        self._set_mode(echo=not hidden)
        termios.tcflush(self._reader, termios.TCIFLUSH)
        self._put(prompt)
        typed = b""
        while b"\n" not in typed:
            await anyio.wait_readable(self._reader)
            typed += self._read()
        if hidden:
            self._put("\n")
        return typed.partition(b"\n")[0].decode(self._encoding, "replace")

    def restore(self) -> None:
        """Restore the mode that the terminal had before."""
        termios.tcsetattr(self._reader, termios.TCSANOW, self._mode)

    def _read(self) -> bytes:
        try:
            typed = os.read(self._reader, 65_536)
        except OSError:  # the terminal was closed
            raise EndOfInputError from None
        if not typed:
            raise EndOfInputError
        if _INTERRUPT in typed:
            self._put("\n")
            raise InterruptedByUserError
        return typed

    def _set_mode(self, *, echo: bool) -> None:
        # The terminal itself edits lines.  Ctrl+C ends the line instead of
        # stopping the host: it cancels the request and nothing else.
        mode: list[Any] = [each[:] if isinstance(each, list) else each for each in self._mode]
        mode[3] |= termios.ICANON | termios.ISIG | termios.ECHO
        if not echo:
            mode[3] &= ~termios.ECHO
        mode[6][termios.VINTR] = bytes([os.fpathconf(self._reader, "PC_VDISABLE")])
        mode[6][termios.VEOL] = _INTERRUPT
        termios.tcsetattr(self._reader, termios.TCSANOW, mode)

    def _put(self, text: str) -> None:
        data = text.encode(self._encoding, "backslashreplace")
        while data:
            data = data[os.write(self._writer, data) :]


class _TerminalQueue:
    """A queue for the terminal of this process, across threads and event loops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[object] = deque()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        ticket = object()
        with self._lock:
            self._waiting.append(ticket)
        try:
            while self._waiting[0] is not ticket:  # noqa: ASYNC110 -- no event spans event loops
                await anyio.sleep(_POLL)
            yield
        finally:
            with self._lock:
                self._waiting.remove(ticket)


_turns = _TerminalQueue()


@asynccontextmanager
async def terminal() -> AsyncIterator[Tty | None]:
    """
    Wait for the terminal of this process, use it, and restore its mode.

    Yields:
        The terminal.  None if no user can answer there: there is no terminal,
        or this process runs in its background.
    """
    async with _turns.turn():
        with suspended_host():
            tty = _find()
            try:
                yield tty
            finally:
                if tty is not None:
                    tty.restore()


def _find() -> Tty | None:
    if termios is None:
        return None
    try:
        reader = sys.stdin.fileno()
        writer = next((each.fileno() for each in (sys.stdout, sys.stderr) if each.isatty()), None)
        if writer is None or not os.isatty(reader) or os.tcgetpgrp(reader) != os.getpgrp():
            return None
        return Tty(reader, writer, sys.stdin.encoding or "utf-8")
    except (AttributeError, OSError, ValueError):  # closed, or replaced by an object without a descriptor
        return None


# --- Parts that forms and URLs share


def introduce(console: Console, request: Request, catalog: MessageCatalog) -> None:
    """Show the server's text first, and then, nearest to the cursor, the server's name and request."""
    console.write("")
    console.write(quote(request.message, console.width))
    console.write("")
    if isinstance(request, UrlRequest):
        console.write(f"{catalog.text(messages.FULL_URL)}\n{quote(request.target.as_sent, console.width)}\n")
    for warning in request_warnings(request, catalog):
        say(console, warning_line(warning, catalog))
    for detail in request_details(request, catalog):
        say_with_quote(console, detail.label, detail.text)
    console.write(catalog.text(messages.LEGEND))
    if request.deadline is not None:
        say(console, catalog.text(messages.EXPIRES_AT, time=f"{request.deadline.astimezone():%H:%M:%S}"))
    say(console, title_line(request, catalog))


def say(console: Console, text: str) -> None:
    """Show text of the host, broken between words."""
    console.write(wrap(text, max(console.width - 1, _MIN_WIDTH), hanging=2))


def say_with_quote(console: Console, label: str, text: str) -> None:
    """Show a label of the host, and below it *text* as a quotation."""
    say(console, f"{label}:")
    console.write(quote(text, console.width))


async def decide(
    console: Console, choices: Sequence[str], catalog: MessageCatalog, *, default: str | None = None
) -> str:
    """
    Wait for one of *choices*, typed in full after the prompt was shown.

    A choice such as ``edit N`` has an argument.  Without a *default*, an
    empty line selects nothing.
    """
    simple = {choice for choice in choices if " " not in choice}
    with_argument = {choice.split()[0] for choice in choices if " " in choice}
    hint = f" [{default}]" if default is not None else ""
    while True:
        typed = (await console.ask(f"{' / '.join(choices)}{hint}: ")).strip().casefold().removeprefix("/")
        if not typed and default is not None:
            return default
        if typed in simple or (typed.split()[:1] and typed.split()[0] in with_argument):
            return typed
        console.write(catalog.text(messages.TYPE_ONE_OF, choices=", ".join(choices)))
