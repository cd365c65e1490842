"""Pydantic AI 1.x: ``MCPServerStdio``, which takes a callback of the SDK's shape."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from pydantic_ai.mcp import MCPServerStdio

from mcp_elicit_client.hosts.pydantic_ai import elicitation_callback
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    connected: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, (command, *args) in servers.items():
            asked = elicitation_callback(handler, server=name)
            server = MCPServerStdio(command, args, elicitation_callback=asked)
            connected[name] = await stack.enter_async_context(server)

        async def call(server: str, tool: str) -> str:
            return str(await connected[server].direct_call_tool(tool, {}))

        yield call
