"""Errors that a relay returns to its client: refused states and responses, and the errors of calls."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from mcp_elicit_client.calls.server_errors import INVALID_PARAMS, MISSING_CAPABILITY, error_code, sdk_error
from mcp_elicit_client.exceptions import (
    CallError,
    CallTimeoutError,
    CapabilityRequiredError,
    ElicitationError,
    HandshakeRequiredError,
    InboxError,
)
from mcp_elicit_client.typing import Mode

INTERNAL_ERROR = -32603
REQUEST_TIMEOUT = -32001

StateRefusal: TypeAlias = Literal["invalid", "expired", "caller", "call", "used", "process", "ended"]
ResponseRefusal: TypeAlias = Literal["state_missing", "invalid_response", "invalid_content"]
Refusal: TypeAlias = StateRefusal | ResponseRefusal | Literal["too_many_calls"]
"""The code of a refused request, in the error's ``data.code``."""

_TEXTS: dict[Refusal, str] = {
    "invalid": "This gateway did not make this `requestState`. Make the call again.",
    "expired": "The `requestState` has expired. Make the call again.",
    "caller": "The `requestState` belongs to another caller.",
    "call": "The `requestState` belongs to a call with another method, name or arguments.",
    "used": "The `requestState` was used already, with other responses.",
    "process": (
        "The `requestState` names a call that another process of this gateway holds, or held until it stopped. "
        "The call is not started again. Send the request to that process, or make the call again."
    ),
    "ended": "The call of this `requestState` has ended. Make the call again if its result is needed.",
    "state_missing": "There are `inputResponses` without the `requestState` that they belong to.",
    "invalid_response": "A response is not the result of an elicitation.",
    "invalid_content": "The content of a response does not fit its form.",
    "too_many_calls": "This caller has too many calls in progress. Wait until one of them has ended.",
}
_HANDSHAKE_REQUIRED = (
    "The server behind this gateway asks with `elicitation/create`, which does not exist in the protocol version "
    "of its connection (2026-07-28 or later). The gateway now connects with an older version. Make the call again "
    "if the tool may run twice."
)
_OF_RESPONSES = frozenset({"state_missing", "invalid_response", "invalid_content"})


class RefusedError(ElicitationError):
    """
    A request of the client that is refused.  Nothing of it was accepted.

    Attributes:
        code: The cause.
        fields: The names of invalid fields.
    """

    def __init__(self, code: Refusal, fields: tuple[str, ...] = ()) -> None:
        super().__init__(_TEXTS[code])
        self.code: Refusal = code
        self.fields = fields

    @property
    def data(self) -> dict[str, Any]:
        """The ``data`` of the JSON-RPC error."""
        reason = "invalid_request_state"
        if self.code in _OF_RESPONSES:
            reason = "invalid_input_responses"
        elif self.code == "too_many_calls":
            reason = self.code
        return {"reason": reason, "code": self.code, **({"fields": list(self.fields)} if self.fields else {})}


class RelayClosedError(CallError):
    """The relay was closed during a call."""

    def __init__(self) -> None:
        super().__init__("The gateway has closed its connections to the server. Make the call again.")


class ConnectionLostError(CallError):
    """The connection to the upstream server was lost before it answered.  It may have received the call."""

    def __init__(self) -> None:
        super().__init__("The gateway lost its connection to the server. Send the same request again.")


def check_declared(asked: frozenset[Mode], declared: frozenset[Mode]) -> None:
    """
    Check that a client declares the modes in which it is asked, as it must with each of its requests.

    Raises:
        Exception: The SDK's error for a missing capability.  The call goes on
            waiting, so the client can send the same request with it.
    """
    missing = sorted(asked - declared)
    if missing:
        raise sdk_error(
            MISSING_CAPABILITY,
            "The call is waiting for an elicitation that this request does not declare. "
            "Send it again with the capability.",
            {"requiredCapabilities": {"elicitation": {mode: {} for mode in missing}}},
        )


def to_sdk_error(error: Exception) -> Exception:
    """Return the error of the SDK with which the gateway's request ends."""
    if is_internal(error):
        return sdk_error(INTERNAL_ERROR, "The gateway failed. Its log contains the cause.", {"reason": "gateway"})
    if isinstance(error, RefusedError):
        return sdk_error(INVALID_PARAMS, str(error), error.data)
    if isinstance(error, CapabilityRequiredError) and error_code(error.__cause__) is not None:
        return error.__cause__  # type: ignore[return-value]
    if isinstance(error, CallTimeoutError):
        return sdk_error(REQUEST_TIMEOUT, str(error), {"reason": "timeout", "limit": error.limit})
    text = _HANDSHAKE_REQUIRED if isinstance(error, HandshakeRequiredError) else str(error)
    return sdk_error(INTERNAL_ERROR, text, {"reason": type(error).__name__})


def is_internal(error: Exception) -> bool:
    """Return True if *error* is not the client's concern.  Its text may contain a path, an address or data."""
    return isinstance(error, InboxError) or not isinstance(error, ElicitationError)


def error_details(error: Exception) -> dict[str, Any] | None:
    """Return code, message and data of an error of the SDK; None if it is another exception."""
    details = getattr(error, "error", None)
    if error_code(error) is None:
        return None
    return {"code": details.code, "message": details.message, "data": details.data}  # type: ignore[union-attr]
