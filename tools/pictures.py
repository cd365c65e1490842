"""
Draw the pictures of docs/pictures.md: questions in a real terminal and in a real browser.

``python -m tools.pictures`` writes them anew; needs tmux, Chromium and the package's extras.  The
questions in the terminal are those of `examples.panes`.
"""

from __future__ import annotations

import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from playwright.async_api import Page, async_playwright

from examples.panes import pictures
from examples.pictures import URL
from mcp_elicit_client import parse_request
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from tests.support.tmux import Pane
from tools.svg import svg

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
TITLES = {
    "form": "A form in the terminal: six fields, one of them open",
    "error": "A form in the terminal: an address that is not finished, and what is wrong with it",
    "review": "The last look in the terminal: what will be sent, and to whom",
    "consent": "Consent in the terminal: the whole address, its domain marked, and a warning",
}
_LARGEST = 80_000

FORM = {
    "message": "A table for how many?",
    "requestedSchema": {
        "properties": {
            "name": {"type": "string", "title": "Your name", "description": "As in your passport", "minLength": 2},
            "email": {"type": "string", "title": "E-mail", "format": "email", "default": "ann@example.com"},
            "people": {"type": "integer", "title": "People", "minimum": 1, "maximum": 12},
            "menu": {"type": "array", "title": "Menu", "items": {"enum": ["Meat", "Fish", "Vegetarian"]}},
            "outside": {"type": "boolean", "title": "Outside"},
        },
        "required": ["name"],
    },
}


def draw_terminal() -> None:
    """Draw the questions in the terminal."""

    def coloured(pane: Pane, *texts: str) -> str:
        pane.sees(*texts)
        return pane.coloured

    for name, screen in pictures(coloured):
        if name in TITLES:
            (FOLDER / f"terminal-{name}.svg").write_text(svg(screen, TITLES[name]), encoding="utf-8")


@asynccontextmanager
async def asked(inbox: Inbox, params: dict[str, Any]) -> AsyncIterator[str]:
    """Ask *params*; yield what the question is called in the inbox."""
    request = parse_request(params, server="restaurant", tool="book_table")
    async with anyio.create_task_group() as group:
        group.start_soon(InboxHandler(inbox, lambda _: "ann"), request)
        async for entry in inbox.watch("ann"):
            yield entry.id
            break
        group.cancel_scope.cancel()


@asynccontextmanager
async def browser(inbox: Inbox) -> AsyncIterator[Page]:
    """Show *inbox* in a browser."""
    app = inbox_app(inbox, lambda _: "ann")
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=0))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        async with anyio.create_task_group() as group, async_playwright() as playwright:
            group.start_soon(server.serve, [listening])
            chromium = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
            size = {"width": 680, "height": 320}
            yield await chromium.new_page(base_url=origin, viewport=size)  # type: ignore[arg-type]
            await chromium.close()
            server.should_exit = True


async def take(page: Page, name: str) -> None:
    """Keep what the browser shows, whole."""
    path = FOLDER / f"browser-{name}.png"
    await page.screenshot(path=path, full_page=True)
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"{path.name} has {path.stat().st_size} bytes")


async def draw_browser() -> None:
    """Draw the questions in the browser."""
    inbox = Inbox(MemoryStore())
    async with browser(inbox) as page:
        async with asked(inbox, FORM) as question:
            await page.goto(f"/{question}")
            await take(page, "form")
            await page.fill("#f0", "A")
            await page.fill("#f2", "2")
            await page.click("button[value=review]")
            await page.wait_for_selector(".summary")
            await take(page, "errors")
            await page.fill("#f0", "Ann")
            await page.check("text=Fish")
            await page.click("button[value=review]")
            await page.wait_for_selector("dl")
            await take(page, "review")
        async with asked(inbox, URL) as question:
            await page.goto(f"/{question}")
            await take(page, "consent")


def main() -> int:
    """Draw everything."""
    FOLDER.mkdir(exist_ok=True)
    draw_terminal()
    anyio.run(draw_browser)
    return 0


if __name__ == "__main__":
    sys.exit(main())
