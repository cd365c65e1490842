"""
The call runner: sends a call round by round, until it has a result.

Each round has one outcome.  `CallRunner._next_input` is the only place that
decides whether the call is sent again.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import anyio
from typing_extensions import assert_never

from mcp_elicit_client._arguments import check_int
from mcp_elicit_client.calls.active_call import ActiveCall, AskParams
from mcp_elicit_client.calls.elicitations import ElicitationDispatcher, Waiting, is_closed
from mcp_elicit_client.calls.methods import FIRST_ROUND, CallSpec, RoundInput, list_tools
from mcp_elicit_client.calls.multi_round_trip import (
    InputRequired,
    answer_host_requests,
    load_host_requests,
    parse_input_required,
)
from mcp_elicit_client.calls.resuming import NOT_A_CALL, GivenAnswer
from mcp_elicit_client.calls.server_errors import needs_tool_list, raise_for, was_sent
from mcp_elicit_client.calls.suspending import CallPauser, CallSnapshot
from mcp_elicit_client.calls.tasks import resolve_claim
from mcp_elicit_client.calls.url_elicitations import UrlRequired, parse_url_required
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.exceptions import CallError, InboxError, ResumeError, TaskError
from mcp_elicit_client.sdk.tasks_extension import foreign_claim, is_task

_FIRST_PAUSE, _MAX_PAUSE = 0.05, 5.0
"""The pauses before a call is sent again with the server's state only, in seconds.  They double each time."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The call has ended with *result*: that of the SDK, or a `SuspendedCall`."""

    result: Any


@dataclass(frozen=True, slots=True)
class ToolListRequired:
    """The server needs headers that only its list of tools declares."""

    error: Exception


NextRoundRequired: TypeAlias = InputRequired | UrlRequired | ToolListRequired
"""Why the call did not end with a round."""


FinishTask: TypeAlias = Callable[[ActiveCall, Any], Awaitable[Any]]
"""
Takes what a call returned in place of its result: a task.  Returns the result,
or what the host application gets in its place.
"""


