"""langchain-mcp-adapters: tools over sessions of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from langchain_mcp_adapters.tools import load_mcp_tools

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.langchain import wrap_session
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
            tools[name] = {tool.name: tool for tool in await load_mcp_tools(wrap_session(caller, own))}

        async def call(server: str, tool: str) -> str:
            return str(await tools[server][tool].ainvoke({}))

        yield call
