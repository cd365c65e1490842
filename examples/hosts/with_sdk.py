"""The official SDK, mcp 2.x: a ``Client``, which also supports 2026-07-28; for 1.x see ``examples/host.py``."""

import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with Client(stdio_client(server), elicitation_callback=registry.callback("restaurant")) as client:
        result = await client.call_tool("book_table", {})
        print([part.text for part in result.content if part.type == "text"])


if __name__ == "__main__":
    anyio.run(main)
