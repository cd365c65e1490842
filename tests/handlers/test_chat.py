"""Requests in any chat: several processes, and texts at the limits of the chat."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from mcp_elicit_client import Answer, parse_request
from mcp_elicit_client.handlers.chat import ChatButton, ChatError, ChatHandler, ChatLimits, ChatMessage, Paragraph
from mcp_elicit_client.handlers.chat.message_sender import MessageSender
from mcp_elicit_client.handlers.chat.rendering import Rendering, length
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore, SqliteStore
from mcp_elicit_client.inbox.inbox import get_progress, save_progress
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.typing import Request
from tests.support import form_params, until

pytestmark = pytest.mark.anyio

OLD_BUTTON = "This button is no longer valid."


class Chat:
    """A chat in memory, for one person."""

    limits = ChatLimits(max_text=4096, max_label=60, max_input=4096)

    def __init__(self) -> None:
        self.messages: dict[str, ChatMessage] = {}
        self._numbers = itertools.count(1)

    async def send(self, person: str, message: ChatMessage, /) -> str:
        message_id = str(next(self._numbers))
        await self.edit(person, message_id, message)
        return message_id

    async def edit(self, _person: str, message_id: str, message: ChatMessage, /) -> None:
        await anyio.lowlevel.checkpoint()
        assert len(message.buttons) <= self.limits.max_options + 12
        assert all(len(each.data.encode()) <= 64 for each in message.buttons)
        self.messages[message_id] = message

    def button(self, label: str, message_id: str) -> ChatButton:
        return next(each for each in self.messages[message_id].buttons if each.label == label)


class SlowChat(Chat):
    """
    A chat that may hold messages with buttons.

    Attributes:
        may_go_on: What such messages wait for.
        is_held: True after one had to wait.
    """

    may_go_on: anyio.Event | None = None
    is_held = False

    async def edit(self, person: str, message_id: str, message: ChatMessage, /) -> None:
        if self.may_go_on is not None and message.buttons:
            self.is_held = True
            await self.may_go_on.wait()
        await super().edit(person, message_id, message)


class OtherProcess:
    """
    The store of another process, where each access takes its time.

    Attributes:
        saved: The number of times that something was to be kept.
        holds: What to wait for before something is kept, by that number.
    """

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.saved = 0
        self.holds: dict[int, Callable[[], bool]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get_draft(self, owner: str, key: str) -> str:
        found = await self._store.get_draft(owner, key)
        await anyio.lowlevel.checkpoint()
        return found

    async def save_draft(self, owner: str, key: str, draft: str, expires_at: float) -> None:
        self.saved += 1
        may_go_on = self.holds.get(self.saved, lambda: True)
        await anyio.lowlevel.checkpoint()
        await until(may_go_on)
        await self._store.save_draft(owner, key, draft, expires_at)


def form(names: str, **options: Any) -> Request:
    schema = {"properties": {name: {"enum": ["x", "y"], "title": name} for name in names}}
    return parse_request(form_params(schema, "Please"), server="mail", user="ann", **options)


async def announced(group: Any, inbox: Inbox, ask: ChatHandler, request: Request, answers: list[Answer]) -> str:
    """Ask in a process that only waits; show the request with *ask*, and return its ID."""
    ids: list[str] = []

    async def note(_owner: str, entry_id: str) -> None:
        ids.append(entry_id)

    async def wait() -> None:
        answers.append(await InboxHandler(inbox, on_pending=note)(request))

    group.start_soon(wait)
    await until(lambda: ids)
    await ask.announce("ann", ids[0])
    return ids[0]


async def test_processes_that_ask_the_same_at_the_same_time_keep_what_was_entered_in_each() -> None:
    store, chat = MemoryStore(), Chat()
    answers: list[Answer] = []
    handlers = [ChatHandler(chat, inbox=Inbox(OtherProcess(store))) for _ in range(2)]
    notes = []

    async def press(ask: ChatHandler, label: str, message_id: str) -> None:
        notes.append((await ask.press("ann", chat.button(label, message_id).data)).note)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            for ask in handlers:
                await announced(group, Inbox(store), ask, form("abc"), answers)
            for _ in range(3):
                async with anyio.create_task_group() as presses:
                    for ask, label, message_id in zip(handlers, ["“x”", "“y”"], ["1", "2"], strict=True):
                        presses.start_soon(press, ask, label, message_id)
            for ask, message_id in zip(handlers, ["1", "2"], strict=True):
                await press(ask, "Send", message_id)

    assert set(notes) == {""}
    assert [each.content for each in answers] == [dict.fromkeys("abc", value) for value in "xy"]


async def test_a_chat_that_refuses_a_link_gets_that_message_without_it_and_the_others_once() -> None:
    class NoLinks(Chat):
        async def edit(self, person: str, message_id: str, message: ChatMessage, /) -> None:
            if any(each.url for each in message.buttons):
                raise ChatError("no host")
            await super().edit(person, message_id, message)

    chat = NoLinks()
    sender = MessageSender(chat)
    question = ChatMessage("", (Paragraph("text", "Open it?"),), (ChatButton("Yes", "1"),))
    link = ChatMessage("", (), (ChatButton("Open", url="https://intranet/17"), ChatButton("Done", "2")))

    ids = await sender.show("ann", "", [question, link])
    ids = await sender.show("ann", ids[1], [link, question])

    shown = [[each.label for each in message.buttons] for message in chat.messages.values()]
    assert shown == [["Yes"], ["Done"], ["Yes"]]
    assert ids == [*chat.messages][1:]


async def test_an_adapter_that_returns_no_id_cancels_the_request_and_the_log_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Forgetful(Chat):
        async def send(self, person: str, message: ChatMessage, /) -> Any:
            await super().send(person, message)

    answer = await ChatHandler(Forgetful())(form("a"))

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert "`platform.send(person, message)` must be str, not NoneType" in caplog.text


async def test_a_request_that_can_be_neither_shown_nor_withdrawn_is_cancelled_at_once(tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"
    inbox = Inbox(SqliteStore(path, lock_timeout=0.1))
    await inbox.list("ann")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:

        class Locking(Chat):
            async def send(self, person: str, message: ChatMessage, /) -> str:
                if not other.in_transaction:
                    other.execute("BEGIN IMMEDIATE")
                return await super().send(person, message)

        with anyio.fail_after(10):
            answer: Any = await ChatHandler(Locking(), inbox=inbox)(form("a"))
        other.execute("ROLLBACK")
    assert (answer.action, answer.by) == ("cancel", "unattended")

    async def is_withdrawn() -> bool:
        return [each.state for each in (await inbox.history("ann")).entries] == ["withdrawn"]

    await until(is_withdrawn)
    await inbox.aclose()


async def test_an_answer_leaves_the_conversation_about_the_same_request_in_another_process() -> None:
    store, chat = MemoryStore(), Chat()
    answers: list[Answer] = []
    handlers = [ChatHandler(chat, inbox=Inbox(store)) for _ in range(2)]
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            ids = [await announced(group, Inbox(store), ask, form("ab"), answers) for ask in handlers]
            await handlers[1].press("ann", chat.button("“y”", "2").data)
            await Inbox(store).answer("ann", ids[0], "decline")

            assert (await handlers[1].press("ann", chat.button("“y”", "2").data)).note == ""
            await handlers[1].press("ann", chat.button("Send", "2").data)

    assert [each.content for each in answers] == [None, {"a": "y", "b": "y"}]
    kept = [await get_progress(ask._inbox, "ann", entry_id) for ask, entry_id in zip(handlers, ids, strict=True)]
    assert kept == [{"message_ids": ["1"]}, None]  # for a moment; nothing that the user entered


async def test_a_request_that_is_announced_again_leaves_no_buttons_above_it() -> None:
    inbox, chat, answers = Inbox(MemoryStore()), Chat(), list[Answer]()
    ask = ChatHandler(chat, inbox=inbox)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            entry_id = await announced(group, inbox, ask, form("a"), answers)
            await ask.announce("ann", entry_id)
            assert chat.messages["1"].text.endswith("Continued below.")
            assert not chat.messages["1"].buttons
            await ask.press("ann", chat.button("“x”", "2").data)
            await ask.press("ann", chat.button("Send", "2").data)

    assert [each.content for each in answers] == [{"a": "x"}]


async def test_fields_with_the_same_label_are_edited_by_the_numbers_of_the_review() -> None:
    chat = Chat()
    ask = ChatHandler(chat)
    names = {each: {"type": "boolean", "title": "Agreed"} for each in "abcdefghijk"}
    request = parse_request(
        form_params({"properties": {**names, "x": {"type": "boolean", "title": "Other"}}}), server="mail", user="ann"
    )
    answers: list[Answer] = []

    async def press(label: str) -> None:
        await ask.press("ann", chat.button(label, "1").data)

    async def wait() -> None:
        answers.append(await ask(request))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await until(lambda: chat.messages)
            await anyio.wait_all_tasks_blocked()
            for label in [*["Yes"] * 12, "Edit", "2. “Agreed”", "No", "Edit", "More fields"]:
                await press(label)
            shown = [each.label for each in chat.messages["1"].buttons if each.is_option]
            for label in ["Back", "Send"]:
                await press(label)

    assert shown == ["11. “Agreed”", "“Other”"]
    assert [each.content for each in answers] == [{**dict.fromkeys([*names, "x"], True), "b": False}]


TWO_TEXTS = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}


@asynccontextmanager
async def continued_by_another_process(
    chat: Chat, inbox: Inbox, schema: dict[str, Any]
) -> AsyncIterator[tuple[TaskGroup, ChatHandler]]:
    """Ask in one process, whose handler is yielded, and let another one read the first text and show what follows."""
    asks, other = ChatHandler(chat, inbox=inbox), ChatHandler(chat, inbox=inbox)
    request = parse_request(form_params(schema), server="mail", user="ann")
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(asks, request)
            await until(lambda: chat.messages)
            await anyio.wait_all_tasks_blocked()
            assert await other.reply("ann", "x", message_id="m1") is not None
            yield group, asks


@pytest.mark.parametrize("max_history", [0, 100])
async def test_a_withdrawn_request_loses_the_buttons_that_another_process_has_shown(max_history: int) -> None:
    chat, inbox = Chat(), Inbox(MemoryStore(max_history=max_history))
    async with continued_by_another_process(chat, inbox, TWO_TEXTS) as (group, _):
        group.cancel_scope.cancel()

    assert chat.messages["2"].text.endswith("mail no longer needs an answer.")
    assert not any(each.buttons for each in chat.messages.values())


@pytest.mark.parametrize("max_history", [0, 100])
async def test_an_answer_replaces_the_buttons_that_another_process_has_shown(max_history: int) -> None:
    chat, inbox = Chat(), Inbox(MemoryStore(max_history=max_history))
    schema = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
    async with continued_by_another_process(chat, inbox, schema) as (_, asks):
        await asks.press("ann", chat.button("Send", "2").data)

    assert chat.messages["2"].text.endswith("You accepted.")
    assert not any(each.buttons for each in chat.messages.values())


@pytest.mark.parametrize("max_history", [0, 100])
@pytest.mark.parametrize("end", ["answered", "withdrawn", "expired"])
async def test_an_end_outside_of_the_chat_replaces_the_buttons_that_another_process_has_shown(
    max_history: int, end: str
) -> None:
    now = [1_800_000_000.0]
    chat, inbox = Chat(), Inbox(MemoryStore(max_history=max_history, clock=lambda: now[0]))
    async with continued_by_another_process(chat, inbox, TWO_TEXTS):
        [entry] = (await inbox.list("ann")).entries
        if end == "answered":
            await inbox.answer("ann", entry.id, "decline")
        elif end == "withdrawn":
            await inbox.withdraw("ann", entry.id)
        else:
            now[0] = entry.max_expires_at.timestamp() + 1
            await inbox.list("ann")

    assert not any(each.buttons for each in chat.messages.values())
    assert chat.messages["1"].text.endswith("Continued below.")
    assert await get_progress(inbox, "ann", entry.id) is None


async def test_a_question_on_its_way_to_the_chat_does_not_replace_the_outcome() -> None:
    store, chat = MemoryStore(), SlowChat()
    handler, answers = ChatHandler(chat, inbox=Inbox(store)), list[Answer]()

    async def ask() -> None:
        answers.append(await handler(form("ab")))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await until(lambda: chat.messages)
        chat.may_go_on = anyio.Event()
        group.start_soon(partial(handler.press, "ann", chat.button("“x”", "1").data, message_id="1"))
        await until(lambda: chat.is_held)
        entry = (await Inbox(store).list("ann")).entries[0]
        await Inbox(store).answer("ann", entry.id, "decline")
        await anyio.wait_all_tasks_blocked()
        chat.may_go_on.set()

    assert [answer.action for answer in answers] == ["decline"]
    assert not chat.messages["1"].buttons
    assert await get_progress(Inbox(store), "ann", entry.id) is None


@pytest.mark.parametrize("max_history", [0, 100])
async def test_a_question_that_another_process_shows_after_the_end_is_replaced_and_not_kept(max_history: int) -> None:
    store, chat = MemoryStore(max_history=max_history), SlowChat()
    asks, other = (ChatHandler(chat, inbox=Inbox(store)) for _ in range(2))

    async with anyio.create_task_group() as group:
        group.start_soon(asks, form("ab"))
        await until(lambda: chat.messages)
        chat.may_go_on = anyio.Event()
        group.start_soon(partial(other.press, "ann", chat.button("“x”", "1").data, message_id="1"))
        await until(lambda: chat.is_held)
        [entry] = (await Inbox(store).list("ann")).entries
        await Inbox(store).answer("ann", entry.id, "decline")
        await until(lambda: not chat.messages["1"].buttons)
        chat.may_go_on.set()

    assert not chat.messages["1"].buttons
    assert "inputs" not in (await get_progress(Inbox(store), "ann", entry.id) or {})


async def test_a_conversation_is_kept_as_long_as_the_request_and_no_longer() -> None:
    now = [1_800_000_000.0]
    store, chat = MemoryStore(clock=lambda: now[0]), Chat()
    inbox = Inbox(store, answer_timeout=30_000)
    ask, answers = ChatHandler(chat, inbox=inbox), list[Answer]()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            ids = [await announced(group, inbox, ask, form("ab"), answers) for _ in range(3)]
            for message_id in "123":
                await ask.press("ann", chat.button("“x”", message_id).data)
            now[0] += 20_000
            await ask.press("ann", chat.button("“y”", "1").data)
            await ask.press("ann", chat.button("Send", "1").data)
            await inbox.withdraw("ann", ids[1])
            now[0] += 20_000
            group.start_soon(inbox.list, "ann")  # which notices what has expired

    ended = [await get_progress(inbox, "ann", each) for each in ids]
    now[0] += 60
    assert ended == [None, None, {"message_ids": ["3"]}]  # which the process that asked may replace
    assert answers[0].content == {"a": "x", "b": "y"}
    assert [each.action for each in answers] == ["accept", "cancel", "cancel"]
    assert [await get_progress(inbox, "ann", each) for each in ids] == [None] * 3


async def race(first: OtherProcess, second: OtherProcess, *work: Callable[[], Awaitable[object]]) -> None:
    """
    Do the *work* of two processes at once.

    Both read the same; the message of the second is shown last, and the state
    of the first is kept last.
    """
    first.saved, ended = 0, list[object]()
    first.holds = {1: lambda: second.saved == 1, 3: lambda: bool(ended)}
    second.holds = {1: lambda: first.saved == 3}

    async def run(each: Callable[[], Awaitable[object]]) -> None:
        await each()
        ended.append(each)

    async with anyio.create_task_group() as group:
        for each in work:
            group.start_soon(run, each)


@asynccontextmanager
async def two_processes(
    chat: Chat, answers: list[Answer]
) -> AsyncIterator[tuple[tuple[OtherProcess, OtherProcess], Sequence[ChatHandler]]]:
    """Yield the stores and the handlers of two processes.  The first asks for the fields a and b."""
    store = MemoryStore()
    stores = OtherProcess(store), OtherProcess(store)
    handlers = [ChatHandler(chat, inbox=Inbox(each)) for each in stores]
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            await announced(group, Inbox(store), handlers[0], form("ab"), answers)
            yield stores, handlers


async def test_nothing_is_sent_but_what_is_shown_if_two_processes_take_two_presses_at_once() -> None:
    chat, answers = Chat(), list[Answer]()
    async with two_processes(chat, answers) as (stores, handlers):
        await handlers[0].press("ann", chat.button("“x”", "1").data)
        buttons = [chat.button(label, "1").data for label in ("“x”", "“y”")]
        pairs = zip(handlers, buttons, strict=True)
        await race(*stores, *(partial(ask.press, "ann", button) for ask, button in pairs))
        assert "2. b: y" in chat.messages["1"].text

        reaction = await handlers[1].press("ann", chat.button("Send", "1").data)

        assert (reaction.note, answers) == (OLD_BUTTON, [])
        assert "2. b: x" in chat.messages["1"].text
        await handlers[1].press("ann", chat.button("Send", "1").data)

    assert answers[0].content == {"a": "x", "b": "x"}


async def test_if_two_processes_take_two_messages_at_once_a_button_of_either_question_leads_to_the_last() -> None:
    chat, answers = Chat(), list[Answer]()
    async with two_processes(chat, answers) as (stores, handlers):
        pairs = zip(handlers, "xy", strict=True)
        await race(*stores, *(partial(ask.reply, "ann", text, message_id=text) for ask, text in pairs))
        assert [each for each, shown in chat.messages.items() if shown.buttons] == ["2", "3"]

        reaction = await handlers[0].press("ann", chat.button("“x”", "3").data, message_id="3")

        assert reaction.note == OLD_BUTTON
        await handlers[0].press("ann", chat.button("“x”", "4").data, message_id="4")
        await handlers[0].press("ann", chat.button("Send", "4").data, message_id="4")

    assert answers[0].content == {"a": "x", "b": "x"}


@pytest.mark.parametrize("is_new_request", [False, True])
async def test_a_bot_that_speaks_another_language_after_a_restart_loses_nothing(*, is_new_request: bool) -> None:
    chat, inbox, answers = Chat(), Inbox(MemoryStore()), list[Answer]()
    german = ChatHandler(chat, inbox=inbox, messages=MessageCatalog.for_language("de"))
    english = ChatHandler(chat, inbox=inbox)
    fields = {"price": {"type": "number"}, "day": {"type": "string", "format": "date"}, "sure": {"type": "boolean"}}
    request = parse_request(form_params({"properties": fields}), server="mail", user="ann")
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            await announced(group, inbox, german, request, answers)
            await german.reply("ann", "1.234", message_id="m1")
            await german.reply("ann", "24. Dezember 2026", message_id="m2")
            if is_new_request:
                await german.press("ann", chat.button("Abbrechen", "3").data)
                await announced(group, inbox, english, request, answers)
                await english.press("ann", chat.button("Use this value", "4").data)
            else:
                await english.reply("ann", "/back", message_id="m3")
            await english.press("ann", chat.button("Use this value", "4").data)
            await english.press("ann", chat.button("Yes", "4").data)
            assert "1. price: 1234\n2. day: 2026-12-24\n" in chat.messages["4"].text
            await english.press("ann", chat.button("Send", "4").data)

    assert answers[-1].content == {"price": 1234, "day": "2026-12-24", "sure": True}


async def test_the_errors_of_an_answer_that_is_refused_as_a_whole_name_their_fields() -> None:
    chat, inbox, answers = Chat(), Inbox(MemoryStore()), list[Answer]()
    ask = ChatHandler(chat, inbox=inbox)
    fields = {"day": {"type": "string", "format": "date", "title": "Arrival"}, "sure": {"type": "boolean"}}
    params = form_params({"properties": fields, "required": ["day"]})
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            request = parse_request(params, server="mail", user="ann")
            entry_id = await announced(group, inbox, ask, request, answers)
            await ask.reply("ann", "2026-12-24", message_id="m1")
            await ask.press("ann", chat.button("Yes", "2").data)
            state = await get_progress(inbox, "ann", entry_id)
            assert state is not None
            state["inputs"]["day"] = "24. Dezember 2026"  # of an earlier version, which stored text, in German
            await save_progress(inbox, "ann", entry_id, state)
            await ask.press("ann", chat.button("Send", "2").data)
            assert "Arrival\nThis field is required.\nCheck your answers\n" in chat.messages["2"].text
            await ask.press("ann", chat.button("Decline", "2").data)


# --- texts


def escaped(text: str) -> str:
    return re.sub(r"([\\*_]|^#)", r"\\\1", text, flags=re.MULTILINE)


@pytest.mark.parametrize("limit", range(40, 46))
@pytest.mark.parametrize("text", ["\\*" * 100, "\\é*" * 100, "ä #b *c* " * 40, "# " * 100, "\n\n" + " a" * 90])
def test_a_break_in_a_long_text_lets_no_markup_take_effect(text: str, limit: int) -> None:
    limits = ChatLimits(max_text=limit, max_label=10, max_input=10, escape=escaped)
    pieces = [
        each.text
        for message in Rendering(limits, ENGLISH).split("t", [Paragraph("quote", text)])
        for each in message.paragraphs
    ]

    plain = [re.sub(r"\\(.)", r"\1", each) for each in pieces]
    assert [escaped(each) for each in plain] == pieces
    assert "".join("".join(plain).split()) == "".join(text.split())
    assert all(0 < length(each) < limit for each in pieces)


@pytest.mark.parametrize(
    "params",
    [
        form_params({"properties": {"a": {"type": "string"}}}, "word " * 700),
        form_params({"properties": {"a": {"enum": [f"{number}{'o' * 190}" for number in range(20)]}}}),
        form_params({"properties": {"a": {"type": "boolean"}, "b": {"type": "string", "description": "*" * 1_000}}}),
        form_params({"properties": {f"{'t' * 90}{number}": {"type": "boolean"} for number in range(20)}}),
        {"mode": "url", "message": "m", "url": f"https://a.example/{'x' * 2_000}", "elicitationId": "1"},
    ],
    ids=["message", "options", "help", "titles", "url"],
)
async def test_a_request_that_takes_too_many_messages_is_cancelled_before_any_is_sent(params: Any) -> None:
    chat = Chat()
    chat.limits = ChatLimits(max_text=300, max_label=20, max_input=100, escape=escaped)
    request = parse_request(params, server="mail", user="ann")

    with anyio.fail_after(30):
        answer = await ChatHandler(chat)(request)

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert "longer than the chat can show" in answer.reason
    assert [message.text for message in chat.messages.values()] == [
        "A request from mail cannot be shown here. It was cancelled."
    ]


async def test_a_question_with_every_control_has_at_most_twelve_buttons_besides_its_options() -> None:
    chat, answers = Chat(), list[Answer]()
    many = {"type": "array", "items": {"enum": [f"option {number}" for number in range(40)]}, "default": ["option 3"]}
    params = form_params({"properties": {"a": {"enum": ["x", "y"]}, "b": many}})
    request = parse_request(params, server="mail", user="ann").model_copy(update={"can_block": True})
    inbox = Inbox(MemoryStore())
    ask = ChatHandler(chat, inbox=inbox)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            await announced(group, inbox, ask, request, answers)
            for label in ("“x”", "“option 3”", "“option 5”", "More options"):
                await ask.press("ann", chat.button(label, "1").data)
            labels = [each.label for each in chat.messages["1"].buttons]
            assert {"Previous options", "More options", "Use selection", "Back", "Decline and block mail"} < set(labels)
            assert sum("“option" in label for label in labels) == chat.limits.max_options
            await ask.press("ann", chat.button("Decline", "1").data)

    assert [each.action for each in answers] == ["decline"]
