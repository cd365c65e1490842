"""`ChatHandler`: asks the user of a request in any chat, through an adapter."""

from __future__ import annotations

import functools
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from types import NoneType
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakValueDictionary

import anyio

from mcp_elicit_client._arguments import check_async, check_method, check_type
from mcp_elicit_client._concurrency import call_inside
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.request import check_user
from mcp_elicit_client.dispatch import normalize_handler
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError
from mcp_elicit_client.handlers.chat.dialogs import REMEMBER, make_dialog, read_dialog, reason_not_shown
from mcp_elicit_client.handlers.chat.message_sender import MessageSender
from mcp_elicit_client.handlers.chat.platform import (
    ChatError,
    ChatLimits,
    ChatMessage,
    ChatPlatform,
    DialogValue,
    Paragraph,
    Reaction,
)
from mcp_elicit_client.handlers.chat.rendering import Rendering
from mcp_elicit_client.handlers.chat.sessions import Session, Sessions
from mcp_elicit_client.inbox.handler import InboxHandler
from mcp_elicit_client.inbox.inbox import Inbox, list_all, record_notice
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.conversation import Turn, UrlConversation
from mcp_elicit_client.presentation.date_parsing import check_time_zone
from mcp_elicit_client.presentation.descriptions import server_name
from mcp_elicit_client.stored_answers import stored_answers
from mcp_elicit_client.typing import Answer, Handler, Request, UrlRequest

P = ParamSpec("P")
T = TypeVar("T")

_CLOSE_TIMEOUT = 5.0

_logger = logging.getLogger("mcp_elicit_client")


class _ClosedError(Exception):
    """The request that a user acted on is closed.  The text says why, to the user."""


