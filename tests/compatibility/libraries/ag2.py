"""AG2: a toolkit for each server, with a policy of ours, called by an agent without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ag2 import Agent
from ag2.events import ToolCallEvent, ToolResultEvent
from ag2.testing import TestConfig
from ag2.tools import MCPStdioServerConfig, MCPToolkit

from mcp_elicit_client.hosts.ag2 import answer_policy
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    toolkits = {
        name: MCPToolkit(
            MCPStdioServerConfig(command=command, args=args, protocol_mode="auto"),
            answering=answer_policy(handler, server=name),
        )
        for name, (command, *args) in servers.items()
    }

    async def call(server: str, tool: str) -> str:
        model = TestConfig(ToolCallEvent(name=tool, arguments="{}"), "done", raise_tool_errors=False)
        reply = await Agent("measuring", config=model, tools=[toolkits[server]]).ask("Call it.")
        results = [event.result for event in await reply.history.get_events() if isinstance(event, ToolResultEvent)]
        return "".join(part.content for result in results for part in result.parts)

    yield call
