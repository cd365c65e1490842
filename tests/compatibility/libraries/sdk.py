"""The official SDK: ``ClientSession`` with mcp 1.x, ``Client`` with 2.x."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_elicit_client.sdk.callback import elicitation_callback, supports_multi_round_trip
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import text_of


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    sdk: Any = mcp
    clients: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, (command, *args) in servers.items():
            transport = stdio_client(StdioServerParameters(command=command, args=args))
            callback = elicitation_callback(handler, server=name)
            if supports_multi_round_trip():
                clients[name] = await stack.enter_async_context(sdk.Client(transport, elicitation_callback=callback))
            else:
                streams = await stack.enter_async_context(transport)
                session = ClientSession(streams[0], streams[1], elicitation_callback=callback)
                clients[name] = await stack.enter_async_context(session)
                await clients[name].initialize()

        async def call(server: str, tool: str) -> str:
            return text_of(await clients[server].call_tool(tool, {}))

        yield call
