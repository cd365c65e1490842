"""langchain-mcp-adapters: ``callbacks=`` of ``MultiServerMCPClient``, and a session for ``load_mcp_tools``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from mcp_elicit_client.core.request import Server
from mcp_elicit_client.dispatch import RequestOptions
from mcp_elicit_client.hosts.session_proxy import wrap_session
from mcp_elicit_client.sdk.callback import SdkDispatcher
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
    dispatcher = SdkDispatcher(handler, request_options)

    async def callback(mcp_context: Any, params: ElicitRequestParams, context: CallbackContext) -> ElicitResult:
        server = Server(name=context.server_name)
        # LangChain passes what this returns to the SDK, errors too.
        result = await dispatcher.result(mcp_context, params, server=server, tool=context.tool_name)
        return cast("ElicitResult", result)

    return callback
