"""One call under way: its clocks, and what has been asked during it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import anyio

from mcp_elicit_client.calls.clocks import Clocks
from mcp_elicit_client.core.requests import question_of
from mcp_elicit_client.hosts.boundary import as_answer
from mcp_elicit_client.typing import Answer, Handler, Request, UrlRequest


class Ask(Protocol):
    """Answers the params of one question."""

    def __call__(self, params: Any, **details: Any) -> Awaitable[Answer]:
        """Answer *params*; *details* are those of `parse_request`."""
        ...


class Call:
    """
    What is remembered from question to question, as long as the call lasts.

    Args:
        session: The SDK's session.
        tool: The tool that is called, if it is one.
        clocks: The server's time and the user's.
        max_questions: How many questions may be asked; the rest is cancelled.
    """

    def __init__(self, session: Any, tool: str | None, clocks: Clocks, max_questions: int) -> None:
        self.session = session
        self.tool = tool
        self.clocks = clocks
        self.insisted: int = 0
        self._max_questions = max_questions
        self._asked = 0
        self._visits: Counter[str] = Counter()
        self._declined: set[str] = set()
        self._open: set[anyio.CancelScope] = set()

    def visits(self, url: str) -> int:
        """Count how often the user agreed to *url*."""
        return self._visits[url]

    async def ask(self, handler: Handler, request: Request) -> Answer:
        """
        Ask *handler*, unless the question was declined already, or too much was asked.

        A server that is told no, and asks the same again, hears no again: the
        user is not worn down.
        """
        question = question_of(request)
        if question in self._declined:
            self.insisted += 1
            return Answer.decline(by="policy", reason="it was declined already during this call")
        self._asked += 1
        if self._asked > self._max_questions:
            return Answer.cancel(by="policy", reason=f"more than {self._max_questions} questions in one call")
        if isinstance(request, UrlRequest):
            request = request.model_copy(update={"visits": self.visits(request.target.url)})
        answer = as_answer(await handler(request))
        if answer.action == "decline":
            self._declined.add(question)
        if answer.action == "accept" and isinstance(request, UrlRequest):
            self._visits[request.target.url] += 1
        return answer

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
