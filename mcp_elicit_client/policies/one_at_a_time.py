"""One question at a time, and few that wait."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from typing import Literal

from mcp_elicit_client._concurrency import Waker
from mcp_elicit_client.dispatch import normalize_answer
from mcp_elicit_client.typing import Answer, Handler, Policy, Request

NAME = "one_at_a_time"


def one_at_a_time(*, max_queued: int = 3) -> Policy:
    """
    Ask one question at a time; let few of each server wait, and cancel the rest.

    The servers take turns, so that none is kept out by one that asks much.
    It holds for all handlers that the returned policy wraps: for one user.
    They may run in different threads and event loops.

    Args:
        max_queued: How many questions of one server may wait, beside the one that
            is shown.
    """
    turns = _FairQueue(max_queued)

    def policy(handler: Handler) -> Handler:
        async def queued(request: Request, /) -> Answer:
            if request.resumed:
                return normalize_answer(await handler(request))
            server = request.server.name
            turn = turns.take(server)
            if turn is None:
                return Answer.cancel(
                    by="policy", policy=NAME, reason=f"{max_queued} questions of the server wait already"
                )
            try:
                if isinstance(turn, Waker):
                    await turn.wait()
                return normalize_answer(await handler(request))
            finally:
                turns.leave(server, turn)

        return queued

    return policy


class _FairQueue:
    def __init__(self, queue: int) -> None:
        self._queue = queue
        self._lock = threading.Lock()
        self._is_taken = False
        self._waiting: OrderedDict[str, deque[Waker]] = OrderedDict()

    def take(self, server: str) -> Waker | Literal["now"] | None:
        """Take a turn: now, or when the waker wakes; None if too many wait already."""
        with self._lock:
            if self._is_taken:
                return self._queue_up(server)
            self._is_taken = True
            return "now"

    def _queue_up(self, server: str) -> Waker | None:
        if len(self._waiting.get(server, ())) >= self._queue:
            return None
        waker = Waker()
        self._waiting.setdefault(server, deque()).append(waker)
        return waker

    def leave(self, server: str, turn: Waker | Literal["now"]) -> None:
        """Give a turn on, or leave the line before it came."""
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
        """Take the next of those who wait, from the server that was not served for longest."""
        if not self._waiting:
            return None
        server, waiting = self._waiting.popitem(last=False)
        following = waiting.popleft()
        if waiting:
            self._waiting[server] = waiting  # at the end of the line of servers
        return following
