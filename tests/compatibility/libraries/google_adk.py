"""Google's Agent Development Kit: a toolset for each server, with patience."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from google.adk.tools.tool_context import ToolContext
from mcp import StdioServerParameters

from mcp_elicit_client.hosts.google_adk import elicitation_callback, with_timeout
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    toolsets = {}
    for name, (command, *args) in servers.items():
        params = StdioConnectionParams(server_params=StdioServerParameters(command=command, args=args))
        asked = elicitation_callback(handler, server=name)
        toolsets[name] = McpToolset(connection_params=with_timeout(params), elicitation_callback=asked)
    tools = {name: {tool.name: tool for tool in await toolset.get_tools()} for name, toolset in toolsets.items()}
    context = await tool_context()

    async def call(server: str, tool: str) -> str:
        return str(await tools[server][tool].run_async(args={}, tool_context=context))

    try:
        yield call
    finally:
        for toolset in toolsets.values():
            await toolset.close()


async def tool_context() -> Any:
    service = InMemorySessionService()  # type: ignore[no-untyped-call,unused-ignore]
    session = await service.create_session(app_name="measuring", user_id="ann")
    agent = LlmAgent(name="measuring")
    return ToolContext(
        InvocationContext(session_service=service, session=session, agent=agent, invocation_id="1"),
        function_call_id="1",
    )
