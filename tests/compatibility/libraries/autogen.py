"""AutoGen: tools over a session of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from autogen_core import CancellationToken
from autogen_ext.tools.mcp import StdioServerParams, mcp_server_tools

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.autogen import wrap_session
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_session


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    tools: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, (command, *args) in servers.items():
            caller = Caller(handler, name)
            own = await stack.enter_async_context(own_session(caller, [command, *args]))
            params = StdioServerParams(command=command, args=args)
            made = await mcp_server_tools(params, session=wrap_session(caller, own))
            tools[name] = {tool.name: tool for tool in made}

        async def call(server: str, tool: str) -> str:
            return str(await tools[server][tool].run_json({}, CancellationToken()))

        yield call
