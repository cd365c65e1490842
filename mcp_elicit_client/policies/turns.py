"""One question at a time, and few that wait."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp_elicit_client.hosts.boundary import as_answer
from mcp_elicit_client.policies.waking import Waker
from mcp_elicit_client.typing import Answer, Handler, Policy, Request

NAME = "one_at_a_time"


def one_at_a_time(*, queue: int = 3) -> Policy:
    """
    Ask one question at a time; let few of each server wait, and cancel the rest.

    The servers take turns, so that none is kept out by one that asks much.
    It holds for all handlers that the returned policy wraps: for one user.
    They may run in different threads and event loops.

    Args:
        queue: How many questions of one server may wait, beside the one that
            is shown.
    """
    turns = _Turns(queue)

    def policy(handler: Handler) -> Handler:
        async def queued(request: Request, /) -> Answer:
            async with turns.turn(request.server.name) as is_free:
                if not is_free:
                    return Answer.cancel(
                        by="policy", policy=NAME, reason=f"{queue} questions of the server wait already"
                    )
                return as_answer(await handler(request))

        return queued

    return policy


class _Turns:
    def __init__(self, queue: int) -> None:
        self._queue = queue
        self._lock = threading.Lock()
        self._is_taken = False
        self._waiting: OrderedDict[str, deque[Waker]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, server: str) -> AsyncIterator[bool]:
        """Wait for a turn; False if too many wait already."""
        with self._lock:
            is_free = not self._is_taken
            waker = None if is_free else self._queue_up(server)
            self._is_taken = True
        if waker is None and not is_free:
            yield False
            return
        try:
            if waker is not None:
                await waker.wait()
            yield True
        finally:
            self._leave(server, waker)

    def _queue_up(self, server: str) -> Waker | None:
        if len(self._waiting.get(server, ())) >= self._queue:
            return None
        waker = Waker()
        self._waiting.setdefault(server, deque()).append(waker)
        return waker

    def _leave(self, server: str, waker: Waker | None) -> None:
        with self._lock:
            waiting = self._waiting.get(server)
            if waker is not None and waiting is not None and waker in waiting:
                # Withdrawn before its turn came.
                waiting.remove(waker)
                if not waiting:
                    del self._waiting[server]
                return
            following = self._next()
            self._is_taken = following is not None
        if following is not None:
            following.wake()

    def _next(self) -> Waker | None:
        """Take the next of those who wait, from the server that was not served for longest."""
        if not self._waiting:
            return None
        server, waiting = self._waiting.popitem(last=False)
        following = waiting.popleft()
        if waiting:
            self._waiting[server] = waiting  # at the end of the line of servers
        return following
