"""
Defects of other clients, as tests of the correct behavior.

Every test runs twice: in line mode and in the interactive form.
"""

from __future__ import annotations

import importlib.util
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import anyio
import pytest

from mcp_elicit_client import Answer, TargetUrl, parse_request
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.messages import FIELD_ERRORS, TYPE_ERRORS
from mcp_elicit_client.handlers.terminal import TerminalHandler
from tests.support import form_params, skip_or_fail
from tests.support.console import CTRL_C, ScriptedConsole

if importlib.util.find_spec("prompt_toolkit") is None:
    skip_or_fail("the extra terminal is not installed")

from tests.support.screens import BACKSPACE, CANCEL, DECLINE, DOWN, ENTER, LEAVE, RIGHT, SEND, SENT, TAB, asking

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]


Ask: TypeAlias = Callable[..., Awaitable[tuple[Answer, str]]]
"""Shows a request; returns the answer and everything that was shown."""


async def by_line(
    params: Mapping[str, Any], *, lines: Sequence[str] = (), keys: Sequence[str] = (), opened: list[str] | None = None
) -> tuple[Answer, str]:
    async def open_url(target: TargetUrl) -> bool:
        assert opened is not None
        opened.append(target.url)
        return True

    console = ScriptedConsole(lines)
    request = parse_request(params, server="mail", protocol_version="2025-11-25")
    answer = await TerminalHandler(console=console, open_url=open_url)(request)
    return check_answer(request, answer), console.shown


async def by_form(
    params: Mapping[str, Any], *, lines: Sequence[str] = (), keys: Sequence[str] = (), opened: list[str] | None = None
) -> tuple[Answer, str]:
    request = parse_request(params, server="mail", protocol_version="2025-11-25")
    async with asking(request, opened=opened) as person:
        shown = [person.shown]
        for key in keys:
            await person.types(*([SEND, SEND] if key == SENT else [key]))
            shown.append(person.shown)
        if person.answer is None and person.app.application is not None:
            await person.types(*LEAVE)
        return await person.done(), "\n".join(shown)


@pytest.fixture(params=[by_line, by_form], ids=["line", "form"])
def ask(request: pytest.FixtureRequest) -> Ask:
    return request.param  # type: ignore[no-any-return]


def fields(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return form_params({"properties": properties, "required": list(required)})


TEXT: dict[str, Any] = {"type": "string"}
URL = {"mode": "url", "message": "Sign in", "url": "https://example.com/secret-path?token=t", "elicitationId": "e"}
UNTOUCHED: dict[str, dict[str, Any]] = {
    "text": TEXT,
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "enum": {"type": "string", "enum": ["a", "b"]},
    "titled": {"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
    "multiple": {"type": "array", "items": {"enum": ["a", "b"]}},
    "list": {"type": "array", "items": {"type": "string"}},
}


# fast-agent


async def test_a_url_is_neither_accepted_nor_opened_nor_logged_without_consent(
    ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    opened: list[str] = []

    answer, shown = await ask(URL, lines=["", "y", "yes"], keys=[ENTER, "y", " ", SEND], opened=opened)

    assert (answer.action, opened) == ("cancel", [])
    assert str(URL["url"]) in shown
    assert "secret-path" not in caplog.text


@pytest.mark.parametrize("kind", UNTOUCHED)
async def test_an_untouched_optional_field_is_omitted(ask: Ask, kind: str) -> None:
    answer, _ = await ask(fields(f=UNTOUCHED[kind], g=TEXT), lines=["", "", "send"], keys=[ENTER, SENT])

    assert (answer.action, answer.content) == ("accept", {})


async def test_an_optional_boolean_is_no_only_if_the_user_says_no(ask: Ask) -> None:
    answer, _ = await ask(fields(f=UNTOUCHED["boolean"]), lines=["no", "send"], keys=["n", SENT])

    assert answer.content == {"f": False}


async def test_an_empty_list_is_not_made_of_no_choice(ask: Ask) -> None:
    field = {**UNTOUCHED["multiple"], "minItems": 1}
    answer, _ = await ask(fields(f=field), lines=["", "send"], keys=[TAB, SENT])

    assert answer.content == {}


@pytest.mark.parametrize("typed", ["nan", "NaN", "inf", "-Infinity", "1e999", "true"])
async def test_numbers_must_be_finite_with_any_bounds(ask: Ask, typed: str) -> None:
    field = {"type": "number", "minimum": 0, "maximum": 10}
    answer, shown = await ask(fields(f=field), lines=[typed, "/cancel"], keys=[typed, SENT])

    assert answer.action == "cancel"
    assert any(error.text in shown for error in (FIELD_ERRORS["not_finite"], TYPE_ERRORS["number"]))


async def test_a_pattern_is_searched_for_not_matched_whole(ask: Ask) -> None:
    answer, _ = await ask(fields(f={**TEXT, "pattern": "b+"}), lines=["abbc", "send"], keys=["abbc", SENT])

    assert answer.content == {"f": "abbc"}


async def test_a_slow_pattern_does_not_block_the_event_loop(ask: Ask) -> None:
    slowest = 0.0

    async def beat() -> None:
        nonlocal slowest
        while True:
            before = anyio.current_time()
            await anyio.sleep(0.01)
            slowest = max(slowest, anyio.current_time() - before)

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        typed = "a" * 28 + "!"
        with anyio.fail_after(60):
            answer, _ = await ask(fields(f={**TEXT, "pattern": "^(a+)+$"}), lines=[typed, "send"], keys=[typed, SENT])
        group.cancel_scope.cancel()

    assert answer.action in ("accept", "cancel")
    assert slowest < 1.0


async def test_an_invalid_pattern_is_ignored(ask: Ask) -> None:
    answer, _ = await ask(fields(f={**TEXT, "pattern": "(["}), lines=["x", "send"], keys=["x", SENT])

    assert answer.content == {"f": "x"}


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"minLength": 20}, "Enter at least 20 characters."),
        ({"maxLength": 5}, "Enter at most 5 characters."),
        ({"pattern": "^z"}, FIELD_ERRORS["pattern"].text),
    ],
)
async def test_a_format_does_not_replace_the_other_limits(ask: Ask, rule: dict[str, Any], message: str) -> None:
    typed = "a@b.example"
    answer, shown = await ask(
        fields(f={**TEXT, "format": "email", **rule}), lines=[typed, "/cancel"], keys=[typed, SENT]
    )

    assert answer.action == "cancel"
    assert message in shown


