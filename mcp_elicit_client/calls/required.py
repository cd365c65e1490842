"""URLs that a server wants visited first: the error ``-32042`` (protocol revision 2025-11-25)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.exceptions import CallError

CODE = -32042
MAX_URLS = 10
"""How many URLs one error may name."""


def required_visits(error: BaseException) -> list[Mapping[str, Any]] | None:
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
