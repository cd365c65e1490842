"""LangChain (langchain-mcp-adapters): tools over a session of a `Caller`."""

import asyncio
import sys

from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.langchain import wrap_session

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))
caller = Caller(registry, "restaurant")


async def main() -> None:
    demo = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with stdio_client(demo) as (reader, writer), caller.session(reader, writer) as own:
        await own.initialize()
        tools = {tool.name: tool for tool in await load_mcp_tools(wrap_session(caller, own))}
        print(await tools["book_table"].ainvoke({}))


if __name__ == "__main__":
    asyncio.run(main())
