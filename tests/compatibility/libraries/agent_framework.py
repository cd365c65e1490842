"""Microsoft Agent Framework: tools over clients of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from agent_framework import MCPStdioTool

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.agent_framework import wrap_client
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_session, texts


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    tools: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, command in servers.items():
            caller = Caller(handler, name)
            client = await stack.enter_async_context(own_session(caller, command))
            tool = MCPStdioTool(name=name, mcp_client=wrap_client(caller, client), load_prompts=False)
            tools[name] = await stack.enter_async_context(tool)

        async def call(server: str, tool: str) -> str:
            told = await tools[server].call_tool(tool)
            return told if isinstance(told, str) else texts(told)

        yield call
