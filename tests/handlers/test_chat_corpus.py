"""Real forms are answered in a chat as in the terminal."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_elicit_client import BooleanField, ChoiceField, FormRequest, MultiChoiceField
from mcp_elicit_client.core.form import Field
from tests.support import example_value
from tests.support.chat_corpus import forms, in_terminal, labels, typed

pytest.importorskip("telegram")
pytest.importorskip("slack_bolt")

from tests.handlers.test_slack import Bot as SlackBot
from tests.handlers.test_slack import running as running_slack
from tests.handlers.test_telegram import ANN, Bot, running
from tests.support.slack_api import FakeSlack
from tests.support.telegram_api import FakeTelegram

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]


async def test_every_form_is_answered_in_telegram_as_in_the_terminal() -> None:
    api = FakeTelegram()
    async with api.serve() as base_url, running(api, base_url) as bot:
        for count, request in enumerate(forms(str(ANN)), 1):
            await bot.asks(request)
            await _answer(bot, request)

            answer = await bot.answer(count)

            assert answer.content == (await in_terminal(request)).content, request
            assert answer.action == "accept"
        assert count >= 5


async def test_every_form_is_answered_in_slack_as_in_the_terminal() -> None:
    api, dialogs = FakeSlack(), 0
    async with api.serve() as base_url, running_slack(api, base_url) as bot:
        for count, request in enumerate(forms("U1"), 1):
            shown = await bot.asks(request, "U1")
            if "Answer" in shown.labels:
                dialogs += 1
                view = await bot.open(person="U1")
                entered = [_entered(field) for field in request.form.fields]
                assert await bot.submit(view, *entered, person="U1") == {}, request
            else:
                await _press_through(bot, request)
            await _send(bot)

            answer = await bot.answer(count)

            assert answer.content == (await in_terminal(request)).content, request
        assert 0 < dialogs < count


def _entered(field: Field) -> Any:
    """Return what a person enters in a dialog."""
    match field:
        case BooleanField():
            return "Yes" if example_value(field) else "No"
        case ChoiceField():
            return f"“{labels(field)[0]}”"
        case MultiChoiceField(choices=[_, *_]):
            return [f"“{label}”" for label in labels(field)]
        case MultiChoiceField():
            return "\n".join(example_value(field)) + "\n"
        case _:
            return typed(field)


async def _press_through(bot: SlackBot, request: FormRequest) -> None:
    """Answer field by field, with buttons and dialogs of one field."""
    for field in request.form.fields:
        match field:
            case BooleanField():
                await bot.press(_entered(field), "U1")
            case ChoiceField():
                await _find_option(bot, labels(field)[0])
            case MultiChoiceField(choices=[_, *_]):
                for label in labels(field):
                    await _find_option(bot, label)
                await bot.press("Use selection", "U1")
            case _:
                view = await bot.open("Enter a value", person="U1")
                before = bot.api.latest("U1").blocks
                assert await bot.submit(view, _entered(field), person="U1") == {}
                assert bot.api.latest("U1").blocks is not before


async def _find_option(bot: SlackBot, label: str) -> None:
    while True:
        shown = bot.api.latest("U1")
        for text in shown.labels:
            start = text.removeprefix("✓ ").rstrip("”").removesuffix("…").partition("“")[2]
            if text.endswith(f"“{label}”") or (text.endswith("…”") and " ".join(label.split()).startswith(start)):
                await bot.press(text, "U1")
                return
        await bot.press("More options", "U1")


async def _send(bot: SlackBot) -> None:
    """Send the answers, if that is still to be done."""
    for label in ("Yes", "Send", "Confirm"):
        if label in bot.api.latest("U1").labels:
            await bot.press(label, "U1")


async def _answer(bot: Bot, request: FormRequest) -> None:
    fields = request.form.fields
    for field in fields:
        match field:
            case BooleanField():
                await bot.press("Yes" if example_value(field) else "No")
            case ChoiceField():
                await _press_option(bot, labels(field)[0])
            case MultiChoiceField(choices=[_, *_]):
                for label in labels(field):
                    await _press_option(bot, label)
                await bot.press("Use selection")
            case _:
                await bot.write(typed(field))
    shown: Any = bot.api.latest(ANN)
    for label in ("Yes" if not fields else "Send", "Confirm"):
        if any(each["text"] == label for each in shown.buttons):
            shown = await bot.press(label)


async def _press_option(bot: Bot, label: str) -> None:
    """Press the button of an option, on whatever page it is."""
    while True:
        shown = bot.api.latest(ANN)
        for button in shown.buttons:
            text = button["text"].removeprefix("✓ ")
            start = text.rstrip("”").removesuffix("…").partition("“")[2]
            if text == f"“{label}”" or (text.endswith("…”") and " ".join(label.split()).startswith(start)):
                await bot.api.press(ANN, shown, button["callback_data"])
                return
        await bot.press("More options")
