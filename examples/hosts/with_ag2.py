"""AG2: an agent with a toolkit, whose policy answers with a registry."""

import asyncio
import sys

from ag2 import Agent
from ag2.events import ToolCallEvent, ToolResultEvent
from ag2.testing import TestConfig
from ag2.tools import MCPStdioServerConfig, MCPToolkit

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.ag2 import answer_policy

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    demo = MCPStdioServerConfig(
        command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"], protocol_mode="auto"
    )
    toolkit = MCPToolkit(demo, answering=answer_policy(registry, server="restaurant"))
    model = TestConfig(ToolCallEvent(name="book_table", arguments="{}"), "Done.")  # the configuration of your model
    reply = await Agent("booking", config=model, tools=[toolkit]).ask("Book a table.")
    for event in await reply.history.get_events():
        if isinstance(event, ToolResultEvent):
            print([part.content for part in event.result.parts])


if __name__ == "__main__":
    asyncio.run(main())
