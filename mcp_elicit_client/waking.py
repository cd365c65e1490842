"""Wake somebody who waits in another event loop."""

from __future__ import annotations

import sys
import threading
from typing import Any

import anyio


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
