"""agno: a toolkit over a connection of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from agno.tools.mcp import MCPTools

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.agno import wrap_session
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_session


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    toolkits: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, command in servers.items():
            caller = Caller(handler, name)
            own = await stack.enter_async_context(own_session(caller, command))
            toolkits[name] = MCPTools(session=wrap_session(caller, own))
            await toolkits[name].initialize()

        async def call(server: str, tool: str) -> str:
            return str((await toolkits[server].functions[tool].entrypoint()).content)

        yield call
