"""The requests of one server, during calls and outside of them, as long as it is connected."""

from __future__ import annotations

import functools
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Literal, TypeAlias

import anyio

from mcp_elicit_client._concurrency import CancellingEvent, run_until
from mcp_elicit_client.calls.active_call import ActiveCall, OpenRequest, StoredAnswersFor, ask_within
from mcp_elicit_client.calls.url_elicitations import CompletionTracker, UrlCompletion
from mcp_elicit_client.core.budgets import Admission
from mcp_elicit_client.core.request import BatchPosition, Server, check_user, with_completion
from mcp_elicit_client.dispatch import NormalizedHandler
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.notices import Notifier
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import SdkDispatcher, calling, may_arrive_over, receiving_session
from mcp_elicit_client.stored_answers import StoredAnswers, answering_from
from mcp_elicit_client.typing import Answer, Handler, Request, UrlRequest

Until: TypeAlias = Callable[[], Awaitable[object]]
"""Returns when a request is withdrawn."""

Waiting: TypeAlias = Literal["user", "policies", "nothing"]
"""
What the answer to a request may wait for: the user; only policies, since the
user has answered; or nothing, since it is deferred and no policy sees it.
"""

_POLL_INTERVAL = 0.25
"""The interval between two looks at the connection, in seconds."""


class ElicitationDispatcher:
    """
    Answers the requests of one server, each within the call that it belongs to.

    Args:
        handler: The handler that answers.
        server: The server.
        request_options: Limits, URL rules and modes.
        user: The user of calls without one, and of requests outside of calls.

    Attributes:
        completions: The URL elicitations that the server reported as
            complete.
        calls: The active calls.
        user: As above.
        admission: The limits that apply before requests are read.
        notifier: Tells users of requests that a policy declined.
    """

    def __init__(
        self, handler: Handler, server: Server, request_options: RequestOptions, user: str | None = None
    ) -> None:
        self.user: str | None = check_user(user)
        self.completions: CompletionTracker = CompletionTracker()
        self.calls: set[ActiveCall] = set()
        self._dispatcher = SdkDispatcher(handler, request_options)
        self._handler = self._dispatcher.handler
        self.admission: Admission = self._dispatcher.admission
        self.notifier: Notifier = self._handler.notifier
        self._server = server

    def during(self, call: ActiveCall) -> AbstractContextManager[None]:
        """Return a block in which *call* is active.  At its end, open requests of the call are withdrawn."""
        return _During(call, self.calls)

    def current_user(self) -> str | None:
        """Return the user of the calls over the session of a request; that of the `Caller` if there is not one."""
        users = {call.user for call in self._calls_of_request()}
        return users.pop() if len(users) == 1 else self.user

    def _calls_of_request(self) -> tuple[ActiveCall, ...]:
        """Return the active calls that the request in progress may belong to: those over its session."""
        # Copied at once, since other threads may use the same Caller.
        own = {call for call in [*self.calls] if may_arrive_over(call.session)}
        # Another Caller may call over the session that this one has connected.
        return tuple(own.union(_calls_by_session.get(id(receiving_session()), ())))

    async def on_server_request(self, request: Request) -> Answer:
        """Answer a server-initiated request: see `Caller.handler`."""
        calls = self._calls_of_request()
        callers = {call.user for call in calls}
        users = (callers | {request.user}) - {None}
        if len(callers) > 1 or len(users) > 1:
            # Do not guess: the request may contain what only one of them may see.
            return Answer.cancel(by="unattended", reason="the request cannot be assigned to one of several users")
        user = users.pop() if users else self.user
        request = request.model_copy(update={"user": user}) if user != request.user else request
        request = self._with_completion(calls, request)
        with ExitStack() as pauses:
            for call in calls:
                pauses.enter_context(call.timeouts.paused_for_user())
            return await self._ask_in_time(request, calls)

    async def _ask_in_time(self, request: Request, calls: Sequence[ActiveCall]) -> Answer:
        """Ask about a server-initiated request until the user's timeouts of all *calls* pass."""
        if not calls:
            return await self._handler(request)
        if all(call.timeouts.is_user_late for call in calls):
            return _timed_out()
        if len(calls) == 1:
            request = request.model_copy(update={"tool": request.tool or calls[0].tool})
        token = calling.set(calls[0].context if len(calls) == 1 else None)
        try:
            with anyio.CancelScope() as scope, OpenRequest(calls, scope):
                return await ask_within(calls, self._handler, request)
        finally:
            calling.reset(token)
        is_late = anyio.current_time() >= scope.deadline
        return _timed_out() if is_late else Answer.cancel(by="host", reason="the call ended")

    async def on_input_required(
        self,
        call: ActiveCall,
        params: Any,
        *,
        stored: StoredAnswersFor | None = None,
        until: Until | None = None,
        waiting: Waiting = "user",
        **details: Any,
    ) -> Answer:
        """
        Answer a request that was returned by a call.

        Args:
            call: The call.
            params: The params, as the SDK passes them, or a `Request`.
            stored: Returns what answers in place of the handlers, if anything.
            until: The request is withdrawn when this returns; None to
                withdraw it when the connection is lost.
            waiting: What may be waited for.
            details: The details that `parse_request` takes.

        Raises:
            RequestError: If the request cannot be answered.
        """
        details = {"tool": call.tool, "user": call.user, **details}
        handler = self._within_call(call, stored)
        answer = functools.partial(
            self._dispatcher.answer_in, call, params, server=self._server, handler=handler, **details
        )
        if waiting == "nothing":
            return await answer()
        if waiting == "policies":
            return await _ask_until_lost(call.session, answer, until)
        return await self._ask_in_time_of_user(call, answer, until)

    async def on_batch_request(self, call: ActiveCall, requests: Mapping[str, Any], key: str, **options: Any) -> Answer:
        """
        Answer one of the requests that a call returned together.  If it cannot be answered, it is cancelled.

        Args:
            call: The call.
            requests: The params of all of them, by the server's keys.
            key: The key of the one to answer.
            options: Other arguments of `on_input_required`.
        """
        position = BatchPosition(number=list(requests).index(key) + 1, total=len(requests))
        try:
            return await self.on_input_required(call, requests[key], batch_position=position, request_id=key, **options)
        except RequestError:  # the protocol version does not allow errors here
            return _unanswerable()

    async def on_stored(self, call: ActiveCall, request: Request, stored: StoredAnswers) -> Answer:
        """
        Answer a request of a call that is resumed.  It was read and counted before; the policies see it again.

        Args:
            call: The call.
            request: The request, as it was stored.
            stored: What answers in place of the handlers.
        """
        answer = functools.partial(
            self._dispatcher.answer_again, request, self._within_call(call, lambda _request: stored)
        )
        try:
            return await self._ask_in_time_of_user(call, answer)
        except RequestError:
            return _unanswerable()

    def _within_call(self, call: ActiveCall, stored: StoredAnswersFor | None) -> NormalizedHandler:
        """Return what asks the handler as a part of *call*."""

        async def ask(request: Request) -> Answer:
            request = self._with_completion([call], request)
            with answering_from(None if stored is None else stored(request)):
                return await ask_within([call], self._handler, request)

        return NormalizedHandler(ask, admission=self.admission, notifier=self.notifier)

    async def _ask_in_time_of_user(
        self, call: ActiveCall, ask: Callable[[], Awaitable[Answer]], until: Until | None = None
    ) -> Answer:
        """Ask until the time of the user is over."""
        with call.timeouts.paused_for_user():
            if call.timeouts.is_user_late:
                return _timed_out()
            return await _ask_until_lost(call.session, ask, until, call.timeouts.withdrawal_deadline)

    def to_result(self, answer: Answer) -> Any:
        """Return *answer* as the SDK's ``ElicitResult``."""
        from mcp.types import ElicitResult

        return ElicitResult.model_validate(self._dispatcher.to_wire(answer))

    def _with_completion(self, calls: Sequence[ActiveCall], request: Request) -> Request:
        if not isinstance(request, UrlRequest) or request.elicitation_id is None:
            return request
        if any(call.has_opened(request) for call in calls):
            # The server asks again, so an earlier completion does not count.
            self.completions.forget(request.elicitation_id)
        # Nor does one before the call, which was for an earlier use of the ID.
        since = min((call.started_at for call in calls), default=-math.inf)
        return with_completion(request, UrlCompletion(self.completions, request.elicitation_id, since))


