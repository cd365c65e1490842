"""Pydantic AI: a toolset for each server, over a FastMCP client whose calls are those of our `Caller`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.pydantic_ai import client
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    toolsets: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, (command, *args) in servers.items():
            own = client(Caller(handler, name), StdioTransport(command, args))
            toolset: MCPToolset[Any] = MCPToolset(own, id=name)
            toolsets[name] = await stack.enter_async_context(toolset)

        async def call(server: str, tool: str) -> str:
            return str(await toolsets[server].direct_call_tool(tool, {}))

        yield call
