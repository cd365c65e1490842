"""For libraries that ask in a thread and an event loop of their own."""

from __future__ import annotations

import asyncio
import concurrent.futures

from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.dispatch import NormalizedHandler, normalize_handler
from mcp_elicit_client.typing import Handler, Request

START_TIMEOUT = 10.0
"""How long the loop may take to begin with a question, in seconds."""


def run_in_loop(handler: Handler, loop: asyncio.AbstractEventLoop, *, start_timeout: float = START_TIMEOUT) -> Handler:
    """
    Make a handler that may be asked in any thread, and asks *handler* in *loop*.

    When the question is withdrawn, *handler* is cancelled there.  If the loop
    has ended, or is blocked, so that nobody would ever be asked, the answer
    is a cancel.

    Args:
        handler: Who is asked: what is bound to a loop, such as a user
            interface, or anything that shares its state with the host's code.
        loop: The host's event loop.
        start_timeout: How long *loop* may take to begin, in seconds.
    """

    normalized = normalize_handler(handler)

    async def ask(request: Request, /) -> Answer:
        if asyncio.get_running_loop() is loop:
            return await normalized(request)
        taken: concurrent.futures.Future[None] = concurrent.futures.Future()

        async def there() -> Answer:
            if not taken.set_running_or_notify_cancel():
                return _nobody()
            taken.set_result(None)
            return await normalized(request)

        question = there()
        try:
            asked = asyncio.run_coroutine_threadsafe(question, loop)
        except RuntimeError:  # the loop is closed
            question.close()
            return _nobody()
        try:
            await asyncio.wait({asyncio.wrap_future(taken)}, timeout=start_timeout)
            if taken.cancel():
                return _nobody()
            answer = asyncio.wrap_future(asked)
            await asyncio.wait({answer})
            return _nobody() if answer.cancelled() else answer.result()
        finally:
            asked.cancel()  # does nothing to what is done

    return NormalizedHandler(ask, normalized.request_options)


def _nobody() -> Answer:
    return Answer.cancel(by="unattended", reason="the event loop in which to ask does not run")
