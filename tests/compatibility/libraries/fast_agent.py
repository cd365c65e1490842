"""fast-agent: an agent for each server."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fast_agent import FastAgent

from mcp_elicit_client.hosts.fast_agent import elicitation_handler
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import text_of


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    entries = {name: {"command": command, "args": args} for name, (command, *args) in servers.items()}
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "fastagent.config.yaml"
        logger = {"type": "none", "progress_display": False, "show_chat": False, "show_tools": False}
        settings = {"default_model": "passthrough", "logger": logger, "mcp": {"servers": entries}}
        config.write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
        os.chdir(folder)
        fast = FastAgent("measuring", config_path=str(config), parse_cli_args=False, quiet=True)
        for name in servers:
            handled = elicitation_handler(handler, server=name)
            fast.agent(name=name, instruction="", servers=[name], elicitation_handler=handled)(nothing)
        async with fast.run() as app:
            agents: Any = app

            async def call(server: str, tool: str) -> str:
                return text_of(await agents[server].call_tool(f"{server}__{tool}", {}))

            yield call


async def nothing() -> None:
    """What fast-agent decorates."""
