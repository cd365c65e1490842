"""
LangChain's ``langchain.mcp.MCPAdapter`` (beta): answers to its interrupts.

Alternatively, pass clients that have a handler, which the adapter does not
change: ``MCPAdapter(ClientGroup(hosts.fastmcp.clients_from_config(registry, config)))``.
Servers that send requests themselves (up to 2025-11-25) require that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION, BatchPosition, Server
from mcp_elicit_client.dispatch import MAX_BATCH
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import SdkDispatcher
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from langchain.mcp.elicitation import MCPElicitationResume

_INTERRUPT_TYPE = "mcp_elicitation"
"""The ``type`` in the value of an interrupt that contains elicitation requests."""


def is_elicitation(value: object) -> bool:
    """Return True if `answer_interrupt` answers an interrupt with this *value*."""
    return (
        isinstance(value, Mapping)
        and value.get("type") == _INTERRUPT_TYPE
        and isinstance(value.get("requests"), list)
        and all(isinstance(each, Mapping) and isinstance(each.get("key"), str) for each in value["requests"])
    )


async def answer_interrupt(
    handler: Handler,
    value: Mapping[str, Any],
    *,
    server: Server | str,
    user: str | None = None,
    request_options: RequestOptions | None = None,
) -> MCPElicitationResume:
    """
    Answer the requests of an interrupt, one after the other.

    Args:
        handler: The handler: a registry, or any other.
        value: The ``value`` of the ``Interrupt``.
        server: The name that your users see.  LangChain does not pass the name
            of the server.  Use one adapter for each server.
        user: The user whose run was interrupted, 1 to 256 characters; None if
            there is only one user.
        request_options: Limits, URL rules and modes; None for those of the
            registry.

    Returns:
        The value to resume the run with: ``Command(resume=...)``.  Requests
        that cannot be answered, and those after the sixteenth, are cancelled.

    Raises:
        ValueError: If *value* is another kind of interrupt, or *user* is
            empty or too long.
    """
    if not is_elicitation(value):
        raise ValueError(
            "`value` is not that of an interrupt with elicitation requests. Check it with `is_elicitation`."
        )
    dispatcher, known = SdkDispatcher(handler, request_options, user), Server.from_name(server)
    tool = value.get("tool_name")
    requests = value["requests"]
    answers: dict[str, dict[str, Any]] = {}
    for number, each in enumerate(requests, 1):
        if number > MAX_BATCH:
            answers[each["key"]] = {"action": "cancel"}
            continue
        answers[each["key"]] = await dispatcher.result_without_errors(
            None,
            _params(each),
            server=known,
            protocol_version=FIRST_MULTI_ROUND_TRIP_VERSION,
            tool=tool if isinstance(tool, str) else None,
            request_id=each["key"],
            batch_position=BatchPosition(number=number, total=len(requests)),
        )
    return cast("MCPElicitationResume", {"responses": answers})


def _params(request: Mapping[str, Any]) -> dict[str, Any]:
    names = {"mode": "mode", "message": "message", "requested_schema": "requestedSchema", "url": "url"}
    return {wire: request[name] for name, wire in names.items() if name in request}
