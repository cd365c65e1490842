"""The terminal of this process for prompt_toolkit, and the host's output above the form."""

from __future__ import annotations

import base64
import logging
import os
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import Input
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.output import Output
from prompt_toolkit.output.vt100 import Vt100_Output

from mcp_elicit_client.core.url.inspect import TargetUrl
from mcp_elicit_client.handlers.terminal.console import output_terminal
from mcp_elicit_client.handlers.terminal.interactive.keyboard import exclusive_keyboard
from mcp_elicit_client.handlers.terminal.posix_console import is_in_foreground
from mcp_elicit_client.presentation.quoting import is_terminal

__all__ = ["copy_through_terminal"]

_COLLECT = 0.02
"""Seconds during which output is collected before the form is drawn again."""


class _Reader(Vt100Input):
    """Keys of a terminal.  A terminal that was closed is the end of input."""

    def read_keys(self) -> list[KeyPress]:
        keys = super().read_keys()
        if not keys and _is_gone(self.fileno()):
            self.stdin_reader.closed = True
        return keys


class _Writer(Vt100_Output):
    """
    The output of a terminal.  Output to a closed terminal is discarded.

    The position of the cursor is not requested, because the terminal sends
    it as input.
    """

    def erase_down(self) -> None:
        """Erase the line of the cursor and those below, although the terminal may count other columns than the form."""
        self.write_raw("\r")
        super().erase_down()

    def flush(self) -> None:
        try:
            super().flush()
        except (OSError, ValueError):
            self._buffer.clear()


def _is_gone(descriptor: int) -> bool:
    try:
        termios.tcgetattr(descriptor)
    except termios.error:
        return True
    return False


def _resume_output(descriptor: int) -> None:
    """Resume the output that Ctrl+S may have stopped: in the form, that key sends."""
    with suppress(termios.error):
        termios.tcflow(descriptor, termios.TCOOFF)
        termios.tcflow(descriptor, termios.TCOON)


def regain_mode(reader: Input) -> bool:
    """
    Set the mode of the terminal for the form again, if it is lost: a shell changes it when it has stopped this process.

    Returns:
        True if it was lost.
    """
    # An input of the caller may have no descriptor, or may be closed or no terminal.
    with suppress(NotImplementedError, OSError, ValueError, termios.error):
        is_lost = bool(termios.tcgetattr(reader.fileno())[3] & termios.ICANON)
        if is_lost and is_in_foreground(reader.fileno()):
            reader.raw_mode().__enter__()  # the form itself restores the mode from before
            return True
    return False


@contextmanager
def open_terminal(reader: Input | None, writer: Output | None) -> Iterator[tuple[Input, Output, TextIO | None]]:
    """
    Open the terminal of this process, unless *reader* and *writer* are given.

    Yields:
        The input, the output, and the stream of the terminal if it belongs to
        this process.
    """
    if reader is not None and writer is not None:
        yield reader, writer, None
        return
    stream = output_terminal() or sys.stdout
    screen = _Writer(stream, _size_of(stream), term=os.environ.get("TERM"), enable_cpr=False)
    with exclusive_keyboard() as keyboard:
        keys = _Reader(keyboard)
        _resume_output(keys.fileno())
        try:
            yield reader or keys, writer or screen, stream
        finally:
            keys.close()


def _size_of(stream: TextIO) -> Any:
    def size() -> Size:
        try:
            columns, rows = os.get_terminal_size(stream.fileno())
        except (OSError, ValueError):
            columns, rows = 80, 24
        # Some terminals report 0 if they do not know their size.
        return Size(rows=rows or 24, columns=columns or 80)

    return size


