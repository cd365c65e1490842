"""`UpstreamCaller`: makes the calls of the gateway's clients to one upstream server, over one connection."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import anyio

from mcp_elicit_client.calls.active_call import ActiveCall, AskParams, CallHistory, CallTimeouts
from mcp_elicit_client.calls.caller import Caller
from mcp_elicit_client.calls.elicitations import is_closed
from mcp_elicit_client.calls.methods import CallSpec, ProgressCallback, unwrap_session
from mcp_elicit_client.calls.runner import CallRunner, CompleteUrls
from mcp_elicit_client.calls.server_errors import error_code, error_data, reports_missing_push
from mcp_elicit_client.calls.suspending import CallPauser, CallSnapshot
from mcp_elicit_client.calls.url_elicitations import CompletionTracker, UrlRequired, complete_urls
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.exceptions import CallError, HandshakeRequiredError, ResumeError
from mcp_elicit_client.relay.held_call import MAX_WAIT
from mcp_elicit_client.relay.refusals import ConnectionLostError
from mcp_elicit_client.sdk.callback import uses_multi_round_trip
from mcp_elicit_client.sdk.http_transport import CONNECTION_LOST

Pause = Callable[[], AbstractContextManager[None]]
"""Is entered while a call waits for the user."""

COMPLETION_TIMEOUT = 60.0
"""How long a completion is awaited if the server requires a URL again, in seconds."""

_CONNECTION_CLOSED = -32000
"""The SDK's error of a request whose connection was lost."""


@dataclass(frozen=True, slots=True)
class UrlRequiredInRounds:
    """
    A server required URL elicitations with an error, where a call is paused without a process.

    Attributes:
        required: The URL elicitations.
        history: The history of the call.
    """

    required: UrlRequired
    history: CallHistory


@dataclass(frozen=True, slots=True)
class RelayTimeouts:
    """
    The timeouts of the calls of a relay.

    Attributes:
        timeout: The maximum time of the upstream server, in seconds.
        answer_timeout: The maximum time of the user, in seconds.
    """

    timeout: float | None
    answer_timeout: float | None

    def start(self) -> CallTimeouts:
        """Return the timeouts of one call, from now on."""
        return CallTimeouts(self.timeout, self.answer_timeout)


