"""FastMCP 3.x and 4.x: clients whose calls are those of our `Caller`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.fastmcp import clients_from_config
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import text_of


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    config = {name: {"command": command, "args": args} for name, (command, *args) in servers.items()}
    made = clients_from_config(handler, {"mcpServers": config}, caller=Caller)
    async with AsyncExitStack() as stack:
        for client in made.values():
            await stack.enter_async_context(client)

        async def call(server: str, tool: str) -> str:
            return text_of(await made[server].call_tool(tool, {}))

        yield call
