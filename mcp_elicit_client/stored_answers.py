"""Suspended calls: what answers in place of the host application's handlers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from mcp_elicit_client.typing import Answer, Request


class StoredAnswers(Protocol):
    """Answers in place of the host application's handlers while a call is suspended or resumed."""

    @property
    def is_resuming(self) -> bool:
        """True if the call is resumed: the user has answered already."""
        ...

    async def answer(self, request: Request, /) -> Answer:
        """Store *request* for later, or return the answer that was given to it."""
        ...


stored_answers: ContextVar[StoredAnswers | None] = ContextVar("stored_answers", default=None)
"""What answers in place of the handlers; None to ask them."""


@contextmanager
def answering_from(stored: StoredAnswers | None) -> Iterator[None]:
    """Let *stored* answer in place of the host application's handlers.  Policies run as always."""
    token = stored_answers.set(stored)
    try:
        yield
    finally:
        stored_answers.reset(token)


def is_resuming() -> bool:
    """Return True while a suspended call is resumed: the user has answered already.  For your own policies."""
    stored = stored_answers.get()
    return stored is not None and stored.is_resuming
