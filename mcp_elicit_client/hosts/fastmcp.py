"""FastMCP's ``Client``, 3.x and 4.x: ``elicitation_handler=``."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from mcp_elicit_client.core.request import Server
from mcp_elicit_client.dispatch import RequestOptions
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.sdk.callback import SdkDispatcher
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult

    from mcp_elicit_client.calls import Caller


class FastMCPElicitationHandler(Protocol):
    """What FastMCP's ``Client`` takes as ``elicitation_handler``."""

    async def __call__(self, message: str, response_type: Any, params: Any, context: Any) -> ElicitResult[Any]:
        """Answer *params*; what FastMCP made of them beside is not looked at."""
        ...


def elicitation_handler(
    handler: Handler, *, server: Server | str, request_options: RequestOptions | None = None
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
        request_options: How requests are read; None for the registry's way.
    """
    known = Server.from_name(server)
    dispatcher = SdkDispatcher(handler, request_options)

    async def handle(message: str, response_type: Any, params: Any, context: Any) -> ElicitResult[Any]:  # noqa: ARG001
        from fastmcp.client.elicitation import ElicitResult

        try:
            answer = await dispatcher.answer_in(context, params, server=known)
        except RequestError:
            return ElicitResult(action="cancel")
        return ElicitResult.model_validate(dispatcher.request_options.to_wire(answer))

    return handle


def client(caller: Caller, transport: Any, *, message_handler: Any = None, **options: Any) -> Client[Any]:
    """
    Make a FastMCP client whose tool calls are those of *caller*, whoever makes them.

    For libraries that take a FastMCP client, too: URLs that are wanted first
    (``-32042``) are asked about, completions are heard, and a timeout does
    not count the user's time.

    Args:
        caller: Who makes the calls, for the server of this client.
        transport: What ``Client`` takes: a URL, a file, a transport.
        message_handler: The host's own, a function.
        options: What else ``Client`` takes, by keyword.
    """
    made: Client[Any] = _client_class()(
        transport,
        elicitation_handler=elicitation_handler(caller.handler, server=caller.server),
        message_handler=caller.message_handler(message_handler),
        **options,
    )
    made.caller = caller  # type: ignore[attr-defined,unused-ignore]
    return made


def clients_from_config(
    handler: Handler,
    config: Mapping[str, Any],
    *,
    caller: Callable[[Handler, str], Caller] | None = None,
    request_options: RequestOptions | None = None,
) -> dict[str, Client[Any]]:
    """
    Make a client for each server of an ``mcpServers`` configuration, under its name in there.

    One FastMCP client with several servers is a proxy: it does not know which
    of them asks, and until 4.2 it turns a URL into an empty form.  With
    FastMCP 4, ``ClientGroup(clients(...))`` makes one catalogue of them.

    Args:
        handler: Who is asked.
        config: The configuration, as for FastMCP's ``Client``.
        caller: The class `Caller`, or what makes one from the handler and a
            name, for clients as `client` makes them.
        request_options: How requests are read where there is no caller; None for the
            registry's way.

    Raises:
        ValueError: If *config* is no configuration.
    """
    from fastmcp import Client
    from fastmcp.mcp_config import MCPConfig

    made: dict[str, Client[Any]] = {}
    for name, entry in MCPConfig.from_dict(dict(config)).mcpServers.items():
        mode = (entry.model_extra or {}).get("mode")
        more: dict[str, Any] = {} if mode is None else {"mode": mode}
        if caller is not None:
            made[name] = client(caller(handler, name), entry.to_transport(), **more)
            continue
        asked = elicitation_handler(handler, server=name, request_options=request_options)
        made[name] = Client(entry.to_transport(), elicitation_handler=asked, **more)
    return made


@functools.cache
def _client_class() -> Any:
    from fastmcp import Client

    class CallingClient(Client[Any]):
        """A client that leaves its tool calls to its caller."""

        caller: Caller

        async def call_tool_mcp(
            self,
            name: str,
            arguments: dict[str, Any],
            progress_handler: Any = None,
            timeout: timedelta | float | None = None,
            meta: dict[str, Any] | None = None,
        ) -> Any:
            # FastMCP's own way to notice that the session has died, where it still has one.
            watched = getattr(self, "_await_with_session_monitoring", _unwatched)
            seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
            call = self.caller.call_tool(
                self, name, arguments, timeout=seconds, meta=meta, progress_callback=progress_handler
            )
            return await watched(call)

    return CallingClient


async def _unwatched(call: Awaitable[Any]) -> Any:
    return await call
