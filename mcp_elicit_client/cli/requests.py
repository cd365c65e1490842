"""``mcp-elicit requests``: list the requests of suspended calls."""

from __future__ import annotations

import argparse

import anyio

from mcp_elicit_client.calls.suspending import TaskSnapshot, read_snapshot
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.call_documents import answer_command, continue_command, entry_data
from mcp_elicit_client.cli.call_store import OpenStore, open_store
from mcp_elicit_client.cli.common import CommandFailedError, output_width, print_document, quote, wrap
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.exceptions import ElicitationError
from mcp_elicit_client.handlers.scripted import request_lines
from mcp_elicit_client.inbox import Entry
from mcp_elicit_client.inbox.inbox import list_all
from mcp_elicit_client.inbox.suspended_calls import CallStatus, calls_of
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import server_name
from mcp_elicit_client.presentation.messages import NO_PENDING_REQUESTS
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line


def run_requests(options: argparse.Namespace) -> int:
    """
    List the pending requests of suspended calls, and the calls that can be continued; return the exit status.

    Raises:
        CommandFailedError: If the store cannot be used.
        UsageError: If the options do not name a store.
    """
    return anyio.run(_list, options)


async def _list(options: argparse.Namespace) -> int:
    catalog: MessageCatalog = options.catalog
    async with open_store(options) as store:
        try:
            entries = [each for each in await list_all(store.inbox, store.user) if each.call is not None]
            ready = await _ready(store)
        except ElicitationError as error:
            raise CommandFailedError(str(error)) from None
        if options.json:
            found = {
                "requests": [entry_data(entry, store, catalog) for entry in entries],
                "answered_calls": [{"call": each, "continue_with": continue_command(each, store)} for each in ready],
            }
            print_document(found)
            return 0
        if not entries and not ready:
            print(catalog.text(NO_PENDING_REQUESTS))
        for entry in entries:
            _print(entry, store, catalog)
        for call_id in ready:
            print(wrap(catalog.text(messages.CAN_BE_CONTINUED), hanging=2))
            print(f"  {continue_command(call_id, store)}")
    return 0


async def _ready(store: OpenStore) -> list[str]:
    """Return the calls whose requests are all answered, and which were not continued, for example without a server."""
    page = await store.inbox.history(store.user, limit=200)
    calls = dict.fromkeys(entry.call for entry in page.entries if entry.call is not None)
    found = [await calls_of(store.inbox).find(store.user, each) for each in calls]
    return [each.call.id for each in found if each is not None and await _is_ready(store, each)]


async def _is_ready(store: OpenStore, call: CallStatus) -> bool:
    if not call.body or call.call.state != "suspended" or None in call.answers:
        return False
    return not isinstance(read_snapshot(call.body), TaskSnapshot) or await _has_answers(store, call)


async def _has_answers(store: OpenStore, task: CallStatus) -> bool:
    """Return True if a task has answers that were not erased: it has not ended yet."""
    stored = [await calls_of(store.inbox).store.get(store.user, each) for each in task.call.request_ids]
    return any(each and each.resolution and each.resolution.answer for each in stored)


def _print(entry: Entry, store: OpenStore, catalog: MessageCatalog) -> None:
    """Print a request: what the host says, then the marked text of the server, then the command."""
    request = entry.read()
    name = server_name(request.server)
    time = entry.expires_at.astimezone().strftime("%Y-%m-%d %H:%M")
    print(wrap(catalog.text(messages.REQUEST_OF, id=entry.id, server=name, time=time), hanging=2))
    for warning in request_warnings(request, catalog):
        print(wrap(warning_line(warning, catalog), 2, 4))
    if request.tool:
        print(quote(sanitize_text(request.tool, multiline=False)))
    for line in request_lines(request, output_width()):
        print(line)
    print(f"  {answer_command(entry, store)}\n")
