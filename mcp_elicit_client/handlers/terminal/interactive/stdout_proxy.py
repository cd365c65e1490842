"""What the host prints while a question is open: above it, whole, and none of it lost."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from prompt_toolkit.application import Application

_TOGETHER = 0.02
"""How long prints are collected before the question is drawn again below them, in seconds."""


class StdoutProxy:
    """
    Puts lines above the question, from any thread.

    A line is shown once it is whole; the rest of one when the question ends.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.RLock()
        self._pending: list[str] = []
        self._scheduled = False
        self._application: Application[Any] | None = None

    def show(self, application: Application[Any]) -> None:
        """Have *application*, which runs in the loop of this call, stay below what is printed."""
        with self._lock:
            self._application = application

    def hide(self) -> None:
        """Go on without a question: what is printed goes straight out."""
        with self._lock:
            self._application = None
            self._write(self._take(everything=True))

    def put(self, text: str) -> None:
        """Print *text*."""
        with self._lock:
            self._pending.append(text)
            application = self._application
            if application is None:
                self._write(self._take(everything=True))
            elif not self._scheduled and application.loop is not None:
                self._scheduled = True
                application.loop.call_soon_threadsafe(self._later, application.loop)

    def _later(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(_TOGETHER, self._flush)

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
        self._pending = [text[end:]] if text[end:] else []
        return text[:end]

    def _write(self, text: str) -> None:
        if text:
            try:
                self._stream.write(text)
                self._stream.flush()
            except OSError:  # the terminal is gone; so is the question, and nobody reads this
                self._pending = []


class _Stream:
    """Stands for a stream of the process while a question is open."""

    def __init__(self, stream: TextIO, above: StdoutProxy) -> None:
        self._stream = stream
        self._above = above

    def write(self, text: str) -> int:
        self._above.put(text)
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Do nothing: whole lines go out by themselves."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def lines_above(stream: TextIO) -> Iterator[StdoutProxy]:
    """
    Take what goes to the terminal through ``sys.stdout``, ``sys.stderr`` and logging.

    What a program writes to the terminal's descriptor itself is not caught.
    """
    above = StdoutProxy(stream)
    originals = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    caught = {name: each for name, each in originals.items() if _is_terminal(each)}
    stands = {id(each): _Stream(each, above) for each in caught.values()}
    for name, each in caught.items():
        setattr(sys, name, stands[id(each)])
    changed: list[tuple[logging.StreamHandler[Any], Any]] = []
    for handler in _stream_handlers():
        original = handler.stream
        if id(original) in stands:
            changed.append((handler, original))
            handler.setStream(stands[id(original)])
    try:
        yield above
    finally:
        for handler, original in changed:
            if isinstance(handler.stream, _Stream):
                handler.setStream(original)
        for name, each in caught.items():
            if getattr(sys, name) is stands[id(each)]:
                setattr(sys, name, each)
        above.hide()


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError, OSError):  # none, closed, or gone
        return False


def _stream_handlers() -> Iterator[logging.StreamHandler[Any]]:
    loggers = [logging.getLogger(), *logging.Logger.manager.loggerDict.values()]
    seen: set[int] = set()
    for logger in loggers:
        for handler in getattr(logger, "handlers", ()):
            if isinstance(handler, logging.StreamHandler) and id(handler) not in seen:
                seen.add(id(handler))
                yield handler
