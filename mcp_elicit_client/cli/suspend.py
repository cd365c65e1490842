"""``mcp-elicit call --suspend``: store the call while its requests are pending, and print them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from mcp_elicit_client._concurrency import leaf_errors
from mcp_elicit_client.calls import SuspendedCall
from mcp_elicit_client.calls._connect import connect
from mcp_elicit_client.calls.methods import model_to_wire, unwrap_session
from mcp_elicit_client.calls.server_errors import reports_missing_push
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.call_documents import entry_data, request_data
from mcp_elicit_client.cli.call_settings import CallSettings, PushedRequests, make_caller, suspend_options
from mcp_elicit_client.cli.call_store import OpenStore, open_store
from mcp_elicit_client.cli.common import (
    NOT_SUSPENDABLE,
    SUSPENDED,
    CommandError,
    CommandFailedError,
    output_width,
    print_document,
    wrap,
)
from mcp_elicit_client.cli.server_address import ServerAddress
from mcp_elicit_client.cli.server_errors import explain, open_log
from mcp_elicit_client.exceptions import ElicitationError, HandshakeRequiredError, InboxError
from mcp_elicit_client.handlers.scripted import request_lines
from mcp_elicit_client.inbox import Entry
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.typing import Request


def run_suspending_call(options: argparse.Namespace, address: ServerAddress, arguments: Mapping[str, Any]) -> int:
    """
    Call a tool, and suspend the call when it requires input; return the exit status.

    Raises:
        CommandFailedError: If the server fails, or the call cannot be stored.
        UsageError: If the options do not name a store.
    """
    return anyio.run(_call, options, address, arguments)


async def _call(options: argparse.Namespace, address: ServerAddress, arguments: Mapping[str, Any]) -> int:
    catalog: MessageCatalog = options.catalog
    pushed = PushedRequests()
    async with open_store(options, create=True) as store:
        settings = CallSettings.of_call(options, address, store)
        caller = make_caller(options.name or address.name, store.user, settings, pushed, catalog)
        with open_log() as errlog:
            try:
                async with connect(address.target(errlog), caller) as connection:
                    result: Any = await caller.call_tool(
                        connection.client,
                        options.tool,
                        arguments,
                        answer_timeout=None,
                        suspend=suspend_options(store, settings),
                    )
                    is_missing = reports_missing_push(result, unwrap_session(connection.client))
            except CommandError:
                raise
            except Exception as error:  # noqa: BLE001 -- the SDK may raise anything
                if pushed.requests or any(isinstance(each, HandshakeRequiredError) for each in leaf_errors(error)):
                    return report_pushed(pushed.requests, catalog)
                if isinstance(error, InboxError):
                    raise CommandFailedError(str(error), code="store") from None
                raise CommandFailedError(explain(error, catalog, errlog), code="server") from None
        if pushed.requests or is_missing:
            return report_pushed(pushed.requests, catalog)
        return await report_result(result, store, catalog)


async def report_result(result: Any, store: OpenStore, catalog: MessageCatalog, call_id: str | None = None) -> int:
    """Print what a call returned: its result, or the requests that it waits for.  Return the exit status."""
    if not isinstance(result, SuspendedCall):
        wire = model_to_wire(result)
        print_document({"status": "completed", **({"call": call_id} if call_id else {}), "result": wire})
        return 1 if wire.get("isError") else 0
    try:
        entries = [await store.inbox.get(store.user, each) for each in result.pending_ids]
    except ElicitationError as error:
        raise CommandFailedError(str(error)) from None
    expires_at = result.expires_at.isoformat(timespec="seconds")
    return report_waiting({"call": result.id, "expires_at": expires_at}, entries, store, catalog)


def report_waiting(call: Mapping[str, Any], entries: Sequence[Entry], store: OpenStore, catalog: MessageCatalog) -> int:
    """Print the pending requests of a call; return the exit status.  *call* has its ID for the document."""
    requests = [entry_data(entry, store, catalog) for entry in entries]
    print_document({"status": "input_required", **call, "requests": requests})
    print(wrap(catalog.text(messages.CALL_WAITS, count=len(entries))), file=sys.stderr)
    return SUSPENDED


def report_pushed(requests: Sequence[Request], catalog: MessageCatalog) -> int:
    """Print the requests that cannot be suspended, which were cancelled; return the exit status."""
    print_document({"status": "not_suspendable", "requests": [request_data(each, catalog) for each in requests]})
    print(wrap(catalog.text(messages.NOT_SUSPENDABLE)), file=sys.stderr)
    for request in requests:
        for line in request_lines(request, output_width()):
            print(line, file=sys.stderr)
    return NOT_SUSPENDABLE
