"""
The demo server, over standard input and output: ``python -m mcp_elicit_client.demo.server``.

Each of its tools asks one question and returns what it was answered.  With
mcp 2.x it speaks both eras of the protocol: it sends its questions by itself,
or returns them for the client to call again with the answers.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import mcp.types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from mcp_elicit_client.demo.requests import QUESTIONS
from mcp_elicit_client.sdk.callback import supports_multi_round_trip

NAME = "demo-restaurant"
_KEY = "question"


def build() -> Any:
    """Make the server for the SDK that is installed."""
    return _build_for_mcp_2() if supports_multi_round_trip() else _build_for_mcp_1()


async def serve() -> None:
    """Serve until the client closes the connection."""
    server = build()
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def _tools() -> list[mcp.types.Tool]:
    return [
        mcp.types.Tool.model_validate(
            {"name": name, "description": params["message"], "inputSchema": {"type": "object", "properties": {}}}
        )
        for name, params in QUESTIONS.items()
    ]


def _told(answer: Any) -> list[Any]:
    got = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    return [mcp.types.TextContent(type="text", text=json.dumps(got))]


async def _push(session: Any, params: dict[str, Any], request_id: Any) -> Any:
    if params["mode"] == "url":
        return await session.elicit_url(params["message"], params["url"], params["elicitationId"], request_id)
    return await session.elicit_form(params["message"], params["requestedSchema"], request_id)


def _build_for_mcp_1() -> Any:
    server: Any = Server(NAME)

    async def call_tool(name: str, _arguments: dict[str, Any]) -> list[Any]:
        context = server.request_context
        return _told(await _push(context.session, QUESTIONS[name], context.request_id))

    async def list_tools() -> list[mcp.types.Tool]:
        return _tools()

    server.list_tools()(list_tools)
    server.call_tool()(call_tool)
    return server


def _build_for_mcp_2() -> Any:
    types: Any = mcp.types
    server_class: Any = Server

    async def call_tool(context: Any, params: Any) -> Any:
        question = QUESTIONS[params.name]
        if context.protocol_version < "2026-07-28":
            answer = await _push(context.session, question, context.request_id)
        elif params.input_responses:
            answer = params.input_responses[_KEY]
        else:
            asked = {key: value for key, value in question.items() if key != "elicitationId"}
            request = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": asked})
            return types.InputRequiredResult(input_requests={_KEY: request}, request_state=params.name)
        return types.CallToolResult(content=_told(answer))

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=_tools())

    return server_class(NAME, on_list_tools=list_tools, on_call_tool=call_tool)


if __name__ == "__main__":
    anyio.run(serve)
