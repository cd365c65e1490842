"""The JSON documents that ``call``, ``requests`` and ``answer`` print."""

from __future__ import annotations

import shlex
from typing import Any

from mcp_elicit_client.cli.call_store import OpenStore
from mcp_elicit_client.handlers.scripted import asked_for
from mcp_elicit_client.inbox import Entry
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.warnings import request_warnings
from mcp_elicit_client.typing import FormRequest, Request


def request_data(request: Request, catalog: MessageCatalog) -> dict[str, Any]:
    """Return what a server requests, with the warnings that the user must be shown."""
    data = {"server": request.server.name, "tool": request.tool, **asked_for(request)}
    if isinstance(request, FormRequest):
        data["sensitive"] = [field.name for field in request.form.fields if field.is_hidden]
    else:
        data["registrable_domain"] = request.target.registrable_domain
    return {**data, "warnings": [each.text for each in request_warnings(request, catalog)]}


def entry_data(entry: Entry, store: OpenStore, catalog: MessageCatalog) -> dict[str, Any]:
    """Return a pending request, with the command that answers it."""
    return {
        "id": entry.id,
        "call": entry.call,
        **request_data(entry.read(), catalog),
        "expires_at": entry.expires_at.isoformat(timespec="seconds"),
        "answer_with": answer_command(entry, store),
    }


def answer_command(entry: Entry, store: OpenStore) -> str:
    """Return the command that answers *entry*, for a shell."""
    request = entry.read()
    command = f"mcp-elicit answer {shlex.quote(entry.id)}{store.options}"
    if not isinstance(request, FormRequest):
        return f"{command} --done"
    if any(field.is_hidden for field in request.form.fields):
        return f"{command} --answers -"
    return f"{command} FIELD=VALUE ..." if request.form.fields else f"{command} --accept"


def continue_command(call_id: str, store: OpenStore) -> str:
    """Return the command that continues a call whose requests are all answered."""
    return f"mcp-elicit answer {call_id}{store.options} --continue"
