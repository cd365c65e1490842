"""Pydantic AI: a toolset for each server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset

from mcp_elicit_client.hosts.pydantic_ai import elicitation_handler
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    toolsets: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, (command, *args) in servers.items():
            asked = elicitation_handler(handler, server=name)
            toolset: MCPToolset[Any] = MCPToolset(StdioTransport(command, args), id=name, elicitation_handler=asked)
            toolsets[name] = await stack.enter_async_context(toolset)

        async def call(server: str, tool: str) -> str:
            return str(await toolsets[server].direct_call_tool(tool, {}))

        yield call
