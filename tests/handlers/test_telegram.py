"""Requests in Telegram: through the real SDK, against a fake Bot API that has the limits of the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, UrlRules, parse_request
from mcp_elicit_client.core.request import with_completion
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore, SqliteStore
from mcp_elicit_client.inbox.inbox import save_progress
from mcp_elicit_client.typing import Request
from tests.support import form_params, until

pytest.importorskip("telegram")

from telegram.ext import Application, ExtBot, MessageHandler, filters
from telegram.request import HTTPXRequest

from mcp_elicit_client.handlers import telegram
from mcp_elicit_client.handlers.chat import ChatError, ChatMessage, Paragraph
from mcp_elicit_client.handlers.telegram import TelegramHandler
from tests.support.telegram_api import TOKEN, FakeTelegram, Shown

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.event_loops("asyncio"),
    # The SDK warns that the type of `RetryAfter.retry_after` will change.
    pytest.mark.filterwarnings("ignore::telegram.warnings.PTBDeprecationWarning"),
]

ANN, BOB = 11, 22
FIELDS: dict[str, Any] = {
    "name": {"type": "string", "title": "Name"},
    "guests": {"type": "integer", "title": "Guests", "minimum": 1},
    "dish": {"enum": ["Pizza", "Pasta"], "title": "Dish"},
    "extras": {"type": "array", "items": {"enum": ["Salad", "Wine", "Bread"]}, "title": "Extras"},
    "sure": {"type": "boolean", "title": "Sure"},
}
URL = {"mode": "url", "message": "Pay", "url": "https://pay.example.com/17", "elicitationId": "1"}


def form(fields: Any = FIELDS, *required: str, **options: Any) -> Request:
    schema = {"properties": fields, "required": list(required)}
    params = form_params(schema, options.pop("message", "Please"))
    return parse_request(params, server="mail", user=options.pop("user", str(ANN)), **options)


@dataclass
class Bot:
    """A running bot, and the requests that it was asked."""

    api: FakeTelegram
    ask: TelegramHandler
    group: Any
    answers: list[Answer] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    async def asks(self, request: Request, person: int = ANN) -> Shown:
        """Ask in the background; return the message."""
        count = len(self.ask._shown)
        self.group.start_soon(self._ask, request)
        await until(lambda: len(self.ask._shown) > count)
        return self.api.latest(person)

    async def _ask(self, request: Request) -> None:
        answer = await self.ask(request)
        self.answers.append(answer)

    async def press(self, label: str, person: int = ANN) -> Shown:
        shown = self.api.latest(person)
        await self.api.press(person, shown, shown.data(label))
        return self.api.latest(person)

    async def write(self, text: str) -> Shown:
        before = self.api.latest(ANN).id
        self.api.write(ANN, text)
        shown: Shown = await until(lambda: self.api.latest(ANN).id > before and self.api.latest(ANN))
        await until(lambda: not self.api.messages[before].buttons)
        return shown

    async def answer(self, count: int = 1) -> Answer:
        await until(lambda: len(self.answers) >= count)
        return self.answers[count - 1]


@asynccontextmanager
async def running(api: FakeTelegram, base_url: str, **options: Any) -> AsyncIterator[Bot]:
    builder = Application.builder().token(TOKEN).base_url(base_url).concurrent_updates(True)
    # Without TLS, whose certificates take long to read.
    clients = [HTTPXRequest(httpx_kwargs={"verify": False, "trust_env": False}) for _ in range(2)]
    application = builder.request(clients[0]).get_updates_request(clients[1]).build()
    bot = Bot(api, TelegramHandler(application, **options), None)

    async def hear(update: Any, _context: Any) -> None:
        bot.texts.append(update.message.text)

    application.add_handler(MessageHandler(filters.TEXT, hear))
    assert application.updater is not None
    async with application:
        await application.start()
        await application.updater.start_polling(poll_interval=0)
        try:
            async with anyio.create_task_group() as bot.group:
                yield bot
                bot.group.cancel_scope.cancel()
        finally:
            await application.updater.stop()
            await application.stop()


@pytest.fixture
async def bot(anyio_backend: Any) -> AsyncIterator[Bot]:
    api = FakeTelegram()
    async with api.serve() as base_url, running(api, base_url) as bot:
        yield bot


async def test_a_form_is_answered_with_buttons_and_messages(bot: Bot) -> None:
    await bot.asks(form())
    await bot.write("Ann")
    await bot.write("two")
    assert "Enter a whole number." in bot.api.latest(ANN).text
    await bot.write("2")
    await bot.press("“Pasta”")
    await bot.press("“Wine”")
    await bot.press("“Salad”")
    await bot.press("Use selection")
    review = await bot.press("Yes")
    assert "Check your answers" in review.text
    await bot.press("Send")

    answer = await bot.answer()

    assert (answer.action, answer.by) == ("accept", "user")
    assert answer.content == {"name": "Ann", "guests": 2, "dish": "Pasta", "extras": ["Salad", "Wine"], "sure": True}
    assert bot.api.latest(ANN).text.endswith("You accepted.")
    assert not any(each.buttons for each in bot.api.messages.values())


async def test_server_text_is_quoted_and_host_text_comes_last(bot: Bot) -> None:
    shown = await bot.asks(
        form({"a": {"type": "string", "title": "Ann's *name*", "description": "As in _your_ passport"}})
    )

    (entry,) = (await bot.ask._inbox.list(str(ANN))).entries
    assert shown.text == (
        "mail asks for 1 answer\nPlease\nQuoted text comes from the server.\n"
        f"Expires at {entry.expires_at:%H:%M:%S} UTC\n"
        "Field 1 of 1\nAnn's *name*\nAs in _your_ passport\nText; optional\nmail: Send your answer as a message."
    )
    assert shown.marked("blockquote") == ["Please", "Ann's *name*", "As in _your_ passport"]
    assert shown.marked("bold") == ["mail asks for 1 answer", "Field 1 of 1"]


async def test_each_question_names_the_server_and_repeats_its_message(bot: Bot) -> None:
    await bot.asks(form(message="To book your table"))
    labels = ["Back", "Use this value", "Do not provide", "“Pasta”", "Do not provide", "Yes", "Edit"]
    texts = [(await bot.write("Ann")).text, *[(await bot.press(label)).text for label in labels]]

    opening = "mail asks for 5 answers\nTo book your table\nQuoted text comes from the server.\n"
    assert all(each.startswith(opening) for each in texts)
    assert "Check your answers" in texts[-2]


async def test_a_message_that_is_too_long_to_be_repeated_stays_above_the_questions(bot: Bot) -> None:
    long = "".join(f"word{number} " for number in range(100)).strip()
    await bot.asks(form(message=long))
    await bot.write("Ann")
    third = await bot.write("2")

    first, *replaced = bot.api.messages.values()
    assert first.marked("blockquote") == [long]
    assert [each.text for each in replaced[:2]] == ["mail asks for 5 answers\nContinued below."] * 2
    assert third.text.startswith("mail asks for 5 answers\nword0 word1 ")
    assert third.marked("blockquote")[0] == f"{long[:500]}…"
    assert "Field 3 of 5" in third.text


@pytest.mark.parametrize(
    "text",
    [
        *("see evil.example", "see i\u2764.example", "see \U0001f4a9.la", "see ~.example", "https://a.example/"),
        *("ask @admin", "/start now", "#tag", "+49 123 456 789"),
    ],
)
async def test_nothing_in_server_text_becomes_a_link(bot: Bot, text: str) -> None:
    shown = await bot.asks(form({"a": {"type": "string", "title": text}}))

    assert shown.marked("pre") == [text]


def test_links_in_a_long_text_are_found_in_a_time_in_proportion_to_its_length() -> None:
    def time_of(length: int) -> float:
        paragraph = Paragraph("quote", "/" * length)
        begin = process_time()
        telegram._content(ChatMessage("", (paragraph,)))
        return process_time() - begin

    assert time_of(16_000) < 100 * time_of(1_000) + 0.05


async def test_nothing_in_a_long_review_becomes_a_link(bot: Bot) -> None:
    names = [f"www.e{at}.com" for at in range(110)]
    await bot.asks(form({name: {"type": "boolean", "title": name, "default": True} for name in names}))
    for _ in names:
        await bot.press("Use this value")

    assert any("Check your answers" in each.text for each in bot.api.messages.values())
    quotes = "\n".join(quote for each in bot.api.messages.values() for quote in each.marked("pre"))
    assert quotes.split("\n") == [f"{at}. {name}: yes" for at, name in enumerate(names, 1)]


async def test_labels_that_are_too_long_are_listed_in_full(bot: Bot) -> None:
    long = "A dish with everything, " * 6
    shown = await bot.asks(form({"a": {"enum": [f"{long}1", f"{long}2"], "title": "Dish"}}))

    assert [each["text"][:9] for each in shown.buttons[:2]] == ["1. “A dis", "2. “A dis"]
    assert f"1. {long}1\n2. {long}2" in shown.text
    await bot.press(shown.buttons[1]["text"])
    await bot.press("Send")
    assert (await bot.answer()).content == {"a": f"{long}2"}


async def test_selected_options_that_begin_with_the_same_words_look_different(bot: Bot) -> None:
    long = "A table by the window, with a view of the harbor and the mountains behind it, "
    assert len(long) > 60
    options = [f"{long}for two", f"{long}for six"]
    shown = await bot.asks(form({"a": {"type": "array", "items": {"enum": options}}}))
    assert f"1. {options[0]}\n2. {options[1]}" in shown.text
    shown = await bot.press(shown.buttons[1]["text"])
    assert [each["text"][:9] for each in shown.buttons[:2]] == ["1. “A tab", "✓ 2. “A t"]
    await bot.press("Use selection")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": [options[1]]}


async def test_ten_thousand_options_are_paged_and_found_by_typing(bot: Bot) -> None:
    shown = await bot.asks(form({"a": {"enum": [f"Option {at}" for at in range(10_000)]}}))
    assert "Options 1 to 10 of 10000" in shown.text

    await bot.press("More options")
    shown = await bot.press("More options")
    assert "Options 21 to 30 of 10000" in shown.text
    shown = await bot.write("ion 999")
    assert "Options 1 to 10 of 11" in shown.text
    shown = await bot.press("More options")
    assert "Options 11 to 11 of 11" in shown.text
    shown = await bot.write("ion 9998")
    assert next(each["text"] for each in shown.buttons) == "“Option 9998”"
    await bot.press("“Option 9998”")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "Option 9998"}


async def test_only_the_person_asked_may_press(bot: Bot) -> None:
    shown = await bot.asks(form({"a": {"type": "boolean"}}))

    note = await bot.api.press(BOB, shown, shown.data("Yes"))
    assert note == "It may have expired, or it belongs to another user."
    assert not bot.answers
    await bot.press("No")

    assert (await bot.answer()).content == {"a": False}


async def test_a_button_works_once_and_an_old_one_says_so(bot: Bot) -> None:
    shown = await bot.asks(form({"a": {"enum": ["x", "y"]}, "b": {"enum": ["x", "y"]}}))
    data = shown.data("“x”")

    assert await bot.api.press(ANN, shown, data) == ""
    assert await bot.api.press(ANN, shown, data) == "This button is no longer valid."
    await bot.press("“y”")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "x", "b": "y"}


async def test_a_second_press_of_send_changes_nothing(bot: Bot) -> None:
    shown = await bot.asks(form({"a": {"type": "boolean"}}))
    for _ in range(3):
        bot.api.press_only(ANN, shown, shown.data("Yes"))
    await until(lambda: len(bot.api.notes) == 3)

    assert (await bot.answer()).content == {"a": True}
    assert sorted(bot.api.notes) == ["", *["This request was already answered."] * 2]


async def test_a_message_that_is_delivered_twice_is_used_once(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string"}, "b": {"type": "string"}}))
    shown = bot.api.latest(ANN)
    update = bot.api.write(ANN, "first")
    await until(lambda: bot.api.latest(ANN).id > shown.id)
    bot.api.repeat(update)
    await bot.write("second")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "first", "b": "second"}


async def test_a_message_that_is_edited_changes_nothing(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string"}, "b": {"type": "string"}}))
    update = bot.api.write(ANN, "first")
    await until(lambda: "Field 2" in bot.api.latest(ANN).text)
    edited = {"update_id": 1_000_000, "edited_message": {**update["message"], "text": "changed", "edit_date": 2}}
    bot.api.repeat(edited)
    await bot.write("second")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "first", "b": "second"}


async def test_a_question_whose_message_was_deleted_is_sent_again(bot: Bot) -> None:
    shown = await bot.asks(form({"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}}))
    del bot.api.messages[shown.id]

    await bot.api.press(ANN, shown, shown.data("“x”"))
    await bot.press("Yes")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "x", "b": True}


async def test_a_press_that_telegram_calls_too_old_counts(bot: Bot) -> None:
    shown = await bot.asks(form({"a": {"type": "boolean"}}))
    bot.api.too_old = True

    await bot.api.press(ANN, shown, shown.data("Yes"))

    assert (await bot.answer()).content == {"a": True}


@pytest.mark.parametrize(("refusals", "count"), [("limited", 2), ("failing", 1)])
async def test_a_message_is_sent_again_after_a_limit_of_the_rate_or_a_failure_of_telegram(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, refusals: str, count: int
) -> None:
    monkeypatch.setattr(telegram, "_RETRY_AFTER", 0.0)
    setattr(bot.api, refusals, count)
    await bot.asks(form({"a": {"type": "boolean"}}))
    setattr(bot.api, refusals, 1)
    await bot.press("Yes")

    assert (await bot.answer()).content == {"a": True}


@pytest.mark.parametrize(("retry_after", "calls"), [(0.01, 3), (3_600, 1)])
async def test_a_rate_limit_without_end_is_a_cancel(bot: Bot, retry_after: float, calls: int) -> None:
    bot.api.limited, bot.api.retry_after = 1_000, retry_after
    answer = await bot.ask(form())

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert "asks to wait" in answer.reason
    assert bot.api.calls.count("sendMessage") == 2 * calls  # also for the note


@pytest.mark.parametrize(("user", "reason"), [(str(BOB), "can't initiate"), ("bob", "not the ID of a user")])
async def test_a_person_who_cannot_be_reached_was_not_asked(bot: Bot, user: str, reason: str) -> None:
    bot.api.strangers.add(BOB)
    answer = await bot.ask(form(user=user))

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert reason in answer.reason


async def test_secrets_are_never_asked_for(bot: Bot) -> None:
    answer = await bot.ask(form({"password": {"type": "string", "format": "password"}}))

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert bot.api.latest(ANN).text == "A request from mail cannot be shown here. It was cancelled."
    assert not bot.api.latest(ANN).buttons


async def test_what_the_chat_cannot_show_is_passed_on() -> None:
    async def elsewhere(request: Request) -> Answer:
        return Answer.accept({"password": "x"}, by="user")

    api = FakeTelegram()
    async with api.serve() as base_url, running(api, base_url, fallback=elsewhere) as bot:
        answer = await bot.ask(form({"password": {"type": "string", "format": "password"}}))

    assert answer.content == {"password": "x"}
    assert not api.messages


async def test_a_request_whose_message_was_cancelled_inside_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def elsewhere(request: Request) -> Answer:
        return Answer.accept({"a": True}, by="user")

    async def cancelled_inside(*_args: Any, **_options: Any) -> Any:
        raise asyncio.CancelledError

    api = FakeTelegram()
    async with api.serve() as base_url, running(api, base_url, fallback=elsewhere) as other:
        monkeypatch.setattr(ExtBot, "send_message", cancelled_inside)
        with anyio.fail_after(60):
            answer = await other.ask(form({"a": {"type": "boolean"}}))

    assert answer.content == {"a": True}


@pytest.mark.parametrize(("label", "action"), [("Decline", "decline"), ("Cancel", "cancel")])
async def test_a_form_can_be_declined_and_cancelled_at_every_step(bot: Bot, label: str, action: str) -> None:
    fields = {"a": {"type": "boolean"}, "b": {"type": "boolean"}}
    for count, steps in enumerate(([], ["Yes"], ["Yes", "No"], ["Yes", "No", "Edit"]), 1):
        await bot.asks(form(fields))
        for step in steps:
            await bot.press(step)
        await bot.press(label)

        answer = await bot.answer(count)
        assert (answer.action, answer.by) == (action, "user")


async def test_a_url_opens_only_after_consent(bot: Bot) -> None:
    shown = await bot.asks(parse_request(URL, server="shop", user=str(ANN)))
    assert "https://pay.[example.com]/17" in shown.marked("code")
    assert not any("url" in each for each in shown.buttons)

    shown = await bot.press("Show link")
    assert [each["url"] for each in shown.buttons if "url" in each] == ["https://pay.example.com/17"]
    await bot.press("I have finished")

    assert (await bot.answer()).action == "accept"


async def test_a_url_that_telegram_takes_for_no_button_is_shown_as_text(bot: Bot) -> None:
    url = "https://intranet/17"
    rules = UrlRules(allow_private=True)
    await bot.asks(parse_request({**URL, "url": url}, server="shop", user=str(ANN), url_rules=rules))

    await bot.press("Show link")
    shown = await bot.press("Confirm")
    assert url in shown.marked("code")
    assert not any("url" in each for each in shown.buttons)
    await bot.press("I have finished")

    assert (await bot.answer()).action == "accept"


async def test_a_question_that_could_not_be_sent_is_not_answered_by_the_next_message(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telegram, "_RETRY_AFTER", 0.0)
    first = await bot.asks(form({"a": {"type": "string", "title": "A"}, "b": {"type": "string", "title": "B"}}))
    bot.api.failing = 4  # the next field, three times, and the note
    bot.api.write(ANN, "for A")
    await until(lambda: bot.api.failing == 0)
    assert "Continued below." not in first.text
    assert first.buttons

    second = await bot.write("for A, again")
    assert "Field 2 of 2" in second.text
    await bot.write("for B")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "for A", "b": "for B"}


async def test_buttons_remain_if_a_part_of_the_review_cannot_be_sent(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    long = {"type": "string", "title": "a" * 190, "default": "b" * 1_900}
    shown = await bot.asks(form({"a": long, "b": long, "c": {"type": "boolean"}}))
    await bot.press("Use this value")
    shown = await bot.press("Use this value")
    with monkeypatch.context() as patch:
        patch.setattr(bot.ask._sender.platform, "send", refuse)
        note = await bot.api.press(ANN, shown, shown.data("Yes"))
    assert note == "The next message could not be sent. Try again."

    assert await bot.api.press(ANN, shown, shown.data("Yes")) == ""
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "b" * 1_900, "b": "b" * 1_900, "c": True}


async def refuse(*_arguments: object) -> str:
    raise ChatError("the network is lost")


async def test_text_for_the_bot_is_not_taken_as_an_answer(bot: Bot) -> None:
    bot.api.write(ANN, "hello")
    await until(lambda: bot.texts)
    await bot.asks(form({"a": {"type": "string"}}))
    bot.api.write(ANN, "/start")
    bot.api.write(BOB, "for the model")
    await until(lambda: bot.api.calls and len(bot.texts) == 3)

    assert bot.texts == ["hello", "/start", "for the model"]
    assert not bot.answers


async def test_the_help_says_that_commands_are_replies(bot: Bot) -> None:
    first = await bot.asks(form({"a": {"type": "string"}, "b": {"type": "string"}}))
    bot.api.write(ANN, "/help", reply_to=first)
    shown: Shown = await until(lambda: bot.api.latest(ANN).id > first.id and bot.api.latest(ANN))
    assert "Send a command as a reply to this message:\n/back: return to the previous field\n" in shown.text
    bot.api.write(ANN, "/skip", reply_to=shown)
    await until(lambda: "Field 2 of 2" in bot.api.latest(ANN).text)

    assert not bot.texts


@pytest.mark.parametrize("text", ["/home/ann", "/", "//skip", "/étage 2"])
async def test_an_answer_that_begins_with_a_slash_is_no_command_of_the_bot(bot: Bot, text: str) -> None:
    await bot.asks(form({"path": {"type": "string"}}))
    await bot.write(text)
    await bot.press("Send")

    assert (await bot.answer()).content == {"path": text.replace("//", "/")}
    assert not bot.texts


async def test_of_two_questions_a_reply_names_one(bot: Bot) -> None:
    first = await bot.asks(form({"a": {"type": "string", "title": "First"}}))
    second = await bot.asks(form({"a": {"type": "string", "title": "Second"}}))
    bot.api.write(ANN, "which?")
    await until(lambda: "Several requests are open" in bot.api.latest(ANN).text)
    for count, (shown, text) in enumerate(((second, "2"), (first, "1")), 1):
        bot.api.write(ANN, text, reply_to=shown)
        await until(lambda: any(each["text"] == "Send" for each in bot.api.latest(ANN).buttons))
        await bot.press("Send")

        assert (await bot.answer(count)).content == {"a": text}


async def test_a_reply_to_an_earlier_question_changes_nothing_and_is_not_passed_on(bot: Bot) -> None:
    first = await bot.asks(form({"a": {"type": "string", "title": "A"}, "b": {"type": "string", "title": "B"}}))
    second = await bot.write("for A")
    bot.api.write(ANN, "No, Bob", reply_to=first)
    shown: Shown = await until(lambda: bot.api.latest(ANN).id > second.id and bot.api.latest(ANN))
    assert "Field 2 of 2" in shown.text
    await bot.write("for B")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "for A", "b": "for B"}
    assert not bot.texts


async def test_a_reply_to_any_message_of_a_long_question_answers_it(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string", "title": "First", "description": "d" * 900}}, message="word " * 700))
    await bot.asks(form({"a": {"type": "string", "title": "Second"}}))
    assert len(bot.api.messages) == 3
    bot.api.write(ANN, "1", reply_to=bot.api.messages[100])
    await until(lambda: any(each["text"] == "Send" for each in bot.api.latest(ANN).buttons))
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "1"}
    assert not bot.texts


async def test_a_withdrawn_request_loses_its_buttons(bot: Bot) -> None:
    with anyio.move_on_after(60) as scope:
        async with anyio.create_task_group() as group:
            bot.group = group
            shown = await bot.asks(form())
            data = shown.data("Decline")
            scope.cancel()

    assert bot.api.latest(ANN).text.endswith("mail no longer needs an answer.")
    assert not bot.api.latest(ANN).buttons
    assert await bot.api.press(ANN, shown, data) == "mail no longer needs an answer."


async def test_the_same_form_begins_with_what_was_entered_before(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string"}, "b": {"type": "string"}}))
    await bot.write("kept")
    await bot.press("Cancel")
    shown = await bot.asks(form({"a": {"type": "string"}, "b": {"type": "string"}}))

    assert "Restored draft:\nkept" in shown.text
    await bot.press("Use this value")
    await bot.press("Do not provide")
    await bot.press("Send")
    assert (await bot.answer(2)).content == {"a": "kept"}


async def test_a_button_pressed_after_a_restart_of_the_bot_answers_exactly_once(tmp_path: Any) -> None:
    api, inbox = FakeTelegram(), Inbox(SqliteStore(tmp_path / "inbox.db"))
    answers: list[Answer] = []

    async with api.serve() as base_url, anyio.create_task_group() as group:
        ids: list[str] = []

        async def announce(_owner: str, entry_id: str) -> None:
            ids.append(entry_id)

        async def ask() -> None:
            answers.append(
                await InboxHandler(inbox, on_pending=announce)(
                    form({"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}})
                )
            )

        group.start_soon(ask)  # another process waits for the answer
        await until(lambda: ids)
        async with running(api, base_url, inbox=Inbox(SqliteStore(tmp_path / "inbox.db"))) as first:
            await first.ask.announce(str(ANN), ids[0])
            await first.press("“y”")
        shown = api.latest(ANN)
        async with running(api, base_url, inbox=Inbox(SqliteStore(tmp_path / "inbox.db"))) as second:
            await second.press("Yes")
            send = api.latest(ANN).data("Send")
            assert await api.press(ANN, shown, send) == ""
            assert await api.press(ANN, shown, send) == "This request was already answered."

    assert [each.content for each in answers] == [{"a": "y", "b": True}]


async def test_a_message_that_ends_a_request_after_a_restart_is_followed_by_the_outcome(tmp_path: Any) -> None:
    inbox, store = Inbox(SqliteStore(tmp_path / "inbox.db")), SqliteStore(tmp_path / "inbox.db")
    ids: list[str] = []
    answers: list[Answer] = []

    async def note(_owner: str, entry_id: str) -> None:
        ids.append(entry_id)

    async def ask() -> None:
        answers.append(await InboxHandler(inbox, on_pending=note)(form({"a": {"type": "boolean"}})))

    api = FakeTelegram()
    async with api.serve() as base_url, running(api, base_url, inbox=Inbox(store)) as bot:
        bot.group.start_soon(ask)  # another process waits for the answer
        await until(lambda: ids)
        await bot.ask.announce(str(ANN), ids[0])
        api.write(ANN, "yes")
        await until(lambda: answers)
        await until(lambda: not api.latest(ANN).buttons)

        assert api.latest(ANN).text.endswith("You accepted.")


async def test_a_user_whose_answer_cannot_be_stored_is_asked_to_try_again_and_can() -> None:
    class Store(MemoryStore):
        is_broken = False

        async def pending(self, owner: str, limit: int, after: int) -> Any:
            self.check()
            return await super().pending(owner, limit, after)

        async def resolve(self, owner: str, entry_id: str, resolution: Any) -> Any:
            self.check()
            return await super().resolve(owner, entry_id, resolution)

        def check(self) -> None:
            if self.is_broken:
                raise InboxError("The disk is full.")

    api, store = FakeTelegram(), Store()
    async with api.serve() as base_url, running(api, base_url, inbox=Inbox(store)) as bot:
        shown = await bot.asks(form({"a": {"type": "string"}}))
        store.is_broken = True
        note = await bot.ask.reply(str(ANN), "x", message_id="m1", reply_to=str(shown.id))
        store.is_broken = False
        await bot.ask.reply(str(ANN), "x", message_id="m1", reply_to=str(shown.id))
        store.is_broken = True
        notes = [await api.press(ANN, api.latest(ANN), api.latest(ANN).data("Send")) for _ in range(2)]
        store.is_broken = False
        await bot.press("Send")
        answer = await bot.answer()

    assert note is not None
    assert {note.note, *notes} == {"Try again in a minute."}
    assert answer.content == {"a": "x"}


async def test_the_latest_of_many_pending_requests_is_answered(bot: Bot) -> None:
    elsewhere = InboxHandler(bot.ask._inbox)
    for _ in range(60):
        bot.group.start_soon(elsewhere, form())
    await anyio.wait_all_tasks_blocked()
    await bot.asks(form({"a": {"type": "string"}}))
    await bot.write("x")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "x"}


async def test_a_conversation_that_was_forgotten_does_not_take_old_buttons(bot: Bot) -> None:
    await bot.asks(form({"a": {"enum": ["x", "y"]}, "b": {"enum": ["x", "y"]}}))
    shown = await bot.press("“x”")
    (entry,) = (await bot.ask._inbox.list(str(ANN))).entries
    await save_progress(bot.ask._inbox, str(ANN), entry.id, None)

    assert await bot.api.press(ANN, shown, shown.data("“y”")) == "This button is no longer valid."

    assert "Field 1 of 2" in bot.api.latest(ANN).text
    for label in ("“y”", "“y”", "Send"):
        await bot.press(label)
    assert (await bot.answer()).content == {"a": "y", "b": "y"}


@pytest.mark.parametrize("is_reply", [True, False])
async def test_text_for_a_conversation_that_was_forgotten_asks_again_and_is_not_passed_on(
    bot: Bot, *, is_reply: bool
) -> None:
    shown = await bot.asks(form({"a": {"type": "string"}}))
    (entry,) = (await bot.ask._inbox.list(str(ANN))).entries
    with anyio.fail_after(30):
        while not (await bot.ask._sessions.load(str(ANN), entry.id)).is_shown:
            await anyio.sleep(0.001)
    await save_progress(bot.ask._inbox, str(ANN), entry.id, None)

    bot.api.write(ANN, "x", reply_to=shown if is_reply else None)
    await until(lambda: bot.api.latest(ANN).id > shown.id)
    assert "Field 1 of 1" in bot.api.latest(ANN).text
    await bot.write("x")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "x"}
    assert not bot.texts


async def test_a_request_that_is_announced_again_says_what_it_is_about(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "boolean"}, "b": {"type": "boolean"}}, message="To book a table"))
    await bot.press("Yes")
    (entry,) = (await bot.ask._inbox.list(str(ANN))).entries
    await bot.ask.announce(str(ANN), entry.id)

    shown = bot.api.latest(ANN)
    assert shown.text.startswith("mail asks for 2 answers\nTo book a table\nQuoted text comes from the server.\n")
    assert "Field 2 of 2" in shown.text


async def test_a_visit_that_is_announced_again_has_its_link(bot: Bot) -> None:
    await bot.asks(parse_request(URL, server="shop", user=str(ANN)))
    await bot.press("Show link")
    (entry,) = (await bot.ask._inbox.list(str(ANN))).entries
    await bot.ask.announce(str(ANN), entry.id)

    shown = bot.api.latest(ANN)
    assert shown.text.startswith("shop asks you to open example.com\nPay\n")
    assert [each["url"] for each in shown.buttons if "url" in each] == ["https://pay.example.com/17"]


async def test_a_visit_that_was_not_finished_has_a_link(bot: Bot) -> None:
    request = parse_request(URL, server="shop", user=str(ANN)).model_copy(update={"previous_visits": 1})
    shown = await bot.asks(request)

    assert [each["url"] for each in shown.buttons if "url" in each] == ["https://pay.example.com/17"]


async def test_the_report_of_the_server_ends_a_visit(bot: Bot) -> None:
    finished = anyio.Event()

    class Completion:
        def is_finished(self) -> bool:
            return finished.is_set()

        async def wait(self) -> None:
            await finished.wait()

    request: Any = parse_request(URL, server="shop", user=str(ANN))
    await bot.asks(with_completion(request, Completion()))
    await bot.press("Show link")
    finished.set()

    assert (await bot.answer()).action == "accept"
    await until(lambda: bot.api.latest(ANN).text.endswith("You accepted."))


@pytest.mark.parametrize("data", ["x" * 32 + ":1:send", "é" * 20, "", "-" * 32 + ":99:option:5"])
async def test_a_button_that_was_made_up_does_nothing(bot: Bot, data: str) -> None:
    shown = await bot.asks(form({"a": {"type": "boolean"}}))
    bot.api.press_only(ANN, shown, data)
    await bot.press("Yes")

    assert (await bot.answer()).content == {"a": True}


async def test_a_request_without_a_user_is_a_cancel(bot: Bot) -> None:
    answer = await bot.ask(parse_request(form_params({"properties": FIELDS}), server="mail"))

    assert (answer.action, answer.by) == ("cancel", "unattended")


async def test_the_inbox_of_a_host_is_used() -> None:
    inbox = Inbox(MemoryStore())
    api = FakeTelegram()
    async with api.serve() as base_url, running(api, base_url, inbox=inbox) as bot:
        await bot.asks(form())
        (entry,) = (await inbox.list(str(ANN))).entries
        await inbox.answer(str(ANN), entry.id, "decline", answered_by="the web page")
        assert (await bot.answer()).action == "decline"
        await until(lambda: api.latest(ANN).text.endswith("You declined."))


async def test_an_answer_leaves_the_buttons_of_the_same_request_valid(bot: Bot) -> None:
    request = form({"sure": {"type": "boolean", "title": "Sure"}})
    shown = [await bot.asks(request), await bot.asks(request)]

    notes = [await bot.api.press(ANN, each, each.data("Yes")) for each in shown]

    assert (await bot.answer(2)).content == {"sure": True}
    assert notes == ["", ""]
    assert len(bot.api.messages) == 2


async def test_presses_at_the_same_time_on_two_requests_that_are_the_same_all_count(tmp_path: Any) -> None:
    api, inbox = FakeTelegram(), Inbox(SqliteStore(tmp_path / "inbox.db"))
    async with api.serve() as base_url, running(api, base_url, inbox=inbox) as bot:
        request = form({name: {"enum": ["x", "y"]} for name in "abcde"})
        shown = [await bot.asks(request), await bot.asks(request)]
        for _ in range(5):
            async with anyio.create_task_group() as group:
                for each in shown:
                    group.start_soon(api.press, ANN, each, each.data("“x”"))
            await until(lambda: len(api.notes) % 2 == 0)
        for each in shown:
            await api.press(ANN, each, each.data("Send"))
        await bot.answer(2)

    assert set(api.notes) == {""}
    assert [each.content for each in bot.answers] == [dict.fromkeys("abcde", "x")] * 2


async def test_an_answer_counts_even_if_its_outcome_cannot_be_shown(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_arguments: object) -> None:
        raise RuntimeError("the client was shut down")

    shown = await bot.asks(form({"sure": {"type": "boolean", "title": "Sure"}}))
    monkeypatch.setattr(bot.ask._sender.platform, "edit", fail)
    await bot.api.press(ANN, shown, shown.data("Yes"))

    assert (await bot.answer()).content == {"sure": True}


@pytest.mark.parametrize(("label", "outcome"), [("Yes", "You accepted."), ("Cancel", "You cancelled.")])
async def test_the_outcome_is_shown_if_the_inbox_keeps_no_history(label: str, outcome: str) -> None:
    api = FakeTelegram()
    inbox = Inbox(MemoryStore(max_history=0))
    async with api.serve() as base_url, running(api, base_url, inbox=inbox) as bot:
        shown = await bot.asks(form({"sure": {"type": "boolean", "title": "Sure"}}))
        await bot.api.press(ANN, shown, shown.data(label))
        await bot.answer()

        assert outcome in bot.api.latest(ANN).text
        assert not bot.api.latest(ANN).buttons


async def test_a_press_at_the_moment_at_which_the_request_is_withdrawn_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    api, inbox = FakeTelegram(), Inbox(MemoryStore(max_history=0))
    answer = inbox.answer

    async def withdraw_first(owner: str, entry_id: str, *arguments: Any, **options: Any) -> Any:
        await inbox.withdraw(owner, entry_id)
        await anyio.wait_all_tasks_blocked()
        return await answer(owner, entry_id, *arguments, **options)

    async with api.serve() as base_url, running(api, base_url, inbox=inbox) as bot:
        shown = await bot.asks(form({"sure": {"type": "boolean", "title": "Sure"}}))
        monkeypatch.setattr(inbox, "answer", withdraw_first)
        reaction = await bot.ask.press(str(ANN), shown.data("Yes"))

        assert reaction.note == "It may have expired, or it belongs to another user."
        assert (await bot.answer()).action == "cancel"


async def test_a_withdrawn_request_loses_its_buttons_if_the_inbox_keeps_no_history() -> None:
    api = FakeTelegram()
    inbox = Inbox(MemoryStore(max_history=0))
    async with api.serve() as base_url, running(api, base_url, inbox=inbox) as bot:
        async with anyio.create_task_group() as bot.group:
            await bot.asks(form())
            bot.group.cancel_scope.cancel()

        assert "mail no longer needs an answer." in bot.api.latest(ANN).text
        assert not bot.api.latest(ANN).buttons


async def test_a_message_that_was_sent_before_a_question_was_shown_does_not_answer_it(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bot.asks(form({"name": {"type": "string", "title": "Name"}, "town": {"type": "string", "title": "Town"}}))
    platform = bot.ask._sender.platform
    send, is_sending, goes_on = platform.send, anyio.Event(), anyio.Event()

    async def send_later(*arguments: Any) -> str:
        is_sending.set()
        await goes_on.wait()
        return await send(*arguments)

    monkeypatch.setattr(platform, "send", send_later)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: bot.ask.reply(str(ANN), "Ann", message_id="1001"))
        await is_sending.wait()
        group.start_soon(lambda: bot.ask.reply(str(ANN), "No, Bob", message_id="1002"))
        await anyio.wait_all_tasks_blocked()
        goes_on.set()

    assert "Town" in bot.api.latest(ANN).text
    assert "Check your answers" not in bot.api.latest(ANN).text


async def test_a_message_that_was_sent_before_the_request_does_not_answer_it(bot: Bot) -> None:
    await bot.asks(form({"sure": {"type": "boolean", "title": "Sure"}}))
    bot.api.write(ANN, "yes", message_id=99)  # delivered late, since the bot was not running
    await until(lambda: bot.texts)
    await bot.press("No")

    assert (await bot.answer()).content == {"sure": False}
    assert bot.texts == ["yes"]


async def test_a_message_that_was_sent_before_the_present_question_does_not_answer_it(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string"}, "b": {"type": "string"}}))
    second = await bot.write("for A")
    bot.api.write(ANN, "more for A", message_id=second.id - 1)
    await until(lambda: bot.api.latest(ANN).id > second.id)
    assert "Field 2 of 2" in bot.api.latest(ANN).text
    await bot.write("for B")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "for A", "b": "for B"}


async def test_a_stored_request_that_cannot_be_read_hides_no_other_question() -> None:
    api, store = FakeTelegram(), MemoryStore()
    async with api.serve() as base_url, running(api, base_url, inbox=Inbox(store)) as bot:
        fields = {"name": {"type": "string", "title": "Name"}}
        await bot.asks(form(fields, message="Damaged"))
        (entry_id,) = store._requests
        await until(lambda: any('"is_shown": true' in draft for _, draft in store._drafts.values()))
        damaged = store._requests[entry_id].request.replace('"mode":"form"', '"mode":"fax"')
        store._requests[entry_id] = store._requests[entry_id]._replace(request=damaged)
        await bot.asks(form(fields))
        await bot.write("Ann")
        await bot.press("Send")

        assert (await bot.answer()).content == {"name": "Ann"}


async def test_nothing_is_kept_of_a_request_for_which_another_process_waits(tmp_path: Any) -> None:
    api, path = FakeTelegram(), tmp_path / "inbox.db"
    answers, ids = list[Answer](), list[str]()
    is_stored = anyio.Event()

    async def note(_owner: str, entry_id: str) -> None:
        ids.append(entry_id)
        is_stored.set()

    async def wait_elsewhere() -> None:
        request = form({"sure": {"type": "boolean", "title": "Sure"}})
        answers.append(await InboxHandler(Inbox(SqliteStore(path)), on_pending=note)(request))

    async with (
        api.serve() as base_url,
        running(api, base_url, inbox=Inbox(SqliteStore(path))) as bot,
        anyio.create_task_group() as group,
    ):
        group.start_soon(wait_elsewhere)
        await is_stored.wait()
        await bot.ask.announce(str(ANN), ids[0])
        await bot.press("Yes")

    assert answers[0].content == {"sure": True}
    assert not bot.ask._shown


@pytest.mark.parametrize("make", [lambda: TOKEN, lambda: ExtBot(TOKEN)], ids=["token", "bot"])
async def test_only_an_application_has_handlers(make: Any) -> None:
    with pytest.raises(TypeError, match=r"`application` must be Application, not .* Pass Application\.builder"):
        TelegramHandler(make())
