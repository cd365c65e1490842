"""FastMCP's ``Client``, 3.x and 4.x: ``elicitation_handler=``."""

from __future__ import annotations

from typing import Any, Protocol

from mcp_elicit_client.core.requests import Server
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.hosts.boundary import DEFAULT_DOOR, Door, answer_params
from mcp_elicit_client.hosts.sdk import request_details, server_with_claim
from mcp_elicit_client.typing import Handler


class FastMCPElicitationHandler(Protocol):
    """What FastMCP's ``Client`` takes as ``elicitation_handler``."""

    async def __call__(self, message: str, response_type: Any, params: Any, context: Any) -> Any:
        """Answer *params*; what FastMCP made of them beside is not looked at."""
        ...


def elicitation_handler(
    handler: Handler, *, server: Server | str, door: Door = DEFAULT_DOOR
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
        door: How requests are read.
    """
    known = Server.named(server)

    async def handle(message: str, response_type: Any, params: Any, context: Any) -> Any:  # noqa: ARG001
        from fastmcp.client.elicitation import ElicitResult

        server_now = server_with_claim(known, getattr(context, "session", None))
        try:
            answer = await answer_params(handler, params, server=server_now, door=door, **request_details(context))
        except RequestError:
            return ElicitResult(action="cancel")
        return ElicitResult.model_validate(door.to_wire(answer))

    return handle
