from __future__ import annotations

import importlib.util
import os
import pty
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from mcp_elicit_client import Answer, FormRequest, TargetUrl, UrlRequest, UrlRules, parse_request
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.origin import write_origin
from mcp_elicit_client.core.request import BatchPosition, Request, with_completion, with_deadline
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.policies import Permissions, protect_secrets
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.quoting import columns, quote
from tests.support import form_params
from tests.support.console import CTRL_C, ScriptedConsole

pytestmark = pytest.mark.anyio

NAME = {"type": "string", "title": "Your name"}
URL = {"mode": "url", "message": "Please sign in", "url": "https://login.example.com/a?b=c", "elicitationId": "e"}


async def ask(schema: object, *lines: str, width: int = 80, **options: Any) -> tuple[Answer, ScriptedConsole]:
    console = ScriptedConsole(lines, width)
    request = parse_request(form_params(schema, "Hello"), server="mail", **options)
    answer = await TerminalHandler(console=console)(request)
    return check_answer(request, answer), console


async def content(properties: dict[str, Any], *lines: str, required: tuple[str, ...] = ()) -> Any:
    answer, console = await ask({"properties": properties, "required": list(required)}, *lines)
    assert answer.action == "accept", console.shown
    return answer.content


async def test_fields_are_asked_reviewed_and_sent() -> None:
    answer, console = await ask({"properties": {"name": NAME}, "required": ["name"]}, "Ann", "send")

    assert (answer.action, answer.content, answer.by) == ("accept", {"name": "Ann"}, "user")
    assert answer.sources == {"name": "user"}
    assert "1) Your name: Ann" in console.shown


async def test_server_text_has_a_gutter_and_host_text_comes_last() -> None:
    _, console = await ask({"properties": {"name": {**NAME, "description": "As in\nyour passport"}}})

    assert console.shown == (
        "\nmail asks for 1 answer\n  | Hello\nText after | comes from the server.\n"
        "Type /help for commands, or /decline or /cancel to stop.\n"
        "\nField 1 of 1\n  | Your name\n  | As in\n  | your passport\nText; optional\n"
        "mail: Enter: do not provide (/help): "
    )


