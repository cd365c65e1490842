"""Semantic Kernel: a plugin over a session of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from semantic_kernel.connectors.mcp import MCPStdioPlugin

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.semantic_kernel import wrap_session
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_session


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    plugins: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, (command, *args) in servers.items():
            caller = Caller(handler, name)
            own = await stack.enter_async_context(own_session(caller, [command, *args]))
            plugin = MCPStdioPlugin(name=name, command=command, args=args, session=wrap_session(caller, own))
            plugins[name] = await stack.enter_async_context(plugin)

        async def call(server: str, tool: str) -> str:
            return "".join(str(part) for part in await plugins[server].call_tool(tool))

        yield call
