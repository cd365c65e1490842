"""The official SDK: ``ClientSession``, ``Client`` and ``ClientSessionGroup`` of mcp 1.x and 2.x."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION, Server
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.dispatch import RequestOptions, answer_params, options_for
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from mcp.types import ElicitRequestParams, ElicitResult, ErrorData

__all__ = ["ElicitationCallback", "elicitation_callback"]

_MAX_CLAIM = 200


def supports_multi_round_trip() -> bool:
    """Tell whether the installed SDK knows multi-round-trip questions (2026-07-28)."""
    return hasattr(importlib.import_module("mcp"), "Client")


class ElicitationCallback(Protocol):
    """What ``ClientSession`` and ``Client`` take as ``elicitation_callback``, in both majors."""

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        """Answer *params*."""
        ...


def elicitation_callback(
    handler: Handler, *, server: Server | str, request_options: RequestOptions | None = None
) -> ElicitationCallback:
    """
    Make the ``elicitation_callback`` of a client session.

    It serves mcp 1.x and 2.x, pushed requests and multi-round-trip ones.  It
    never raises but when it is cancelled, tells the server nothing of what
    failed, and always returns what the protocol allows.  A request that
    nobody could answer is told so (``-32602``), or is a cancel where the
    protocol revision has no place for errors.

    Args:
        handler: Who is asked: a registry, `Caller.handler`, or any handler.
        server: What the host application calls the server: pass one callback
            per server, also where a ``ClientSessionGroup`` holds the sessions.
        request_options: How requests are read; None for the registry's way.
    """
    known = Server.from_name(server)
    way = options_for(handler, request_options)

    async def callback(context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        details = request_details(context)
        server_now = server_with_claim(known, getattr(context, "session", None))
        return await answer_for_sdk(handler, params, server=server_now, request_options=way, **details)

    return callback


async def answer_for_sdk(
    handler: Handler, params: object, *, server: Server, request_options: RequestOptions, **details: Any
) -> ElicitResult | ErrorData:
    """Answer as `answer_params` does, with what a callback of the SDK returns; *details* as there."""
    from mcp.types import INVALID_PARAMS, ElicitResult, ErrorData

    try:
        answer = await answer_params(handler, params, server=server, request_options=request_options, **details)
    except RequestError as error:
        if (details.get("protocol_version") or "") >= FIRST_MULTI_ROUND_TRIP_VERSION:
            return ElicitResult(action="cancel")
        return ErrorData(code=INVALID_PARAMS, message=str(error))
    return ElicitResult.model_validate(request_options.to_wire(answer))


def server_with_claim(server: Server, session: object) -> Server:
    """Add what the server of *session* calls itself, if the SDK keeps it, safe to show."""
    claimed = getattr(getattr(session, "server_info", None), "name", None)
    if server.claimed_name is not None or not isinstance(claimed, str):
        return server
    return server.model_copy(update={"claimed_name": sanitize_text(claimed, limit=_MAX_CLAIM, multiline=False)})


def request_details(context: object) -> dict[str, Any]:
    """Read what the context of a callback tells of a request: its protocol revision and its id."""
    protocol = getattr(getattr(context, "session", None), "protocol_version", None)
    request_id = getattr(context, "request_id", None)
    return {
        "protocol_version": protocol if isinstance(protocol, str) else None,
        "request_id": request_id if isinstance(request_id, (str, int)) else None,
    }
