"""One call under way: its clocks, and what has been asked during it."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

import anyio
from pydantic import BaseModel

from mcp_elicit_client.calls.timeouts import CallTimeouts
from mcp_elicit_client.core.request import request_key
from mcp_elicit_client.dispatch import NormalizedHandler, StoredAnswers
from mcp_elicit_client.typing import Answer, Request, UrlRequest

StoredAnswersFor: TypeAlias = Callable[[Request], StoredAnswers]
"""Returns what answers a request in place of the host application's handlers."""


class Ask(Protocol):
    """Answers the params of one question."""

    def __call__(self, params: Any, *, stored: StoredAnswersFor | None = None, **details: Any) -> Awaitable[Answer]:
        """Answer *params*; *details* are those of `parse_request`."""
        ...


class CallHistory(BaseModel):
    """
    What is remembered from question to question, and while a call is parked.

    Attributes:
        rounds: How often the call came back with questions.
        asked: How many questions it asked.
        insisted: How many of them had been declined before.
        visits: How often the user agreed to each URL.
        declined: What was declined, as digests.
    """

    rounds: int = 0
    asked: int = 0
    insisted: int = 0
    visits: dict[str, int] = {}
    declined: set[str] = set()


class ActiveCall:
    """
    One call, as long as it lasts in this process.

    Args:
        session: The SDK's session.
        tool: The tool that is called, if it is one.
        clocks: The server's time and the user's.
        max_questions: How many questions may be asked; the rest is cancelled.
        memory: What is remembered of it from before it was parked; None for a
            new call.
    """

    def __init__(
        self,
        session: Any,
        tool: str | None,
        clocks: CallTimeouts,
        max_questions: int,
        history: CallHistory | None = None,
    ) -> None:
        self.session = session
        self.tool = tool
        self.clocks = clocks
        self.history: CallHistory = history or CallHistory()
        self._max_questions = max_questions
        self._open: set[anyio.CancelScope] = set()

    def visits(self, url: str) -> int:
        """Count how often the user agreed to *url*."""
        return self.history.visits.get(url, 0)

    async def ask(self, handler: NormalizedHandler, request: Request, *, is_resuming: bool = False) -> Answer:
        """
        Ask *handler*, unless the question was declined already, or too much was asked.

        A server that is told no, and asks the same again, hears no again: the
        user is not worn down.
        """
        question = _digest(request)
        if not is_resuming:
            refusal = self._refusal(question)
            if refusal is not None:
                return refusal
        if isinstance(request, UrlRequest):
            request = request.model_copy(update={"previous_visits": self.visits(request.target.url)})
        answer = await handler(request)
        if answer.action == "decline":
            self.history.declined.add(question)
        if answer.action == "accept" and isinstance(request, UrlRequest):
            self.history.visits[request.target.url] = self.visits(request.target.url) + 1
        return answer

    def _refusal(self, question: str) -> Answer | None:
        memory = self.history
        if question in memory.declined:
            memory.insisted += 1
            return Answer.decline(by="policy", reason="it was declined already during this call")
        memory.asked += 1
        if memory.asked > self._max_questions:
            return Answer.cancel(by="policy", reason=f"more than {self._max_questions} questions in one call")
        return None

    @contextmanager
    def closing(self, scope: anyio.CancelScope) -> Iterator[None]:
        """Cancel *scope*, in which the server's question is open, when the call ends."""
        self._open.add(scope)
        try:
            yield
        finally:
            self._open.discard(scope)

    def close(self) -> None:
        """End the call: its open questions are withdrawn."""
        for scope in self._open:
            scope.cancel()


def _digest(request: Request) -> str:
    return hashlib.sha256(request_key(request).encode("utf-8", "surrogatepass")).hexdigest()
