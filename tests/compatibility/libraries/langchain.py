"""langchain-mcp-adapters: one ``Callbacks`` for all servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.sessions import StdioConnection

from mcp_elicit_client.hosts.langchain import callbacks
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    connections: dict[str, Any] = {
        name: StdioConnection(transport="stdio", command=command, args=args)
        for name, (command, *args) in servers.items()
    }
    client = MultiServerMCPClient(connections, callbacks=callbacks(handler))
    tools = {name: {tool.name: tool for tool in await client.get_tools(server_name=name)} for name in servers}

    async def call(server: str, tool: str) -> str:
        return str(await tools[server][tool].ainvoke({}))

    yield call
