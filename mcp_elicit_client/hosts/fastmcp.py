"""FastMCP 3.x and 4.x: ``Client(..., elicitation_handler=...)``, and clients whose calls are made by a `Caller`."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from mcp_elicit_client._arguments import check_sync, check_type
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import SdkDispatcher, UserSource
from mcp_elicit_client.sdk.tasks_extension import client_options
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult

    from mcp_elicit_client.calls import Caller


def elicitation_handler(
    handler: Handler,
    *,
    server: Server | str,
    user: UserSource = None,
    request_options: RequestOptions | None = None,
) -> Callable[[str, Any, Any, Any], Awaitable[ElicitResult[Any]]]:
    """
    Return the ``elicitation_handler`` of a FastMCP client.

    It always returns FastMCP's own result class.  Before FastMCP 4.1, a
    decline in the SDK's result class reaches the server as an accept.  A
    request that cannot be answered is cancelled, since an exception would
    reach the server as an internal error.

    Args:
        handler: The handler: a registry, `Caller.handler`, or any other.
        server: The name that your users see.  Use one client for each server.
        user: As for `sdk.callback.elicitation_callback`.
        request_options: Limits, URL rules and modes; None for those of the
            registry.
    """
    known = Server.from_name(server)
    dispatcher = SdkDispatcher(handler, request_options, user)

    async def handle(message: str, response_type: Any, params: Any, context: Any) -> ElicitResult[Any]:  # noqa: ARG001
        from fastmcp.client.elicitation import ElicitResult

        return ElicitResult.model_validate(await dispatcher.result_without_errors(context, params, server=known))

    return handle


def client(
    caller: Caller, transport: Any, *, user: str | None = None, message_handler: Any = None, **options: Any
) -> Client[Any]:
    """
    Return a FastMCP client whose tool calls are made by *caller*.

    Required URL elicitations (``-32042``), completions and tasks are handled,
    and timeouts do not include the user's time.  This also works in libraries
    that take a FastMCP client.

    Args:
        caller: The caller for the server of this client.
        transport: The first argument of ``Client``: a URL, a file or a
            transport.
        user: The user of the client, 1 to 256 characters; None for that of
            *caller*.
        message_handler: Your own message handler, an async function.
        options: Other arguments of ``Client``, by keyword.

    Raises:
        TypeError: If *caller* is not a `Caller`, or *message_handler* is not
            async.
        ValueError: If *user* is empty or too long.
    """
    from mcp_elicit_client.calls import Caller

    check_type("caller", caller, Caller, hint='Pass Caller(handler, "server").')
    user = caller.user if user is None else user
    wrapped: Client[Any] = _client_class()(
        transport,
        elicitation_handler=elicitation_handler(caller.handler, server=caller.server, user=user),
        message_handler=caller.message_handler(message_handler),
        **client_options(options, caller.extensions),
    )
    wrapped.caller = caller  # type: ignore[attr-defined,unused-ignore]
    wrapped.user = user  # type: ignore[attr-defined,unused-ignore]
    return wrapped


def clients_from_config(
    handler: Handler,
    config: Mapping[str, Any],
    *,
    user: UserSource = None,
    caller: Callable[[Handler, str], Caller] | None = None,
    request_options: RequestOptions | None = None,
) -> dict[str, Client[Any]]:
    """
    Return one client for each server of an ``mcpServers`` configuration, by the server's name.

    One FastMCP client with several servers is a proxy: it does not know which
    server sends a request, and before FastMCP 4.2 it turns a URL into an
    empty form.  With FastMCP 4, ``ClientGroup(clients_from_config(...))``
    combines the clients.

    Args:
        handler: The handler: a registry, or any other.
        config: The configuration, as for FastMCP's ``Client``.
        user: The user of clients without *caller*, as for
            `elicitation_handler`.
        caller: The class `Caller`, or a function that returns a caller for a
            handler and a name, such as ``functools.partial(Caller,
            user="ann")``.  The clients are then those of `client`.
        request_options: Limits, URL rules and modes of clients without
            *caller*; None for those of the registry.

    Raises:
        TypeError: If *config* is not a mapping, or *caller* not a function.
        ValueError: If *config* is not a valid configuration, or if there are
            both a *caller*, which has a user, and a *user*.
    """
    check_type("config", config, Mapping)
    if caller is not None:
        check_sync("caller", caller, "handler", "name")
    if caller is not None and user is not None:
        raise ValueError("`user` is for clients without `caller`. Pass it to the `Caller` instead.")
    from fastmcp import Client
    from fastmcp.mcp_config import MCPConfig

    clients: dict[str, Client[Any]] = {}
    for name, entry in MCPConfig.from_dict(dict(config)).mcpServers.items():
        mode = (entry.model_extra or {}).get("mode")
        options: dict[str, Any] = {} if mode is None else {"mode": mode}
        if caller is not None:
            clients[name] = client(caller(handler, name), entry.to_transport(), **options)
            continue
        answer = elicitation_handler(handler, server=name, user=user, request_options=request_options)
        clients[name] = Client(entry.to_transport(), elicitation_handler=answer, **options)
    return clients


@functools.cache
def _client_class() -> Any:
    from fastmcp import Client

    class CallingClient(Client[Any]):  # type: ignore[misc,unused-ignore]
        """A client whose tool calls are made by its caller."""

        caller: Caller
        user: str | None

        async def call_tool_mcp(
            self,
            name: str,
            arguments: dict[str, Any],
            progress_handler: Any = None,
            timeout: timedelta | float | None = None,
            meta: dict[str, Any] | None = None,
        ) -> Any:
            # Some versions detect in this method that the session has ended.
            monitored = getattr(self, "_await_with_session_monitoring", None)
            seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
            call = self.caller.call_tool(
                self, name, arguments, user=self.user, timeout=seconds, meta=meta, progress_callback=progress_handler
            )
            return await (call if monitored is None else monitored(call))

    return CallingClient
