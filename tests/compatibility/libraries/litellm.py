"""LiteLLM: the MCP client of the library, which connects for each call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from litellm.mcp_client.client import MCPClient
from litellm.types.mcp import MCPStdioConfig, MCPTransport
from mcp.types import CallToolRequestParams

from mcp_elicit_client.sdk.callback import elicitation_callback
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import text_of


@asynccontextmanager
async def connected(handler: Handler, servers: Servers, *, protocol_version: Any = "auto") -> AsyncIterator[Call]:
    clients: dict[str, Any] = {
        name: MCPClient(
            transport_type=MCPTransport.stdio,
            stdio_config=MCPStdioConfig(command=command[0], args=list(command[1:])),
            elicitation_callback=elicitation_callback(handler, server=name),
            protocol_version=protocol_version,
        )
        for name, command in servers.items()
    }

    async def call(server: str, tool: str) -> str:
        return text_of(await clients[server].call_tool(CallToolRequestParams(name=tool, arguments={})))

    yield call
