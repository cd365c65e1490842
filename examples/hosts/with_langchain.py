"""LangChain (langchain-mcp-adapters): one ``Callbacks`` for all servers."""

import asyncio
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.sessions import StdioConnection

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.langchain import callbacks

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    demo = StdioConnection(transport="stdio", command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    client = MultiServerMCPClient({"restaurant": demo}, callbacks=callbacks(registry))
    tools = {tool.name: tool for tool in await client.get_tools()}  # for create_agent(model, tools)
    print(await tools["book_table"].ainvoke({}))


if __name__ == "__main__":
    asyncio.run(main())
