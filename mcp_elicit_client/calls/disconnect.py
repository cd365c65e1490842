"""
Detection of a lost connection while a request is open.

While the user thinks, the client sends nothing, so the SDK does not notice
that the server has stopped.  Over HTTP there may not even be a connection.
The connection is therefore observed, and the server is pinged.
"""

from __future__ import annotations

from typing import Any

import anyio

from mcp_elicit_client.sdk.callback import supports_multi_round_trip

_POLL_INTERVAL = 0.25
"""The interval between two looks at the connection, in seconds."""

_PING_INTERVAL = 5.0
"""The interval between two pings while a request is open, in seconds."""

_PING_TIMEOUT = 5.0
"""The maximum time of a ping, in seconds.  A server that takes longer is busy, not disconnected."""

_CONNECTION_CLOSED = -32000


async def wait_for_disconnect(session: Any, *, in_callback: bool = False) -> None:
    """
    Wait until the connection to the server is lost: the stream has closed or a ping has failed.

    Args:
        session: The SDK's session.
        in_callback: The session's own callback waits for this.  The session
            of mcp 1.x receives nothing meanwhile, so the server is not
            pinged.
    """
    can_ping = not in_callback or supports_multi_round_trip() or hasattr(session, "disconnected")
    while True:
        with anyio.move_on_after(_PING_INTERVAL):
            await _wait_until_closed(session)
            return
        if can_ping and not await _responds(session):
            return


async def _wait_until_closed(session: Any) -> None:
    disconnected = getattr(session, "disconnected", None)
    if isinstance(disconnected, anyio.Event):  # a session of ours, with mcp 1.x
        await disconnected.wait()
        return
    # mcp 2.x tells only tasks that wait for a result, and none does while a request is open.
    dispatcher = getattr(session, "_dispatcher", None)
    while not getattr(dispatcher, "_closed", False):  # noqa: ASYNC110 -- there is no event
        await anyio.sleep(_POLL_INTERVAL)


async def _responds(session: Any) -> bool:
    try:
        with anyio.move_on_after(_PING_TIMEOUT):
            await _ping(session)
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        return False
    except Exception as error:  # noqa: BLE001 -- a server that answers a ping with any error is connected
        return bool(getattr(getattr(error, "error", None), "code", None) != _CONNECTION_CLOSED)
    return True


async def _ping(session: Any) -> None:
    import mcp.types

    types: Any = mcp.types
    if not supports_multi_round_trip():
        await session.send_ping()
    elif session.discover_result is not None:  # from 2026-07-28 on there is no ping
        await session.send_discover(session.protocol_version)
    else:
        await session.send_request(types.PingRequest(), types.EmptyResult)
