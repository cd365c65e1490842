"""
The client that the official conformance suite drives: the suite starts it with its server's URL.

It calls the tools that a scenario offers, with a `Caller`, or with a session
of the SDK and the callback that any host application would pass to it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import ConnectMode, connect
from mcp_elicit_client.handlers.headless import HeadlessHandler
from tests.support.plain import plain

SERVER = "conformance"


async def main(form: str, url: str) -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(HeadlessHandler(accept_defaults_from=[SERVER]))
    legacy = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "") < "2026-07-28"
    mode: ConnectMode = "legacy" if legacy else "auto"
    connecting: Any = connect(url, Caller(registry, SERVER), mode=mode)
    if form == "callback":
        connecting = plain(url, registry.callback(SERVER), mode=mode)
    async with connecting as connection:
        for tool in [each.name for each in (await connection.client.list_tools()).tools]:
            try:
                await connection.call_tool(tool, {"a": 5, "b": 3} if tool == "add_numbers" else {})
            except Exception as error:
                # mcp 2.3.0 refuses a result without a resultType, as one scenario sends it.
                print(f"{tool}: {error!r}", file=sys.stderr)


if __name__ == "__main__":
    anyio.run(main, sys.argv[-2], sys.argv[-1])
