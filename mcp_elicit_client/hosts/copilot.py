"""GitHub Copilot SDK: ``CopilotClient.create_session(on_elicitation_request=elicitation_handler(...))``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.sdk.callback import SdkDispatcher

if TYPE_CHECKING:
    from mcp_elicit_client.request_options import RequestOptions
    from mcp_elicit_client.sdk.callback import UserSource
    from mcp_elicit_client.typing import Handler


def elicitation_handler(
    handler: Handler,
    *,
    agent: Server | str = "Copilot",
    servers: Mapping[str, Server] | None = None,
    user: UserSource = None,
    request_options: RequestOptions | None = None,
) -> Callable[[Any], Awaitable[Any]]:
    """
    Return the ``on_elicitation_request`` of a session.

    It takes the SDK's ``ElicitationContext`` and returns its ``ElicitationResult``.

    The SDK passes the name of the MCP server.  It always gets an answer with
    an action: it would make a cancel of anything else.

    Args:
        handler: The handler: a registry, or any other.
        agent: The name that your users see for questions of the agent itself,
            which come without the name of a server.
        servers: What you know about the servers, by the names that they have
            in the configuration of the session.
        user: As for `sdk.callback.elicitation_callback`.
        request_options: Limits, URL rules and modes; None for those of the
            registry.

    Raises:
        TypeError: If *servers* is not a mapping to `Server`, and as for
            `sdk.callback.elicitation_callback`.
        ValueError: As for `sdk.callback.elicitation_callback`.
    """
    dispatcher = SdkDispatcher(handler, request_options, user)
    own = Server.from_name(agent)
    check_type("servers", servers, Mapping, NoneType)
    known = dict(servers or {})
    for name, server in known.items():
        check_type(f"servers[{name!r}]", server, Server)

    async def ask(context: Any) -> Any:
        source = context.get("elicitationSource")
        server = (known.get(source) or Server(name=source)) if isinstance(source, str) and source.strip() else own
        return await dispatcher.result_without_errors(None, {"message": "", **context}, server=server)

    return ask
