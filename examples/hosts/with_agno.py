"""agno: a toolkit over a connection of a `Caller`."""

import asyncio
import sys

from agno.tools.mcp import MCPTools
from mcp import StdioServerParameters

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.agno import wrap_session

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))
caller = Caller(registry, "restaurant")


async def main() -> None:
    demo = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with caller.connect(demo) as client:
        toolkit = MCPTools(session=wrap_session(caller, client))  # for Agent(tools=[toolkit])
        await toolkit.initialize()
        result = await toolkit.functions["book_table"].entrypoint()
        print([result.content])


if __name__ == "__main__":
    asyncio.run(main())
