"""An inbox with its web app, and what its tests read on its pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from typing import Any

import anyio
import anyio.lowlevel
import httpx

from mcp_elicit_client import Answer, ElicitationRegistry, Server, parse_request
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from mcp_elicit_client.policies import RememberedAnswers
from mcp_elicit_client.typing import Request
from tests.support import form_params

HOST = "https://app.example"
PAGE = {"accept": "text/html"}
OWN = {**PAGE, "origin": HOST, "sec-fetch-site": "same-origin"}
FORM = form_params(
    {
        "properties": {
            "name": {"type": "string", "title": "Name", "description": "As on the card", "minLength": 2},
            "mail": {"type": "string", "format": "email", "title": "Mail", "default": "ann@example.com"},
            "day": {"type": "string", "format": "date"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "price": {"type": "number"},
            "sure": {"type": "boolean", "default": True},
            "must": {"type": "boolean"},
            "size": {"type": "string", "enum": ["S", "M", "L"], "default": "M"},
            "country": {"type": "string", "enum": [f"C{number}" for number in range(12)]},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}, "minItems": 1},
            "notes": {"type": "string", "maxLength": 2000},
        },
        "required": ["name", "must"],
    },
    "Where to?",
)
URL = {"mode": "url", "message": "Pay", "url": "https://pay.shop.example/a?b=1", "elicitationId": "e"}
EVIL = '<script>alert(1)</script><a href="https://evil.example/">x</a>'
WARNED_URL = {**URL, "url": "https://xn--pypal-4ve.example/"}
MOMENTS = form_params(
    {
        "properties": {
            "updated_at": {"type": "string", "format": "date-time", "default": "2026-11-20T14:30:00+05:45"},
            "at": {"type": "string", "format": "time"},
            "odd": {"type": "string", "format": "date-time", "default": "2026-11-20T14:30:00.123456789Z"},
        },
        "required": ["updated_at"],
    }
)
MANY = form_params(
    {
        "properties": {
            "one": {"type": "string", "title": "One", "enum": [f"Town {at}" for at in range(10_000)]},
            "any": {
                "type": "array",
                "title": "Any",
                "items": {"enum": [f"Thing {at}" for at in range(9_997)] + ["Zurich", "Zadar", "Zug"]},
            },
        },
        "required": ["one"],
    },
    "Where?",
)


class Seen(HTMLParser):
    """The parsed HTML of a page."""

    def __init__(self, reply: httpx.Response) -> None:
        super().__init__()
        self.status = reply.status_code
        self.html = reply.text
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(reply.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, *tags: str, **wanted: str) -> list[dict[str, str]]:
        return [
            attrs for tag, attrs in self.tags if tag in tags and all(attrs.get(name) == wanted[name] for name in wanted)
        ]

    @property
    def buttons(self) -> list[str]:
        return [button["value"] for button in self.all("button")]


class Question:
    id: str
    answer: Any = None

    def __init__(self) -> None:
        self.is_over = anyio.Event()

    async def over(self) -> Any:
        with anyio.fail_after(60):
            await self.is_over.wait()
        return self.answer


class Web:
    """The app, its inbox and a client with a signed-in user."""

    def __init__(self, client: httpx.AsyncClient, inbox: Inbox, app: Any) -> None:
        self.client = client
        self.inbox = inbox
        self.app = app

    @asynccontextmanager
    async def asked(self, params: Any = FORM, **more: Any) -> AsyncIterator[Question]:
        question = Question()
        request = parse_request(params, server="mail", **more)

        async def ask() -> None:
            question.answer = await InboxHandler(self.inbox, "ann")(request)
            question.is_over.set()

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            with anyio.fail_after(60):
                while not (entries := (await self.inbox.list("ann")).entries):
                    await anyio.lowlevel.checkpoint()
            question.id = entries[0].id
            yield question
            group.cancel_scope.cancel()

    async def get(self, path: str, **headers: str) -> Seen:
        return Seen(await self.client.get(path, headers={**PAGE, **headers}))

    async def fill(self, question: Question, action: str, **values: Any) -> Seen:
        data = {**values, "action": action}
        reply = await self.client.post(f"/{question.id}", data=data, headers=OWN, follow_redirects=True)
        return Seen(reply)


@asynccontextmanager
async def signed_in() -> AsyncIterator[Web]:
    """An inbox with its web app, and a client of its user."""
    inbox = Inbox(MemoryStore())
    app = inbox_app(inbox, lambda request: request.headers.get("x-user"))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=HOST, headers={"x-user": "ann"}) as client:
        yield Web(client, inbox, app)


@asynccontextmanager
async def with_remembered_answers() -> AsyncIterator[tuple[httpx.AsyncClient, RememberedAnswers]]:
    """A client whose user has remembered answers, and so has another user."""
    remembered = RememberedAnswers()
    registry = ElicitationRegistry(policy=remembered.policy)

    async def person(request: Request) -> Answer:
        return Answer.accept({"name": EVIL}, by="user").model_copy(update={"remember": True})

    registry.on_elicitation(person)
    form = {"properties": {"name": {"type": "string"}}}
    for user in ("ann", "ann", "ben"):
        for message in ("Run the tests?", "Deploy?"):
            await Dispatcher(registry).answer(form_params(form, message), server=Server(name="ci"), user=user)
    app = inbox_app(Inbox(MemoryStore()), lambda web: web.headers.get("x-user"), remembered=remembered)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=HOST, headers={"x-user": "ann"}) as client:
        yield client, remembered
