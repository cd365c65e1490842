"""mcp-use's ``MCPClient``: ``elicitation_callback=``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_elicit_client.sdk.callback import elicitation_callback

if TYPE_CHECKING:
    from mcp_use import MCPClient
    from mcp_use.client.session import MCPSession

    from mcp_elicit_client.dispatch import RequestOptions
    from mcp_elicit_client.typing import Handler

__all__ = ["elicitation_callback", "with_handler"]


def with_handler(client: MCPClient, handler: Handler, *, request_options: RequestOptions | None = None) -> MCPClient:
    """
    Make *client*, not connected yet, answer each of its servers under its name.

    mcp-use takes one ``elicitation_callback`` for all servers, and hands it
    nothing that tells them apart.  Here each session gets one of its own.

    Args:
        client: An ``MCPClient``: what a server is called in ``mcpServers`` is
            its name.
        handler: Who is asked.
        request_options: How requests are read; None for the registry's way.

    Returns:
        The same client.
    """
    create = client.create_session

    async def create_session(server_name: str, auto_initialize: bool = True) -> MCPSession | None:  # noqa: FBT001, FBT002 -- as there
        client.elicitation_callback = elicitation_callback(handler, server=server_name, request_options=request_options)
        return await create(server_name, auto_initialize)

    client.create_session = create_session
    return client
