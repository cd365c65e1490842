"""Helpers for asyncio and trio: `run_until`, `is_trio` and `Waker`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def run_until(stop: Callable[[], Awaitable[object]], work: Callable[[], Awaitable[T]]) -> T | None:
    """
    Run *work* until it returns, or until *stop* returns.

    Returns:
        The result of *work*; None if *stop* returned first, and *work* was
        cancelled.

    Raises:
        Exception: The exception of *work*.
    """
    result: T | None = None
    failure: Exception | None = None

    async def run() -> None:
        nonlocal result, failure
        try:
            result = await work()
        except Exception as error:  # noqa: BLE001 -- raised again outside of the group, which would wrap it
            failure = error
        group.cancel_scope.cancel()

    async def watch() -> None:
        await stop()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        group.start_soon(run)
    if failure is not None:
        raise failure
    return result


def is_trio() -> bool:
    """Return True if the running event loop is one of trio, False if it is one of asyncio."""
    trio = sys.modules.get("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_run())


class Waker:
    """Wakes one waiting task from any thread.  Create it in the event loop that waits."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._thread = threading.get_ident()
        self._schedule: Any
        if is_trio():
            import trio.lowlevel

            self._schedule = trio.lowlevel.current_trio_token().run_sync_soon
        else:
            import asyncio

            self._schedule = asyncio.get_running_loop().call_soon_threadsafe

    def wake(self) -> None:
        """Wake the task that waits, now or later."""
        if threading.get_ident() == self._thread:
            self._event.set()
        else:
            self._schedule(self._event.set)

    async def wait(self) -> None:
        """Wait until `wake` is called."""
        await self._event.wait()
