"""`Sessions`: conversations with the owners of requests, continued from what the inbox keeps of them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from mcp_elicit_client.handlers.chat.dialogs import fits_dialog, max_repeated
from mcp_elicit_client.handlers.chat.platform import ChatLimits
from mcp_elicit_client.inbox.inbox import Inbox, get_progress, save_progress
from mcp_elicit_client.inbox.records import MESSAGE_IDS, Entry
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation import Conversation, FormConversation, Style, Turn, start_conversation
from mcp_elicit_client.presentation.form_input import FieldInput, inputs_from_json, inputs_to_json
from mcp_elicit_client.presentation.input_parsing import InputContext
from mcp_elicit_client.typing import FormRequest, Request

_MAX_SEEN = 16
_MAX_EARLIER = 16
_DRAFT = "chat"
"""The member of a draft with what the user entered in a chat.  The pages of the inbox have others."""


@dataclass(slots=True)
class Session:
    """
    The conversation about one request.

    Attributes:
        entry: The request.
        request: The same, as it is asked.
        conversation: The conversation.
        before: What the user had entered when the same request was asked
            before.
        drafted: What is kept for the next request that is the same.
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
    before: Mapping[str, FieldInput] = field(default_factory=dict)
    drafted: Mapping[str, FieldInput] = field(default_factory=dict)
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

    Each is kept apart from those of requests that are the same.  A restarted
    program continues them.  What the user entered is also kept as a draft:
    the next request that is the same begins with it.

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

    async def load(self, owner: str, entry_id: str) -> Session:
        """
        Return the session of a request of *owner*.

        Raises:
            EntryNotFoundError: If there is no such request, or it has another
                owner.
            InboxError: If the store cannot be used.
        """
        entry = await self.inbox.get(owner, entry_id)
        state = await get_progress(self.inbox, owner, entry_id)
        before = _inputs(state, "before")
        if state is None:
            before = _inputs((await self.inbox.get_draft(owner, entry_id) or {}).get(_DRAFT), "inputs")
        request = entry.read().model_copy(update={"deadline": entry.expires_at})  # which the user is to know
        session = Session(entry, request, self._start(request, before), before)
        if state is not None:
            with suppress(ValueError, LookupError, TypeError):
                session.conversation.restore(state)
                session.message_ids = [*map(str, state[MESSAGE_IDS])]
                session.earlier_ids = [*map(str, state["earlier_ids"])]
                session.is_shown = state["is_shown"] is True
                session.seen = [*map(str, state["seen"])]
                session.is_new = False
        session.drafted = session.conversation.stored_draft
        return session

    async def save(self, owner: str, session: Session) -> None:
        """
        Keep *session*.

        Raises:
            EntryNotFoundError: If the request is no longer stored.
            InboxError: If the store cannot be used.
        """
        state = {
            **session.conversation.save(),
            "before": inputs_to_json(session.before),
            MESSAGE_IDS: session.message_ids,
            "earlier_ids": session.earlier_ids,
            "is_shown": session.is_shown,
            "seen": session.seen[-_MAX_SEEN:],
        }
        await save_progress(self.inbox, owner, session.entry.id, state)
        inputs = session.conversation.stored_draft
        if inputs != session.drafted:
            draft = await self.inbox.get_draft(owner, session.entry.id) or {}
            kept = {**draft, _DRAFT: {"inputs": inputs_to_json(inputs)}}
            await self.inbox.save_draft(owner, session.entry.id, kept)
            session.drafted = inputs

    async def shown_message(self, owner: str, entry_id: str) -> str:
        """
        Return the message with the buttons, which any process may have shown; empty if none is known.

        Raises:
            InboxError: If the store cannot be used.
        """
        state = await get_progress(self.inbox, owner, entry_id) or {}
        message_ids = state.get(MESSAGE_IDS)
        return str(message_ids[-1]) if isinstance(message_ids, list) and message_ids else ""

    async def forget(self, owner: str, entry_id: str) -> None:
        """
        Delete the session of a request that is closed.

        Raises:
            InboxError: If the store cannot be used.
        """
        await save_progress(self.inbox, owner, entry_id, None)

    def context(self, request: Request) -> InputContext:
        """Return what decides the meaning of typed text."""
        catalog, zone = self.catalog, self.time_zone
        if isinstance(request, FormRequest):
            return InputContext.for_request(request, locale=catalog.locale, time_zone=zone, catalog=catalog)
        return InputContext(locale=catalog.locale, time_zone=zone, catalog=catalog)

    def _start(self, request: Request, draft: Mapping[str, FieldInput]) -> Conversation:
        style = Style(
            has_buttons=True,
            has_dialogs=self.limits.dialog is not None,
            begins_with_dialog=fits_dialog(request, self.limits, self.catalog),
            max_options=self.limits.max_options,
            max_repeated=max_repeated(self.limits),
            first_turn=secrets.randbelow(10**9),
        )
        context = self.context(request)
        return start_conversation(request, self.catalog, context, draft=draft, effects=(), style=style)


def _inputs(kept: Any, name: str) -> Mapping[str, FieldInput]:
    """Return the inputs that *kept* has as *name*; empty if it has none, or others."""
    with suppress(ValueError, LookupError, TypeError):
        return inputs_from_json(kept[name])
    return {}
