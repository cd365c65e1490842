"""`Sessions`: conversations with the owners of requests, continued from what the inbox keeps of them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

import anyio

from mcp_elicit_client.exceptions import EntryNotFoundError, InboxError
from mcp_elicit_client.handlers.chat.dialogs import fits_dialog
from mcp_elicit_client.handlers.chat.platform import ChatLimits
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.records import Entry
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation import Conversation, FormConversation, Style, Turn, start_conversation
from mcp_elicit_client.presentation.conversation.saved import inputs_from_json
from mcp_elicit_client.presentation.form_input import FieldInput
from mcp_elicit_client.presentation.input_parsing import InputContext
from mcp_elicit_client.typing import FormRequest, Request

_MAX_SESSIONS = 8
_MAX_SEEN = 16
_MAX_EARLIER = 16


@dataclass(slots=True)
class Session:
    """
    The conversation about one request.

    Attributes:
        entry: The request.
        request: The same, as it is asked.
        conversation: The conversation.
        is_new: Nothing was kept: the conversation begins.
        message_ids: The messages of the question, of which the last one has
            the buttons; may be empty.
        earlier_ids: The latest messages that were replaced by others.
        is_shown: The messages ask the present question.  False if the chat
            did not take them, or the program ended before it did.
        seen: The messages of the user that were used already.
    """

    entry: Entry
    request: Request
    conversation: Conversation
    is_new: bool = True
    message_ids: list[str] = field(default_factory=list)
    earlier_ids: list[str] = field(default_factory=list)
    is_shown: bool = False
    seen: list[str] = field(default_factory=list)

    @property
    def message_id(self) -> str:
        """The message with the buttons, or empty."""
        return self.message_ids[-1] if self.message_ids else ""

    @property
    def all_ids(self) -> list[str]:
        """The messages that have asked something, oldest first."""
        return [*self.earlier_ids, *self.message_ids]

    def ask(self) -> Turn:
        """Return the turn that asks the present question, or begins the conversation."""
        return self.conversation.start() if self.is_new else self.conversation.ask_again()

    def replace_messages(self, message_ids: Sequence[str]) -> None:
        """Note that the question is asked by the messages *message_ids*."""
        self.earlier_ids = [each for each in self.all_ids if each not in message_ids][-_MAX_EARLIER:]
        self.message_ids = [*message_ids]

    @property
    def form(self) -> FormConversation | None:
        """The conversation, if it is about a form."""
        return self.conversation if isinstance(self.conversation, FormConversation) else None


@dataclass(frozen=True, slots=True)
class Sessions:
    """
    Reads and writes sessions.

    They are kept as drafts: a restarted program continues them, and the next
    request that is the same begins with what the user entered.

    Attributes:
        inbox: The inbox.
        limits: What the chat can show.
        catalog: The texts.
        time_zone: The users' time zone.
    """

    inbox: Inbox
    limits: ChatLimits
    catalog: MessageCatalog
    time_zone: str | None
    _locks: WeakValueDictionary[str, anyio.Lock] = field(default_factory=WeakValueDictionary)

    async def load(self, owner: str, entry_id: str) -> Session:
        """
        Return the session of a request of *owner*.

        Raises:
            EntryNotFoundError: If there is no such request, or it has another
                owner.
            InboxError: If the store cannot be used.
        """
        entry = await self.inbox.get(owner, entry_id)
        async with self._draft_lock(owner):
            kept = _sessions_in(await self.inbox.get_draft(owner, entry_id))
        request = entry.read()
        state = kept.get(entry_id)
        session = Session(entry, request, self._start(request, _last_inputs(kept)))
        if state is not None:
            with suppress(ValueError, LookupError, TypeError):
                session.conversation.restore(state)
                session.message_ids = [*map(str, state["message_ids"])]
                session.earlier_ids = [*map(str, state["earlier_ids"])]
                session.is_shown = state["is_shown"] is True
                session.seen = [*map(str, state["seen"])]
                session.is_new = False
        return session

    async def save(self, owner: str, session: Session) -> None:
        """
        Keep *session*.

        Raises:
            InboxError: If the store cannot be used.
        """
        entry_id = session.entry.id
        state = {
            "message_ids": session.message_ids,
            "earlier_ids": session.earlier_ids,
            "is_shown": session.is_shown,
            "seen": session.seen[-_MAX_SEEN:],
        }
        async with self._draft_lock(owner):
            draft = await self.inbox.get_draft(owner, entry_id) or {}
            kept = _sessions_in(draft)
            kept.pop(entry_id, None)
            kept[entry_id] = {**session.conversation.save(), **state}
            latest = dict(list(kept.items())[-_MAX_SESSIONS:])
            await self.inbox.save_draft(owner, entry_id, {**draft, "chat": latest})

    @asynccontextmanager
    async def keeping_others(self, owner: str, entry_id: str) -> AsyncIterator[None]:
        """Keep the sessions of pending requests that are the same: an answer to one of them deletes their draft."""
        async with self._draft_lock(owner):
            before = _sessions_in(await self.inbox.get_draft(owner, entry_id))
            yield
            for other_id in [each for each in before if each != entry_id]:
                with suppress(EntryNotFoundError, InboxError):
                    if (await self.inbox.get(owner, other_id)).state == "pending":
                        draft = await self.inbox.get_draft(owner, other_id) or {}
                        kept = {other_id: before[other_id], **_sessions_in(draft)}
                        await self.inbox.save_draft(owner, other_id, {**draft, "chat": kept})

    def context(self, request: Request) -> InputContext:
        """Return what decides the meaning of typed text."""
        locale, zone = self.catalog.locale, self.time_zone
        if isinstance(request, FormRequest):
            return InputContext.for_request(request, locale=locale, time_zone=zone)
        return InputContext(locale=locale, time_zone=zone)

    def _draft_lock(self, owner: str) -> anyio.Lock:
        """Return the lock for the drafts of *owner*: the sessions of requests that are the same share one."""
        return self._locks.setdefault(owner, anyio.Lock())

    def _start(self, request: Request, draft: Mapping[str, FieldInput]) -> Conversation:
        style = Style(
            has_buttons=True,
            has_dialogs=self.limits.dialog is not None,
            begins_with_dialog=fits_dialog(request, self.limits, self.catalog),
            max_options=self.limits.max_options,
            first_turn=secrets.randbelow(10**9),
        )
        context = self.context(request)
        return start_conversation(request, self.catalog, context, draft=draft, effects=(), style=style)


def _sessions_in(draft: Mapping[str, Any] | None) -> dict[str, Any]:
    found = (draft or {}).get("chat")
    return dict(found) if isinstance(found, dict) else {}


def _last_inputs(kept: Mapping[str, Any]) -> Mapping[str, FieldInput]:
    """Return what the user entered last in each field for the same request."""
    found: dict[str, FieldInput] = {}
    for state in kept.values():
        with suppress(ValueError, LookupError, TypeError):
            found |= inputs_from_json(state["inputs"])
    return found
