"""The interactive form, key by key."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import io
import logging
import math
import random
import re
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, FormRequest, UrlRequest, UrlRules, parse_request
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.request import BatchPosition, with_completion, with_deadline
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.terminal.handler import _is_interactive, _warn_of_unknown
from mcp_elicit_client.handlers.terminal.interactive import Theme, review_view, view
from tests.support import form_params, skip_or_fail

if importlib.util.find_spec("prompt_toolkit") is None:
    skip_or_fail("the extra terminal is not installed")

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
from mcp_elicit_client.handlers.terminal.interactive.form_view import FormView
from mcp_elicit_client.handlers.terminal.interactive.theme import DARK, LIGHT, PLAIN, theme_of
from mcp_elicit_client.handlers.terminal.interactive.tty import copy_through_terminal, lines_above
from mcp_elicit_client.policies import answer_timeout
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.typing import Request
from tests.support.screens import (
    BACK_TAB,
    BACKSPACE,
    CANCEL,
    DECLINE,
    DELETE,
    DOWN,
    ENTER,
    ESCAPE,
    F1,
    F2,
    F4,
    F5,
    LEAVE,
    LEFT,
    NEWLINE,
    PAGE_DOWN,
    PAGE_UP,
    RIGHT,
    SEND,
    SENT,
    TAB,
    UNDO,
    UP,
    Person,
    Screen,
    asking,
    fill,
)

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]


KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
NAME = {"type": "string", "title": "Your name"}
OPTIONS = {"type": "string", "enum": ["s", "m", "l"], "enumNames": ["Small", "Medium", "Large"]}
MANY = {"type": "string", "enum": [f"town {at}" for at in range(40)]}
SEVERAL = {"type": "array", "items": {"enum": ["a", "b", "c"]}}


def form(properties: dict[str, Any], *required: str, message: str = "Hello", **options: Any) -> FormRequest:
    schema = {"properties": properties, "required": list(required)}
    request = parse_request(form_params(schema, message), server="mail", **options)
    assert isinstance(request, FormRequest)
    return request


async def content(field: dict[str, Any], *keys: str, required: bool = False) -> Any:
    # With a second field, one question of yes or no is a form as well.
    properties = {"f": field, "other": {"type": "string"}}
    answer = await fill({"properties": properties, "required": ["f"] if required else []}, *keys, SENT)
    assert answer.action == "accept"
    return answer.content


async def test_fields_are_filled_in_reviewed_and_sent() -> None:
    async with asking(form({"name": NAME}, "name")) as person:
        await person.types("Ann")
        await person.types(SEND)
        await person.sees("Check your answers", "   | Your name |  Ann", "Your answers will be sent to mail.")
        await person.types(SEND)
        answer = await person.done()

    assert (answer.action, answer.content, answer.by) == ("accept", {"name": "Ann"}, "user")
    assert answer.sources == {"name": "user"}
    assert not answer.confirmed


@pytest.mark.parametrize(
    ("field", "keys", "value"),
    [
        ({"type": "string"}, ["decline"], "decline"),
        ({"type": "string"}, ["/etc/passwd"], "/etc/passwd"),
        ({"type": "string"}, ["x" * 600], "x" * 600),
        ({"type": "string"}, ["ab", LEFT, "c", BACKSPACE, "d"], "adb"),
        ({"type": "string", "maxLength": 600}, ["one", NEWLINE, "two"], "one\ntwo"),
        ({"type": "string", "maxLength": 600}, ["\x1b[200~one\r\ntwo\x1b[201~"], "one\ntwo"),
        ({"type": "string", "format": "email"}, ["\x1b[200~a@b.example\n\x1b[201~"], "a@b.example"),
        ({"type": "string"}, ["a b"], "a b"),
        ({"type": "string"}, [F2], ""),
        ({"type": "string", "format": "date"}, ["2026-1-5"], "2026-01-05"),
        ({"type": "string", "format": "date-time"}, ["2026-7-1 9:05 Europe/Berlin"], "2026-07-01T09:05:00+02:00"),
        ({"type": "string", "pattern": "b"}, ["abc"], "abc"),
        ({"type": "integer"}, [" 42 "], 42),
        ({"type": "number"}, ["-1.5e3"], -1500.0),
        ({"type": "boolean"}, ["y"], True),
        ({"type": "boolean"}, ["n"], False),
        ({"type": "boolean"}, [RIGHT], True),
        ({"type": "boolean"}, [" ", " "], False),
        (OPTIONS, [DOWN, " "], "s"),
        (OPTIONS, [DOWN, DOWN, ENTER], "m"),
        (OPTIONS, [DOWN, DOWN, " ", DOWN, " "], "l"),
        (MANY, ["37", ENTER], "town 37"),
        (MANY, ["3", DOWN, DOWN, " "], "town 23"),
        (MANY, ["tw7", DOWN, ENTER], "town 17"),
        ({"type": "integer", "enum": [3, 1]}, [DOWN, ENTER], 3),
        (SEVERAL, [DOWN, DOWN, " ", DOWN, " "], ["b", "c"]),
        (SEVERAL, [" ", " ", F2], []),
        ({"type": "array", "items": {"type": "string"}}, ["x, y z"], ["x", "y z"]),
        ({"type": "array", "items": {"type": "string"}}, ["x, y", NEWLINE, "z"], ["x, y", "z"]),
    ],
)
async def test_typed_and_selected_input_becomes_the_value(field: dict[str, Any], keys: list[str], value: Any) -> None:
    sent = await content(field, *keys)

    assert sent == {"f": value}
    assert type(sent["f"]) is type(value)


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ({"type": "integer"}, "12abc", "Enter a whole number."),
        ({"type": "integer"}, "9" * 20, "Enter a whole number between"),
        ({"type": "number"}, "nan", "Enter a number, such as 7.5."),
        ({"type": "number", "maximum": 5}, "6", "Enter 5 or less."),
        ({"type": "string", "minLength": 3}, "ab", "Enter at least 3 characters."),
        ({"type": "string", "maxLength": 3}, "abcd", "Enter at most 3 characters."),
        ({"type": "string", "minLength": 3, "format": "email"}, "a", "Enter at least 3 characters."),
        ({"type": "string", "format": "email"}, "a", "Enter an email address"),
        ({"type": "string", "format": "date-time"}, "2026-11-20", "Add a time, such as 14:30."),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, "abc", "This does not have the required format."),
        ({"type": "array", "items": {"type": "string", "format": "uri"}}, "x", "Enter a URL"),
    ],
)
async def test_invalid_input_is_reported_while_typing_and_cannot_be_sent(
    field: dict[str, Any], typed: str, message: str
) -> None:
    async with asking(form({"f": field})) as person:
        await person.types(typed)
        await person.sees(f"! {message}")
        await person.types(SENT)
        assert "Check your answers" not in person.shown
        await person.types(*LEAVE)
        assert (await person.done()).action == "cancel"


async def test_a_field_without_the_focus_shows_its_newest_text() -> None:
    async with asking(form({"n": {"type": "integer", "title": "Guests"}, "t": NAME})) as person:
        await person.types("4x", TAB)
        await person.sees(" ! | Guests    |  4x")
        await person.types(UP, BACKSPACE, "y", TAB)
        await person.sees(" ! | Guests    |  4y")


async def test_an_unanswered_yes_or_no_says_so() -> None:
    async with asking(form({"f": {"type": "boolean"}, "t": NAME}, "f")) as person:
        await person.sees("( ) yes  ( ) no  (x) no answer")


async def test_yes_and_no_in_wide_characters_are_shown_in_full() -> None:
    asked = {"f": {"type": "boolean", "title": "Confirm this please"}, "g": NAME}
    async with asking(form(asked), columns=60, catalog=MessageCatalog.for_language("ja")) as person:
        await person.sees("( ) はい", "( ) いいえ", "(x) 回答なし")


async def test_all_errors_are_shown_and_the_first_one_has_the_focus() -> None:
    asked = {"a": NAME, "b": {"type": "integer"}, "c": OPTIONS}
    async with asking(form(asked, "a", "b", "c")) as person:
        await person.types(TAB, TAB, SEND)
        await person.sees("3 fields need attention", ">! | Your name", " ! | b", " ! | c")
        assert person.shown.count("! This field is required.") == 1
        await person.types("x")
        await person.sees(">✓ | Your name", " ! | b", " ! | c")


async def test_the_first_of_several_patterns_that_do_not_match_has_the_focus() -> None:
    asked = {name: {"type": "string", "pattern": f"^{name}$"} for name in "abc"}
    async with asking(form(asked)) as person:
        await person.types(f"x{TAB}{TAB}y{SEND}")  # at once: the patterns are not checked yet
        await person.sees("2 fields need attention", ">! | a", " ! | c")


async def test_no_more_options_than_allowed_can_be_selected() -> None:
    field = {**SEVERAL, "minItems": 2, "maxItems": 2}
    async with asking(form({"f": field})) as person:
        await person.types(" ")
        await person.sees("1 selected", "! Select at least 2 options.")
        await person.types(DOWN, " ", DOWN, " ")
        await person.sees("2 selected", "! You can select at most 2 options.")
        await person.types(SENT)
        assert (await person.done()).content == {"f": ["a", "b"]}


@pytest.mark.parametrize(
    ("keys", "action", "by"),
    [
        ([DECLINE], "decline", "user"),
        ([CANCEL], "cancel", "user"),
        ([SEND, CANCEL], "cancel", "user"),
        ([SEND, "d"], "decline", "user"),
        (["x", CANCEL, CANCEL], "cancel", "user"),
        (["x", CANCEL, ESCAPE], "cancel", "user"),
        (["x", DECLINE, "y"], "decline", "user"),
        (["x", SEND, ESCAPE, "y"], "cancel", "user"),
        (["x", SEND, "d", "y"], "decline", "user"),
    ],
)
async def test_every_step_can_be_declined_or_cancelled(keys: list[str], action: str, by: str) -> None:
    answer = await fill({"properties": {"f": {"type": "string"}}}, *keys)

    assert (answer.action, answer.by, answer.content) == (action, by, None)


async def test_the_end_of_input_is_an_unattended_cancel() -> None:
    async with asking(form({"f": NAME})) as person:
        await person.types("x", SEND)
        person.keyboard.close()
        answer = await person.done()

    assert (answer.action, answer.by) == ("cancel", "unattended")


@pytest.mark.parametrize("keys", ["", ENTER * 5, " " * 9, "please" + ENTER, TAB + ENTER])
async def test_a_confirmation_needs_the_key_that_means_yes(keys: str) -> None:
    answer = await fill({"properties": {}}, keys)

    assert answer.action == "cancel"


async def test_a_form_without_fields_is_answered_with_one_key() -> None:
    for key, wire in {
        "y": {"action": "accept", "content": {}},
        "Y": {"action": "accept", "content": {}},
        "n": {"action": "decline"},
        "d": {"action": "decline"},
        ESCAPE: {"action": "cancel"},
    }.items():
        async with asking(form({})) as person:
            await person.sees("mail asks you to confirm", "y Yes   n No   Esc Cancel")
            await person.types(key)
            answer = await person.done()
        assert (answer.to_wire(), answer.by) == (wire, "user")


async def test_one_question_of_yes_or_no_is_answered_with_one_key() -> None:
    asked = {"sure": {"type": "boolean", "title": "Sure?", "description": "Think twice", "default": True}}
    wires: dict[str, dict[str, Any]] = {
        "y": {"action": "accept", "content": {"sure": True}},
        "n": {"action": "accept", "content": {"sure": False}},
        "x": {"action": "accept", "content": {}},
        "d": {"action": "decline"},
        ESCAPE: {"action": "cancel"},
    }
    for key, wire in wires.items():
        async with asking(form(asked)) as person:
            await person.sees("   | Sure?\n   | Think twice", "Suggested value: yes", "y Yes   n No   x No answer")
            await person.types(ENTER)
            await person.sees("Press one of these keys: y, n, x, d")
            await person.types(key)
            answer = await person.done()
        assert (answer.to_wire(), answer.by) == (wire, "user")
        assert answer.sources == ({"sure": "user"} if wire.get("content") else {})


async def test_one_required_question_of_yes_or_no_needs_an_answer() -> None:
    async with asking(form({"sure": {"type": "boolean"}}, "sure")) as person:
        assert "No answer" not in person.shown
        await person.types("x")
        assert person.answer is None


def suspicious(fields: dict[str, Any]) -> FormRequest:
    found = Diagnostic(code="impersonation", message="The server resembles another one.")
    return form(fields).model_copy(update={"diagnostics": (found,)})


@pytest.mark.parametrize("fields", [{}, {"sure": {"type": "boolean"}}])
async def test_with_a_warning_one_key_selects_and_enter_confirms(fields: dict[str, Any]) -> None:
    async with asking(suspicious(fields)) as person:
        await person.sees(" ! The server resembles another one.\n y Yes")
        await person.types(ENTER, "y", "y", "y")
        await person.sees("Press Enter to confirm: Yes", "> y Yes")
        assert person.answer is None
        await person.types(" ", ENTER)  # another key takes the selection back
        assert person.answer is None
        await person.types("y", ENTER)
        assert (await person.done()).action == "accept"


async def test_answers_to_a_suspicious_server_need_two_different_keys() -> None:
    async with asking(suspicious({"f": NAME})) as person:
        await person.types("Ann", ENTER, ENTER)
        await person.sees("Check your answers", "! The server resembles another one.", "d Decline")
        await person.types(ENTER, SEND, SEND)
        assert person.answer is None
        await person.types("s", "s", ENTER)
        assert (await person.done()).content == {"f": "Ann"}


async def test_enter_at_the_end_of_a_short_valid_form_reviews_and_sends() -> None:
    asked = {f"f{at}": {"type": "string", "default": f"suggested {at}"} for at in range(8)}
    async with asking(form(asked)) as person:
        await person.types(*[ENTER] * 8)
        await person.sees("Check your answers", "Enter Send")
        await person.types(ENTER)
        answer = await person.done()

    assert answer.content == {f"f{at}": f"suggested {at}" for at in range(8)}
    assert set(answer.sources.values()) == {"default"}


@pytest.mark.parametrize(("asked", "rows"), [({"a": NAME, "b": NAME}, 40), ({f"f{at}": NAME for at in range(30)}, 15)])
async def test_enter_at_the_end_of_an_incomplete_or_long_form_goes_to_the_review_action(
    asked: dict[str, Any], rows: int
) -> None:
    required = ["a"] if "a" in asked else []
    async with asking(form(asked, *required), rows=rows) as person:
        await person.types(*[ENTER] * len(asked))
        assert "Check your answers" not in person.shown
        await person.types(ENTER)
        await person.sees("1 field needs attention" if required else "Check your answers")


async def test_the_answers_are_not_sent_by_a_key_pressed_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_view, "_INERT", 3_600.0)
    async with asking(form({"f": NAME}), inert=3_600.0) as person:
        await person.types("Ann", ENTER, ENTER)
        await person.sees("Press Enter again.")
        await person.types(ENTER)
        assert person.answer is None
        person.app.inert = 0.0  # an hour later
        await person.types(ENTER)
        assert (await person.done()).content == {"f": "Ann"}


async def test_a_confirmation_does_not_count_while_something_else_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "_PAUSE", 3_600.0)
    async with asking(form({}), inert=3_600.0) as person:
        await person.types("w")
        assert person.app.view is not None
        person.app.view._visible_since = -math.inf
        await person.types(*"hy not delay")
        await person.sees("Press y again.")
        monkeypatch.setattr(view, "_PAUSE", 0.0)
        await person.types("y")
        assert (await person.done()).action == "accept"


async def test_a_question_longer_than_the_terminal_needs_a_second_key() -> None:
    message = "\n".join(f"line {at}" for at in range(40))
    async with asking(form({}, message=message), rows=12) as person:
        await person.sees("line 0", "more below")
        await person.types("y")
        await person.sees("Enter scroll", "> y Yes")
        await person.types(PAGE_DOWN, PAGE_DOWN, PAGE_DOWN, PAGE_DOWN, PAGE_DOWN)
        await person.sees("line 39", "Press Enter to confirm: Yes")
        await person.types("y")
        assert (await person.done()).action == "accept"


async def test_escape_cancels_an_untouched_form_at_once() -> None:
    async with asking(form({"f": NAME})) as person:
        await person.types(ESCAPE)
        answer = await person.done()

    assert (answer.action, answer.by) == ("cancel", "user")


@pytest.mark.parametrize(("then", "action"), [(ESCAPE, "cancel"), ("y", "cancel"), ("n", None), (ENTER, None)])
async def test_escape_asks_for_confirmation_after_input(then: str, action: str | None) -> None:
    async with asking(form({"f": NAME})) as person:
        await person.types("x", ESCAPE)
        await person.sees("Cancel this request? Your draft is kept. [y/N]")
        await person.types(then)
        if action is None:
            await person.types(SENT)
            assert (await person.done()).content == {"f": "x"}
        else:
            assert (await person.done()).action == action


@pytest.mark.parametrize(
    ("field", "keys", "value"),
    [
        ({"type": "string"}, ["Byron", "\x01", DELETE], "yron"),
        ({"type": "string"}, ["one", "\x17", "two", UNDO], "tw"),
        ({"type": "string"}, ["\x1b[200~pasted\x1b[201~", " more", UNDO], "pasted mor"),
        ({"type": "string"}, ["kept", F2, UNDO], "kept"),
        ({"type": "boolean"}, ["y", "n", UNDO], True),
        (OPTIONS, [DOWN, " ", DOWN, " ", UNDO], "s"),
        (SEVERAL, [" ", DOWN, " ", BACKSPACE, UNDO], ["a", "b"]),
    ],
)
async def test_editing_keys_edit(field: dict[str, Any], keys: list[str], value: Any) -> None:
    assert await content(field, *keys) == {"f": value}


@pytest.mark.parametrize("pasted", ["Ann\n", "Ann\r\n", "\nAnn\r"])
async def test_line_ends_are_dropped_from_text_that_is_pasted_into_one_line(pasted: str) -> None:
    async with asking(form({"f": NAME})) as person:
        await person.types(f"\x1b[200~{pasted}\x1b[201~", SEND)
        await person.sees("Your name |  Ann")
        await person.types(SEND)
        assert (await person.done()).content == {"f": "Ann"}


async def test_the_review_shows_every_line_of_a_text() -> None:
    async with asking(form({"f": {**NAME, "maxLength": 900}})) as person:
        await person.types("one", NEWLINE, "two", SEND)
        await person.sees("Your name |  one\n   |           |  two")


async def test_the_keys_of_the_review_say_whether_enter_scrolls_or_sends() -> None:
    asked = {f"f{at}": NAME for at in range(20)}
    async with asking(form(asked), rows=12) as person:
        await person.types("Ann", SEND)
        await person.sees("Check your answers", "Enter scroll   Ctrl+S Send")
        person.resizes(80, 40)
        await person.sees("Your answers will be sent to mail.", "Enter Send")


@pytest.mark.parametrize("key", ["y", SEND])
async def test_what_was_never_visible_is_not_accepted_by_two_keys(key: str) -> None:
    asked = {f"f{at}": NAME for at in range(20)} if key == SEND else {}
    async with asking(form(asked, message="line\n" * 20), rows=12) as person:
        await person.types(*(["Ann", SEND] if asked else []))
        await person.sees("Check your answers" if asked else "y Yes", "Enter scroll")
        await person.types(key, ENTER)
        await person.sees("> ", "Enter scroll")
        assert person.answer is None
        while person.answer is None:
            before = person.shown
            await person.types(ENTER)
        assert "Press Enter to confirm" in before
        assert (await person.done()).action == "accept"


async def test_the_review_breaks_texts_between_words() -> None:
    typed = "An address of many words that has a very-long-unbreakable-part-of-more-than-one-line-in-all at its end"
    async with asking(form({"f": NAME}), columns=60) as person:
        await person.types(typed, SEND)
        await person.sees("Check your answers")
        shown = [line.rpartition("|  ")[2].rstrip() for line in person.shown.splitlines() if "|  " in line]
    assert shown == [
        "An address of many words that has a",
        "very-long-unbreakable-part-of-more-than-o",
        "ne-line-in-all at its end",
    ]


async def test_the_focused_input_says_that_its_suggested_text_is_empty() -> None:
    async with asking(form({"f": {**NAME, "default": ""}})) as person:
        await person.sees("(empty)", "suggested")


async def test_the_review_returns_to_the_selected_field() -> None:
    asked = {"a": {"type": "string"}, "b": {"type": "string"}}
    async with asking(form(asked)) as person:
        await person.types("1", TAB, "2", SEND, DOWN, DOWN, ENTER, BACKSPACE, "3", SENT)
        assert (await person.done()).content == {"a": "1", "b": "3"}


async def test_the_key_that_sends_does_not_edit_the_answer_that_is_pointed_at() -> None:
    async with asking(form({"f": NAME, "g": NAME})) as person:
        await person.types("Ann", SEND, DOWN, SEND)
        await person.sees("Check your answers", "Press one of these keys: Enter, ←, d, Esc")
        await person.types(UP, SEND)
        assert (await person.done()).content == {"f": "Ann"}


async def test_enter_on_the_first_answer_of_the_review_returns_to_it() -> None:
    asked = {"a": {"type": "string"}, "b": {"type": "string"}}
    async with asking(form(asked)) as person:
        await person.types("1", TAB, "2", SEND, DOWN, ENTER, BACKSPACE, "3", SENT)
        assert (await person.done()).content == {"a": "3", "b": "2"}


async def test_suggested_and_typed_values_have_different_sources() -> None:
    asked = {"a": {"type": "string", "default": ""}, "b": {"type": "integer", "default": 0}, "c": OPTIONS}
    async with asking(form({**asked, "d": {"type": "boolean", "default": False}})) as person:
        await person.types(TAB, BACKSPACE, "7", SEND)
        await person.sees("(suggested)")
        await person.types(SEND)
        answer = await person.done()

    assert answer.content == {"a": "", "b": 7, "d": False}
    assert answer.sources == {"a": "default", "b": "user", "d": "default"}


ADA = {"type": "string", "default": "Ada"}


@pytest.mark.parametrize(
    ("field", "keys", "value"),
    [
        (ADA, ["Bob"], "Bob"),
        (ADA, ["\x1b[200~Bob\x1b[201~"], "Bob"),
        ({"type": "integer", "default": 4}, ["12"], 12),
        (ADA, [" Bo"], "Ada Bo"),
        (ADA, [LEFT, "x"], "Adxa"),
        (ADA, [RIGHT, "x"], "Adax"),
        (ADA, ["\x1b[F", "x"], "Adax"),
        (ADA, [BACKSPACE, "x"], "Adx"),
        (ADA, ["x", UNDO, "y"], "Aday"),
        ({**ADA, "maxLength": 2_000}, ["x"], "Adax"),
    ],
)
async def test_typed_text_replaces_a_suggested_one_unless_the_user_edits_it(
    field: dict[str, Any], keys: list[str], value: object
) -> None:
    assert (await content(field, *keys))["f"] == value


@pytest.mark.parametrize(
    ("field", "keys"),
    [
        ({"type": "string", "default": "x"}, [BACKSPACE]),
        ({"type": "string", "default": "x"}, [F2]),
        ({"type": "boolean", "default": True}, [BACKSPACE]),
        ({**OPTIONS, "default": "s"}, [BACKSPACE]),
        ({**SEVERAL, "default": ["a"]}, [" "]),
    ],
)
async def test_a_suggested_value_can_be_omitted(field: dict[str, Any], keys: list[str]) -> None:
    assert await content(field, *keys) == {}


async def test_a_password_is_neither_shown_nor_kept_as_a_draft() -> None:
    drafts = Drafts()
    request = form({"p": {"type": "string", "format": "password"}})
    async with asking(request, drafts=drafts) as person:
        await person.types("hunter2")
        assert "hunter2" not in person.shown
        await person.sees("|  *******")
        await person.types(SEND)
        await person.sees("p |  (hidden)")
    assert drafts.take(request) == {}


@pytest.mark.parametrize(
    ("keys", "accepted"),
    [(["s", ENTER], True), ([SEND, ENTER], True), (["s", "s"], False), ([ENTER], False), ([SEND], False)],
)
async def test_sensitive_data_is_sent_only_after_confirmation(keys: list[str], accepted: bool) -> None:
    async with asking(form({"f": NAME})) as person:
        await person.types(KEY, SEND)
        await person.sees("! This answer seems to contain", "d Decline   ← Back   s Send anyway")
        await person.types(*keys)
        answer = await person.done() if accepted else person.answer

    assert (answer is not None and answer.confirmed) == accepted


@pytest.mark.parametrize("silence", [True, False])
async def test_blocking_is_offered_if_the_host_keeps_permissions(silence: bool) -> None:
    request = form({"f": NAME}).model_copy(update={"can_block": silence})
    async with asking(request) as person:
        await person.types(F1)
        assert ("F4 Decline and block mail" in person.shown) == silence
        await person.types(F4)
        assert person.answer is None
        if silence:
            await person.sees("Decline and block mail? [y/N]")
            await person.types("y")
            answer = await person.done()
            assert (answer.action, answer.block_server) == ("decline", True)
        assert (person.answer is not None) == silence


async def test_a_draft_is_restored_after_the_request_was_withdrawn() -> None:
    drafts = Drafts()
    asked = {"a": NAME, "b": {"type": "string", "format": "email"}, "c": OPTIONS, "d": {"type": "string"}}
    async with asking(form(asked), drafts=drafts) as person:
        await person.types("Ann", TAB, "ann@", TAB, DOWN, " ")
    assert person.screen.told.endswith("The request from mail was withdrawn.\n")
    expired = with_deadline(form(asked), datetime.now(timezone.utc), None)
    async with asking(expired, drafts=drafts) as late:
        pass
    assert late.screen.told.endswith("The request from mail has expired.\n")

    async with asking(form(asked), drafts=drafts) as person:
        await person.sees("Restored draft", "restored draft")
        await person.types(TAB, "example.org", SENT)
        answer = await person.done()

    assert answer.content == {"a": "Ann", "b": "ann@example.org", "c": "s"}
    assert answer.sources == dict.fromkeys("abc", "user")


async def test_the_title_is_the_first_line() -> None:
    request = form({"f": NAME}, tool="book").model_copy(update={"batch_position": BatchPosition(number=1, total=3)})
    async with asking(request) as person:
        assert person.lines[0].startswith("─ mail asks for 1 answer (1 of 3) ─")
        await person.sees(" Tool | book")


async def test_the_time_left_is_counted_down() -> None:
    soon = datetime.now(timezone.utc) + timedelta(seconds=42)
    async with asking(form({"f": NAME}).model_copy(update={"deadline": soon})) as person:
        await person.sees("Expires in 0:41")
        await person.sees("Expires in 0:40")
    later = soon + timedelta(minutes=5)
    async with asking(form({"f": NAME}).model_copy(update={"deadline": later})) as person:
        await person.sees("Expires in 5:")
    much_later = soon + timedelta(hours=26)
    async with asking(form({"f": NAME}).model_copy(update={"deadline": much_later})) as person:
        await person.sees("Expires in 26:00:")


async def test_the_deadline_is_extended_by_a_key() -> None:
    now = datetime.now(timezone.utc)
    extended: list[datetime] = []
    soon = now + timedelta(seconds=50)
    request = with_deadline(form({"f": NAME}), soon, now + timedelta(seconds=80), extended.append)
    async with asking(request) as person:
        await person.sees("Expires in 0:4", "F5 More time")
        await person.types("Ann", F5)
        await person.sees("Expires in 1:1")
        assert extended == [now + timedelta(seconds=80)]
        await person.types(F5)
        await person.sees("The time cannot be extended.", "|  Ann")
    assert extended == [now + timedelta(seconds=80)]


async def test_the_key_for_more_time_is_not_shown_when_there_is_none() -> None:
    now = datetime.now(timezone.utc)
    request = with_deadline(form({"f": NAME}), now + timedelta(seconds=40), now + timedelta(seconds=50))
    async with asking(request) as person:
        await person.sees("Expires in 0:3", "F5 More time")
        await person.types("Ann", F5)
        await person.sees("Expires in 0:4")
        assert not any("F5" in line for line in person.lines)


async def test_the_key_for_more_time_moves_the_deadline_of_the_policy() -> None:
    async def ask(request: Request) -> Answer:
        async with asking(request) as person:
            before = anyio.current_effective_deadline()
            await person.sees("Expires in 0:4")
            await person.types("Ann", F5)
            await person.sees("Expires in 1:3")
            assert anyio.current_effective_deadline() == pytest.approx(before + 50, abs=0.1)
            await person.types(SENT)
            return await person.done()

    answer = await answer_timeout(50)(ask)(form({"f": NAME}))

    assert answer.content == {"f": "Ann"}


async def test_a_click_moves_the_focus_only_if_the_host_uses_the_mouse() -> None:
    asked = {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}}
    click = "\x1b[<0;10;{0}M\x1b[<0;10;{0}m"
    for mouse in (False, True):
        async with asking(form(asked), mouse=mouse) as person:
            row = next(at for at, line in enumerate(person.lines, 1) if "| c" in line)
            await person.types(click.format(row), "typed")
            await person.sees(">✓ | c |  typed" if mouse else ">✓ | a |  typed")


async def test_a_click_below_the_fields_does_not_move_the_focus() -> None:
    async with asking(form({"a": NAME, "b": NAME}), mouse=True) as person:
        row = next(at for at, line in enumerate(person.lines, 1) if "Esc Cancel" in line)
        await person.types(f"\x1b[<0;10;{row}M\x1b[<0;10;{row}m", "typed")
        await person.sees("Field 1 of 2", ">✓ | Your name |  typed")


async def test_f1_shows_the_details_of_a_field() -> None:
    field = {"type": "string", "title": "Code", "pattern": "^[A-Z]+$"}
    async with asking(form({"the_code": field})) as person:
        assert "the_code" not in person.shown
        await person.types(F1)
        await person.sees("Field name:\n   | the_code", "Pattern:\n   | ^[A-Z]+$", "Text after | comes from")


@pytest.mark.parametrize(("options", "key"), [(["a", "b"], BACKSPACE), (MANY["enum"], F2)])
async def test_the_details_name_the_key_that_clears_a_selection(options: list[str], key: str) -> None:
    async with asking(form({"f": {"enum": options, "default": options[1]}})) as person:
        await person.types(F1)
        await person.sees("F2 clear" if key == F2 else "Backspace clear")
        await person.types(key, SENT)
        assert (await person.done()).content == {}


@pytest.mark.parametrize(
    ("field", "keys"), [({"enum": ["a", "b"]}, "Space, Backspace"), ({"type": "boolean"}, "y/n/Space")]
)
async def test_a_letter_without_effect_lists_the_keys(field: dict[str, Any], keys: str) -> None:
    async with asking(form({"f": field, "g": {"type": "string"}})) as person:
        await person.types("z")
        await person.sees(f"Press one of these keys: {keys}")
        await person.types(TAB)
        assert "Press one of" not in person.shown


async def test_a_key_and_its_hint_are_in_one_line() -> None:
    async with asking(form({"f": {"type": "string", "title": "Name"}}), columns=40) as person:
        await person.types(F1)
        await person.sees("\n Tab/Shift+Tab move   Ctrl+Z undo\n PgUp/PgDn scroll\n")


async def test_the_details_show_the_keys_where_the_focus_is() -> None:
    asked = {f"f{at}": {"type": "string", "maxLength": 500} for at in range(64)}
    async with asking(form(asked), rows=12) as person:
        await person.types(F1)
        await person.sees("Ctrl+J new line", "PgUp/PgDn scroll")
        await person.types(PAGE_DOWN, TAB)
        await person.sees("Ctrl+J new line", "PgUp/PgDn scroll")


async def test_escape_hides_the_details_before_it_cancels() -> None:
    for request in (form({"f": NAME}), form({"f": {"type": "boolean"}}), visit()):
        async with asking(request) as person:
            await person.sees("Esc Cancel")
            await person.types(F1)
            await person.sees("Text after | comes from the server.", "Ctrl+C Cancel")
            await person.types(ESCAPE)
            assert "Text after" not in person.shown
            await person.sees("Esc Cancel")
            await person.types(ESCAPE)
            assert (await person.done()).action == "cancel"


async def test_a_filter_shows_matching_options() -> None:
    async with asking(form({"f": MANY})) as person:
        await person.sees("40 of 40 options", "… 33 more")
        await person.types("3")
        await person.sees("13 of 40 options")
        await person.types("33")
        await person.sees("No matching options")
        await person.types(*[BACKSPACE] * 3, ENTER, SENT)
        assert (await person.done()).content == {}


@pytest.mark.parametrize(
    ("keys", "selected"),
    [
        (["town 17", ENTER], ["town 17"]),
        (["town 17", " ", ENTER], ["town 17"]),
        (["town 17", " ", " ", ENTER], None),
        (["town 17", " ", BACK_TAB, TAB, "town 17", ENTER], ["town 17"]),
        ([DOWN, ENTER], None),
        ([" ", DOWN, " ", "town 17", ENTER, ENTER], ["town 0", "town 1"]),
    ],
)
async def test_enter_selects_the_option_that_was_typed_among_several(
    keys: list[str], selected: list[str] | None
) -> None:
    asked = {"type": "array", "items": {"enum": [f"town {at}" for at in range(40)]}, "maxItems": 2}
    async with asking(form({"f": asked, "other": NAME})) as person:
        await person.types(*keys)
        await person.sees("Field 2 of 2")
        await person.types(SENT)
        assert (await person.done()).content == ({"f": selected} if selected else {})


async def test_an_option_too_many_keeps_the_focus_in_its_field() -> None:
    asked = {"type": "array", "items": {"enum": [f"town {at}" for at in range(40)]}, "maxItems": 1}
    async with asking(form({"f": asked, "other": NAME})) as person:
        await person.types(" ", "town 17", ENTER)
        await person.sees("You can select at most 1 option.", "Field 1 of 2")


@pytest.mark.parametrize("asked", [{**MANY, "default": "town 0"}, {"type": "array", "items": MANY}])
async def test_enter_does_not_leave_a_filter_without_matching_options(asked: dict[str, Any]) -> None:
    async with asking(form({"f": asked, "other": NAME})) as person:
        await person.types("nowhere", ENTER, ENTER)
        await person.sees("nowhere", "No matching options", "Field 1 of 2")
        await person.types(*[BACKSPACE] * 7, ENTER)
        await person.sees("Field 2 of 2")


@pytest.mark.parametrize("typed", ["town 17", "nowhere"])
@pytest.mark.parametrize("key", [SEND, TAB, BACK_TAB])
@pytest.mark.parametrize("asked", [{**MANY, "default": "town 0"}, {"type": "array", "items": MANY}])
async def test_text_in_a_filter_that_selected_nothing_needs_attention(
    asked: dict[str, Any], key: str, typed: str
) -> None:
    async with asking(form({"f": asked, "other": NAME})) as person:
        await person.types(typed, key, SEND)
        await person.sees(typed, "Select one of the options.", "1 field needs attention", "Field 1 of 2")
        await person.types(*[BACKSPACE] * len(typed))
        assert "Select one" not in person.shown
        await person.types(SENT)
        assert (await person.done()).sources == ({"f": "default"} if "default" in asked else {})


@pytest.mark.parametrize("typed", ["town 17", "nowhere"])
async def test_f2_clears_the_text_in_a_filter_before_the_selection(typed: str) -> None:
    asked = {"type": "array", "items": MANY, "default": ["town 0"]}
    async with asking(form({"f": asked, "other": NAME})) as person:
        await person.types(typed, F2)
        await person.sees("40 of 40 options", "1 selected")
        await person.types(F2)
        await person.sees("0 selected")
        assert "none selected" not in person.shown
        await person.types(F2, ENTER)
        await person.sees("(none selected)", "Field 2 of 2")


@pytest.mark.parametrize("typed", ["oster", "ÖSTER", "cote", "Cote d’"])
async def test_a_filter_finds_options_with_or_without_their_accents(typed: str) -> None:
    countries = ["Österreich", "Côte d’Ivoire", *(f"Country{at}" for at in range(9))]
    async with asking(form({"f": {"type": "string", "enum": countries}})) as person:
        await person.types(typed)
        await person.sees("1 of 11 options")
        await person.types(ENTER, SENT)
        assert (await person.done()).content == {"f": countries["c" in typed.casefold()]}


async def test_text_is_pasted_into_the_filter() -> None:
    async with asking(form({"f": MANY})) as person:
        await person.types("\x1b[200~town\r\n17\x1b[201~")
        await person.sees("1 of 40 options")
        await person.types(ENTER, SENT)
        assert (await person.done()).content == {"f": "town 17"}


KOREA = ["South Africa", "South Korea", "North Korea", *(f"Country{at}" for at in range(9))]


@pytest.mark.parametrize(
    ("keys", "selected"),
    [
        (["south korea", " "], ["South Korea"]),
        (["south", " ", "korea", " ", BACKSPACE], ["South Korea"]),
        (["south", DOWN, " "], ["South Korea"]),
        (["south", " ", " "], ["South Africa"]),
        (["korea", " ", DOWN, " "], ["South Korea", "North Korea"]),
        ([" "], ["South Africa"]),
        (["nowhere", " ", *[BACKSPACE] * 7], None),
    ],
)
async def test_a_space_in_the_name_of_an_option_is_typed_into_the_filter(
    keys: list[str], selected: list[str] | None
) -> None:
    async with asking(form({"f": {"type": "array", "items": {"enum": KOREA}}})) as person:
        await person.types(*keys, SEND)
        await person.sees("Check your answers")
        await person.types(ENTER)
        assert (await person.done()).content == ({} if selected is None else {"f": selected})


async def test_a_long_form_scrolls() -> None:
    asked = {f"f{at}": {"type": "string", "title": f"Field {at}"} for at in range(64)}
    async with asking(form(asked), rows=12) as person:
        await person.sees("Field 1 of 64", "more below")
        await person.types(PAGE_DOWN)
        assert "Hello" not in person.shown
        await person.sees("Field 6 of 64", ">  | Field 5", "51 more below")
        await person.types(PAGE_DOWN, PAGE_UP, PAGE_UP)
        await person.sees("Hello", "Field 1 of 64")
        await person.types(BACK_TAB, BACK_TAB)
        await person.sees("Field 64 of 64", "more above")
        await person.types("last", SENT)
        await person.sees("Check your answers", "Enter scroll", "> Ctrl+S Send")
        await person.types(*[ENTER] * 9)
        await person.sees("| Field 63 |  last", "Press Enter to confirm: Send")
        await person.types(ENTER)
        assert (await person.done()).content == {"f63": "last"}


EVIL = "\x1b[2J\u202e\nmail asks you for nothing.\r"
WIDE = {
    "wide": "日本語" * 66,
    "marks": "e\u0301\u0302\u0303\u0304" * 40,
    "rtl": "שלום עולם " * 20,
    "emoji": "👩\u200d🚀" * 60,
    "evil": EVIL * 5,
}


@pytest.mark.parametrize("columns", [8, 20, 50, 80])
@pytest.mark.parametrize("text", WIDE.values(), ids=WIDE)
async def test_server_text_never_leaves_its_gutter(text: str, columns: int) -> None:
    text = text[:200]
    schema: dict[str, Any] = {
        f"{text}{at}": {"type": "string", "title": text, "description": text, "default": text} for at in range(3)
    }
    schema["c"] = {"title": text, "enum": [f"{at}{text}"[:200] for at in range(256)]}
    schema["m"] = {"type": "array", "title": text, "items": {"enum": [text, "b"]}, "default": [text]}
    schema["l"] = {"type": "array", "title": text, "items": {"type": "string"}, "default": [text]}
    request = parse_request(form_params({"properties": schema}, text), server="mail", tool=text)
    async with asking(request, columns=columns, rows=24) as person:
        seen = [person.shown]
        for key in [F1, *[TAB] * 4, DOWN, *[TAB] * 5, PAGE_UP, PAGE_UP]:
            await person.types(key)
            seen.append(person.shown)
        await person.types(SEND)
        seen.append(person.shown)
        await person.types(*LEAVE)
        assert (await person.done()).action == "cancel"

    shown = "\n".join(seen)
    assert not [each for each in shown if each in "\x1b\r\u202e"]
    assert not [line for line in shown.split("\n") if "mail asks you for nothing" in line.partition("|")[0]]


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
HEART = "\u2764\ufe0f"


async def test_joined_emoji_are_shown_one_by_one_while_they_are_edited() -> None:
    async with asking(form({"f": NAME, FAMILY: NAME})) as person:
        await person.types(FAMILY, HEART, "x")
        await person.sees("| Your name |  \U0001f468\U0001f469\U0001f467\u2764x\n")
        row, end = person.cursor
        columns = []
        for _ in range(9):  # each character of the text
            await person.types(LEFT)
            columns.append(end - person.cursor[1])
        assert columns == [1, 1, 2, 4, 4, 6, 6, 8, 8]
        assert person.cursor[0] == row

        await person.types(SEND, SEND)
        assert (await person.done()).content == {"f": f"{FAMILY}{HEART}x"}


async def test_the_cursor_stands_on_the_character_before_which_text_is_inserted() -> None:
    async with asking(form({"f": NAME, "g": NAME}), columns=40) as person:
        await person.types("0123456789" * 3)
        places = []
        for _ in range(30):
            await person.types(LEFT)
            row, column = person.cursor
            places.append(person.lines[row][column])

    assert "".join(places) == "9876543210" * 3


@pytest.mark.parametrize(
    ("title", "is_disputed"), [("Zoë", False), ("お名前", False), ("नाम", True), ("👍🏽", True), ("ชื่อ", True)]
)
async def test_whole_lines_are_written_where_terminals_do_not_agree_on_columns(title: str, is_disputed: bool) -> None:
    written = io.StringIO()
    output = Vt100_Output(written, lambda: Size(rows=40, columns=80), term="xterm", enable_cpr=False)
    request = form({"a": {"type": "string", "title": title}, "b": NAME})
    async with asking(request, output=output) as person:
        for key in (TAB, "x", "y"):
            before = len(written.getvalue())
            await person.types(key)
        changed = written.getvalue()[before:]
        await person.types(*LEAVE)
        await person.done()

    assert (changed.count("\r\x1b[2K") > 3) == ("Your name" in changed) == is_disputed


@pytest.mark.parametrize("text", ["क्\u200dष", "می\u200cخواهم", "ශ්\u200dරී"])
async def test_joiners_of_letters_are_kept(text: str) -> None:
    field = {"type": "string", "title": text, "default": text}
    async with asking(form({"f": field, "g": field})) as person:
        await person.sees(f"| {text} |  {text}\n")


@pytest.mark.parametrize("bar", ["|", "\u2502", "\uff5c"])
async def test_a_label_cannot_imitate_the_mark_before_a_value(bar: str) -> None:
    name = {"type": "string", "title": f"Name {bar}  checked"}
    plan = {
        "title": f"Plan {bar}  {'chosen ' * 9}",
        "enum": [f"Free {bar}  (x) Pro"],
        "description": f"All {bar}  of it",
    }
    async with asking(form({"f": name, "g": plan})) as person:
        await person.sees("| Name \u00a6  checked")
        await person.types(TAB, F1)
        await person.sees("| Plan \u00a6  chosen", "| All \u00a6  of it", "( ) Free \u00a6  (x) Pro", "| - Free \u00a6")
        await person.types(F1, " ", SEND)
        await person.sees("Check your answers", "| Name \u00a6", "| Plan \u00a6")


async def test_flags_are_shown_as_letters_in_labels_and_options() -> None:
    options = {"title": "\U0001f1eb\U0001f1f7 Home", "enum": ["\U0001f1e9\U0001f1ea Germany"]}
    async with asking(form({"f": options})) as person:
        await person.sees("| FR Home", "( ) DE Germany")
        await person.types(" ")
        await person.sees("|  DE Germany")


@pytest.mark.parametrize("hidden", ["\u200d", "a\u200db", "\ufe0f", "\u202eb", "a\ufe0f", f"{FAMILY}\u200d"])
async def test_characters_that_hide_text_are_escaped_while_they_are_edited(hidden: str) -> None:
    async with asking(form({"f": NAME})) as person:
        await person.types(f"\x1b[200~{hidden}\x1b[201~")
        await person.sees("\\u{")


async def test_an_option_with_a_blank_label_is_shown_and_found_by_typing() -> None:
    async with asking(form({"f": {"enum": ["", *map(str, range(9))]}, "g": NAME})) as person:
        await person.sees("( ) (empty)")
        await person.types("empt", ENTER)
        await person.sees("|  (empty)")
        await person.types(SENT)
        assert (await person.done()).content == {"f": ""}


async def test_a_field_that_is_longer_than_the_terminal_is_read_with_page_down() -> None:
    long = {"type": "string", "minLength": 5, "description": "One more line.\n" * 20}
    async with asking(form({"f": long, "g": NAME}), columns=40, rows=12) as person:
        await person.types(F1)
        assert "Field name:" not in person.shown
        for _ in range(4):
            await person.types(PAGE_DOWN)
        await person.sees("Field name:", "Field 1 of 2")
        await person.types("c")
        await person.sees("| f         |  c")


async def test_an_error_is_visible_however_long_the_description_is() -> None:
    long = {"type": "string", "minLength": 5, "description": "One more line.\n" * 20}
    async with asking(form({"f": long, "g": NAME}), columns=40, rows=12) as person:
        await person.types("ab")
        await person.sees("| f         |  ab", "! Enter at least 5 characters.")


async def test_the_form_follows_the_size_of_the_window() -> None:
    async with asking(form({"f": NAME, "g": OPTIONS})) as person:
        for columns, rows in [(20, 10), (200, 50), (5, 3), (80, 24)]:
            person.resizes(columns, rows)
            await person.types("x")
        await person.sees("xxxx")


async def test_the_option_that_is_pointed_at_is_shown_in_full_among_options_that_begin_alike() -> None:
    paths = [f"/srv/files/of/the/company/{'archive/' * 5}{name}.txt" for name in ("alpha", "beta", "gamma")]
    async with asking(form({"f": {"type": "string", "enum": paths}, "other": NAME}), columns=50) as person:
        assert "beta" not in person.shown
        await person.types(DOWN, DOWN)
        assert "beta.txt" in person.shown and "alpha" not in person.shown
        assert all(line.startswith("   | ") for line in person.lines if "archive" in line)
        await person.types(UP)
        assert "alpha.txt" in person.shown and "beta" not in person.shown


@pytest.mark.parametrize("keys", [[DOWN] * 7, ["1"] + [DOWN] * 4], ids=["by arrow", "by filter"])
@pytest.mark.parametrize("description", ["", "One more line.\n" * 20], ids=["short", "long"])
async def test_the_option_that_is_pointed_at_is_visible_in_a_small_window(keys: list[str], description: str) -> None:
    async with asking(form({"f": {**MANY, "description": description}, "g": NAME}), rows=9) as person:
        for key in keys:
            await person.types(key)
            await person.sees(" | > ( ) town")


async def test_all_lines_of_the_option_that_is_pointed_at_are_visible_in_a_small_window() -> None:
    towns = [f"{'a town with a long name ' * 4}town-{at}" for at in range(9)]
    async with asking(form({"f": {"type": "string", "enum": towns}, "other": NAME}), columns=60, rows=9) as person:
        for at in range(7):
            await person.types(DOWN)
            assert f"town-{at}" in person.shown and "> ( )" in person.shown


@pytest.mark.parametrize("typed", ["some text", "日本語日本語"])
async def test_the_marks_of_server_text_stay_visible_in_a_narrow_window(typed: str) -> None:
    async with asking(form({"f": NAME, "g": NAME}), columns=8, rows=24) as person:
        await person.types(typed)
        await person.sees("   | Hel")
        person.resizes(80, 24)
        await person.sees("   | Hello", f">✓ | Your name |  {typed}")


async def test_a_long_label_is_readable_beside_short_ones() -> None:
    terms = {"type": "boolean", "title": f"I agree to {'the terms ' * 9}"}
    async with asking(form({"a": {"type": "string", "title": "Age"}, "b": terms})) as person:
        await person.sees("| Age                          |", "| I agree to the terms the te… |")


URL = {"mode": "url", "message": "Please sign in", "url": "https://login.example.com/a?b=c", "elicitationId": "e"}


class Finished:
    def __init__(self, *, finished: bool) -> None:
        self.finished = anyio.Event()
        if finished:
            self.finished.set()

    def is_finished(self) -> bool:
        return self.finished.is_set()

    async def wait(self) -> None:
        await self.finished.wait()


def visit(
    completion: Finished | None = None, visits: int = 0, protocol_version: str = "2025-11-25", **params: Any
) -> UrlRequest:
    rules = UrlRules(allow_loopback=True)
    request = parse_request({**URL, **params}, server="mail", protocol_version=protocol_version, url_rules=rules)
    assert isinstance(request, UrlRequest)
    return with_completion(request.model_copy(update={"previous_visits": visits}), completion)


async def press(person: Person, label: str) -> None:
    """Press the key of the action *label*."""
    await person.sees(label)
    await person.types(re.findall(rf"(\w) {label}", person.shown)[0])


async def test_the_full_url_is_shown_with_its_domain() -> None:
    opened: list[str] = []
    async with asking(visit(), opened=opened) as person:
        assert person.lines[0].startswith("─ mail asks you to open example.com ─")
        await person.sees("   | https://login.example.com/a?b=c")
        await person.types(ENTER, " ", "pen", ENTER, SEND)
        await person.sees("Press one of these keys: o, s, d")
        assert person.answer is None
    assert opened == []


async def test_a_url_is_opened_after_consent() -> None:
    opened: list[str] = []
    async with asking(visit(), opened=opened) as person:
        await press(person, "Open example.com")
        answer = await person.done()

    assert (answer.to_wire(), answer.by, opened) == ({"action": "accept"}, "user", [URL["url"]])
    assert "If no page opens" in person.screen.told


async def test_with_warnings_a_url_is_opened_by_two_different_keys() -> None:
    opened: list[str] = []
    async with asking(visit(url="https://xn--pple-43d.com/x"), opened=opened) as person:
        await person.sees("! ", " d Decline   o Open xn--pple-43d.com")
        await person.types(ENTER, "o", "o", "o")
        await person.sees("> o Open", "Press Enter to confirm: Open xn--pple-43d.com")
        assert (person.answer, opened) == (None, [])
        await person.types(ENTER)
        assert ((await person.done()).action, opened) == ("accept", ["https://xn--pple-43d.com/x"])


async def test_a_url_is_opened_only_after_all_of_it_was_visible() -> None:
    opened: list[str] = []
    request = visit(url="https://xn--pple-43d.com/x?" + "a=1&" * 40 + "last=true", message="line\n" * 10)
    async with asking(request, columns=30, rows=12, opened=opened) as person:
        await person.sees("o Open")
        await person.types("o")
        await person.sees("Enter scroll", "> o Open")
        seen = ""
        while "last=true" not in seen:
            assert opened == []
            await person.types(ENTER)
            await person.sees("> o Open")
            seen += re.sub(r"[\s|]", "", person.shown)
        await person.sees("Press Enter to confirm")
        assert "https://xn--pple-43d.com/x?a=1&a=1" in seen
        await person.types(ENTER)
        assert ((await person.done()).action, opened) == ("accept", [request.target.url])


@pytest.mark.parametrize(("key", "action"), [("d", "decline"), (CANCEL, "cancel"), (ESCAPE, "cancel")])
async def test_a_url_request_can_be_declined_or_cancelled_at_each_step(key: str, action: str) -> None:
    for request in (visit(), visit(protocol_version="2026-07-28", visits=1)):
        async with asking(request) as person:
            await person.types(key)
            assert (await person.done()).action == action


async def test_blocking_is_offered_for_urls() -> None:
    request = visit().model_copy(update={"can_block": True})
    async with asking(request) as person:
        await person.types(F4, "y")
        answer = await person.done()
    assert (answer.action, answer.block_server) == ("decline", True)


async def test_the_request_waits_until_the_user_has_finished() -> None:
    opened: list[str] = []
    async with asking(visit(protocol_version="2026-07-28"), opened=opened) as person:
        await press(person, "Open example.com")
        await person.sees('Select "I have finished" when you are done at example.com.')
        await press(person, "Open again")
        await person.sees('Select "I have finished" when you are done at example.com.')
        await press(person, "I have finished")
        assert (await person.done()).action == "accept"
    assert opened == [URL["url"]] * 2


async def test_a_reported_completion_ends_the_wait() -> None:
    completion = Finished(finished=False)
    async with asking(visit(completion, visits=1, protocol_version="2026-07-28")) as person:
        await person.sees("mail reports that you have not finished at example.com")
        completion.finished.set()
        answer = await person.done()

    assert (answer.action, answer.by) == ("accept", "user")
    assert person.screen.told.endswith("mail reports that you have finished.\n")


async def test_a_reported_completion_is_not_consent() -> None:
    async with asking(visit(Finished(finished=True))) as person:
        await person.types("d")
        assert (await person.done()).action == "decline"


async def test_the_url_is_copied_only_if_the_host_allows_it() -> None:
    opened: list[str] = []
    async with asking(visit()) as person:
        assert "Copy" not in person.shown
    async with asking(visit(), copies=True, opened=opened) as person:
        await press(person, "Copy link")
        await person.sees("Link copied.", "when you are done at example.com")
    assert opened == [f"copied {URL['url']}"]


async def test_without_a_browser_the_url_is_shown_with_a_qr_code() -> None:
    async with asking(visit(), opens=False, rows=30) as person:
        await press(person, "Open example.com")
        await person.sees("Could not open a browser", "▄")
    assert f"\n{URL['url']}\n" in person.screen.told


async def test_a_qr_code_is_shown_while_it_fits() -> None:
    async with asking(visit(url=f"{URL['url']}&state={'x' * 150}"), opens=False, rows=24) as person:
        await press(person, "Open example.com")
        await person.sees("Could not open a browser", "I have finished")
        assert "▄" not in person.shown
        for columns, rows, fits in ((80, 60, True), (40, 60, False), (80, 60, True)):
            person.resizes(columns, rows)
            await person.sees("Could not open a browser", "I have finished")
            assert ("▄" in person.shown) == ("Open this URL on this or another device:" in person.shown) == fits
        await press(person, "I have finished")
        assert (await person.done()).action == "accept"


@pytest.mark.skipif(importlib.util.find_spec("babel") is None, reason="the extra languages is not installed")
async def test_a_translation_is_used_everywhere() -> None:
    german = MessageCatalog.for_language("de")
    request = form({"f": {"type": "boolean", "title": "Frage"}, "n": {"type": "integer"}}, "f")
    async with asking(request, catalog=german) as person:
        await person.sees("mail bittet um 2 Antworten", "( ) ja", "Feld 1 von 2", "Enter Weiter")
        await person.types("j", TAB, "x")
        await person.sees("! Geben Sie eine ganze Zahl ein.")
        await person.types(BACKSPACE, SEND)
        await person.sees("Frage |  ja", "n     |  (nicht angegeben)", "Ihre Antworten werden an mail gesendet.")
        await person.types(SEND)
        assert (await person.done()).content == {"f": True}


async def test_a_note_in_the_review_is_shown_in_full_or_not_at_all() -> None:
    japanese, found = MessageCatalog.for_language("ja"), set()
    request = form({"f": {"type": "string"}, "g": {"type": "string"}})
    drafts = Drafts()
    async with asking(request, drafts=drafts) as person:
        await person.types("Ann")
        await person.sees("Ann")
    for columns in range(26, 40):
        async with asking(request, columns=columns, catalog=japanese, drafts=drafts) as person:
            await person.types(SEND)
            await person.sees("送信")
            (row,) = [each for each in person.lines if "Ann" in each]
            found.add(row.partition("Ann")[2].replace(" ", ""))
    assert found == {"", "(復元した下書き)"}


async def test_a_host_replaces_texts() -> None:
    pirate = MessageCatalog(overrides={messages.YES.text: "aye", messages.YES_KEYS.text: "aA"})
    async with asking(form({"f": {"type": "boolean"}, "g": {"type": "string"}}), catalog=pirate) as person:
        await person.sees("( ) aye")
        await person.types("a", SENT)
        assert (await person.done()).content == {"f": True}


@pytest.mark.parametrize(
    ("environment", "theme"),
    [
        ({}, DARK),
        ({"NO_COLOR": "1"}, PLAIN),
        ({"NO_COLOR": ""}, DARK),
        ({"COLORFGBG": "0;15"}, LIGHT),
        ({"COLORFGBG": "15;0"}, DARK),
    ],
)
def test_the_environment_selects_the_theme(environment: dict[str, str], theme: Theme) -> None:
    assert theme_of(environment) is theme


async def test_no_color_disables_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted in ("", "1"):
        monkeypatch.setenv("NO_COLOR", wanted)
        written = io.StringIO()
        output = Vt100_Output(written, lambda: Size(rows=40, columns=80), term="xterm", enable_cpr=False)
        with create_pipe_input() as keyboard:
            app = TerminalApp(input=keyboard, output=output)
            task = asyncio.ensure_future(app.show(FormView(app, form({"f": {**NAME, "description": "d"}}, "f"))))
            while "Cancel" not in written.getvalue():
                await anyio.sleep(0.001)
            task.cancel()
            await asyncio.wait([task])
        colored = re.findall(r"\x1b\[[0-9;]*?;(?:3|9)[0-7](?:;[0-9;]*)?m", written.getvalue())
        assert bool(colored) == (not wanted)
        assert "38;2" not in written.getvalue()


class Broken(FormView):
    def handle_key(self, key: str, data: str) -> None:
        raise RuntimeError("broken")


async def test_an_exception_in_the_form_is_raised() -> None:
    request = form({"f": {"type": "boolean"}, "g": {"type": "string"}})
    with create_pipe_input() as keyboard:
        app = TerminalApp(input=keyboard, output=Screen())
        task = asyncio.ensure_future(app.show(Broken(app, request)))
        keyboard.send_text("y")
        with pytest.raises(RuntimeError, match="broken"):
            await task


@pytest.mark.parametrize(
    ("environment", "width", "wanted"),
    [
        ({"TERM": "xterm"}, 80, True),
        ({"TERM": "xterm"}, 19, False),
        ({"TERM": "dumb"}, 80, False),
        ({"TERM": "dumb", "MCP_ELICIT_UI": "interactive"}, 80, True),
        ({"TERM": "unknown"}, 80, False),
        ({}, 80, False),
        ({"TERM": "xterm", "MCP_ELICIT_UI": "line"}, 80, False),
        ({"TERM": "xterm", "MCP_ELICIT_UI": " Line "}, 80, False),
        ({"TERM": "xterm", "MCP_ELICIT_UI": "whatever"}, 80, True),
    ],
)
async def test_the_interactive_form_is_used_if_the_terminal_supports_it(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], width: int, wanted: bool
) -> None:
    for name in ("TERM", "MCP_ELICIT_UI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert _is_interactive(width, "UTF-8") == wanted


@pytest.mark.parametrize(("choice", "times"), [("lines", 1), ("browser", 0), ("line", 0), ("", 0)])
async def test_an_unknown_user_interface_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, choice: str, times: int
) -> None:
    _warn_of_unknown.cache_clear()
    monkeypatch.setenv("MCP_ELICIT_UI", choice)

    assert _is_interactive(80, "utf-8") == _is_interactive(80, "utf-8")

    assert caplog.text.count("MCP_ELICIT_UI='lines' is unknown and has no effect") == times == len(caplog.records)


async def test_forcing_the_interactive_form_requires_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setenv("TERM", "xterm")
    assert not _is_interactive(80, "utf-8")
    monkeypatch.setenv("MCP_ELICIT_UI", "interactive")
    with pytest.raises(MissingExtraError, match=r"mcp-elicit-client\[terminal\]") as caught:
        _is_interactive(80, "utf-8")
    assert caught.value.extra == "terminal"


def test_trio_uses_line_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")

    async def ask() -> bool:
        return _is_interactive(80, "utf-8")

    assert not anyio.run(ask, backend="trio")
    assert anyio.run(ask, backend="asyncio")


def test_importing_the_themes_does_not_import_prompt_toolkit() -> None:
    code = "import sys; import mcp_elicit_client.handlers.terminal.interactive; print('prompt_toolkit' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_a_request_gets_the_terminal_without_loading_the_backend_of_anyio() -> None:
    code = """
