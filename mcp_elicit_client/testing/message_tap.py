"""Between a client and a server in the same process: every message is JSON, and may be changed on its way."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

import anyio
import mcp.shared.memory
from mcp.shared.message import SessionMessage

from mcp_elicit_client.sdk.callback import supports_multi_round_trip

Wire: TypeAlias = dict[str, Any]
"""One JSON-RPC message as it is on the wire."""

Tap: TypeAlias = Callable[[Wire], Wire]
"""Sees a message, returns what is passed on."""

_memory: Any = mcp.shared.memory
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)


class MessageTap:
    """
    The line between a client and a server.

    Args:
        to_client: Sees what the server sends.
        to_server: Sees what the client sends.
    """

    def __init__(self, to_client: Tap, to_server: Tap) -> None:
        self._to_client = to_client
        self._to_server = to_server
        self._streams: list[Any] = []

    @asynccontextmanager
    async def connected(self, server: Any) -> AsyncIterator[Any]:
        """Run *server*, a low-level server of the SDK; yield the two streams for a client."""
        async with (
            _memory.create_client_server_memory_streams() as (near, far),
            _memory.create_client_server_memory_streams() as (client_end, relay_end),
            anyio.create_task_group() as group,
        ):
            self._streams = [*near, *relay_end]
            group.start_soon(self._serve, server, far)
            group.start_soon(self._pump, near[0], relay_end[1], self._to_client)
            group.start_soon(self._pump, relay_end[0], near[1], self._to_server)
            try:
                yield client_end
            finally:
                group.cancel_scope.cancel()

    async def cut(self) -> None:
        """Cut the line, as the death of the server does."""
        for stream in self._streams:
            await stream.aclose()

    async def inject(self, message: Wire) -> None:
        """Send *message* to the client, past the server."""
        types: Any = mcp.types
        parsed = types.JSONRPCMessage if not supports_multi_round_trip() else types.JSONRPCNotification
        await self._streams[3].send(SessionMessage(parsed.model_validate(message)))

    async def _serve(self, server: Any, streams: Any) -> None:
        with suppress(*_GONE):
            await server.run(*streams, server.create_initialization_options())

    async def _pump(self, source: Any, target: Any, tap: Tap) -> None:
        with suppress(*_GONE):
            async for item in source:
                if isinstance(item, Exception):
                    continue
                message = item.message
                passed_on = type(message).model_validate(tap(_to_wire(message)))
                await target.send(SessionMessage(passed_on, metadata=item.metadata))


def _to_wire(message: Any) -> Wire:
    # As the transports of the SDK write it.
    write = functools.partial(message.model_dump_json, by_alias=True)
    text = write(exclude_unset=True) if supports_multi_round_trip() else write(exclude_none=True)
    wire: Wire = json.loads(text)
    return wire
