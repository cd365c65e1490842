"""OpenAI's Agents SDK: a server of ours, called the way an agent calls it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from agents import Agent, RunContextWrapper
from agents.mcp import MCPUtil
from agents.tool_context import ToolContext

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts.openai_agents import ElicitingMCPServer
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_session


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    tools: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        for name, command in servers.items():
            caller = Caller(handler, name)
            made = ElicitingMCPServer(caller, lambda caller=caller, command=command: own_session(caller, command))  # type: ignore[misc]
            server = await stack.enter_async_context(made)
            agent: Agent[Any] = Agent(name="measuring", mcp_servers=[server])
            found = await MCPUtil.get_function_tools(server, False, RunContextWrapper(None), agent)
            tools[name] = {tool.name: tool for tool in found}

        async def call(server: str, tool: str) -> str:
            context: Any = ToolContext(None, tool_name=tool, tool_call_id="1", tool_arguments="{}")
            return str(await tools[server][tool].on_invoke_tool(context, "{}"))

        yield call
