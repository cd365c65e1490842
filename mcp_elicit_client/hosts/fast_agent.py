"""fast-agent: ``@fast.agent(elicitation_handler=)``, a callback of the SDK's shape under another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_elicit_client.sdk.callback import elicitation_callback

if TYPE_CHECKING:
    from mcp_elicit_client.core.request import Server
    from mcp_elicit_client.dispatch import RequestOptions
    from mcp_elicit_client.sdk.callback import ElicitationCallback
    from mcp_elicit_client.typing import Handler


def elicitation_handler(
    handler: Handler, *, server: Server | str, request_options: RequestOptions | None = None
) -> ElicitationCallback:
    """
    Make the ``elicitation_handler`` of an agent.

    It is the same for all servers of the agent, and fast-agent does not say
    which of them asks: give an agent one server, and let agents use agents.

    Args:
        handler: Who is asked.
        server: What the host application calls the agent's server.
        request_options: How requests are read; None for the registry's way.
    """
    return elicitation_callback(handler, server=server, request_options=request_options)
