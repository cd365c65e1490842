"""One active call: its time limits, and the requests that were made during it."""

from __future__ import annotations

import contextvars
import functools
import hashlib
import math
import time
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias

import anyio

from mcp_elicit_client._arguments import YEAR, check_seconds
from mcp_elicit_client.core.request import request_key, with_deadline
from mcp_elicit_client.dispatch import NormalizedHandler, refusing
from mcp_elicit_client.exceptions import CallError, CallTimeoutError
from mcp_elicit_client.stored_answers import StoredAnswers, is_resuming, stored_answers
from mcp_elicit_client.typing import Answer, Request, UrlRequest

MAX_REPEATS = 2
"""How many rounds with returned requests that were declined or cancelled in earlier ones end a call."""

MAX_PUSHED_REPEATS = 100
"""How many server-initiated requests that were refused before end a call."""

REPEATED = (
    "The server keeps asking what the user declined or cancelled. Call the tool again only if the user wants to answer."
)
"""The error of a call in which the server repeats a request that was refused."""

_CLOSING_SECONDS = 0.25
"""How long after the user's timeout a handler may close the request itself, before it is withdrawn."""

_REMEMBERED = frozenset({"user", "host", "timeout"})
"""Who cancels a request for the rest of the call.  After other cancels, the same request may be asked again."""


class CallTimeouts:
    """
    Two timeouts, of which one runs at a time.

    The user's runs while a request of the call is open, the server's
    otherwise.  The time of one is never counted as that of the other.  While
    the host application itself answers a request, neither runs.

    Enter it to count the time of a block, once.

    Args:
        timeout: The maximum time of the server, in seconds; None for no
            limit.
        answer_timeout: The maximum time of the user, in seconds; None for no
            limit.

    Raises:
        TypeError: If a timeout is not a number.
        ValueError: If a timeout is not above 0.
        CallTimeoutError: At the end of the block, if the server's timeout has
            passed.
        CallError: At the end of the block, the error of `fail`.
    """

    def __init__(self, timeout: float | None, answer_timeout: float | None) -> None:
        check_seconds("timeout", timeout, optional=True)
        check_seconds("answer_timeout", answer_timeout, optional=True)
        self.timeout = timeout
        self.answer_timeout = answer_timeout
        self._server_seconds = 0.0
        self._user_seconds = 0.0
        self._open_requests = 0
        self._host_requests = 0
        self._counted_at = 0.0
        self._scope = anyio.CancelScope()
        self._failure: CallError | None = None

    def __enter__(self) -> None:
        self._counted_at = anyio.current_time()
        self._set_deadline()
        self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._scope.__exit__(kind, error, trace)
        if self._scope.cancelled_caught:
            raise self._failure or self.expired("timeout")

    def fail(self, error: CallError) -> None:
        """End the block with *error*."""
        self._failure = error
        self._scope.cancel()

    @contextmanager
    def paused_for_user(self) -> Iterator[None]:
        """Pause the server's timeout, and count the time of the user, while a request is open."""
        self._count(+1)
        try:
            yield
        finally:
            self._count(-1)

    @contextmanager
    def paused_for_host(self) -> Iterator[None]:
        """Pause both timeouts, while the host application itself answers a request (sampling, roots)."""
        self._count(0, +1)
        try:
            yield
        finally:
            self._count(0, -1)

    @property
    def user_deadline(self) -> float:
        """When the user's timeout passes if the request stays open, on the event loop's clock."""
        if self.answer_timeout is None:
            return math.inf
        begin = self._counted_at if self._open_requests else anyio.current_time()
        return begin + self.answer_timeout - self._user_seconds

    @property
    def withdrawal_deadline(self) -> float:
        """When a request that stays open is withdrawn, on the event loop's clock."""
        return self.user_deadline + _CLOSING_SECONDS

    @property
    def is_user_late(self) -> bool:
        """True if the user's timeout had passed when a request was last opened or closed."""
        return self.answer_timeout is not None and self._user_seconds >= self.answer_timeout

    def expired(self, limit: Literal["timeout", "answer_timeout"]) -> CallTimeoutError:
        """Return the error for the *limit* that has passed."""
        self._count(0)
        return CallTimeoutError(
            limit,
            timeout=self.timeout,
            server_seconds=self._server_seconds,
            answer_timeout=self.answer_timeout,
            user_seconds=self._user_seconds,
        )

    def _count(self, change: int, host_change: int = 0) -> None:
        now = anyio.current_time()
        if self._open_requests:
            self._user_seconds += now - self._counted_at
        elif not self._host_requests:
            self._server_seconds += now - self._counted_at
        self._counted_at = now
        self._open_requests += change
        self._host_requests += host_change
        self._set_deadline()

    def _set_deadline(self) -> None:
        if self.timeout is not None:
            left = self.timeout - self._server_seconds
            is_paused = self._open_requests or self._host_requests
            self._scope.deadline = math.inf if is_paused else self._counted_at + left


