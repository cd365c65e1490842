"""The beginning of a conversation: the server, its request, and the warnings."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.turns import LINES, HostText, Link, Part, ServerText, Style
from mcp_elicit_client.presentation.date_parsing import moment_text
from mcp_elicit_client.presentation.descriptions import request_details, title_line
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.typing import Request, UrlRequest


def introduction(
    request: Request, catalog: MessageCatalog, time_zone: str | None, style: Style = LINES
) -> Iterator[Part]:
    """Yield the heading of the host and the message of the server."""
    yield HostText(title_line(request, catalog), is_heading=True)
    yield ServerText(request.message)
    for detail in request_details(request, catalog):
        yield ServerText(detail.text, detail.label)
    yield HostText(catalog.text(messages.QUOTES_LEGEND if style.has_buttons else messages.LEGEND))
    if isinstance(request, UrlRequest):
        yield HostText(catalog.text(messages.FULL_URL))
        yield Link(request.target)
    if request.deadline is not None:
        time = moment_text(request.deadline, time_zone)
        yield HostText(catalog.text(messages.EXPIRES_AT, time=time))
    for warning in request_warnings(request, catalog):
        yield HostText(warning_line(warning, catalog))
