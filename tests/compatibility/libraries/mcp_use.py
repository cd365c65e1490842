"""mcp-use: our client, which has a callback for each server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import text_of

os.environ["MCP_USE_ANONYMIZED_TELEMETRY"] = "false"


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    from mcp_use import MCPClient

    from mcp_elicit_client.hosts.mcp_use import with_handler

    config = {name: {"command": command, "args": args} for name, (command, *args) in servers.items()}
    client = with_handler(MCPClient({"mcpServers": config}), handler)
    sessions = await client.create_all_sessions()

    async def call(server: str, tool: str) -> str:
        return text_of(await sessions[server].call_tool(tool, {}))

    try:
        yield call
    finally:
        await client.close_all_sessions()
