"""The adapters on the page "Write a chat adapter": for Discord, against a fake of its REST API, and for plain text."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import anyio
import pytest
from aiohttp import web

from mcp_elicit_client import Answer, parse_request
from tests.support import ROOT, form_params, until

pytest.importorskip("discord")

import discord
from discord.ext import commands
from discord.http import Route

from tests.support.slack_api import listening

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

ANN, BOB = 11, 22


def run_blocks(*numbers: int) -> dict[str, Any]:
    """Run code blocks of the page; return their names."""
    page = (ROOT / "docs" / "chat-adapter.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    program: dict[str, Any] = {}
    for number in numbers:
        exec(compile(blocks[number], "chat-adapter.md", "exec"), program)
    return program


class FakeDiscord:
    """The REST API with its limits, and a person who presses and fills in modals."""

    def __init__(self) -> None:
        self.messages: dict[int, dict[str, Any]] = {}
        self.reactions: list[dict[str, Any]] = []
        self.numbers = itertools.count(1_000)
        self.is_closed = False

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.serve)
        return app

    async def serve(self, request: web.Request) -> web.Response:
        path, body = request.path, await request.text()
        given = json.loads(body) if body else {}
        status, result = self.call(request.method, path, given)
        return web.Response(status=status, body=json.dumps(result).encode(), content_type="application/json")

    def call(self, method: str, path: str, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        user = {"id": "1", "username": "bot", "discriminator": "0", "avatar": None, "bot": True}
        if path.endswith("/callback"):
            self.reactions.append(given)
            return 200, {"interaction": {"id": "1", "type": 3}}
        if path == "/oauth2/applications/@me":
            app = {"id": "1", "name": "bot", "icon": None, "description": "", "flags": 0, "owner": user}
            return 200, {**app, "bot_public": False, "bot_require_code_grant": False, "summary": "", "verify_key": ""}
        if path == "/users/@me/channels":
            return 200, {
                "id": f"9{given['recipient_id']}",
                "type": 1,
                "recipients": [_person(int(given["recipient_id"]))],
            }
        if "/messages" in path:
            if self.is_closed:
                return 403, {"code": 50007, "message": "Cannot send messages to this user"}
            check(given)
            number = int(path.rpartition("/")[2]) if method == "PATCH" else next(self.numbers)
            shown = self.messages.setdefault(number, {"id": number})
            shown |= {"content": given["content"], "components": given.get("components", [])}
            return 200, message(number, given["content"])
        return 200, user if path == "/users/@me" else _person(int(path.rpartition("/")[2]))

    def buttons(self) -> dict[str, dict[str, Any]]:
        """Return the buttons of the latest message by their labels."""
        rows = list(self.messages.values())[-1]["components"]
        return {button["label"]: button for row in rows for button in row["components"]}


def _person(number: int) -> dict[str, Any]:
    return {"id": str(number), "username": "ann", "discriminator": "0", "avatar": None}


def message(number: int, content: str) -> dict[str, Any]:
    times = {"timestamp": "2026-11-22T10:00:00+00:00", "edited_timestamp": None}
    lists: dict[str, Any] = {name: [] for name in ("mentions", "mention_roles", "attachments", "embeds", "components")}
    flags = {"tts": False, "mention_everyone": False, "pinned": False, "type": 0}
    return {
        "id": str(number),
        "channel_id": f"9{ANN}",
        "author": _person(1),
        "content": content,
        **times,
        **lists,
        **flags,
    }


def check(given: dict[str, Any]) -> None:
    rows = given.get("components") or []
    assert 1 <= len(given["content"]) <= 2000
    assert len(rows) <= 5
    for button in (each for row in rows for each in row["components"]):
        assert 1 <= len(button["label"]) <= 80
        assert len(button.get("custom_id", "")) <= 100


class Person:
    """Presses and fills in modals."""

    def __init__(self, api: FakeDiscord, bot: Any) -> None:
        self.api, self.bot = api, bot

    async def interact(self, kind: int, data: dict[str, Any], person: int = ANN) -> dict[str, Any]:
        count = len(self.api.reactions)
        latest = list(self.api.messages.values())[-1]
        payload = {
            "id": str(next(self.api.numbers)),
            "application_id": "1",
            "type": kind,
            "token": "t",
            "version": 1,
            "data": data,
            "user": _person(person),
            "channel": {"id": f"9{ANN}", "type": 1, "recipients": []},
            "channel_id": f"9{ANN}",
            "message": message(latest["id"], latest["content"]),
            "entitlements": [],
            "attachment_size_limit": 1,
            "authorizing_integration_owners": {},
        }
        self.bot._connection.parse_interaction_create(payload)
        await until(lambda: len(self.api.reactions) > count)
        return self.api.reactions[-1]

    async def press(self, label: str, person: int = ANN) -> dict[str, Any]:
        data = {"component_type": 2, "custom_id": self.api.buttons()[label]["custom_id"]}
        return await self.interact(3, data, person)

    async def submit(self, modal: dict[str, Any], *values: Any) -> dict[str, Any]:
        shown = [each["component"] for each in modal["data"]["components"]]
        entered = [
            {"type": 18, "component": {"type": each["type"], "custom_id": each["custom_id"], **_entered(each, value)}}
            for each, value in zip(shown, values, strict=True)
        ]
        return await self.interact(5, {"custom_id": modal["data"]["custom_id"], "components": entered})


def _entered(component: dict[str, Any], value: Any) -> dict[str, Any]:
    if component["type"] == 4:
        return {"value": value}
    labels = {each["label"]: each["value"] for each in component["options"]}
    return {"values": [labels[each] for each in value]}


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("see https://a.example/**b**", "see https:\u200b//a.example/\\*\\*b\\*\\*"),
        ("[this](https://evil.example)", "\\[this](https:\u200b//evil.example)"),
        ("in <#123456789012345678>", "in \\<#123456789012345678>"),
        ("run </pay:123456789012345678>", "run \\</pay:123456789012345678>"),
        ("<mailto:a@evil.example>", "\\<mailto:a@evil.example>"),
    ],
)
def test_the_adapter_of_the_page_breaks_markup_mentions_and_links(text: str, escaped: str) -> None:
    program = run_blocks(0)

    assert program["escape"](text) == escaped


async def test_the_adapter_of_the_page_asks_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    program = run_blocks(0, 1)
    api, answers = FakeDiscord(), list[Answer]()
    bot = commands.Bot(command_prefix="!", intents=discord.Intents.none())
    ask = program["DiscordHandler"](bot)
    fields = {
        "name": {"type": "string", "title": "*Name*", "pattern": "^A|@everyone|[a](https://evil.example)"},
        "guests": {"type": "integer", "title": "Guests"},
        "dish": {"enum": ["Pizza", "Pasta"], "title": "Dish"},
        "extras": {"type": "array", "items": {"enum": ["Salad", "Wine"]}, "title": "Extras"},
    }
    question = form_params({"properties": fields}, "Hello @everyone, see [this](https://evil.example)")
    person = Person(api, bot)

    async def asked(params: Any) -> None:
        answers.append(await ask(parse_request(params, server="mail", user=str(ANN))))

    async def shown(label: str) -> None:
        with anyio.fail_after(30):
            while not api.messages or label not in api.buttons():
                await anyio.sleep(0.002)

    async with listening(api.app()) as url, anyio.create_task_group() as group:
        monkeypatch.setattr(Route, "BASE", url)
        await bot.login("token")
        bot._connection.user = bot.user

        group.start_soon(asked, question)
        await shown("Answer")
        content = list(api.messages.values())[-1]["content"]
        assert "> Hello @\u200beveryone, see" in content
        assert "https://" not in content
        assert (await person.press("Decline", BOB))["data"]["content"].startswith("It may have expired")
        note = (await person.submit(await person.press("Answer"), "Bob", "2", ["“Pasta”"], ["“Wine”"]))["data"][
            "content"
        ]
        assert ("@\u200beveryone" in note, "https://" in note) == (True, False)
        modal = await person.press("Answer")
        assert (await person.submit(modal, "Ann", "two", ["“Pasta”"], ["“Wine”"]))["data"]["content"]
        modal = await person.press("Answer")
        assert modal["data"]["components"][0]["component"]["value"] == "Ann"
        await person.submit(modal, "Ann", "2", ["“Pasta”"], ["“Wine”"])
        await until(lambda: answers)
        assert answers[0].content == {"name": "Ann", "guests": 2, "dish": "Pasta", "extras": ["Wine"]}
        views = bot._connection._view_store
        assert (views._views, views._modals, views._synced_message_views) == ({}, {}, {})  # which would grow forever

        async def answer_menu(interaction: Any) -> None:
            if interaction.data["custom_id"] == "menu":
                await interaction.response.send_message("the menu of the bot")

        bot.add_listener(answer_menu, "on_interaction")
        for kind, data in ((3, {"component_type": 2}), (5, {"components": []})):
            reaction = await person.interact(kind, {"custom_id": "menu", **data})
            assert reaction["data"]["content"] == "the menu of the bot"

        api.is_closed = True
        await asked(question)
        assert (answers[1].action, answers[1].by) == ("cancel", "unattended")
        monkeypatch.setattr(Route, "BASE", "http://127.0.0.1:1")  # the network is lost
        await asked(question)
        assert (answers[2].action, answers[2].by) == ("cancel", "unattended")
        assert "Discord: " in answers[2].reason
        await bot.close()


class PlainChat:
    """A chat of plain text, in which people see what was written to them."""

    def __init__(self, **options: Any) -> None:
        self.texts: dict[str, list[str]] = {"ann": [], "bob": []}
        self.is_lost = False
        self.ask = run_blocks(2)["PlainTextHandler"](self.write, **options)
        self.answers: list[Answer] = []

    async def write(self, person: str, text: str) -> None:
        if self.is_lost:
            raise ConnectionResetError("the connection is lost")
        self.texts[person].append(text)

    async def asked(self, params: Any) -> None:
        self.answers.append(await self.ask(parse_request(params, server="mail", user="ann")))

    async def choose(self, label: str, person: str = "ann") -> bool:
        numbers = re.findall(rf"^(/[0-9]+) {re.escape(label)}$", "\n".join(self.texts["ann"]), re.MULTILINE)
        return bool(await self.ask.on_line(person, numbers[-1]))


PLAIN_FIELDS = {
    "name": {"type": "string", "title": "Name"},
    "dish": {"enum": ["Pizza", "P\u00e2t\u00e9"], "title": "Dish"},
    "extras": {"type": "array", "items": {"enum": ["Salad", "Wine"]}, "title": "Extras"},
}


async def test_the_adapter_of_the_page_for_plain_text_asks_field_by_field() -> None:
    chat = PlainChat()
    message = "Welcome\n== mail asks for nothing ==\r\u2028/1 Send"

    async with anyio.create_task_group() as group:
        group.start_soon(chat.asked, form_params({"properties": PLAIN_FIELDS}, message))
        await until(lambda: chat.texts["ann"])
        assert "/1 Send" not in re.split("[\r\n\u2028]", chat.texts["ann"][0])
        assert "== mail asks for nothing ==" not in chat.texts["ann"][0].splitlines()
        assert not await chat.ask.on_line("bob", "Bob")
        await chat.choose("Decline", "bob")
        assert chat.texts["bob"] == ["It may have expired, or it belongs to another user."]
        for step in ("Ann", "P\u00e2t\u00e9"):
            assert await chat.ask.on_line("ann", step)
        await chat.choose("\u201cWine\u201d")
        await chat.choose("Use selection")
        await chat.choose("Send")

    assert chat.answers[0].content == {"name": "Ann", "dish": "P\u00e2t\u00e9", "extras": ["Wine"]}
    assert chat.texts["ann"][-1].endswith("You accepted.")
    assert not await chat.ask.on_line("ann", "a line for the bot")


async def test_in_plain_text_a_late_number_presses_no_button_of_another_message() -> None:
    chat = PlainChat()

    async with anyio.create_task_group() as group:
        group.start_soon(chat.asked, form_params({"properties": PLAIN_FIELDS}))
        await until(lambda: chat.texts["ann"])
        numbers = [line.split()[0] for line in chat.texts["ann"][0].splitlines() if line.startswith("/")]
        await chat.ask.on_line("ann", "Ann")
        for number in numbers:
            await chat.ask.on_line("ann", number)
        assert not chat.answers
        await chat.choose("Cancel")

    assert chat.answers[0].action == "cancel"


async def test_in_plain_text_a_lost_connection_is_a_cancel() -> None:
    chat = PlainChat()
    chat.is_lost = True

    await chat.asked(form_params({"properties": PLAIN_FIELDS}))

    assert (chat.answers[0].action, chat.answers[0].by) == ("cancel", "unattended")
    assert "the connection is lost" in chat.answers[0].reason
