"""Strands Agents: ``MCPClient(elicitation_callback=)``, which asks in a thread and an event loop of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_elicit_client.dispatch import RequestOptions
from mcp_elicit_client.hosts.event_loops import run_in_loop
from mcp_elicit_client.sdk.callback import elicitation_callback as of_the_sdk

if TYPE_CHECKING:
    import asyncio

    from mcp_elicit_client.core.request import Server
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
    Make the ``elicitation_callback`` of an ``MCPClient``.

    Args:
        handler: Who is asked.
        server: What the host application calls the server: make one client
            per server.
        loop: The event loop in which *handler* is asked, for one that is bound
            to it, as user interfaces are.  It must run meanwhile: await
            ``agent.invoke_async(...)`` or ``client.call_tool_async(...)``
            there, since ``agent(...)`` and ``call_tool_sync`` block it, and
            a blocked loop is a cancel.  None to ask in the client's thread.
        request_options: How requests are read; None for the registry's way.
    """
    return of_the_sdk(
        handler if loop is None else run_in_loop(handler, loop), server=server, request_options=request_options
    )
