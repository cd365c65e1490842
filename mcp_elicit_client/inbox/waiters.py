"""Who waits in this process: for one question to be settled, or for any change of an owner's."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager

import anyio

from mcp_elicit_client._concurrency import Waker, is_trio
from mcp_elicit_client.inbox.stores.protocol import Resolution


class AnswerWaiter:
    """
    Where one who asked waits, in the event loop in which this was made.

    Thousands may wait at once: on asyncio it is a future and a timer, which
    take a third of what an event and a cancel scope do.
    """

    __slots__ = ("_future", "_waker", "settlement")

    def __init__(self) -> None:
        self.settlement: Resolution | None = None
        self._future: asyncio.Future[None] | None = None
        self._waker: Waker | None = None
        if is_trio():
            self._waker = Waker()
        else:
            self._future = asyncio.get_running_loop().create_future()

    def deliver(self, settlement: Resolution) -> None:
        """Hand over what became of the question, from any thread; the first counts."""
        if self.settlement is not None:
            return
        self.settlement = settlement
        if self._waker is not None:
            _wake(self._waker)
        elif self._future is not None:
            _finish_anywhere(self._future)

    async def wait(self, seconds: float) -> Resolution | None:
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


class ChangeNotifier:
    """Rings when something of an owner's may have changed."""

    def __init__(self) -> None:
        self._waker = Waker()

    def notify(self) -> None:
        """Wake who waits, now or later, from any thread."""
        _wake(self._waker)

    async def wait(self, seconds: float) -> None:
        """Wait for a ring since the last wait, but no longer than *seconds*."""
        with anyio.move_on_after(seconds):
            await self._waker.wait()
            self._waker = Waker()


class WaiterRegistry:
    """The mailboxes and bells of one store in one process; safe in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mailboxes: dict[str, AnswerWaiter] = {}
        self._bells: dict[str, set[ChangeNotifier]] = {}

    def __bool__(self) -> bool:
        return bool(self._mailboxes or self._bells)

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._mailboxes

    @property
    def owners(self) -> tuple[str, ...]:
        """Whose changes are watched here."""
        with self._lock:
            return tuple(self._bells)

    def open(self, entry_id: str) -> AnswerWaiter:
        """Begin to wait for one question, in the running event loop."""
        mailbox = AnswerWaiter()
        with self._lock:
            self._mailboxes[entry_id] = mailbox
        return mailbox

    def close(self, entry_id: str) -> None:
        """Wait no more for one question."""
        with self._lock:
            self._mailboxes.pop(entry_id, None)

    def deliver(self, entry_id: str, settlement: Resolution) -> bool:
        """Hand over what became of a question; tell whether somebody waits for it here."""
        mailbox = self._mailboxes.get(entry_id)
        if mailbox is not None:
            mailbox.deliver(settlement)
        return mailbox is not None

    @contextlib.contextmanager
    def change_notifier(self, owner: str) -> Iterator[ChangeNotifier]:
        """Have a bell that rings for *owner*."""
        bell = ChangeNotifier()
        with self._lock:
            self._bells.setdefault(owner, set()).add(bell)
        try:
            yield bell
        finally:
            with self._lock:
                self._bells[owner].discard(bell)
                if not self._bells[owner]:
                    del self._bells[owner]

    def notify(self, owner: str) -> None:
        """Ring for those who watch *owner*."""
        with self._lock:
            bells = tuple(self._bells.get(owner, ()))
        for bell in bells:
            bell.notify()

    def notify_all(self) -> None:
        """Ring for all who watch."""
        for owner in self.owners:
            self.notify(owner)


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


class LocalWaiters:
    """What a store has for those who wait in this process."""

    def __init__(self) -> None:
        self._waiting = WaiterRegistry()

    def open(self, entry_id: str) -> AnswerWaiter:
        """Begin to wait for a question of this process."""
        return self._waiting.open(entry_id)

    def close(self, entry_id: str) -> None:
        """Wait for it no more."""
        self._waiting.close(entry_id)

    def change_notifier(self, owner: str) -> AbstractContextManager[ChangeNotifier]:
        """Have a bell that rings when something of *owner*'s may have changed."""
        return self._waiting.change_notifier(owner)
