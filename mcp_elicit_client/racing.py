"""Ask until something else makes the question pointless."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

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
