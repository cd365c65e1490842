"""Google's Agent Development Kit: one toolset for each server, with a longer timeout."""

import asyncio
import sys

from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from google.adk.tools.tool_context import ToolContext
from mcp import StdioServerParameters

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.google_adk import elicitation_callback, with_timeout

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))

server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
toolset = McpToolset(
    connection_params=with_timeout(StdioConnectionParams(server_params=server)),
    elicitation_callback=elicitation_callback(registry, server="restaurant"),
)  # for LlmAgent(model=..., tools=[toolset])


async def main() -> None:
    tools = {tool.name: tool for tool in await toolset.get_tools()}
    print(await tools["book_table"].run_async(args={}, tool_context=await without_a_model()))
    await toolset.close()


async def without_a_model() -> ToolContext:
    service = InMemorySessionService()
    session = await service.create_session(app_name="example", user_id="ada")
    agent = LlmAgent(name="example")
    invocation = InvocationContext(session_service=service, session=session, agent=agent, invocation_id="1")
    return ToolContext(invocation, function_call_id="1")


if __name__ == "__main__":
    asyncio.run(main())
