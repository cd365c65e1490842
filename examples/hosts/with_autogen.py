"""AutoGen, with mcp 1.x: tools over a session of a `Caller`."""

import asyncio
import sys

from autogen_core import CancellationToken
from autogen_ext.tools.mcp import StdioServerParams, mcp_server_tools
from mcp.client.stdio import stdio_client

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.autogen import wrap_session

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))
caller = Caller(registry, "restaurant")


async def main() -> None:
    demo = StdioServerParams(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with stdio_client(demo) as (reader, writer), caller.session(reader, writer) as own:
        await own.initialize()
        tools = await mcp_server_tools(demo, session=wrap_session(caller, own))  # for AssistantAgent(tools=tools)
        book_table = next(tool for tool in tools if tool.name == "book_table")
        print(await book_table.run_json({}, CancellationToken()))


if __name__ == "__main__":
    asyncio.run(main())
