"""
Pictures of the pages: what a person sees who is asked in the browser.

::

    python examples/pictures.py FOLDER

writes them as PNG: each page light, dark and on a narrow screen.  It takes
playwright and a Chromium.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.browser import BrowserHandler

FORM = {
    "message": "A table for how many?\nWe keep it for fifteen minutes.",
    "requestedSchema": {
        "properties": {
            "name": {"type": "string", "title": "Your name", "description": "As in your passport", "minLength": 2},
            "email": {"type": "string", "format": "email", "title": "E-mail"},
            "people": {"type": "integer", "title": "People", "minimum": 1, "maximum": 12, "default": 2},
            "when": {"type": "string", "format": "date-time", "title": "When"},
            "menu": {
                "type": "array",
                "title": "Menu",
                "minItems": 1,
                "maxItems": 2,
                "items": {"enum": ["Meat", "Fish", "Vegetarian", "Vegan"]},
            },
            "outside": {"type": "boolean", "title": "Outside"},
            "town": {
                "type": "string",
                "title": "Town",
                "enum": ["Aarau", "Baden", "Basel", "Bern", "Chur", "Genève", "Lausanne", "Lugano", "Zug", "Zürich"],
            },
        },
        "required": ["name", "when"],
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

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 800, "height": 600}},
    "dark": {"viewport": {"width": 800, "height": 600}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 320, "height": 640}},
}


async def take(browser: Browser, look: str, folder: Path) -> None:
    """Ask, answer, and take a picture of each page on the way."""
    context = await browser.new_context(**LOOKS[look])

    async def shoot(page: Page, name: str) -> None:
        await page.screenshot(path=folder / f"{name}-{look}.png", full_page=True)

    async def fill(page: Page) -> None:
        await shoot(page, "form")
        await page.fill("#f1", "ann@")
        await page.click("text=Review")
        await page.wait_for_selector(".summary")
        await shoot(page, "errors")
        await page.fill("#f0", "Ann")
        await page.fill("#f1", "ann@example.com")
        await page.fill("#f3", "2026-12-24T19:30")
        await page.press("#f3", "Tab")
        await page.check("#f4-1")
        await page.click("text=Review")
        await page.wait_for_selector("dl")
        await shoot(page, "review")
        await page.wait_for_selector("body[data-awake]")
        await page.click("text=Send")
        await page.wait_for_selector("h1:has-text('Sent')")
        await shoot(page, "sent")

    async def read(page: Page) -> None:
        await shoot(page, "arabic")
        await page.click("text=Decline")

    async def agree(page: Page) -> None:
        await shoot(page, "consent")
        await page.wait_for_selector("body[data-awake]")
        await page.click("text=Agree")
        await page.wait_for_selector("text=I am done there")
        await shoot(page, "visit")
        await page.click("text=Cancel")

    async def expire(page: Page) -> None:
        await page.wait_for_selector("h1:has-text('closed')")
        await shoot(page, "closed")

    for params, answer, lifetime in ((FORM, fill, 240), (ARABIC, read, 240), (URL, agree, 240), (FORM, expire, 2)):
        answering: list[asyncio.Task[None]] = []

        async def open_file(path: Path, answer: Any = answer, answering: Any = answering) -> bool:
            async def go() -> None:
                await page.wait_for_selector("main")
                await answer(page)

            page = await context.new_page()
            await page.goto(path.as_uri())
            answering.append(asyncio.create_task(go()))
            return True

        request = parse_request(params, server="restaurant", tool="book_table", protocol_version="2026-07-28")
        handler = BrowserHandler(open_file=open_file, answer_timeout=lifetime)
        print(look, (await handler(request)).action)
        await asyncio.gather(*answering)


async def main(folder: Path) -> None:
    """Take all pictures."""
    async with async_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for look in LOOKS:
            await take(browser, look, folder)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
