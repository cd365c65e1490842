"""The terminal of this process, as prompt_toolkit takes it, for as long as it is there."""

from __future__ import annotations

import base64
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import Input
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.output import Output
from prompt_toolkit.output.vt100 import Vt100_Output

from mcp_elicit_client.core.url.inspect import TargetUrl

__all__ = ["copy_through_terminal"]


class _Reader(Vt100Input):
    """Keys of a terminal; its end is the end of input, however it came."""

    def read_keys(self) -> list[KeyPress]:
        keys = super().read_keys()
        if not keys and _is_gone(self.fileno()):
            self.stdin_reader.closed = True
        return keys


class _Writer(Vt100_Output):
    """
    A terminal to draw on; what is drawn after its end goes nowhere.

    It is never asked where its cursor is: the answer would come in as if typed.
    """

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


def _go_on(descriptor: int) -> None:
    """Let a terminal go on that Ctrl+S has stopped: here that key means something else."""
    with suppress(termios.error):
        termios.tcflow(descriptor, termios.TCOOFF)
        termios.tcflow(descriptor, termios.TCOON)


@contextmanager
def open_terminal(reader: Input | None, writer: Output | None) -> Iterator[tuple[Input, Output, TextIO | None]]:
    """
    Open the terminal of this process, unless there are others to read and write.

    Yields:
        Where keys come from, where to draw, and the stream of that terminal
        if it is this process's.
    """
    if reader is not None and writer is not None:
        yield reader, writer, None
        return
    stream = sys.stdout
    screen = _Writer(stream, _size_of(stream), term=os.environ.get("TERM"), enable_cpr=False)
    keys = _Reader(sys.stdin)
    _go_on(keys.fileno())
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
        # Some terminals say 0 when they do not know.
        return Size(rows=rows or 24, columns=columns or 80)

    return size


async def copy_through_terminal(target: TargetUrl) -> bool:
    """
    Put *target* into the clipboard of the user's terminal, with OSC 52.

    Works over SSH, where the terminal allows it; none tells whether it did.
    Pass it as ``copy_url`` to offer it.
    """
    stream = sys.__stdout__
    try:
        if stream is None or not stream.isatty():
            return False
        stream.write(f"\x1b]52;c;{base64.b64encode(target.url.encode()).decode()}\x07")
        stream.flush()
    except (OSError, ValueError):
        return False
    return True