@pytest.mark.parametrize(
    ("field", "typed", "value"),
    [
        ({"type": "string"}, " x ", " x "),
        ({"type": "string"}, "decline", "decline"),
        ({"type": "string"}, "/etc/passwd", "/etc/passwd"),
        ({"type": "string"}, "//decline", "/decline"),
        ({"type": "string"}, "///decline", "//decline"),
        ({"type": "string"}, "//x", "//x"),
        ({"type": "string"}, "/empty", ""),
        ({"type": "string"}, "x" * 600, "x" * 600),
        ({"type": "string", "format": "email"}, " a@b.example ", "a@b.example"),
        ({"type": "string", "format": "date"}, "2026-11-20", "2026-11-20"),
        ({"type": "string", "format": "date-time"}, "2026-11-20 14:30 +0100", "2026-11-20T14:30:00+01:00"),
        ({"type": "string", "format": "date-time"}, "2026-11-20T14:30:05.5z", "2026-11-20T14:30:05.5Z"),
        ({"type": "string", "format": "date-time"}, "2026-7-1 9:05 Europe/Berlin", "2026-07-01T09:05:00+02:00"),
        ({"type": "string", "format": "date-time"}, "2026-12-1 09:05 utc", "2026-12-01T09:05:00Z"),
        ({"type": "string", "format": "date-time"}, "2026-12-01T09:05:00-5", "2026-12-01T09:05:00-05:00"),
        ({"type": "string", "format": "date-time"}, "2016-12-31T23:59:60Z", "2016-12-31T23:59:60Z"),
        ({"type": "string", "format": "date"}, " 2026-1-5", "2026-01-05"),
        ({"type": "string", "format": "time"}, "9:05 +0100", "09:05:00+01:00"),
        (
            {"type": "string", "format": "uuid"},
            " 123e4567-e89b-12d3-a456-426614174000",
            "123e4567-e89b-12d3-a456-426614174000",
        ),
        ({"type": "integer"}, " 42 ", 42),
        ({"type": "integer"}, "42.0", 42),
        ({"type": "number"}, "-1.5e3", -1500.0),
        ({"type": "number"}, "7", 7),
        ({"type": "boolean"}, "Y", True),
        ({"type": "boolean"}, "no", False),
        ({"enum": ["s", "m"]}, "2", "m"),
        ({"enum": ["s", "m"], "enumNames": ["Small", "Medium"]}, "medium", "m"),
        ({"enum": ["s", "m"], "enumNames": ["Small", "Medium"]}, "s", "s"),
        ({"type": "integer", "enum": [3, 1]}, "1", 1),
        ({"oneOf": [{"const": "a", "title": "X"}, {"const": "b", "title": "X"}]}, "X (b)", "b"),
        ({"oneOf": [{"const": "a", "title": "Yes, all"}, {"const": "b", "title": "No"}]}, "yes, all", "a"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, "3, a", ["c", "a"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "a,a", ["a"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "/empty", []),
        ({"type": "array", "items": {"type": "string"}}, "x, y z", ["x", "y z"]),
    ],
)
async def test_typed_text_becomes_the_value(field: dict[str, Any], typed: str, value: Any) -> None:
    sent = await content({"f": field}, typed, "send")

    assert sent == {"f": value}
    assert type(sent["f"]) is type(value)


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ({"type": "integer"}, "12abc", "Enter a whole number."),
        ({"type": "integer"}, "1.5", "Enter a whole number."),
        ({"type": "integer"}, "9" * 400, "Enter a whole number."),
        ({"type": "integer"}, "9" * 20, "Enter a whole number between"),
        ({"type": "number"}, "nan", "Enter a number, such as 7.5."),
        ({"type": "number"}, "inf", "Enter a number, such as 7.5."),
        ({"type": "number"}, "1e999", "This number is out of range. Enter another number."),
        ({"type": "number", "maximum": 5}, "6", "Enter 5 or less."),
        ({"type": "boolean"}, "yikes", "Select yes or no."),
        ({"type": "string", "minLength": 3}, "ab", "Enter at least 3 characters."),
        ({"type": "string", "minLength": 3, "format": "email"}, "a", "Enter at least 3 characters."),
        ({"type": "string", "format": "email"}, "a", "Enter an email address"),
        ({"type": "string", "format": "date-time"}, "2026-11-20 14:30 Nowhere/Else", "This time zone is unknown."),
        ({"type": "string", "format": "date-time"}, "soon", "Enter a date and time"),
        ({"type": "string", "format": "date-time"}, "tomorrow", "Add a time"),
        ({"type": "string", "format": "date"}, "20.11.26", "Enter the year with four digits."),
        ({"type": "string", "format": "time"}, "9:05 Europe/Berlin", "Enter 09:05:00+01:00 or"),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, "abc", "This does not have the required format."),
        ({"enum": ["s", "m"]}, "3", "Select one of the options."),
        ({"enum": ["s", "S"]}, "x", "Select one of the options."),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}, "1,2", "Select at most 1 option."),
        ({"type": "array", "items": {"type": "string", "format": "uri"}}, "x", "Enter a URL"),
    ],
)
async def test_invalid_input_is_requested_again_with_the_reason(
    field: dict[str, Any], typed: str, message: str
) -> None:
    answer, console = await ask({"properties": {"f": field}}, typed, "/cancel")

    assert f" (/help): {typed}\n{message}" in console.shown
    assert console.shown.count(message) == 1
    assert (answer.action, answer.by) == ("cancel", "user")


@pytest.mark.parametrize("typed", ["Adda\x1b[D\x1b[D\x7f", "\x0c", "Ada\x01"])
async def test_a_line_with_keys_that_have_no_effect_is_ignored_and_the_user_is_told(typed: str) -> None:
    answer, console = await ask({"properties": {"f": {"type": "string"}}}, typed, "Ada\tB", "send")

    assert answer.content == {"f": "Ada\tB"}
    assert "keys that have no effect here" in console.shown


@pytest.mark.parametrize(
    "field",
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "array", "items": {"enum": ["a", "b"]}},
        {"type": "array"},
    ],
)
async def test_an_untouched_optional_field_is_omitted(field: dict[str, Any]) -> None:
    answer, console = await ask({"properties": {"f": field}}, "", "send")

    assert answer.content == {}
    assert "1) f: (not provided)" in console.shown


@pytest.mark.parametrize("default", ["", "x"])
async def test_enter_uses_the_suggested_value(default: str) -> None:
    answer, console = await ask({"properties": {"f": {"type": "string", "default": default}}}, "", "send")

    assert answer.content == {"f": default}
    assert answer.sources == {"f": "default"}
    assert f"1) f: {default or '(empty)'}\n    (suggested)\n" in console.shown


async def test_skip_omits_a_suggested_value() -> None:
    assert await content({"f": {"type": "boolean", "default": False}}, "/skip", "send") == {}


