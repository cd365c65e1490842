"""Remembered answers in words: the offer to remember an answer, and the list of those that are remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import server_name
from mcp_elicit_client.presentation.formatting import format_number, format_time_left
from mcp_elicit_client.typing import Request, UrlRequest

if TYPE_CHECKING:
    from mcp_elicit_client.policies import RememberedAnswer

__all__ = ["RememberedText", "describe_remembered", "remember_label"]

_MAX_TEXT = 200


def remember_label(request: Request, catalog: MessageCatalog) -> str:
    """Return the label of the choice to remember the answer; empty if *request* does not offer it."""
    if isinstance(request, UrlRequest) or request.remember_seconds is None:
        return ""
    minutes = max(round(request.remember_seconds / 60), 1)
    return catalog.text(messages.REMEMBER, server=server_name(request.server), count=minutes)


def remember_line(request: Request, catalog: MessageCatalog, *, is_chosen: bool, how: str) -> str:
    """Return the choice to remember the answer as a line, with *how* to change it: a key or a word."""
    return f"[{'x' if is_chosen else ' '}] {remember_label(request, catalog)} ({how})"


class RememberedText(NamedTuple):
    """
    A remembered answer in words.

    Attributes:
        id: Its ID, for `RememberedAnswers.revoke`.
        server: The name of the server.
        message: The server's message, sanitized and cut, in one line.  User
            interfaces must mark it as text of the server.
        decision: What the user decided.
        values: The name and the value of each field that is sent.  Sanitized
            text of the server and of the user.
        expires: How long it is remembered.
    """

    id: str
    server: str
    message: str
    decision: str
    values: tuple[tuple[str, str], ...]
    expires: str


def describe_remembered(answer: RememberedAnswer, catalog: MessageCatalog) -> RememberedText:
    """
    Return *answer* in the language of *catalog*.

    Raises:
        TypeError: If *answer* is none of `RememberedAnswers.list`.
    """
    from mcp_elicit_client.policies import RememberedAnswer

    check_type("answer", answer, RememberedAnswer, hint="Pass an answer that RememberedAnswers.list returns.")
    return RememberedText(
        answer.id,
        server_name(Server(name=answer.server)),
        sanitize_text(answer.message, limit=_MAX_TEXT, multiline=False),
        catalog.text(messages.DECISIONS[answer.action]),
        tuple((_shown(name, catalog), _shown(value, catalog)) for name, value in (answer.content or {}).items()),
        catalog.text(messages.EXPIRES_IN_TIME, time=format_time_left(int(answer.seconds_left))),
    )


def _shown(value: Any, catalog: MessageCatalog) -> str:
    match value:
        case bool():
            text = catalog.text(messages.YES if value else messages.NO)
        case int() | float():
            text = format_number(value, catalog.locale)
        case list() | tuple():
            text = ", ".join(map(str, value)) or catalog.text(messages.NONE_SELECTED)
        case _:
            text = str(value) or catalog.text(messages.EMPTY)
    return sanitize_text(text, limit=_MAX_TEXT, multiline=False)
