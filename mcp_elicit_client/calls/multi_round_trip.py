"""Calls that come back with questions in place of a result (protocol revision 2026-07-28)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from mcp_elicit_client.calls.active_call import ActiveCall, Ask, StoredAnswersFor
from mcp_elicit_client.calls.methods import Send
from mcp_elicit_client.calls.suspending import CallSuspender, Claim, LoadedCall, answered
from mcp_elicit_client.core.request import BatchPosition
from mcp_elicit_client.dispatch import MAX_BATCH, RequestOptions
from mcp_elicit_client.exceptions import CallError, RequestError, RequestStateRejectedError
from mcp_elicit_client.typing import Answer

MAX_STATE = 1_048_576
"""The longest state of a server's that is carried back to it, in characters."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0
"""How long to wait before asking again a server that only sent its state, in seconds; doubled each time."""

_INSISTED_TOO_OFTEN = 2


class MultiRoundTrip:
    """
    Drives one call, question by question, to its result.

    Args:
        session: The SDK's session.
        call: The call.
        ask: Answers one question.
        request_options: How answers are told.
        max_rounds: How often the server may come back with questions.
        lot: Where the call is parked while its questions wait; None if it is not.
    """

    def __init__(  # noqa: PLR0913, PLR0917 -- all that a round takes
        self,
        session: Any,
        call: ActiveCall,
        ask: Ask,
        request_options: RequestOptions,
        max_rounds: int,
        suspender: CallSuspender | None = None,
    ) -> None:
        self._session = session
        self._call = call
        self._ask = ask
        self._request_options = request_options
        self._max_rounds = max_rounds
        self._suspender = suspender

    async def drive(self, send: Send, responses: Mapping[str, Any] | None = None, state: str | None = None) -> Any:
        """
        Send the call until it has a result, and return that; or what was parked.

        Args:
            send: Sends it.
            responses: What goes with it first: the answers to questions of before.
            state: The server's state of before.

        Raises:
            StaleStateError: If the server refuses its own state.
            CallError: If the server asks too much, too often, or again and
                again for what was declined.
            CallTimeoutError: If it has nothing to ask and no result either,
                for longer than the user's patience.
        """
        result = await _sent(send, responses, state)
        pause = _FIRST_PAUSE
        while _asks(result):
            state = _checked(result.request_state)
            if result.input_requests:
                questions, others = _sorted(result.input_requests)
                answers = await self._answer_all(questions, len(others))
                parked = await self._suspender.suspend(answers, others, state) if self._suspender is not None else None
                if parked is not None:
                    return parked
                responses = self._told(answers) | await self._answers_of_the_host(others)
                pause = _FIRST_PAUSE
            else:
                responses = None
                await self._pause(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            result = await _sent(send, responses, state)
        return result

    async def resume(self, send: Send, resumable: LoadedCall, claim: Claim) -> Any:
        """
        Go on with a call that was parked; the rest is as in `drive`.

        What was answered goes through the host's policies and is checked
        again, as if it came just now.
        """
        memo = resumable.snapshot
        answers = dict(memo.answers)
        for number, (key, request) in enumerate(memo.requests.items(), 1):
            turn = request.batch_position or BatchPosition(number=number, total=len(memo.requests))
            answers[key] = await self._answer(key, request, turn, answered(resumable, key))
        responses = self._told(answers) | await self._answers_of_the_host(_requests(memo.others))
        claim.was_sent = True
        return await self.drive(send, responses, memo.state)

    async def _pause(self, seconds: float) -> None:
        # What is waited for is the user, somewhere else: it is their time.
        with self._call.clocks.paused_for_user():
            if anyio.current_time() + seconds > self._call.clocks.user_deadline:
                await anyio.sleep_until(self._call.clocks.user_deadline)
                raise self._call.clocks.expired("answer_timeout")
            await anyio.sleep(seconds)

    async def _answer_all(self, questions: Mapping[str, Any], others: int) -> dict[str, Answer]:
        self._call.history.rounds += 1
        if self._call.history.rounds > self._max_rounds:
            raise CallError(f"the server came back with questions more than {self._max_rounds} times")
        count = len(questions) + others
        if count > MAX_BATCH:
            raise CallError(f"the server asks {count} questions at once; at most {MAX_BATCH} can be asked")
        answers: dict[str, Answer] = {}
        for number, (key, request) in enumerate(questions.items(), 1):
            stored = None if self._suspender is None else self._suspender.defer(key)
            answers[key] = await self._answer(
                key, request.params, BatchPosition(number=number, total=len(questions)), stored
            )
        if self._call.history.insisted >= _INSISTED_TOO_OFTEN:
            raise CallError("the server keeps asking for what was declined")
        return answers

    async def _answer(self, key: str, params: Any, turn: BatchPosition, stored: StoredAnswersFor | None) -> Answer:
        try:
            return await self._ask(params, stored=stored, batch_position=turn, request_id=key)
        except RequestError:  # an answer has no place for an error
            return Answer.cancel(by="error", reason="nobody could answer it")

    def _told(self, answers: Mapping[str, Answer]) -> dict[str, Any]:
        from mcp.types import ElicitResult

        return {
            key: ElicitResult.model_validate(self._request_options.to_wire(answer)) for key, answer in answers.items()
        }

    async def _answers_of_the_host(self, others: Mapping[str, Any]) -> dict[str, Any]:
        return {key: await self._answer_with_the_hosts_own(key, request) for key, request in others.items()}

    async def _answer_with_the_hosts_own(self, key: str, request: Any) -> Any:
        """Ask for what is no elicitation (sampling, roots) as the SDK would."""
        import mcp
        import mcp.client
        import mcp.types

        sdk: Any = mcp
        meta = getattr(request.params, "meta", None)
        context = sdk.client.ClientRequestContext(session=self._session, request_id=key, meta=meta)
        with self._call.clocks.paused_for_user():
            response = await self._session.dispatch_input_request(context, request)
        if isinstance(response, mcp.types.ErrorData):
            raise sdk.MCPError.from_error_data(response)
        return response


async def _sent(send: Send, responses: Mapping[str, Any] | None, state: str | None) -> Any:
    try:
        return await send(responses, state)
    except Exception as error:
        if state is not None and _is_stale(getattr(error, "error", None)):
            raise RequestStateRejectedError from error
        raise


def _is_stale(refusal: Any) -> bool:
    """Tell whether a server refuses its own state; no code of the protocol's says so by itself."""
    import mcp.types

    if getattr(refusal, "code", None) != mcp.types.INVALID_PARAMS:
        return False
    data, message = getattr(refusal, "data", None), getattr(refusal, "message", None)
    if isinstance(data, Mapping) and data.get("reason") == "invalid_request_state":
        return True
    return isinstance(message, str) and "requeststate" in message.casefold().replace(" ", "").replace("_", "")


def _sorted(requests: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell what is for the user from what is for the host application itself."""
    from mcp.types import ElicitRequest

    questions = {key: request for key, request in requests.items() if isinstance(request, ElicitRequest)}
    return questions, {key: request for key, request in requests.items() if key not in questions}


def _requests(others: Mapping[str, Any]) -> dict[str, Any]:
    """Read what `Memo.others` holds."""
    import mcp.types
    from pydantic import TypeAdapter

    types: Any = mcp.types
    read: dict[str, Any] = TypeAdapter(types.InputRequests).validate_python(dict(others)) if others else {}
    return read


def _asks(result: Any) -> bool:
    import mcp.types

    asking = getattr(mcp.types, "InputRequiredResult", None)
    return asking is not None and isinstance(result, asking)


def _checked(state: str | None) -> str | None:
    if state is not None and len(state) > MAX_STATE:
        raise CallError(f"the server's state is longer than {MAX_STATE} characters")
    return state
