"""
Pydantic AI: ``MCPToolset(..., elicitation_handler=...)``, and ``MCPServerStdio(..., elicitation_callback=...)`` of 1.x.

A toolset is for one server.  It also takes a FastMCP client:
``MCPToolset(client(caller, ...))``.
"""

from __future__ import annotations

from mcp_elicit_client.hosts.fastmcp import client, elicitation_handler
from mcp_elicit_client.sdk.callback import elicitation_callback

__all__ = ["client", "elicitation_callback", "elicitation_handler"]
