"""Requests in Chainlit: a real server, people who speak its protocol, and a real browser."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from mcp_elicit_client import Answer, BooleanField, ChoiceField, FormRequest, MultiChoiceField, parse_request
from mcp_elicit_client.core.form import Field
from mcp_elicit_client.inbox import Inbox, MemoryStore
from mcp_elicit_client.typing import Request
from tests.support import ROOT, example_value, form_params, free_port, until
from tests.support.chat_corpus import forms, in_terminal, labels, typed
from tests.support.chromium import IN_A_BROWSER, browser, picture

if importlib.util.find_spec("chainlit") is None:
    pytest.skip("chainlit is not installed", allow_module_level=True)

from tests.support.chainlit_chat import CHAINLIT, Person, joined, running

pytestmark = IN_A_BROWSER

FIELDS: dict[str, Any] = {
    "name": {"type": "string", "title": "Name", "description": "As in *your* passport"},
    "guests": {"type": "integer", "title": "Guests", "minimum": 1, "default": 2},
    "dish": {"enum": ["Pizza", "Pasta"], "title": "Dish"},
    "extras": {"type": "array", "items": {"enum": ["Salad", "Wine"]}, "title": "Extras"},
    "on": {"type": "string", "format": "date", "title": "On"},
}
YES_NO = {"a": {"type": "boolean"}}
URL = {"mode": "url", "message": "Pay", "url": "https://pay.example.com/17", "elicitationId": "1"}
SECRET = {"password": {"type": "string", "format": "password"}}
LATE = "This request was already answered."
NOT_YOURS = "It may have expired, or it belongs to another user."


def form(fields: Any, user: str, message: str = "Please") -> Request:
    return parse_request(form_params({"properties": fields}, message), server="mail", user=user)


@dataclass
class Chat:
    """A server with one person, and the requests that the person was asked."""

    ask: Any
    origin: str
    person: Person
    group: Any
    answers: list[Answer] = field(default_factory=list)

    async def asks(self, request: Request) -> Person:
        """Ask in the background; return the person, who sees the request."""
        count = len(self.person.elements)
        self.group.start_soon(self._ask, request)
        await until(lambda: len(self.person.elements) > count)
        return self.person

    async def _ask(self, request: Request) -> None:
        self.answers.append(await self.ask(request))

    async def answer(self, count: int = 1) -> Answer:
        await until(lambda: len(self.answers) >= count)
        return self.answers[count - 1]


@asynccontextmanager
async def chatting(**options: Any) -> AsyncIterator[Chat]:
    async with running(**options) as (ask, origin), joined(origin) as person, anyio.create_task_group() as group:
        yield Chat(ask, origin, person, group)
        group.cancel_scope.cancel()


@pytest.fixture
async def chat(anyio_backend: Any) -> AsyncIterator[Chat]:
    async with chatting() as chat:
        yield chat


async def test_a_form_is_answered_in_the_element(chat: Chat) -> None:
    person = await chat.asks(form(FIELDS, chat.person.id))
    assert person.messages == ["mail asks for 5 answers"]
    dialog = await person.open()
    values = {"0": "Ann", "1": "two", "2": [1], "3": [0, 1], "4": "2027-01-31"}

    assert [each["initial"] for each in dialog["fields"]] == [None, "2", None, None, None]
    assert (await person.act(data=dialog["id"], values=values))["errors"] == {"1": "Enter a whole number."}
    assert (await person.act(data=dialog["id"], values={**values, "1": "3"}))["errors"] is None

    answer = await chat.answer()
    assert (answer.action, answer.by) == ("accept", "user")
    assert answer.content == {
        "name": "Ann",
        "guests": 3,
        "dish": "Pasta",
        "extras": ["Salad", "Wine"],
        "on": "2027-01-31",
    }
    await until(lambda: person.text == "You accepted.")
    assert not person.labels


@pytest.mark.parametrize(("label", "action"), [("Decline", "decline"), ("Cancel", "cancel")])
@pytest.mark.parametrize("fields", [FIELDS, YES_NO])
async def test_a_form_can_be_declined_and_cancelled(chat: Chat, fields: Any, label: str, action: str) -> None:
    person = await chat.asks(form(fields, chat.person.id))
    await person.press(label)

    answer = await chat.answer()
    assert (answer.action, answer.by) == (action, "user")


async def test_a_url_is_a_link_only_after_consent(chat: Chat) -> None:
    person = await chat.asks(parse_request(URL, server="shop", user=chat.person.id))
    assert {"kind": "url", "text": "https://pay.[example.com]/17"} in person.latest["paragraphs"]
    assert not any(each["url"] for each in person.latest["buttons"])
    await person.press("Show link")
    assert [each["url"] for each in person.latest["buttons"] if each["url"]] == ["https://pay.example.com/17"]
    await person.press("I have finished")

    assert (await chat.answer()).action == "accept"


async def test_only_the_person_asked_may_press_or_submit(chat: Chat) -> None:
    person = await chat.asks(form({"a": {"type": "string"}}, chat.person.id))
    dialog = await person.open()
    async with joined(chat.origin) as other:
        for label in ("Answer", "Decline", "Cancel"):
            assert (await other.act(data=person.data(label)))["note"] == NOT_YOURS
        assert (await other.act(data=dialog["id"], values={"0": "forged"}))["note"] == NOT_YOURS

    await person.act(data=dialog["id"], values={"0": "mine"})
    assert (await chat.answer()).content == {"a": "mine"}


async def test_a_press_and_a_form_that_are_sent_twice_count_once(chat: Chat) -> None:
    person = await chat.asks(form(YES_NO, chat.person.id))
    yes, no = person.data("Yes"), person.data("No")
    notes: list[str] = []

    async def press(data: str) -> None:
        notes.append((await person.act(data=data))["note"])

    async with anyio.create_task_group() as group:
        for data in (yes, yes, no):
            group.start_soon(press, data)
    assert sorted(notes) == ["", LATE, LATE]

    await chat.asks(form({"a": {"type": "string"}}, person.id))
    dialog = await person.open()
    sent = [await person.act(data=dialog["id"], values={"0": text}) for text in ("first", "second")]
    assert [each["note"] for each in sent] == ["", LATE]
    assert (await chat.answer(2)).content == {"a": "first"}


async def test_an_old_button_says_so_and_changes_nothing(chat: Chat) -> None:
    person = await chat.asks(parse_request(URL, server="shop", user=chat.person.id))
    old = person.data("Show link")
    await person.press("Show link")

    assert (await person.act(data=old))["note"] == "This button is no longer valid."
    assert not chat.answers
    await person.press("Cancel")
    assert (await chat.answer()).action == "cancel"


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"data": None},
        {"data": "x"},
        {"data": "x", "values": []},
        {"data": "x", "values": {"0": ["y"]}},
        {"data": "x", "values": {"0": {}}},
        {"data": "x", "values": {"0": 1}},
        {"data": "x", "values": {"0": [None]}},
        {"data": "x", "values": {"0": [1e300]}},
    ],
)
async def test_an_action_with_other_data_changes_nothing(chat: Chat, payload: Any) -> None:
    person = await chat.asks(form(FIELDS, chat.person.id))
    reaction = await person.act(**payload)

    assert isinstance(reaction, dict)  # Chainlit returns null if the handler raised.
    assert not chat.answers
    assert "Decline" in person.labels


@pytest.mark.parametrize("values", [{"9": "x"}, {"-1": "x"}, {"x": "y"}, {"2": [5]}, {"2": [-1]}, {"0": [0]}])
async def test_a_form_with_other_inputs_is_refused(chat: Chat, values: Any) -> None:
    person = await chat.asks(form(FIELDS, chat.person.id))
    dialog = await person.open()

    assert (await person.act(data=dialog["id"], values=values))["note"] == "This button is no longer valid."
    assert not chat.answers


async def test_a_warning_is_confirmed_after_the_form(chat: Chat) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    person = await chat.asks(form({"a": {"type": "string"}}, chat.person.id))
    dialog, count = await person.open(), person.changes
    await person.act(data=dialog["id"], values={"0": token})
    await until(lambda: person.changes > count)
    await person.press("Send")
    assert "access token" in person.text
    await person.press("Confirm")

    assert (await chat.answer()).confirmed


async def test_secrets_are_never_asked_for(chat: Chat) -> None:
    answer = await chat.ask(form(SECRET, chat.person.id))

    assert (answer.action, answer.by) == ("cancel", "unattended")
    await until(lambda: chat.person.elements)
    assert "cannot be shown here" in chat.person.messages[-1]
    assert not chat.person.labels


async def test_a_language_in_place_of_a_catalog_is_refused(chat: Chat) -> None:
    with pytest.raises(TypeError, match="`messages` must be MessageCatalog, not str"):
        type(chat.ask)(messages="de")


async def test_a_person_without_an_open_chat_was_not_asked(chat: Chat) -> None:
    await chat.person.leave()
    for user in ("nobody", chat.person.id):
        answer = await chat.ask(form(YES_NO, user))

        assert (answer.action, answer.by) == ("cancel", "unattended")
        assert "no open chat" in answer.reason


async def test_a_withdrawn_request_loses_its_buttons(chat: Chat) -> None:
    async with anyio.create_task_group() as group:
        chat.group = group
        person = await chat.asks(form(FIELDS, chat.person.id))
        dialog = await person.open()
        group.cancel_scope.cancel()

    await until(lambda: person.text == "mail no longer needs an answer.")
    assert not person.labels
    assert (await person.act(data=dialog["id"], values={"0": "x"}))["note"] == "mail no longer needs an answer."


async def test_a_request_is_shown_again_after_the_chat_was_opened_again() -> None:
    inbox = Inbox(MemoryStore())
    async with chatting(inbox=inbox) as chat:
        person = await chat.asks(form({"a": {"type": "string"}, "b": {"type": "integer"}}, chat.person.id))
        dialog = await person.open()
        assert (await person.act(data=dialog["id"], values={"0": "kept", "1": "x"}))["errors"]
        await person.leave()
        await person.join()
        [entry] = (await inbox.list(person.id)).entries
        await chat.ask.announce(person.id, entry.id)
        await until(lambda: len(person.elements) == 2)
        dialog = await person.open()

        assert dialog["fields"][0]["initial"] == "kept"
        await person.act(data=dialog["id"], values={"0": "kept", "1": "1"})
        assert (await chat.answer()).content == {"a": "kept", "b": 1}


async def test_ten_thousand_options_are_one_input(chat: Chat) -> None:
    options = {"a": {"enum": [f"Option {at}" for at in range(10_000)]}}
    person = await chat.asks(form(options, chat.person.id))
    dialog = await person.open()
    assert len(dialog["fields"][0]["options"]) == 10_000
    await person.act(data=dialog["id"], values={"0": [9_998]})

    assert (await chat.answer()).content == {"a": "Option 9998"}


async def test_every_form_is_answered_as_in_the_terminal(chat: Chat) -> None:
    person = chat.person
    for count, request in enumerate(forms(person.id), 1):
        await chat.asks(request)
        if any(each["opens_dialog"] for each in person.latest["buttons"]):
            dialog, changes = await person.open(), person.changes
            entered = [_entered(*each) for each in zip(request.form.fields, dialog["fields"], strict=True)]
            values = {str(at): value for at, value in enumerate(entered)}
            reaction = await person.act(data=dialog["id"], values=values)
            assert not reaction["errors"], request
            await person.until_changed(changes)
        else:
            await _press_through(person, request)
        for label in ("Yes", "Send", "Confirm"):
            if label in person.labels:
                await person.press(label)

        answer = await chat.answer(count)

        assert answer.content == (await in_terminal(request)).content, request
        person.elements.clear()
    assert count >= 5


def _entered(form_field: Field, shown: dict[str, Any]) -> Any:
    """Return what the browser sends for what a person enters."""
    if isinstance(form_field, BooleanField):
        return [0 if example_value(form_field) else 1]
    if shown["options"]:
        return [shown["options"].index(f"“{label}”") for label in labels(form_field)]
    return "\n".join(example_value(form_field)) if isinstance(form_field, MultiChoiceField) else typed(form_field)


async def _press_through(person: Person, request: FormRequest) -> None:
    for each in request.form.fields:
        match each:
            case BooleanField():
                await person.press("Yes" if example_value(each) else "No")
            case ChoiceField() | MultiChoiceField():
                for label in labels(each):
                    await person.press(f"“{label}”")
                if isinstance(each, MultiChoiceField):
                    await person.press("Use selection")


# --- In the browser


def program() -> str:
    """The program of the page about chats."""
    page = (ROOT / "docs" / "chats.md").read_text(encoding="utf-8")
    blocks: list[str] = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    return next(each for each in blocks if "ChainlitHandler" in each)


@asynccontextmanager
async def started(folder: Path) -> AsyncIterator[str]:
    """The program of the page, started as a reader would."""
    port = free_port()
    (folder / "app.py").write_text(program(), encoding="utf-8")
    environ = {**os.environ, "CHAINLIT_APP_ROOT": str(folder), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "chainlit", "run", "app.py", "--headless", "--port", str(port)]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, cwd=folder, env=environ, stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        try:
            with anyio.fail_after(60):
                while not await _is_up(f"http://127.0.0.1:{port}"):
                    await anyio.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


async def _is_up(origin: str) -> bool:
    async with httpx.AsyncClient(trust_env=False) as client:
        try:
            return (await client.get(f"{origin}/public/elements/McpElicitation.jsx")).status_code == 200
        except httpx.TransportError:
            return False


async def write(page: Any, text: str) -> None:
    box = page.locator("#chat-input")
    await box.click()
    await page.keyboard.type(text)
    await page.locator("#chat-submit:enabled").click()
    await page.locator(".step", has_text=text).first.wait_for()


async def test_the_program_of_the_page_asks_for_thirteen_answers_in_a_browser(tmp_path: Path) -> None:
    async with started(tmp_path) as origin, browser() as chromium:
        page = await chromium.new_page(viewport={"width": 900, "height": 900}, color_scheme="light")
        fetched: list[str] = []
        page.on("request", lambda request: fetched.append(request.url))
        await page.goto(origin)
        await write(page, "Book a table")
        guests = page.get_by_label("“Guests”")
        await guests.wait_for()
        assert await page.locator("form [data-field]").count() == 13
        await page.set_viewport_size({"width": 900, "height": 2300})
        await picture(page, "chainlit-form")
        await page.set_viewport_size({"width": 900, "height": 900})
        await guests.fill("100")
        await page.get_by_label("“Your name”").fill("Ann")
        await page.get_by_label("“olives”").check()
        await page.get_by_role("button", name="Send", exact=True).click()
        error = page.locator("form [role=alert]")
        await error.wait_for()
        assert await error.inner_text() == "Enter 12 or less."
        assert await page.get_by_label("“Your name”").input_value() == "Ann"
        assert await guests.evaluate("each => each === document.activeElement")
        await picture(page, "chainlit-error")
        await page.get_by_label("“Your name”").fill("![Ann](https://evil.example/a.png)")  # which the server repeats
        await guests.fill("3")
        await page.keyboard.press("Enter")
        await page.get_by_text('"guests"').wait_for()
        shown = await page.locator("body").inner_text()

    assert "You accepted." in shown
    assert not [each for each in fetched if "evil.example" in each]
    assert re.search(r'"name":\s*"!\[Ann\]\(https://evil.example/a.png\)"', shown)
    assert re.search(r'"guests":\s*3', shown)


async def test_a_url_a_decline_and_a_cancel_in_a_browser() -> None:
    hostile = (
        "![x](https://evil.example/a.png) <img src=https://evil.example/b.png> **b** [click](https://evil.example)"
    )
    asked = {
        "url": {**URL, "message": "Pay the deposit."},
        "decline": form_params({"properties": YES_NO}, hostile),
        "cancel": form_params({"properties": {"a": {"type": "string", "title": hostile}}}, "Please"),
    }
    async with running() as (ask, origin), browser() as chromium:

        async def answer(message: Any) -> None:
            done = await ask(parse_request(asked[message.content], server="shop", user=ask.user()))
            await CHAINLIT.Message(f"The answer is: {done.action}").send()

        CHAINLIT.on_message(answer)
        page = await chromium.new_page(viewport={"width": 900, "height": 560}, color_scheme="light")
        fetched: list[str] = []
        page.on("request", lambda request: fetched.append(request.url))
        await page.goto(origin)
        await write(page, "url")
        await page.get_by_role("button", name="Show link").wait_for()
        assert await page.locator("a[href*='pay.example.com']").count() == 0
        await picture(page, "chainlit-consent")
        await page.get_by_role("button", name="Show link").click()
        link = page.locator("a[href='https://pay.example.com/17']")
        await link.wait_for()
        assert (await link.get_attribute("rel"), await link.get_attribute("target")) == (
            "noopener noreferrer",
            "_blank",
        )
        await picture(page, "chainlit-url")
        await page.get_by_role("button", name="I have finished").click()
        await page.get_by_text("The answer is: accept").wait_for()

        await write(page, "decline")
        await page.get_by_text(hostile).wait_for()  # as text
        await page.get_by_role("button", name="Decline").click()
        await page.get_by_text("The answer is: decline").wait_for()

        await write(page, "cancel")
        await page.locator("form").wait_for()
        await page.get_by_role("button", name="Cancel").click()
        await page.get_by_text("The answer is: cancel").wait_for()

    assert not [each for each in fetched if "example" in each]
