"""Persons who use the inbox over HTTP: one its pages, like a browser without scripts, one its JSON API."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from functools import cached_property
from html.parser import HTMLParser
from typing import Any

import anyio
import httpx

from mcp_elicit_client.core.form import ChoiceField, Field, MultiChoiceField
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.testing.callback_under_test import UserAction
from mcp_elicit_client.testing.interfaces import Interface
from mcp_elicit_client.typing import Answer, FormRequest, Request

# It is imported here, so that the time this takes is not part of a scenario.
if any(importlib.util.find_spec(name) is None for name in ("jinja2", "starlette")):
    raise MissingExtraError("browser", "the pages of the inbox")
_inbox_app: Any = importlib.import_module("mcp_elicit_client.inbox.web").inbox_app

_OWNER = "ann"
_ORIGIN = "https://app.example"
_CONFLICT = 409
_INVALID = 422
_POLL_INTERVAL = 0.005
_MAX_STEPS = 4
_FORWARD = ("review", "confirm", "accept", "open")


class _Web(Interface):
    @cached_property
    def inbox(self) -> Inbox:
        """The inbox of all requests."""
        return Inbox(MemoryStore())

    async def show(self, request: Request) -> Answer:
        return await InboxHandler(self.inbox, default_user=_OWNER)(request)

    async def ask_unattended(self, request: Request) -> Answer:
        return await InboxHandler(self.inbox)(request)

    def client(self, **headers: str) -> httpx.AsyncClient:
        """Return a client of the app, signed in, over HTTP without a socket."""
        app = _inbox_app(self.inbox, lambda _: _OWNER, single_request=True, messages=ENGLISH)
        headers = {"origin": _ORIGIN, "sec-fetch-site": "same-origin", **headers}
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url=_ORIGIN, headers=headers, follow_redirects=True
        )

    async def find(self, request: Request) -> str:
        """Return the path of *request*, as soon as it is stored."""
        while True:
            for entry in (await self.inbox.list(_OWNER)).entries:
                if entry.request["message"] == request.message:
                    return f"/{entry.id}"
            await anyio.sleep(_POLL_INTERVAL)


class InboxInterface(_Web):
    """A front end that reads and answers requests as JSON."""

    async def perform(self, action: UserAction, request: Request) -> None:
        path = await self.find(request)
        async with self.client(accept="application/json") as client:
            entry = (await client.get(path)).json()
            for text in _texts({name: entry[name] for name in ("request", "warnings")}):
                action.saw(text)
            if action.action == "hang":
                return
            body: dict[str, Any] = {"action": action.action}
            if action.action == "accept":
                properties = (entry["answer_schema"] or {}).get("properties", {})
                suggested = {name: each["default"] for name, each in properties.items() if "default" in each}
                body |= {"content": {**suggested, **action.content}} if request.mode == "form" else {}
            reply = await client.post(path, json=body)
            if reply.status_code == _CONFLICT:
                for text in _texts(reply.json()):
                    action.saw(text)
                codes = [each["code"] for each in reply.json()["warnings"]]
                reply = await client.post(path, json={**body, "confirm_warnings": codes})
            if reply.status_code == _INVALID:
                await client.post(path, json={"action": "cancel"})


class PagesInterface(_Web):
    """A person who fills in the pages in a browser without scripts."""

    async def perform(self, action: UserAction, request: Request) -> None:
        path = await self.find(request)
        async with self.client(accept="text/html") as client:
            page = _Page(await client.get(path), action)
            if action.action == "hang":
                return
            if action.action != "accept":
                await client.post(path, data={"action": action.action})
                return
            typed = _typed(request, action.content)
            done: list[str] = []
            for _ in range(_MAX_STEPS):
                step = next((each for each in _FORWARD if each in page.buttons), None)
                if step is None:
                    return
                if step in done:  # the page came back with errors
                    await client.post(path, data={"action": "cancel"})
                    return
                done.append(step)
                values = {**page.values, **(typed if step == "review" else {}), "action": step}
                page = _Page(await client.post(path, data=values), action)


def _typed(request: Request, content: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what a browser sends for *content*: controls are numbered, and so are options."""
    values: dict[str, list[str]] = {}
    for index, field in enumerate(request.form.fields if isinstance(request, FormRequest) else ()):
        if field.name in content:
            name, value = f"f{index}", content[field.name]
            values[name] = _values(field, value)
            if getattr(field, "format", None) == "date-time" and isinstance(value, str):
                local, zone = _split_zone(value)
                values |= {name: [local], f"{name}-zone": [zone]}
    return values


def _values(field: Field, value: Any) -> list[str]:
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if isinstance(field, (ChoiceField, MultiChoiceField)):
        numbers = {choice.value: str(at) for at, choice in enumerate(field.choices)}
        return [numbers.get(each, str(each)) for each in (value if isinstance(value, list) else [value])]
    return [str(value)]


def _split_zone(value: str) -> tuple[str, str]:
    if value.endswith("Z"):
        return value[:-1], "Z"
    at = max(value.rfind("+"), value.rfind("-", len("2026-11-20")))
    return (value[:at], value[at:]) if at > 0 else (value, "")


class _Page(HTMLParser):
    """A page: its text, its buttons, and the values of its controls as a browser would send them."""

    def __init__(self, reply: httpx.Response, action: UserAction) -> None:
        super().__init__()
        self.buttons: list[str] = []
        self.values: dict[str, list[str]] = {}
        self._texts: list[str] = []
        self._select = self._area = ""
        self.feed(reply.text)
        action.saw("".join(self._texts))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        name, value = attributes.get("name", ""), attributes.get("value", "")
        if tag == "button" and name == "action":
            self.buttons.append(value)
        elif tag == "select":
            self._select = name
        elif tag == "textarea":
            self._area = name
            self.values[name] = [""]
        elif tag == "option" and "selected" in attributes:
            self.values.setdefault(self._select, []).append(value)
        elif tag == "input":
            self._texts.append(f" {value} ")
            if attributes.get("type") not in ("radio", "checkbox") or "checked" in attributes:
                self.values.setdefault(name, []).append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.values[self._area] = [self.values[self._area][0].removeprefix("\n")]
            self._area = ""

    def handle_data(self, data: str) -> None:
        self._texts.append(data)
        if self._area:
            self.values[self._area][0] += data


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


importlib.import_module("mcp_elicit_client.inbox.web.pages").environment(ENGLISH, single_request=True)

pages: Interface = PagesInterface()
inbox: Interface = InboxInterface()
