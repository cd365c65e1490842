"""Strands Agents: ``MCPClient(..., elicitation_callback=...)``, called in a thread and event loop of the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_elicit_client.hosts.event_loops import run_in_loop
from mcp_elicit_client.sdk.callback import elicitation_callback as sdk_callback

if TYPE_CHECKING:
    import asyncio

    from mcp_elicit_client.core.request import Server
    from mcp_elicit_client.request_options import RequestOptions
    from mcp_elicit_client.sdk.callback import ElicitationCallback
    from mcp_elicit_client.typing import Handler


def elicitation_callback(
    handler: Handler,
    *,
    server: Server | str,
    loop: asyncio.AbstractEventLoop | None = None,
    request_options: RequestOptions | None = None,
) -> ElicitationCallback:
    """
    Return the ``elicitation_callback`` of an ``MCPClient``.

    Args:
        handler: The handler: a registry, or any other.
        server: The name that your users see.  Use one client for each server.
        loop: The event loop in which *handler* is called, for handlers that
            are bound to one, such as user interfaces.  The loop must not be
            blocked: await ``agent.invoke_async(...)`` or
            ``client.call_tool_async(...)`` in it, instead of ``agent(...)``
            or ``call_tool_sync``.  Requests in a blocked loop are cancelled.
            None to call *handler* in the thread of the client.
        request_options: Limits, URL rules and modes; None for those of the
            registry.
    """
    return sdk_callback(
        handler if loop is None else run_in_loop(handler, loop), server=server, request_options=request_options
    )