async def test_a_required_field_cannot_be_skipped() -> None:
    answer, console = await ask(
        {"properties": {"f": {"type": "integer"}, "t": {"type": "string"}}, "required": ["f", "t"]},
        *["/skip", "", "5", "", "/empty", "send"],
    )

    assert answer.content == {"f": 5, "t": ""}
    assert "This field is required" in console.shown
    assert "type an answer (/help): \nThis field is required.\nmail: type an answer (/help): 5" in console.shown
    assert "Type /empty to send empty text." in console.shown


async def test_back_returns_to_the_previous_field() -> None:
    fields = {"a": {"type": "string"}, "b": {"type": "string"}}

    assert await content(fields, "1", "/back", "2", "3", "send") == {"a": "2", "b": "3"}
    assert await content(fields, "/back", "1", "2", "send") == {"a": "1", "b": "2"}


async def test_the_review_edits_one_field() -> None:
    fields = {"a": {"type": "string"}, "b": {"type": "string"}}

    assert await content(fields, "1", "2", "edit 2", "3", "edit 9", "edit", "send") == {"a": "1", "b": "3"}


async def test_the_review_shows_line_breaks_that_cannot_look_like_other_answers() -> None:
    _, console = await ask({"properties": {"a": {"type": "string", "default": "x\n2) b: y"}}}, "", "send")

    assert "\n  | 1) a: x\n  |   | 2) b: y\n" in console.shown


@pytest.mark.parametrize(
    ("lines", "action", "by"),
    [
        (["/decline"], "decline", "user"),
        (["/cancel"], "cancel", "user"),
        ([CTRL_C], "cancel", "user"),
        ([], "cancel", "unattended"),
        (["x"], "cancel", "unattended"),
        (["x", "decline"], "decline", "user"),
        (["x", "cancel"], "cancel", "user"),
        (["x", CTRL_C], "cancel", "user"),
        (["x", "edit 1", "/decline"], "decline", "user"),
    ],
)
async def test_every_prompt_can_be_declined_or_cancelled(lines: list[str], action: str, by: str) -> None:
    answer, _ = await ask({"properties": {"f": {"type": "string"}}}, *lines)

    assert (answer.action, answer.by, answer.content) == (action, by, None)


@pytest.mark.parametrize("typed", ["", "ok", "send it", "sendx", "yess", "1", "/skip"])
async def test_only_a_word_for_sending_sends(typed: str) -> None:
    without_fields, _ = await ask({"properties": {}}, typed)
    with_field, _ = await ask({"properties": {"f": {"type": "string"}}}, "x", typed)

    assert (without_fields.action, with_field.action) == ("cancel", "cancel")


@pytest.mark.parametrize(
    ("typed", "action"), [("y", "accept"), ("YES", "accept"), ("s", "accept"), ("n", "decline"), ("d", "decline")]
)
async def test_a_form_without_fields_is_answered_by_one_letter(typed: str, action: str) -> None:
    answer, console = await ask({"properties": {}}, typed)

    assert answer.action == action
    assert answer.action == "decline" or answer.to_wire() == {"action": "accept", "content": {}}
    assert "mail asks you to confirm" in console.shown


@pytest.mark.parametrize(
    ("typed", "sent"), [("y", True), ("no", False), ("N", False), ("d", None), ("c", None), ("/cancel", None)]
)
async def test_a_single_yes_or_no_is_answered_by_one_letter(typed: str, sent: bool | None) -> None:
    answer, console = await ask({"properties": {"f": {"type": "boolean"}}}, typed)

    assert answer.content == (None if sent is None else {"f": sent})
    assert console.shown.endswith(f"mail: yes / no / decline / cancel; Enter: do not provide (/help): {typed}\n")


async def test_a_password_is_neither_echoed_nor_reviewed() -> None:
    answer, console = await ask({"properties": {"p": {"type": "string", "format": "password"}}}, "hunter2", "send")

    assert answer.content == {"p": "hunter2"}
    assert console.hidden[0]
    assert "1) p: (hidden)" in console.shown


async def test_many_options_are_listed_on_request() -> None:
    field = {"type": "string", "enum": [f"o{at}" for at in range(30)]}

    _, console = await ask({"properties": {"f": field}}, "/options", "/help", "30", "send")

    assert "10 more. Type /options to list all." in console.shown
    assert "| 30) o29" in console.shown
    assert "/decline: decline the request" in console.shown


async def test_unsupported_optional_fields_are_counted() -> None:
    _, console = await ask({"properties": {"f": {"type": "object"}}})

    assert "1 unsupported optional field was skipped." in console.shown


