"""``mcp-elicit answer``: answer a request of a suspended call, and continue the call."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio

from mcp_elicit_client.calls._connect import connect
from mcp_elicit_client.calls.suspending import SuspendedCall, read_snapshot
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.answer_decision import Decision, decide
from mcp_elicit_client.cli.call_documents import continue_command, print_document, request_data
from mcp_elicit_client.cli.call_settings import CallSettings, PushedRequests, make_caller, suspend_options
from mcp_elicit_client.cli.call_store import OpenStore, open_store
from mcp_elicit_client.cli.common import CommandError, CommandFailedError, UsageError, quote, wrap
from mcp_elicit_client.cli.server_address import ServerAddress
from mcp_elicit_client.cli.server_errors import explain
from mcp_elicit_client.cli.suspend import report_pushed, report_result, report_waiting
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION
from mcp_elicit_client.exceptions import (
    ElicitationError,
    EntryClosedError,
    EntryNotFoundError,
    InboxError,
    RequestStateRejectedError,
    ResumeError,
    TaskError,
)
from mcp_elicit_client.inbox import Entry
from mcp_elicit_client.inbox.inbox import calls_of
from mcp_elicit_client.inbox.suspended_calls import CallStatus
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import server_name
from mcp_elicit_client.presentation.messages import CLOSED_BECAUSE, OUTCOMES

_INVALID = 3

_Give = Callable[[], Awaitable[object]]


def run_answer(options: argparse.Namespace) -> int:
    """
    Answer a request, and continue its call if that was the last one; return the exit status.

    Raises:
        CommandFailedError: If there is no such pending request, or the server
            fails.
        UsageError: If the options do not fit the request.
    """
    address = ServerAddress.from_options(options)
    if options.continue_call:
        return anyio.run(_continue, options, address)
    return anyio.run(_answer, options, address)


async def _answer(options: argparse.Namespace, address: ServerAddress | None) -> int:
    catalog: MessageCatalog = options.catalog
    async with open_store(options) as store:
        with _explained(options, store):
            entry, call = await _find_request(store, options.id)
            decision = await decide(options, entry.read())
            if decision.problems:
                return _report_invalid(entry, decision, catalog)
            _review(entry, decision, catalog, is_dry=options.dry_run)
            if options.dry_run:
                server = entry.read().server.name
                print_document({"status": "dry_run", "id": entry.id, "server": server, **decision.shown})
                return 0
            give = functools.partial(
                store.inbox.answer,
                store.user,
                entry.id,
                decision.action,
                decision.content,
                confirmed=decision.is_confirmed,
            )
            return await _give(options, address, store, call, entry, give)


async def _give(  # noqa: PLR0913, PLR0917 -- what is answered, and how the server is reached
    options: argparse.Namespace,
    address: ServerAddress | None,
    store: OpenStore,
    call: CallStatus,
    entry: Entry,
    give: _Give,
) -> int:
    """Give the answer.  If it is the last one of its call, connect before, so that it is not lost without a server."""
    if not await _pending(store, call, besides=entry.id):
        return await _resume(options, address, store, call, give)
    await give()
    pending = await _pending(store, call)
    if not pending:  # another process gave the other answers meanwhile
        return await _resume(options, address, store, call)
    return report_waiting({"call": call.call.id}, pending, store, options.catalog)


async def _continue(options: argparse.Namespace, address: ServerAddress | None) -> int:
    async with open_store(options) as store:
        with _explained(options, store):
            try:
                call_id = (await store.inbox.get(store.user, options.id)).call or ""
            except EntryNotFoundError:
                call_id = options.id
            return await _resume(options, address, store, await _find_call(store, call_id))


async def _find_request(store: OpenStore, entry_id: str) -> tuple[Entry, CallStatus]:
    """Return a pending request and its call; raises `EntryClosedError`, or as `_find_call`."""
    entry = await store.inbox.get(store.user, entry_id)
    if entry.state != "pending":
        raise EntryClosedError(entry.state)
    return entry, await _find_call(store, entry.call or "")


async def _find_call(store: OpenStore, call_id: str) -> CallStatus:
    """Return the call of a request; raises `ResumeError` if it cannot be resumed."""
    found = await calls_of(store.inbox).find(store.user, call_id)
    if found is None:
        raise ResumeError("unknown")
    if not found.body or found.call.state != "suspended":
        raise ResumeError(found.call.state if found.call.state != "suspended" else "expired")
    return found


async def _pending(store: OpenStore, call: CallStatus, besides: str = "") -> list[Entry]:
    """Return the pending requests of *call*, in its latest state, except for *besides*."""
    latest = await calls_of(store.inbox).find(store.user, call.call.id) or call
    entries = [await store.inbox.get(store.user, each) for each in latest.call.request_ids if each != besides]
    return [entry for entry in entries if entry.state == "pending"]


async def _resume(
    options: argparse.Namespace,
    address: ServerAddress | None,
    store: OpenStore,
    call: CallStatus,
    give: _Give | None = None,
) -> int:
    """Connect to the server, give the last answer, and continue the call."""
    catalog: MessageCatalog = options.catalog
    snapshot = read_snapshot(call.body)
    settings = CallSettings.read(snapshot.reference, store)
    server = _server(address, settings, snapshot.server, options)
    pushed = PushedRequests()
    caller = make_caller(snapshot.server, store.user, settings, pushed)
    is_given = give is None
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errlog:
        try:
            async with connect(server.target(errlog), caller) as connection:
                _check_protocol(connection.protocol_version)
                if give is not None:
                    await give()
                    is_given = True
                result: Any = await caller.resume(
                    call.call.id, connection.client, suspend_options(store, settings), answer_timeout=None
                )
        except (CommandError, EntryNotFoundError, EntryClosedError, InboxError):
            raise
        except ResumeError as error:
            if error.code == "resuming" and is_given:
                return _report_elsewhere(call, catalog)
            raise
        except Exception as error:  # noqa: BLE001 -- the SDK may raise anything
            is_ours = isinstance(error, ElicitationError)
            text = str(error) if is_ours else explain(error, catalog, errlog)
            code = _failure(error).code if isinstance(error, ElicitationError) else "server"
            hint = await _what_now(error, server, store, call, options)
            raise CommandFailedError(f"{text} {hint}".rstrip(), code=code) from None
    if pushed.requests:
        return report_pushed(pushed.requests, catalog)
    if isinstance(result, SuspendedCall) and not result.pending_ids:
        return _report_elsewhere(call, catalog)
    return await report_result(result, store, catalog, call.call.id)


def _check_protocol(version: str) -> None:
    """Check that calls can be resumed, before the answer is given."""
    if version < FIRST_MULTI_ROUND_TRIP_VERSION:
        raise ResumeError("protocol")


def _server(
    given: ServerAddress | None, settings: CallSettings, name: str, options: argparse.Namespace
) -> ServerAddress:
    """Return the address that was given again, or the stored one."""
    if given is None:
        if settings.address is None:
            raise UsageError(messages.SERVER_AGAIN)
        return settings.address
    if (options.name or given.name) != name:
        raise UsageError(messages.OTHER_SERVER, name=name)
    return given


async def _what_now(
    error: Exception, server: ServerAddress, store: OpenStore, call: CallStatus, options: argparse.Namespace
) -> str:
    """Return what the user can do after the server failed."""
    catalog: MessageCatalog = options.catalog
    if isinstance(error, RequestStateRejectedError):
        return catalog.text(messages.STATE_WAS_LOST) if server.command else ""
    latest = await calls_of(store.inbox).find(store.user, call.call.id)
    if latest is None or latest.call.state != "suspended" or not latest.body:
        return catalog.text(messages.CALL_LOST)
    if await _pending(store, call):
        return catalog.text(messages.STILL_PENDING)
    return catalog.text(messages.CONTINUE_LATER, command=continue_command(call.call.id, store))


# --- What is printed


def _review(entry: Entry, decision: Decision, catalog: MessageCatalog, *, is_dry: bool) -> None:
    """Print what the server gets, before it is sent."""
    request = entry.read()
    message = messages.WOULD_BE_SENT if is_dry else messages.IS_SENT
    server, action = server_name(request.server), catalog.text(OUTCOMES[decision.action])
    print(wrap(catalog.text(message, server=server, action=action)), file=sys.stderr)
    for line in decision.lines:
        print(quote(line), file=sys.stderr)


def _report_invalid(entry: Entry, decision: Decision, catalog: MessageCatalog) -> int:
    request = entry.read()
    print_document(
        {
            "status": "invalid_answer",
            "id": entry.id,
            **request_data(request, catalog),
            "problems": list(decision.problems),
        }
    )
    print(wrap(catalog.text(messages.INVALID_ANSWER)), file=sys.stderr)
    for problem in decision.problems:
        print(wrap(problem, 2, 4), file=sys.stderr)
    return _INVALID


def _report_elsewhere(call: CallStatus, catalog: MessageCatalog) -> int:
    print_document({"status": "continued_elsewhere", "call": call.call.id})
    print(wrap(catalog.text(messages.CONTINUED_ELSEWHERE)), file=sys.stderr)
    return 0


@contextlib.contextmanager
def _explained(options: argparse.Namespace, store: OpenStore) -> Iterator[None]:
    """Turn the errors of the library into those of a command."""
    catalog: MessageCatalog = options.catalog
    try:
        yield
    except EntryNotFoundError:
        raise CommandFailedError(messages.UNKNOWN_REQUEST, code="unknown") from None
    except EntryClosedError as error:
        text = catalog.text(CLOSED_BECAUSE[error.state], server=catalog.text(messages.THE_SERVER))
        if error.state == "answered":
            text += f" {catalog.text(messages.IF_NOT_CONTINUED, command=continue_command(options.id, store))}"
        raise CommandFailedError(text, code=error.state) from None
    except ElicitationError as error:
        raise _failure(error) from None


def _failure(error: ElicitationError) -> CommandFailedError:
    if isinstance(error, (ResumeError, TaskError)):
        return CommandFailedError(str(error), code=f"call_{error.code}")
    codes = {RequestStateRejectedError: "state_rejected", InboxError: "store"}
    return CommandFailedError(str(error), code=codes.get(type(error), "failed"))
