"""LangChain's ``langchain.mcp`` (beta): clients with a handler, which do not interrupt the graph."""

import asyncio
import sys

from fastmcp.client.group import ClientGroup
from langchain.mcp import MCPAdapter

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.fastmcp import clients_from_config

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    demo = {"command": sys.executable, "args": ["-m", "mcp_elicit_client.demo.server"]}
    group = ClientGroup(clients_from_config(registry, {"mcpServers": {"restaurant": demo}}, caller=Caller))
    async with MCPAdapter(group) as adapter:
        tools = {tool.name: tool for tool in await adapter.list_tools()}  # for create_agent(model, tools)
        print(await tools["restaurant_book_table"].ainvoke({}))


if __name__ == "__main__":
    asyncio.run(main())
