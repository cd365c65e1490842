"""mcp-agent: one callback of the app for all servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp_agent.agents.agent import Agent
from mcp_agent.app import MCPApp
from mcp_agent.config import LoggerSettings, MCPServerSettings, MCPSettings, Settings

from mcp_elicit_client.hosts.mcp_agent import elicitation_callback
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import text_of


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    of_servers = {
        name: MCPServerSettings(name=name, command=command, args=args) for name, (command, *args) in servers.items()
    }
    settings = Settings(
        execution_engine="asyncio", logger=LoggerSettings(type="none"), mcp=MCPSettings(servers=of_servers)
    )
    app = MCPApp(name="measuring", settings=settings, elicitation_callback=elicitation_callback(handler))
    async with app.run(), Agent(name="measuring", server_names=list(servers)) as agent:

        async def call(server: str, tool: str) -> str:
            return text_of(await agent.call_tool(f"{server}_{tool}", {}))

        yield call
