"""The programs of the page about chats, in processes of their own, against fakes of the chats."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, parse_request
from mcp_elicit_client.handlers.chat import ChatHandler
from mcp_elicit_client.inbox import Inbox, InboxHandler, SqliteStore
from tests.support import ROOT, form_params, free_port, until

pytest.importorskip("telegram")
pytest.importorskip("slack_bolt")

from tests.support.slack_api import SECRET, TOKEN, FakeSlack, state_of
from tests.support.telegram_api import TOKEN as TELEGRAM_TOKEN
from tests.support.telegram_api import FakeTelegram, Shown

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

ANN = 11
OVER_HTTP = 'make_app(os.environ["SLACK_BOT_TOKEN"], os.environ["SECRET"]).start(port=int(os.environ["PORT"]))\n'
"""The last line of the program for Slack over HTTP, as the page says."""
RESTARTED = """
import os

from telegram.ext import Application

from mcp_elicit_client.handlers.telegram import TelegramHandler
from mcp_elicit_client.inbox import Inbox, SqliteStore


async def announce(_bot):
    if "ANNOUNCE" in os.environ:
        for entry in (await ask._inbox.list("11")).entries:
            await ask.announce("11", entry.id)


builder = Application.builder().token("1:fake").base_url(os.environ["API"]).concurrent_updates(True)
bot = builder.post_init(announce).build()
ask = TelegramHandler(bot, inbox=Inbox(SqliteStore(os.environ["INBOX"])))
bot.run_polling()
"""
RESTARTED_SLACK = """
import asyncio
import os

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from mcp_elicit_client.handlers.slack import SlackHandler
from mcp_elicit_client.inbox import Inbox, SqliteStore


async def main():
    app = AsyncApp(client=AsyncWebClient(token="xoxb-1", base_url=os.environ["API"]), signing_secret="")
    ask = SlackHandler(app, inbox=Inbox(SqliteStore(os.environ["INBOX"])))
    if "ANNOUNCE" in os.environ:
        for entry in (await ask._inbox.list("U1")).entries:
            await ask.announce("U1", entry.id)
    await AsyncSocketModeHandler(app, "xapp-1").start_async()


