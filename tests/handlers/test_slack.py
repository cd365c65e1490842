"""Requests in Slack: through the real SDK over HTTP and a socket, against a fake with its limits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, parse_request
from mcp_elicit_client.inbox import Inbox, InboxHandler, SqliteStore
from mcp_elicit_client.typing import Request
from tests.support import form_params, until

pytest.importorskip("slack_bolt")

from slack_bolt import App
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from mcp_elicit_client.handlers.slack import SlackHandler
from mcp_elicit_client.handlers.slack import handler as slack_handler
from tests.support.slack_api import MAX, SECRET, TOKEN, FakeSlack, Shown, listening, state_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.event_loops("asyncio"),
    # The SDK leaves the session of its socket to the garbage collector.
    pytest.mark.filterwarnings("ignore:Exception ignored in.*Client:pytest.PytestUnraisableExceptionWarning"),
]

ANN, BOB = "U11", "U22"
FIELDS: dict[str, Any] = {
    "name": {"type": "string", "title": "Name", "description": "As in <@U1> *your* passport"},
    "guests": {"type": "integer", "title": "Guests", "minimum": 1, "default": 2},
    "dish": {"enum": ["Pizza", "Pasta"], "title": "Dish"},
    "extras": {"type": "array", "items": {"enum": ["Salad", "Wine", "Bread"]}, "title": "Extras"},
    "on": {"type": "string", "format": "date", "title": "On"},
    "sure": {"type": "boolean", "title": "Sure"},
}
URL = {"mode": "url", "message": "Pay", "url": "https://pay.example.com/17", "elicitationId": "1"}
YES_NO = {"a": {"type": "boolean"}}


def form(fields: Any = FIELDS, *required: str, user: str = ANN) -> Request:
    schema = {"properties": fields, "required": list(required)}
    return parse_request(form_params(schema, "Please <!channel>"), server="mail", user=user)


@dataclass
class Bot:
    """A running bot, and the requests that it was asked."""

    api: FakeSlack
    ask: SlackHandler
    group: Any = None
    answers: list[Answer] = field(default_factory=list)

    async def asks(self, request: Request, person: str = ANN) -> Shown:
        """Ask in the background; return the message."""
        count = len(self.ask._shown)
        self.group.start_soon(self._ask, request)
        await until(lambda: len(self.ask._shown) > count)
        return self.api.latest(person)

    async def _ask(self, request: Request) -> None:
        answer = await self.ask(request)
        self.answers.append(answer)

    async def press(self, label: str, person: str = ANN) -> Shown:
        """Press a button, and wait until the message is another one."""
        shown = self.api.latest(person)
        before = shown.blocks
        await self.api.press(person, shown, next(each for each in shown.buttons if each["text"]["text"] == label))
        await until(lambda: self.api.latest(person).blocks is not before)
        return self.api.latest(person)

    async def open(self, label: str = "Answer", person: str = ANN) -> dict[str, Any]:
        """Press a button, and return the dialog that it opens."""
        shown, count = self.api.latest(person), len(self.api.views)
        await self.api.press(person, shown, next(each for each in shown.buttons if each["text"]["text"] == label))
        await until(lambda: len(self.api.views) > count)
        return self.api.views[-1]

    async def submit(self, view: dict[str, Any], *values: Any, person: str = ANN) -> dict[str, Any]:
        inputs = [each for each in view["blocks"] if each["type"] == "input"]
        states = {
            each["block_id"]: state_of(each["element"], value) for each, value in zip(inputs, values, strict=True)
        }
        return await self.api.submit(person, view, states)

    async def answer(self, count: int = 1) -> Answer:
        await until(lambda: len(self.answers) >= count)
        return self.answers[count - 1]


@asynccontextmanager
async def running(api: FakeSlack, base_url: str, *, is_socket: bool = False, **options: Any) -> AsyncIterator[Bot]:
    app = AsyncApp(client=AsyncWebClient(token=TOKEN, base_url=base_url), signing_secret=SECRET)
    bot = Bot(api, SlackHandler(app, **options))
    async with anyio.create_task_group() as bot.group:
        if is_socket:
            handler = AsyncSocketModeHandler(app, "xapp-1", web_client=app.client)
            await handler.connect_async()  # type: ignore[no-untyped-call,unused-ignore]
            await until(lambda: api.socket is not None)
            yield bot
            await handler.close_async()  # type: ignore[no-untyped-call,unused-ignore]
        else:
            async with listening(app.web_app("/slack/events")) as url:
                api.bot_url = f"{url}/slack/events"
                yield bot
        bot.group.cancel_scope.cancel()


@pytest.fixture
async def bot(anyio_backend: Any) -> AsyncIterator[Bot]:
    api = FakeSlack()
    async with api.serve() as base_url, running(api, base_url) as bot:
        yield bot


@pytest.mark.parametrize("is_socket", [False, True])
async def test_a_form_is_answered_in_a_dialog(is_socket: bool) -> None:
    api = FakeSlack()
    async with api.serve() as base_url, running(api, base_url, is_socket=is_socket) as bot:
        shown = await bot.asks(form(FIELDS, "name"))
        assert shown.labels == ["Answer", "Decline", "Cancel"]
        view = await bot.open()
        errors = await bot.submit(view, "Ann", "two", "“Pasta”", ["“Salad”", "“Bread”"], "2026-12-24", "No")
        assert errors == {"1": "Enter a whole number."}
        errors = await bot.submit(view, "Ann", "3", "“Pasta”", ["“Salad”", "“Bread”"], "2026-12-24", "No")
        assert errors == {}

        answer = await bot.answer()

    assert (answer.action, answer.by) == ("accept", "user")
    assert answer.content == {
        "name": "Ann",
        "guests": 3,
        "dish": "Pasta",
        "extras": ["Salad", "Bread"],
        "on": "2026-12-24",
        "sure": False,
    }
    assert api.latest(ANN).text.endswith("You accepted.\n")
    assert not api.latest(ANN).buttons


async def test_a_dialog_shows_the_pattern_that_an_answer_does_not_match(bot: Bot) -> None:
    await bot.asks(form({"code": {"type": "string", "pattern": '^[A-Z]{3}"”$'}}))
    errors = await bot.submit(await bot.open(), "abc")

    assert errors == {"0": 'This does not have the required format. Pattern: “^[A-Z]{3}""$”'}


async def test_server_text_is_never_markup(bot: Bot) -> None:
    shown = await bot.asks(form())
    view = await bot.open()

    assert shown.quotes == ["Please <!channel>"]
    assert shown.text.startswith("mail asks for 6 answers\nPlease <!channel>Quoted text comes from the server.\n")
    name = next(each for each in view["blocks"] if each["type"] == "input")
    assert name["label"] == {"type": "plain_text", "text": "“Name”", "emoji": False}
    assert name["hint"]["text"] == "“As in <@U1> *your* passport” text; optional"
    assert view["title"]["text"] == "Your answers"


async def test_a_default_is_shown_in_the_dialog(bot: Bot) -> None:
    await bot.asks(form())
    view = await bot.open()
    assert [each["element"].get("initial_value") for each in view["blocks"] if each["type"] == "input"][1] == "2"

    await bot.submit(view, None, "2", None, None, None, None)

    assert (await bot.answer()).content == {"guests": 2}


async def test_defaults_that_are_left_in_the_dialog_are_sent_unchanged(bot: Bot) -> None:
    defaults: dict[str, Any] = {
        "places": ["1 Road\nTown", " Inn"],
        "notes": "a\r\nb",
        "tags": [],
        "order": ["c", "a"],
        "on": "2026-12-24",
    }
    items = {"type": "array", "items": {"enum": ["a", "b", "c"]}}
    fields: dict[str, Any] = {
        "places": {"type": "array", "items": {"type": "string"}},
        "notes": {"type": "string"},
        "tags": items,
        "order": items,
        "on": {"type": "string", "format": "date"},
    }
    await bot.asks(form({name: {**fields[name], "default": default} for name, default in defaults.items()}))
    view = await bot.open()
    elements = [each["element"] for each in view["blocks"] if each["type"] == "input"]
    places, notes = elements[0]["initial_value"], elements[1]["initial_value"]

    assert await bot.submit(view, places, notes, None, ["“a”", "“c”"], "2026-12-24") == {}
    answer = await bot.answer()
    assert answer.content == defaults
    assert set(answer.sources.values()) == {"default"}


@pytest.mark.parametrize("default", [True, False])
async def test_yes_is_selected_only_if_the_user_selected_it(bot: Bot, default: bool) -> None:
    request = form({"agree": {"type": "boolean", "default": default}, "name": {"type": "string", "pattern": "^A"}})
    await bot.asks(request)
    view = await bot.open()
    selected = view["blocks"][1]["element"].get("initial_option", {"text": {"text": None}})["text"]["text"]
    assert selected == (None if default else "No")

    assert await bot.submit(view, "Yes", "x") != {}
    assert (await bot.open())["blocks"][1]["element"]["initial_option"]["text"]["text"] == "Yes"


@pytest.mark.parametrize(("checked", "remember"), [(["Yes"], True), (None, False)])
async def test_the_answer_in_a_dialog_is_remembered_only_if_the_user_chooses_it(
    bot: Bot, checked: list[str] | None, remember: bool
) -> None:
    await bot.asks(form({"a": {"type": "string"}}).model_copy(update={"remember_seconds": 900}))
    view = await bot.open()
    chosen = view["blocks"][-1]
    assert (chosen["label"]["text"], chosen["optional"], "initial_options" in chosen["element"]) == (
        "Remember",
        True,
        False,
    )
    assert chosen["hint"]["text"] == "Answer the same request from mail the same way for 15 minutes"
    await bot.submit(view, "x", checked)

    answer = await bot.answer()
    assert (answer.content, answer.remember) == ({"a": "x"}, remember)


async def test_sensitive_data_in_a_dialog_is_not_remembered(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string"}}).model_copy(update={"remember_seconds": 900}))
    await bot.submit(await bot.open(), "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8", ["Yes"])
    await until(lambda: "Send" in bot.api.latest(ANN).labels)
    await bot.press("Send")
    await bot.press("Confirm")

    assert not (await bot.answer()).remember


async def test_a_dialog_has_no_more_inputs_than_slack_takes(bot: Bot) -> None:
    fields = {f"f{at}": {"type": "string"} for at in range(50)}
    await bot.asks(form(fields).model_copy(update={"remember_seconds": 900}))

    assert len([each for each in (await bot.open())["blocks"] if each["type"] == "input"]) == 50


async def test_a_dialog_that_opens_too_late_becomes_a_conversation(bot: Bot) -> None:
    bot.api.late = True
    await bot.asks(form({"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}}))
    for label in ("Answer", "“y”", "Yes", "Send"):
        await bot.press(label)

    assert (await bot.answer()).content == {"a": "y", "b": True}


async def test_a_field_whose_dialog_opens_too_late_says_so_and_can_be_typed_afterwards(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string"}}))
    bot.api.late = True
    await bot.press("Answer")
    shown = await bot.press(bot.api.latest(ANN).labels[0])
    assert "The next message could not be sent. Try again." in shown.text
    bot.api.late = False
    await bot.submit(await bot.open(shown.labels[0]), "x")

    assert (await bot.answer()).content == {"a": "x"}


async def test_a_form_that_does_not_fit_a_dialog_is_a_conversation(bot: Bot) -> None:
    options = [f"Option {at} {'x' * 80}" for at in range(10_000)]
    shown = await bot.asks(form({"a": {"enum": options}, "b": {"type": "string"}}))
    assert "Options 1 to 20 of 10000" in shown.text
    await bot.press("More options")
    shown = await bot.press(bot.api.latest(ANN).labels[0])
    assert shown.text.startswith("mail asks for 2 answers\nPlease <!channel>")
    assert shown.labels == ["Enter a value", "Do not provide", "Back", "Decline", "Cancel"]
    view = await bot.open("Enter a value")
    assert await bot.submit(view, "text") == {}
    await until(lambda: "Send" in bot.api.latest(ANN).labels)
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": options[20], "b": "text"}


async def test_options_that_begin_with_the_same_words_look_different(bot: Bot) -> None:
    long = "A table by the window, with a view of the harbor and the mountains behind it, "
    assert len(long) > MAX["option"]
    options = [f"{long}for two", f"{long}for six"]
    shown = await bot.asks(form({"a": {"enum": options}, "b": {"type": "array", "items": {"enum": options}}}))

    assert [each[:7] for each in shown.labels[:2]] == ["1. “A t", "2. “A t"]
    assert any(f"1. {options[0]}\n2. {options[1]}" in each for each in shown.quotes)
    shown = await bot.press(shown.labels[1])
    assert [each[:7] for each in shown.labels[:2]] == ["1. “A t", "2. “A t"]
    shown = await bot.press(shown.labels[0])
    assert [each[:9] for each in shown.labels[:2]] == ["✓ 1. “A t", "2. “A tab"]
    await bot.press("Use selection")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": options[1], "b": [options[0]]}


async def test_a_warning_is_confirmed_after_the_dialog(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string"}}))
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    await bot.submit(await bot.open(), token)
    await until(lambda: "Send" in bot.api.latest(ANN).labels)
    shown = await bot.press("Send")
    assert "access token" in shown.text
    await bot.press("Confirm")

    assert (await bot.answer()).confirmed


async def test_a_dialog_is_closed_before_slack_gives_up_even_if_the_next_message_takes_longer(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_handler, "_ACK_TIMEOUT", 0.1)
    await bot.asks(form({"a": {"type": "string"}}))
    view = await bot.open()
    bot.api.held = anyio.Event()

    assert await bot.submit(view, "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8") == {}

    assert "Send" not in bot.api.latest(ANN).labels
    bot.api.held.set()
    await until(lambda: "Send" in bot.api.latest(ANN).labels)


async def test_errors_that_are_found_after_the_dialog_was_closed_follow_as_a_message(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit, goes_on = bot.ask.submit, anyio.Event()

    async def submit_later(*arguments: Any) -> Any:
        await goes_on.wait()
        return await submit(*arguments)

    monkeypatch.setattr(slack_handler, "_ACK_TIMEOUT", 0)
    shown = await bot.asks(form({"code": {"type": "string", "pattern": "^https://a.example$"}}))
    view = await bot.open()
    monkeypatch.setattr(bot.ask, "submit", submit_later)
    assert await bot.submit(view, "two") == {}
    goes_on.set()

    await until(lambda: bot.api.latest(ANN) is not shown)
    assert bot.api.latest(ANN).text == "This does not have the required format. Pattern: “^https://a.example$”\n"


async def test_a_message_can_be_seen_only_by_the_person_in_a_channel(anyio_backend: Any) -> None:
    api = FakeSlack()
    async with api.serve() as base_url, running(api, base_url, channel=lambda _: "C1") as bot:
        shown = await bot.asks(form(YES_NO))
        assert (shown.channel, shown.is_ephemeral, shown.seen_by) == ("C1", True, ANN)
        await bot.press("Yes")

        assert (await bot.answer()).content == {"a": True}
        assert api.latest(ANN).text.endswith("You accepted.\n")


@pytest.mark.parametrize("label", ["No", "Decline", "Cancel"])
async def test_only_the_person_asked_may_press(bot: Bot, label: str) -> None:
    shown = await bot.asks(form(YES_NO))
    button = shown.buttons[shown.labels.index(label)]
    await bot.api.press(BOB, shown, button)
    await until(lambda: bot.api.notes)
    assert bot.api.notes == ["It may have expired, or it belongs to another user."]
    assert not bot.answers

    await bot.press("Yes")

    assert (await bot.answer()).content == {"a": True}


async def test_only_the_person_asked_may_send_the_dialog(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string"}}))
    view = await bot.open()

    errors = await bot.submit(view, "forged", person=BOB)
    assert errors == {"0": "It may have expired, or it belongs to another user."}
    await bot.submit(view, "mine")

    assert (await bot.answer()).content == {"a": "mine"}


async def test_a_dialog_that_is_sent_twice_counts_once(bot: Bot) -> None:
    await bot.asks(form({"a": {"type": "string"}}))
    view = await bot.open()

    assert await bot.submit(view, "first") == {}
    assert await bot.submit(view, "second") == {"0": "This request was already answered."}

    assert (await bot.answer()).content == {"a": "first"}


async def test_a_question_whose_message_was_deleted_is_sent_again(bot: Bot) -> None:
    shown = await bot.asks(form({"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}}))
    bot.api.late = True
    await bot.press("Answer")
    del bot.api.messages[shown.ts]

    await bot.api.press(ANN, shown, next(each for each in shown.buttons if each["text"]["text"] == "“x”"))
    await until(lambda: bot.api.messages)
    await bot.press("Yes")
    await bot.press("Send")

    assert (await bot.answer()).content == {"a": "x", "b": True}


async def test_a_dialog_outlives_its_message(bot: Bot) -> None:
    shown = await bot.asks(form({"a": {"type": "string"}}))
    view = await bot.open()
    del bot.api.messages[shown.ts]

    assert await bot.submit(view, "Ann") == {}

    assert (await bot.answer()).content == {"a": "Ann"}
    assert bot.api.latest(ANN).text.endswith("You accepted.\n")


async def test_a_request_whose_message_was_deleted_is_withdrawn(bot: Bot) -> None:
    shown = await bot.asks(form(YES_NO))
    del bot.api.messages[shown.ts]
    [entry] = (await bot.ask._inbox.list(ANN)).entries

    await bot.ask._inbox.withdraw(ANN, entry.id)

    assert (await bot.answer()).action == "cancel"
    assert bot.api.latest(ANN).text.endswith("mail no longer needs an answer.\n")


async def test_a_user_learns_of_the_end_of_a_request_in_a_channel_where_nothing_was_pressed(anyio_backend: Any) -> None:
    api = FakeSlack()
    async with api.serve() as base_url, running(api, base_url, channel=lambda _: "C1") as bot:
        await bot.asks(form(YES_NO))
        [entry] = (await bot.ask._inbox.list(ANN)).entries

        await bot.ask._inbox.withdraw(ANN, entry.id)

        await bot.answer()
        assert api.latest(ANN).text.endswith("mail no longer needs an answer.\n")


@pytest.mark.parametrize("status", [429, 503])
async def test_a_message_in_a_channel_is_replaced_again_after_a_failure_of_slack(
    anyio_backend: Any, status: int
) -> None:
    api = FakeSlack(status=status)
    async with api.serve() as base_url, running(api, base_url, channel=lambda _: "C1") as bot:
        shown = await bot.asks(form(YES_NO))
        api.limited = 1
        await bot.press("Yes")
        await bot.answer()

        assert [*api.messages.values()] == [shown]
        assert shown.text.endswith("You accepted.\n")


async def test_a_message_is_sent_again_after_a_failure_of_slack(bot: Bot) -> None:
    bot.api.status, bot.api.limited = 500, 1
    await bot.asks(form(YES_NO))
    bot.api.limited = 1
    await bot.press("Yes")

    assert (await bot.answer()).content == {"a": True}


@pytest.mark.parametrize("retry_after", ["0", "Wed, 25 Nov 2026 07:28:00 GMT", "", "nan"])
async def test_a_limit_of_the_rate_is_waited_for(bot: Bot, retry_after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slack_handler, "_RETRY_AFTER", 0.0)
    bot.api.limited, bot.api.retry_after = 2, retry_after
    await bot.asks(form(YES_NO))
    await bot.press("Yes")

    assert (await bot.answer()).content == {"a": True}


@pytest.mark.parametrize("reason", ["missing_scope", "not_in_channel", "account_inactive", "ratelimited"])
async def test_a_bot_without_permission_has_asked_nobody(bot: Bot, reason: str) -> None:
    if reason == "ratelimited":
        bot.api.limited = 1_000
    bot.api.refused = reason
    answer = await bot.ask(form())

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert reason in answer.reason


@pytest.mark.parametrize("content_type", ["text/plain", "application/json"])
async def test_a_user_learns_that_the_next_message_could_not_be_sent(
    bot: Bot, content_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_handler, "_RETRY_AFTER", 0.0)
    shown = await bot.asks(form({"a": {"enum": ["x", "y"]}}))
    bot.api.unreachable = content_type
    button = shown.buttons[0]["value"]
    notes = [(await bot.ask.press(ANN, button)).note for _ in range(2)]
    bot.api.unreachable = ""
    notes.append((await bot.ask.press(ANN, button)).note)
    await bot.press("Send")

    assert notes == [*["The next message could not be sent. Try again."] * 2, ""]
    assert (await bot.answer()).content == {"a": "x"}


@pytest.mark.parametrize("user", ["C0123456789", "#general", "general", "ann@example.com"])
async def test_a_request_is_never_posted_to_a_channel(bot: Bot, user: str) -> None:
    answer = await bot.ask(form(user=user))

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert answer.reason.endswith("is not the ID of a user of Slack: pass that ID as `user`")
    assert not [each for each in bot.api.calls if each.startswith("chat.")]


async def test_secrets_are_never_asked_for(bot: Bot) -> None:
    answer = await bot.ask(form({"password": {"type": "string", "format": "password"}}))

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert "cannot be shown here" in bot.api.latest(ANN).text


async def test_a_url_opens_only_after_consent(bot: Bot) -> None:
    shown = await bot.asks(parse_request(URL, server="shop", user=ANN))
    assert not any("url" in each for each in shown.buttons)
    shown = await bot.press("Show link")
    assert [each["url"] for each in shown.buttons if "url" in each] == ["https://pay.example.com/17"]
    await bot.press("I have finished")

    assert (await bot.answer()).action == "accept"


async def test_a_button_pressed_after_a_restart_of_the_bot_answers_exactly_once(tmp_path: Any) -> None:
    api, answers, ids = FakeSlack(), [], list[str]()

    async def announce(_owner: str, entry_id: str) -> None:
        ids.append(entry_id)

    async def ask() -> None:
        handler = InboxHandler(Inbox(SqliteStore(tmp_path / "inbox.db")), on_pending=announce)
        answers.append(await handler(form({"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}})))

    async with api.serve() as base_url, anyio.create_task_group() as group:
        group.start_soon(ask)  # another process waits for the answer
        await until(lambda: ids)
        api.late = True
        async with running(api, base_url, inbox=Inbox(SqliteStore(tmp_path / "inbox.db"))) as first:
            await first.ask.announce(ANN, ids[0])
            await first.press("Answer")
            await first.press("“y”")
        async with running(api, base_url, inbox=Inbox(SqliteStore(tmp_path / "inbox.db"))) as second:
            await second.press("Yes")
            shown = api.latest(ANN)
            send = shown.buttons[0]
            await second.press("Send")
            await api.press(ANN, shown, send)
            await until(lambda: api.notes)

    assert api.notes == ["This request was already answered."]
    assert [each.content for each in answers] == [{"a": "y", "b": True}]


async def test_an_app_that_is_not_async_is_refused() -> None:
    app: Any = App(token=TOKEN, signing_secret=SECRET, token_verification_enabled=False)

    with pytest.raises(TypeError, match=r"`app` must be AsyncApp, not App\. Use `slack_bolt.async_app`\."):
        SlackHandler(app)


async def test_a_channel_in_place_of_a_function_is_refused() -> None:
    channel: Any = "C0123456789"

    with pytest.raises(TypeError, match="`channel` must be a function, not"):
        SlackHandler(AsyncApp(client=AsyncWebClient(token=TOKEN), signing_secret=SECRET), channel=channel)
