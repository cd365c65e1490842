"""
`PosixConsole`: the terminal of this process on Linux and macOS.

A thread in ``input()`` cannot be cancelled and keeps the process alive until
the user presses Enter.  Therefore the event loop watches the terminal's file
descriptor and reads complete lines.
"""

from __future__ import annotations

import os
import select
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anyio

from mcp_elicit_client.handlers.terminal.console import (
    EndOfInputError,
    InterruptedByUserError,
    LineTooLongError,
    TerminalConsole,
)
from mcp_elicit_client.handlers.terminal.interactive.keyboard import exclusive_keyboard

_INTERRUPT = b"\x03"
_BLANK = b" \t\r\n" + _INTERRUPT
_MAX_READ = 65_536
_MAX_LINE = 4_095
"""The bytes that Linux keeps of a line.  It drops further ones without notice."""
_POLL = 0.1


def is_in_foreground(terminal: int) -> bool:
    """Return True if this process may change the mode of *terminal*, a descriptor."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # It does not control this process.
        return True


class PosixConsole(TerminalConsole):
    """The terminal of this process."""

    def __init__(self, reader: int, writer: int, encoding: str) -> None:
        self._reader = reader
        self._writer = writer
        self.encoding: str = encoding
        self._mode = termios.tcgetattr(reader)

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        self._set_mode(echo=not hidden)
        self.discard()
        self._put(prompt)
        typed = b""
        try:
            while b"\n" not in typed:
                await self._wait(prompt, echo=not hidden)
                typed += self._read()
        except BaseException:
            # Also if this is cancelled: the next reader, such as a shell, must not get the beginning of a line.
            with suppress(OSError, termios.error):
                termios.tcflush(self._reader, termios.TCIFLUSH)
            raise
        if hidden:
            self._put("\n")
        return typed.partition(b"\n")[0].decode(self.encoding, "replace")

    def discard(self) -> bool:
        has_text = False
        while not has_text and select.select([self._reader], [], [], 0)[0]:
            try:
                typed = os.read(self._reader, _MAX_READ)
            except OSError:  # the terminal was closed
                break
            if not typed:
                break
            has_text = bool(typed.strip(_BLANK))
        termios.tcflush(self._reader, termios.TCIFLUSH)
        return has_text

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        reader = self._reader
        with exclusive_keyboard() as keyboard:
            self._reader = keyboard.fileno()
            try:
                yield
            finally:
                self._reader = reader

    def restore(self) -> None:
        termios.tcsetattr(self._reader, termios.TCSANOW, self._mode)

    async def _wait(self, prompt: str, *, echo: bool) -> None:
        """Wait until there is input.  A shell changes the mode while it has stopped this process: set it again."""
        while not await self._has_input():
            if self._has_lost_mode(echo=echo):
                self._set_mode(echo=echo)
                self._put(prompt)

    async def _has_input(self) -> bool:
        """Wait a moment for input.  Return True if there is some."""
        with anyio.move_on_after(_POLL):
            try:
                await anyio.wait_readable(self._reader)
            except OSError:  # The event loop cannot watch this descriptor: on macOS, kqueue refuses /dev/tty.
                await anyio.sleep(_POLL)
        return bool(select.select([self._reader], [], [], 0)[0])

    def _has_lost_mode(self, *, echo: bool) -> bool:
        """Return True if the mode is no longer that of `_set_mode`, and this process may set it."""
        mode = termios.tcgetattr(self._reader)
        is_set = bool(mode[3] & termios.ECHO) == echo and mode[6][termios.VEOL] == _INTERRUPT
        return not is_set and is_in_foreground(self._reader)

    def _read(self) -> bytes:
        try:
            typed = os.read(self._reader, _MAX_READ)
        except OSError:  # the terminal was closed
            raise EndOfInputError from None
        if not typed:
            self._put("\n")
            raise EndOfInputError
        if _INTERRUPT in typed:
            self._put("\n")
            raise InterruptedByUserError
        if len(typed) > _MAX_LINE:
            raise LineTooLongError
        return typed

    def _set_mode(self, *, echo: bool) -> None:
        # The terminal itself edits lines.  Ctrl+C ends the line instead of
        # stopping the host: it cancels the request and nothing else.
        mode: list[Any] = [each[:] if isinstance(each, list) else each for each in self._mode]
        mode[0] |= termios.ICRNL
        mode[3] |= termios.ICANON | termios.ISIG | termios.ECHO
        if not echo:
            mode[3] &= ~termios.ECHO
        mode[6][termios.VINTR] = bytes([os.fpathconf(self._reader, "PC_VDISABLE")])
        mode[6][termios.VEOL] = _INTERRUPT
        termios.tcsetattr(self._reader, termios.TCSANOW, mode)

    def _put(self, text: str) -> None:
        data = text.encode(self.encoding, "backslashreplace")
        while data:
            # A host that reads the terminal with asyncio has made it non-blocking.
            select.select([], [self._writer], [])
            data = data[os.write(self._writer, data) :]
