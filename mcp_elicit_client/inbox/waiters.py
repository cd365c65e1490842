"""Tasks of this process that wait for an answer, or for any change of an owner's requests."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

import anyio

from mcp_elicit_client._concurrency import Waker, is_trio
from mcp_elicit_client.inbox.stores.models import Resolution


class AnswerWaiter:
    """
    Holds the resolution of a request for one waiting task.  Create it in the event loop that waits.

    Thousands may wait at once.  On asyncio it is a future and a timer, which
    need a third of the memory of an event and a cancel scope.

    Attributes:
        resolution: The resolution, once it was delivered.
    """

    __slots__ = ("_waker", "resolution")

    def __init__(self) -> None:
        self.resolution: Resolution | None = None
        self._waker: Waker | asyncio.Future[None] = Waker() if is_trio() else asyncio.get_running_loop().create_future()

    def deliver(self, resolution: Resolution) -> None:
        """Wake the task with *resolution*, from any thread.  Only the first one counts."""
        if self.resolution is not None:
            return
        self.resolution = resolution
        if isinstance(self._waker, Waker):
            self._waker.wake()
        else:
            _finish_from_any_thread(self._waker)

    async def wait(self, seconds: float) -> Resolution | None:
        """Return the resolution; None if none is delivered within *seconds*.  Then this can be called again."""
        if isinstance(self._waker, Waker):
            with anyio.move_on_after(max(seconds, 0)):
                await self._waker.wait()
            return self.resolution
        if self._waker.done():
            self._waker = self._waker.get_loop().create_future()
        if self.resolution is not None:
            return self.resolution
        timer = self._waker.get_loop().call_later(max(seconds, 0), _finish, self._waker)
        try:
            await self._waker
        finally:
            timer.cancel()
        return self.resolution


class ChangeNotifier:
    """Wakes one task when a request of an owner may have changed."""

    def __init__(self) -> None:
        self._waker = Waker()

    def notify(self) -> None:
        """Wake the task, from any thread.  If it does not wait, its next wait ends at once."""
        self._waker.wake()

    async def wait(self, seconds: float) -> None:
        """Wait for a notification since the last wait, at most *seconds*."""
        with anyio.move_on_after(seconds):
            await self._waker.wait()
            self._waker = Waker()


class WaiterRegistry:
    """
    The answer waiters and change notifiers of one store in one process.  Thread-safe.

    Its truth value is False if no task waits.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[str, AnswerWaiter] = {}
        self._notifiers: dict[str, set[ChangeNotifier]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiters or self._notifiers)

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._waiters

    @property
    def watched_owners(self) -> tuple[str, ...]:
        """The owners that have a change notifier."""
        with self._lock:
            return tuple(self._notifiers)

    def add(self, entry_id: str) -> AnswerWaiter:
        """Return a waiter for one request, in the running event loop.  Call it before the request is stored."""
        waiter = AnswerWaiter()
        with self._lock:
            self._waiters[entry_id] = waiter
        return waiter

    def remove(self, entry_id: str) -> None:
        """Remove the waiter for one request."""
        with self._lock:
            self._waiters.pop(entry_id, None)

    def deliver(self, entry_id: str, resolution: Resolution) -> None:
        """Wake the task that waits for a request, if it is in this process."""
        waiter = self._waiters.get(entry_id)
        if waiter is not None:
            waiter.deliver(resolution)

    @contextlib.contextmanager
    def change_notifier(self, owner: str) -> Iterator[ChangeNotifier]:
        """Provide a notifier for the requests of *owner*."""
        notifier = ChangeNotifier()
        with self._lock:
            self._notifiers.setdefault(owner, set()).add(notifier)
        try:
            yield notifier
        finally:
            with self._lock:
                self._notifiers[owner].discard(notifier)
                if not self._notifiers[owner]:
                    del self._notifiers[owner]

    def notify(self, owner: str) -> None:
        """Wake the tasks that watch *owner*."""
        with self._lock:
            notifiers = tuple(self._notifiers.get(owner, ()))
        for notifier in notifiers:
            notifier.notify()

    def notify_all(self) -> None:
        """Wake all tasks that watch an owner."""
        for owner in self.watched_owners:
            self.notify(owner)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _finish_from_any_thread(future: asyncio.Future[None]) -> None:
    loop = future.get_loop()
    try:
        is_this_loop = asyncio.get_running_loop() is loop
    except RuntimeError:
        is_this_loop = False
    if is_this_loop:
        _finish(future)
        return
    # The event loop may have ended.  Then no task waits any more.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(_finish, future)
