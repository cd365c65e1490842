"""The examples for a desktop application and a bot in Slack, against the demo server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]


# --- The desktop application


@asynccontextmanager
async def desktop() -> AsyncIterator[Any]:
    pytest.importorskip("textual", reason="Textual is not installed")
    from examples.desktop_app import Desktop

    app = Desktop()
    with anyio.fail_after(120):
        async with app.run_test(size=(100, 40)) as pilot:
            await pilot.click("Button")
            yield pilot


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


async def test_the_desktop_application_can_be_closed_while_it_asks() -> None:
    async with desktop() as pilot:
        await prompt(pilot)
        pilot.app.exit()


# --- The bot in Slack


def entered(block: dict[str, Any]) -> dict[str, Any]:
    """The state of an input that the user did not change."""
    element = block["element"]
    kept = {"initial_value": "value", "initial_option": "selected_option", "initial_options": "selected_options"}
    kept["initial_date"] = "selected_date"
    return {"type": element["type"], **{kept[name]: element[name] for name in kept if name in element}}


async def test_the_bot_in_slack_asks_the_user_of_the_command_and_shows_the_result() -> None:
    pytest.importorskip("slack_bolt", reason="the extra slack is not installed")
    from examples.slack_bot import make_app
    from tests.support.slack_api import SECRET, TOKEN, FakeSlack, listening

    api = FakeSlack()
    async with (
        api.serve() as base_url,
        listening(make_app(TOKEN, SECRET, base_url).web_app("/slack/events")) as url,
    ):
        api.bot_url = f"{url}/slack/events"
        await api.command("U11", "/book")
        await api.until(lambda: api.messages)
        shown = api.latest("U11")
        assert "restaurant" in shown.text
        button = next(each for each in shown.buttons if each["text"]["text"] == "Answer")
        await api.press("U11", shown, button)
        view = await api.until(lambda: api.views and api.views[-1])
        states = {each["block_id"]: entered(each) for each in view["blocks"] if each["type"] == "input"}
        assert await api.submit("U11", view, states) == {}
        result = await api.until(
            lambda: [each for each in api.messages.values() if each.blocks[0]["type"] == "section"]
        )

    assert '"action": "accept"' in result[0].blocks[0]["text"]["text"]
    assert {each.seen_by for each in api.messages.values()} == {"U11"}