def _or_try_again(
    react: Callable[Concatenate[ChatHandler, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[ChatHandler, P], Coroutine[Any, Any, T | Reaction]]:
    """
    Return *react* so that users learn if the request is closed, or the store of the inbox cannot be used.

    If the store cannot be used, what they did is not lost.
    """

    @functools.wraps(react)
    async def reacting(handler: ChatHandler, /, *arguments: P.args, **options: P.kwargs) -> T | Reaction:
        try:
            return await react(handler, *arguments, **options)
        except _ClosedError as error:
            return Reaction(str(error))
        except EntryNotFoundError:  # closed meanwhile; the store keeps no history
            return Reaction(handler._catalog.text(messages.MAY_HAVE_EXPIRED))  # noqa: SLF001 -- a method
        except InboxError as error:
            _logger.warning("An action of a user in a chat could not be stored: %s", error)
            return Reaction(handler._catalog.text(messages.TRY_AGAIN))  # noqa: SLF001 -- a method

    return reacting


class ChatHandler:
    """
    Asks users in a chat, with messages, buttons, replies and dialogs.

    The user of a request (`Request.user`) is the person in the chat, as the
    chat names them.  Only this person can answer.  A request that the chat
    cannot show at all is cancelled, or passed on to *fallback*: for example
    one with a field for a password, since chats keep what is typed.

    An adapter passes on what users do: `press`, `reply` and `submit`.  All
    may be called in any process that uses the same inbox.

    Args:
        platform: The chat.
        inbox: Where requests are kept until they are answered; None for one
            in memory.
        default_user: The person who answers requests without a user; None to
            cancel them.
        fallback: Answers requests that the chat cannot show.
        messages: The texts, and the locale of numbers and dates.
        time_zone: The users' time zone, such as ``Europe/Berlin``; None to
            ask for it.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If *default_user* does not have 1 to 256 characters, or
            *time_zone* is not known on this computer.
    """

    def __init__(  # noqa: PLR0913 -- by keyword
        self,
        platform: ChatPlatform,
        *,
        inbox: Inbox | None = None,
        default_user: str | None = None,
        fallback: Handler | None = None,
        messages: MessageCatalog = ENGLISH,
        time_zone: str | None = None,
    ) -> None:
        check_method("platform", platform, "send", "a `ChatPlatform`")
        check_async("platform.send", platform.send, "person", "message")
        check_async("platform.edit", getattr(platform, "edit", None), "person", "message_id", "message")
        check_type("platform.limits", getattr(platform, "limits", None), ChatLimits)
        check_type("inbox", inbox, Inbox, NoneType, hint="Pass Inbox(store).")
        check_type("messages", messages, MessageCatalog)
        check_type("time_zone", time_zone, str, NoneType)
        if time_zone is not None:
            check_time_zone(time_zone)
        self._inbox: Inbox = Inbox(MemoryStore()) if inbox is None else inbox
        self._limits = platform.limits
        self._sender = MessageSender(platform)
        self._default_user = check_user(default_user, "default_user")
        self._fallback = None if fallback is None else normalize_handler(fallback)
        self._catalog = messages
        self._rendering = Rendering(platform.limits, messages)
        self._sessions = Sessions(self._inbox, platform.limits, messages, time_zone)
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._shown: dict[str, str] = {}
        self._asking: set[str] = set()

    # --- The host asks

    async def __call__(self, request: Request, /) -> Answer:
        """Ask the user, and wait for the answer.  If this is cancelled, the request is withdrawn."""
        if stored_answers.get() is not None:
            return await InboxHandler(self._inbox, self._default_user)(request)
        reason = reason_not_shown(request, self._limits)
        if reason:
            return await self._answer_elsewhere(request, reason)
        failures: list[Exception] = []
        placed: list[tuple[str, str]] = []
        answer: Answer | None = None

        async def ask(owner: str, entry_id: str) -> None:
            placed.append((owner, entry_id))
            self._asking.add(entry_id)
            try:
                await call_inside(lambda: self.announce(owner, entry_id))
            except Exception as error:
                if not isinstance(error, ChatError):
                    _logger.exception("A request could not be shown in a chat.")
                failures.append(error)
                scope.cancel()  # which withdraws the request, as soon as the store can be used
                return
            await self._await_completion(request, owner, entry_id)

        try:
            with anyio.CancelScope() as scope:
                answer = await InboxHandler(self._inbox, self._default_user, ask)(request)
        finally:
            for owner, entry_id in placed:
                self._asking.discard(entry_id)
                await self._close(owner, entry_id, request, answer)
        if failures:
            return await self._answer_elsewhere(request, f"the chat did not take the message: {_reason(failures[0])}")
        assert answer is not None  # the scope is cancelled after a failure only
        return answer

    async def announce(self, owner: str, entry_id: str) -> None:
        """
        Ask *owner* for the answer to a request in the inbox, or ask again.

        Call this for the requests of a suspended call, and for pending
        requests whose messages were lost.

        Raises:
            ChatError: If the chat cannot show the request, or did not take
                the message.
            EntryNotFoundError: If there is no such request, or it has another
                owner.
            InboxError: If the store cannot be used.
        """
        async with self._lock(entry_id):
            session = await self._read(owner, entry_id)
            reason = reason_not_shown(session.request, self._limits)
            if reason:
                raise ChatError(reason)
            await self._show(owner, session, session.conversation.start(), is_below=True)

    async def notify(self, notice: Notice, /) -> None:
        """Tell the user that a policy declined a request."""
        owner = notice.request.user or self._default_user
        if owner is None:
            return
        await record_notice(self._inbox, owner, notice)
        for message in self._rendering.notice(notice):
            await self._sender.inform(owner, message)

    # --- The user answers

    @_or_try_again
    async def press(self, person: str, data: str, *, message_id: str = "", opens_dialogs: bool = True) -> Reaction:
        """
        React to a button.

        Args:
            person: Who pressed it, as the chat reports.
            data: The data of the button.
            message_id: The message of the button, whose buttons are removed
                if the request is closed.
            opens_dialogs: False if a dialog could not be opened just now.
        """
        entry_id, _, button = data.partition(":")
        async with self._pending(person, entry_id, message_id) as session:
            if not session.conversation.is_offered(button):
                is_other = bool(message_id) and message_id not in session.all_ids  # another process showed it
                return await self._refresh(person, session, is_below=is_other)
            if opens_dialogs and session.form is not None:
                fields = session.form.dialog_fields(button)
                if fields:
                    context = self._sessions.context(session.request)
                    return Reaction(dialog=make_dialog(session.form, fields, data, self._rendering, context))
            turn = await anyio.to_thread.run_sync(session.conversation.press, button)
            return await self._proceed(person, session, turn)

    @_or_try_again
    async def submit(self, person: str, dialog_id: str, values: Mapping[str, DialogValue]) -> Reaction:
        """
        React to a dialog.

        Args:
            person: Who filled it in, as the chat reports.
            dialog_id: `Dialog.id`.
            values: What was entered, by `DialogField.id`.
        """
        entry_id, _, button = dialog_id.partition(":")
        async with self._pending(person, entry_id) as session:
            if session.form is None or not session.conversation.is_offered(button):
                return Reaction(self._catalog.text(messages.OLD_BUTTON))
            try:
                given = read_dialog(session.form.request, values, self._sessions.context(session.request))
            except (ValueError, LookupError):
                return Reaction(self._catalog.text(messages.OLD_BUTTON))
            if REMEMBER in values:
                session.form.remember(is_chosen=bool(values[REMEMBER]))
            turn = await anyio.to_thread.run_sync(session.form.fill, given)
            if isinstance(turn, Turn):
                return await self._proceed(person, session, turn)
            await self._sessions.save(person, session)  # what is valid
            names = list(session.form.request.form.by_name)
            return Reaction(errors={str(names.index(name)): text for name, text in turn.items()})

    @_or_try_again
    async def reply(self, person: str, text: str, *, message_id: str, reply_to: str | None = None) -> Reaction | None:
        """
        React to a message of a user; return None if it does not answer a request.

        Args:
            person: Who sent it, as the chat reports.
            text: The text.
            message_id: The ID of the message, so that it is used only once.
            reply_to: The ID of the message that it replies to.  None if it
                replies to no message: it then answers the field that is
                shown, if there is only one.
        """
        found = await self._asked(person, message_id, reply_to)
        if len(found) != 1:
            return Reaction(self._catalog.text(messages.REPLY_TO_ONE)) if found else None
        entry_id = found[0].entry.id
        async with self._pending(person, entry_id) as session:
            if message_id in session.seen:
                return Reaction()
            session.seen.append(message_id)
            is_same = session.is_shown and found[0].is_shown and session.conversation.turn == found[0].conversation.turn
            if is_same and not self._is_late(session, message_id, reply_to):
                turn = await anyio.to_thread.run_sync(session.conversation.reply, text)
            else:  # the user saw another question than the one that the text would answer
                turn = session.ask()
            return await self._proceed(person, session, turn, is_below=True)

    # --- Steps

    def _lock(self, entry_id: str) -> anyio.Lock:
        return self._locks.setdefault(entry_id, anyio.Lock())

    async def _read(self, owner: str, entry_id: str) -> Session:
        """Return a session; if it was forgotten, with the message that this process has shown."""
        session = await self._sessions.load(owner, entry_id)
        if session.is_new and entry_id in self._shown:
            session.message_ids = [self._shown[entry_id]]
        return session

    @asynccontextmanager
    async def _pending(self, person: str, entry_id: str, message_id: str = "") -> AsyncIterator[Session]:
        """Yield the session of a pending request, which no other action of a user changes meanwhile."""
        async with self._lock(entry_id):
            session = await self._read(person, entry_id)
            if session.entry.state != "pending":
                outcome = self._rendering.outcome(session.entry)
                await self._sender.edit(person, message_id or session.message_id, outcome)
                raise _ClosedError(self._rendering.closed_text(session.entry))
            yield session

    def _is_before(self, message_id: str, shown_id: str) -> bool:  # noqa: ARG002 -- for adapters
        """Return True if the IDs tell that a message of a user was sent before another one was shown."""
        return False

    def _is_late(self, session: Session, message_id: str, reply_to: str | None) -> bool:
        """Return True if a message of a user is about an earlier question than the one that is shown."""
        if reply_to is not None:
            return reply_to in session.earlier_ids
        return self._is_before(message_id, session.message_id)

    async def _asked(self, person: str, message_id: str, reply_to: str | None) -> list[Session]:
        """Return the sessions of *person* that a message may be for."""
        sessions: list[Session] = []
        for each in await list_all(self._inbox, person):
            with suppress(EntryNotFoundError, InboxError):  # closed meanwhile, or not readable
                sessions.append(await self._read(person, each.id))
        if reply_to is not None:
            return [each for each in sessions if reply_to in each.all_ids]
        shown = [each for each in sessions if each.all_ids and not self._is_before(message_id, each.all_ids[0])]
        return [each for each in shown if each.form is not None and each.form.asked is not None]

    async def _refresh(self, person: str, session: Session, *, is_below: bool) -> Reaction:
        """Ask again after a button that is not valid, so that valid ones are there."""
        # The button worked, but the chat did not take what followed.
        is_retry = not session.is_new and not session.is_shown
        reaction = await self._proceed(person, session, session.ask(), is_below=is_below)
        return reaction if reaction.note or is_retry else Reaction(self._catalog.text(messages.OLD_BUTTON))

    async def _proceed(self, person: str, session: Session, turn: Turn, *, is_below: bool = False) -> Reaction:
        if turn.answer is not None:
            return await self._send(person, session, turn.answer, is_below=is_below)
        try:
            await self._show(person, session, turn, is_below=is_below)
        except ChatError as error:
            _logger.warning("A chat did not take the next message of a request: %s", error)
            return Reaction(self._catalog.text(messages.CANNOT_CONTINUE))
        except EntryNotFoundError:  # closed meanwhile; the store keeps no history
            if session.entry.id in self._asking:
                raise
        if session.entry.id not in self._asking:  # otherwise the task that asks does this
            await self._replace_if_closed(person, session)
        return Reaction()

    async def _replace_if_closed(self, person: str, session: Session) -> None:
        """Replace a question that was shown after the end: the process that asks does not know of it."""
        try:
            entry = await self._inbox.get(person, session.entry.id)
            if entry.state == "pending":
                return
            outcome = self._rendering.outcome(entry)
        except EntryNotFoundError:
            outcome = self._rendering.ended(session.request, None)
        await self._sender.conclude(person, session.message_id, outcome)
        await self._forget(person, session.entry.id)

    async def _send(self, person: str, session: Session, answer: Answer, *, is_below: bool) -> Reaction:
        """Answer the request, unless it was answered before."""
        entry_id = session.entry.id
        if entry_id in self._asking:  # another process may have shown it, and an answer ends the session
            self._shown[entry_id] = session.message_id
        try:
            result = await self._inbox.answer(
                person,
                entry_id,
                answer.action,
                answer.content,
                block_server=answer.block_server,
                confirmed=answer.confirmed,
                remember=answer.remember,
            )
        except EntryClosedError:
            session.entry = await self._inbox.get(person, entry_id)
            return Reaction(self._rendering.closed_text(session.entry))
        if not result:
            turn = session.conversation.ask_again(result.errors)
            return await self._proceed(person, session, turn, is_below=is_below)
        if entry_id not in self._asking:  # otherwise the task that asks does this
            done = session.entry.model_copy(update={"state": "answered", "action": answer.action})
            await self._sender.conclude(person, session.message_id, self._rendering.outcome(done))
            await self._forget(person, entry_id)
        return Reaction()

    async def _show(self, person: str, session: Session, turn: Turn, *, is_below: bool = False) -> None:
        """
        Show *turn* in place of the message with the buttons; if *is_below*, as a new message below it.

        A turn with several messages is always below: the buttons remain if
        the chat does not take all of them.  The state is kept first: no button
        works twice, even if the program ends now.
        """
        session.is_shown = False
        await self._sessions.save(person, session)
        before = session.message_id
        rendered = self._rendering.message(turn, session.entry)
        is_below = is_below or len(rendered) > 1
        session.replace_messages(await self._sender.show(person, "" if is_below else before, rendered))
        if session.entry.id in self._asking:  # which forgets it
            self._shown[session.entry.id] = session.message_id
        session.is_shown = True
        await self._sessions.save(person, session)
        if is_below:
            continued = self._rendering.sentence(session.request, self._catalog.text(messages.CONTINUED))
            await self._sender.edit(person, before, continued)

    async def _await_completion(self, request: Request, owner: str, entry_id: str) -> None:
        """Answer a URL when the server reports completion, if the user agreed to open it."""
        if not isinstance(request, UrlRequest) or request.completion is None:
            return
        await request.completion.wait()
        with suppress(EntryNotFoundError, _ClosedError):
            await self._complete(owner, entry_id)

    async def _complete(self, owner: str, entry_id: str) -> None:
        async with self._pending(owner, entry_id) as session:
            conversation = session.conversation
            if isinstance(conversation, UrlConversation) and conversation.is_waiting:
                await self._proceed(owner, session, conversation.complete())

    # --- Ends

    async def _answer_elsewhere(self, request: Request, reason: str) -> Answer:
        """Return the answer to a request that the chat cannot show.  The user was not asked."""
        if self._fallback is not None:
            return await self._fallback(request)
        owner = request.user or self._default_user
        if owner is not None:
            text = self._catalog.text(messages.CANNOT_SHOW, server=server_name(request.server))
            message = ChatMessage(text, (Paragraph("text", self._limits.escape(text)),))
            await self._sender.inform(owner, message)
        return Answer.cancel(by="unattended", reason=reason)

    async def _close(self, owner: str, entry_id: str, request: Request, answer: Answer | None) -> None:
        """Replace the message with the buttons, if it is still there, and forget the conversation."""
        with anyio.move_on_after(_CLOSE_TIMEOUT, shield=True):
            async with self._lock(entry_id):  # a question that is on its way to the chat arrives before the outcome
                await self._show_outcome(owner, entry_id, request, answer)
                await self._forget(owner, entry_id)

    async def _show_outcome(self, owner: str, entry_id: str, request: Request, answer: Answer | None) -> None:
        shown_id = self._shown.pop(entry_id, "")
        try:
            message_id = await self._sessions.shown_message(owner, entry_id) or shown_id
            outcome = self._rendering.outcome(await self._inbox.get(owner, entry_id))
        except EntryNotFoundError:  # the store keeps no history
            outcome = self._rendering.ended(request, answer)
        except InboxError as error:
            _logger.debug("A request that is closed could not be read: %s", error)
            return
        await self._sender.conclude(owner, message_id, outcome)

    async def _forget(self, owner: str, entry_id: str) -> None:
        try:
            await self._sessions.forget(owner, entry_id)
        except InboxError as error:  # it expires
            _logger.debug("A conversation that has ended could not be deleted: %s", error)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ChatError) else type(error).__name__
