"""Errors of servers and of the SDK during calls: which of them become a `CallError`, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from mcp_elicit_client.exceptions import (
    CallError,
    CapabilityRequiredError,
    HandshakeRequiredError,
    RequestStateRejectedError,
    TaskError,
)
from mcp_elicit_client.sdk.callback import uses_multi_round_trip
from mcp_elicit_client.sdk.http_transport import WAS_SENT
from mcp_elicit_client.sdk.tasks_extension import TASK_RESULT

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
MISSING_CAPABILITY = -32021
_INVALID_REQUEST, _INTERNAL_ERROR = -32600, -32603

_INVALID_RESULT = (
    "The server returned a result that the protocol version of this connection does not allow. "
    "Report it to the author of the server; the cause contains the details."
)
_ROUNDS_REQUIRED = (
    "The server seems to ask with `input_required`, which does not exist in the protocol version of this connection. "
    'Connect with the protocol version 2026-07-28 or later (`mode="auto"` with mcp 2), and call again. '
    "If that does not help, report the error to the author of the server; the cause contains the details."
)
_OTHER_SESSION = " A request without `requestedSchema` is accepted if you connect with `Caller.connect`."


def error_code(error: BaseException | None) -> int | None:
    """Return the code of the JSON-RPC error that the SDK raised as *error*; None if it is another exception."""
    code = getattr(getattr(error, "error", None), "code", None)
    return code if isinstance(code, int) else None


def error_message(error: Exception) -> str:
    """Return the message of the JSON-RPC error that the SDK raised as *error*; empty if it is another exception."""
    message = getattr(getattr(error, "error", None), "message", None)
    return message if isinstance(message, str) else ""


def error_data(error: Exception) -> Mapping[str, Any]:
    """Return the ``data`` of the JSON-RPC error that the SDK raised as *error*; empty if it is not an object."""
    data = getattr(getattr(error, "error", None), "data", None)
    return data if isinstance(data, Mapping) else {}


def sdk_error(code: int, message: str, data: Any = None) -> Exception:
    """Return an error of the installed SDK."""
    import mcp
    from mcp.types import ErrorData

    details = ErrorData(code=code, message=message, data=data)
    sdk: Any = mcp
    if hasattr(sdk, "MCPError"):
        error: Exception = sdk.MCPError.from_error_data(details)
        return error
    import mcp.shared.exceptions as exceptions_of_1

    return exceptions_of_1.McpError(details)  # type: ignore[attr-defined, no-any-return, unused-ignore]


def was_sent(error: Exception) -> bool:
    """Return False if *error* says that the server did not take the request: it cannot have done anything."""
    return error_data(error).get(WAS_SENT) is not False


def raise_for(error: Exception, session: object, *, sent_state: bool) -> None:
    """
    Raise the `CallError` for an *error* of the SDK, if there is one.

    Args:
        error: What the SDK raised.
        session: The session that raised it.
        sent_state: The call was sent with the server's state.

    Raises:
        CallError: If the server's result is invalid, or the server can only
            ask over connections with another protocol version.
        HandshakeRequiredError: If the server cannot ask over this connection.
        RequestStateRejectedError: If the server rejected its own state.
        CapabilityRequiredError: If the server requires a capability that is
            not declared.
        TaskError: If the result is a task, and tasks are not declared.
    """
    if isinstance(error, ValidationError):
        returned = _result_types(error)
        if TASK_RESULT in returned:  # no extension reads it
            raise TaskError("undeclared") from error
        if "input_required" in returned and not uses_multi_round_trip(session):
            raise CallError(_ROUNDS_REQUIRED) from error
        is_prepared = hasattr(session, "disconnected")
        raise CallError(_INVALID_RESULT if is_prepared else _INVALID_RESULT + _OTHER_SESSION) from error
    if sent_state and is_state_rejected(error):
        raise RequestStateRejectedError from error
    if _lacks_back_channel(error, session):
        raise HandshakeRequiredError from error
    if _failed_to_return_rounds(error, session):
        raise CallError(_ROUNDS_REQUIRED) from error
    raise_if_capability_is_required(error)


def _result_types(error: ValidationError) -> list[object]:
    """Return each ``resultType`` in a result that is not valid."""
    inputs = (each["input"] for each in error.errors(include_url=False, include_context=False))
    return [each.get("resultType") for each in inputs if isinstance(each, Mapping)]


def _failed_to_return_rounds(error: Exception, session: object) -> bool:
    """Return True for the error of a server of the Python SDK that may not send a result that requires input."""
    return (
        error_code(error) == _INTERNAL_ERROR
        and error_message(error) == "Handler returned an invalid result"
        and not uses_multi_round_trip(session)
    )


def is_state_rejected(error: Exception) -> bool:
    """Return True if *error* says that the server rejected its own state.  The protocol has no code for it."""
    if error_code(error) != INVALID_PARAMS:
        return False
    if error_data(error).get("reason") == "invalid_request_state":
        return True
    return "requeststate" in error_message(error).casefold().replace(" ", "").replace("_", "")


def _lacks_back_channel(error: Exception, session: object) -> bool:
    return (
        error_code(error) == _INVALID_REQUEST
        and "elicitation/create" in error_message(error)
        and uses_multi_round_trip(session)
    )


def raise_if_capability_is_required(error: Exception) -> None:
    """
    Raise the error for ``-32021`` of the SDK.

    Raises:
        CapabilityRequiredError: If the server requires a capability that is
            not declared.
    """
    if error_code(error) != MISSING_CAPABILITY:
        return
    required = error_data(error).get("requiredCapabilities")
    known = ("elicitation", "extensions", "roots", "sampling")
    names = tuple(each for each in known if isinstance(required, dict) and each in required)
    raise CapabilityRequiredError(names) from error


def needs_tool_list(error: Exception, session: object) -> bool:
    """
    Return True if the server refused a call because it needs headers that only its list of tools declares.

    Earlier protocol versions do not define the code, so the tool may have run.
    """
    import mcp.types

    mismatch = getattr(mcp.types, "HEADER_MISMATCH", None)
    return mismatch is not None and error_code(error) == mismatch and uses_multi_round_trip(session)


def reports_missing_push(result: Any, session: object) -> bool:
    """Return True if *result* is the error of a tool of FastMCP 4 that cannot ask over *session*."""
    if not getattr(result, "is_error", False) or not uses_multi_round_trip(session):
        return False
    texts = (getattr(each, "text", None) for each in getattr(result, "content", ()))
    return any(isinstance(each, str) and "elicitation via server-initiated requests" in each for each in texts)
