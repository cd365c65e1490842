"""The official SDK's ``ClientSessionGroup``, mcp 1.x and 2.x: a callback for each connection."""

import sys

import anyio
from mcp import ClientSessionGroup, StdioServerParameters
from mcp.client.session_group import ClientSessionParameters

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with ClientSessionGroup() as group:
        await group.connect_to_server(
            server, ClientSessionParameters(elicitation_callback=registry.callback("restaurant"))
        )
        result = await group.call_tool("book_table", {})
        print([part.text for part in result.content if part.type == "text"])


if __name__ == "__main__":
    anyio.run(main)
