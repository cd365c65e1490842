"""
The demo server, over standard input and output: ``python -m mcp_elicit_client.demo.server``.

Each tool sends the request of the same name in ``requests.json`` and returns
the answer.  With mcp 2.x, requests are server-initiated or multi-round-trip,
depending on the protocol version of the client.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import anyio
import mcp.types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION
from mcp_elicit_client.sdk.callback import supports_multi_round_trip

NAME = "demo-restaurant"
REQUESTS: dict[str, dict[str, Any]] = json.loads(
    files("mcp_elicit_client.demo").joinpath("requests.json").read_text(encoding="utf-8")
)
"""The params of the request of each tool.  Together they have every kind of field and every enum spelling."""

_KEY = "answer"


def build() -> Any:
    """Return the server, for the installed SDK."""
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
        for name, params in REQUESTS.items()
    ]


def _unknown(name: str) -> str:
    return f"There is no tool {name!r}. The tools are: {', '.join(REQUESTS)}."


def _content(answer: Any) -> list[Any]:
    wire = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    return [mcp.types.TextContent(type="text", text=json.dumps(wire))]


async def _elicit(session: Any, params: dict[str, Any], request_id: Any) -> Any:
    if params["mode"] == "url":
        return await session.elicit_url(params["message"], params["url"], params["elicitationId"], request_id)
    return await session.elicit_form(params["message"], params["requestedSchema"], request_id)


def _build_for_mcp_1() -> Any:
    server: Any = Server(NAME)

    async def call_tool(name: str, _arguments: dict[str, Any]) -> list[Any]:
        if name not in REQUESTS:
            raise ValueError(_unknown(name))  # the SDK makes a result of it
        context = server.request_context
        return _content(await _elicit(context.session, REQUESTS[name], context.request_id))

    async def list_tools() -> list[mcp.types.Tool]:
        return _tools()

    server.list_tools()(list_tools)
    server.call_tool()(call_tool)
    return server


def _build_for_mcp_2() -> Any:
    types: Any = mcp.types
    server_class: Any = Server

    async def call_tool(context: Any, params: Any) -> Any:
        if params.name not in REQUESTS:
            content = [types.TextContent(type="text", text=_unknown(params.name))]
            return types.CallToolResult(content=content, is_error=True)
        request = REQUESTS[params.name]
        if context.protocol_version < FIRST_MULTI_ROUND_TRIP_VERSION:
            answer = await _elicit(context.session, request, context.request_id)
        elif params.input_responses:
            answer = params.input_responses[_KEY]
        else:
            required = {name: value for name, value in request.items() if name != "elicitationId"}
            message = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": required})
            return types.InputRequiredResult(input_requests={_KEY: message}, request_state=params.name)
        return types.CallToolResult(content=_content(answer))

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=_tools())

    return server_class(NAME, on_list_tools=list_tools, on_call_tool=call_tool)


if __name__ == "__main__":
    anyio.run(serve)
