"""Ask until something else makes the question pointless."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def run_until(stop: Callable[[], Awaitable[object]], ask: Callable[[], Awaitable[T]]) -> T | None:
    """
    Ask, but no longer than until *stop* returns.

    Returns:
        What *ask* returned; None if *stop* was first, and *ask* was cancelled.

    Raises:
        Exception: Whatever *ask* raises, as it is.
    """
    outcome: T | None = None
    failure: Exception | None = None

    async def run() -> None:
        nonlocal outcome, failure
        try:
            outcome = await ask()
        except Exception as error:  # noqa: BLE001 -- raised again, outside of the group that would wrap it
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
    return outcome


def is_trio() -> bool:
    """Tell whether the event loop that runs this is one of trio, and not of asyncio."""
    trio = sys.modules.get("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_run())


class Waker:
    """One who waits, in the event loop in which this was made, to be woken from any thread."""

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
        """Wake whoever waits, now or later."""
        if threading.get_ident() == self._thread:
            self._event.set()
        else:
            self._schedule(self._event.set)

    async def wait(self) -> None:
        """Wait to be woken."""
        await self._event.wait()
