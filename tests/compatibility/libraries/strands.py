"""Strands Agents: a client for each server, which asks in the measuring loop."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from strands.tools.mcp import MCPClient

from mcp_elicit_client.hosts.strands import elicitation_callback
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_loop_only


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    loop = asyncio.get_running_loop()
    clients: dict[str, Any] = {}
    for name, (command, *args) in servers.items():
        params = StdioServerParameters(command=command, args=args)
        asked = elicitation_callback(own_loop_only(handler), server=name, loop=loop)
        clients[name] = MCPClient(functools.partial(stdio_client, params), elicitation_callback=asked)
    for client in clients.values():
        await asyncio.to_thread(client.start)

    async def call(server: str, tool: str) -> str:
        return str(await clients[server].call_tool_async(tool_use_id="1", name=tool, arguments={}))

    try:
        yield call
    finally:
        for client in clients.values():
            await asyncio.to_thread(client.stop, None, None, None)
