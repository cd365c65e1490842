"""A person in a chat in memory, who reads messages, presses buttons and types replies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import anyio

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.handlers.chat import ChatButton, ChatHandler, ChatLimits, ChatMessage
from mcp_elicit_client.handlers.chat.rendering import SELECTED_MARK
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.descriptions import option_label
from mcp_elicit_client.presentation.quoting import quoted
from mcp_elicit_client.testing.callback_under_test import UserAction
from mcp_elicit_client.testing.interfaces import Interface
from mcp_elicit_client.typing import Answer, FormRequest, Request

_PERSON = "ann"
_LABELS = messages.CHOICE_LABELS
_SUGGESTIONS = (messages.USE_VALUE, messages.DO_NOT_PROVIDE)
_POLL_INTERVAL = 0.002


class ChatInterface(Interface):
    """A chat with buttons and replies, and the person in it."""

    def __init__(self) -> None:
        super().__init__()
        self._chat = _Chat()

    @cached_property
    def _handler(self) -> ChatHandler:
        return ChatHandler(self._chat, default_user=_PERSON)

    async def show(self, request: Request) -> Answer:
        return await self._handler(request)

    async def ask_unattended(self, request: Request) -> Answer:
        return await ChatHandler(self._chat)(request)

    async def perform(self, action: UserAction, request: Request) -> None:
        person = _Person(self._handler, self._chat, action)
        try:
            while not self._chat.buttons:  # noqa: ASYNC110 -- a chat sets no event
                await anyio.sleep(_POLL_INTERVAL)
            person.read()
            await person.answer(request)
            await anyio.sleep_forever()
        finally:
            person.read()  # how the request ended


class _Chat:
    """A chat without dialogs, in memory."""

    def __init__(self) -> None:
        self.messages: dict[str, ChatMessage] = {}
        self.unread: list[ChatMessage] = []
        self._ids = itertools.count(1)

    @property
    def limits(self) -> ChatLimits:
        """What the chat can show."""
        return ChatLimits(max_text=4096, max_label=60, max_input=4096)

    @property
    def buttons(self) -> Sequence[ChatButton]:
        """The buttons of the last message that has some."""
        return next((each.buttons for each in reversed(self.messages.values()) if each.buttons), ())

    async def send(self, _person: str, message: ChatMessage, /) -> str:
        """Show *message* below the others."""
        message_id = self.next_id()
        await self.edit(_person, message_id, message)
        return message_id

    async def edit(self, _person: str, message_id: str, message: ChatMessage, /) -> None:
        """Show *message* in place of another one."""
        self.messages[message_id] = message
        self.unread.append(message)

    def next_id(self) -> str:
        """Return the ID of the next message."""
        return str(next(self._ids))


class _Person:
    def __init__(self, handler: ChatHandler, chat: _Chat, action: UserAction) -> None:
        self._handler = handler
        self._chat = chat
        self._action = action
        self._text = ""

    def read(self) -> None:
        """Read the new messages, with their buttons."""
        self._text = "\n".join("\n".join([each.text, *(at.label for at in each.buttons)]) for each in self._chat.unread)
        self._chat.unread.clear()
        self._action.saw(self._text)

    def finds(self, label: Message | str) -> ChatButton | None:
        """Return the button with *label*."""
        text = ENGLISH.text(label) if isinstance(label, Message) else label
        return next((each for each in self._chat.buttons if each.label.removeprefix(SELECTED_MARK) == text), None)

    async def press(self, *labels: Message | str) -> None:
        """Press the buttons with *labels*, one after the other, as far as they are there."""
        for label in labels:
            button = self.finds(label)
            if button is not None:
                await self._handler.press(_PERSON, button.data)
                self.read()

    async def answer(self, request: Request) -> None:
        """Do what the action says."""
        match self._action.action:
            case "accept" if isinstance(request, FormRequest):
                await self._fill_in(request.form.fields)
            case "accept":
                await self.press(*(_LABELS[each] for each in ("show", "confirm", "done")))
            case "decline":
                await self.press(_LABELS["decline" if self.finds(_LABELS["decline"]) else "no"])
            case "cancel":
                await self.press(_LABELS["cancel"])

    async def _fill_in(self, fields: Sequence[Field]) -> None:
        """Answer field by field, review and send; cancel if the chat does not take an answer."""
        for number, field in enumerate(fields, 1):
            if field.name in self._action.content:
                await self._enter(field, self._action.content[field.name])
            else:
                await self.press(next(filter(self.finds, _SUGGESTIONS), ""))
            position = ENGLISH.text(messages.FIELD_POSITION, number=number, count=len(fields))
            if position in self._text and self._chat.buttons:
                await self.press(_LABELS["cancel"])
                return
        await self.press(_LABELS["send" if fields else "yes"], _LABELS["confirm"])

    async def _enter(self, field: Field, value: Any) -> None:
        if isinstance(field, BooleanField) and isinstance(value, bool):
            await self.press(_LABELS["yes" if value else "no"])
            return
        values = value if isinstance(value, list) else [value]
        if isinstance(field, (ChoiceField, MultiChoiceField)):
            labels = {quoted(option_label(field, each, ENGLISH)): each.value in values for each in field.choices}
            if sum(labels.values()) == len(values) and all(map(self.finds, labels)):
                await self._select(labels, several=isinstance(field, MultiChoiceField))
                return
            titles = {each.value: field.label_of(each) for each in field.choices}
            values = [titles.get(each, each) for each in values]
        text = ", ".join(map(str, values))
        text = f"/{text}" if text.startswith("/") else text
        await self._handler.reply(_PERSON, text, message_id=self._chat.next_id())
        self.read()

    async def _select(self, labels: dict[str, bool], *, several: bool) -> None:
        for label, is_wanted in labels.items():
            button = self.finds(label)
            if button is not None and is_wanted != button.label.startswith(SELECTED_MARK):
                await self.press(label)
        if several:
            await self.press(messages.USE_SELECTION)


chat: Interface = ChatInterface()
