"""`Thread`: the suspended calls and open requests of one AG-UI thread, in an inbox."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.calls.suspending import read_snapshot
from mcp_elicit_client.core.request import check_user
from mcp_elicit_client.exceptions import CallError, EntryClosedError, EntryNotFoundError
from mcp_elicit_client.handlers.ag_ui_interrupts import (
    Resumed,
    ResumeEntryError,
    check_ids,
    read_resume,
    unknown_interrupt,
)
from mcp_elicit_client.inbox.inbox import list_all
from mcp_elicit_client.inbox.records import Entry
from mcp_elicit_client.inbox.suspended_calls import calls_of
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.descriptions import error_text
from mcp_elicit_client.typing import FormRequest

if TYPE_CHECKING:
    from ag_ui.core import ResumeEntry


class Thread:
    """
    The calls of one thread of a user.

    Args:
        suspend: Where calls are suspended.
        user: The signed-in user.
        thread_id: The ID of the thread, which the front end chose.
        catalog: The texts that the user sees.
    """

    def __init__(self, suspend: SuspendOptions, user: str, thread_id: str, catalog: MessageCatalog = ENGLISH) -> None:
        check_user(user)
        self.user: str = user
        self.catalog: MessageCatalog = catalog
        key = hashlib.sha256(json.dumps([user, thread_id]).encode()).hexdigest()
        self._owner = f"ag-ui {key}"
        self._suspend = replace(suspend, owner=self._owner)
        self._inbox = suspend.inbox

    def options(self, *, reference: str | None) -> SuspendOptions:
        """Return the options for a call whose model's tool call has the ID *reference*."""
        return replace(self._suspend, reference=reference)

    async def open_entries(self) -> list[Entry]:
        """Return all open requests that can be shown, oldest first; withdraw the others."""
        return await self._withdraw_hidden(await list_all(self._inbox, self._owner))

    async def call(self, call_id: str) -> tuple[str | None, str | None]:
        """Return the server and the reference of a call; no server if it was resumed before."""
        found = await calls_of(self._inbox).find(self._owner, call_id)
        if found is None or not found.body:
            return None, None
        snapshot = read_snapshot(found.body)
        return snapshot.server, snapshot.reference

    async def references(self, entries: Iterable[Entry]) -> Mapping[str | None, str | None]:
        """Return the references of the calls to which *entries* belong."""
        calls = dict.fromkeys(entry.call for entry in entries if entry.call is not None)
        return {call: (await self.call(call))[1] for call in calls}

    async def settle(self, caller: Caller, client: Any, result: Any, options: SuspendOptions) -> Any:
        """
        Return the result of the call, or the suspended call that has requests that can be shown.

        Raises:
            CallError: If the server only waits for the user, and the time for
                that has passed.
            Exception: As for `Caller.resume`.
        """
        while isinstance(result, SuspendedCall):
            if not result.request_ids:  # no answer would resume the call
                raise CallError("The user did not finish in time. Call the tool again if the user wants to go on.")
            entries = [await self._inbox.get(self._owner, each) for each in result.pending_ids]
            if await self._withdraw_hidden(entries) or not entries:
                break
            result = await caller.resume(result.id, client, options, user=self.user)
        return result

    async def _withdraw_hidden(self, entries: Iterable[Entry]) -> list[Entry]:
        """
        Withdraw requests for sensitive data: they would pass through the state and the logs of the front end.

        Returns:
            The other requests.
        """
        shown = []
        for entry in entries:
            if _is_hidden(entry):
                with suppress(EntryClosedError):  # it has expired, or another run withdraws it
                    await self._inbox.withdraw(self._owner, entry.id, withdrawn_by="client")
            else:
                shown.append(entry)
        return shown

    async def answer_all(self, resume: Sequence[ResumeEntry]) -> list[str]:
        """
        Answer all open requests, or none.

        A resume that was sent before is read again, so that a run whose
        connection was lost can be repeated.

        Returns:
            The IDs of the calls to which the requests belong.

        Raises:
            ResumeEntryError: If the resume is refused.
        """
        found = {each.interrupt_id: await self._find(each.interrupt_id) for each in resume}
        waiting = {entry.id for entry in await self.open_entries()}
        closed = {entry_id for entry_id, entry in found.items() if entry.state == "answered"}
        pending = [each.interrupt_id for each in resume if each.interrupt_id not in closed]
        if pending or not closed:
            check_ids(pending, waiting)
        read = {each.interrupt_id: _read(found[each.interrupt_id], each) for each in resume}
        for entry_id in closed:
            if found[entry_id].action != read[entry_id].action:
                raise ResumeEntryError("The interrupt was answered before, in another way.", "ALREADY_RESUMED")
        for entry_id in pending:
            await self._check(found[entry_id], read[entry_id])
        for entry_id in pending:
            await self._answer(entry_id, read[entry_id])
        return list(dict.fromkeys(entry.call for entry in found.values() if entry.call is not None))

    async def _find(self, entry_id: str) -> Entry:
        try:
            entry = await self._inbox.get(self._owner, entry_id)
        except EntryNotFoundError:
            raise unknown_interrupt() from None
        if entry.state == "expired":
            raise _expired()
        if entry.state not in ("pending", "answered"):
            raise unknown_interrupt()
        return entry

    async def _check(self, entry: Entry, read: Resumed) -> None:
        request = entry.read()
        if read.action == "accept" and isinstance(request, FormRequest):
            validation = await self._inbox.validate(self._owner, entry.id, read.content)
            if not validation:
                raise ResumeEntryError(error_text(request.form, validation.errors, self.catalog))

    async def _answer(self, entry_id: str, read: Resumed) -> None:
        try:
            await self._inbox.answer(
                self._owner, entry_id, read.action, read.content, answered_by=self.user, **read.options
            )
        except EntryClosedError as error:
            if error.state == "expired":
                raise _expired() from None
            raise ResumeEntryError("The interrupt was answered at the same time.", "ALREADY_RESUMED") from None


def _read(entry: Entry, given: ResumeEntry) -> Resumed:
    return read_resume(entry.read(), given.status, given.payload, given.metadata)


def _is_hidden(entry: Entry) -> bool:
    request = entry.read()
    return isinstance(request, FormRequest) and any(field.is_hidden for field in request.form.fields)


def _expired() -> ResumeEntryError:
    return ResumeEntryError("The interrupt has expired. Start a new run.", "INTERRUPT_EXPIRED")
