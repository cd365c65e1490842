"""What one server asks: during calls, and by itself."""

from __future__ import annotations

import functools
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.calls.active_call import ActiveCall, StoredAnswersFor
from mcp_elicit_client.calls.disconnect import wait_for_disconnect
from mcp_elicit_client.calls.url_completions import CompletionTracker, VisitCompletion
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.dispatch import NormalizedHandler, RequestOptions, answering_from, normalize_handler
from mcp_elicit_client.sdk.callback import SdkDispatcher
from mcp_elicit_client.typing import Answer, Handler, Request, UrlRequest


class ElicitationDispatcher:
    """
    Has the questions of one server answered, each within the call that it belongs to.

    Args:
        handler: Who answers.
        server: Who asks.
        request_options: How requests are read.

    Attributes:
        completions: What the server has said to be finished.
        calls: The calls that are under way.
    """

    def __init__(self, handler: Handler, server: Server, request_options: RequestOptions) -> None:
        self.completions: CompletionTracker = CompletionTracker()
        self.calls: set[ActiveCall] = set()
        self._handler = normalize_handler(handler)
        self._server = server
        self._request_options = request_options

    @contextmanager
    def during(self, call: ActiveCall) -> Iterator[None]:
        """Have *call* under way; then its open questions are withdrawn."""
        self.calls.add(call)
        try:
            yield
        finally:
            self.calls.discard(call)
            call.close()

    async def on_server_request(self, request: Request) -> Answer:
        """Answer a question that the server sends by itself: see `Caller.handler`."""
        calls = tuple(self.calls)
        only = calls[0] if len(calls) == 1 else None
        with ExitStack() as asking:
            for call in calls:
                asking.enter_context(call.clocks.paused_for_user())
            deadline = min((call.clocks.user_deadline for call in calls), default=math.inf)
            if deadline <= anyio.current_time():
                return _too_late()
            with anyio.CancelScope(deadline=deadline) as scope:
                if only is None:
                    return await self._handler(self._listening(request))
                request = self._listening(request.model_copy(update={"tool": request.tool or only.tool}))
                with only.closing(scope):
                    ask = functools.partial(only.ask, self._handler, request)
                    return await _unless_gone(
                        functools.partial(wait_for_disconnect, only.session, in_callback=True), ask
                    )
        return _too_late() if anyio.current_time() >= deadline else Answer.cancel(by="host", reason="the call ended")

    async def on_input_required(
        self, call: ActiveCall, params: Any, *, stored: StoredAnswersFor | None = None, **details: Any
    ) -> Answer:
        """
        Answer a question that comes back from a call.

        Args:
            call: The call.
            params: As the SDK hands them over, or a request that was read before.
            stored: Returns what answers in place of the handler, if anything.
            details: Those of `parse_request`.

        Raises:
            RequestError: If nobody could answer it.
        """

        async def ask(request: Request) -> Answer:
            if isinstance(request, UrlRequest) and request.elicitation_id and call.visits(request.target.url):
                # Whatever was finished before, the server asks again.
                self.completions.forget(request.elicitation_id)
            request = self._listening(request)
            with answering_from(stored_answers := None if stored is None else stored(request)):
                is_resuming = stored_answers is not None and stored_answers.is_resuming
                return await call.ask(self._handler, request, is_resuming=is_resuming)

        dispatcher = SdkDispatcher(NormalizedHandler(ask), self._request_options)

        async def answer() -> Answer:
            return await dispatcher.answer_in(call, params, server=self._server, tool=call.tool, **details)

        with call.clocks.paused_for_user(), anyio.CancelScope(deadline=call.clocks.user_deadline):
            if call.clocks.user_deadline > anyio.current_time():
                return await _unless_gone(functools.partial(wait_for_disconnect, call.session), answer)
        return _too_late()

    def _listening(self, request: Request) -> Request:
        """Let the handler learn when a visit is finished."""
        if not isinstance(request, UrlRequest) or request.elicitation_id is None:
            return request
        return request.with_completion(VisitCompletion(self.completions, request.elicitation_id))


async def _unless_gone(gone: Callable[[], Awaitable[object]], ask: Callable[[], Awaitable[Answer]]) -> Answer:
    return await run_until(gone, ask) or Answer.cancel(by="error", reason="the server has gone")


def _too_late() -> Answer:
    return Answer.cancel(by="timeout", reason="the user was not done in time")
