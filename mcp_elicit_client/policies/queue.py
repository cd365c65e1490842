"""When a request is shown, and for how long: `one_at_a_time` and `answer_timeout`."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import anyio

from mcp_elicit_client._arguments import YEAR, check_int, check_seconds
from mcp_elicit_client._concurrency import Waker
from mcp_elicit_client.core.budgets import UserAndServer
from mcp_elicit_client.core.request import default_answer_timeout, latest_deadline, user_and_server_of, with_deadline
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy, refusal_by_now, with_settled_defaults
from mcp_elicit_client.typing import Answer, Policy, Request

NAME = "one_at_a_time"
TIMEOUT = "answer_timeout"


def one_at_a_time(*, max_queued: int = 3) -> Policy:
    """
    Show one request of each user at a time.  The others wait in a queue, in which servers take turns.

    Each user has a queue, and requests without a user have one.  The queues
    are shared by all handlers that the returned policy wraps.  They may run
    in different threads and event loops.  When a request has waited, outer
    policies may refuse it, for example because the user blocked the server.

    Args:
        max_queued: The maximum number of waiting requests of one server for
            one user.  Further ones are cancelled.

    Raises:
        TypeError: If *max_queued* is not an int.
        ValueError: If it is negative.
    """
    check_int("max_queued", max_queued)
    turns = _FairQueues(max_queued)

    async def wait_in_queue(request: Request, ask: NormalizedHandler) -> Answer:
        # Patterns of defaults are checked before the turn begins, so that no other request waits for them.
        return await with_settled_defaults(request, functools.partial(wait_for_turn, ask))

    async def wait_for_turn(ask: NormalizedHandler, request: Request) -> Answer:
        turn = turns.take(user_and_server_of(request))
        if turn is None:
            reason = f"{max_queued} requests of the server are queued already"
            return Answer.cancel(by="policy", policy=NAME, reason=reason)
        try:
            await turn.wait()
            return refusal_by_now() or await ask(request)
        finally:
            turns.leave(user_and_server_of(request), turn)

    return lambda handler: apply_policy(handler, wait_in_queue, limits_asking=True)


def answer_timeout(seconds: float | None = None) -> Policy:
    """
    Cancel a request that is not answered in time.

    The handler is cancelled, so the request disappears from the user
    interface.  `Request.deadline` is set for the handler, and
    `Request.max_deadline`: until then the user can ask for more time, where
    the user interface offers that.  240 s are less than the limits of the
    SDK's HTTP transport and of the Python SDK's server.

    Args:
        seconds: The time that the user has, in seconds; None for 40 seconds
            for each field, at least 240 and at most 1800.

    Raises:
        ValueError: If *seconds* is not above 0 and at most a year.
    """
    check_seconds("seconds", seconds, optional=True, maximum=YEAR)

    async def limit_time(request: Request, ask: NormalizedHandler) -> Answer:
        started_at = datetime.now(timezone.utc)
        timeout = default_answer_timeout(request) if seconds is None else seconds
        deadline = started_at + timedelta(seconds=timeout)
        max_deadline = latest_deadline(started_at, deadline)
        if request.deadline is not None:
            deadline = min(deadline, request.deadline)
            max_deadline = min(max_deadline, request.max_deadline or request.deadline)
        with anyio.move_on_after(timeout) as scope:
            # Read here: a user interface may extend the deadline outside of any task.
            started_on_clock = anyio.current_time()

            def extend(until: datetime) -> None:
                scope.deadline = max(scope.deadline, started_on_clock + (until - started_at).total_seconds())
                request.extend_deadline(until)

            can_extend = max_deadline > deadline
            return await ask(with_deadline(request, deadline, max_deadline if can_extend else None, extend))
        assert scope.cancelled_caught
        return Answer.cancel(by="timeout", policy=TIMEOUT, reason=f"no answer within {timeout:g} seconds")

    return lambda handler: apply_policy(handler, limit_time)


@dataclass
class _Queue:
    """The request of one user that is shown now, and the waiting ones of each server, in order."""

    shown: Waker
    waiting: OrderedDict[str, deque[Waker]] = field(default_factory=OrderedDict)

    def remove_next(self) -> Waker | None:
        """Remove the next request, of the server that has waited longest since its last turn."""
        if not self.waiting:
            return None
        server, wakers = self.waiting.popitem(last=False)
        following = wakers.popleft()
        if wakers:
            self.waiting[server] = wakers  # at the end of the queue of servers
        return following

    def remove(self, server: str, turn: Waker) -> None:
        """Remove a waiting request, if it is there."""
        wakers = self.waiting.get(server, deque())
        if turn in wakers:
            wakers.remove(turn)
            if not wakers:
                del self.waiting[server]


class _FairQueues:
    """The queue of each user whose requests are shown now."""

    def __init__(self, max_queued: int) -> None:
        self._max_queued = max_queued
        # An abandoned task leaves its queue when it is garbage-collected, at any time.
        self._lock = threading.RLock()
        self._queues: dict[str | None, _Queue] = {}

    def take(self, user_and_server: UserAndServer) -> Waker | None:
        """Return a turn, which begins when it wakes; None if the queue is full."""
        user, server = user_and_server
        turn = Waker()
        with self._lock:
            queue = self._queues.get(user)
            if queue is not None and queue.shown.is_stopped():
                self._show_next(user, queue)
                queue = self._queues.get(user)
            if queue is None:
                self._queues[user] = _Queue(turn)
                turn.wake()
            elif len(queue.waiting.get(server, ())) >= self._max_queued:
                return None
            else:
                queue.waiting.setdefault(server, deque()).append(turn)
        return turn

    def leave(self, user_and_server: UserAndServer, turn: Waker) -> None:
        """End a turn, or leave the queue before it began."""
        user, server = user_and_server
        with self._lock:
            queue = self._queues.get(user)
            if queue is None:
                return  # the turn was skipped
            if queue.shown is turn:
                self._show_next(user, queue)
            else:
                queue.remove(server, turn)

    def _show_next(self, user: str | None, queue: _Queue) -> None:
        while True:
            following = queue.remove_next()
            if following is None:
                del self._queues[user]
                return
            queue.shown = following
            # In an event loop that was stopped, the request is shown when that goes on.  Others do not wait for that.
            if following.wake() and not following.is_stopped():
                return
