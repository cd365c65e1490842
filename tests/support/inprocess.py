"""The visitor server in the same process: no start-up, and a clock that can be simulated."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import ConnectMode
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from tests.servers.visitor import build


@asynccontextmanager
async def in_process(
    caller: Caller, mode: ConnectMode, seen: Callable[[str], None] = lambda _line: None, **options: Any
) -> AsyncIterator[Any]:
    """Connect *caller*; yield the SDK's client or session."""
    server = build(seen)
    if supports_multi_round_trip():
        async with caller.client(server, mode=mode, **options) as client:
            yield client
        return
    import mcp.shared.memory

    memory: Any = mcp.shared.memory
    async with memory.create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:
        group.start_soon(server.run, *theirs, server.create_initialization_options())
        async with caller.session(*ours, **options) as session:
            await session.initialize()
            yield session
        group.cancel_scope.cancel()
