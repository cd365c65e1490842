"""Multi-round-trip requests (protocol version 2026-07-28): ``input_required`` and the responses to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_elicit_client.calls.active_call import ActiveCall
from mcp_elicit_client.calls.methods import check_json
from mcp_elicit_client.core.origin import ORIGIN_META_KEY
from mcp_elicit_client.dispatch import MAX_BATCH
from mcp_elicit_client.exceptions import REPORT, CallError

MAX_STATE = 1_048_576
"""The maximum length of a ``requestState``, in characters."""


@dataclass(frozen=True, slots=True)
class InputRequired:
    """
    The server requires input before it returns the result.

    Attributes:
        elicitations: The params of the elicitation requests, by the server's
            keys.
        host_requests: Requests to the host application itself (sampling,
            roots), by the server's keys.
        state: The server's ``requestState``.
    """

    elicitations: Mapping[str, Any]
    host_requests: Mapping[str, Any]
    state: str | None


def parse_input_required(result: Any) -> InputRequired | None:
    """
    Read an ``input_required`` result of the SDK.

    Returns:
        What the server requires; None if *result* is another result.

    Raises:
        CallError: If the state or the number of requests is too large.
    """
    import mcp.types

    input_required = getattr(mcp.types, "InputRequiredResult", None)
    if input_required is None or not isinstance(result, input_required):
        return None
    state, requests = result.request_state, result.input_requests or {}
    if state is not None and len(state) > MAX_STATE:
        raise CallError(f"The server's `requestState` is longer than {MAX_STATE} characters. {REPORT}")
    if len(requests) > MAX_BATCH:
        raise CallError(f"The server sent {len(requests)} requests at once; at most {MAX_BATCH} are allowed. {REPORT}")
    elicitations = {
        key: _with_origin(request.params, result)
        for key, request in requests.items()
        if isinstance(request, mcp.types.ElicitRequest)
    }
    host_requests = {key: request for key, request in requests.items() if key not in elicitations}
    return InputRequired(elicitations, host_requests, state)


def _with_origin(params: Any, result: Any) -> Any:
    """Return *params* with the origin that the result reports, and no other: requests in a result have no ``_meta``."""
    origin = (result.meta or {}).get(ORIGIN_META_KEY)
    meta = None if origin is None else {ORIGIN_META_KEY: origin}
    return params if params.meta == meta else params.model_copy(update={"meta": meta})


async def answer_host_requests(call: ActiveCall, requests: Mapping[str, Any]) -> dict[str, Any]:
    """
    Answer the requests that are not elicitations with the host application's own callbacks, as the SDK does.

    Raises:
        TypeError: If JSON does not allow a part of a response.
        Exception: The SDK's error, if a callback returns an error.
    """
    return {key: await _answer_host_request(call, key, request) for key, request in requests.items()}


async def _answer_host_request(call: ActiveCall, key: str, request: Any) -> Any:
    import mcp
    import mcp.client
    import mcp.types

    sdk: Any = mcp
    meta = getattr(request.params, "meta", None)
    context = sdk.client.ClientRequestContext(session=call.session, request_id=key, meta=meta)
    with call.timeouts.paused_for_host():
        response = await call.session.dispatch_input_request(context, request)
    if isinstance(response, mcp.types.ErrorData):
        raise sdk.MCPError.from_error_data(response)
    check_json("the response of your callback for sampling or roots", response)
    return response


def load_host_requests(stored: Mapping[str, Any]) -> dict[str, Any]:
    """
    Read the requests to the host application that were stored as JSON.

    Raises:
        ValueError: If they cannot be read.
    """
    if not stored:  # in most calls: without the imports
        return {}
    import mcp.types
    from pydantic import TypeAdapter

    types: Any = mcp.types
    requests: dict[str, Any] = TypeAdapter(types.InputRequests).validate_python(dict(stored))
    return requests
