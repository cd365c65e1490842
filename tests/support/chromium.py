"""A real Chromium for the tests, driven by playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support import ROOT, skip_or_fail

SERIOUS = {"serious", "critical"}

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


@asynccontextmanager
async def browser(*arguments: str) -> AsyncIterator[Any]:
    """A browser without a window."""
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        skip_or_fail("playwright is not installed")
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=_headless_chromium(), args=["--no-sandbox", *arguments]
        )
        try:
            yield launched
        finally:
            await launched.close()


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


async def violations(page: Any, *, serious_only: bool = False) -> list[tuple[str, str, list[str]]]:
    """Tell what axe-core finds wrong with the page."""
    axe = ROOT / ".npm" / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        skip_or_fail("the npm package axe-core is not installed")
    await page.wait_for_load_state("load")  # Without the style, axe-core takes the dark background for white.
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(axe.read_text(encoding="utf-8"))
    found = (await page.evaluate("axe.run()"))["violations"]
    return [
        (await page.title(), each["id"], [node["html"] for node in each["nodes"]])
        for each in found
        if not serious_only or each["impact"] in SERIOUS
    ]


async def picture(page: Any, name: str) -> None:
    """Take a picture for the documentation, if `PICTURES` names a folder for them."""
    if "PICTURES" in os.environ:
        await page.screenshot(path=Path(os.environ["PICTURES"]) / f"{name}.png")