async def test_a_prompt_is_broken_between_words() -> None:
    _, console = await ask({"properties": {"f": {"type": "boolean", "default": True}}}, "no", "send", width=40)

    prompt = "mail: yes / no / decline / cancel;\n  Enter: use the suggested value;\n  /skip: do not provide (/help): "
    assert f"\n{prompt}no\n" in console.shown


async def test_server_text_is_sanitized_on_the_console() -> None:
    evil = "\x1b[2J\u202e\nmail asks you for nothing.\r"
    schema = {
        "properties": {
            evil: {"type": "string", "description": evil, "default": evil, "format": evil},
            "e": {"title": evil, "enum": [evil, "b"], "enumNames": [evil, "b"], "default": evil},
            "m": {"title": evil, "type": "array", "items": {"enum": [evil]}, "default": [evil]},
            "l": {"title": evil, "type": "array", "items": {"type": "string", "format": evil}, "default": [evil]},
        }
    }
    console = ScriptedConsole(["", "", "", "", "send"], width=40)
    request = parse_request(form_params(schema, evil), server="mail", tool=evil)

    answer = check_answer(request, await TerminalHandler(console=console)(request))

    assert answer.content == {evil: evil, "e": evil, "m": [evil], "l": [evil]}
    assert not [each for each in console.shown if each != "\n" and not each.isprintable()]
    assert [line for line in console.shown.split("\n") if line.startswith("mail asks you for nothing")] == []


@pytest.mark.parametrize("width", [1, 12, 20, 40, 80])
@pytest.mark.parametrize("text", ["word " * 40, "x" * 300, "日本語" * 50, "", "a\n\nb", "e\u0301" * 90, "👍" * 60])
def test_quoted_lines_fit_the_terminal_and_have_a_gutter(width: int, text: str) -> None:
    lines = quote(text, width).split("\n")

    assert all(line.startswith("  |") for line in lines)
    assert all(columns(line) <= max(width, 16) for line in lines)
    assert "".join(lines).replace("  |", "").replace(" ", "") == text.replace("\n", "").replace(" ", "")


class Finished:
    """A completion that is there at once, or never."""

    def __init__(self, *, finished: bool) -> None:
        self.finished = finished

    def is_finished(self) -> bool:
        return self.finished

    async def wait(self) -> None:
        if not self.finished:
            await anyio.sleep_forever()


class SlowConsole(ScriptedConsole):
    """A console whose user never answers once the script is over."""

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        if self.lines:
            return await super().ask(prompt, hidden=hidden)
        self.shown += prompt
        await anyio.sleep_forever()
        raise AssertionError


async def visit(
    *lines: str,
    opens: bool = True,
    protocol_version: str | None = None,
    completion: Finished | None = None,
    visits: int = 0,
    copies: bool | None = None,
    **params: Any,
) -> Any:
    opened: list[str] = []

    async def open_url(target: TargetUrl) -> bool:
        opened.append(target.url)
        return opens

    async def copy_url(target: TargetUrl) -> bool:
        opened.append(f"copied {target.url}")
        return bool(copies)

    console = ScriptedConsole(lines) if completion is None else SlowConsole(lines)
    request = parse_request(
        {**URL, **params}, server="mail", protocol_version=protocol_version, url_rules=UrlRules(allow_loopback=True)
    )
    assert isinstance(request, UrlRequest)
    request = with_completion(request.model_copy(update={"previous_visits": visits}), completion)
    handler = TerminalHandler(console=console, open_url=open_url, copy_url=None if copies is None else copy_url)
    with anyio.fail_after(60):
        answer = await handler(request)
    return answer, opened, console.shown


async def test_the_full_url_is_shown_with_its_domain_next_to_the_cursor() -> None:
    _, opened, shown = await visit()

    assert shown == (
        "\nmail asks you to open example.com\n  | Please sign in\nText after | comes from the server.\n"
        "Full URL:\n  | https://login.example.com/a?b=c\n"
        "mail: open / show / decline / cancel: "
    )
    assert opened == []


async def test_a_url_is_opened_after_consent_and_accepted_at_once() -> None:
    answer, opened, shown = await visit("open", protocol_version="2025-11-25")

    assert (answer.action, answer.by, opened) == ("accept", "user", [URL["url"]])
    assert answer.to_wire() == {"action": "accept"}
    assert f"If no page opens, open this URL yourself:\n\n{URL['url']}\n" in shown


async def test_a_multi_round_trip_request_is_answered_after_completion() -> None:
    answer, opened, _ = await visit("open", "reopen", "done", protocol_version="2026-07-28")

    assert (answer.action, opened) == ("accept", [URL["url"]] * 2)


