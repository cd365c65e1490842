"""URLs that a server wants visited first: the error ``-32042`` (protocol revision 2025-11-25)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from mcp_elicit_client.calls.active_call import ActiveCall, Ask
from mcp_elicit_client.calls.methods import Send
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.core.request import BatchPosition
from mcp_elicit_client.exceptions import CallError, RequestError
from mcp_elicit_client.typing import Answer

CODE = -32042
MAX_URLS = 10
"""How many URLs one error may name."""


class UrlRequiredRetry:
    """
    Sends a call, and again once the user has visited what the server wants visited first.

    Args:
        call: The call.
        ask: Answers one question.
        most: How often the call is tried again.
    """

    def __init__(self, call: ActiveCall, ask: Ask, most: int) -> None:
        self._call = call
        self._ask = ask
        self._most = most

    async def send(self, send: Send, responses: Mapping[str, Any] | None, state: str | None) -> Any:
        """
        Send the call until the server takes it, and return what it returns.

        Raises:
            VisitRequiredError: If not all URLs were visited.
            CallTimeoutError: If the user's time was over before they were.
            CallError: If nobody could follow the server, or it wants URLs
                visited too often.
        """
        for attempt in range(self._most + 1):
            try:
                return await send(responses, state)
            except Exception as error:  # noqa: PERF203 -- it is what is tried again
                visits = _reported(error)
                if visits is None:
                    raise
                if attempt == self._most:
                    raise CallError(f"the server wants URLs visited, also after {self._most} retries") from error
                await self._visit(visits, error)
        raise AssertionError

    async def _visit(self, visits: list[Mapping[str, Any]], error: Exception) -> None:
        answers: list[Answer] = []
        for number, params in enumerate(visits, 1):
            turn = BatchPosition(number=number, total=len(visits))
            try:
                answer = await self._ask(params, batch_position=turn, respond_after="completion")
            except RequestError as unsafe:
                raise UrlElicitationIncompleteError(
                    f"the server wants a URL visited that is not: {unsafe}", tuple(answers)
                ) from error
            answers.append(answer)
            if answer.by == "timeout" and self._call.clocks.user_deadline <= anyio.current_time():
                raise self._call.clocks.expired("answer_timeout") from error
            if answer.action != "accept":
                raise UrlElicitationIncompleteError(
                    f"the server wants a URL visited first, which was not done: {_why(answer)}", tuple(answers)
                ) from error


def _why(answer: Answer) -> str:
    if answer.by == "user":
        return "the user declined" if answer.action == "decline" else "the user left the question"
    return answer.reason or "nobody agreed"


def _reported(error: Exception) -> list[Mapping[str, Any]] | None:
    try:
        return parse_url_elicitations(error)
    except CallError as malformed:
        raise malformed from error


def parse_url_elicitations(error: BaseException) -> list[Mapping[str, Any]] | None:
    """
    Read the URLs that *error*, raised by the SDK, wants visited.

    Returns:
        The params of one question for each URL, as on the wire; None if it is
        another error.

    Raises:
        CallError: If the server says that URLs are to be visited, but not in
            a way that a person could follow.
    """
    refusal = getattr(error, "error", None)  # McpError and MCPError
    if getattr(refusal, "code", None) != CODE:
        return None
    data = getattr(refusal, "data", None)
    listed = data.get("elicitations") if isinstance(data, Mapping) else None
    if not isinstance(listed, list) or not listed:
        raise CallError("the server wants URLs visited, but does not list them")
    if len(listed) > MAX_URLS:
        raise CallError(f"the server wants {len(listed)} URLs visited; at most {MAX_URLS} can be asked about")
    if not all(isinstance(each, Mapping) and each.get("mode") == "url" for each in listed):
        raise CallError("the server wants URLs visited, but lists something else")
    once: dict[str, Mapping[str, Any]] = {}
    for each in listed:
        once.setdefault(str(each.get("url")), each)
    return list(once.values())
