"""Functions of the host application before a request and after its answer."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from mcp_elicit_client.core.request import FormRequest, UrlRequest
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy, normalize_answer
from mcp_elicit_client.typing import Answer, Policy, Request

_logger = logging.getLogger("mcp_elicit_client")

NAME = "hooks"

Before: TypeAlias = Callable[[Request], Awaitable[Answer | Request | None]]
"""Returns an answer, which is used; a request, which replaces the other; or None."""

After: TypeAlias = Callable[[Request, Answer], Awaitable[Answer | None]]
"""Returns an answer, which replaces the other; or None."""


def hooks(*, before: Before | None = None, after: After | None = None) -> Policy:
    """
    Call functions of the host application before a request and after its answer.

    If a hook raises or returns anything else, the answer is a cancel.

    Args:
        before: Called with the request.
        after: Called with the request and its answer.
    """

    async def run_hooks(request: Request, ask: NormalizedHandler) -> Answer:
        try:
            decided = None if before is None else await before(request)
            if decided is not None and not isinstance(decided, (FormRequest, UrlRequest)):
                return normalize_answer(decided)
        except Exception as error:  # noqa: BLE001 -- logged, and a cancel
            return _failed(request, error)
        request = decided or request
        answer = await ask(request)
        if after is None:
            return answer
        try:
            changed = await after(request, answer)
            return answer if changed is None else normalize_answer(changed)
        except Exception as error:  # noqa: BLE001 -- logged, and a cancel
            return _failed(request, error)

    return lambda handler: apply_policy(handler, run_hooks)


def _failed(request: Request, error: Exception) -> Answer:
    _logger.error("a hook failed for server %r", request.server.name, exc_info=error)
    return Answer.cancel(by="error", policy=NAME, reason="a hook failed")
