"""Who waits in this process: for one question to be settled, or for any change of an owner's."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager

import anyio

from mcp_elicit_client.inbox.stores.base import Settlement
from mcp_elicit_client.waking import Waker, runs_on_trio


class Mailbox:
    """
    Where one who asked waits, in the event loop in which this was made.

    Thousands may wait at once: on asyncio it is a future and a timer, which
    take a third of what an event and a cancel scope do.
    """

    __slots__ = ("_future", "_waker", "settlement")

    def __init__(self) -> None:
        self.settlement: Settlement | None = None
        self._future: asyncio.Future[None] | None = None
        self._waker: Waker | None = None
        if runs_on_trio():
            self._waker = Waker()
        else:
            self._future = asyncio.get_running_loop().create_future()

    def deliver(self, settlement: Settlement) -> None:
        """Hand over what became of the question, from any thread; the first counts."""
        if self.settlement is not None:
            return
        self.settlement = settlement
        if self._waker is not None:
            _wake(self._waker)
        elif self._future is not None:
            _finish_anywhere(self._future)

    async def wait(self, seconds: float) -> Settlement | None:
        """Return what became of the question; None if nothing within *seconds*."""
        if self._future is not None:
            timer = self._future.get_loop().call_later(max(seconds, 0), _finish, self._future)
            try:
                await self._future
            finally:
                timer.cancel()
        elif self._waker is not None:
            with anyio.move_on_after(max(seconds, 0)):
                await self._waker.wait()
        return self.settlement


class Bell:
    """Rings when something of an owner's may have changed."""

    def __init__(self) -> None:
        self._waker = Waker()

    def ring(self) -> None:
        """Wake who waits, now or later, from any thread."""
        _wake(self._waker)

    async def wait(self, seconds: float) -> None:
        """Wait for a ring since the last wait, but no longer than *seconds*."""
        with anyio.move_on_after(seconds):
            await self._waker.wait()
            self._waker = Waker()


class Waiting:
    """The mailboxes and bells of one store in one process; safe in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mailboxes: dict[str, Mailbox] = {}
        self._bells: dict[str, set[Bell]] = {}

    def __bool__(self) -> bool:
        return bool(self._mailboxes or self._bells)

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._mailboxes

    @property
    def owners(self) -> tuple[str, ...]:
        """Whose changes are watched here."""
        with self._lock:
            return tuple(self._bells)

    def open(self, entry_id: str) -> Mailbox:
        """Begin to wait for one question, in the running event loop."""
        mailbox = Mailbox()
        with self._lock:
            self._mailboxes[entry_id] = mailbox
        return mailbox

    def close(self, entry_id: str) -> None:
        """Wait no more for one question."""
        with self._lock:
            self._mailboxes.pop(entry_id, None)

    def deliver(self, entry_id: str, settlement: Settlement) -> bool:
        """Hand over what became of a question; tell whether somebody waits for it here."""
        mailbox = self._mailboxes.get(entry_id)
        if mailbox is not None:
            mailbox.deliver(settlement)
        return mailbox is not None

    @contextlib.contextmanager
    def bell(self, owner: str) -> Iterator[Bell]:
        """Have a bell that rings for *owner*."""
        bell = Bell()
        with self._lock:
            self._bells.setdefault(owner, set()).add(bell)
        try:
            yield bell
        finally:
            with self._lock:
                self._bells[owner].discard(bell)
                if not self._bells[owner]:
                    del self._bells[owner]

    def ring(self, owner: str) -> None:
        """Ring for those who watch *owner*."""
        with self._lock:
            bells = tuple(self._bells.get(owner, ()))
        for bell in bells:
            bell.ring()

    def ring_all(self) -> None:
        """Ring for all who watch."""
        for owner in self.owners:
            self.ring(owner)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _finish_anywhere(future: asyncio.Future[None]) -> None:
    loop = future.get_loop()
    try:
        is_here = asyncio.get_running_loop() is loop
    except RuntimeError:
        is_here = False
    if is_here:
        _finish(future)
        return
    # An event loop that has ended has nobody left to wake.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(_finish, future)


def _wake(waker: Waker) -> None:
    # An event loop that has ended has nobody left to wake.
    with contextlib.suppress(RuntimeError):
        waker.wake()


class WaitsHere:
    """What a store has for those who wait in this process."""

    def __init__(self) -> None:
        self._waiting = Waiting()

    def open(self, entry_id: str) -> Mailbox:
        """Begin to wait for a question of this process."""
        return self._waiting.open(entry_id)

    def close(self, entry_id: str) -> None:
        """Wait for it no more."""
        self._waiting.close(entry_id)

    def bell(self, owner: str) -> AbstractContextManager[Bell]:
        """Have a bell that rings when something of *owner*'s may have changed."""
        return self._waiting.bell(owner)