@pytest.mark.parametrize("typed", ["2026-11-20T14:30:00", "2026-11-20 14:30"])
async def test_a_date_and_time_is_sent_with_a_zone(ask: Ask, typed: str) -> None:
    field = {**TEXT, "format": "date-time"}
    answer, _ = await ask(fields(f=field), lines=[typed, "send"], keys=[typed, SENT])

    assert answer.content is not None
    assert re.fullmatch(r"2026-11-20T14:30:00[+-]\d\d:\d\d", str(answer.content["f"]))


async def test_a_date_is_no_date_and_time(ask: Ask) -> None:
    field = {**TEXT, "format": "date-time"}
    answer, shown = await ask(fields(f=field), lines=["2026-11-20", "/cancel"], keys=["2026-11-20", SENT])

    assert answer.action == "cancel"
    assert "Add a time, such as 14:30." in shown


@pytest.mark.parametrize("word", ["__CANCELLED__", "__DECLINED__", "decline", "cancel", "send", "None", "null", "[]"])
async def test_no_word_that_can_be_typed_is_taken_for_a_decision(ask: Ask, word: str) -> None:
    answer, _ = await ask(fields(f=TEXT), lines=[word, "send"], keys=[word, SENT])

    assert answer.content == {"f": word}


async def test_an_invalid_value_can_be_corrected(ask: Ask) -> None:
    answer, _ = await ask(
        fields(f={"type": "integer"}), lines=["12abc", "12", "send"], keys=["12abc", SENT, *[BACKSPACE] * 3, SENT]
    )

    assert (answer.action, answer.content) == ("accept", {"f": 12})


async def test_every_error_is_shown_not_only_the_first(ask: Ask) -> None:
    form = fields("a", "b", a={**TEXT, "format": "email"}, b={"type": "integer"})
    _, shown = await ask(form, lines=["x", "a@b.example", "y"], keys=["x", TAB, "y", SEND])

    assert "Enter an email address" in shown
    assert TYPE_ERRORS["integer"].text in shown


# docker-agent, nanobot, mcp-agent, FastMCP's command, and others


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({**UNTOUCHED["enum"], "default": "b"}, "b"),
        ({**UNTOUCHED["titled"], "default": "b"}, "b"),
        ({**TEXT, "default": "x"}, "x"),
        ({**TEXT, "default": ""}, ""),
        ({"type": "integer", "default": 0}, 0),
        ({"type": "number", "default": 2.5}, 2.5),
        ({"type": "boolean", "default": False}, False),
        ({**UNTOUCHED["multiple"], "default": ["b"]}, ["b"]),
        ({**UNTOUCHED["multiple"], "default": []}, []),
    ],
)
async def test_every_default_is_shown_and_kept_even_if_it_is_falsy(ask: Ask, field: dict[str, Any], value: Any) -> None:
    answer, shown = await ask(fields(f=field, g=TEXT), lines=["", "", "send"], keys=[TAB, SENT])

    assert answer.content == {"f": value}
    assert answer.sources == {"f": "default"}
    assert "uggested" in shown


async def test_a_default_that_is_no_option_is_not_sent(ask: Ask) -> None:
    answer, _ = await ask(fields(f={**UNTOUCHED["enum"], "default": "z"}), lines=["", "send"], keys=[TAB, SENT])

    assert answer.content == {}


async def test_a_long_answer_is_not_cut(ask: Ask) -> None:
    answer, _ = await ask(fields(f=TEXT), lines=["x" * 600, "send"], keys=["x" * 600, SENT])

    assert answer.content == {"f": "x" * 600}


