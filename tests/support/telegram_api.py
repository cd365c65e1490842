"""A fake Bot API of Telegram over HTTP, with its documented limits, and people who press and write."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import anyio
from aiohttp import web

from tests.support import until

_COMMAND = re.compile(r"/\w{1,64}(?:@\w{3,32})?(?![\w/<>])", re.ASCII)
"""What Telegram takes for a command of the bot."""

TOKEN = "1:fake"
BOT = {"id": 1, "is_bot": True, "first_name": "Bot", "username": "the_bot"}
ENTITIES = {"bold", "code", "pre", "blockquote"}
MAX_ENTITIES = 100
"""The entities of a message that are used; others are ignored."""


@dataclass
class Shown:
    """A message in a chat."""

    chat: int
    id: int
    text: str
    entities: list[dict[str, Any]] = field(default_factory=list)
    rows: list[list[dict[str, Any]]] = field(default_factory=list)
    has_preview: bool = True

    @property
    def buttons(self) -> list[dict[str, Any]]:
        return [button for row in self.rows for button in row]

    def data(self, label: str) -> str:
        return next(str(each["callback_data"]) for each in self.buttons if each["text"] == label)

    def marked(self, kind: str) -> list[str]:
        units = self.text.encode("utf-16-le")
        spans = [(each["offset"] * 2, each["length"] * 2) for each in self.entities if each["type"] == kind]
        return [units[start : start + size].decode("utf-16-le") for start, size in spans]


class RefusedError(Exception):
    def __init__(self, code: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.code = code
        self.body = {"ok": False, "error_code": code, "description": description, "parameters": parameters}


class FakeTelegram:
    """
    The API, and the chats as people see them.

    Attributes:
        messages: The messages that were not deleted, by ID.
        limited: The number of calls that are refused with 429.
        retry_after: The seconds to wait that these refusals name.
        failing: The number of calls that fail with 502.
        strangers: People who have not started the bot.
        notes: What people were shown after they pressed a button.
        calls: The methods that were called.
    """

    def __init__(self) -> None:
        self.messages: dict[int, Shown] = {}
        self.limited = 0
        self.retry_after = 0.01
        self.failing = 0
        self.strangers: set[int] = set()
        self.notes: list[str] = []
        self.calls: list[str] = []
        self.too_old = False
        self._updates: list[dict[str, Any]] = []
        self._poll = 0
        self._numbers = itertools.count(100)

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Listen on a port; yield the base URL."""
        app = web.Application()
        app.router.add_post("/bot{token}/{method}", self._serve)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/bot"
        finally:
            await runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        given: dict[str, Any] = {}
        for name, value in (await request.post()).items():
            assert isinstance(value, str)
            try:
                given[name] = json.loads(value)
            except ValueError:
                given[name] = value
        method = request.match_info["method"]
        try:
            result = await self._call(method, given)
        except RefusedError as error:
            return web.json_response(error.body, status=error.code)
        return web.json_response({"ok": True, "result": result})

    async def _call(self, method: str, given: dict[str, Any]) -> Any:
        self.calls.append(method)
        match method:
            case "getMe":
                return BOT
            case "getUpdates":
                return await self._take_updates(int(given.get("timeout", 0)))
            case "sendMessage" | "editMessageText" if self.limited:
                self.limited -= 1
                raise RefusedError(429, "Too Many Requests", retry_after=self.retry_after)
            case "sendMessage" | "editMessageText" if self.failing:
                self.failing -= 1
                raise RefusedError(502, "Bad Gateway")
            case "sendMessage":
                if given["chat_id"] in self.strangers:
                    raise RefusedError(403, "Forbidden: bot can't initiate conversation with a user")
                shown = Shown(given["chat_id"], next(self._numbers), "")
                return self._update(shown, given)
            case "editMessageText":
                shown = self._find(given)
                before = (shown.text, shown.rows)
                after = self._update(shown, given)
                if before == (shown.text, shown.rows):
                    raise RefusedError(400, "Bad Request: message is not modified: ...")
                return after
            case "answerCallbackQuery":
                if len(str(given.get("text", ""))) > 200:
                    raise RefusedError(400, "Bad Request: MESSAGE_TOO_LONG")
                self.notes.append(str(given.get("text", "")))
                if self.too_old:
                    raise RefusedError(400, "Bad Request: query is too old and response timeout expired")
        return True

    async def _take_updates(self, seconds: int) -> list[dict[str, Any]]:
        self._poll += 1  # it ends the one before, as of a bot that was stopped
        poll = self._poll
        with anyio.move_on_after(seconds):
            while not self._updates and poll == self._poll:
                await anyio.sleep(0.002)
        found, self._updates = (self._updates, []) if poll == self._poll else ([], self._updates)
        return found

    def _find(self, given: dict[str, Any]) -> Shown:
        shown = self.messages.get(given["message_id"])
        if shown is None or shown.chat != given["chat_id"]:
            raise RefusedError(400, "Bad Request: message to edit not found")
        return shown

    def _update(self, shown: Shown, given: dict[str, Any]) -> dict[str, Any]:
        text, entities = str(given["text"]), given.get("entities", [])
        rows = given.get("reply_markup", {}).get("inline_keyboard", [])
        _check(text, entities, rows)
        assert "parse_mode" not in given
        shown.has_preview = given.get("link_preview_options") != {"is_disabled": True}
        assert "entities" not in given or not shown.has_preview
        shown.text, shown.entities, shown.rows = text, entities[:MAX_ENTITIES], rows
        self.messages[shown.id] = shown
        return {"message_id": shown.id, "date": 0, "chat": {"id": shown.chat, "type": "private"}, "text": text}

    # --- People

    def latest(self, person: int) -> Shown:
        """Return the last message in the chat with *person*."""
        return [each for each in self.messages.values() if each.chat == person][-1]

    async def press(self, person: int, message: Shown, data: str) -> str:
        """Press a button, wait until the bot has reacted, and return what it notes."""
        count = len(self.notes)
        self.press_only(person, message, data)
        await until(lambda: len(self.notes) > count)
        return self.notes[-1]

    def press_only(self, person: int, message: Shown, data: str) -> None:
        """Press a button."""
        update = next(self._numbers)
        shown = {"message_id": message.id, "date": 1, "chat": {"id": message.chat, "type": "private"}, "text": "x"}
        pressed = {"id": str(update), "from": _user(person), "chat_instance": "1", "data": data, "message": shown}
        self._updates.append({"update_id": update, "callback_query": pressed})

    def write(self, person: int, text: str, reply_to: Shown | None = None, **change: Any) -> dict[str, Any]:
        """Write a message; return the update."""
        chat = {"id": person, "type": "private"}
        number = next(self._numbers)
        message = {"message_id": number, "date": 1, "chat": chat, "from": _user(person), "text": text, **change}
        if command := _COMMAND.match(text):
            message["entities"] = [{"type": "bot_command", "offset": 0, "length": command.end()}]
        if reply_to is not None:
            message["reply_to_message"] = {"message_id": reply_to.id, "date": 1, "chat": chat, "text": "x"}
        update = {"update_id": next(self._numbers), "message": message}
        self._updates.append(update)
        return update

    def repeat(self, update: dict[str, Any]) -> None:
        """Deliver an update again, as after a crash of the bot."""
        self._updates.append(update)


