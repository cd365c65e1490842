"""The official SDK's ``ClientSessionGroup``: a callback with each connection."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp import ClientSessionGroup, StdioServerParameters
from mcp.client.session_group import ClientSessionParameters

from mcp_elicit_client.sdk.callback import elicitation_callback
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import text_of


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    connecting: list[str] = []
    async with ClientSessionGroup(component_name_hook=lambda tool, _info: f"{connecting[-1]}_{tool}") as group:
        for name, (command, *args) in servers.items():
            connecting.append(name)
            session = ClientSessionParameters(elicitation_callback=elicitation_callback(handler, server=name))
            await group.connect_to_server(StdioServerParameters(command=command, args=args), session)

        async def call(server: str, tool: str) -> str:
            return text_of(await group.call_tool(f"{server}_{tool}", {}))

        yield call
