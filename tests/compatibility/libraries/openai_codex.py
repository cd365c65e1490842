"""Codex SDK: its app server calls the tools directly, without a model or an account."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from openai_codex.client import CodexClient, CodexConfig

from mcp_elicit_client.hosts.openai_codex import approval_handler
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_loop_only


def refuse(method: str, params: dict[str, Any] | None) -> dict[str, Any]:
    raise AssertionError(f"{method}: {params}")


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    overrides: list[str] = []
    for name, (command, *args) in servers.items():
        overrides += [
            f"mcp_servers.{name}.command={json.dumps(command)}",
            f"mcp_servers.{name}.args={json.dumps(args)}",
        ]
    asked = approval_handler(own_loop_only(handler), refuse, loop=asyncio.get_running_loop())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        config = CodexConfig(config_overrides=tuple(overrides), env={"CODEX_HOME": home})
        client: Any = CodexClient(config, approval_handler=asked)
        await asyncio.to_thread(client.start)
        try:
            await asyncio.to_thread(client.initialize)
            options = {"approvalPolicy": "on-request", "sandbox": "read-only"}
            started = await asyncio.to_thread(client._request_raw, "thread/start", options)
            thread = started["thread"]["id"]

            async def call(server: str, tool: str) -> str:
                params = {"threadId": thread, "server": server, "tool": tool, "arguments": {}}
                return json.dumps(await asyncio.to_thread(client._request_raw, "mcpServer/tool/call", params))

            yield call
        finally:
            await asyncio.to_thread(client.close)
