"""Microsoft Agent Framework: a tool over a client of a `Caller`."""

import asyncio
import sys

from agent_framework import MCPStdioTool
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.agent_framework import wrap_client

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))
caller = Caller(registry, "restaurant")


async def main() -> None:
    demo = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with (
        caller.client(stdio_client(demo)) as client,
        # for Agent(client=..., tools=[tool])
        MCPStdioTool(name="restaurant", mcp_client=wrap_client(caller, client), load_prompts=False) as tool,
    ):
        print([getattr(part, "text", part) for part in await tool.call_tool("book_table")])


if __name__ == "__main__":
    asyncio.run(main())
