"""Pydantic AI: one toolset for each server, over a client of a `Caller`."""

import asyncio
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.pydantic_ai import client

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    transport = StdioTransport(sys.executable, ["-m", "mcp_elicit_client.demo.server"])
    own = client(Caller(registry, "restaurant"), transport)
    toolset = MCPToolset(own, id="restaurant")  # for Agent(model, toolsets=[toolset])
    async with toolset:
        print(await toolset.direct_call_tool("book_table", {}))


if __name__ == "__main__":
    asyncio.run(main())
