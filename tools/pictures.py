"""
Draw the pictures of the documentation: requests in a real terminal and in a real browser.

``python -m tools.pictures`` writes the screens in docs/terminal.md and the
files in docs/pictures; with ``--terminal``, only those of the terminal.
``python -m tools.pictures DIRECTORY`` takes a picture of every page, light,
dark, narrow, at 200 %, in German and in Japanese.  It needs tmux, Chromium and
a Japanese font.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from playwright.async_api import Browser, Page, async_playwright

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest, get_defaults, parse_request
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.handlers.browser import BrowserHandler
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from mcp_elicit_client.policies import RememberedAnswers
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.typing import Request
from tests.support.tmux import Pane, window
from tests.support.webapps import serving
from tools.svg import light_svg, svg

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
SCREENS = ROOT / "docs" / "terminal.md"

FORM = {
    "message": "A table for how many?",
    "requestedSchema": {
        "properties": {
            "name": {"type": "string", "title": "Your name", "description": "As in your passport", "minLength": 2},
            "email": {"type": "string", "title": "E-mail", "format": "email"},
            "people": {"type": "integer", "title": "People", "minimum": 1, "maximum": 12, "default": 2},
            "when": {"type": "string", "title": "When", "format": "date-time"},
            "menu": {
                "type": "array",
                "title": "Menu",
                "items": {"enum": ["Meat", "Fish", "Vegetarian", "Vegan"]},
                "minItems": 1,
                "maxItems": 2,
            },
            "outside": {"type": "boolean", "title": "Outside"},
        },
        "required": ["name"],
    },
}
ARABIC = {
    "message": "كم عدد الضيوف؟ نحتفظ بالطاولة لمدة 15 دقيقة.",
    "requestedSchema": {
        "properties": {
            "name": {"type": "string", "title": "الاسم", "description": "كما في جواز السفر"},
            "drink": {"type": "string", "title": "المشروب", "enum": ["شاي", "قهوة", "ماء"]},
        },
        "required": ["name"],
    },
}
URL = {
    "mode": "url",
    "message": "Please pay the deposit.",
    "url": "https://pay.xn--exmple-cua.com/deposit?order=17",
    "elicitationId": "1",
}
LONG_URL = {
    "mode": "url",
    "message": "Please sign in again. " * 20,
    "url": f"https://www.paypal.com.login.{'secure.' * 12}evil-example-domain.com:8443/signin/{'a1b2c3d4' * 60}?x=1",
    "elicitationId": "2",
}
TOWNS = {
    "message": "Where do you live?",
    "requestedSchema": {
        "properties": {
            "towns": {
                "type": "array",
                "title": "Towns",
                "items": {"enum": ["Bristol", "Brisbane", "Bratislava", *(f"Town {number}" for number in range(200))]},
            },
        },
    },
}
CONFIRM = {"message": "Delete table 4 on Saturday?", "requestedSchema": {"properties": {}}}
REQUESTS = {"form": FORM, "arabic": ARABIC, "url": URL, "confirm": CONFIRM}

TITLES = {
    "form": "A form in the terminal: six fields, the first one with the focus",
    "error": "A form in the terminal: an incomplete email address and its error message",
    "review": "The review in the terminal: the answers, and the server that receives them",
    "consent": "Consent in the terminal: the full URL with its domain marked, and a warning",
    "confirm": "A confirmation in the terminal: the question, and the keys for yes and no",
    "light": "A form in a light terminal",
    "narrow": "A form in a terminal of 40 columns and 12 rows",
    "german": "A form in German",
    "japanese": "A form in Japanese",
}
"""The screens that are also drawn as files, with their alternative texts."""

PAGES = ("form", "errors", "review", "consent")
"""The pages that the documentation shows."""

LOOKS: dict[str, dict[str, Any]] = {
    "docs": {"viewport": {"width": 600, "height": 320}},
    "light": {"viewport": {"width": 1280, "height": 800}},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 320, "height": 640}},
    "zoomed": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
    "german": {"viewport": {"width": 600, "height": 400}, "locale": "de-DE"},
    "japanese": {"viewport": {"width": 600, "height": 400}, "locale": "ja-JP"},
}
"""How the pages are seen: on a wide screen, dark, on a small screen, at 200 %, and in other languages."""

_SCREEN = re.compile(r"(<!-- screen: (\w+) -->\n```text\n).*?(```\n)", re.DOTALL)
_MAX_BYTES = 150_000

Take: TypeAlias = Callable[[str], Awaitable[None]]


def screens() -> Iterator[tuple[str, str, str]]:
    """Yield the name of each screen, its text, and its text with the escape sequences of its colors."""
    with _prompt("form") as pane:
        yield _screen(pane, "form", "As in your passport", "Ctrl+S Review")
        pane.types("Ann")
        pane.keys("Tab")
        pane.types("ann@")
        yield _screen(pane, "error", "! Enter an email")
        pane.types("example.com")
        pane.keys("Tab", "Tab")
        pane.types("2026-12-24 19:30 Europe/Berlin")
        yield _screen(pane, "date", "2026-12-24T19:30:00+01:00")
        pane.keys("Tab", "Down", "Down", "Space", "Down", "Space")
        yield _screen(pane, "several", "[x] Vegetarian")
        pane.keys("C-s")
        yield _screen(pane, "review", "Fish, Vegetarian", "Enter Send")
        _leave(pane)
    with _prompt("url") as pane:
        yield _screen(pane, "consent", "order=17")
        _leave(pane)
    with _prompt("confirm") as pane:
        yield _screen(pane, "confirm", "y Yes")
        _leave(pane)
    with _prompt("form", COLORFGBG="0;15") as pane:
        pane.sees("Ctrl+S Review")
        pane.keys("C-s")
        yield _screen(pane, "light", "1 field needs attention")
        _leave(pane)
    with _prompt("form", columns=40, rows=12) as pane:
        pane.sees("Ctrl+S Review")
        pane.keys("Tab")
        pane.types("ann@")
        yield _screen(pane, "narrow", "! Enter an email")
        _leave(pane)
    for name, language, expected in (("german", "de", "Enter Weiter"), ("japanese", "ja", "Enter")):
        with _prompt("form", language) as pane:
            yield _screen(pane, name, expected, "As in your passport")
            _leave(pane)


def _prompt(request: str, language: str = "en", *, columns: int = 80, rows: int = 30, **more: str) -> Any:
    hidden = ("NO_COLOR", "MCP_ELICIT_UI", "COLORFGBG")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [sys.executable, "-m", "tools.pictures", "--prompt", request, language]
    return window(command, {**environment, "LANG": "C.UTF-8", **more}, columns=columns, rows=rows, cwd=ROOT)


def _screen(pane: Pane, name: str, *expected: str) -> tuple[str, str, str]:
    return name, pane.sees(*expected), pane.coloured


def _leave(pane: Pane) -> None:
    pane.keys("C-c", "C-c")
    pane.sees("exit status 0")


def draw_terminal() -> None:
    """Write the screens into their page, and as files."""
    drawn = {name: (text, colored) for name, text, colored in screens()}
    page = SCREENS.read_text(encoding="utf-8")
    page = _SCREEN.sub(lambda found: f"{found[1]}{drawn[found[2]][0]}\n{found[3]}", page)
    SCREENS.write_text(page, encoding="utf-8")
    for name, title in TITLES.items():
        draw = light_svg if name == "light" else svg
        (PICTURES / f"terminal-{name}.svg").write_text(draw(drawn[name][1], title), encoding="utf-8")


async def fill_in(page: Page, take: Take) -> None:
    """Answer the form, first with errors."""
    await take("form")
    await page.fill("#f1", "ann@")
    await page.click("button[value=review]")
    await page.wait_for_selector(".summary")
    await take("errors")
    await page.fill("#f0", "Ann")
    await page.fill("#f1", "ann@example.com")
    await page.fill("#f3", "2026-12-24T19:30")
    await page.press("#f3", "Tab")
    await page.check("#f4-1")
    await page.click("button[value=review]")
    await page.wait_for_selector("dl.answers")
    await page.wait_for_selector("body[data-awake]")
    await take("review")
    await page.click("button.yes")
    await page.wait_for_selector("main[data-state=answered]")
    await take("sent")


async def decline(page: Page, take: Take) -> None:
    """Decline a form that is written from right to left."""
    await take("arabic")
    await page.click("button[value=decline]")


async def visit(page: Page, take: Take) -> None:
    """Agree to open a URL, then cancel."""
    await take("consent")
    await take("consent-first-sight")
    await page.wait_for_selector("body[data-awake]")
    await page.click("button.yes")
    await page.wait_for_selector("main[data-confirm]")
    await page.wait_for_selector("body[data-awake]")
    await take("confirm")
    await page.click("button[value=open]")
    await page.wait_for_selector("a[target]")
    await take("visit")
    await page.click("button[value=cancel]")


async def expire(page: Page, take: Take) -> None:
    """Wait until the request expires."""
    await page.wait_for_selector("main[data-state=expired]")
    await take("closed")


async def warn(page: Page, take: Take) -> None:
    """See a long URL with warnings, then decline."""
    await take("warning")
    await take("warning-first-sight")
    await page.click("button[value=decline]")


async def search(page: Page, take: Take) -> None:
    """Search in long lists."""
    await page.get_by_role("combobox", name="Towns").fill("bri")
    await page.keyboard.press("Enter")
    await page.get_by_role("combobox", name="Towns").fill("town 9")
    await take("search")
    await page.keyboard.press("Escape")
    await page.click("button[value=cancel]")


STEPS = (
    (FORM, fill_in, 240.0),
    (ARABIC, decline, 240.0),
    (URL, visit, 240.0),
    (LONG_URL, warn, 240.0),
    (TOWNS, search, 240.0),
    (FORM, expire, 2.0),
)
"""Each request, what is done on its pages, and its answer timeout in seconds."""


async def draw_pages(browser: Browser, look: str, path_of: Callable[[str], Path | None]) -> None:
    """Take a picture of each page for which *path_of* returns a path."""
    context = await browser.new_context(**LOOKS[look])
    for params, answer, answer_timeout in STEPS:
        answering: list[asyncio.Task[None]] = []

        async def open_file(path: Path, answer: Any = answer, answering: Any = answering) -> bool:
            page = await context.new_page()

            async def take(name: str) -> None:
                picture = path_of(name)
                if picture is None:
                    return
                await page.wait_for_load_state()
                size = page.viewport_size
                assert size is not None
                if not name.endswith("first-sight"):  # On a high screen, nothing covers the content.
                    height = await page.evaluate("document.documentElement.scrollHeight")
                    await page.set_viewport_size({**size, "height": max(size["height"], height)})
                await page.screenshot(path=picture, full_page=not name.endswith("first-sight"))
                await page.set_viewport_size(size)

            async def go() -> None:
                await page.wait_for_selector("main")
                await answer(page, take)

            await page.goto(path.as_uri())
            answering.append(asyncio.create_task(go()))
            return True

        # Each look is for a different user, so that none begins with the draft of another.
        request = parse_request(
            params, server="restaurant", tool="book_table", user=look, protocol_version="2026-07-28"
        )
        await BrowserHandler(open_file=open_file, answer_timeout=answer_timeout)(request)
        await asyncio.gather(*answering)
    await context.close()


async def draw_inbox(browser: Browser, look: str, directory: Path) -> None:
    """Take pictures of the lists of an inbox."""
    inbox = Inbox(MemoryStore())
    handler = InboxHandler(inbox, "ann")
    asked = [FORM, URL, {"message": "Deploy version 2.3 to production?"}, TOWNS]
    names = ["restaurant", "bank", "ci", "weather"]
    requests = [parse_request(params, server=name) for params, name in zip(asked, names, strict=True)]
    tasks = [asyncio.ensure_future(handler(request)) for request in requests]
    secret = {"message": "Type your password!", "requestedSchema": {"properties": {"password": {"type": "string"}}}}
    declined = parse_request(secret, server="mail", user="ann")
    await handler.notify(Notice(request=declined, policy="secrets", reason="password"))
    async with serving(inbox_app(inbox, lambda _: "ann", remembered=await _remembered())) as origin:
        context = await browser.new_context(base_url=origin, **LOOKS[look])
        page = await context.new_page()
        for name in ("", "history", "nothing", "remembered"):
            if name == "history":
                await page.goto("about:blank")  # The list would load itself again.
                for entry, action in zip(
                    (await inbox.list("ann")).entries, ("decline", "accept", "cancel"), strict=False
                ):
                    await inbox.answer("ann", entry.id, action)  # type: ignore[arg-type]
            await page.goto(f"/{name}")
            await page.wait_for_load_state()
            await page.screenshot(path=directory / f"{name or 'list'}-{look}.png", full_page=True)
        await context.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _remembered() -> RememberedAnswers:
    """Return two remembered answers of the user."""
    remembered = RememberedAnswers()
    registry = ElicitationRegistry(policy=remembered.policy)

    async def answer(request: Request) -> Answer:
        content = get_defaults(request) if isinstance(request, FormRequest) else None
        return Answer.accept(content, by="user").model_copy(update={"remember": True})

    registry.on_elicitation(answer)
    for params in (CONFIRM, TOWNS):
        await registry.callback("restaurant", user="ann")(None, params)
    return remembered


async def draw_browser(directory: Path | None, looks: Sequence[str]) -> None:
    """Take the pictures of the documentation; or, if *directory* is given, every page in the *looks*."""
    async with async_playwright() as playwright:
        program = shutil.which("chromium")
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        if directory is None:
            await draw_pages(browser, "docs", lambda name: PICTURES / f"browser-{name}.png" if name in PAGES else None)
        else:
            for look in looks:
                await draw_inbox(browser, look, directory)
                await draw_pages(browser, look, lambda name, look=look: directory / f"{name}-{look}.png")  # type: ignore[misc]
        await browser.close()


def main() -> int:
    """Draw, or show one request for a picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", help="take a picture of every page, in every look")
    looks = [look for look in LOOKS if look != "docs"]
    parser.add_argument("--look", choices=looks, help="take the pictures of the pages only in this look")
    parser.add_argument("--terminal", action="store_true", help="draw only the screens of the terminal")
    parser.add_argument("--prompt", nargs=2, metavar=("REQUEST", "CATALOG"), help="show a request in this terminal")
    arguments = parser.parse_args()
    if arguments.prompt:
        name, language = arguments.prompt
        request = parse_request(REQUESTS[name], server="restaurant", tool="book_table")
        asyncio.run(TerminalHandler(messages=MessageCatalog.for_language(language))(request))
        return 0
    if arguments.directory is None:
        draw_terminal()
    if not arguments.terminal:
        asyncio.run(draw_browser(arguments.directory, [arguments.look] if arguments.look else looks))
    large = [path.name for path in PICTURES.iterdir() if path.stat().st_size > _MAX_BYTES]
    print(*(f"{name} has more than {_MAX_BYTES} bytes" for name in large), sep="\n", end="")
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main())
