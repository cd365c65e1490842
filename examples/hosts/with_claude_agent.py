"""Claude Agent SDK: answer the requests of the MCP servers of Claude Code.  It needs access to a model."""

import asyncio
import sys

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.claude_agent import answer_elicitations

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    options = ClaudeAgentOptions(
        mcp_servers={"restaurant": {"command": sys.executable, "args": ["-m", "mcp_elicit_client.demo.server"]}},
        allowed_tools=["mcp__restaurant__book_table"],
    )
    async with ClaudeSDKClient(options) as client:
        answer_elicitations(client, registry)
        await client.query("Book a table with the tool book_table.")
        async for message in client.receive_response():
            print(message)


if __name__ == "__main__":
    asyncio.run(main())
