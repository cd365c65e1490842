"""mcp-agent: one callback for all servers."""

import asyncio
import sys

from mcp_agent.agents.agent import Agent
from mcp_agent.app import MCPApp
from mcp_agent.config import LoggerSettings, MCPServerSettings, MCPSettings, Settings

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.mcp_agent import elicitation_callback

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))

demo = MCPServerSettings(name="restaurant", command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
settings = Settings(
    execution_engine="asyncio",
    logger=LoggerSettings(type="none"),
    mcp=MCPSettings(servers={"restaurant": demo}),
)
app = MCPApp(name="example", settings=settings, elicitation_callback=elicitation_callback(registry))


async def main() -> None:
    async with app.run(), Agent(name="waiter", server_names=["restaurant"]) as agent:
        result = await agent.call_tool("restaurant_book_table", {})
        print([part.text for part in result.content if part.type == "text"])


if __name__ == "__main__":
    asyncio.run(main())
