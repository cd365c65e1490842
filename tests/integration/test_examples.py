"""The example of a desktop application, against the demo server."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]


@asynccontextmanager
async def desktop() -> AsyncIterator[Any]:
    pytest.importorskip("textual", reason="Textual is not installed")
    from textual.worker import WorkerError

    from examples.desktop_app import Desktop

    app = Desktop()
    with anyio.fail_after(120):
        async with app.run_test(size=(100, 40)) as pilot:
            await pilot.click("Button")
            yield pilot
            workers = [*app.workers]
        for worker in workers:  # which stop the server
            with suppress(WorkerError):
                await worker.wait()


def log(pilot: Any) -> str:
    return "\n".join(line.text for line in pilot.app.query_one("RichLog").lines)


async def prompt(pilot: Any) -> str:
    """Wait until the window reads a line; return the prompt."""
    while pilot.app.query_one("Input").disabled:
        await pilot.pause(0.01)
    return str(pilot.app.query_one("Input").placeholder)


async def sees(pilot: Any, text: str) -> None:
    while text not in log(pilot):
        await pilot.pause(0.01)


async def test_the_desktop_application_shows_the_form_in_its_window_and_sends_the_answer() -> None:
    async with desktop() as pilot:
        await prompt(pilot)
        await pilot.press(*"Ann", "enter")
        while "send" not in await prompt(pilot):
            await pilot.press("enter")
        assert "1) Your name: Ann" in log(pilot)
        await pilot.press(*"send", "enter")
        await sees(pilot, '"action": "accept"')

        assert '"name": "Ann"' in log(pilot)


async def test_escape_cancels_the_request_of_the_desktop_application() -> None:
    async with desktop() as pilot:
        await prompt(pilot)
        await pilot.press("escape")
        await sees(pilot, '"action": "cancel"')


async def test_the_desktop_application_shows_that_the_server_has_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("textual", reason="Textual is not installed")
    stops = StdioServerParameters(command=sys.executable, args=["-c", ""])
    monkeypatch.setattr("examples.desktop_app.SERVER", stops)
    async with desktop() as pilot:
        await sees(pilot, "Failed: Connection closed")


async def test_the_desktop_application_can_be_closed_while_it_asks() -> None:
    async with desktop() as pilot:
        await prompt(pilot)
        pilot.app.exit()
