"""FastMCP 4.x: a ``ClientGroup`` of clients that have handlers of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastmcp.client.group import ClientGroup

from mcp_elicit_client.hosts.fastmcp import clients_from_config
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import text_of


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    config = {name: {"command": command, "args": args} for name, (command, *args) in servers.items()}
    async with ClientGroup(clients_from_config(handler, {"mcpServers": config})) as group:
        await group.list_tools()

        async def call(server: str, tool: str) -> str:
            return text_of(await group.call_tool(f"{server}_{tool}", {}))

        yield call
