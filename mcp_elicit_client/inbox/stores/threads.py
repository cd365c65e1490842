"""Threads that use a database: `run_in_thread` does not wait for them if its task is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from mcp_elicit_client._concurrency import OfEventLoop
from mcp_elicit_client.exceptions import InboxError

T = TypeVar("T")

MAX_THREADS = 8
"""The maximum number of threads of one event loop."""

_limiter = OfEventLoop("mcp_elicit_client.inbox.limiter", lambda: anyio.CapacityLimiter(MAX_THREADS))
"""The host's own threads stay free."""

_is_abandoned: ContextVar[threading.Event | None] = ContextVar("is_abandoned", default=None)


async def run_in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """
    Run *function* in a thread.  If this is cancelled, it returns at once.

    The thread then ends by itself, and what it has not yet committed is
    rolled back.
    """
    is_abandoned = threading.Event()

    def run() -> T:
        _is_abandoned.set(is_abandoned)  # in the thread's copy of the context
        return function(*arguments)

    try:
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=_limiter.get())
    except BaseException:
        is_abandoned.set()
        raise


def stop_if_abandoned() -> None:
    """
    End the work of a thread whose task was cancelled.

    Raises:
        InboxError: If the task was cancelled.
    """
    is_abandoned = _is_abandoned.get()
    if is_abandoned is not None and is_abandoned.is_set():
        raise InboxError("The task was cancelled.")
