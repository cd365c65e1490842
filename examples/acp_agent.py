"""An ACP agent without a model: its MCP server asks the user in the editor that started the agent."""

import asyncio
import sys
from typing import Any
from uuid import uuid4

import acp
from mcp import StdioServerParameters

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.acp import Editor, EditorHandler
from mcp_elicit_client.policies import recommended

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])


class Assistant:
    def on_connect(self, conn: Any) -> None:
        self.conn = conn
        self.editor = Editor(conn)
        self.turns: dict[str, asyncio.Task[str]] = {}

    async def initialize(self, **_: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

    async def new_session(self, **_: Any) -> acp.NewSessionResponse:
        return acp.NewSessionResponse(session_id=uuid4().hex)

    async def prompt(self, session_id: str, **_: Any) -> acp.PromptResponse:
        turn = self.turns[session_id] = asyncio.create_task(self.book(session_id))
        try:
            text = await turn
        except asyncio.CancelledError:
            return acp.PromptResponse(stop_reason="cancelled")
        await self.conn.session_update(session_id, acp.update_agent_message(acp.text_block(text)))
        return acp.PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        if session_id in self.turns:
            self.turns[session_id].cancel()

    async def book(self, session_id: str) -> str:
        registry = ElicitationRegistry(policy=recommended())
        for mode in self.editor.modes:  # the server learns which requests the editor can show
            registry.on_elicitation(EditorHandler(self.editor, session_id), mode=mode)
        caller = Caller(registry, "restaurant")
        async with caller.connect(SERVER) as client:
            result = await caller.call_tool(client, "book_table", {})
        return "".join(part.text for part in result.content if part.type == "text")


if __name__ == "__main__":
    agent: Any = Assistant()
    asyncio.run(acp.run_agent(agent))
