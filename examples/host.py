"""A minimal host application without a user: one server, one callback."""

import sys

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with (
        stdio_client(server) as (reader, writer),
        ClientSession(reader, writer, elicitation_callback=registry.callback("restaurant")) as session,
    ):
        await session.initialize()
        result = await session.call_tool("book_table", {})
        print([part.text for part in result.content if part.type == "text"])


if __name__ == "__main__":
    anyio.run(main)
