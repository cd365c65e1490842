"""`WindowsConsole`: the terminal of this process on Windows, key by key."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any, Protocol, TextIO

import anyio

from mcp_elicit_client.handlers.terminal.console import EndOfInputError, InterruptedByUserError, TerminalConsole
from mcp_elicit_client.presentation.quoting import columns

_POLL = 0.02
"""Seconds between two checks for a key: the console cannot be watched by an event loop."""

_STD_INPUT_HANDLE = -10
_ENABLE_PROCESSED_INPUT = 1

_SPECIAL_KEYS = frozenset(";<=>?@ABCDGHIKMOPQRSstuvwx\x85\x86\x87\x8d\x91\x92\x93")
"""The second character of a key that is no text, such as an arrow."""


class Keyboard(Protocol):
    """The keyboard."""

    def waiting(self) -> bool:
        """Return True if a key was pressed that was not read yet."""
        ...

    def read(self) -> str:
        """Return the next key: one UTF-16 code unit."""
        ...

    def restore(self) -> None:
        """Restore the mode that the keyboard had before."""
        ...


class WindowsKeyboard:
    """The keyboard of the console.  While it is used, Ctrl+C is a key and does not stop the host."""

    def __init__(self) -> None:
        self._msvcrt: Any = importlib.import_module("msvcrt")
        self._kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 -- only on Windows
        self._handle = self._kernel.GetStdHandle(_STD_INPUT_HANDLE)
        mode = ctypes.c_ulong()
        self._mode = mode.value if self._kernel.GetConsoleMode(self._handle, ctypes.byref(mode)) else None
        if self._mode is not None:
            self._kernel.SetConsoleMode(self._handle, self._mode & ~_ENABLE_PROCESSED_INPUT)

    def waiting(self) -> bool:
        return bool(self._msvcrt.kbhit())

    def read(self) -> str:
        key: str = self._msvcrt.getwch()
        return key

    def restore(self) -> None:
        if self._mode is not None:
            self._kernel.SetConsoleMode(self._handle, self._mode)


class WindowsConsole(TerminalConsole):
    """
    The terminal of this process.

    Args:
        keyboard: The keyboard.
        writer: The output.
    """

    def __init__(self, keyboard: Keyboard, writer: TextIO) -> None:
        self._keyboard = keyboard
        self._writer = writer
        self.encoding: str = writer.encoding or "utf-8"

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        self.discard()
        self._put(prompt)
        line = _Line()
        try:
            while True:
                key = await self._key()
                if key in ("\r", "\n"):
                    return line.text
                if key == "\x03":
                    raise InterruptedByUserError
                if key == "\x1a" and not line.text:  # Ctrl+Z
                    raise EndOfInputError
                if key in ("\x00", "\xe0") and self._skips_special_key():
                    continue
                echo = line.press(key)
                if not hidden:
                    self._put(echo)
        finally:
            self._put("\n")

    def discard(self) -> bool:
        typed = ""
        while self._keyboard.waiting():
            typed += self._keyboard.read()
        return bool(typed.rpartition("\r")[0].strip())

    def restore(self) -> None:
        self._keyboard.restore()

    async def _key(self) -> str:
        while not self._keyboard.waiting():  # noqa: ASYNC110 -- there is nothing to wait for
            await anyio.sleep(_POLL)
        key = self._keyboard.read()
        if "\ud800" <= key <= "\udbff":  # the first half of a character
            key = (key + self._keyboard.read()).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return key

    def _skips_special_key(self) -> bool:
        """Skip the second half of a special key.  Return False without a second half: ``à`` has the same first half."""
        if not self._keyboard.waiting():
            return False
        return self._keyboard.read() in _SPECIAL_KEYS

    def _put(self, text: str) -> None:
        self._writer.write(text.encode(self.encoding, "backslashreplace").decode(self.encoding))
        self._writer.flush()


class _Line:
    """A line that is edited at its end."""

    def __init__(self) -> None:
        self.text = ""

    def press(self, key: str) -> str:
        """Return what to write to the terminal for *key*."""
        match key:
            case "\x08":
                return self._erase(1)
            case "\x7f" | "\x17":  # Ctrl+Backspace, Ctrl+W
                return self._erase(len(self.text) - self.text.rstrip().rfind(" ") - 1)
            case "\x1b" | "\x15":  # Esc, Ctrl+U
                return self._erase(len(self.text))
            case _ if key.isprintable() or key == "\t":
                typed = " " if key == "\t" else key
                self.text += typed
                return typed
        return ""

    def _erase(self, count: int) -> str:
        erased = self.text[len(self.text) - count :]
        self.text = self.text[: len(self.text) - count]
        return "\b \b" * columns(erased)
