"""The official SDK again, with calls made by our `Caller`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_session, text_of


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    callers = {name: Caller(handler, name) for name in servers}
    clients: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, command in servers.items():
            clients[name] = await stack.enter_async_context(own_session(callers[name], command))

        async def call(server: str, tool: str) -> str:
            return text_of(await callers[server].call_tool(clients[server], tool, {}))

        yield call
