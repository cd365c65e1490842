"""Questions that wait until somebody answers them, in whichever process."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Any

import anyio

from mcp_elicit_client.core.answer import Action, Answer
from mcp_elicit_client.core.validation.content import (
    ValidationResult,
    drop_nulls,
    to_json_value,
)
from mcp_elicit_client.dispatch import validate_async
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError
from mcp_elicit_client.inbox.encryption import make_cipher
from mcp_elicit_client.inbox.entries import Entry, EntryPage
from mcp_elicit_client.inbox.records import RecordCodec, is_id, parse_cursor
from mcp_elicit_client.inbox.stores.protocol import Record, Resolution, Store
from mcp_elicit_client.inbox.suspended_calls import SuspendedCalls
from mcp_elicit_client.inbox.waiters import AnswerWaiter
from mcp_elicit_client.typing import FormRequest, Request

_logger = logging.getLogger("mcp_elicit_client")

ANSWER_TIMEOUT = 240.0
"""How long a question without a deadline can be answered, in seconds."""

PAGE_SIZE = 50
"""How many questions are listed at a time."""

_LOOK = 1.0
_GOODBYE = 5.0


class Inbox:
    """
    Questions in a store, each with an owner; whoever has the inbox may answer.

    Knowing the id of a question is not enough to read or answer it: every
    method wants its owner too, and a wrong one finds what a wrong id finds.
    So the host must know the owner from elsewhere, such as a session.

    Args:
        store: Where the questions are kept.
        key: What seals requests and answers in the store, at least 32 bytes;
            None to leave them readable.  Owners, states and times are not sealed.
        lifetime: How long a question can be answered, in seconds; one with a
            deadline of its own (`Request.deadline`) until then.

    Raises:
        MissingExtraError: If there is a key and ``cryptography`` is not installed.
        ValueError: If the key is too short.
    """

    def __init__(self, store: Store, key: bytes | None = None, *, answer_timeout: float = ANSWER_TIMEOUT) -> None:
        self._store = store
        self._scribe = RecordCodec(make_cipher(key))
        self._lifetime = answer_timeout

    @property
    def calls(self) -> SuspendedCalls:
        """The parked calls whose questions wait here: see `calls.Parking`."""
        return SuspendedCalls(self._store, self._scribe)

    async def aclose(self) -> None:
        """Let go of the store's files and connections."""
        await self._store.aclose()

    async def ask(self, owner: str, request: Request, *, placed: Callable[[str], object] | None = None) -> Answer:
        """
        Put a question, and wait for its answer.

        If this is cancelled, the question is withdrawn.

        Args:
            owner: Whose it is.
            request: What is asked.
            placed: Is called with its id once it can be answered.

        Returns:
            The answer; a cancel if there is none in time.

        Raises:
            InboxError: If the store cannot be used.
            ValueError: If the request cannot be written as JSON.
        """
        record = self._scribe.record(owner, request, self._store.clock(), self._lifetime)
        mailbox = self._store.open(record.id)
        is_over = False
        try:
            await self._store.put(record)
            if placed is not None:
                placed(record.id)
            settlement = await mailbox.wait(record.expires_at - self._store.clock()) or await self._expire(
                record, mailbox
            )
            answer = self._scribe.answer_of(record, settlement)
            is_over = True
        finally:
            self._store.close(record.id)
            await self._leave(record, is_over=is_over)
        return answer

    async def list(self, owner: str, limit: int = PAGE_SIZE, cursor: str | None = None) -> EntryPage:
        """
        List the questions of *owner* that wait, those that wait longest first.

        Args:
            owner: Whose.
            limit: How many at most.
            cursor: The `Page.after` of the page before; None for the first.

        Raises:
            InboxError: If the store cannot be used.
            ValueError: If *after* is nothing that a page had.
        """
        records = await self._store.pending(owner, limit + 1, parse_cursor(cursor) or 0)
        return self._scribe.page(records, limit, [record.sequence for record in records])

    async def history(self, owner: str, limit: int = PAGE_SIZE, cursor: str | None = None) -> EntryPage:
        """List the questions of *owner* that no longer wait, last first; as `list`, and without any values."""
        records = await self._store.history(owner, limit + 1, parse_cursor(cursor))
        return self._scribe.page(records, limit, [record.revision for record in records])

    async def get(self, owner: str, entry_id: str) -> Entry:
        """
        Return one question of *owner*.

        Raises:
            EntryNotFoundError: If there is none, or it is another owner's.
            InboxError: If the store cannot be used.
        """
        return self._scribe.entry(await self._find(owner, entry_id))

    async def validate(self, owner: str, entry_id: str, content: Mapping[str, Any] | None) -> ValidationResult:
        """Tell what would be wrong with an answer, and leave the question waiting; raises as `get`."""
        return await _check(self._scribe.read(await self._find(owner, entry_id)), content)

    async def answer(  # noqa: PLR0913 -- what an answer can say, by keyword
        self,
        owner: str,
        entry_id: str,
        action: Action,
        content: Mapping[str, Any] | None = None,
        *,
        answered_by: str | None = None,
        block_server: bool = False,
        confirmed: bool = False,
    ) -> ValidationResult:
        """
        Answer a question of *owner*, exactly once, whoever else tries to.

        Args:
            owner: Whose question it is.
            entry_id: Which.
            action: Accept, decline or cancel.
            content: The values by field name; only with the accept of a form.
            answered_by: Who answers, for the history; the owner if None.
            block_server: As in `Answer`; only where `Request.can_silence`.
            confirmed: As in `Answer`.

        Returns:
            What is wrong with the content.  If anything is, the question
            waits on; else it is answered.

        Raises:
            EntryNotFoundError: If there is none, or it is another owner's.
            EntryClosedError: If it no longer waits.
            InboxError: If the store cannot be used.
            ValueError: If *action* is none of the three.
        """
        if action not in ("accept", "decline", "cancel"):
            raise ValueError(f"an action is accept, decline or cancel, not {action!r}")
        record = await self._find(owner, entry_id)
        if record.resolution is not None:
            raise EntryClosedError(record.resolution.state)
        request = self._scribe.read(record)
        validation = ValidationResult(valid=True)
        values: dict[str, Any] | None = None
        if action == "accept" and isinstance(request, FormRequest):
            validation = await _check(request, content)
            if not validation:
                return validation
            fields = request.form.by_name
            present = drop_nulls(request.form, content or {})
            values = {name: to_json_value(fields[name], value) for name, value in present.items() if name in fields}
        reply = {"content": values, "block_server": block_server and request.can_block, "confirmed": confirmed}
        sealed = self._scribe.seal_answer(entry_id, reply)
        by = owner if answered_by is None else answered_by
        await self._settle(owner, entry_id, Resolution("answered", by, self._store.clock(), action, sealed))
        return validation

    async def withdraw(self, owner: str, entry_id: str, *, withdrawn_by: str | None = None) -> None:
        """
        Take a question back: whoever asked gets a cancel.

        Raises:
            EntryNotFoundError: If there is none, or it is another owner's.
            EntryClosedError: If it no longer waits.
            InboxError: If the store cannot be used.
        """
        by = owner if withdrawn_by is None else withdrawn_by
        await self._settle(owner, entry_id, Resolution("withdrawn", by, self._store.clock()))

    async def watch(self, owner: str) -> AsyncGenerator[Entry, None]:
        """
        Follow the questions of *owner*: first all that wait, then each one that comes or changes.

        It ends only by being left (``aclose``, or cancellation).

        Raises:
            InboxError: If the store cannot be used.
        """
        with self._store.change_notifier(owner) as bell:
            since = await self._store.last_revision()
            async for record in self._waiting(owner, until=since):
                yield self._scribe.entry(record)
            while True:
                changed = await self._store.changes(owner, since)
                for record in changed:
                    yield self._scribe.entry(record)
                    since = record.revision
                if not changed:
                    await bell.wait(_LOOK)

    async def _waiting(self, owner: str, *, until: int) -> AsyncIterator[Record]:
        place = 0
        while records := await self._store.pending(owner, PAGE_SIZE, place):
            for record in records:
                place = record.sequence
                if place > until:
                    return
                yield record

    async def _find(self, owner: str, entry_id: str) -> Record:
        record = await self._store.get(owner, entry_id) if is_id(entry_id) else None
        if record is None:
            raise EntryNotFoundError
        return record

    async def _settle(self, owner: str, entry_id: str, settlement: Resolution) -> None:
        state = None
        if is_id(entry_id):
            state = await self._store.resolve(owner, entry_id, settlement, secrets.token_hex(8))
        if state is None:
            raise EntryNotFoundError
        if state != "pending":
            raise EntryClosedError(state)

    async def _expire(self, record: Record, mailbox: AnswerWaiter) -> Resolution:
        """Settle a question that nobody answered in time; somebody may be first at the last moment."""
        expired = Resolution("expired", "clock", record.expires_at)
        try:
            state = await self._store.resolve(record.owner, record.id, expired, secrets.token_hex(8))
            found = None if state == "pending" else await self._store.get(record.owner, record.id)
        except InboxError:
            found = None
        # What was delivered meanwhile may be wiped already.
        return mailbox.settlement or (found and found.resolution) or expired

    async def _leave(self, record: Record, *, is_over: bool) -> None:
        """Withdraw a question that is waited for no more, and forget its answer."""
        with anyio.move_on_after(_GOODBYE, shield=True):
            withdrawn = Resolution("withdrawn", "client", self._store.clock())
            try:
                if not is_over:
                    await self._store.resolve(record.owner, record.id, withdrawn, secrets.token_hex(8))
                await self._store.erase_answer(record.id)
            except InboxError as error:
                _logger.warning("a question could not be put away: %s", error)


async def _check(request: Request, content: Mapping[str, Any] | None) -> ValidationResult:
    if not isinstance(request, FormRequest):
        return ValidationResult(valid=True)
    return await validate_async(request, {} if content is None else content)
