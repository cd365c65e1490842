"""A tap between a client and a server in the same process: it sees and may change every message."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

import anyio
import mcp.shared.memory
from mcp.shared.message import SessionMessage

from mcp_elicit_client._concurrency import leaf_errors
from mcp_elicit_client.sdk.callback import supports_multi_round_trip

Wire: TypeAlias = dict[str, Any]
"""One JSON-RPC message as JSON."""

Filter: TypeAlias = Callable[[Wire], Wire]
"""Takes a message and returns the message that is forwarded."""

_memory: Any = mcp.shared.memory
_DISCONNECTED = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)


def is_disconnect(error: BaseException) -> bool:
    """Return True if *error*, or every error in it, says that the connection is closed."""
    return all(isinstance(each, _DISCONNECTED) for each in leaf_errors(error))


class MessageTap:
    """
    The connection between a client and a server.

    Args:
        to_client: Filters the messages of the server.
        to_server: Filters the messages of the client.
    """

    def __init__(self, to_client: Filter, to_server: Filter) -> None:
        self._to_client = to_client
        self._to_server = to_server
        self._streams: list[Any] = []

    @asynccontextmanager
    async def connected(self, server: Any) -> AsyncIterator[Any]:
        """Run *server*, a low-level server of the SDK; yield the two streams for a client."""
        async with (
            _memory.create_client_server_memory_streams() as (tap_server_end, server_end),
            _memory.create_client_server_memory_streams() as (client_end, tap_client_end),
            anyio.create_task_group() as group,
        ):
            self._streams = [*tap_server_end, *tap_client_end]
            group.start_soon(self._serve, server, server_end)
            group.start_soon(self._forward, tap_server_end[0], tap_client_end[1], self._to_client)
            group.start_soon(self._forward, tap_client_end[0], tap_server_end[1], self._to_server)
            try:
                yield client_end
            finally:
                group.cancel_scope.cancel()

    async def disconnect(self) -> None:
        """Close the connection, as the end of the server process does."""
        for stream in self._streams:
            await stream.aclose()

    async def send_to_client(self, message: Wire) -> None:
        """Send *message* to the client in place of the server."""
        types: Any = mcp.types
        model = types.JSONRPCMessage if not supports_multi_round_trip() else types.JSONRPCNotification
        await self._streams[3].send(SessionMessage(model.model_validate(message)))

    async def _serve(self, server: Any, streams: Any) -> None:
        try:
            await server.run(*streams, server.create_initialization_options())
        except Exception as error:
            # Old releases of mcp 1.x raise what a closed stream raises in the groups of their tasks.
            if not is_disconnect(error):
                raise

    async def _forward(self, source: Any, target: Any, change: Filter) -> None:
        with suppress(*_DISCONNECTED):
            async for item in source:
                if isinstance(item, Exception):
                    continue
                message = item.message
                forwarded = type(message).model_validate(change(_to_wire(message)))
                await target.send(SessionMessage(forwarded, metadata=item.metadata))


def _to_wire(message: Any) -> Wire:
    # The transports of the SDK write messages with the same options.
    write = functools.partial(message.model_dump_json, by_alias=True)
    text = write(exclude_unset=True) if supports_multi_round_trip() else write(exclude_none=True)
    wire: Wire = json.loads(text)
    return wire
