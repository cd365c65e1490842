"""
Pydantic AI: ``MCPToolset(elicitation_handler=)``, and ``MCPServerStdio(elicitation_callback=)`` of 1.x.

A toolset is for one server and hands the handler to FastMCP, whichever major
it runs on; it also takes a FastMCP client, ``MCPToolset(client(caller, ...))``.
The servers of 1.x are sessions of the SDK.
"""

from __future__ import annotations

from mcp_elicit_client.hosts.fastmcp import client, elicitation_handler
from mcp_elicit_client.sdk.callback import elicitation_callback

__all__ = ["client", "elicitation_callback", "elicitation_handler"]
