"""
Strands Agents: ``MCPClient(..., elicitation_callback=...)``, called in a thread and event loop of the client.

`run_in_loop` is for other libraries that do the same.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import TYPE_CHECKING

from mcp_elicit_client._arguments import check_seconds, check_type
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.dispatch import normalize_handler
from mcp_elicit_client.notices import Notifier
from mcp_elicit_client.sdk.callback import elicitation_callback as sdk_callback
from mcp_elicit_client.typing import Handler, Request

if TYPE_CHECKING:
    from mcp_elicit_client.core.request import Server
    from mcp_elicit_client.request_options import RequestOptions
    from mcp_elicit_client.sdk.callback import ElicitationCallback, UserSource

_START_TIMEOUT = 10.0
"""The maximum time until the event loop starts with a request, in seconds."""


def elicitation_callback(
    handler: Handler,
    *,
    server: Server | str,
    user: UserSource = None,
    loop: asyncio.AbstractEventLoop | None = None,
    request_options: RequestOptions | None = None,
) -> ElicitationCallback:
    """
    Return the ``elicitation_callback`` of an ``MCPClient``.

    Args:
        handler: The handler: a registry, or any other.
        server: The name that your users see.  Use one client for each server.
        user: As for `sdk.callback.elicitation_callback`.  A function is
            called in the thread of the client.
        loop: The event loop in which *handler* is called, for handlers that
            are bound to one, such as user interfaces.  The loop must not be
            blocked: await ``agent.invoke_async(...)`` or
            ``client.call_tool_async(...)`` in it, instead of ``agent(...)``
            or ``call_tool_sync``.  Requests in a blocked loop are cancelled.
            None to call *handler* in the thread of the client.
        request_options: Limits, URL rules and modes; None for those of the
            registry.
    """
    asked = handler if loop is None else run_in_loop(handler, loop)
    return sdk_callback(asked, server=server, user=user, request_options=request_options)


def run_in_loop(handler: Handler, loop: asyncio.AbstractEventLoop, *, start_timeout: float = _START_TIMEOUT) -> Handler:
    """
    Return a handler that can be called in any thread, and calls *handler* in *loop*.

    If the request is withdrawn, *handler* is cancelled.  If *loop* is closed
    or blocked, the answer is a cancel.

    Args:
        handler: A handler that is bound to an event loop, such as a user
            interface.
        loop: The event loop of the host application.
        start_timeout: The maximum time until *loop* starts with a request, in
            seconds.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If *start_timeout* is not above 0.
    """
    check_type("loop", loop, asyncio.AbstractEventLoop)
    check_seconds("start_timeout", start_timeout)
    normalized = normalize_handler(handler)

    async def ask(request: Request, /) -> Answer:
        if asyncio.get_running_loop() is loop:
            return await normalized(request)
        started: concurrent.futures.Future[None] = concurrent.futures.Future()

        async def ask_in_loop() -> Answer:
            if not started.set_running_or_notify_cancel():
                return _not_running()
            started.set_result(None)
            return await normalized(request)

        coroutine = ask_in_loop()
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        except RuntimeError:  # the loop is closed
            coroutine.close()
            return _not_running()
        try:
            await asyncio.wait({asyncio.wrap_future(started)}, timeout=start_timeout)
            if started.cancel():
                return _not_running()
            answer = asyncio.wrap_future(future)
            await asyncio.wait({answer})
            return _not_running() if answer.cancelled() else answer.result()
        finally:
            future.cancel()  # no effect if it is done

    async def notify(notice: Notice) -> None:
        if asyncio.get_running_loop() is loop:
            await normalized.notifier.show(notice)
            return
        coroutine = normalized.notifier.show(notice)
        try:
            asyncio.run_coroutine_threadsafe(coroutine, loop)
        except RuntimeError:  # the loop is closed
            coroutine.close()

    return normalized.wrapped_in(ask, Notifier(notify))


def _not_running() -> Answer:
    return Answer.cancel(by="unattended", reason="the event loop of the handler is not running")
