"""mcp-use: ``MCPClient(..., elicitation_callback=...)``, or one callback for each of its servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_elicit_client._arguments import check_handler, check_method
from mcp_elicit_client.sdk.callback import elicitation_callback

if TYPE_CHECKING:
    from mcp_use import MCPClient
    from mcp_use.client.session import MCPSession

    from mcp_elicit_client.request_options import RequestOptions
    from mcp_elicit_client.sdk.callback import UserSource
    from mcp_elicit_client.typing import Handler

__all__ = ["elicitation_callback", "with_handler"]

_REPLACED = "_replaced_by_handler"
"""The attribute of a client's ``create_session`` that is the client's own."""


def with_handler(
    client: MCPClient, handler: Handler, *, user: UserSource = None, request_options: RequestOptions | None = None
) -> MCPClient:
    """
    Change *client*, before it connects, so that each server has a callback with its own name.

    mcp-use takes one ``elicitation_callback`` for all servers, and does not
    pass the name of the server.

    Args:
        client: An ``MCPClient``.  The names are those in ``mcpServers``.
        handler: The handler: a registry, or any other.
        user: As for `elicitation_callback`.  Use one client for each user.
        request_options: Limits, URL rules and modes; None for those of the
            registry.

    Returns:
        The same client.

    Raises:
        TypeError: If *client* is not an ``MCPClient``, or *handler* not a
            handler.
    """
    check_method("client", client, "create_session", "an `MCPClient`")
    check_handler(handler)
    # A second handler replaces the first.
    create = getattr(client.create_session, _REPLACED, client.create_session)

    async def create_session(server_name: str, auto_initialize: bool = True) -> MCPSession | None:  # noqa: FBT001, FBT002 -- as in mcp-use
        client.elicitation_callback = elicitation_callback(
            handler, server=server_name, user=user, request_options=request_options
        )
        return await create(server_name, auto_initialize)

    setattr(create_session, _REPLACED, create)
    client.create_session = create_session
    return client