def _user(person: int) -> dict[str, Any]:
    return {"id": person, "is_bot": False, "first_name": "Ann"}


def _is_taken(url: str) -> bool:
    """Return True if Telegram takes *url* for a button: its host has a dot."""
    return "." in (urlsplit(url).hostname or "")


def _check(text: str, entities: list[dict[str, Any]], rows: list[list[dict[str, Any]]]) -> None:
    size = len(text.encode("utf-16-le")) // 2
    buttons = [button for row in rows for button in row]
    end = 0
    for entity in entities:
        if entity["type"] not in ENTITIES or entity["offset"] < end or entity["length"] < 1:
            raise RefusedError(400, "Bad Request: can't parse entities")
        end = entity["offset"] + entity["length"]
    faults = {
        "message text is empty": not text.strip(),
        "message is too long": size > 4096,
        "entity beyond the end": end > size,
        "reply markup is too long": len(buttons) > 100 or any(not 1 <= len(row) <= 8 for row in rows),
        "BUTTON_DATA_INVALID": any(len(each.get("callback_data", "x").encode()) > 64 for each in buttons),
        "BUTTON_TEXT_INVALID": any(not each["text"].strip() for each in buttons),
        "BUTTON_URL_INVALID": any(
            "callback_data" not in each and not _is_taken(each.get("url", "")) for each in buttons
        ),
    }
    for description, is_wrong in faults.items():
        if is_wrong:
            raise RefusedError(400, f"Bad Request: {description}")
