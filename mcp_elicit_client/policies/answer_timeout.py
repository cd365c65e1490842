"""How long a question may stay open."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import anyio

from mcp_elicit_client.dispatch import normalize_answer
from mcp_elicit_client.typing import Answer, Handler, Policy, Request

NAME = "answer_timeout"


def answer_timeout(seconds: float = 240) -> Policy:
    """
    Withdraw a question that nobody answered in time: cancel.

    The handler is cancelled, and so the question disappears; it finds in
    `Request.deadline` what time there is, to show it.  240 s are less than
    what the SDK's HTTP transport and the Python SDK's server allow.

    Args:
        seconds: How long the user may take, in seconds.
    """

    def policy(handler: Handler) -> Handler:
        async def patient(request: Request, /) -> Answer:
            deadline = datetime.now(timezone.utc) + timedelta(seconds=seconds)
            if request.deadline is not None:
                deadline = min(deadline, request.deadline)
            with anyio.move_on_after(seconds) as scope:
                return normalize_answer(await handler(request.model_copy(update={"deadline": deadline})))
            assert scope.cancelled_caught
            return Answer.cancel(by="timeout", policy=NAME, reason=f"nobody answered within {seconds:g} seconds")

        return patient

    return policy
