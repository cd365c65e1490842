"""
The client that the official conformance suite drives: the suite starts it with its server's URL.

It calls the tools that a scenario offers, and answers their questions with
the callback that any host application would pass.
"""

from __future__ import annotations

import os
import sys

import anyio

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import connect
from mcp_elicit_client.handlers.headless import HeadlessHandler

SERVER = "conformance"


async def main(url: str) -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(HeadlessHandler(accept_defaults_from=[SERVER]))
    legacy = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "") < "2026-07-28"
    async with connect(url, Caller(registry, SERVER), mode="legacy" if legacy else "auto") as connection:
        for tool, _ in await connection.list_tools():
            try:
                await connection.call_tool(tool, {"a": 5, "b": 3} if tool == "add_numbers" else {})
            except Exception as error:
                # mcp 2.3.0 refuses a result without a resultType, as one scenario sends it.
                print(f"{tool}: {error!r}", file=sys.stderr)


if __name__ == "__main__":
    anyio.run(main, sys.argv[-1])
