"""User interfaces offer to remember an answer where the request says so, and never choose it themselves."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_elicit_client import FormRequest, parse_request
from mcp_elicit_client.inbox import Inbox
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.inbox.web.pages import Pages
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.remembering import remember_label
from tests.support import form_params
from tests.support.inboxes import asking as asking_inbox
from tests.support.inboxes import pending
from tests.support.screens import SENT, asking
from tests.ui.interfaces import entry_of

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

F6 = "\x1b[17~"
LABEL = "Answer the same request from mail the same way for 15 minutes"
TEXT = {"properties": {"a": {"type": "string", "default": "x"}}}


def offered(schema: dict[str, Any], seconds: float | None = 900) -> FormRequest:
    request = parse_request(form_params(schema), server="mail")
    assert isinstance(request, FormRequest)
    return request.model_copy(update={"remember_seconds": seconds})


def test_the_label_says_how_long() -> None:
    request = offered(TEXT)

    assert remember_label(request, ENGLISH) == LABEL
    assert remember_label(request.model_copy(update={"remember_seconds": 60}), ENGLISH).endswith("for 1 minute")
    assert "15 Minuten" in remember_label(request, MessageCatalog.for_language("de"))
    assert remember_label(offered(TEXT, None), ENGLISH) == ""


@pytest.mark.parametrize(
    ("schema", "before", "keys", "action"),
    [
        ({"properties": {}}, "", "y", "accept"),
        ({"properties": {}}, "", "d", "decline"),
        ({"properties": {"a": {"type": "boolean"}}}, "", "n", "accept"),
        (TEXT, "\x13", "\x13", "accept"),
    ],
    ids=["confirmation", "decline", "boolean", "form"],
)
@pytest.mark.parametrize("presses", [0, 1, 2])
async def test_a_key_of_the_interactive_form_remembers_the_answer(
    schema: dict[str, Any], before: str, keys: str, action: str, presses: int
) -> None:
    async with asking(offered(schema)) as person:
        await person.types(*before)
        await person.sees(f"[ ] {LABEL}")
        await person.types(*[F6] * presses)
        await person.sees(f"[{'x' if presses == 1 else ' '}] {LABEL}")
        await person.types(keys)

    assert person.answer is not None
    assert (person.answer.action, person.answer.remember) == (action, presses == 1)


async def test_without_an_offer_the_key_does_nothing() -> None:
    async with asking(offered(TEXT, None)) as person:
        await person.types(F6, "\x13")
        assert "same way" not in person.shown
        await person.types(F6, SENT)

    assert person.answer is not None
    assert (person.answer.action, person.answer.remember) == ("accept", False)


@pytest.mark.parametrize("seconds", [900, None])
def test_the_page_offers_it_unchecked_next_to_the_button_that_sends(seconds: float | None) -> None:
    pages = Pages(ENGLISH)
    confirm = bytes(pages.request(entry_of(offered({"properties": {}}, seconds))).body).decode()
    form = bytes(pages.request(entry_of(offered(TEXT, seconds))).body).decode()

    assert (LABEL in confirm) == (seconds is not None)
    assert 'name="remember" value="yes" checked' not in confirm
    assert LABEL not in form  # but in its review


async def test_an_inbox_remembers_only_what_the_request_offers() -> None:
    inbox = Inbox(MemoryStore())
    for seconds in (900, None):
        async with asking_inbox(inbox, offered({"properties": {}}, seconds)) as waiting:
            (entry,) = await pending(inbox)
            await inbox.answer("ann", entry.id, "accept", {}, remember=True)
            answer = await waiting.result()
        assert answer.remember == (seconds is not None)
