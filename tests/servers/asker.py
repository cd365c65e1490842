"""
A server whose one tool asks what it is told to, and returns what it was answered.

``ask`` takes the params of ``elicitation/create`` as ``params``.  Without
them, it asks nothing (mcp 2.x).  Over
standard input and output, or with ``--http`` on a free port of this machine,
which it prints.
"""

from __future__ import annotations

import json
from typing import Any

import mcp.types
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata

from tests.servers.serving import MCP_2, serve

TOOL = {"name": "ask", "inputSchema": {"type": "object", "properties": {"params": {"type": "object"}}}}


def told(got: dict[str, Any]) -> list[Any]:
    return [mcp.types.TextContent(type="text", text=json.dumps(got))]


async def push(session: Any, params: dict[str, Any], request_id: Any) -> dict[str, Any]:
    try:
        if "_meta" in params:  # the methods of the session do not send it
            answer = await push_whole(session, params, request_id)
        elif params.get("mode") == "url":
            answer = await session.elicit_url(params["message"], params["url"], params["elicitationId"], request_id)
        else:
            answer = await session.elicit_form(params["message"], params["requestedSchema"], request_id)
    except Exception as error:
        refused: Any = getattr(error, "error", None)
        if refused is None:
            raise
        return {"error": refused.code, "message": refused.message}
    return dict(answer.model_dump(mode="json", by_alias=True, exclude_none=True))


async def push_whole(session: Any, params: dict[str, Any], request_id: Any) -> Any:
    types: Any = mcp.types
    request = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": params})
    return await session.send_request(
        request if MCP_2 else types.ServerRequest(request),
        types.ElicitResult,
        metadata=ServerMessageMetadata(related_request_id=request_id),
    )


def build_for_mcp_1() -> Any:
    server: Any = Server("asker")

    async def call_tool(_name: str, arguments: dict[str, Any]) -> list[Any]:
        context = server.request_context
        return told(await push(context.session, arguments["params"], context.request_id))

    async def list_tools() -> list[Any]:
        return [mcp.types.Tool.model_validate(TOOL)]

    server.list_tools()(list_tools)
    server.call_tool(validate_input=False)(call_tool)
    return server


def build_for_mcp_2() -> Any:
    types: Any = mcp.types
    server_class: Any = Server

    async def call_tool(context: Any, params: Any) -> Any:
        question = (params.arguments or {}).get("params")
        if question is None:
            return types.CallToolResult(content=told({}))
        if context.protocol_version < "2026-07-28":
            return types.CallToolResult(content=told(await push(context.session, question, context.request_id)))
        if not params.input_responses:
            request = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": question})
            # Requests in a result have no `_meta`.
            meta = question.get("_meta")
            return types.InputRequiredResult(input_requests={"q": request}, request_state="opaque", _meta=meta)
        answer = params.input_responses["q"]
        return types.CallToolResult(content=told(answer.model_dump(mode="json", by_alias=True, exclude_none=True)))

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool.model_validate(TOOL)])

    return server_class("asker", on_list_tools=list_tools, on_call_tool=call_tool)


def build() -> Any:
    return build_for_mcp_2() if MCP_2 else build_for_mcp_1()


if __name__ == "__main__":
    serve(build())
