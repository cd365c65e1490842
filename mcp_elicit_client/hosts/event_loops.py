"""`run_in_loop`: for libraries that call handlers in a thread and an event loop of their own."""

from __future__ import annotations

import asyncio
import concurrent.futures

from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.dispatch import NormalizedHandler, normalize_handler
from mcp_elicit_client.typing import Handler, Request

START_TIMEOUT = 10.0
"""The maximum time until the event loop starts with a request, in seconds."""


def run_in_loop(handler: Handler, loop: asyncio.AbstractEventLoop, *, start_timeout: float = START_TIMEOUT) -> Handler:
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
    """
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

    return NormalizedHandler(ask, normalized.held_options)


def _not_running() -> Answer:
    return Answer.cancel(by="unattended", reason="the event loop of the handler is not running")
