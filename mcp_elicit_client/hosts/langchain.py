"""langchain-mcp-adapters: ``MultiServerMCPClient(..., callbacks=...)``, and a session for ``load_mcp_tools``."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, cast

from mcp_elicit_client.core.request import Server
from mcp_elicit_client.hosts._session_proxy import wrap_session
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import SdkDispatcher, UserSource
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from langchain_mcp_adapters.callbacks import CallbackContext, Callbacks
    from mcp.types import ElicitRequestParams, ElicitResult


__all__ = ["callbacks", "wrap_session"]


def callbacks(handler: Handler, *, user: UserSource = None, request_options: RequestOptions | None = None) -> Callbacks:
    """
    Return the ``callbacks`` of a ``MultiServerMCPClient``.  You can set others on the returned object.

    They are for all servers: LangChain passes the name of the server, as in
    its connections, and the name of the tool.

    Args:
        handler: The handler: a registry, or any other.
        user: The user that requests are for, or a function that returns it
            for each request.  The adapter connects for each tool call, so a
            function can read context variables of the call.  In a session
            that is kept open they have the values of the task that connected.
        request_options: Limits, URL rules and modes; None for those of the
            registry.
    """
    from langchain_mcp_adapters.callbacks import Callbacks

    return Callbacks(on_elicitation=_on_elicitation(SdkDispatcher(handler, request_options, user)))


def _on_elicitation(dispatcher: SdkDispatcher) -> Callable[..., Coroutine[Any, Any, ElicitResult]]:
    async def callback(mcp_context: Any, params: ElicitRequestParams, context: CallbackContext) -> ElicitResult:
        server = Server(name=context.server_name)
        # LangChain passes the result to the SDK, which also takes errors.
        result = await dispatcher.result(mcp_context, params, server=server, tool=context.tool_name)
        return cast("ElicitResult", result)

    return callback
