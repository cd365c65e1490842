"""Microsoft Agent Framework: the ``mcp_client`` of its MCP tools, which is one of yours."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mcp_elicit_client.hosts.session_proxy import wrap_session

if TYPE_CHECKING:
    from mcp_elicit_client.calls import Caller

C = TypeVar("C")


def wrap_client(caller: Caller, client: C) -> C:
    """
    Make the ``mcp_client`` of an ``MCPStdioTool`` or ``MCPStreamableHTTPTool``; they take no callback.

    Args:
        caller: Who makes the calls.
        client: What ``caller.client`` made, entered.
    """
    return wrap_session(caller, client)
