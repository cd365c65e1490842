"""The host's own say, before a question and after an answer."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from mcp_elicit_client.core.request import FormRequest, UrlRequest
from mcp_elicit_client.dispatch import normalize_answer
from mcp_elicit_client.typing import Answer, Handler, Policy, Request

_logger = logging.getLogger("mcp_elicit_client")

NAME = "hooks"

Before: TypeAlias = Callable[[Request], Awaitable[Answer | Request | None]]
"""Looks at a request: an answer ends it there, a request takes its place, None lets it pass."""

After: TypeAlias = Callable[[Request, Answer], Awaitable[Answer | None]]
"""Looks at an answer: another one takes its place, None lets it pass."""


def hooks(*, before: Before | None = None, after: After | None = None) -> Policy:
    """
    Let the host look before a question and after its answer.

    What a hook raises, or returns that is neither, is a cancel.

    Args:
        before: May answer, change the request, or let it pass.
        after: May change the answer, veto it with another, or let it pass.
    """

    def policy(handler: Handler) -> Handler:
        async def hooked(request: Request, /) -> Answer:
            if before is not None:
                try:
                    request = _request_or_answer(request, await before(request))
                except _AnsweredError as answered:
                    return answered.answer
                except Exception as error:  # noqa: BLE001 -- logged, and a cancel
                    return _failed(request, error)
            answer = normalize_answer(await handler(request))
            if after is None:
                return answer
            try:
                changed = await after(request, answer)
                return answer if changed is None else normalize_answer(changed)
            except Exception as error:  # noqa: BLE001 -- logged, and a cancel
                return _failed(request, error)

        return hooked

    return policy


class _AnsweredError(Exception):
    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


def _request_or_answer(request: Request, decided: object) -> Request:
    if decided is None:
        return request
    if isinstance(decided, (FormRequest, UrlRequest)):
        return decided
    raise _AnsweredError(normalize_answer(decided))


def _failed(request: Request, error: Exception) -> Answer:
    _logger.error("a hook failed for server %r", request.server.name, exc_info=error)
    return Answer.cancel(by="error", policy=NAME, reason="a hook failed")
