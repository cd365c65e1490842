"""FastMCP's ``Client``, 3.x and 4.x: ``elicitation_handler=``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from mcp_elicit_client.core.requests import Server
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.hosts.boundary import Door, answer_params, door_for
from mcp_elicit_client.hosts.sdk import request_details, server_with_claim
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult


class FastMCPElicitationHandler(Protocol):
    """What FastMCP's ``Client`` takes as ``elicitation_handler``."""

    async def __call__(self, message: str, response_type: Any, params: Any, context: Any) -> ElicitResult[Any]:
        """Answer *params*; what FastMCP made of them beside is not looked at."""
        ...


def elicitation_handler(
    handler: Handler, *, server: Server | str, door: Door | None = None
) -> FastMCPElicitationHandler:
    """
    Make the ``elicitation_handler`` of a FastMCP client.

    It always returns FastMCP's own result: before FastMCP 4.1 a decline in
    the SDK's result class reaches the server as an accept.  A request that
    nobody could answer is a cancel, since what is raised here reaches the
    server as an internal error.

    Args:
        handler: Who is asked: a registry, `Caller.handler`, or any handler.
        server: What the host application calls the server: make one for each
            client, and one client for each server.
        door: How requests are read; None for the registry's way.
    """
    known = Server.named(server)
    way = door_for(handler, door)

    async def handle(message: str, response_type: Any, params: Any, context: Any) -> ElicitResult[Any]:  # noqa: ARG001
        from fastmcp.client.elicitation import ElicitResult

        server_now = server_with_claim(known, getattr(context, "session", None))
        try:
            answer = await answer_params(handler, params, server=server_now, door=way, **request_details(context))
        except RequestError:
            return ElicitResult(action="cancel")
        return ElicitResult.model_validate(way.to_wire(answer))

    return handle


def clients(handler: Handler, config: Mapping[str, Any], *, door: Door | None = None) -> dict[str, Client[Any]]:
    """
    Make a client for each server of an ``mcpServers`` configuration, under its name in there.

    One FastMCP client with several servers is a proxy: it does not know which
    of them asks, and until 4.2 it turns a URL into an empty form.  With
    FastMCP 4, ``ClientGroup(clients(...))`` makes one catalogue of them.

    Args:
        handler: Who is asked.
        config: The configuration, as for FastMCP's ``Client``.
        door: How requests are read; None for the registry's way.

    Raises:
        ValueError: If *config* is no configuration.
    """
    from fastmcp import Client
    from fastmcp.mcp_config import MCPConfig

    made: dict[str, Client[Any]] = {}
    for name, entry in MCPConfig.from_dict(dict(config)).mcpServers.items():
        mode = (entry.model_extra or {}).get("mode")
        more: dict[str, Any] = {} if mode is None else {"mode": mode}
        asked = elicitation_handler(handler, server=name, door=door)
        made[name] = Client(entry.to_transport(), elicitation_handler=asked, **more)
    return made
