"""mcp-agent: ``MCPApp(..., elicitation_callback=...)``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from mcp_elicit_client.core.parse import UNNAMED_SERVER
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import SdkDispatcher, UserSource
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from mcp.types import ElicitResult, ErrorData
    from mcp_agent.elicitation.types import ElicitRequestParams


def elicitation_callback(
    handler: Handler, *, user: UserSource = None, request_options: RequestOptions | None = None
) -> Callable[[ElicitRequestParams], Awaitable[ElicitResult | ErrorData]]:
    """
    Return the ``elicitation_callback`` of an ``MCPApp``.

    It is for all servers: mcp-agent passes the name of the server, as in its
    settings.

    Args:
        handler: The handler: a registry, or any other.
        user: As for `sdk.callback.elicitation_callback`.  mcp-agent does not
            pass it: use one app for each user.
        request_options: Limits, URL rules and modes; None for those of the
            registry.
    """
    dispatcher = SdkDispatcher(handler, request_options, user)

    async def callback(request: ElicitRequestParams) -> ElicitResult | ErrorData:
        name = getattr(request, "server_name", None)
        server = Server(name=name) if isinstance(name, str) and name else UNNAMED_SERVER
        return await dispatcher.result(None, request, server=server)

    return callback