class StdoutProxy:
    """
    Writes the host's output above the form, from any thread.

    Complete lines are written at once, an incomplete one when the form ends.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.RLock()
        self._pending: list[str] = []
        self._scheduled = False
        self._application: Application[Any] | None = None

    def show(self, application: Application[Any]) -> None:
        """Keep *application*, which runs in the current event loop, below the output."""
        with self._lock:
            self._application = application

    def hide(self) -> None:
        """Continue without a form: output is written directly."""
        with self._lock:
            self._application = None
            self._write(self._take(everything=True))

    def put(self, text: str) -> None:
        """Write *text*."""
        with self._lock:
            self._pending.append(text)
            application = self._application
            if application is None:
                self._write(self._take(everything=True))
            elif not self._scheduled and application.loop is not None:
                self._scheduled = True
                loop = application.loop
                loop.call_soon_threadsafe(loop.call_later, _COLLECT, self._flush)

    def _flush(self) -> None:
        with self._lock:
            self._scheduled = False
            text = self._take(everything=self._application is None)
            application = self._application
            if not text:
                return
            if application is None or not application.is_running:
                self._write(text)
                return
            application.renderer.erase()
            application.output.enable_autowrap()
            application.output.flush()
            self._write(text)
        application.invalidate()

    def _take(self, *, everything: bool) -> str:
        text = "".join(self._pending)
        end = len(text) if everything else text.rfind("\n") + 1
        # Of a line that is written again and again, such as a spinner, only the last state counts.
        rest = text[max(text.rstrip("\r").rfind("\r"), end) :]
        self._pending = [rest] if rest else []
        return text[:end]

    def _write(self, text: str) -> None:
        if text:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):  # the terminal was closed
                self._pending = []


class _Stream:
    """Replaces a stream of the process while a form is shown."""

    def __init__(self, stream: TextIO, above: StdoutProxy) -> None:
        self._stream = stream
        self._above = above

    def write(self, text: str) -> int:
        # What the stream cannot write is an error of this call, and not of the form.
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        errors = getattr(self._stream, "errors", None) or "strict"
        self._above.put(text.encode(encoding, errors).decode(encoding, errors))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Do nothing: complete lines are written without it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def lines_above(stream: TextIO) -> Iterator[StdoutProxy]:
    """
    Redirect ``sys.stdout``, ``sys.stderr`` and log handlers that write to the terminal.

    Output that is written directly to the file descriptor is not redirected.
    """
    above = StdoutProxy(stream)
    originals = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    caught = {name: each for name, each in originals.items() if is_terminal(each)}
    replacements = {id(each): _Stream(each, above) for each in caught.values()}
    for name, each in caught.items():
        setattr(sys, name, replacements[id(each)])
    changed: list[tuple[logging.StreamHandler[Any], Any]] = []
    for handler in _stream_handlers():
        original = handler.stream
        if id(original) in replacements:
            changed.append((handler, original))
            handler.setStream(replacements[id(original)])
    try:
        yield above
    finally:
        for handler, original in changed:
            if isinstance(handler.stream, _Stream):
                handler.setStream(original)
        for name, each in caught.items():
            if getattr(sys, name) is replacements[id(each)]:
                setattr(sys, name, each)
        above.hide()


def _stream_handlers() -> Iterator[logging.StreamHandler[Any]]:
    loggers = [logging.getLogger(), *logging.Logger.manager.loggerDict.values()]
    seen: set[int] = set()
    for logger in loggers:
        for handler in getattr(logger, "handlers", ()):
            if isinstance(handler, logging.StreamHandler) and id(handler) not in seen:
                seen.add(id(handler))
                yield handler


async def copy_through_terminal(target: TargetUrl) -> bool:
    """
    Copy *target* to the clipboard of the user's terminal, with OSC 52.

    This also works over SSH if the terminal allows it.  Terminals do not
    report the result.  Pass this function as ``copy_url`` to offer it.

    Returns:
        True if the sequence was written to a terminal.
    """
    stream = next((each for each in (sys.__stdout__, sys.__stderr__) if is_terminal(each)), None)
    if stream is None:
        return False
    try:
        stream.write(f"\x1b]52;c;{base64.b64encode(target.url.encode()).decode()}\x07")
        stream.flush()
    except (OSError, ValueError):
        return False
    return True
