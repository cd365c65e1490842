"""
The terminal, one line at a time, without a thread.

A thread in ``input()`` cannot be cancelled and keeps the process alive until
somebody presses Enter.  So the terminal's descriptor is watched by the event
loop, and read when the line is there.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment,unused-ignore]

_INTERRUPT = b"\x03"
_TURN = 0.05
"""How often somebody who waits for the terminal looks whether it is free, in seconds."""


class EndOfInputError(Exception):
    """Nobody is at the console any more."""


class InterruptedByUserError(Exception):
    """The user pressed Ctrl-C."""


class Console(Protocol):
    """Where lines are shown and typed."""

    @property
    def width(self) -> int:
        """The number of columns."""
        ...

    def write(self, text: str) -> None:
        """Show *text*, and a line break."""
        ...

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        """
        Show *prompt* and wait for a line.

        What was typed before the prompt was shown counts for nothing: it was
        meant for something else.

        Args:
            prompt: Shown without a line break.
            hidden: Do not show what is typed.

        Raises:
            EndOfInputError: If nobody is there.
            InterruptedByUserError: If the user pressed Ctrl-C.
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
        """Leave the terminal as it was found."""
        termios.tcsetattr(self._reader, termios.TCSANOW, self._mode)

    def _read(self) -> bytes:
        try:
            typed = os.read(self._reader, 65_536)
        except OSError:  # the terminal is gone
            raise EndOfInputError from None
        if not typed:
            raise EndOfInputError
        if _INTERRUPT in typed:
            self._put("\n")
            raise InterruptedByUserError
        return typed

    def _set_mode(self, *, echo: bool) -> None:
        # Whole lines, edited by the terminal itself.  Ctrl-C ends the line in
        # place of killing the host: it cancels the question, nothing else.
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
    """A queue of those who wait for the one terminal, across threads and event loops."""

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
                await anyio.sleep(_TURN)
            yield
        finally:
            with self._lock:
                self._waiting.remove(ticket)


_turns = _TerminalQueue()


@asynccontextmanager
async def terminal() -> AsyncIterator[Tty | None]:
    """
    Take the terminal of this process, when it is free, and give it back as it was.

    None if nobody could answer there: no terminal, or one in whose
    background we run.
    """
    async with _turns.turn():
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
    except (AttributeError, OSError, ValueError):  # closed, or replaced by something without a descriptor
        return None