StoredAnswersFor: TypeAlias = Callable[[Request], StoredAnswers]
"""Returns what answers a request in place of the host application's handlers."""


class AskParams(Protocol):
    """Answers the params of one request of a call."""

    def __call__(self, params: Any, *, stored: StoredAnswersFor | None = None, **details: Any) -> Awaitable[Answer]:
        """Answer *params*; *details* are those of `parse_request`."""
        ...


@dataclass(slots=True)
class CallHistory:
    """
    The history of a call.  It is stored with the call while it is suspended.

    Attributes:
        rounds: How often the server returned ``input_required``.
        requests: How many requests the server made.
        repeats: How many more server-initiated requests, or rounds with
            returned ones, had been declined or cancelled before.
        visits: How often the user consented to each URL.
        declined: Digests of the requests that were declined.
        cancelled: Digests of the requests that the user cancelled, or did not
            answer in time.
    """

    rounds: int = 0
    requests: int = 0
    repeats: int = 0
    visits: dict[str, int] = field(default_factory=dict)
    declined: set[str] = field(default_factory=set)
    cancelled: set[str] = field(default_factory=set)

    def fork(self) -> CallHistory:
        """Return a copy that changes independently."""
        return CallHistory(
            self.rounds, self.requests, self.repeats, {**self.visits}, {*self.declined}, {*self.cancelled}
        )


class ActiveCall:
    """
    One call, as long as it is active in this process.

    Args:
        session: The SDK's session.
        tool: The name of the tool; None for prompts and resources.
        user: The user that the call is for; None if there is only one.
        timeouts: The time limits of the server and the user.
        max_questions: The maximum number of requests; further ones are
            cancelled.
        history: The history of the call before it was suspended; None for a
            new call.

    Attributes:
        context: The context in which the call was made.
        max_questions: As above.
        open_requests: The open requests that the server sent itself.
        started_at: When the call was made, on ``time.perf_counter``.
    """

    def __init__(  # noqa: PLR0913 -- the parts of one call
        self,
        session: Any,
        tool: str | None,
        timeouts: CallTimeouts,
        max_questions: int,
        history: CallHistory | None = None,
        *,
        user: str | None = None,
    ) -> None:
        self.session = session
        self.tool = tool
        self.user = user
        self.timeouts = timeouts
        self.context: contextvars.Context = contextvars.copy_context()
        if history is not None:
            self.history = history
        self.max_questions = max_questions
        self.open_requests: set[OpenRequest] = set()
        self.started_at: float = time.perf_counter()
        self._refused_before: Collection[str] | None = None
        self._opened: set[str] = set()

    @functools.cached_property
    def history(self) -> CallHistory:
        """The history of the call: a new one, unless another was given."""
        return CallHistory()

    def visits(self, url: str) -> int:
        """Return how often the user consented to *url*."""
        return self.history.visits.get(url, 0)

    def has_opened(self, request: UrlRequest) -> bool:
        """Return True if the user consented to the URL of *request*, or to another one with its elicitation ID."""
        return self.visits(request.target.url) > 0 or request.elicitation_id in self._opened

    def record(self, request: Request, answer: Answer) -> None:
        """Note what the user answered."""
        if answer.action == "decline":
            self.history.declined.add(_digest(request))
        if answer.action == "cancel" and answer.by in _REMEMBERED:
            self.history.cancelled.add(_digest(request))
        if answer.action == "accept" and isinstance(request, UrlRequest):
            self.history.visits[request.target.url] = self.visits(request.target.url) + 1
            if request.elicitation_id is not None:
                self._opened.add(request.elicitation_id)

    def begin_round(self) -> None:
        """
        Note that the server returned further requests.

        Those that were refused in earlier rounds are repetitions, and count
        as one.  The server did not know yet what is refused in this round.
        """
        history = self.history
        self._refused_before = history.declined | history.cancelled

    def count_repeat(self, request: Request) -> None:
        """Count the repetition of *request*, which was refused before."""
        if self._refused_before is None:
            self.history.repeats += 1
        elif _digest(request) in self._refused_before:
            self.history.repeats += 1
            self._refused_before = ()

    def check_repeats(self) -> None:
        """
        Check how often the server repeated a request that was refused.

        Raises:
            CallError: If it is too often for returned requests.
        """
        if self.history.repeats >= MAX_REPEATS:
            raise CallError(REPEATED)

    def close(self) -> None:
        """End the call and withdraw its open requests."""
        for open_request in self.open_requests:
            open_request.leave(self)