import asyncio, sys
from mcp_elicit_client.handlers.terminal.terminal import terminal

async def main():
    async with terminal():
        print("anyio._backends._asyncio" in sys.modules)

asyncio.run(main())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


async def test_output_of_the_host_appears_above_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    handler = logging.StreamHandler(terminal)
    logging.getLogger("host").addHandler(handler)
    with create_pipe_input() as keyboard:
        app = TerminalApp(input=keyboard, output=Screen())
        with lines_above(terminal) as above:
            app.view = FormView(app, form({"f": NAME}))
            application = app.application = app._build(keyboard, Screen())
            above.show(application)
            task = asyncio.ensure_future(application.run_async())
            while not application.render_counter:
                await anyio.sleep(0.001)
            logging.getLogger("host").warning("logged")
            print("none", end="\r", flush=True)
            print("one", end="\r", flush=True)
            while "logged" not in terminal.getvalue():
                await anyio.sleep(0.001)
            assert terminal.getvalue() == "logged\n"
            application.exit()
            await task
    logging.getLogger("host").removeHandler(handler)
    assert terminal.getvalue() == "logged\n\rone\r"
    assert sys.stdout is terminal
    assert handler.stream is terminal


@pytest.mark.parametrize("errors", ["strict", "surrogateescape", "backslashreplace"])
async def test_output_that_the_terminal_cannot_show_is_an_error_of_the_host_as_without_the_form(
    errors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    def written(text: str) -> bytes | str:
        try:
            print(text, end="", flush=True)
        except UnicodeEncodeError as error:
            return str(error)
        return b"written"

    shown = io.BytesIO(), io.BytesIO()
    terminal, plain = (Terminal(each, "utf-8", errors) for each in shown)
    monkeypatch.setattr(sys, "stdout", plain)
    without = written("before \udcff after")
    monkeypatch.setattr(sys, "stdout", terminal)
    with lines_above(terminal) as above, create_pipe_input() as keyboard:
        above.show(TerminalApp(input=keyboard, output=Screen())._build(keyboard, Screen()))
        assert written("before \udcff after") == without

    assert shown[0].getvalue() == shown[1].getvalue()


async def test_copying_through_the_terminal_requires_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    target = visit().target
    monkeypatch.setattr(sys, "__stdout__", io.StringIO())
    assert not await copy_through_terminal(target)
    terminal = Terminal()
    monkeypatch.setattr(sys, "__stdout__", terminal)
    assert await copy_through_terminal(target)
    assert terminal.getvalue() == f"\x1b]52;c;{base64.b64encode(target.url.encode()).decode()}\x07"


KEYS = [TAB, BACK_TAB, UP, DOWN, LEFT, RIGHT, BACKSPACE, NEWLINE, F1, F2, PAGE_UP, PAGE_DOWN, " ", "y", "n", "12", "ab"]


@pytest.mark.parametrize("seed", range(8))
async def test_random_keys_neither_accept_nor_crash(seed: int) -> None:
    chance = random.Random(seed)
    asked = {
        **{f"text{at}": {"type": "string"} for at in range(50)},
        **{f"number{at}": {"type": "number", "default": at} for at in range(5)},
        "boolean": {"type": "boolean"},
        "few": SEVERAL,
        "many": MANY,
        "huge": {"type": "array", "items": {"enum": [f"option {at}" for at in range(256)]}, "maxItems": 3},
        "list": {"type": "array", "items": {"type": "string", "pattern": "a"}},
        "date": {"type": "string", "format": "date-time"},
    }
    columns, rows = chance.choice([20, 60, 120]), chance.choice([5, 15, 50])
    async with asking(form(asked), columns=columns, rows=rows) as person:
        await person.types(*(chance.choice(KEYS) for _ in range(chance.randint(60, 90))))
        assert person.answer is None
        await person.types(*LEAVE)
        assert (await person.done()).action == "cancel"


async def test_in_a_very_small_terminal_an_error_takes_the_lines_of_keys_other_than_the_decline() -> None:
    mail = {"type": "string", "format": "email", "title": "Mail"}
    async with asking(form({"a": mail, "b": NAME}), columns=24, rows=8) as person:
        await person.sees("F3 Decline")
        await person.types("x")
        await person.sees("|  x", "! Enter an", "email address,", "F3 Decline")


async def test_a_draft_is_restored_after_the_user_cancelled() -> None:
    drafts = Drafts()
    async with asking(form({"a": NAME}), drafts=drafts) as person:
        await person.types("Ann", ESCAPE, "y")
        assert (await person.done()).action == "cancel"
    async with asking(form({"a": NAME}), drafts=drafts) as person:
        await person.sees("|  Ann", "Restored draft", "restored draft")
        await person.types(DECLINE, "y")
        assert (await person.done()).action == "decline"
    assert drafts.take(form({"a": NAME})) == {}


async def test_a_suggested_value_that_was_cleared_does_not_return_with_the_draft() -> None:
    drafts = Drafts()
    asked = {
        "a": {"type": "string", "default": "Ann"},
        "b": {"type": "boolean", "default": True},
        "c": {"type": "integer", "default": 4},
        "d": {**SEVERAL, "default": ["a"]},
        "e": {**OPTIONS, "default": "s"},
    }
    async with asking(form(asked), drafts=drafts) as person:
        for _ in asked:
            await person.types(F2, TAB)
        await person.types(ESCAPE, "y")
        assert (await person.done()).action == "cancel"
    async with asking(form(asked), drafts=drafts) as person:
        await person.sees("Restored draft")
        await person.types(SENT)
        assert (await person.done()).content == {}


async def test_a_restored_draft_is_checked_again() -> None:
    drafts = Drafts()
    asked = {"f": {"type": "string", "pattern": "^b"}}
    async with asking(form(asked), drafts=drafts) as person:
        await person.types("abc")
        await person.sees("! This does not have the required format.")
    async with asking(form(asked), drafts=drafts) as person:
        await person.sees("|  abc", "! This does not have the required format.")


async def test_a_long_message_is_shown_from_its_beginning() -> None:
    message = "\n".join(f"line {at}" for at in range(60))
    async with asking(form({"f": NAME}, message=message), rows=20) as person:
        await person.sees("  | line 0\n")
        await person.types("Ann")
        await person.sees("|  Ann")
        await person.types(PAGE_UP, PAGE_UP, PAGE_UP, PAGE_UP, PAGE_UP, PAGE_UP, PAGE_UP)
        await person.sees("  | line 0\n")
        await person.types(SENT)
        assert (await person.done()).content == {"f": "Ann"}


async def test_selections_are_restored() -> None:
    drafts = Drafts()
    asked = {"b": {"type": "boolean"}, "m": SEVERAL, "c": OPTIONS}
    async with asking(form(asked), drafts=drafts) as person:
        await person.types("n", TAB, DOWN, " ", TAB, SEND)
    async with asking(form(asked), drafts=drafts) as person:
        await person.types(SENT)
        assert (await person.done()).content == {"b": False, "m": ["a"]}


@pytest.mark.parametrize(
    "sequence",
    {
        "colors": "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
        "colors, ended by a bell": "\x1b]11;rgb:ffff/ffff/ffff\a",
        "focus": "\x1b[I",
        "kind": "\x1b[?1;2c",
        "version": "\x1bP>|foot(1.16)\x1b\\",
        "mode": "\x1b[?2026;2$y",
        "key of another protocol": "\x1b[121;5u",
        "keypad": "\x1bOM",
        "Alt+Y": "\x1by",
        "two": "\x1b[I\x1b[O",
    }.values(),
)
@pytest.mark.parametrize("typed", ["", "Ada"])
async def test_reports_of_the_terminal_and_keys_with_alt_are_neither_escape_nor_text(typed: str, sequence: str) -> None:
    request = parse_request(form_params({"properties": {"a": {"type": "string"}}, "required": ["a"]}), server="mail")
    async with asking(request) as person:
        await person.types(*typed, sequence, "!", SENT)
        assert (await person.done()).content == {"a": f"{typed}!"}


async def test_escape_is_the_key_that_was_read_alone_or_before_another_sequence() -> None:
    for keys in ((ESCAPE,), (f"{ESCAPE}{ESCAPE}",), (f"{ESCAPE}{DOWN}",)):
        async with asking(parse_request(form_params({"properties": {}}), server="mail")) as person:
            await person.types(*keys)
            assert (await person.done()).action == "cancel"
