"""User interfaces offer to remember an answer where the request says so, and never choose it themselves."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_elicit_client import Answer, FormRequest, parse_request
from mcp_elicit_client.cli.remembered import remembered_hint, remembered_lines
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.inbox import Inbox
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.inbox.web.pages import Pages
from mcp_elicit_client.policies import RememberedAnswers
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.conversation import Style, start_conversation
from mcp_elicit_client.presentation.input_parsing import InputContext
from mcp_elicit_client.presentation.remembering import describe_remembered, remember_label
from tests.support import form_params
from tests.support.console import ScriptedConsole
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


def test_only_a_remembered_answer_is_described() -> None:
    with pytest.raises(TypeError, match=r"must be RememberedAnswer, not str\. Pass an answer that RememberedAnswers"):
        describe_remembered("a", ENGLISH)  # type: ignore[arg-type]


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


CONFIRM: dict[str, Any] = {"properties": {}}
BOOLEAN = {"properties": {"a": {"type": "boolean", "title": "Sure?"}}}
REMEMBER = f"[ ] {LABEL} (remember)"


@pytest.mark.parametrize(
    ("schema", "lines", "action"),
    [
        (CONFIRM, ["{}", "yes"], "accept"),
        (CONFIRM, ["{}", "no"], "decline"),
        (BOOLEAN, ["{}", "n"], "accept"),
        (TEXT, ["", "{}", "send"], "accept"),
        (TEXT, ["", "{}", "decline"], "decline"),
    ],
)
@pytest.mark.parametrize("word", ["remember", "r", "/remember"])
@pytest.mark.parametrize("times", [0, 1, 2])
async def test_a_word_of_line_mode_remembers_the_answer(
    schema: dict[str, Any], lines: list[str], action: str, word: str, times: int
) -> None:
    typed = [each for line in lines for each in ([word] * times if line == "{}" else [line])]
    console = ScriptedConsole(typed, width=100)

    answer = await TerminalHandler(console=console)(offered(schema))

    assert REMEMBER in console.shown
    assert (f"[x] {LABEL} (remember)" in console.shown) == (times > 0)
    assert (answer.action, answer.remember) == (action, times == 1)


@pytest.mark.parametrize("lines", [["remember", "", "cancel"], ["", "send", "cancel"]])
async def test_line_mode_offers_it_only_where_an_answer_is_sent_without_a_warning(lines: list[str]) -> None:
    key = {"properties": {"a": {"type": "string", "default": "x"}}}
    request = offered(key, None if lines[0] == "" else 900)
    console = ScriptedConsole(lines)

    answer = await TerminalHandler(console=console)(request)

    assert not answer.remember
    assert console.shown.count("(remember)") == (lines[0] != "")


async def test_line_mode_does_not_offer_it_for_sensitive_data_that_was_typed() -> None:
    console = ScriptedConsole(["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "remember", "send", "confirm"])

    answer = await TerminalHandler(console=console)(offered(TEXT))

    assert "(remember)" not in console.shown
    assert (answer.action, answer.remember, answer.confirmed) == ("accept", False, True)


def test_a_chat_offers_it_as_a_button() -> None:
    conversation = start_conversation(offered(CONFIRM), ENGLISH, InputContext(), style=Style(has_buttons=True))
    button = next(each for each in conversation.start().buttons if each.label == "Remember")
    turn = conversation.press(button.id)
    send = next(each for each in turn.buttons if each.label == "Yes")

    answer = conversation.press(send.id).answer
    assert answer is not None
    assert answer.remember


# --- The list


def test_remembered_answers_are_listed_and_revoked_by_commands() -> None:
    remembered = RememberedAnswers(clock=lambda: 0)
    for message, content in (
        ("Run the\ntests?", {"how": "all", "deep": True, "of": ["a", "b"], "by": 7.5}),
        ("Go?", {}),
    ):
        request = offered(TEXT).model_copy(update={"message": message})
        remembered._store(request, Answer.accept(content, by="user"))

    assert (
        remembered_hint(remembered, ENGLISH) == "2 answers are remembered. Type /remembered to list them, or /forget N."
    )
    assert remembered_lines("/remembered", remembered, ENGLISH) == [
        "1. mail: You accepted. Expires in 15:00",
        "  | Run the tests?",
        "  | how: all",
        "  | deep: yes",
        "  | of: a, b",
        "  | by: 7.5",
        "2. mail: You accepted. Expires in 15:00",
        "  | Go?",
    ]
    assert remembered_lines("book_table {}", remembered, ENGLISH) is None
    for typed in ("/forget", "/forget 3", "/forget 0", "/forget x"):
        assert remembered_lines(typed, remembered, ENGLISH) == [
            'Type "/forget all", or "/forget" and a number from 1 to 2.'
        ]
    assert remembered_lines("/forget 1", remembered, ENGLISH) == ["1 answer was forgotten."]
    assert [each.message for each in remembered.list()] == ["Go?"]
    assert remembered_lines("/forget all", remembered, ENGLISH) == ["1 answer was forgotten."]
    assert remembered_lines("/remembered", remembered, ENGLISH) == ["No remembered answers"]
    assert remembered_hint(remembered, ENGLISH) == ""
