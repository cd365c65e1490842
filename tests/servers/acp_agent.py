"""
An ACP agent that asks what its prompt says, and reports what it was answered.

The prompt is JSON: ``params`` of a request, and who asks (``via``): an MCP
server behind the agent (``server``), or the agent itself, with the classes of
``agent-client-protocol`` (``package``) or the message as it is (``raw``).
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import acp
from acp.schema import ElicitationFormSessionMode, ElicitationUrlSessionMode
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.acp import Editor, EditorHandler
from tests.support import ASKER, ROOT

SESSION = "session-1"


class Agent:
    def __init__(self) -> None:
        self.has_session = asyncio.Event()
        self.is_connected = asyncio.Event()
        self.caller: Any = None
        self.session: Any = None
        self.answer_timeout: float | None = None

    def on_connect(self, conn: Any) -> None:
        self.conn = conn
        self.editor = Editor(conn)

    async def initialize(self, **_: Any) -> Any:
        return acp.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

    async def new_session(self, **_: Any) -> Any:
        self.has_session.set()
        await self.is_connected.wait()
        return acp.NewSessionResponse(session_id=SESSION)

    async def cancel(self, **_: Any) -> None:
        pass

    async def prompt(self, prompt: list[Any], **_: Any) -> Any:
        wanted = json.loads(prompt[0].text)
        self.answer_timeout = wanted.get("answer_timeout")
        ways = {"server": self.ask_from_server, "package": self.ask_with_package, "raw": self.ask_as_it_is}
        try:
            answer = await ways[wanted["via"]](wanted["params"])
        except acp.RequestError as error:
            answer = {"error": error.code}
        await self.conn.session_update(SESSION, acp.update_agent_message(acp.text_block(json.dumps(answer))))
        return acp.PromptResponse(stop_reason="end_turn")

    async def ask_from_server(self, params: dict[str, Any]) -> Any:
        result = await self.caller.call_tool(self.session, "ask", {"params": params})
        return json.loads(result.content[0].text)

    async def ask_with_package(self, params: dict[str, Any]) -> Any:
        mode: Any
        if params.get("mode") == "url":
            mode = ElicitationUrlSessionMode.model_validate({**params, "sessionId": SESSION})
        else:
            mode = ElicitationFormSessionMode.model_validate({**params, "sessionId": SESSION})
        answer = await self.conn.create_elicitation(params["message"], mode)
        return answer.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def ask_as_it_is(self, params: dict[str, Any]) -> Any:
        return await self.conn._conn.send_request(
            "elicitation/create", {"mode": "form", "sessionId": SESSION, **params}
        )

    async def connect(self) -> None:
        """Connect to the MCP server, whose client declares the modes of the editor."""
        await self.has_session.wait()
        registry = ElicitationRegistry()
        for mode in self.editor.modes:
            registry.on_elicitation(mode=mode)(self.ask_editor)
        self.caller = Caller(registry, "asker")
        server = StdioServerParameters(command=ASKER[0], args=ASKER[1:], cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
        async with stdio_client(server) as streams, self.caller.session(*streams) as self.session:
            await self.session.initialize()
            self.is_connected.set()
            await asyncio.Event().wait()

    async def ask_editor(self, request: Any) -> Any:
        return await EditorHandler(self.editor, SESSION, answer_timeout=self.answer_timeout)(request)


async def main() -> None:
    agent: Any = Agent()
    connecting = asyncio.create_task(agent.connect())
    await acp.run_agent(agent)
    connecting.cancel()
    await asyncio.wait([connecting])


if __name__ == "__main__":
    asyncio.run(main())
    sys.stdout.close()
