"""
A leg of a call: what the client is asked in one ``input_required`` result, and the responses to it.

Both kinds of calls with multi-round-trip requests downstream have legs: those
whose state is stored, and those that a process holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.core.origin import write_origin
from mcp_elicit_client.core.request import ProtocolVersion
from mcp_elicit_client.dispatch import check_answer_async
from mcp_elicit_client.relay.refusals import RefusedError
from mcp_elicit_client.relay.wire import answer_of_result, client_params
from mcp_elicit_client.typing import Answer, Request

ROUNDS: ProtocolVersion = "2026-07-28"
"""The protocol version in which legs are written."""


def _members(value: Any) -> Any:
    """Return what identifies a model of the SDK, or a URL in one."""
    return vars(value) if hasattr(value, "__dict__") else str(value)


_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_members)


class Leg(NamedTuple):
    """
    What the client is asked, or that it has to wait.

    Attributes:
        call_id: The ID of the call.
        number: The number of the leg, from 1 on.
        questions: The requests, by the keys of the gateway; empty if the
            client only makes its next request.
        process: The process that holds the call; empty if any can continue it.
    """

    call_id: str
    number: int
    questions: Mapping[str, Request]
    process: str = ""


class CallOutcome(NamedTuple):
    """
    The end of a call.

    Attributes:
        result: The result of the upstream server.
        error: The error with which the call ended; None if it has a result.
    """

    result: Any = None
    error: Exception | None = None

    def unwrap(self) -> Any:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result


Step: TypeAlias = Leg | CallOutcome
"""What a call leads to: the client is asked, or the call has ended."""


def input_required(leg: Leg, state: str) -> Any:
    """Return the SDK's ``InputRequiredResult`` for *leg*."""
    import mcp.types

    types: Any = mcp.types
    if not leg.questions:
        return types.InputRequiredResult(request_state=state)
    requests = {
        key: types.ElicitRequest.model_validate(
            {"method": "elicitation/create", "params": client_params(request, ROUNDS)}
        )
        for key, request in leg.questions.items()
    }
    (origin,) = {request.origin for request in leg.questions.values()}
    return types.InputRequiredResult(input_requests=requests, request_state=state, _meta=write_origin(origin))


def digest_of(responses: Mapping[str, Any]) -> str:
    """Return a digest of the responses of the client, in any order: the same ones lead to the same next leg."""
    return hashlib.sha256(_JSON.encode(responses).encode("ascii")).hexdigest()


def check_same_call(made: CallSpec, repeated: CallSpec) -> None:
    """
    Check that the client makes the same call again.  The server gets that which was made.

    Raises:
        RefusedError: If the method, the name or an argument differs.
    """
    if (made.kind, made.name, made.arguments or {}) != (repeated.kind, repeated.name, repeated.arguments or {}):
        raise RefusedError("call")


async def read_responses(responses: Mapping[str, Any], questions: Mapping[str, Request]) -> dict[str, Answer]:
    """
    Return the answers in the responses of the client, checked against the requests.

    Args:
        responses: The responses, by the keys of the gateway.  Those to other
            requests are ignored.
        questions: The requests, by the same keys.

    Raises:
        RefusedError: If a response is invalid.
    """
    return {key: await _read_response(responses[key], request) for key, request in questions.items()}


async def _read_response(response: Any, request: Request) -> Answer:
    if getattr(response, "action", None) not in ("accept", "decline", "cancel"):
        raise RefusedError("invalid_response")
    answer = answer_of_result(response)
    checked = await check_answer_async(request, answer)
    if checked.action != answer.action:
        fields = dict.fromkeys(each.field for each in checked.diagnostics if each.field is not None)
        raise RefusedError("invalid_content", tuple(fields))
    return checked
