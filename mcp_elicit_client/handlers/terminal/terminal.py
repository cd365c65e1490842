"""The terminal of this process as a console: for one request at a time, on POSIX and on Windows."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio

from mcp_elicit_client._concurrency import LoopHandle, is_trio
from mcp_elicit_client.handlers.terminal.console import TerminalConsole, output_terminal

_IS_WINDOWS = sys.platform == "win32"

_POLL = 0.05
"""Seconds between two checks whether the terminal is free."""


class _TerminalQueue:
    """A queue for the terminal of this process, across threads and event loops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[LoopHandle] = deque()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        ticket = LoopHandle()
        with self._lock:
            self._waiting.append(ticket)
        try:
            while not self._is_first(ticket):  # noqa: ASYNC110 -- no event spans event loops
                await anyio.sleep(_POLL)
            yield
        finally:
            with self._lock, suppress(ValueError):
                self._waiting.remove(ticket)

    def _is_first(self, ticket: LoopHandle) -> bool:
        """Return True if it is the turn of *ticket*.  Those whose event loop was stopped lose theirs."""
        with self._lock:
            if ticket not in self._waiting:
                self._waiting.append(ticket)
            while self._waiting[0].is_stopped():
                self._waiting.popleft()
            return self._waiting[0] is ticket


_turns = _TerminalQueue()


@asynccontextmanager
async def terminal() -> AsyncIterator[TerminalConsole | None]:
    """
    Wait for the terminal of this process, use it, and restore its mode.

    Yields:
        The terminal.  None if no user can answer there: there is no terminal,
        or this process runs in its background.
    """
    async with _turns.turn():
        with _suspended_host():
            console = _find()
            try:
                yield console
            finally:
                if console is not None:
                    console.restore()


@contextmanager
def _suspended_host() -> Iterator[None]:
    """Suspend the Textual application of the current task, and what reads the terminal in its event loop."""
    context = sys.modules.get("textual._context")
    app = context.active_app.get(None) if context is not None else None
    transport = _transport_of_host()
    with ExitStack() as stack:
        if transport is not None:
            transport.pause_reading()
            stack.callback(transport.resume_reading)
        if app is not None and app.is_running and not app.is_headless:
            stack.enter_context(app.suspend())
            # Nothing may be drawn until the application has the terminal again.
            stack.enter_context(app.batch_update())
        yield


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the current event loop of asyncio; None with trio."""
    return None if is_trio() else asyncio.get_running_loop()


@asynccontextmanager
async def suspended_prompt() -> AsyncIterator[None]:
    """
    Suspend the application of prompt_toolkit that runs in the current event loop, if there is one.

    The interactive form does so itself.
    """
    module = sys.modules.get("prompt_toolkit.application")
    app = module.get_app_or_none() if module is not None else None
    if module is None or app is None or not app.is_running or app.loop is not running_loop():
        yield
        return
    async with module.in_terminal():
        yield


def _transport_of_host() -> asyncio.ReadTransport | None:
    """Return the transport with which the host reads the terminal in the current event loop of asyncio, or None."""
    transport = None
    with suppress(AttributeError, KeyError, OSError, ValueError):
        loop: Any = running_loop()
        # There is no public way to know it.
        transport = loop._selector.get_key(sys.stdin.fileno()).data[0]._callback.__self__  # noqa: SLF001
    return transport if isinstance(transport, asyncio.ReadTransport) else None


def _find() -> TerminalConsole | None:
    try:
        return _find_windows_console() if _IS_WINDOWS else _find_posix_console()
    except (AttributeError, OSError, ValueError):  # closed, or replaced by an object without a descriptor
        return None


def _find_posix_console() -> TerminalConsole | None:
    from mcp_elicit_client.handlers.terminal.posix_console import PosixConsole

    reader = sys.stdin.fileno()
    writer = output_terminal()
    if writer is None or not os.isatty(reader) or os.tcgetpgrp(reader) != os.getpgrp():
        return None
    return PosixConsole(reader, writer.fileno(), sys.stdin.encoding or "utf-8")


def _find_windows_console() -> TerminalConsole | None:
    from mcp_elicit_client.handlers.terminal.windows_console import WindowsConsole, WindowsKeyboard

    writer = output_terminal()
    return WindowsConsole(WindowsKeyboard(), writer) if writer is not None and sys.stdin.isatty() else None
