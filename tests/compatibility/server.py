"""
A server whose tools ask, each in its way, and that writes down what it was answered.

Arguments: the file to write to, a JSON document a line; and ``--legacy`` for
a server that knows no revision after 2025-11-25, whichever SDK it runs on.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp.types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

types: Any = mcp.types
MCP_2 = hasattr(mcp, "Client")
NAME = "what-it-calls-itself"
MESSAGE = "Who are you?"
URL = "https://login.example.com/start"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FORM = {"mode": "form", "message": MESSAGE, "requestedSchema": SCHEMA}
VISIT = {"mode": "url", "message": "Please sign in", "url": URL, "elicitationId": "e1"}
TOOLS: dict[str, Any] = {"ask_form": FORM, "ask_url": VISIT, "need_url": None}
NO_ARGUMENTS = {"type": "object", "properties": {}}


def tools() -> list[Any]:
    return [
        types.Tool.model_validate({"name": name, "description": name, "inputSchema": NO_ARGUMENTS}) for name in TOOLS
    ]


class Calls:
    """What the tools do, and what they remember."""

    def __init__(self, seen: Path) -> None:
        self.seen = seen
        self.wanted = 0

    def note(self, tool: str, got: dict[str, Any], *, rounds: bool = False) -> list[Any]:
        with self.seen.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"tool": tool, "got": got, "rounds": rounds}) + "\n")
        return [types.TextContent(type="text", text=f"{tool}: thank you")]

    def url_wanted(self) -> dict[str, Any] | None:
        """Return what must be visited first; nothing the second time."""
        self.wanted += 1
        return None if self.wanted > 1 else {"elicitations": [VISIT]}


def wire(answer: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    dumped.pop("resultType", None)
    return dumped


async def push(session: Any, tool: str, request_id: Any) -> dict[str, Any]:
    try:
        if tool == "ask_url":
            return wire(await session.elicit_url(VISIT["message"], URL, "e1", request_id))
        return wire(await session.elicit_form(MESSAGE, SCHEMA, request_id))
    except Exception as error:
        refused = getattr(error, "error", None)
        if refused is None:
            raise
        return {"error": refused.code, "message": refused.message}


def build_for_mcp_1(calls: Calls) -> Any:
    from mcp.shared import exceptions

    server: Any = Server(NAME)

    async def call_tool(request: Any) -> Any:
        name, context = request.params.name, server.request_context
        if name != "need_url":
            content = calls.note(name, await push(context.session, name, context.request_id))
        elif wanted := calls.url_wanted():
            refusal: Any = exceptions
            raise refusal.McpError(types.ErrorData(code=-32042, message="URL elicitation required", data=wanted))
        else:
            content = calls.note(name, {"calls": calls.wanted})
        return types.ServerResult(types.CallToolResult(content=content))

    async def list_tools(_request: Any) -> Any:
        return types.ServerResult(types.ListToolsResult(tools=tools()))

    server.request_handlers[types.CallToolRequest] = call_tool
    server.request_handlers[types.ListToolsRequest] = list_tools
    return server


def build_for_mcp_2(calls: Calls) -> Any:
    sdk: Any = mcp
    server_class: Any = Server

    async def call_tool(context: Any, params: Any) -> Any:
        name = params.name
        if name == "need_url":
            if wanted := calls.url_wanted():
                raise sdk.MCPError(-32042, "URL elicitation required", wanted)
            return types.CallToolResult(content=calls.note(name, {"calls": calls.wanted}))
        if context.protocol_version < "2026-07-28":
            return types.CallToolResult(content=calls.note(name, await push(context.session, name, context.request_id)))
        if not params.input_responses:
            asked = {key: value for key, value in TOOLS[name].items() if key != "elicitationId"}
            request = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": asked})
            return types.InputRequiredResult(input_requests={"q": request}, request_state="opaque")
        content = calls.note(name, wire(params.input_responses["q"]), rounds=True)
        return types.CallToolResult(content=content)

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=tools())

    return server_class(NAME, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve(server: Any, legacy: bool) -> None:
    options = server.create_initialization_options()
    async with stdio_server() as (reader, writer):
        if not (legacy and MCP_2):
            await server.run(reader, writer, options)
            return
        runner: Any = importlib.import_module("mcp.server.runner")
        async with server.lifespan(server) as state:
            await runner.serve_loop(server, reader, writer, lifespan_state=state, init_options=options)


if __name__ == "__main__":
    memory = Calls(Path(sys.argv[1]))
    anyio.run(serve, build_for_mcp_2(memory) if MCP_2 else build_for_mcp_1(memory), "--legacy" in sys.argv)
