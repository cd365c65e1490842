"""Semantic Kernel, with mcp 1.x: a plugin over a session of a `Caller`."""

import asyncio
import sys

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from semantic_kernel.connectors.mcp import MCPStdioPlugin

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.semantic_kernel import wrap_session

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))
caller = Caller(registry, "restaurant")


async def main() -> None:
    demo = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with (
        stdio_client(demo) as (reader, writer),
        caller.session(reader, writer) as own,
        MCPStdioPlugin(name="restaurant", command=demo.command, session=wrap_session(caller, own)) as plugin,
    ):
        # kernel.add_plugin(plugin) makes its tools functions of the kernel.
        print([str(part) for part in await plugin.call_tool("book_table")])


if __name__ == "__main__":
    asyncio.run(main())
