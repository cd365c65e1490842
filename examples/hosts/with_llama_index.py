"""LlamaIndex, with mcp 2.x: tools over a client of a `Caller`."""

import asyncio
import sys

from llama_index.tools.mcp import McpToolSpec
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.llama_index import wrap_client

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))
caller = Caller(registry, "restaurant")


async def main() -> None:
    demo = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with caller.client(stdio_client(demo)) as own:
        spec = McpToolSpec(client=wrap_client(caller, own))
        tools = {tool.metadata.name: tool for tool in await spec.to_tool_list_async()}  # for FunctionAgent(tools=...)
        print(await tools["book_table"].acall())


if __name__ == "__main__":
    asyncio.run(main())
