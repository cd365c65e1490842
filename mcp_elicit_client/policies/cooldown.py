"""Leave a user in peace who keeps saying no."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from mcp_elicit_client.dispatch import normalize_answer
from mcp_elicit_client.typing import Answer, Handler, Policy, Request

NAME = "cooldown"


def cooldown_after_declines(
    *, declines: int = 3, seconds: float = 600, block_after: int = 5, clock: Callable[[], float] = time.monotonic
) -> Policy:
    """
    Ask nothing for a while after several declines in a row from one server, and after more, no more at all.

    Only a person's decline counts; an accept starts the count anew.  Chrome
    does alike with permissions: a week of silence after three dismissals.

    Args:
        declines: How many declines in a row make it quiet.
        seconds: For how long, in seconds.
        block_after: How many declines in a row block the server for as long
            as the policy lives.
        clock: Tells the time, in seconds.
    """
    servers: dict[str, _DeclineCount] = {}

    def policy(handler: Handler) -> Handler:
        async def quiet(request: Request, /) -> Answer:
            patience = servers.setdefault(request.server.name, _DeclineCount())
            if patience.declines >= block_after and not request.resumed:
                return Answer.cancel(
                    by="policy", policy=NAME, reason="the user declined too often; the server is blocked"
                )
            if clock() < patience.quiet_until and not request.resumed:
                return Answer.cancel(by="policy", policy=NAME, reason="the user declined often; the server has to wait")
            answer = normalize_answer(await handler(request))
            if answer.action == "accept":
                patience.declines = 0
            elif answer.action == "decline" and answer.by in ("user", "host"):
                patience.declines += 1
                if patience.declines >= declines:
                    patience.quiet_until = clock() + seconds
            return answer

        return quiet

    return policy


@dataclass
class _DeclineCount:
    declines: int = 0
    quiet_until: float = float("-inf")
