"""`remember_label`: the offer to answer the same request the same way for some time."""

from __future__ import annotations

from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import server_name
from mcp_elicit_client.typing import Request, UrlRequest


def remember_label(request: Request, catalog: MessageCatalog) -> str:
    """Return the label of the choice to remember the answer; empty if *request* does not offer it."""
    if isinstance(request, UrlRequest) or request.remember_seconds is None:
        return ""
    minutes = max(round(request.remember_seconds / 60), 1)
    return catalog.text(messages.REMEMBER, server=server_name(request.server), count=minutes)
