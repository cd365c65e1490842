"""langchain.mcp: an adapter over a group of clients that have handlers of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastmcp.client.group import ClientGroup
from langchain.mcp import MCPAdapter

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.fastmcp import clients_from_config
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    config = {name: {"command": command, "args": args} for name, (command, *args) in servers.items()}
    async with MCPAdapter(ClientGroup(clients_from_config(handler, {"mcpServers": config}, caller=Caller))) as adapter:
        tools = {tool.name: tool for tool in await adapter.list_tools()}

        async def call(server: str, tool: str) -> str:
            return str(await tools[f"{server}_{tool}"].ainvoke({}))

        yield call
