"""`Console`: where lines are shown and typed."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from mcp_elicit_client.presentation.quoting import escape_for, is_terminal, terminal_width


class EndOfInputError(Exception):
    """The input of the console has ended."""


class InterruptedByUserError(Exception):
    """The user pressed Ctrl+C."""


class LineTooLongError(Exception):
    """The terminal did not keep the end of a line that the user typed or pasted."""


def output_terminal() -> TextIO | None:
    """Return the stream on which the user sees what is written: standard output, or error if that is redirected."""
    return next((each for each in (sys.stdout, sys.stderr) if is_terminal(each)), None)


class Console(Protocol):
    """Shows lines, and reads the lines that the user types."""

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
            LineTooLongError: If the end of the line was lost.
        """
        ...


class TerminalConsole(ABC):
    """The terminal of this process, as a `Console`."""

    encoding: str
    """The encoding of the terminal."""

    @property
    def width(self) -> int:
        """The number of columns."""
        return terminal_width()

    def write(self, text: str) -> None:
        """Show *text* and a line break."""
        self._put(f"{escape_for(self.encoding, text, self.width)}\n")

    @abstractmethod
    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        """Show *prompt* and wait for a line, as `Console.ask`."""

    @abstractmethod
    def discard(self) -> bool:
        """Discard the input from before this call.  Return True if a line of it had text."""

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Take the keys from threads of the host that wait for input."""
        yield

    @abstractmethod
    def restore(self) -> None:
        """Restore the mode that the terminal had before."""

    @abstractmethod
    def _put(self, text: str) -> None:
        """Write *text* as it is."""
