"""FastMCP 4.x: several servers with their names."""

import asyncio
import sys

from fastmcp.client.group import ClientGroup

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.fastmcp import clients_from_config

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    demo = {"command": sys.executable, "args": ["-m", "mcp_elicit_client.demo.server"]}
    config = {"mcpServers": {"restaurant": demo, "another": demo}}
    async with ClientGroup(clients_from_config(registry, config)) as group:
        result = await group.call_tool("restaurant_book_table", {})
        print([part.text for part in result.content if part.type == "text"])


if __name__ == "__main__":
    asyncio.run(main())
