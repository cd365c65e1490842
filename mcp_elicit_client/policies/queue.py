"""When a request is shown, and for how long: `one_at_a_time` and `answer_timeout`."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from datetime import datetime, timedelta, timezone
from typing import Literal

import anyio

from mcp_elicit_client._concurrency import Waker
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.typing import Answer, Policy, Request

NAME = "one_at_a_time"
TIMEOUT = "answer_timeout"


def one_at_a_time(*, max_queued: int = 3) -> Policy:
    """
    Show one request at a time.  The others wait in a queue, in which servers take turns.

    The queue is shared by all handlers that the returned policy wraps.  They
    may run in different threads and event loops.

    Args:
        max_queued: The maximum number of waiting requests of one server.
            Further ones are cancelled.
    """
    turns = _FairQueue(max_queued)

    async def wait_in_queue(request: Request, ask: NormalizedHandler) -> Answer:
        server = request.server.name
        turn = turns.take(server)
        if turn is None:
            reason = f"{max_queued} requests of the server are queued already"
            return Answer.cancel(by="policy", policy=NAME, reason=reason)
        try:
            if isinstance(turn, Waker):
                await turn.wait()
            return await ask(request)
        finally:
            turns.leave(server, turn)

    return lambda handler: apply_policy(handler, wait_in_queue, limits_asking=True)


def answer_timeout(seconds: float = 240) -> Policy:
    """
    Cancel a request that is not answered in time.

    The handler is cancelled, so the request disappears from the user
    interface.  `Request.deadline` is set for the handler.  240 s are less
    than the limits of the SDK's HTTP transport and of the Python SDK's
    server.

    Args:
        seconds: The time that the user has, in seconds.
    """

    async def limit_time(request: Request, ask: NormalizedHandler) -> Answer:
        deadline = datetime.now(timezone.utc) + timedelta(seconds=seconds)
        if request.deadline is not None:
            deadline = min(deadline, request.deadline)
        with anyio.move_on_after(seconds) as scope:
            return await ask(request.model_copy(update={"deadline": deadline}))
        assert scope.cancelled_caught
        return Answer.cancel(by="timeout", policy=TIMEOUT, reason=f"no answer within {seconds:g} seconds")

    return lambda handler: apply_policy(handler, limit_time)


class _FairQueue:
    def __init__(self, max_queued: int) -> None:
        self._max_queued = max_queued
        self._lock = threading.Lock()
        self._is_taken = False
        self._waiting: OrderedDict[str, deque[Waker]] = OrderedDict()

    def take(self, server: str) -> Waker | Literal["now"] | None:
        """Take a turn: now, or when the waker wakes; None if the queue is full."""
        with self._lock:
            if self._is_taken:
                return self._queue_up(server)
            self._is_taken = True
            return "now"

    def _queue_up(self, server: str) -> Waker | None:
        if len(self._waiting.get(server, ())) >= self._max_queued:
            return None
        waker = Waker()
        self._waiting.setdefault(server, deque()).append(waker)
        return waker

    def leave(self, server: str, turn: Waker | Literal["now"]) -> None:
        """End a turn, or leave the queue before it began."""
        with self._lock:
            waiting = self._waiting.get(server)
            if isinstance(turn, Waker) and waiting is not None and turn in waiting:
                waiting.remove(turn)
                if not waiting:
                    del self._waiting[server]
                return
            following = self._next()
            self._is_taken = following is not None
        if following is not None:
            following.wake()

    def _next(self) -> Waker | None:
        """Remove the next request, of the server that has waited longest since its last turn."""
        if not self._waiting:
            return None
        server, waiting = self._waiting.popitem(last=False)
        following = waiting.popleft()
        if waiting:
            self._waiting[server] = waiting  # at the end of the queue of servers
        return following
