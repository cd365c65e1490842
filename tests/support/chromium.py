"""A real Chromium for the tests, driven by playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT, skip_or_fail

IN_A_BROWSER = [pytest.mark.anyio, pytest.mark.event_loops("asyncio"), pytest.mark.usefixtures("shared_browser")]
"""The marks of a module whose tests need a browser."""

EVIL_TEST = "--host-resolver-rules=MAP evil.test 127.0.0.1"
"""The name of the attacker's site, for Chromium."""

SET_VISIBILITY = """state => {
    Object.defineProperty(document, "visibilityState", {configurable: true, get: () => state})
    document.dispatchEvent(new Event("visibilitychange"))
}"""
"""The JavaScript function that hides a page, or shows it again."""


def chromium() -> str:
    """Return the path of the browser."""
    path = shutil.which("chromium")
    if path is None:
        skip_or_fail("chromium is not installed; see .ci/run")
    assert path is not None
    return path


def _headless_chromium() -> str:
    """Return the path of Chromium's build without windows, which takes half the time, or of Chromium."""
    return shutil.which("chromium-headless-shell") or chromium()


class SharedBrowser:
    """A browser without a window for all tests of a module, which starts with the first test that needs it."""

    current: SharedBrowser | None = None

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._launched: Any = None

    async def launched(self) -> Any:
        """Return the browser, which starts again if a test ended it."""
        if self._launched is None or not self._launched.is_connected():
            try:
                from playwright.async_api import async_playwright
            except ImportError:
                skip_or_fail("playwright is not installed")
            playwright = await self._stack.enter_async_context(async_playwright())
            self._launched = await playwright.chromium.launch(
                executable_path=_headless_chromium(), args=["--no-sandbox", EVIL_TEST]
            )
            self._stack.push_async_callback(self._launched.close)
        return self._launched


@asynccontextmanager
async def browser() -> AsyncIterator[Any]:
    """The browser of the fixture `shared_browser`, which closes all pages at the end."""
    assert SharedBrowser.current is not None, "mark the module with IN_A_BROWSER"
    launched = await SharedBrowser.current.launched()
    try:
        yield launched
    finally:
        for context in launched.contexts:
            await context.close()


async def until_it_takes_a_yes(page: Any, *, has_script: bool = True) -> None:
    """Wait for the time in which no page takes a yes to be over."""
    if has_script:
        await page.wait_for_selector("body[data-awake]")


async def tab_to(page: Any, name: str, value: str | None = None) -> None:
    """Press Tab until the control *name* has the focus, or the one of its options or buttons with *value*."""
    for _ in range(80):
        await page.keyboard.press("Tab")
        focused = await page.evaluate("[document.activeElement.name, document.activeElement.value]")
        if focused[0] == name and value in (None, focused[1]):
            return
    raise AssertionError((name, value))


async def violations(page: Any) -> list[tuple[str, str, list[str]]]:
    """Tell what axe-core finds wrong with the page."""
    axe = ROOT / ".npm" / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        skip_or_fail("the npm package axe-core is not installed")
    await page.wait_for_load_state("load")  # Without the style, axe-core takes the dark background for white.
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(axe.read_text(encoding="utf-8"))
    found = (await page.evaluate("axe.run()"))["violations"]
    return [(await page.title(), each["id"], [node["html"] for node in each["nodes"]]) for each in found]


async def picture(page: Any, name: str) -> None:
    """Take a picture for the documentation, if `PICTURES` names a folder for them."""
    if "PICTURES" in os.environ:
        await page.screenshot(path=Path(os.environ["PICTURES"]) / f"{name}.png")
