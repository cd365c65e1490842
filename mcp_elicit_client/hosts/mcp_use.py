"""mcp-use's ``MCPClient``: ``elicitation_callback=``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_use import MCPClient

from mcp_elicit_client.hosts.boundary import Door
from mcp_elicit_client.hosts.sdk import elicitation_callback
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from mcp.client.session import MessageHandlerFnT
    from mcp_use.client.session import MCPSession

__all__ = ["NamedMCPClient", "elicitation_callback"]


class NamedMCPClient(MCPClient):  # type: ignore[misc,unused-ignore]
    """
    An ``MCPClient`` that knows which of its servers asks.

    mcp-use takes one callback for all servers, and hands it nothing that
    tells them apart; this one has a callback for each.

    Args:
        handler: Who is asked.
        config: The configuration, as for ``MCPClient``: what a server is
            called in ``mcpServers`` is its name.
        door: How requests are read; None for the registry's way.
        message_handler: As for ``MCPClient``.
        allowed_servers: As for ``MCPClient``.
    """

    def __init__(
        self,
        handler: Handler,
        config: str | dict[str, Any],
        *,
        door: Door | None = None,
        message_handler: MessageHandlerFnT | None = None,
        allowed_servers: list[str] | None = None,
    ) -> None:
        super().__init__(config=config, message_handler=message_handler, allowed_servers=allowed_servers)
        self._handler = handler
        self._door = door

    async def create_session(self, server_name: str, auto_initialize: bool = True) -> MCPSession | None:  # noqa: FBT001, FBT002 -- as there
        """Connect to a server, with a callback of its own; all else is as in ``MCPClient``."""
        self.elicitation_callback = elicitation_callback(self._handler, server=server_name, door=self._door)
        return await super().create_session(server_name, auto_initialize)
