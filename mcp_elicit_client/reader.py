"""`read_in_thread`: large requests are read in a thread, one at a time and fairly."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from mcp_elicit_client._concurrency import Waker
from mcp_elicit_client.core.budgets import Budgets, UserAndServer
from mcp_elicit_client.core.limits import Limits

T = TypeVar("T")

MAX_SMALL = 4_000
"""A request of at most this size is read in the event loop, in about 2 ms."""

SECONDS_PER_SIZE = 2e-7
"""The processor time by size of a small request, in seconds: an estimate."""

_BUDGET = 1.0
_REFILL_TIME = 10.0


@functools.lru_cache(maxsize=64)
def limits_of_small(limits: Limits) -> Limits:
    """Return *limits* for requests that are read in the event loop."""
    return dataclasses.replace(limits, max_request=min(limits.max_request, MAX_SMALL))


class _Job:
    def __init__(
        self, user_and_server: UserAndServer, work: Callable[[], object], when_done: Callable[[], object]
    ) -> None:
        self.user_and_server = user_and_server
        self.work = work
        self.when_done = when_done
        self.result: Any = None
        self.error: BaseException | None = None


class _Reader:
    """The thread.  The next request is one of the server, and of its user, that used the least time."""

    def __init__(self) -> None:
        self._has_thread = False
        self.reset()

    def submit(self, job: _Job) -> None:
        """
        Run *job* in the thread.

        Raises:
            RuntimeError: If the system cannot start the thread.
        """
        with self._changed:
            if not self._has_thread:
                threading.Thread(target=self._work, daemon=True, name="mcp-elicit-reader").start()
                self._has_thread = True
            self._waiting.append(job)
            self._changed.notify()

    def remove(self, job: _Job) -> None:
        """Forget *job* if it did not begin."""
        with self._changed, contextlib.suppress(ValueError):
            self._waiting.remove(job)

    def reset(self) -> None:
        """Forget the thread, in the child of a fork: it belongs to the parent."""
        self._changed = threading.Condition()
        self._waiting: list[_Job] = []
        self._has_thread = False
        self._budgets = Budgets(per_user=_BUDGET, per_server=_BUDGET, refill_time=_REFILL_TIME)

    def _work(self) -> None:
        while True:
            job = self._take()
            begin = time.thread_time()
            try:
                job.result = job.work()
            except BaseException as error:  # noqa: BLE001 -- raised again in the task that waits
                job.error = error
            self._budgets.spend(job.user_and_server, time.thread_time() - begin, time.monotonic())
            job.when_done()

    def _take(self) -> _Job:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            now = time.monotonic()
            job = min(self._waiting, key=lambda each: self._budgets.used(each.user_and_server, now))
            self._waiting.remove(job)
            return job


_READER = _Reader()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_READER.reset)


async def read_in_thread(work: Callable[[], T], user_and_server: UserAndServer) -> T:
    """
    Return the result of *work*, which runs in the thread.  The event loop is not blocked.

    Raises:
        Exception: The exception of *work*.
    """
    waker = Waker()
    job = _Job(user_and_server, work, waker.wake)
    _READER.submit(job)
    try:
        await waker.wait()
    finally:
        _READER.remove(job)
    if job.error is not None:
        raise job.error
    result: T = job.result
    return result
