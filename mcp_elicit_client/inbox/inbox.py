"""`Inbox`: requests that any process may answer while another one waits."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from datetime import datetime, timezone
from typing import Any

import anyio

from mcp_elicit_client._arguments import YEAR, check_int, check_method, check_seconds, check_type
from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.core.answer import Action, Answer
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.text import is_unicode
from mcp_elicit_client.core.validation.content import VALID, ValidationResult, drop_nulls, drop_unknown, to_json_value
from mcp_elicit_client.dispatch import validate_async
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError
from mcp_elicit_client.inbox.encryption import make_cipher
from mcp_elicit_client.inbox.records import (
    MESSAGE_IDS,
    POLICY,
    Entry,
    EntryPage,
    RecordCodec,
    check_owner,
    draft_key,
    is_id,
    parse_cursor,
    progress_key,
)
from mcp_elicit_client.inbox.stores.models import Resolution, StoredRequest
from mcp_elicit_client.inbox.stores.protocol import Store
from mcp_elicit_client.inbox.waiters import AnswerWaiter
from mcp_elicit_client.presentation.form_input import answer_of_user
from mcp_elicit_client.typing import FormRequest, Request

_logger = logging.getLogger("mcp_elicit_client")

DRAFT_TTL = 3_600.0
"""Seconds for which a draft is kept after its last change."""

PAGE_SIZE = 50
"""The number of entries on a page."""

_MAX_LIMIT = 10**9
"""Databases refuse numbers that are much larger."""

_POLL_INTERVAL = 1.0
_MESSAGES_TTL = 60.0  # seconds for which the messages of a request that is closed are known
_EXTENSION_MARGIN = 1.0  # seconds before the deadline, after which it can no longer be extended


class Inbox:
    """
    Requests in a store, each with an owner.

    The ID of a request is not enough to read or answer it.  Every method
    also takes its owner, which the host must know from elsewhere, such as a
    session.  A wrong owner gets the same error as a wrong ID.

    Args:
        store: The store that keeps the requests.
        key: The key that encrypts and authenticates requests and answers,
            with their actions, in the store, at least 32 bytes; None to store
            them readable.  Owners, states and times are not encrypted.
        answer_timeout: Seconds for which a request without a deadline
            (`Request.deadline`) can be answered; None for 40 seconds for each
            field, at least 240 and at most 1800.  The user can extend this
            ten times.

    Raises:
        MissingExtraError: If there is a key and ``cryptography`` is not
            installed.
        TypeError: If *store* is not a store, or *key* not bytes.
        ValueError: If the key is too short, or *answer_timeout* is not above
            0 and at most a year.
    """

    def __init__(self, store: Store, key: bytes | None = None, *, answer_timeout: float | None = None) -> None:
        check_method("store", store, "put", "`MemoryStore()`")
        check_seconds("answer_timeout", answer_timeout, optional=True, maximum=YEAR)
        self._store = store
        self._codec = RecordCodec(make_cipher(key), answer_timeout)

    async def aclose(self) -> None:
        """Close the files and connections of the store."""
        await self._store.aclose()

    async def ask(self, owner: str, request: Request, *, on_stored: Callable[[str], object] | None = None) -> Answer:
        """
        Store a request and wait for its answer.

        If this is cancelled, the request is withdrawn.

        Args:
            owner: The user or conversation that may answer.
            request: The request.
            on_stored: Called with the ID of the request once it can be answered.

        Returns:
            The answer; a cancel if the request is not answered in time.

        Raises:
            InboxError: If the store cannot be used, or cannot keep *owner*.
            ValueError: If the request cannot be written as JSON.
        """
        stored = self._codec.new_request(owner, request, self._store.clock())
        waiter = self._store.waiters.add(stored.id)
        is_closed = False
        try:
            await self._store.put(stored)
            if on_stored is not None:
                on_stored(stored.id)
            margin = _EXTENSION_MARGIN
            # Not on the clock of the store: the task would wait for longer if that is set back.
            end = anyio.current_time() + stored.expires_at - self._store.clock()
            # Not in another coroutine: that would take memory for each request that waits.
            while (resolution := await waiter.wait(end - margin - anyio.current_time())) is None:
                extended = await self._extended(stored, request)
                if extended is not None:
                    end += extended - stored.expires_at
                    stored, margin = stored._replace(expires_at=extended), _EXTENSION_MARGIN
                elif margin:
                    margin = 0.0  # The clock of the process that extends the request may be behind.
                else:
                    resolution = await self._expire(stored, waiter)
                    break
            answer = self._codec.decode_answer(stored, resolution, request)
            is_closed = True
            if resolution.state == "expired":
                await self._forget_inputs(owner, stored.id)
        finally:
            self._store.waiters.remove(stored.id)
            await self._clean_up(stored, is_closed=is_closed)
        return answer

    async def list(self, owner: str, limit: int = PAGE_SIZE, cursor: str | None = None) -> EntryPage:
        """
        List the pending requests of *owner*, oldest first.

        Args:
            owner: The owner.
            limit: The maximum number of entries.
            cursor: The `EntryPage.next_cursor` of the previous page; None for
                the first page.

        Raises:
            InboxError: If the store cannot be used, or cannot keep *owner*.
            TypeError: If *owner* is not a string, or *limit* not an int.
            ValueError: If *limit* is negative, or *cursor* is not that of a
                page.
        """
        check_owner(owner)
        limit = _check_limit(limit)
        stored = await self._store.pending(owner, limit + 1, parse_cursor(cursor) or 0)
        return self._codec.page(stored, limit, [each.sequence for each in stored])

    async def history(self, owner: str, limit: int = PAGE_SIZE, cursor: str | None = None) -> EntryPage:
        """List the closed requests of *owner*, latest first, without the values of answers; otherwise as `list`."""
        check_owner(owner)
        limit = _check_limit(limit)
        stored = await self._store.history(owner, limit + 1, parse_cursor(cursor))
        return self._codec.page(stored, limit, [each.revision for each in stored])

    async def get(self, owner: str, entry_id: str) -> Entry:
        """
        Return one request of *owner*.

        Raises:
            EntryNotFoundError: If there is no such request, or it has another
                owner.
            InboxError: If the store cannot be used, or the request cannot be
                read.
        """
        entry = self._codec.entry(await self._find(owner, entry_id))
        entry.read()  # Entries of lists are read when they are shown: one that cannot be read does not hide the others.
        return entry

    async def validate(self, owner: str, entry_id: str, content: Mapping[str, Any] | None) -> ValidationResult:
        """Check an answer without sending it; raises as `get`."""
        return await _validate(self._codec.decode_request(await self._find(owner, entry_id)), content)

    async def answer(  # noqa: PLR0913 -- all that an answer can say, by keyword
        self,
        owner: str,
        entry_id: str,
        action: Action,
        content: Mapping[str, Any] | None = None,
        *,
        answered_by: str | None = None,
        block_server: bool = False,
        confirmed: bool = False,
        remember: bool = False,
    ) -> ValidationResult:
        """
        Answer a request of *owner*.  Of several attempts exactly one succeeds.

        Args:
            owner: The owner of the request.
            entry_id: The ID of the request.
            action: ``accept``, ``decline`` or ``cancel``.
            content: The values by field name; only to accept a form.
            answered_by: Who answers, for the history; None for the owner.
            block_server: As in `Answer`; only if `Request.can_block` is True.
            confirmed: As in `Answer`.
            remember: As in `Answer`; only if `FormRequest.remember_seconds`
                is set.

        Returns:
            The errors in *content*.  If there are errors, the request stays
            pending, otherwise it is answered.

        Raises:
            EntryNotFoundError: If there is no such request, or it has another
                owner.
            EntryClosedError: If the request is no longer pending.
            InboxError: If the store cannot be used.
            TypeError: If an argument is of the wrong type.
            ValueError: If *action* is not one of the three actions, or
                *answered_by* contains a character that not every store can
                keep.
        """
        by = owner if answered_by is None else _check_name("answered_by", answered_by)
        check_type("action", action, str, hint="Pass the action, then the content.")
        if action not in ("accept", "decline", "cancel"):
            raise ValueError(f"`action` must be accept, decline or cancel, not {action!r}.")
        _check_key(owner, entry_id)
        # A request that was just shown need not be read again: if it was closed since, it is not resolved below.
        stored = self._codec.latest(owner, entry_id) or await self._find_pending(owner, entry_id)
        request = self._codec.decode_request(stored)
        validation = VALID
        values: dict[str, Any] | None = None
        if action == "accept" and isinstance(request, FormRequest):
            validation = await _validate(request, content)
            if not validation:
                await self._find_pending(owner, entry_id)  # A closed request takes no corrections.
                return validation
            fields = request.form.by_name
            present = drop_unknown(request.form, drop_nulls(request.form, content or {}))
            values = {name: to_json_value(fields[name], value) for name, value in present.items()}
        answer = answer_of_user(
            request, action, values, block_server=block_server, confirmed=confirmed, remember=remember
        )
        resolution = self._codec.encode_answer(stored, answer, by, self._store.clock())
        await self._resolve(owner, entry_id, resolution)
        # After a cancel, the draft is for the same request, asked again.
        drafts = [] if action == "cancel" else [draft_key(request)]
        await self._forget_inputs(owner, entry_id, *drafts)
        return validation

    async def extend(self, owner: str, entry_id: str) -> Entry:
        """
        Give the user of a pending request more time, up to `Entry.max_expires_at`.

        Returns:
            The request with its new `Entry.expires_at`.  Nothing is changed
            in the last second before the request expires.

        Raises:
            EntryNotFoundError: If there is no such request, or it has another
                owner.
            EntryClosedError: If the request is no longer pending.
            InboxError: If the store cannot be used.
        """
        stored = await self._find_pending(owner, entry_id)
        if stored.expires_at - self._store.clock() > _EXTENSION_MARGIN:
            state = await self._store.extend(owner, entry_id, self._codec.extended(stored))
            if state not in ("pending", None):
                raise EntryClosedError(state)
            stored = await self._find_pending(owner, entry_id)
            self._store.waiters.notify(owner)
        return self._codec.entry(stored)

    async def save_draft(self, owner: str, entry_id: str, draft: Mapping[str, Any] | None) -> None:
        """
        Keep what the user has entered so far, for an hour.

        The draft also belongs to further requests of the same server with the
        same message and form.  Accepting or declining deletes it.

        Args:
            owner: The owner of the request.
            entry_id: The ID of the request.
            draft: JSON data, in a form that the user interface chooses; None
                to delete the draft.

        Raises:
            EntryNotFoundError: If there is no such request, or it has another
                owner.
            InboxError: If the store cannot be used.
            TypeError: If *draft* is not JSON data.
        """
        key = draft_key(self._codec.decode_request(await self._find(owner, entry_id)))
        await self._keep(owner, key, draft, self._store.clock() + DRAFT_TTL)

    async def get_draft(self, owner: str, entry_id: str) -> dict[str, Any] | None:
        """Return the draft for a request of *owner*, or None.  Raises as `save_draft`."""
        return await self._kept(owner, draft_key(self._codec.decode_request(await self._find(owner, entry_id))))

    async def _keep(self, owner: str, key: str, draft: Mapping[str, Any] | None, until: float) -> None:
        text = "" if draft is None else self._codec.encode_draft(owner, key, _draft_as_json(draft))
        await self._store.save_draft(owner, key, text, until)

    async def _kept(self, owner: str, key: str) -> dict[str, Any] | None:
        text = await self._store.get_draft(owner, key)
        if not text:
            return None
        try:
            draft = json.loads(self._codec.decode_draft(owner, key, text))
        except (InboxError, ValueError):  # For example encrypted with another key.  The user can type again.
            return None
        return draft if isinstance(draft, dict) else None

    async def withdraw(self, owner: str, entry_id: str, *, withdrawn_by: str | None = None) -> None:
        """
        Withdraw a request.  The waiting task receives a cancel.

        Args:
            owner: The owner of the request.
            entry_id: The ID of the request.
            withdrawn_by: Who withdraws it, for the history; None for the
                owner.

        Raises:
            EntryNotFoundError: If there is no such request, or it has another
                owner.
            EntryClosedError: If the request is no longer pending.
            InboxError: If the store cannot be used.
            TypeError: If an argument is not a string.
            ValueError: If *withdrawn_by* contains a character that not every
                store can keep.
        """
        by = owner if withdrawn_by is None else _check_name("withdrawn_by", withdrawn_by)
        await self._resolve(owner, entry_id, Resolution("withdrawn", by, self._store.clock()))
        await self._forget_inputs(owner, entry_id)

    async def watch(self, owner: str) -> AsyncGenerator[Entry, None]:
        """
        Yield all pending requests of *owner*, then each request that is new or closed.

        The generator does not end by itself: close it, or cancel the task.

        Raises:
            InboxError: If the store cannot be used, or cannot keep *owner*.
            TypeError: If *owner* is not a string.
        """
        check_owner(owner)
        with self._store.waiters.change_notifier(owner) as notifier:
            revision = await self._store.last_revision()
            async with aclosing(self._pending(owner, until=revision)) as pending:
                async for stored in pending:
                    yield self._codec.entry(stored)
            while True:
                changed = await self._store.changes(owner, revision)
                for stored in changed:
                    yield self._codec.entry(stored)
                    revision = stored.revision
                if not changed:
                    await notifier.wait(_POLL_INTERVAL)

    async def _pending(self, owner: str, *, until: int) -> AsyncGenerator[StoredRequest, None]:
        sequence = 0
        while page := await self._store.pending(owner, PAGE_SIZE, sequence):
            for stored in page:
                sequence = stored.sequence
                if sequence > until:
                    return
                yield stored

    async def _find(self, owner: str, entry_id: str) -> StoredRequest:
        _check_key(owner, entry_id)
        stored = await self._store.get(owner, entry_id) if is_id(entry_id) else None
        if stored is None:
            raise EntryNotFoundError
        return stored

    async def _find_pending(self, owner: str, entry_id: str) -> StoredRequest:
        stored = await self._find(owner, entry_id)
        if stored.resolution is not None:
            raise EntryClosedError(stored.resolution.state)
        return stored

    async def _resolve(self, owner: str, entry_id: str, resolution: Resolution) -> None:
        _check_key(owner, entry_id)
        state = await self._store.resolve(owner, entry_id, resolution) if is_id(entry_id) else None
        if state is None:
            raise EntryNotFoundError
        if state != "pending":
            raise EntryClosedError(state)

    async def _extended(self, stored: StoredRequest, request: Request) -> float | None:
        """Return when *stored* expires by now, in seconds since 1970; None if the user has not extended that."""
        if request.deadline is not None and request.max_deadline is None:
            return None
        try:
            found = await self._store.get(stored.owner, stored.id)
        except InboxError:
            return None
        if found is None or found.resolution is not None or found.expires_at <= stored.expires_at:
            return None
        request.extend_deadline(datetime.fromtimestamp(found.expires_at, timezone.utc))
        return found.expires_at

    async def _expire(self, stored: StoredRequest, waiter: AnswerWaiter) -> Resolution:
        """Close a request that was not answered in time, unless it is answered at the last moment."""
        expired = Resolution("expired", "clock", stored.expires_at)
        try:
            state = await self._store.resolve(stored.owner, stored.id, expired)
            found = None if state == "pending" else await self._store.get(stored.owner, stored.id)
        except InboxError:
            found = None
        # An answer that was delivered meanwhile may be erased already.
        return waiter.resolution or (found and found.resolution) or expired

    async def _forget_inputs(self, owner: str, entry_id: str, *drafts: str) -> None:
        """
        Delete *drafts*, and what a chat keeps of a request that is closed.

        Its messages are known for a moment: the process that asks replaces
        them, whichever process sent them.
        """
        key = progress_key(entry_id)
        try:
            for each in drafts:
                await self._keep(owner, each, None, 0.0)
            ids = (await self._kept(owner, key) or {}).get(MESSAGE_IDS)
            kept, until = ({MESSAGE_IDS: ids}, self._store.clock() + _MESSAGES_TTL) if ids else (None, 0.0)
            await self._keep(owner, key, kept, until)
        except InboxError as error:  # The request is answered already.
            _logger.warning("A draft could not be deleted. %s", error)

    async def _clean_up(self, stored: StoredRequest, *, is_closed: bool) -> None:
        """Withdraw a request unless it is closed, and erase its answer."""
        try:
            withdrawn = None if is_closed else Resolution("withdrawn", "client", self._store.clock())
            await self._store.leave(stored, withdrawn)
        except InboxError as error:
            _logger.warning("A request could not be withdrawn, or its answer not erased. %s", error)


def _check_limit(limit: int) -> int:
    """Return a number of entries that each store can read; raises `TypeError` or `ValueError` for what is no number."""
    check_int("limit", limit)
    return min(limit, _MAX_LIMIT)


def _check_name(argument: str, name: str) -> str:
    """Return who closed a request; raises `TypeError` or `ValueError` if not every store can keep that."""
    check_type(argument, name, str)
    if "\0" in name or not is_unicode(name):
        raise ValueError(f"`{argument}` must be valid Unicode without NUL characters.")
    return name


def _check_key(owner: str, entry_id: str) -> None:
    check_owner(owner)
    check_type("entry_id", entry_id, str)


async def _validate(request: Request, content: Mapping[str, Any] | None) -> ValidationResult:
    if not isinstance(request, FormRequest):
        return VALID
    return await validate_async(request, {} if content is None else content)


async def ask_and_show(
    inbox: Inbox, owner: str, request: Request, show: Callable[[str], Awaitable[object]]
) -> Answer | None:
    """
    Ask as `Inbox.ask` does, and call *show* with the ID of the request once it is stored.

    Returns:
        The answer; None if *show* returned first.
    """
    entry_ids: list[str] = []
    is_stored = anyio.Event()

    def note(entry_id: str) -> None:
        entry_ids.append(entry_id)
        is_stored.set()

    async def show_stored() -> None:
        await is_stored.wait()
        await show(entry_ids[0])

    return await run_until(show_stored, lambda: inbox.ask(owner, request, on_stored=note))


async def draft_of(inbox: Inbox, entry: Entry) -> dict[str, Any] | None:
    """Return the draft for *entry*, which was just read, or None: as `Inbox.get_draft`, without reading it again."""
    return await inbox._kept(entry.owner, draft_key(entry.read()))  # noqa: SLF001 -- as `save_progress`


async def list_all(inbox: Inbox, owner: str) -> list[Entry]:
    """Return all pending requests of *owner*, oldest first."""
    page = await inbox.list(owner)
    entries = [*page.entries]
    while page.next_cursor is not None:
        page = await inbox.list(owner, cursor=page.next_cursor)
        entries += page.entries
    return entries


async def record_notice(inbox: Inbox, owner: str, notice: Notice) -> None:
    """
    Add a request to the history of *owner* that a policy declined before it was stored.

    Raises:
        InboxError: If the store cannot be used.
        ValueError: If the request cannot be written as JSON.
    """
    store, codec = inbox._store, inbox._codec  # noqa: SLF001 -- host applications have no use for it
    now = store.clock()
    stored = codec.new_request(owner, notice.request.model_copy(update={"deadline": None}), now)
    answer = Answer.decline(by="policy", policy=notice.policy)
    resolution = codec.encode_answer(stored, answer, f"{POLICY} {notice.policy}", now)
    try:
        await store.put(stored)
    finally:
        await store.leave(stored, resolution)


async def save_progress(inbox: Inbox, owner: str, entry_id: str, progress: Mapping[str, Any] | None) -> None:
    """
    Keep how far a user interface is with one request, as long as that can be answered; None to delete that.

    Unlike a draft, it belongs to no other request: processes that answer
    requests which are the same do not overwrite each other's.  An answer and
    `Inbox.withdraw` delete it.

    Raises:
        EntryNotFoundError: If there is no such request, or it has another
            owner.
        InboxError: If the store cannot be used.
    """
    until = 0.0
    if progress is not None:
        until = (await inbox.get(owner, entry_id)).max_expires_at.timestamp() + _MESSAGES_TTL
    key = progress_key(entry_id)
    await inbox._keep(owner, key, progress, until)  # noqa: SLF001 -- host applications have no use for it


async def get_progress(inbox: Inbox, owner: str, entry_id: str) -> dict[str, Any] | None:
    """Return what `save_progress` kept for *owner*, or None.  Raises as `save_progress`."""
    return await inbox._kept(owner, progress_key(entry_id))  # noqa: SLF001 -- as `save_progress`


def _draft_as_json(draft: Mapping[str, Any]) -> str:
    try:
        return json.dumps(draft, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError("A draft must be JSON data.") from error
