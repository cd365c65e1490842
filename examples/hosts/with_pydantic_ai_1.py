"""Pydantic AI 1.x: a server with a callback of the SDK's shape."""

import asyncio
import sys

from pydantic_ai.mcp import MCPServerStdio

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    server = MCPServerStdio(
        sys.executable,
        ["-m", "mcp_elicit_client.demo.server"],
        elicitation_callback=registry.callback("restaurant"),
    )
    async with server:  # for Agent(model, toolsets=[server])
        print(await server.direct_call_tool("book_table", {}))


if __name__ == "__main__":
    asyncio.run(main())
