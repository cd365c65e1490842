"""A fake of Slack over HTTP: its Web API with the documented limits, and people who press and fill in dialogs."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import aiohttp
import anyio
from aiohttp import web

from tests.support import until

SECRET = "signing-secret"
TOKEN = "xoxb-1"

MAX = {"plain_text_input": 3000, "options": 100, "few": 10, "option": 75, "label": 2000, "button": 75, "title": 24}


class InvalidError(Exception):
    """A message or a view that Slack refuses."""


@dataclass
class Shown:
    """A message as a person sees it."""

    channel: str
    ts: str
    blocks: list[dict[str, Any]]
    seen_by: str = ""
    is_ephemeral: bool = False

    @property
    def text(self) -> str:
        return "".join(each["text"] for each in _texts(self.blocks))

    @property
    def quotes(self) -> list[str]:
        parts = [part for each in self.blocks if each["type"] == "rich_text" for part in each["elements"]]
        return ["".join(each["text"] for each in _texts(part)) for part in parts if part["type"] == "rich_text_quote"]

    @property
    def buttons(self) -> list[dict[str, Any]]:
        return [button for block in self.blocks if block["type"] == "actions" for button in block["elements"]]

    @property
    def labels(self) -> list[str]:
        return [each["text"]["text"] for each in self.buttons]


@dataclass
class FakeSlack:
    """
    The API, and the messages and dialogs that people see.

    Attributes:
        limited: The number of calls that are refused with 429.
        status: The status of these refusals, in place of 429.
        retry_after: When to try again, as the refusal says.
        refused: The error of every message, such as ``missing_scope``.
        unreachable: A proxy answers each call in place of Slack: with
        ``text/plain`` or ``application/json``, but no JSON.
    late: No dialog can be opened: the trigger has expired.
        held: Set when calls are answered; None if they are answered at once.
        said: The texts of messages without blocks, or with one block of text.
    """

    messages: dict[str, Shown] = field(default_factory=dict)
    views: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    limited: int = 0
    status: int = 429
    retry_after: str = "0"
    refused: str = ""
    unreachable: str = ""
    late: bool = False
    held: anyio.Event | None = None
    said: list[str] = field(default_factory=list)
    base_url: str = ""
    bot_url: str = ""
    socket: Any = None
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Listen on a port; yield the base URL."""
        app = web.Application()
        app.router.add_post("/api/{method}", self._serve)
        app.router.add_post("/response/{ts}", self._respond)
        app.router.add_get("/socket", self._connect)
        async with listening(app) as self.base_url:
            yield f"{self.base_url}/api/"

    async def _serve(self, request: web.Request) -> web.Response:
        method, given = request.match_info["method"], {}
        if self.held is not None:
            await self.held.wait()
        if request.content_type == "application/json":
            given = await request.json()
        else:
            given = {name: _decoded(str(value)) for name, value in (await request.post()).items()}
        self.calls.append(method)
        if self.unreachable:
            return web.Response(status=503, text="upstream connect error", content_type=self.unreachable)
        if self.limited and method not in ("auth.test", "apps.connections.open"):
            self.limited -= 1
            return web.json_response(
                {"ok": False, "error": "ratelimited"}, status=self.status, headers={"Retry-After": self.retry_after}
            )
        try:
            return web.json_response({"ok": True, **self._call(method, given)})
        except InvalidError as error:
            return web.json_response({"ok": False, "error": str(error)})

    def _call(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "auth.test":
                return {"user_id": "UBOT", "bot_id": "B1", "team_id": "T1", "team": "t", "user": "bot", "url": "x"}
            case "apps.connections.open":
                return {"url": f"{self.base_url.replace('http', 'ws')}/socket"}
            case "chat.postMessage" if "blocks" not in given:
                self.said.append(str(given["text"]))
                return {"ts": "0", "channel": given["channel"]}
            case "chat.postMessage" if given["blocks"][0]["type"] == "section":
                check_blocks(given["blocks"], 50)
                require(given["unfurl_links"] is False)
                self.said.append(str(given["blocks"][0]["text"]["text"]))
                return {"ts": "0", "channel": given["channel"]}
            case "chat.postMessage":
                return self._post(given, str(given["channel"]), is_ephemeral=False)
            case "chat.postEphemeral" if "blocks" not in given:
                self.notes.append(str(given["text"]))
                return {"message_ts": "0"}
            case "chat.postEphemeral":
                return self._post(given, str(given["user"]), is_ephemeral=True)
            case "chat.update":
                shown = self.messages.get(str(given["ts"]))
                if shown is None or shown.is_ephemeral:
                    raise InvalidError("message_not_found")
                check_blocks(given["blocks"], 50)
                shown.blocks = given["blocks"]
                return {"ts": shown.ts, "channel": shown.channel}
            case "views.open":
                if self.late:
                    raise InvalidError("expired_trigger_id")
                check_view(given["view"])
                self.views.append(given["view"])
                return {"view": {"id": "V1"}}
        raise InvalidError("unknown_method")

    def _post(self, given: dict[str, Any], person: str, *, is_ephemeral: bool) -> dict[str, Any]:
        if self.refused:
            raise InvalidError(self.refused)
        if not person.startswith("U"):
            raise InvalidError("channel_not_found")
        check_blocks(given["blocks"], 50)
        assert is_ephemeral or str(given["unfurl_links"]) in ("False", "0", "false")
        ts = f"17000{next(self._numbers):05}.000100"
        channel = str(given["channel"]) if is_ephemeral else f"D{person}"
        self.messages[ts] = Shown(channel, ts, given["blocks"], person, is_ephemeral)
        return {"message_ts": ts} if is_ephemeral else {"ts": ts, "channel": channel}

    async def _respond(self, request: web.Request) -> web.Response:
        given = await request.json()
        if self.limited:
            self.limited -= 1
            return web.Response(status=self.status, text="retry later", headers={"Retry-After": self.retry_after})
        check_blocks(given["blocks"], 50)
        assert given["replace_original"] is True
        self.messages[request.match_info["ts"]].blocks = given["blocks"]
        return web.Response(text="ok")

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        socket = self.socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1})
        self.acknowledged: dict[str, Any] = {}
        async for message in socket:
            if message.type == aiohttp.WSMsgType.TEXT:
                answer = json.loads(message.data)
                self.acknowledged[answer["envelope_id"]] = answer.get("payload") or {}
        return socket

    # --- People

    def latest(self, person: str) -> Shown:
        """Return the last message that *person* sees."""
        return [each for each in self.messages.values() if each.seen_by == person][-1]

    async def press(self, person: str, shown: Shown, button: dict[str, Any]) -> None:
        """Press a button."""
        container = {"channel_id": shown.channel, "message_ts": shown.ts, "is_ephemeral": shown.is_ephemeral}
        await self._deliver(
            {
                "type": "block_actions",
                "user": {"id": person},
                "trigger_id": "t",
                "container": container,
                "channel": {"id": shown.channel},
                "response_url": f"{self.base_url}/response/{shown.ts}",
                "actions": [{**button, "action_ts": "1", "block_id": "b"}],
            }
        )

    async def submit(self, person: str, view: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
        """Send a dialog with the states of its inputs by block; return the errors by block."""
        state = {"values": {name: {"value": each} for name, each in values.items()}}
        answer = await self._deliver(
            {"type": "view_submission", "user": {"id": person}, "view": {**view, "id": "V1", "state": state}}
        )
        return dict(answer.get("errors", {}))

    async def command(self, person: str, name: str) -> None:
        """Give the bot a command, in a direct message."""
        given = {"command": name, "text": "", "user_id": person, "team_id": "T1", "channel_id": f"D{person}"}
        await self._send("slash_commands", {**given, "api_app_id": "A1", "token": "x", "trigger_id": "t"})

    async def _deliver(self, payload: dict[str, Any]) -> dict[str, Any]:
        payload |= {"team": {"id": "T1", "domain": "t"}, "api_app_id": "A1", "token": "x"}
        return await self._send("interactive", payload)

    async def _send(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        if self.socket is not None:
            envelope = f"e{next(self._numbers)}"
            await self.socket.send_json({"type": kind, "envelope_id": envelope, "payload": payload})
            await until(lambda: envelope in self.acknowledged)
            return dict(self.acknowledged[envelope])
        body = urlencode({"payload": json.dumps(payload)} if kind == "interactive" else payload)
        now = str(int(time.time()))
        signature = hmac.new(SECRET.encode(), f"v0:{now}:{body}".encode(), hashlib.sha256).hexdigest()
        headers = {
            "X-Slack-Signature": f"v0={signature}",
            "X-Slack-Request-Timestamp": now,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        async with aiohttp.ClientSession() as session, session.post(self.bot_url, data=body, headers=headers) as answer:
            assert answer.status == 200
            text = await answer.text()
            return dict(json.loads(text)) if text else {}


@asynccontextmanager
async def listening(app: web.Application) -> AsyncIterator[str]:
    """Serve *app* on a port; yield its URL."""
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def state_of(element: dict[str, Any], value: Any) -> dict[str, Any]:
    """Return the state of an input after a person entered *value*, if the client of Slack lets them."""
    kind = element["type"]
    if kind == "datepicker":
        return {"type": kind, "selected_date": value}
    if kind == "plain_text_input":
        assert value is None or len(value) <= element["max_length"]
        assert value is None or element["multiline"] or "\n" not in value
        return {"type": kind, "value": value}
    labels = {each["text"]["text"]: each for each in element["options"]}
    if kind in ("checkboxes", "multi_static_select"):
        return {"type": kind, "selected_options": [labels[each] for each in value or ()]}
    return {"type": kind, "selected_option": None if value is None else labels[value]}


# --- The limits


def _texts(part: Any) -> list[dict[str, Any]]:
    if isinstance(part, list):
        return [text for each in part for text in _texts(each)]
    return [part] if part.get("type") == "text" else _texts(part.get("elements", [])) if "elements" in part else []


def _decoded(value: str) -> Any:
    try:
        return json.loads(value) if value[:1] in "[{" else value
    except ValueError:
        return value


def require(*conditions: bool) -> None:
    if not all(conditions):
        raise InvalidError("invalid_blocks")


def check_view(view: dict[str, Any]) -> None:
    """Refuse a view that Slack would refuse."""
    require(1 <= len(view["title"]["text"]) <= MAX["title"], 1 <= len(view["submit"]["text"]) <= MAX["title"])
    require(len(view["private_metadata"]) <= 3000, len(json.dumps(view)) <= 250_000)
    check_blocks(view["blocks"], 100)
    names = [each["block_id"] for each in view["blocks"] if "block_id" in each]
    require(len(names) == len(set(names)))


def check_blocks(blocks: list[dict[str, Any]], most: int) -> None:
    """Refuse blocks that Slack would refuse."""
    require(1 <= len(blocks) <= most)
    for block in blocks:
        match block["type"]:
            case "rich_text":
                require(bool(block["elements"]), all(each["elements"] for each in block["elements"]))
                require(
                    all(each["text"] for each in _texts(block)), len("".join(e["text"] for e in _texts(block))) <= 4000
                )
            case "actions":
                ids = [each["action_id"] for each in block["elements"]]
                require(1 <= len(ids) <= 25, len(ids) == len(set(ids)))
                for each in block["elements"]:
                    require(each["type"] == "button", 1 <= len(each["text"]["text"]) <= MAX["button"])
                    require(each["text"]["type"] == "plain_text", len(each.get("value", "x")) <= 2000)
                    require(len(each.get("url", "")) <= 3000, len(each["action_id"]) <= 255)
            case "section":
                require(block["text"]["type"] == "plain_text", 1 <= len(block["text"]["text"]) <= 3000)
            case "input":
                require(1 <= len(block["label"]["text"]) <= MAX["label"], len(block["hint"]["text"]) <= 2000)
                _check_element(block["element"])
            case _:
                require(False)


def _check_element(element: dict[str, Any]) -> None:
    kind, options = element["type"], element.get("options")
    if options is None:
        require(kind in ("plain_text_input", "datepicker"), len(element.get("initial_value", "")) <= 3000)
        require(kind != "plain_text_input" or 1 <= element["max_length"] <= 3000)
        return
    require(kind in ("static_select", "radio_buttons", "checkboxes", "multi_static_select"))
    require(1 <= len(options) <= (MAX["few"] if kind in ("radio_buttons", "checkboxes") else MAX["options"]))
    require(all(1 <= len(each["text"]["text"]) <= MAX["option"] and len(each["value"]) <= 150 for each in options))
    initial = element.get("initial_options", [element["initial_option"]] if "initial_option" in element else [])
    require(all(each in options for each in initial))
