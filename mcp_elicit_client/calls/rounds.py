"""Calls that come back with questions in place of a result (protocol revision 2026-07-28)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from mcp_elicit_client.calls.call import Ask, Call
from mcp_elicit_client.calls.verbs import Send
from mcp_elicit_client.core.requests import Turn
from mcp_elicit_client.exceptions import CallError, RequestError
from mcp_elicit_client.hosts.boundary import MAX_AT_ONCE, Door

MAX_STATE = 1_048_576
"""The longest state of a server's that is carried back to it, in characters."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0
"""How long to wait before asking again a server that only sent its state, in seconds; doubled each time."""

_INSISTED_TOO_OFTEN = 2


class Rounds:
    """
    Drives one call, question by question, to its result.

    Args:
        session: The SDK's session.
        call: The call.
        ask: Answers one question.
        door: How answers are told.
        max_rounds: How often the server may come back with questions.
    """

    def __init__(self, session: Any, call: Call, ask: Ask, door: Door, max_rounds: int) -> None:
        self._session = session
        self._call = call
        self._ask = ask
        self._door = door
        self._max_rounds = max_rounds

    async def drive(self, send: Send) -> Any:
        """
        Send the call until it has a result, and return that.

        Raises:
            CallError: If the server asks too much, too often, or again and
                again for what was declined.
            CallTimeoutError: If it has nothing to ask and no result either,
                for longer than the user's patience.
        """
        result = await send(None, None)
        rounds, pause = 0, _FIRST_PAUSE
        while _asks(result):
            state = _checked(result.request_state)
            if result.input_requests:
                rounds += 1
                if rounds > self._max_rounds:
                    raise CallError(f"the server came back with questions more than {self._max_rounds} times")
                responses: Mapping[str, Any] | None = await self._answer_all(result.input_requests)
                pause = _FIRST_PAUSE
            else:
                responses = None
                await self._pause(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            result = await send(responses, state)
        return result

    async def _pause(self, seconds: float) -> None:
        # What is waited for is the user, somewhere else: it is their time.
        with self._call.clocks.asking():
            if anyio.current_time() + seconds > self._call.clocks.user_deadline:
                await anyio.sleep_until(self._call.clocks.user_deadline)
                raise self._call.clocks.expired("patience")
            await anyio.sleep(seconds)

    async def _answer_all(self, requests: Mapping[str, Any]) -> dict[str, Any]:
        if len(requests) > MAX_AT_ONCE:
            raise CallError(f"the server asks {len(requests)} questions at once; at most {MAX_AT_ONCE} can be asked")
        responses: dict[str, Any] = {}
        for number, (key, request) in enumerate(requests.items(), 1):
            responses[key] = await self._answer(key, request, Turn(number=number, of=len(requests)))
        if self._call.insisted >= _INSISTED_TOO_OFTEN:
            raise CallError("the server keeps asking for what was declined")
        return responses

    async def _answer(self, key: str, request: Any, turn: Turn) -> Any:
        from mcp.types import ElicitRequest, ElicitResult

        if not isinstance(request, ElicitRequest):
            return await self._answer_with_the_hosts_own(key, request)
        try:
            answer = await self._ask(request.params, turn=turn, request_id=key)
        except RequestError:  # an answer has no place for an error
            return ElicitResult(action="cancel")
        return ElicitResult.model_validate(self._door.to_wire(answer))

    async def _answer_with_the_hosts_own(self, key: str, request: Any) -> Any:
        """Ask for what is no elicitation (sampling, roots) as the SDK would."""
        import mcp
        import mcp.client
        import mcp.types

        sdk: Any = mcp
        meta = getattr(request.params, "meta", None)
        context = sdk.client.ClientRequestContext(session=self._session, request_id=key, meta=meta)
        with self._call.clocks.asking():
            response = await self._session.dispatch_input_request(context, request)
        if isinstance(response, mcp.types.ErrorData):
            raise sdk.MCPError.from_error_data(response)
        return response


def _asks(result: Any) -> bool:
    import mcp.types

    asking = getattr(mcp.types, "InputRequiredResult", None)
    return asking is not None and isinstance(result, asking)


def _checked(state: str | None) -> str | None:
    if state is not None and len(state) > MAX_STATE:
        raise CallError(f"the server's state is longer than {MAX_STATE} characters")
    return state
