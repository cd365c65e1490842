"""An ACP client: it starts an agent, and answers the requests of the agent and of its MCP servers."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import acp
from acp.schema import ClientCapabilities

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.acp import answer_agent, elicitation_capabilities

AGENT = [sys.executable, str(Path(__file__).with_name("acp_agent.py"))]

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"assistant"}))  # or TerminalHandler(), BrowserHandler()


class Chat:
    def on_connect(self, conn: Any) -> None:
        answer_agent(conn, registry, agent="assistant")

    async def session_update(self, update: Any, **_: Any) -> None:
        print(update.content.text)


async def main() -> None:
    client: Any = Chat()
    options = {"stderr": None}  # the terminal, for the agent's log
    async with acp.spawn_agent_process(client, *AGENT, env=os.environ, transport_kwargs=options) as (agent, _process):
        capabilities = ClientCapabilities(elicitation=elicitation_capabilities(registry))
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=capabilities)
        session = await agent.new_session(cwd=str(Path.cwd()))
        await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("A table for two, please.")])


if __name__ == "__main__":
    asyncio.run(main())
