"""OpenAI's Agents SDK, with mcp 2.x: a server whose calls are made by a `Caller`."""

import asyncio
import sys

from agents import Agent, FunctionTool
from agents.mcp import MCPUtil
from agents.run_context import RunContextWrapper
from agents.tool_context import ToolContext
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.openai_agents import ElicitingMCPServer

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))
caller = Caller(registry, "restaurant")


async def main() -> None:
    demo = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with ElicitingMCPServer(caller, lambda: caller.client(stdio_client(demo))) as server:
        agent = Agent(name="waiter", mcp_servers=[server])
        # What Runner.run(agent, ...) does when the model calls the tool:
        tools = await MCPUtil.get_function_tools(server, False, RunContextWrapper(None), agent)
        book_table = next(tool for tool in tools if isinstance(tool, FunctionTool) and tool.name == "book_table")
        context = ToolContext(None, tool_name="book_table", tool_call_id="1", tool_arguments="{}")
        print(await book_table.on_invoke_tool(context, "{}"))


if __name__ == "__main__":
    asyncio.run(main())