CompleteUrls: TypeAlias = Callable[[ActiveCall, AskParams, UrlRequired], Awaitable[Any]]
"""
Returns None when the URL elicitations that the server requires are complete,
as `url_elicitations.complete_urls`; or what the call ends with for now.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """
    Limits of one call.

    Attributes:
        max_questions: The maximum number of requests.
        max_rounds: How often the server may require input.
        max_retries: How often the call is sent again because of required
            URL elicitations.

    Raises:
        TypeError: If a limit is not an int.
        ValueError: If a limit is negative.
    """

    max_questions: int = 25
    max_rounds: int = 10
    max_retries: int = 5

    def __post_init__(self) -> None:
        check_int("max_questions", self.max_questions)
        check_int("max_rounds", self.max_rounds)
        check_int("max_retries", self.max_retries)


class CallRunner:
    """
    Runs one call.

    Args:
        call: The active call.
        spec: What is called.
        elicitations: What answers the requests of the server.
        limits: The limits of the call.
        finish_task: Returns the result of a task, or what the host
            application gets in its place.
        suspender: Suspends or pauses the call while its requests are pending;
            None to wait for the answers.
        progress_callback: The callback of the SDK for progress.
        complete_urls: Asks the user to open required URLs.
    """

    def __init__(  # noqa: PLR0913 -- the parts of one call
        self,
        call: ActiveCall,
        spec: CallSpec,
        *,
        elicitations: ElicitationDispatcher,
        limits: CallLimits,
        finish_task: FinishTask,
        suspender: CallPauser | None,
        progress_callback: Any,
        complete_urls: CompleteUrls,
    ) -> None:
        self._call = call
        self._spec = spec
        self._elicitations = elicitations
        self._limits = limits
        self._finish_task = finish_task
        self._suspender = suspender
        self._complete_urls = complete_urls
        self._send = spec.sender(call.session, progress_callback)
        self._url_retries = 0
        self._listed_for: RoundInput | None = None
        self._pause = _FIRST_PAUSE

    async def run(self, required: UrlRequired | None = None) -> Any:
        """
        Send the call until it has ended, and return its result.

        Args:
            required: The URL elicitations with which the last round ended, if
                the call was sent before.

        Raises:
            RequestStateRejectedError: If the server rejects its own state.
            HandshakeRequiredError: If the server cannot ask over this
                connection.
            UrlElicitationIncompleteError: If a required URL elicitation was
                not completed.
            CallTimeoutError: If a timeout passes.
            CallError: If the server exceeds a limit, or repeats a request
                that was declined or cancelled.
            Exception: The error of the SDK, if it is another one.
        """
        with self._elicitations.during(self._call), self._call.timeouts:
            return await self._run(FIRST_ROUND if required is None else required.given, required)

    async def resume(
        self, snapshot: CallSnapshot, given: Mapping[str, Answer | None], before_send: Callable[[], None]
    ) -> Any:
        """
        Continue a suspended call; the rest is as in `run`.

        The stored answers go through the host application's policies, and are
        checked again.

        Args:
            snapshot: The call.
            given: The answers, by the server's keys; None where an answer is
                pending.
            before_send: Is called before anything is sent.

        Raises:
            ResumeError: If the server did not take the answers.
            Exception: As in `run`.
        """
        with self._elicitations.during(self._call), self._call.timeouts:
            answers = {
                key: await self._elicitations.on_stored(self._call, request, GivenAnswer(given[key]))
                for key, request in snapshot.requests.items()
            }
            return await self._send_answers(snapshot, answers, before_send)

    async def resume_unseen(
        self, snapshot: CallSnapshot, answers: Mapping[str, Answer], before_send: Callable[[], None]
    ) -> Any:
        """Continue a suspended call as `resume` does, with checked *answers* that no policy wants to see."""
        with self._elicitations.during(self._call), self._call.timeouts:
            for key, request in snapshot.requests.items():
                self._call.record(request, answers[key])
            return await self._send_answers(snapshot, answers, before_send)

    async def _send_answers(
        self, snapshot: CallSnapshot, answers: Mapping[str, Answer], before_send: Callable[[], None]
    ) -> Any:
        host_requests = _stored_host_requests(snapshot)
        given = await self._respond({**snapshot.answers, **answers}, host_requests, snapshot.state)
        if not is_closed(self._call.session):  # otherwise the SDK raises its error, and nothing is sent
            before_send()
        try:
            outcome = await self._send_once(given)
        except Exception as error:
            if was_sent(error):
                raise
            raise ResumeError("unreachable") from error
        return await self._run(given, outcome)

    async def _run(self, given: RoundInput, outcome: Completed | NextRoundRequired | None = None) -> Any:
        while True:
            outcome = outcome or await self._send_once(given)
            step = outcome if isinstance(outcome, Completed) else await self._next_input(outcome, given)
            if isinstance(step, Completed):
                return step.result
            given, outcome = step, None

    async def _send_once(self, given: RoundInput) -> Completed | NextRoundRequired:
        try:
            result = await self._send(given)
        except Exception as error:
            raise_for(error, self._call.session, sent_state=given.state is not None)
            if needs_tool_list(error, self._call.session):
                return ToolListRequired(error)
            urls = parse_url_required(error, given)
            if urls is None:
                raise
            return urls
        if getattr(result, "result_type", "complete") == "complete":  # most results
            return Completed(result)
        required = parse_input_required(result)
        return required if required is not None else await self._finish(result, given)

    async def _finish(self, result: Any, given: RoundInput) -> Completed | UrlRequired:
        """Return the outcome of a round with *result*, which may be that of an extension, such as a task."""
        claim = foreign_claim(self._call.session, result)
        if claim is not None:
            return Completed(await resolve_claim(self._call, claim, result))
        if not is_task(result):
            return Completed(result)
        if self._spec.kind != "tool":
            raise TaskError("invalid", "only the call of a tool can become a task")
        try:
            return Completed(await self._finish_task(self._call, result))
        except Exception as error:
            urls = parse_url_required(error, given)  # a task fails as its call would
            if urls is None:
                raise
            return urls

    async def _next_input(self, outcome: NextRoundRequired, given: RoundInput) -> RoundInput | Completed:
        """Decide with what the call is sent again after the round with the input *given*, or end it."""
        match outcome:
            case ToolListRequired():
                if self._listed_for is given:
                    raise outcome.error
                self._listed_for = given
                try:  # so that the SDK learns the headers of the tool
                    await list_tools(self._call.session, until=self._spec.name)
                except Exception as list_error:
                    raise outcome.error from list_error
                return given
            case UrlRequired():
                if self._url_retries == self._limits.max_retries:
                    text = (
                        f"The server still requires URL elicitations after {self._url_retries} retries. "
                        "Call again when the user has finished there."
                    )
                    raise CallError(text) from outcome.error
                self._url_retries += 1
                ask = functools.partial(self._elicitations.on_input_required, self._call)
                ended = await self._complete_urls(self._call, ask, outcome)
                return given if ended is None else Completed(ended)
            case InputRequired() if not (outcome.elicitations or outcome.host_requests):
                return await self._wait(outcome)
            case InputRequired():
                answers = await self._answer(outcome)
                suspended = None if self._suspender is None else await self._suspender.suspend(outcome, answers)
                if suspended is not None:
                    return Completed(suspended)
                return await self._respond(answers, outcome.host_requests, outcome.state)
        assert_never(outcome)

    async def _answer(self, required: InputRequired) -> dict[str, Answer]:
        history = self._call.history
        history.rounds += 1
        if history.rounds > self._limits.max_rounds:
            raise CallError(
                f"The server required input more than {self._limits.max_rounds} times in one call. "
                "Increase `max_rounds` if you trust the server."
            )
        self._pause = _FIRST_PAUSE
        self._call.begin_round()
        suspender, requests = self._suspender, required.elicitations
        waiting: Waiting = "user" if suspender is None or suspender.has_policies else "nothing"
        answers: dict[str, Answer] = {}
        for key in requests:
            stored = None if suspender is None else suspender.defer(key)
            answers[key] = await self._elicitations.on_batch_request(
                self._call, requests, key, stored=stored, waiting=waiting
            )
        self._call.check_repeats()
        return answers

    async def _respond(
        self, answers: Mapping[str, Answer], host_requests: Mapping[str, Any], state: str | None
    ) -> RoundInput:
        responses = {key: self._elicitations.to_result(answer) for key, answer in answers.items()}
        if host_requests:
            responses |= await answer_host_requests(self._call, host_requests)
        return RoundInput(responses or None, state)

    async def _wait(self, required: InputRequired) -> RoundInput | Completed:
        """
        Wait before the server is asked again whether the user has finished, or pause the call.

        This is the user's time, unless the server has asked nothing yet and
        its own time is limited.
        """
        paused = None if self._suspender is None else self._suspender.pause_waiting(required)
        if paused is not None:
            return Completed(paused)
        pause, self._pause = self._pause, min(2 * self._pause, _MAX_PAUSE)
        timeouts = self._call.timeouts
        was_asked = self._call.history.rounds > 0 or self._url_retries > 0
        if timeouts.timeout is not None and not was_asked:
            await anyio.sleep(pause)
            return RoundInput(state=required.state)
        with timeouts.paused_for_user():
            if anyio.current_time() + pause > timeouts.user_deadline:
                await anyio.sleep_until(timeouts.user_deadline)
                if self._suspender is not None and was_asked:  # the user may be at a URL
                    suspended = await self._suspender.suspend_waiting(required)
                    if suspended is not None:
                        return Completed(suspended)
                raise timeouts.expired("answer_timeout")
            await anyio.sleep(pause)
        return RoundInput(state=required.state)


def _stored_host_requests(snapshot: CallSnapshot) -> dict[str, Any]:
    try:
        return load_host_requests(snapshot.host_requests)
    except ValueError:
        raise InboxError(NOT_A_CALL) from None
