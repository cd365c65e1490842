"""LiteLLM: the MCP client of the library, which connects for each call."""

import asyncio
import sys

from litellm.mcp_client.client import MCPClient
from litellm.types.mcp import MCPStdioConfig, MCPTransport
from mcp.types import CallToolRequestParams

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    client = MCPClient(
        transport_type=MCPTransport.stdio,
        stdio_config=MCPStdioConfig(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"]),
        elicitation_callback=registry.callback("restaurant"),
        timeout=300,  # includes the user's time
    )
    result = await client.call_tool(CallToolRequestParams(name="book_table", arguments={}))
    print([part.text for part in result.content if part.type == "text"])


if __name__ == "__main__":
    asyncio.run(main())
