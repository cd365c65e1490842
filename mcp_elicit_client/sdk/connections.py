"""Connections to servers with the installed SDK, whichever major it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio

from mcp_elicit_client._concurrency import without_groups
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION, PROTOCOL_VERSIONS
from mcp_elicit_client.sdk import sessions
from mcp_elicit_client.sdk.callback import supports_multi_round_trip


@asynccontextmanager
async def connect(server: Any, mode: str, **options: Any) -> AsyncIterator[Any]:
    """
    Connect to *server*, and disconnect at the end.

    An error arrives as it was raised, not in an exception group.

    Args:
        server: The URL of a server with streamable HTTP, the command of a
            server process as ``StdioServerParameters``, or a transport.  With
            mcp 2.x, also a server in this process.
        mode: How the protocol version is negotiated, as in ``Client`` of mcp
            2.x.  mcp 1.x always uses the handshake.
        options: The arguments of `sessions.client_session` and
            `sessions.client`.

    Yields:
        A ``Client`` with mcp 2.x, a ``ClientSession`` with mcp 1.x.
    """
    if supports_multi_round_trip():
        connection = sessions.client(server, mode=mode, **options)
    else:
        connection = _connect_session(server, mode, options)
    is_used = False
    try:
        async with without_groups(connection) as connected:
            yield connected
            is_used = True
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        if not is_used:
            raise
        # The server wrote while the connection was closed.


def check_target(name: str, server: object) -> None:
    """
    Check that the argument *name* is something to connect to, as far as its type says.

    Raises:
        TypeError: If it is of another type.
        ValueError: If it is a string that is not an http URL.
    """
    from mcp.client.stdio import StdioServerParameters

    if isinstance(server, str):
        if not server.lower().startswith(("http://", "https://")):
            raise ValueError(f"`{name}` must begin with http:// or https://. Pass a command as StdioServerParameters.")
        return
    is_server = hasattr(server, "__aenter__") or hasattr(server, "run")
    if isinstance(server, type) or not (is_server or isinstance(server, StdioServerParameters)):
        found = type(server).__name__
        raise TypeError(f"`{name}` must be a URL, StdioServerParameters, a transport or a server, not {found}.")


def check_mode(mode: object) -> None:
    """
    Check that *mode* is a way to negotiate the protocol version that the installed SDK has.

    Raises:
        ValueError: If it is not.
    """
    modes = ["auto", "legacy"]
    if supports_multi_round_trip():
        modes += [each for each in PROTOCOL_VERSIONS if each >= FIRST_MULTI_ROUND_TRIP_VERSION]
    if mode not in modes:
        raise ValueError(
            f"`mode` must be {', '.join(modes[:-1])} or {modes[-1]} with this version of mcp, not {mode!r}."
        )


@asynccontextmanager
async def _connect_session(server: Any, mode: str, options: dict[str, Any]) -> AsyncIterator[Any]:
    check_mode(mode)
    async with (
        _transport(server) as streams,
        sessions.client_session(streams[0], streams[1], **options) as session,
    ):
        await session.initialize()
        yield session


def _transport(server: Any) -> AbstractAsyncContextManager[Any]:
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if isinstance(server, str):
        return streamable_http_client(server)
    if isinstance(server, StdioServerParameters):
        return stdio_client(server)
    if isinstance(server, AbstractAsyncContextManager):
        return server
    raise TypeError(
        f"`server` takes a URL, StdioServerParameters or a transport with mcp 1.x, not {type(server).__name__}."
    )