asyncio.run(main())
"""


def program(name: str, url: str, base_url: str) -> str:
    """The program of the page that has *name* in it, with *base_url* in place of the *url* of the chat."""
    page = (ROOT / "docs" / "chats.md").read_text(encoding="utf-8")
    blocks: list[str] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (found,) = [each for each in blocks if name in each]
    assert url in found
    return found.replace(url, base_url)


def test_the_programs_of_the_page_use_what_a_handler_has() -> None:
    page = (ROOT / "docs" / "chats.md").read_text(encoding="utf-8")
    used = set(re.findall(r"\bask\.(\w+)", page))

    assert used == {"announce", "user"}  # `user` is of `ChainlitHandler`, whose package may not be installed
    assert hasattr(ChatHandler, "announce")


@asynccontextmanager
async def started(folder: Path, text: str, **environ: str) -> AsyncIterator[None]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, str(path)],
            env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield
        finally:
            process.kill()
            process.wait()


async def until_it_listens(port: int) -> None:
    with anyio.fail_after(30):
        while True:
            try:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
            except OSError:
                await anyio.sleep(0.05)
            else:
                return


@pytest.mark.parametrize("mode", ["socket mode", "HTTP"])
async def test_the_program_for_slack_books_a_table(tmp_path: Path, mode: str) -> None:
    api, port = FakeSlack(), free_port()
    async with api.serve() as base_url:
        text = program("SlackHandler", "https://slack.com/api/", base_url)
        if mode == "HTTP":
            text = text.partition('if __name__ == "__main__":')[0] + OVER_HTTP
        tokens = {"SLACK_BOT_TOKEN": TOKEN, "SLACK_APP_TOKEN": "xapp-1", "SECRET": SECRET}
        async with started(tmp_path, text, PORT=str(port), **tokens):
            if mode == "HTTP":
                api.bot_url = f"http://127.0.0.1:{port}/slack/events"
                await until_it_listens(port)
            else:
                await until(lambda: api.socket is not None)
            await api.command("U1", "/book")
            await until(lambda: api.messages)
            shown = api.latest("U1")
            await api.press("U1", shown, shown.buttons[shown.labels.index("Answer")])
            await until(lambda: api.views)
            inputs = [each for each in api.views[0]["blocks"] if each["type"] == "input"]
            assert len(inputs) == 13
            values = {each["block_id"]: state_of(each["element"], initial(each["element"])) for each in inputs}
            values["5"] = state_of(inputs[5]["element"], "3")
            assert await api.submit("U1", api.views[0], values) == {}
            await until(lambda: api.said)

    assert json.loads(re.findall(r"\{.*\}", api.said[0], re.DOTALL)[0])["content"]["guests"] == 3


def initial(element: dict[str, Any]) -> Any:
    """Return what a person sees in an input."""
    if "initial_option" in element:
        return element["initial_option"]["text"]["text"]
    if "initial_options" in element:
        return [each["text"]["text"] for each in element["initial_options"]]
    return element.get("initial_value", element.get("initial_date"))


async def test_the_program_for_telegram_books_a_table(tmp_path: Path) -> None:
    api = FakeTelegram()
    async with api.serve() as base_url:
        text = program("TelegramHandler", "https://api.telegram.org/bot", base_url)
        async with started(tmp_path, text, TELEGRAM_TOKEN=TELEGRAM_TOKEN):
            api.write(ANN, "/book")
            await until(lambda: api.messages)
            asked = 0
            while "Send" not in labels(api):
                asked += 1
                kept = next(each for each in ("Use this value", "Do not provide") if each in labels(api))
                await api.press(ANN, api.latest(ANN), api.latest(ANN).data(kept))
            await api.press(ANN, api.latest(ANN), api.latest(ANN).data("Send"))
            shown: Shown = await until(lambda: "guests" in api.latest(ANN).text and api.latest(ANN))

    assert asked == 13
    assert not shown.has_preview, "the server wrote the text"
    assert "'guests': 2" in shown.text  # the fake has read the text as JSON


def labels(api: FakeTelegram) -> list[str]:
    return [each["text"] for each in api.latest(ANN).buttons]


@asynccontextmanager
async def waiting(path: Path, user: str) -> AsyncIterator[list[Answer]]:
    """Wait for the answer to a form in an inbox, as the process that holds the call does."""
    answers: list[Answer] = []
    stored = anyio.Event()
    fields = {"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}}
    request = parse_request(form_params({"properties": fields}), server="mail", user=user)

    async def note(_owner: str, _entry_id: str) -> None:
        stored.set()

    async def ask() -> None:
        answers.append(await InboxHandler(Inbox(SqliteStore(path)), on_pending=note)(request))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await stored.wait()
        yield answers


async def test_a_question_in_telegram_survives_the_end_of_the_bots_process(tmp_path: Path) -> None:
    api, path = FakeTelegram(), tmp_path / "inbox.db"
    async with api.serve() as base_url, waiting(path, str(ANN)) as answers:
        environ = {"API": base_url, "INBOX": str(path)}
        async with started(tmp_path, RESTARTED, ANNOUNCE="yes", **environ):
            await until(lambda: api.messages)
            await api.press(ANN, api.latest(ANN), api.latest(ANN).data("“y”"))
        shown, polls = api.latest(ANN), api.calls.count("getUpdates")
        async with started(tmp_path, RESTARTED, **environ):
            await until(lambda: api.calls.count("getUpdates") > polls)
            await api.press(ANN, shown, shown.data("Yes"))
            send = api.latest(ANN).data("Send")
            notes = [await api.press(ANN, shown, send) for _ in range(2)]

    assert notes == ["", "This request was already answered."]
    assert [each.content for each in answers] == [{"a": "y", "b": True}]


async def test_a_question_in_slack_survives_the_end_of_the_bots_process(tmp_path: Path) -> None:
    api, path = FakeSlack(late=True), tmp_path / "inbox.db"

    async def press(label: str) -> None:
        shown = api.latest("U1")
        before = shown.blocks
        await api.press("U1", shown, shown.buttons[shown.labels.index(label)])
        await until(lambda: api.latest("U1").blocks is not before)

    async with api.serve() as base_url, waiting(path, "U1") as answers:
        environ = {"API": base_url, "INBOX": str(path)}
        async with started(tmp_path, RESTARTED_SLACK, ANNOUNCE="yes", **environ):
            await until(lambda: api.messages and api.socket is not None)
            await press("Answer")
            await press("“y”")
        api.socket = None
        async with started(tmp_path, RESTARTED_SLACK, **environ):
            await until(lambda: api.socket is not None)
            await press("Yes")
            shown = api.latest("U1")
            send = shown.buttons[shown.labels.index("Send")]
            await press("Send")
            await api.press("U1", shown, send)
            await until(lambda: api.notes)

    assert api.notes == ["This request was already answered."]
    assert [each.content for each in answers] == [{"a": "y", "b": True}]
