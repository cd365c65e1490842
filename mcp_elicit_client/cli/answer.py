"""``mcp-elicit answer``: answer a request of a suspended call, and continue the call."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import anyio

from mcp_elicit_client.calls._connect import connect
from mcp_elicit_client.calls.suspending import SuspendedCall, read_snapshot
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.answer_decision import Decision, decide
from mcp_elicit_client.cli.call_documents import continue_command, request_data
from mcp_elicit_client.cli.call_settings import CallSettings, PushedRequests, make_caller, suspend_options
from mcp_elicit_client.cli.call_store import OpenStore, open_store
from mcp_elicit_client.cli.common import CommandError, CommandFailedError, UsageError, print_document, quote, wrap
from mcp_elicit_client.cli.server_address import ServerAddress
from mcp_elicit_client.cli.server_errors import explain, open_log
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
from mcp_elicit_client.inbox.suspended_calls import CallStatus, calls_of
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import server_name
from mcp_elicit_client.presentation.messages import CLOSED_BECAUSE, OUTCOMES

_INVALID = 3


def run_answer(options: argparse.Namespace) -> int:
    """
    Answer a request, and continue its call if that was the last one; return the exit status.

    Raises:
        CommandFailedError: If there is no such pending request, or the server
            fails.
        UsageError: If the options do not fit the request.
    """
    return anyio.run(_run, options, ServerAddress.from_options(options))


async def _run(options: argparse.Namespace, address: ServerAddress | None) -> int:
    async with open_store(options) as store:
        command = _AnswerCommand(options, address, store, options.catalog)
        with _explained(options, store):
            return await (command.continue_call() if options.continue_call else command.answer())


@dataclass(frozen=True, slots=True)
class _AnswerCommand:
    options: argparse.Namespace
    address: ServerAddress | None
    store: OpenStore
    catalog: MessageCatalog

    async def answer(self) -> int:
        """Give the answer.  If it is the last one of its call, connect before: it is not lost without a server."""
        store = self.store
        entry = await store.inbox.get(store.user, self.options.id)
        if entry.state != "pending":
            raise EntryClosedError(entry.state)
        call = await self._find_call(entry.call or "")
        decision = await decide(self.options, entry.read())
        if decision.problems:
            return _report_invalid(entry, decision, self.catalog)
        _review(entry, decision, self.catalog, is_dry=self.options.dry_run)
        if self.options.dry_run:
            server = entry.read().server.name
            print_document({"status": "dry_run", "id": entry.id, "server": server, **decision.shown})
            return 0

        async def give() -> None:
            await store.inbox.answer(
                store.user, entry.id, decision.action, decision.content, confirmed=decision.is_confirmed
            )

        if not await self._pending(call, besides=entry.id):
            return await self._resume(call, give)
        await give()
        pending = await self._pending(call)
        if not pending:  # another process gave the other answers meanwhile
            return await self._resume(call)
        return report_waiting({"call": call.call.id}, pending, store, self.catalog)

    async def continue_call(self) -> int:
        """Continue a call, whose ID or that of one of its requests is in the options."""
        try:
            call_id = (await self.store.inbox.get(self.store.user, self.options.id)).call or ""
        except EntryNotFoundError:
            call_id = self.options.id
        return await self._resume(await self._find_call(call_id))

    async def _find_call(self, call_id: str) -> CallStatus:
        """Return the call of a request; raises `ResumeError` if it cannot be resumed."""
        found = await calls_of(self.store.inbox).find(self.store.user, call_id)
        if found is None:
            raise ResumeError("unknown")
        if not found.body or found.call.state != "suspended":
            raise ResumeError(found.call.state if found.call.state != "suspended" else "expired")
        return found

    async def _pending(self, call: CallStatus, besides: str = "") -> list[Entry]:
        """Return the pending requests of *call*, in its latest state, except for *besides*."""
        inbox, user = self.store.inbox, self.store.user
        latest = await calls_of(inbox).find(user, call.call.id) or call
        entries = [await inbox.get(user, each) for each in latest.call.request_ids if each != besides]
        return [entry for entry in entries if entry.state == "pending"]

    async def _resume(self, call: CallStatus, give: Callable[[], Awaitable[None]] | None = None) -> int:
        """Connect to the server, give the last answer, and continue the call."""
        snapshot = read_snapshot(call.body)
        settings = CallSettings.read(snapshot.reference, self.store)
        server = self._server(settings, snapshot.server)
        pushed = PushedRequests()
        caller = make_caller(snapshot.server, self.store.user, settings, pushed, self.catalog)
        is_given = give is None
        with open_log() as errlog:
            try:
                async with connect(server.target(errlog), caller) as connection:
                    if connection.protocol_version < FIRST_MULTI_ROUND_TRIP_VERSION:
                        raise ResumeError("protocol")  # noqa: TRY301 -- before the answer is given
                    if give is not None:
                        await give()
                        is_given = True
                    result: Any = await caller.resume(
                        call.call.id, connection.client, suspend_options(self.store, settings), answer_timeout=None
                    )
            except (CommandError, EntryNotFoundError, EntryClosedError, InboxError):
                raise
            except ResumeError as error:
                if error.code == "resuming" and is_given:
                    return _report_elsewhere(call, self.catalog)
                raise
            except Exception as error:  # noqa: BLE001 -- the SDK may raise anything
                if isinstance(error, ElicitationError):
                    text, code = str(error), _failure(error).code
                else:
                    text, code = explain(error, self.catalog, errlog), "server"
                hint = await self._what_now(error, server, call)
                raise CommandFailedError(f"{text} {hint}".rstrip(), code=code) from None
        if pushed.requests:
            return report_pushed(pushed.requests, self.catalog)
        if isinstance(result, SuspendedCall) and not result.pending_ids:
            return _report_elsewhere(call, self.catalog)
        return await report_result(result, self.store, self.catalog, call.call.id)

    def _server(self, settings: CallSettings, name: str) -> ServerAddress:
        """Return the address that was given again, or the stored one."""
        if self.address is None:
            if settings.address is None:
                raise UsageError(messages.SERVER_AGAIN)
            return settings.address
        if (self.options.name or self.address.name) != name:
            raise UsageError(messages.OTHER_SERVER, name=name)
        return self.address

    async def _what_now(self, error: Exception, server: ServerAddress, call: CallStatus) -> str:
        """Return what the user can do after the server failed."""
        text = self.catalog.text
        if isinstance(error, RequestStateRejectedError):
            return text(messages.STATE_WAS_LOST) if server.command else ""
        latest = await calls_of(self.store.inbox).find(self.store.user, call.call.id)
        if latest is None or latest.call.state != "suspended" or not latest.body:
            return text(messages.CALL_LOST)
        if await self._pending(call):
            return text(messages.STILL_PENDING)
        return text(messages.CONTINUE_LATER, command=continue_command(call.call.id, self.store))


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
