"""Strands Agents: run the handler in the application's event loop."""

import asyncio
import sys

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from strands.tools.mcp import MCPClient

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.strands import elicitation_callback

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    asked = elicitation_callback(registry, server="restaurant", loop=asyncio.get_running_loop())
    client = MCPClient(lambda: stdio_client(server), elicitation_callback=asked)  # for Agent(tools=[client])
    with client:
        result = await client.call_tool_async(tool_use_id="1", name="book_table", arguments={})
        print(result["content"])


if __name__ == "__main__":
    asyncio.run(main())
