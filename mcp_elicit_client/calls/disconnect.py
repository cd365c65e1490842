"""
Whether a server is still there while a question is open.

While the user thinks, nothing is asked of the server, and the SDK notices
nothing: over HTTP there may not even be a connection.  So it is looked at,
and over a connection that says nothing by itself it is pinged.
"""

from __future__ import annotations

from typing import Any

import anyio

from mcp_elicit_client.sdk.callback import supports_multi_round_trip

_LOOK = 0.25
"""How often the connection is looked at, in seconds."""

_HEARTBEAT = 5.0
"""How often the server is pinged while a question is open, in seconds."""

_PATIENCE = 5.0
"""How long a ping may take, in seconds; a server that takes longer is busy, not gone."""

_CONNECTION_CLOSED = -32000


async def wait_for_disconnect(session: Any, *, in_callback: bool = False) -> None:
    """
    Wait until the server is gone, as far as that can be seen.

    Args:
        session: The SDK's session.
        in_callback: Whether the session's own callback waits for this.  The
            SDK of mcp 1.x receives nothing meanwhile, so there nothing is
            asked of the server either.
    """
    deaf = in_callback and not supports_multi_round_trip() and not hasattr(session, "gone")
    while True:
        with anyio.move_on_after(_HEARTBEAT):
            await _closed(session)
            return
        if not deaf and not await _answers(session):
            return


async def _closed(session: Any) -> None:
    gone = getattr(session, "gone", None)
    if isinstance(gone, anyio.Event):
        await gone.wait()
        return
    # mcp 2.x tells it to whoever waits for a result, which nobody does while a question is open.
    dispatcher = getattr(session, "_dispatcher", None)
    while not getattr(dispatcher, "_closed", False):  # noqa: ASYNC110 -- there is no event
        await anyio.sleep(_LOOK)


async def _answers(session: Any) -> bool:
    try:
        with anyio.move_on_after(_PATIENCE):
            await _ping(session)
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        return False
    except Exception as error:  # noqa: BLE001 -- whatever a server answers to a ping, it is there
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