async def test_a_repeated_request_needs_no_second_consent() -> None:
    answer, opened, shown = await visit("reopen", "done", protocol_version="2026-07-28", visits=1)

    assert (answer.action, opened) == ("accept", [URL["url"]])
    assert "mail reports that you have not finished at example.com\n" in shown
    assert "done / reopen / decline / cancel: " in shown


@pytest.mark.parametrize("visits", [0, 1])
async def test_a_reported_completion_ends_the_wait(visits: int) -> None:
    lines = [] if visits else ["open"]
    answer, _, shown = await visit(
        *lines, protocol_version="2026-07-28", completion=Finished(finished=True), visits=visits
    )

    assert (answer.action, answer.by) == ("accept", "user")
    assert shown.endswith("mail reports that you have finished.\n")


async def test_the_user_can_continue_without_a_reported_completion() -> None:
    completion = Finished(finished=False)

    answer, _, _ = await visit("open", "done", protocol_version="2026-07-28", completion=completion)
    left, _, _ = await visit("open", "cancel", protocol_version="2026-07-28", completion=completion)

    assert (answer.action, left.action) == ("accept", "cancel")


async def test_a_reported_completion_is_not_consent() -> None:
    answer, opened, _ = await visit("decline", protocol_version="2026-07-28", completion=Finished(finished=True))

    assert (answer.action, opened) == ("decline", [])


@pytest.mark.parametrize("lines", [["show", "done"], ["open", "done"]])
async def test_without_a_browser_the_user_opens_the_url(lines: list[str]) -> None:
    answer, _, shown = await visit(*lines, opens=False)

    assert answer.action == "accept"
    assert "Open this URL on this or another device" in shown


