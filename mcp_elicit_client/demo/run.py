"""The demo: start the server, call its tools, answer its requests, and show what it received."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, ConnectMode, connect
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.descriptions import describe_field, request_details, title_line
from mcp_elicit_client.presentation.quoting import quote
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.registry import ElicitationRegistry
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Answer, FormRequest, Handler, Request

SERVER = "restaurant"
"""The server name that the demo displays."""

_WIDTH = 78

_PROTOCOL_VERSION = Message("A server that uses protocol version {version}")
_CALLING = Message("Calling the tool {tool} ...")
_RECEIVED = Message("The server received:")
_INSTALL_MCP_2 = Message("Install mcp 2 to see multi-round-trip requests (2026-07-28).")
_HEADLESS_ANSWER = Message("The headless handler answers: {action}")

Write = Callable[[str], object]


async def run_demo(
    handler: Handler | None,
    write: Write,
    catalog: MessageCatalog = ENGLISH,
    as_json: bool = False,  # noqa: FBT001, FBT002 -- for `anyio.run`
) -> None:
    """
    Call every tool of the demo server in every mode of the installed SDK.

    Args:
        handler: Answers the requests; None to show them, accept the default
            values and cancel the rest.
        write: Shows a line.
        catalog: The texts.
        as_json: Show only one JSON object for each call of a tool.
    """

    def say(message: Message, **parameters: object) -> None:
        if not as_json:
            write(f"\n{catalog.text(message, **parameters)}")

    headless = HeadlessHandler(accept_defaults_from={SERVER})
    registry = ElicitationRegistry()
    registry.on_elicitation(handler or (headless if as_json else _narrated(headless, write, catalog)))
    modes: tuple[ConnectMode, ...] = ("legacy", "auto") if supports_multi_round_trip() else ("legacy",)
    for mode in modes:
        with tempfile.TemporaryFile("w+") as errlog:
            command = Command([sys.executable, "-m", "mcp_elicit_client.demo.server"], errlog)
            async with connect(command, Caller(registry, SERVER), mode=mode) as connection:
                version = connection.protocol_version
                say(_PROTOCOL_VERSION, version=version)
                for tool, _ in await connection.list_tools():
                    say(_CALLING, tool=tool)
                    result = await connection.call_tool(tool, {})
                    if as_json:
                        write(json.dumps({"protocol_version": version, "tool": tool, "result": result}))
                    else:
                        write(f"{catalog.text(_RECEIVED)} {sanitize_text(_text(result))}")
    if len(modes) == 1:
        say(_INSTALL_MCP_2)


def _narrated(handler: Handler, write: Write, catalog: MessageCatalog) -> Handler:
    """Return *handler* so that it shows each request and its answer."""

    async def narrated(request: Request, /) -> Answer:
        write(f"{title_line(request, catalog)}\n{quote(request.message, _WIDTH)}")
        if isinstance(request, FormRequest):
            for field in request.form.fields:
                described = describe_field(field, catalog)
                write(f"{quote(described.label, _WIDTH)}\n    {described.requirement}: {described.accepts}")
        else:
            write(quote(request.target.as_sent, _WIDTH))
        for detail in request_details(request, catalog):
            write(f"{detail.label}:\n{quote(detail.text, _WIDTH)}")
        for warning in request_warnings(request, catalog):
            write(warning_line(warning, catalog))
        answer = await handler(request)
        assert isinstance(answer, Answer)
        reason = f" ({answer.reason})" if answer.reason else ""
        write(f"{catalog.text(_HEADLESS_ANSWER, action=answer.action)}{reason}")
        return answer

    return narrated


def _text(result: dict[str, Any]) -> str:
    return "\n".join(str(part.get("text", "")) for part in result.get("content", []))
