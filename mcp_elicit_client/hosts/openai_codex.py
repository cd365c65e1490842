"""Codex SDK (``openai-codex``): ``CodexClient(..., approval_handler=...)``, called in the thread of the client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from mcp_elicit_client._arguments import check_sync
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.hosts.strands import run_in_loop
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import SdkDispatcher, UserSource
from mcp_elicit_client.typing import Handler

_METHOD = "mcpServer/elicitation/request"
"""The method of elicitation requests.  The client sends others to the same handler."""

_logger = logging.getLogger("mcp_elicit_client")

_CANCEL: Mapping[str, Any] = {"action": "cancel", "content": None, "_meta": None}


def approval_handler(
    handler: Handler,
    otherwise: Callable[[str, dict[str, Any] | None], dict[str, Any]],
    *,
    user: UserSource = None,
    loop: asyncio.AbstractEventLoop | None = None,
    request_options: RequestOptions | None = None,
) -> Callable[[str, dict[str, Any] | None], dict[str, Any]]:
    """
    Return the ``approval_handler`` of a ``CodexClient``.

    The names of servers are those of the Codex configuration.  The client
    reads no other message while the user answers.

    Args:
        handler: The handler of elicitation requests: a registry, or any
            other.
        otherwise: Your handler of all other requests, such as the approval of
            commands.  The default handler of Codex accepts every command and
            every change of a file.
        user: As for `sdk.callback.elicitation_callback`.  A function is
            called in the thread of the client.
        loop: The event loop in which *handler* is called, for handlers that
            are bound to one, such as user interfaces.  It must not be
            blocked: call the client with ``asyncio.to_thread``.  None to call
            *handler* in the thread of the client, in an event loop for each
            request.
        request_options: Limits, URL rules and modes; None for those of the
            registry.

    Raises:
        TypeError: If *otherwise* is not a function that takes the method and
            the params, or is async.
    """
    check_sync("otherwise", otherwise, "method", "params")
    dispatcher = SdkDispatcher(handler if loop is None else run_in_loop(handler, loop), request_options, user)

    async def answer(params: Mapping[str, Any]) -> dict[str, Any]:
        server = Server.from_name(params["serverName"])
        return {**_CANCEL, **await dispatcher.result_without_errors(None, params, server=server)}

    def handle(method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        if method != _METHOD:
            return otherwise(method, params)
        try:
            return asyncio.run(answer(params or {}))
        except Exception:
            # An exception would end the client, and an empty result is a decline.
            _logger.exception("a request of Codex could not be answered")
            return dict(_CANCEL)

    return handle
