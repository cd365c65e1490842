"""langchain-mcp-adapters: ``callbacks=`` of ``MultiServerMCPClient``, and a session for ``load_mcp_tools``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from mcp_elicit_client.core.request import Server
from mcp_elicit_client.dispatch import RequestOptions, options_for
from mcp_elicit_client.hosts.session_proxy import wrap_session
from mcp_elicit_client.sdk.callback import answer_for_sdk, request_details, server_with_claim
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from langchain_mcp_adapters.callbacks import CallbackContext, Callbacks
    from mcp.types import ElicitRequestParams, ElicitResult


__all__ = ["LangChainElicitationCallback", "callbacks", "on_elicitation", "wrap_session"]


class LangChainElicitationCallback(Protocol):
    """What ``Callbacks`` takes as ``on_elicitation``."""

    async def __call__(self, mcp_context: Any, params: ElicitRequestParams, context: CallbackContext) -> ElicitResult:
        """Answer *params*."""
        ...


def callbacks(handler: Handler, *, request_options: RequestOptions | None = None) -> Callbacks:
    """
    Make the ``callbacks`` of a ``MultiServerMCPClient``; set more of them on what is returned.

    One serves all servers: LangChain tells which of them asks, under the name
    that it has in the connections, and which tool was called.

    Args:
        handler: Who is asked.
        request_options: How requests are read; None for the registry's way.
    """
    from langchain_mcp_adapters.callbacks import Callbacks

    return Callbacks(on_elicitation=on_elicitation(handler, request_options=request_options))


def on_elicitation(handler: Handler, *, request_options: RequestOptions | None = None) -> LangChainElicitationCallback:
    """Make the ``on_elicitation`` of ``Callbacks``; all else is as in `callbacks`."""
    way = options_for(handler, request_options)

    async def callback(mcp_context: Any, params: ElicitRequestParams, context: CallbackContext) -> ElicitResult:
        server = server_with_claim(Server(name=context.server_name), getattr(mcp_context, "session", None))
        details = {**request_details(mcp_context), "tool": context.tool_name}
        # LangChain hands over to the SDK what this returns, errors too.
        return cast(
            "ElicitResult", await answer_for_sdk(handler, params, server=server, request_options=way, **details)
        )

    return callback
