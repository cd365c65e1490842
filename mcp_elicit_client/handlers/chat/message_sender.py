"""`MessageSender`: sends the messages of one chat, again if the chat says so."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import anyio

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.handlers.chat.platform import ChatError, ChatMessage, ChatPlatform

_T = TypeVar("_T")

_ATTEMPTS = 3
_MAX_PAUSE = 120.0
"""Seconds that a chat may ask to wait.  After a longer pause, the user would find the request expired."""

_logger = logging.getLogger("mcp_elicit_client")


@dataclass(frozen=True, slots=True)
class MessageSender:
    """
    Sends messages.

    Attributes:
        platform: The chat.
    """

    platform: ChatPlatform

    async def show(self, person: str, message_id: str, shown: Sequence[ChatMessage]) -> list[str]:
        """
        Show messages, the first one in place of *message_id*, and return their IDs.

        Args:
            person: Who sees them.
            message_id: The message to replace; empty for none.
            shown: The messages.

        Raises:
            ChatError: If the chat did not take one of them.
        """
        first, *more = shown
        if not await self.edit(person, message_id, first):
            message_id = await self.send(person, first)
        return [message_id, *[await self.send(person, message) for message in more]]

    async def send(self, person: str, message: ChatMessage) -> str:
        """
        Send a message and return its ID.

        If the chat refuses it, it is sent without buttons that open a URL, as
        it is by `edit`: some chats take no host without a dot.  The text has
        the URL.

        Raises:
            ChatError: If the chat did not take it.
            TypeError: If the adapter returns no ID.
        """
        try:
            message_id = await _retry(lambda: self.platform.send(person, message))
        except ChatError as error:
            plain = _without_links(message)
            if plain is None or error.retry_after is not None:
                raise
            message_id = await _retry(lambda: self.platform.send(person, plain))
        check_type("platform.send(person, message)", message_id, str)
        return message_id

    async def edit(self, person: str, message_id: str, message: ChatMessage) -> bool:
        """Replace a message; return False if it is not there any more."""
        if not message_id:
            return False
        plain = _without_links(message)
        return await _try(lambda: self.platform.edit(person, message_id, message)) or (
            plain is not None and await _try(lambda: self.platform.edit(person, message_id, plain))
        )

    async def conclude(self, person: str, message_id: str, outcome: ChatMessage) -> None:
        """Replace a message with *outcome*, or send *outcome* if the chat cannot replace it; empty for no message."""
        if message_id and not await self.edit(person, message_id, outcome):
            await self.inform(person, outcome)

    async def inform(self, person: str, message: ChatMessage) -> None:
        """Send a message, if possible."""
        await _try(lambda: self.platform.send(person, message))


def _without_links(message: ChatMessage) -> ChatMessage | None:
    """Return *message* without the buttons that open a URL; None if it has none."""
    buttons = tuple(button for button in message.buttons if not button.url)
    return replace(message, buttons=buttons) if buttons != message.buttons else None


async def _try(call: Callable[[], Awaitable[object]]) -> bool:
    """Return True if *call* succeeds."""
    try:
        await _retry(call)
    except ChatError as error:
        _logger.debug("A chat did not take a message: %s", error)
        return False
    except Exception:
        _logger.exception("A message could not be shown in a chat.")
        return False
    return True


async def _retry(call: Callable[[], Awaitable[_T]]) -> _T:
    """Return the result of *call*, which is repeated when the chat asks for that, but not earlier."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return await call()
        except ChatError as error:  # noqa: PERF203 -- it is a remote call
            if error.retry_after is None or error.retry_after > _MAX_PAUSE:
                raise
            await anyio.sleep(error.retry_after)
    return await call()
