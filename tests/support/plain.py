"""Sessions of the SDK that use only the callback of the package."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import mcp

from mcp_elicit_client.calls._connect import Command, ConnectMode, _stdio
from mcp_elicit_client.sdk.callback import ElicitationCallback, supports_multi_round_trip


@dataclass
class PlainConnection:
    client: Any
    protocol: str

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        result = await self.client.call_tool(name, dict(arguments))
        wire: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return wire


@asynccontextmanager
async def plain(
    where: Command | str, callback: ElicitationCallback, *, mode: ConnectMode = "auto", **options: Any
) -> AsyncIterator[PlainConnection]:
    from mcp.client.streamable_http import streamable_http_client

    sdk: Any = mcp
    if supports_multi_round_trip():
        transport = where if isinstance(where, str) else _stdio(where)
        async with sdk.Client(transport, elicitation_callback=callback, mode=mode, **options) as client:
            yield PlainConnection(client, client.protocol_version)
    else:
        async with (
            streamable_http_client(where) if isinstance(where, str) else _stdio(where) as streams,
            sdk.ClientSession(streams[0], streams[1], elicitation_callback=callback, **options) as session,
        ):
            initialized = await session.initialize()
            yield PlainConnection(session, str(initialized.protocolVersion))