class OpenRequest:
    """
    A server-initiated request that is open.

    It is withdrawn when all *calls* that it may belong to have ended, or the
    user's timeouts of those that go on have passed.

    Args:
        calls: The calls.
        scope: The scope in which the user is asked.
    """

    def __init__(self, calls: Collection[ActiveCall], scope: anyio.CancelScope) -> None:
        self._calls = set(calls)
        self._scope = scope

    def __enter__(self) -> None:
        self._set_deadline()
        for call in self._calls:
            call.open_requests.add(self)

    def __exit__(self, *_error: object) -> None:
        for call in self._calls:
            call.open_requests.discard(self)

    def leave(self, call: ActiveCall) -> None:
        """Note that *call* has ended."""
        self._calls.discard(call)
        if self._calls:
            self._set_deadline()
        else:
            self._scope.cancel()

    def _set_deadline(self) -> None:
        self._scope.deadline = max(call.timeouts.withdrawal_deadline for call in self._calls)


async def ask_within(calls: Collection[ActiveCall], handler: NormalizedHandler, request: Request) -> Answer:
    """
    Ask *handler* as a part of one of *calls*: the server does not say of which.

    The user is not asked if the request was declined or cancelled before in
    each call, or if each call had too many requests.  A server that repeats
    such a request unchanged gets the same answer.
    """
    refusal = None if is_resuming() else _refusal(calls, request)
    if refusal is not None:
        if all(call.history.repeats > MAX_PUSHED_REPEATS for call in calls):
            for call in calls:
                call.timeouts.fail(CallError(REPEATED))
            await anyio.sleep_forever()  # an answer would lead to the next request
        return refusal
    if stored_answers.get() is None:
        request = _expire_with_calls(calls, request)
    if isinstance(request, UrlRequest):
        visits = max((call.visits(request.target.url) for call in calls), default=0)
        request = request.model_copy(update={"previous_visits": visits})
    with refusing(lambda: None if is_resuming() else _answer_before(calls, request)):
        answer = await handler(request)
    for call in calls:
        call.record(request, answer)
    return answer


def _expire_with_calls(calls: Collection[ActiveCall], request: Request) -> Request:
    """Return *request* so that it expires, at the latest, when the user's timeouts of all *calls* pass."""
    seconds = max(call.timeouts.user_deadline for call in calls) - anyio.current_time()
    if seconds > YEAR:
        return request
    deadline = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    if request.deadline is not None and request.deadline <= deadline:
        return request
    return with_deadline(request, deadline, None)


def _refusal(calls: Collection[ActiveCall], request: Request) -> Answer | None:
    """Count *request* in each call; return the answer if the user is not asked."""
    answer = _answer_before(calls, request)
    if answer is not None:
        for call in calls:
            call.count_repeat(request)
        return answer
    for call in calls:
        call.history.requests += 1
    excess = [call.max_questions for call in calls if call.history.requests > call.max_questions]
    if calls and len(excess) == len(calls):
        return Answer.cancel(by="policy", reason=f"more than {excess[0]} requests in one call")
    return None


def _answer_before(calls: Collection[ActiveCall], request: Request) -> Answer | None:
    """Return the answer to *request*, if it was refused before in each of *calls*."""
    histories = [call.history for call in calls]
    if not histories or not all(history.declined or history.cancelled for history in histories):
        return None
    digest = _digest(request)
    if all(digest in history.declined for history in histories):
        return Answer.decline(by="policy", reason="the request was declined before during this call")
    if all(digest in history.declined or digest in history.cancelled for history in histories):
        return Answer.cancel(by="policy", reason="the request was cancelled before during this call")
    return None


def _digest(request: Request) -> str:
    return hashlib.sha256(request_key(request).encode()).hexdigest()
