"""Claude Agent SDK (``claude-agent-sdk``): answer the requests that Claude Code passes to a ``ClaudeSDKClient``."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_elicit_client.core.request import Server
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import SdkDispatcher, UserSource
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient

_SUBTYPE = "elicitation"
"""The subtype of the control requests that are answered."""

_MCP_NAMES = {"requested_schema": "requestedSchema", "elicitation_id": "elicitationId"}

_logger = logging.getLogger("mcp_elicit_client")


def answer_elicitations(
    client: ClaudeSDKClient,
    handler: Handler,
    *,
    user: UserSource = None,
    request_options: RequestOptions | None = None,
) -> None:
    """
    Answer the requests of the MCP servers of *client*.  Call this after ``connect()``, before the first prompt.

    Claude Code passes requests to the SDK, which has no public way to answer
    them.  The names of servers are those in ``ClaudeAgentOptions.mcp_servers``.

    Args:
        client: The client, connected.
        handler: The handler: a registry, or any other.
        user: As for `sdk.callback.elicitation_callback`.
        request_options: Limits, URL rules and modes; None for those of the
            registry.

    Raises:
        TypeError: If *client* is not connected, or of another version.
    """
    query: Any = getattr(client, "_query", None)
    inner = getattr(query, "_handle_control_request", None)
    if not callable(inner):
        raise TypeError("`client` must be a ClaudeSDKClient of claude-agent-sdk 0.2. Call `client.connect()` first.")
    dispatcher = SdkDispatcher(handler, request_options, user)

    async def handle(request: Any) -> None:
        asked = request["request"]
        if asked.get("subtype") != _SUBTYPE:
            await inner(request)
            return
        answered = {
            "subtype": "success",
            "request_id": request["request_id"],
            "response": await _answer(dispatcher, asked),
        }
        await query.transport.write(json.dumps({"type": "control_response", "response": answered}) + "\n")

    query._handle_control_request = handle  # noqa: SLF001 -- the SDK has no public way


async def _answer(dispatcher: SdkDispatcher, asked: Mapping[str, Any]) -> dict[str, Any]:
    try:
        server = Server.from_name(asked["mcp_server_name"])
        # Claude Code calls again, or goes on, as soon as it has the answer.
        return await dispatcher.result_without_errors(None, _to_mcp(asked), server=server, respond_after="completion")
    except Exception:
        _logger.exception("a request of Claude Code could not be answered")
        return {"action": "cancel"}


def _to_mcp(asked: Mapping[str, Any]) -> dict[str, Any]:
    wire = {_MCP_NAMES.get(name, name): value for name, value in asked.items()}
    match wire:
        case {"requestedSchema": {"properties": dict(properties)} as schema, "property_order": list(order)}:
            first = [name for name in order if isinstance(name, str) and name in properties]
            ordered = {name: properties[name] for name in [*first, *properties]}
            wire["requestedSchema"] = {**schema, "properties": ordered}
    return wire
