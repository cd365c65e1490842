"""FastMCP 3.x and 4.x: one client for one server."""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.fastmcp import elicitation_handler

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    transport = StdioTransport(sys.executable, ["-m", "mcp_elicit_client.demo.server"])
    async with Client(transport, elicitation_handler=elicitation_handler(registry, server="restaurant")) as client:
        result = await client.call_tool("book_table", {})
        print([part.text for part in result.content if part.type == "text"])


if __name__ == "__main__":
    asyncio.run(main())