_calls_by_session: dict[int, set[ActiveCall]] = {}
"""The active calls of every `Caller`, by the identity of their session, which each call holds."""


class _During:
    """The block in which *call* is one of the active *calls* of its `Caller`."""

    def __init__(self, call: ActiveCall, calls: set[ActiveCall]) -> None:
        self._call = call
        self._calls = calls

    def __enter__(self) -> None:
        self._calls.add(self._call)
        _calls_by_session.setdefault(id(self._call.session), set()).add(self._call)

    def __exit__(self, *_error: object) -> None:
        self._calls.discard(self._call)
        over_session = _calls_by_session[id(self._call.session)]
        over_session.discard(self._call)
        if not over_session:
            del _calls_by_session[id(self._call.session)]
        self._call.close()


async def _ask_until_lost(
    session: Any, ask: Callable[[], Awaitable[Answer]], until: Until | None = None, deadline: float = math.inf
) -> Answer:
    """
    Ask until *deadline*, and until *until* returns, or else *session* can no longer reach the server.

    The server is not pinged: over HTTP it may be away while the user thinks,
    and a server with one loop takes the next message as the answer.
    """
    disconnected = getattr(session, "disconnected", None)
    if until is None and isinstance(disconnected, CancellingEvent):
        with disconnected.cancelling(deadline):
            return await ask()
        return _disconnected() if disconnected.is_set() else _timed_out()
    # Without the event, it is a session that this package did not make.
    stop = until or functools.partial(_wait_until_closed, session)
    with anyio.CancelScope(deadline=deadline):
        return await run_until(stop, ask) or _disconnected()
    return _timed_out()


def _disconnected() -> Answer:
    return Answer.cancel(by="error", reason="the server has disconnected")


def _unanswerable() -> Answer:
    return Answer.cancel(by="error", reason="the request cannot be answered")


def _timed_out() -> Answer:
    return Answer.cancel(by="timeout", reason="the user did not answer in time")


async def _wait_until_closed(session: Any) -> None:
    # mcp 2.x notifies only tasks that wait for a result.  While a request is open, no task does.
    while not is_closed(session):  # noqa: ASYNC110 -- there is no event
        await anyio.sleep(_POLL_INTERVAL)


def is_closed(session: Any) -> bool:
    """Return True if nothing can be sent over *session* any more."""
    return bool(getattr(getattr(session, "_dispatcher", None), "_closed", False))