async def test_fields_are_asked_in_the_servers_order(ask: Ask) -> None:
    _, shown = await ask(fields("a", z=TEXT, k=TEXT, a=TEXT), lines=["1", "2", "3"], keys=[TAB, TAB])

    first = [next(at for at, line in enumerate(shown.split("\n")) if _titled(line, name)) for name in "zka"]
    assert first == sorted(first)


def _titled(line: str, name: str) -> bool:
    words = line.translate(str.maketrans(">✓•*", "    ")).split()
    return words[:2] == ["|", name]


async def test_the_server_is_named_as_by_the_host(ask: Ask) -> None:
    _, shown = await ask(fields(f=TEXT))

    assert "mail asks for 1 answer" in shown


async def test_a_stray_key_opens_nothing(ask: Ask) -> None:
    opened: list[str] = []
    answer, _ = await ask(URL, lines=["", "p", "x", " "], keys=["x", "\x1b[M !!", "7", ENTER], opened=opened)

    assert (answer.action, opened) == ("cancel", [])


async def test_declining_is_not_cancelling(ask: Ask) -> None:
    declined, _ = await ask(fields("f", f=TEXT), lines=["/decline"], keys=[DECLINE])
    cancelled, _ = await ask(fields("f", f=TEXT), lines=[CTRL_C], keys=[CANCEL])

    assert (declined.to_wire(), cancelled.to_wire()) == ({"action": "decline"}, {"action": "cancel"})


async def test_declining_a_url_is_not_cancelling_it(ask: Ask) -> None:
    declined, _ = await ask(URL, lines=["decline"], keys=["d"], opened=[])
    cancelled, _ = await ask(URL, lines=["cancel"], keys=[CANCEL], opened=[])

    assert (declined.action, cancelled.action) == ("decline", "cancel")


async def test_an_optional_number_can_be_skipped(ask: Ask) -> None:
    form = fields("g", f={"type": "integer"}, g=TEXT)
    answer, _ = await ask(form, lines=["", "x", "send"], keys=[ENTER, "x", SENT])

    assert answer.content == {"g": "x"}


async def test_answers_are_not_logged(ask: Ask, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    await ask(fields(f=TEXT), lines=["my answer", "send"], keys=["my answer", SENT])

    assert "my answer" not in caplog.text


async def test_a_required_field_is_not_sent_empty(ask: Ask) -> None:
    answer, shown = await ask(fields("f", f=TEXT), lines=["", "send", "cancel"], keys=[ENTER, SENT])

    assert answer.content != {"f": ""}
    assert "is required" in shown


@pytest.mark.parametrize(
    "field",
    [
        {"type": "string", "enum": ["a", "b"]},
        {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
        {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
    ],
)
async def test_every_spelling_of_one_of_several_is_a_choice(ask: Ask, field: dict[str, Any]) -> None:
    answer, _ = await ask(fields(f=field), lines=["2", "send"], keys=[DOWN, DOWN, ENTER, SENT])

    assert answer.content == {"f": "b"}


@pytest.mark.parametrize(
    "items",
    [
        {"type": "string", "enum": ["a", "b", "c"]},
        {"anyOf": [{"const": each, "title": each.upper()} for each in "abc"]},
        {"oneOf": [{"const": each, "title": each.upper()} for each in "abc"]},
    ],
)
async def test_every_spelling_of_some_of_several_is_a_choice(ask: Ask, items: dict[str, Any]) -> None:
    field = {"type": "array", "items": items}
    answer, _ = await ask(fields(f=field), lines=["1, 3", "send"], keys=[DOWN, " ", DOWN, DOWN, " ", SENT])

    assert answer.content == {"f": ["a", "c"]}


async def test_options_of_one_name_are_told_apart(ask: Ask) -> None:
    field = {"oneOf": [{"const": "a", "title": "Same"}, {"const": "b", "title": "Same"}]}
    answer, shown = await ask(fields(f=field), lines=["Same (b)", "send"], keys=[DOWN, DOWN, ENTER, SENT])

    assert answer.content == {"f": "b"}
    assert "Same (a)" in shown


async def test_enum_names_are_ignored_if_their_number_differs(ask: Ask) -> None:
    field = {"type": "string", "enum": ["a", "b"], "enumNames": ["Only one"]}
    _, shown = await ask(fields(f=field))

    assert "Only one" not in shown


async def test_a_confirmation_is_not_accepted_by_enter(ask: Ask) -> None:
    answer, _ = await ask(form_params({"properties": {}}), lines=["", "", " "], keys=[ENTER, ENTER, " ", RIGHT])

    assert answer.action == "cancel"


async def test_a_withdrawn_request_ends(ask: Ask) -> None:
    class Waits(ScriptedConsole):
        async def ask(self, prompt: str, *, hidden: bool = False) -> str:
            await anyio.sleep_forever()
            raise AssertionError

    request = parse_request(fields(f=TEXT), server="mail")
    if ask is by_form:
        async with asking(request) as person:
            await person.sees("mail asks")
        assert (person.answer, person.app.application) == (None, None)
        assert "withdrawn" in person.screen.told
    else:
        console = Waits([])
        with anyio.move_on_after(0.01):
            await TerminalHandler(console=console)(request)
        assert "withdrawn" in console.shown
