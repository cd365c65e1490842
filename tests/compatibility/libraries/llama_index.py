"""LlamaIndex: a tool spec over a session, or a client, of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from llama_index.tools.mcp import McpToolSpec

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.llama_index import wrap_client
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_session


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    tools: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, command in servers.items():
            caller = Caller(handler, name)
            own = await stack.enter_async_context(own_session(caller, command))
            spec = McpToolSpec(client=wrap_client(caller, own))
            tools[name] = {tool.metadata.name: tool for tool in await spec.to_tool_list_async()}

        async def call(server: str, tool: str) -> str:
            return str(await tools[server][tool].acall())

        yield call