async def test_a_qr_code_is_shown_if_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, shown = await visit("show", "cancel")
    assert "\u2584" in shown

    monkeypatch.setitem(sys.modules, "qrcode", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    _, _, shown = await visit("show", "cancel")
    assert "\u2584" not in shown


@pytest.mark.parametrize(("copies", "said"), [(True, "Link copied."), (False, "Could not copy the link.")])
async def test_copying_is_offered_if_the_host_has_a_clipboard(copies: bool, said: str) -> None:
    answer, opened, shown = await visit("copy", "done", copies=copies)

    assert (answer.action, opened) == ("accept", [f"copied {URL['url']}"])
    assert "open / copy / show / decline / cancel: " in shown
    assert said in shown


@pytest.mark.parametrize(
    ("lines", "action"),
    [
        (["decline"], "decline"),
        (["cancel"], "cancel"),
        ([""], "cancel"),
        (["y"], "cancel"),
        (["d"], "decline"),
        (["yes", "opens"], "cancel"),
        (["open it"], "cancel"),
        (["copy"], "cancel"),
        ([CTRL_C], "cancel"),
        (["show", "decline"], "decline"),
        (["show", "cancel"], "cancel"),
        (["show"], "cancel"),
    ],
)
async def test_only_open_opens_the_url(lines: list[str], action: str) -> None:
    answer, opened, _ = await visit(*lines)

    assert answer.action == action
    assert opened == []


@pytest.mark.parametrize(
    ("lines", "opens"),
    [
        (["o", "confirm"], True),
        (["open", "conf"], True),
        (["o", "o", "open"], False),
        (["o", ""], False),
        (["", "confirm"], False),
        (["confirm"], False),
        (["o", "y"], False),
        (["o", "back", "confirm"], False),
        (["o", "back", "o"], False),
        (["o", "back", "o", "confirm"], True),
    ],
)
async def test_a_url_with_a_warning_is_opened_only_by_two_different_inputs(lines: list[str], opens: bool) -> None:
    answer, opened, _ = await visit(*lines, url="http://localhost:8080/", protocol_version="2025-11-25")

    assert (answer.action == "accept", bool(opened)) == (opens, opens)


async def test_warnings_are_shown_first_and_make_decline_the_default() -> None:
    answer, _, shown = await visit("", url="http://localhost:8080/", protocol_version=None)

    assert "Warning: The URL opens a program on this computer.\nWarning: The URL uses an unusual port: 8080.\n" in shown
    assert "open / show / decline / cancel [decline]: " in shown
    assert answer.action == "decline"


async def test_the_title_contains_the_position_in_a_batch() -> None:
    console = ScriptedConsole([])
    request = parse_request({**URL}, server="mail", batch_position=BatchPosition(number=1, total=2))

    await TerminalHandler(console=console)(request)

    assert "mail asks you to open example.com (1 of 2)\n" in console.shown


async def test_the_tool_the_claimed_name_and_the_origin_are_quoted() -> None:
    from mcp_elicit_client import Server

    console = ScriptedConsole([])
    params = {**form_params({}), "_meta": write_origin(["Your Bank"])}
    request = parse_request(params, server=Server(name="mail", claimed_name="Your Bank"), tool="send")

    await TerminalHandler(console=console)(request)

    assert "Tool:\n  | send\nName reported by the server:\n  | Your Bank\n" in console.shown
    assert "Origin reported by the server:\n  | mail > Your Bank\n" in console.shown
    assert "mail asks you to confirm\n" in console.shown


async def test_without_a_terminal_the_answer_is_an_unattended_cancel(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        request = parse_request(form_params({"properties": {"f": {"type": "string", "default": "x"}}}))

        answer = await TerminalHandler()(request)

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert "there is no terminal. Register another handler" in caplog.text


@contextmanager
def real_terminal() -> Iterator[tuple[int, int]]:
    """Put a pseudo-terminal in the place of standard input and output; inside the test, past pytest's capture."""
    master, slave = pty.openpty()
    with (
        os.fdopen(os.dup(slave), "r") as reader,
        os.fdopen(os.dup(slave), "w") as writer,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "stdin", reader)
        patch.setattr(sys, "stdout", writer)
        patch.setattr(os, "tcgetpgrp", lambda _fd: os.getpgrp())
        yield master, slave
    os.close(slave)
    os.close(master)


class TestOnARealTerminal:
    """A pseudo-terminal in the place of standard input and output."""

    @pytest.fixture(autouse=True)
    def line_by_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MCP_ELICIT_UI", "line")

    async def _until(self, master: int, text: str) -> str:
        shown = ""
        with anyio.fail_after(60):
            while text not in shown:
                await anyio.wait_readable(master)
                shown += os.read(master, 65_536).decode()
        return shown

    async def _answer(self, into: list[Answer], schema: object) -> None:
        request = parse_request(form_params(schema), server="mail")
        assert isinstance(request, FormRequest)
        into.append(await TerminalHandler()(request))

    async def test_the_mode_of_the_terminal_is_restored(self) -> None:
        with real_terminal() as (master, slave):
            before = termios.tcgetattr(slave)
            answers: list[Answer] = []
            async with anyio.create_task_group() as group:
                group.start_soon(self._answer, answers, {"properties": {"f": {"type": "string"}}})
                await self._until(master, " (/help): ")
                os.write(master, "Grüße\n".encode())
                await self._until(master, "cancel: ")
                os.write(master, b"send\n")

            assert answers[0].content == {"f": "Grüße"}
            assert termios.tcgetattr(slave) == before

    async def test_ctrl_c_cancels_only_the_request(self) -> None:
        with real_terminal() as (master, slave):
            answers: list[Answer] = []
            async with anyio.create_task_group() as group:
                group.start_soon(self._answer, answers, {"properties": {"f": {"type": "string"}}})
                await self._until(master, " (/help): ")
                os.write(master, b"half an ans\x03")

            assert (answers[0].action, answers[0].by) == ("cancel", "user")

    async def test_the_end_of_input_cancels(self) -> None:
        with real_terminal() as (master, slave):
            answers: list[Answer] = []
            async with anyio.create_task_group() as group:
                group.start_soon(self._answer, answers, {"properties": {"f": {"type": "string"}}})
                await self._until(master, " (/help): ")
                os.write(master, b"\x04")

            assert (answers[0].action, answers[0].by) == ("cancel", "unattended")

    async def test_input_from_before_the_prompt_is_discarded(self) -> None:
        with real_terminal() as (master, slave):
            os.write(master, b"send\nsend\n")
            answers: list[Answer] = []
            async with anyio.create_task_group() as group:
                group.start_soon(self._answer, answers, {"properties": {}})
                await self._until(master, "cancel: ")
                os.write(master, b"decline\n")

            assert answers[0].action == "decline"

    async def test_further_lines_of_pasted_text_are_ignored_and_the_user_is_told(self) -> None:
        told = "Text that was typed or pasted before this prompt was ignored."
        with real_terminal() as (master, slave):
            answers: list[Answer] = []
            async with anyio.create_task_group() as group:
                fields = {name: {"type": "string"} for name in "ab"}
                group.start_soon(self._answer, answers, {"properties": fields})
                first = await self._until(master, " (/help): ")
                os.write(master, b"Ann\nBob\nsend\n")
                second = await self._until(master, " (/help): ")
                os.write(master, b"Cay\n\n")
                review = await self._until(master, "cancel: ")
                os.write(master, b"send\n")

            assert answers[0].content == {"a": "Ann", "b": "Cay"}
            assert [told in each for each in (first, second, review)] == [False, True, False]

    async def test_a_request_can_be_cancelled_while_it_waits_for_input(self) -> None:
        with real_terminal() as (master, slave):
            before = termios.tcgetattr(slave)
            async with anyio.create_task_group() as group:
                group.start_soon(self._answer, [], {"properties": {"f": {"type": "string"}}})
                await self._until(master, " (/help): ")
                group.cancel_scope.cancel()

            assert "The request from mail was withdrawn." in await self._until(master, "withdrawn.")
            assert termios.tcgetattr(slave) == before

    async def test_the_beginning_of_a_line_is_not_left_to_the_next_reader_if_the_request_expires(self) -> None:
        with real_terminal() as (master, slave):
            request = parse_request(form_params({"properties": {"f": {"type": "string"}}}), server="mail")
            expired = with_deadline(request, datetime.now(timezone.utc), None)
            async with anyio.create_task_group() as group:
                group.start_soon(TerminalHandler(), expired)
                await self._until(master, " (/help): ")
                os.write(master, b"secr")
                await self._until(master, "secr")  # which the terminal shows
                group.cancel_scope.cancel()
            assert "The request from mail has expired." in await self._until(master, "expired.")

            os.write(master, b"next\n")  # typed at the prompt of a shell
            await anyio.wait_readable(slave)
            assert os.read(slave, 100) == b"next\n"

    async def test_two_requests_take_turns(self) -> None:
        with real_terminal() as (master, slave):
            answers: list[Answer] = []
            async with anyio.create_task_group() as group:
                for title in ("one", "two"):
                    group.start_soon(self._answer, answers, {"properties": {title: {"type": "string"}}})
                first = await self._until(master, " (/help): ")
                os.write(master, b"1\n")
                await self._until(master, "cancel: ")
                os.write(master, b"send\n")
                second = await self._until(master, " (/help): ")
                os.write(master, b"/decline\n")

            assert ("| one" in first) != ("| two" in first)
            assert ("| one" in second) != ("| one" in first)
            assert [answer.action for answer in answers] == ["accept", "decline"]

    async def test_a_server_that_is_blocked_is_not_shown_when_the_terminal_is_free_again(self) -> None:
        permissions = Permissions()
        answers: dict[str, Answer] = {}
        handler: Any = permissions.policy(TerminalHandler())

        async def ask(message: str) -> None:
            answers[message] = await handler(parse_request(form_params({}, message), server="mail"))

        with real_terminal() as (master, _slave):
            async with anyio.create_task_group() as group:
                group.start_soon(ask, "first")
                await self._until(master, "cancel: ")
                group.start_soon(ask, "second")
                await anyio.lowlevel.checkpoint()
                permissions.set("block", server="mail")
                os.write(master, b"decline\n")

        assert (answers["first"].action, answers["first"].by) == ("decline", "user")
        assert (answers["second"].action, answers["second"].by) == ("cancel", "policy")


async def test_a_time_without_a_zone_is_in_the_zone_of_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        sent = await content({"at": {"type": "string", "format": "date-time"}}, "2026-12-24 19:30", "send")
    finally:
        monkeypatch.undo()
        time.tzset()

    assert sent == {"at": "2026-12-24T19:30:00+01:00"}


async def test_a_decimal_comma_is_accepted_and_the_review_shows_the_number() -> None:
    answer, console = await ask({"properties": {"price": {"type": "number"}}}, "7,5", "send")

    assert answer.content == {"price": 7.5}
    assert "price: 7.5" in console.shown


PASSWORD = {"properties": {"pw": {"type": "string", "title": "Password"}}, "required": ["pw"]}


async def test_a_sensitive_field_has_a_warning_and_hidden_input() -> None:
    request = parse_request(form_params(PASSWORD), server="mail")
    assert isinstance(request, FormRequest)
    marked: list[FormRequest] = []

    async def note(asked: Request) -> Answer:
        assert isinstance(asked, FormRequest)
        marked.append(asked)
        return Answer.cancel(by="user")

    await protect_secrets(action="warn")(note)(request)
    console = ScriptedConsole(["hunter2", "send", "confirm"])
    answer = await TerminalHandler(console=console)(marked[0])

    assert answer.content == {"pw": "hunter2"}
    assert console.hidden == [True, False, False]
    assert "Warning: " in console.shown.split("Field 1")[0]
    assert "Warning: Do not enter passwords" in console.shown
    assert "1) Password: (hidden)" in console.shown


KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


async def test_a_typed_key_is_sent_only_after_confirmation() -> None:
    schema = {"properties": {"a": {"type": "string", "title": "Note"}}}
    sent, console = await ask(schema, KEY, "send", "confirm")
    kept, _ = await ask(schema, KEY, "send", "", "send", "s", "y", "back", "confirm", "decline")

    assert (sent.action, sent.confirmed) == ("accept", True)
    assert kept.action == "decline"
    warning = "Warning: This answer seems to contain an access token."
    assert f'{warning}\nType "confirm" to continue.\nmail: confirm / back / decline / cancel: ' in console.shown


@pytest.mark.parametrize(("lines", "params"), [(["/block"], None), (["x", "block"], None), (["block"], URL)])
async def test_blocking_is_accepted_only_if_it_is_offered(lines: list[str], params: Any) -> None:
    request = parse_request(params or form_params({"properties": {"a": {"type": "string"}}}), server="mail")
    offered = request.model_copy(update={"can_block": True})

    answer = await TerminalHandler(console=ScriptedConsole(lines))(offered)
    console = ScriptedConsole(lines)
    unheard = await TerminalHandler(console=console)(request)

    assert (answer.action, answer.block_server) == ("decline", True)
    assert (unheard.action, unheard.block_server) == ("cancel", False)
    assert "/ never /" not in console.shown


async def test_the_deadline_is_shown() -> None:
    request = parse_request(form_params({}), server="mail")
    closing = request.model_copy(update={"deadline": datetime(2026, 11, 20, 12, 0, tzinfo=timezone.utc)})
    console = ScriptedConsole([])

    await TerminalHandler(console=console)(closing)

    local = datetime(2026, 11, 20, 12, 0, tzinfo=timezone.utc).astimezone()
    assert f"Expires at {local:%H:%M:%S}\n" in console.shown


async def test_a_draft_is_restored_after_the_request_was_withdrawn() -> None:
    schema = {
        "properties": {"a": {"type": "string"}, "pw": {"type": "string", "format": "password"}, "b": {"type": "string"}}
    }
    request = parse_request(form_params(schema), server="mail")
    console = SlowConsole(["typed", "hunter2"])
    handler = TerminalHandler(console=console)
    async with anyio.create_task_group() as group:
        group.start_soon(handler, request)
        while console.shown.count("(/help): ") < 3:  # the third field is asked
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert console.shown.endswith("The request from mail was withdrawn.\n")

    console.shown, console.lines = "", ["", "", "", "send"]
    answer = await handler(request)

    assert "Restored draft:\n  | typed" in console.shown
    assert "hunter2" not in console.shown
    assert (answer.content, answer.sources) == ({"a": "typed"}, {"a": "user"})
    console.shown, console.lines = "", ["", "", "", "send"]
    await handler(request)
    assert "Restored draft" not in console.shown


@pytest.mark.parametrize("lines", [["typed", "/cancel"], ["typed", CTRL_C], ["typed", "", "cancel"], ["typed"]])
async def test_a_draft_is_restored_after_a_cancel(lines: list[str]) -> None:
    request = parse_request(form_params({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}))
    console = ScriptedConsole(lines)
    handler = TerminalHandler(console=console)
    assert (await handler(request)).action == "cancel"

    console.lines = ["", "", "send"]

    assert (await handler(request)).content == {"a": "typed"}


@pytest.mark.skipif(importlib.util.find_spec("babel") is None, reason="the extra languages is not installed")
async def test_line_mode_is_translated() -> None:
    properties = {"f": {"type": "boolean"}, "n": {"type": "integer"}}
    request = parse_request(form_params({"properties": properties}), server="mail")
    console = ScriptedConsole(["vielleicht", "ja", "x", "7", "send"])

    answer = await TerminalHandler(console=console, messages=MessageCatalog.for_language("de"))(request)

    assert answer.content == {"f": True, "n": 7}
    assert "Feld 1 von 2\n" in console.shown
    assert ": ja oder nein; Enter: nicht angeben (/help): vielleicht\n" in console.shown
    assert "Wählen Sie ja oder nein." in console.shown
    assert "Geben Sie eine ganze Zahl ein." in console.shown
    assert "Prüfen Sie Ihre Antworten" in console.shown


@pytest.mark.skipif(importlib.util.find_spec("babel") is None, reason="the extra languages is not installed")
async def test_a_colon_in_french_follows_a_space() -> None:
    request = parse_request(form_params({"properties": {"a": {"type": "string", "default": "x"}}}))
    console = ScriptedConsole([])

    await TerminalHandler(console=console, messages=MessageCatalog.for_language("fr"))(request)

    assert "\nValeur suggérée\u00a0:\n  | x\n" in console.shown
