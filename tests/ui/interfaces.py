"""Every user interface as a function that returns what it shows for a request."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime, timezone
from html.parser import HTMLParser
from typing import Any, NamedTuple

from mcp_elicit_client import FormRequest
from mcp_elicit_client.core.validation.content import validate_without_patterns
from mcp_elicit_client.demo.run import _narrated
from mcp_elicit_client.handlers.acp.texts import finished_text, problem_text, request_text
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.handlers.langgraph.handler import _payload
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.handlers.webhook.delivery import write_question
from mcp_elicit_client.inbox.encryption import make_cipher
from mcp_elicit_client.inbox.records import Entry, EntryPage, RecordCodec
from mcp_elicit_client.inbox.web.controls import read_form_data
from mcp_elicit_client.inbox.web.pages import Pages
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.plain_forms import PlainForm
from mcp_elicit_client.typing import Request
from tests.support.console import ScriptedConsole
from tests.support.screens import DOWN, F1, TAB, asking

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)
_MARKED = re.compile(r"  \| |    \| ")
"""How a row begins that shows text of the server or of the user."""


class Shown(NamedTuple):
    """
    What a user interface shows.

    Attributes:
        text: Everything, in one line.
        host: The rows or paragraphs of the host.
    """

    text: str
    host: frozenset[str]


def _rows(text: str) -> Shown:
    rows = [row.rstrip() for row in text.split("\n") if row.strip()]
    return Shown(" ".join(text.split()), frozenset(row for row in rows if not _MARKED.match(row)))


class _WithoutPrompts(ScriptedConsole):
    """A console that records neither prompts nor what is typed.  Prompts have no text of a server."""

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        shown = self.shown
        try:
            return await super().ask(prompt, hidden=hidden)
        finally:
            self.shown = shown


async def line_mode(request: Request) -> Shown:
    """The terminal, line by line: every field is answered wrongly and then skipped."""
    if isinstance(request, FormRequest):
        answers = [line for _ in request.form.fields for line in ("/options", "x", "/skip")]
        script = ["/help", *answers, *["/skip"] * len(answers)]
    else:
        script = ["what", "show", "what", "cancel"]
    console = _WithoutPrompts(script)
    await TerminalHandler(console=console)(request)
    return _rows(console.shown)


async def interactive(request: Request) -> Shown:
    """The interactive form: every field is visited with its details."""
    shown: list[str] = []
    async with asking(request, rows=400, opens=False) as person:
        shown.append(person.shown)
        if isinstance(request, FormRequest):
            await person.types(F1)
            for _ in request.form.fields:
                await person.types("x", DOWN)
                shown.append(person.shown)
                await person.types(TAB)
        else:
            await person.types("s")
            await person.sees("f I have finished")
            shown.append(person.shown)
    text = "\n".join(shown)
    # Text of the server stands at the right of the first bar.
    host = (row.partition("|")[0].strip(" >!✓•") for row in text.split("\n"))
    return Shown(" ".join(text.split()), frozenset(filter(None, host)))


class _Page(HTMLParser):
    """The texts of a page, apart from those that are marked as the server's, and the values of inputs."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.host: set[str] = set()
        self._open: list[tuple[str, bool]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        classes = (dict(attrs).get("class") or "").split()
        if tag not in ("input", "meta", "link", "br"):
            marked = "server" in classes or tag in ("blockquote", "option", "textarea", "script", "style")
            self._open.append((tag, marked))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if text:
            self.texts.append(text)
            if not any(marked for _, marked in self._open):
                self.host.add(text)


def entry_of(request: Request, state: Any = "pending") -> Entry:
    """Return *request* as the inbox shows it."""
    codec = RecordCodec(make_cipher(None), answer_timeout=None)
    entry = codec.entry(codec.new_request("ann", request, NOW.timestamp()))
    times = dict.fromkeys(("updated_at", "created_at", "expires_at", "max_expires_at"), NOW)
    return entry.model_copy(update={"id": "1", "state": state, **times})


def _pages(request: Request, *, single_request: bool) -> Iterator[str]:
    pages = Pages(ENGLISH, single_request=single_request)
    entry = entry_of(request)
    responses = [pages.request(entry)]
    if isinstance(request, FormRequest):
        filled = {f"f{at}": ["x"] for at, _ in enumerate(request.form.fields)}
        responses.append(pages.review(entry, filled, read_form_data(request, filled), request.diagnostics))
    else:
        responses.append(pages.opened(entry))
    if not single_request:
        closed = entry_of(request, "expired")
        responses += [
            pages.pending(EntryPage(entries=(entry,)), is_first=True),
            pages.history(EntryPage(entries=(closed,))),
            pages.closed(closed),
        ]
    for response in responses:
        yield bytes(response.body).decode()


def _parsed(html: Iterator[str]) -> Shown:
    parsed = [_Page(each) for each in html]
    text = " ".join(text for page in parsed for text in page.texts)
    # A domain within a sentence is an element, before the end of the sentence.
    return Shown(text.replace(" .", "."), frozenset(text for page in parsed for text in page.host))


async def inbox_pages(request: Request) -> Shown:
    """The pages of an inbox."""
    return _parsed(_pages(request, single_request=False))


async def local_page(request: Request) -> Shown:
    """The page of `BrowserHandler`."""
    return _parsed(_pages(request, single_request=True))


async def demo(request: Request) -> Shown:
    """The demo without a user."""
    lines: list[str] = []
    await _narrated(HeadlessHandler(), lines.append, ENGLISH)(request)
    return _rows("\n".join(lines))


def inbox_json(request: Request) -> Mapping[str, Any]:
    """A request as the inbox's JSON."""
    data: dict[str, Any] = entry_of(request).model_dump(mode="json")
    return data


def langgraph(request: Request) -> Mapping[str, Any]:
    """The value of an interrupt."""
    return _payload("q", request, "")


def webhook(request: Request) -> Mapping[str, Any]:
    """The data of a webhook's message."""
    data: dict[str, Any] = json.loads(write_question("1", request, None))["data"]
    return data


Interface = Callable[[Request], Awaitable[Shown]]


async def editor(request: Request) -> Shown:
    """The messages in an editor: for the request, after a wrong answer, and after a URL was opened."""
    if isinstance(request, FormRequest):
        form = PlainForm(request.form, ENGLISH).form
        wrong = validate_without_patterns(form, dict.fromkeys(form.by_name, 5.5)).errors
        text = request_text(request, ENGLISH, problem_text(form, wrong, ENGLISH))
    else:
        text = f"{request_text(request, ENGLISH)}\n{finished_text(request, ENGLISH)}"
    host = (row for row in text.split("\n") if row and not row.startswith("|"))
    return Shown(" ".join(text.split()), frozenset(host))


INTERFACES: list[Interface] = [line_mode, interactive, inbox_pages, local_page, demo, editor]
PAYLOADS: list[Callable[[Request], Mapping[str, Any]]] = [inbox_json, langgraph, webhook]
