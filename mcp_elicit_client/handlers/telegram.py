"""
Requests in Telegram: private messages with inline keyboards, answered with buttons and messages.

Requires the extra ``telegram``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.chat.handler import ChatHandler
from mcp_elicit_client.handlers.chat.platform import ChatButton, ChatError, ChatLimits, ChatMessage, Paragraph
from mcp_elicit_client.handlers.chat.rendering import cut, length

try:
    from telegram import Bot, CallbackQuery, LinkPreviewOptions, Message, MessageEntity, Update
    from telegram import InlineKeyboardButton as KeyboardButton
    from telegram import InlineKeyboardMarkup as Keyboard
    from telegram.error import BadRequest, NetworkError, RetryAfter, TelegramError
    from telegram.ext import Application, ApplicationHandlerStop, CallbackQueryHandler, ContextTypes, MessageHandler
    from telegram.ext import filters as only
except ImportError:
    raise MissingExtraError("telegram", "a chat in Telegram") from None

_MAX_NOTE = 200
_RETRY_AFTER = 1.0
"""Seconds to wait if Telegram fails or cannot be reached."""
_ROW = 2
_OUR_BUTTON = re.compile(r"[\w-]{32}:[0-9]+:[a-z]+")
_LIKE_A_LINK = re.compile(r"(?<!\S)\S*?(?:[\w~\u00c0-\U0010ffff-][.:]\S|[@#$/]\w|[0-9][0-9 ()-]{5,})\S*")
"""
Text that Telegram makes a link of: domains (also with emoji), names, tags, commands, telephone and card numbers.

A match begins with a word, so that the time for a search is in proportion to the text.
"""

_LIMITS = ChatLimits(
    max_text=4096,
    max_paragraphs=90,  # of 100 entities: some texts of the host have several
    max_label=60,
    max_options=10,
    max_input=4096,
)
"""What a message in Telegram can show.  Longer labels of buttons are allowed, but cut on telephones."""


class TelegramHandler(ChatHandler):
    """
    Asks users in their private chats with a bot.

    `Request.user` is the ID of the user as text.  Users have to start the bot
    once before it can write to them; otherwise the answer is a cancel.  While
    one field is asked, the next message of the user is its answer; it is not
    passed on to other handlers of the bot.  Send a reply to answer one of
    several.

    Let the bot work on several updates at a time, with
    ``concurrent_updates(True)``.  Otherwise a handler that waits for an answer
    keeps the bot from receiving it.

    Args:
        application: The bot.  Handlers for buttons and messages are added.
        options: As for `ChatHandler`.
    """

    def __init__(self, application: Application[Any, Any, Any, Any, Any, Any], **options: Any) -> None:
        check_type("application", application, Application, hint="Pass Application.builder().token(token).build().")
        super().__init__(_Telegram(application.bot), **options)
        is_private = only.ChatType.PRIVATE & only.UpdateType.MESSAGE & only.TEXT
        application.add_handler(CallbackQueryHandler(self._on_press, pattern=_OUR_BUTTON), group=-1)
        application.add_handler(MessageHandler(is_private, self._on_message), group=-1)

    async def _on_press(self, update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
        query = update.callback_query
        assert query is not None
        reaction = await self.press(str(query.from_user.id), query.data or "", message_id=_message_id(query))
        with suppress(TelegramError):  # too old, for example after a restart
            await query.answer(cut(reaction.note, _MAX_NOTE) or None, show_alert=bool(reaction.note))
        raise ApplicationHandlerStop

    async def _on_message(self, update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
        message = update.message
        assert message is not None
        before = message.reply_to_message
        text, person = message.text or "", message.from_user
        if person is None or (before is None and _is_command(message)):
            return
        reply_to = None if before is None else str(before.message_id)
        reaction = await self.reply(str(person.id), text, message_id=str(message.message_id), reply_to=reply_to)
        if reaction is None:
            return
        if reaction.note:
            with suppress(TelegramError):
                await message.reply_text(reaction.note)
        raise ApplicationHandlerStop

    def _is_before(self, message_id: str, shown_id: str) -> bool:
        return int(message_id) < int(shown_id)  # in a chat, the IDs increase


class _Telegram:
    limits = _LIMITS

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def send(self, person: str, message: ChatMessage) -> str:
        with _chat_errors():
            sent = await self._bot.send_message(_chat_id(person), **_content(message))
            return str(sent.message_id)

    async def edit(self, person: str, message_id: str, message: ChatMessage) -> None:
        with _chat_errors():
            await self._bot.edit_message_text(chat_id=_chat_id(person), message_id=int(message_id), **_content(message))


def _is_command(message: Message) -> bool:
    """Return True if Telegram takes *message* for a command of the bot: ``/start``, but not ``/home/ann``."""
    return any(each.type == MessageEntity.BOT_COMMAND and each.offset == 0 for each in message.entities)


def _message_id(query: CallbackQuery) -> str:
    return "" if query.message is None else str(query.message.message_id)


@contextmanager
def _chat_errors() -> Iterator[None]:
    try:
        yield
    except RetryAfter as error:
        pause = error.retry_after
        seconds = pause.total_seconds() if isinstance(pause, timedelta) else float(pause)
        raise ChatError("Telegram asks to wait", seconds) from error
    except BadRequest as error:
        if "not modified" not in str(error).casefold():
            raise ChatError(f"Telegram: {error}") from error
    except NetworkError as error:  # also a failure of Telegram
        raise ChatError(f"Telegram: {error}", _RETRY_AFTER) from error
    except TelegramError as error:
        raise ChatError(f"Telegram: {error}") from error


def _chat_id(person: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", person, re.ASCII):
        raise ChatError("the user of the request is not the ID of a user of Telegram: pass that ID as `user`")
    return int(person)


def _content(message: ChatMessage) -> dict[str, Any]:
    # Entities, and no markup: nothing in a text can be taken for markup.
    entities: list[MessageEntity] = []
    at = 0
    for paragraph in message.paragraphs:
        entities += _entities(paragraph, at)
        at += length(paragraph.text) + 1
    return {
        "text": message.text,
        "entities": entities,
        "reply_markup": _keyboard(message.buttons),
        "link_preview_options": LinkPreviewOptions(is_disabled=True),
    }


def _entities(paragraph: Paragraph, at: int) -> Iterator[MessageEntity]:
    text = paragraph.text
    links = [*_LIKE_A_LINK.finditer(text)]
    whole = {"heading": MessageEntity.BOLD, "quote": MessageEntity.BLOCKQUOTE, "url": MessageEntity.CODE}
    if paragraph.kind == "quote" and links:
        yield MessageEntity(MessageEntity.PRE, at, length(text))
    elif paragraph.kind == "url" or (paragraph.kind != "text" and not links):
        yield MessageEntity(whole[paragraph.kind], at, length(text))
    else:
        for link in links:
            yield MessageEntity(MessageEntity.CODE, at + length(text[: link.start()]), length(link.group()))


def _keyboard(buttons: Sequence[ChatButton]) -> Keyboard | None:
    rows: list[list[KeyboardButton]] = []
    before: ChatButton | None = None
    for button in buttons:
        shown = KeyboardButton(button.label, callback_data=button.data or None, url=button.url or None)
        if before is None or button.is_option or before.is_option or button.url or len(rows[-1]) == _ROW:
            rows.append([])
        rows[-1].append(shown)
        before = button
    return Keyboard(rows) if rows else None