class UpstreamCaller(Caller):
    """
    A `Caller` with the ways in which a relay makes calls.

    Attributes:
        has_policies: The gateway has policies, which see requests before they
            go down, and answers before they go up.
    """

    has_policies: bool = True

    async def push(  # noqa: PLR0913 -- the parts of one call, by keyword
        self,
        client: Any,
        spec: CallSpec,
        timeouts: RelayTimeouts,
        *,
        complete_urls: CompleteUrls,
        paused: UrlRequiredInRounds | None = None,
        progress_callback: ProgressCallback | None = None,
    ) -> Any:
        """
        Make a call whose requests the handler answers.

        Args:
            client: The connection.
            spec: What is called.
            timeouts: The timeouts.
            complete_urls: What is done about required URL elicitations
                (``-32042``).
            paused: What the call ended with for now, if it was sent before.
            progress_callback: The callback of the SDK for progress.

        Raises:
            Exception: As `Caller.call_tool`; and what *complete_urls* raises.
        """
        call, required = self._active_call(client, spec, timeouts), None
        if paused is not None:
            call.history, required = paused.history, paused.required
        runner = self._runner(call, spec, None, progress_callback, complete_urls=complete_urls)
        return _check_result(call, await runner.run(required))

    def waiting_for_urls(self, pause: Pause) -> CompleteUrls:
        """
        Return what has the handler answer the URL elicitations that one call requires.

        If the server requires a URL again that the user has just opened, its
        completion is awaited before the user is asked again.

        Args:
            pause: Is entered meanwhile.
        """
        return _OpenedUrls(self._elicitations.completions, pause).complete

    async def start(
        self, client: Any, spec: CallSpec, timeouts: RelayTimeouts, progress_callback: ProgressCallback | None = None
    ) -> Any:
        """
        Make a call until it needs input.

        Returns:
            Its result; a `PausedCall`; a `TaskHandle`; or, if it requires URL
            elicitations with an error, a `UrlRequiredInRounds`.

        Raises:
            Exception: As `Caller.call_tool`.
        """
        call = self._active_call(client, spec, timeouts)
        return _check_result(call, await self._pausing_runner(call, spec, progress_callback).run())

    async def proceed(  # noqa: PLR0913 -- the parts of one call
        self,
        client: Any,
        snapshot: CallSnapshot,
        answers: Mapping[str, Answer],
        timeouts: RelayTimeouts,
        *,
        before_send: Callable[[], None],
        progress_callback: ProgressCallback | None = None,
    ) -> Any:
        """
        Continue a paused call with *answers*, by the server's keys; the rest is as in `start`.

        The answers were checked.  They go through the policies of the
        gateway, if it has any, and are then checked again.  *before_send* is
        called before anything is sent.

        Raises:
            ResumeError: If the server uses server-initiated requests by now.
            ConnectionLostError: If the connection was lost before the server
                answered.
        """
        if not uses_multi_round_trip(unwrap_session(client)):
            raise ResumeError("protocol")
        spec = snapshot.call_spec
        call = self._active_call(client, spec, timeouts)
        call.history = snapshot.history.fork()
        runner = self._pausing_runner(call, spec, progress_callback)
        try:
            resume = runner.resume if self.has_policies else runner.resume_unseen
            return _check_result(call, await resume(snapshot, answers, before_send))
        except Exception as error:
            # Servers use this code for errors of their own, too.
            was_closed = error_code(error) == _CONNECTION_CLOSED and is_closed(call.session)
            is_away = isinstance(error, ResumeError) or error_data(error).get("reason") == CONNECTION_LOST
            if was_closed or is_away:
                raise ConnectionLostError from error
            raise

    def fail_calls(self, error: CallError) -> None:
        """End the active calls with *error*."""
        for call in self._elicitations.calls:
            call.timeouts.fail(error)

    def _active_call(self, client: Any, spec: CallSpec, timeouts: RelayTimeouts) -> ActiveCall:
        limit = self._limits.max_questions
        return ActiveCall(unwrap_session(client), spec.tool, timeouts.start(), limit, user=self.user)

    def _pausing_runner(
        self, call: ActiveCall, spec: CallSpec, progress_callback: ProgressCallback | None
    ) -> CallRunner:
        pauser = CallPauser(call, spec, self.server.name, has_policies=self.has_policies, max_wait=MAX_WAIT)
        finish_task = functools.partial(self._tasks.finish, wait=False)
        return self._runner(
            call, spec, pauser, progress_callback, finish_task=finish_task, complete_urls=_end_with_urls
        )


def _check_result(call: ActiveCall, result: Any) -> Any:
    """Return *result*, unless it is the error of a server that cannot ask over its connection."""
    if reports_missing_push(result, call.session):
        raise HandshakeRequiredError
    return result


async def _end_with_urls(call: ActiveCall, _ask: AskParams, required: UrlRequired) -> UrlRequiredInRounds:
    return UrlRequiredInRounds(required, call.history)


class _OpenedUrls:
    """The required URLs that the user of one call has opened."""

    def __init__(self, completions: CompletionTracker, pause: Pause) -> None:
        self._completions = completions
        self._pause = pause
        self._opened: set[str] = set()

    async def complete(self, call: ActiveCall, ask: AskParams, required: UrlRequired) -> None:
        """Return when the elicitations are complete, as `complete_urls` does."""
        by_url = {str(each.get("url")): each.get("elicitationId") for each in required.elicitations}
        ids = [each for each in by_url.values() if isinstance(each, str)]
        is_known = by_url.keys() <= self._opened and len(ids) == len(by_url)
        if is_known and await self._are_completed(call, ids):
            return
        await complete_urls(call, ask, required)
        self._opened |= by_url.keys()

    async def _are_completed(self, call: ActiveCall, ids: list[str]) -> bool:
        """Wait until the server reports that all are complete; return False if that takes too long."""
        for each in ids:
            self._completions.forget(each)  # The server has required it again since.
        deadline = min(anyio.current_time() + COMPLETION_TIMEOUT, call.timeouts.user_deadline)
        with self._pause(), call.timeouts.paused_for_user(), anyio.move_on_at(deadline) as scope:
            for each in ids:
                await self._completions.wait(each)
        return not scope.cancelled_caught
