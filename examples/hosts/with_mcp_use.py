"""mcp-use: a client with one callback for each server."""

import asyncio
import sys

from mcp_use import MCPClient

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.mcp_use import with_handler

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    demo = {"command": sys.executable, "args": ["-m", "mcp_elicit_client.demo.server"]}
    client = with_handler(
        MCPClient({"mcpServers": {"restaurant": demo}}), registry
    )  # for MCPAgent(llm=..., client=client)
    sessions = await client.create_all_sessions()
    try:
        result = await sessions["restaurant"].call_tool("book_table", {})
        print([part.text for part in result.content if part.type == "text"])
    finally:
        await client.close_all_sessions()


if __name__ == "__main__":
    asyncio.run(main())
