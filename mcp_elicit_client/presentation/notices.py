"""Notices in words: the same for every user interface."""

from __future__ import annotations

from typing import NamedTuple

from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import Detail, request_details, server_name
from mcp_elicit_client.presentation.quoting import quote, sentence

_MAX_MESSAGE = 200


class NoticeText(NamedTuple):
    """
    A notice in words.

    Attributes:
        title: Who asked, and that it was declined.
        reason: Why.
        message: The server's message, sanitized and cut, in one line.  User
            interfaces must mark it as text of the server.
        details: As of `request_details`.
    """

    title: str
    reason: str
    message: str
    details: tuple[Detail, ...]


def describe_notice(notice: Notice, catalog: MessageCatalog) -> NoticeText:
    """Return *notice* in the language of *catalog*."""
    request = notice.request
    return NoticeText(
        catalog.text(messages.REQUEST_DECLINED, server=server_name(request.server)),
        catalog.text(messages.DECLINED_BECAUSE.get(notice.policy, messages.DECLINED_BY_RULE)),
        sanitize_text(request.message, limit=_MAX_MESSAGE, multiline=False),
        request_details(request, catalog),
    )


def notice_lines(notice: Notice, catalog: MessageCatalog, width: int) -> str:
    """Return *notice* for a terminal with *width* columns: the host's sentences, then the server's text, marked."""
    text = describe_notice(notice, catalog)
    lines = [sentence(f"{text.title} {text.reason}", width)]
    for detail in text.details:
        lines += [catalog.text(messages.LABEL, label=detail.label), quote(detail.text, width)]
    return "\n".join([*lines, *([quote(text.message, width)] if text.message else [])])
