"""Real forms are answered in a chat as in the terminal."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_elicit_client import BooleanField, ChoiceField, FormRequest, MultiChoiceField
from tests.support import example_value
from tests.support.chat_corpus import forms, in_terminal, labels, typed

pytest.importorskip("telegram")

from tests.handlers.test_telegram import ANN, Bot, running
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
