"""What does not fit the form is not sent as its answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mcp_elicit_client.testing.scenario_run import NoAnswerError, ScenarioRun
from mcp_elicit_client.testing.scenarios.base import FORM_SECURITY, SCHEMA, TEXT, VALIDATE, Group, form

GROUP = Group("what does not fit")

_LIST = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}


def _refused(  # noqa: PLR0913 -- a table
    name: str,
    title: str,
    schema: Mapping[str, Any],
    good: Any,
    bad: Any,
    *,
    because: str = VALIDATE,
    source: str,
    mends: Any = None,
) -> None:
    params = form("it", it=dict(schema))

    async def run(trial: ScenarioRun) -> None:
        trial.needs_user()
        await trial.accepts(params, {"it": good})
        reply = await trial.ask(params, "accept", {"it": bad})
        got = reply.content.get("it") if isinstance(reply.content, dict) else None
        mended = mends is not None and got == mends
        trial.expect(
            not reply.accepted or mended, f"{str(bad)[:60]!r} does not fit, and the server got {str(reply)[:160]}"
        )

    GROUP.add(name, title, run, because=because, source=source)


_refused(
    "too-short",
    "A text that is too short is not accepted.",
    {"type": "string", "minLength": 4},
    "Bern",
    "B",
    source=FORM_SECURITY,
)
_refused(
    "too-long",
    "A text that is too long is not accepted.",
    {"type": "string", "maxLength": 4},
    "Bern",
    "Winterthur",
    source=FORM_SECURITY,
)
_refused(
    "below-minimum",
    "A number below the minimum is not accepted.",
    {"type": "number", "minimum": 18},
    20,
    3,
    source=FORM_SECURITY,
)
_refused(
    "above-maximum",
    "A number above the maximum is not accepted.",
    {"type": "integer", "maximum": 9},
    5,
    12,
    source=FORM_SECURITY,
)
_refused(
    "fraction-for-integer",
    "A fraction is no integer.",
    {"type": "integer"},
    3,
    2.5,
    because=f"{VALIDATE}; read with int() it lost its fraction without a word",
    source=FORM_SECURITY,
)
_refused(
    "digits-then-letters",
    "12abc is not 12.",
    {"type": "integer"},
    12,
    "12abc",
    because="numbers read with parseInt end where the digits end",
    source="mcp-use, elicitationToAskUserQuestions.ts:138",
)
_refused(
    "nan-refused",
    "NaN is no number.",
    {"type": "number", "minimum": 0, "maximum": 10},
    5,
    math.nan,
    because="NaN passes every comparison with a bound, and JSON has no such number",
    source="fast-agent, ui/elicitation_form.py; RFC 8259, section 6",
)
_refused(
    "infinity-refused",
    "Infinity is no number.",
    {"type": "number", "minimum": 0},
    5,
    math.inf,
    because="JSON has no such number; on the wire it is null",
    source="fast-agent, ui/elicitation_form.py; RFC 8259, section 6",
)
_refused(
    "boolean-for-number",
    "True is no number.",
    {"type": "integer"},
    1,
    True,
    because="in Python, True is an int",
    source=FORM_SECURITY,
)
_refused(
    "text-for-boolean",
    "A text is no yes and no no.",
    {"type": "boolean"},
    True,
    "perhaps",
    source=FORM_SECURITY,
)
_refused(
    "not-an-option",
    "What is no option is not accepted.",
    {"type": "string", "enum": ["red", "blue"]},
    "red",
    "green",
    source=SCHEMA,
)
_refused(
    "title-for-value",
    "The title of an option is not accepted for its value.",
    {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
    "r",
    "Red",
    mends="r",
    because="the const is the value, the title is for people",
    source=f"{SCHEMA}; SEP-1330",
)
_refused(
    "too-few-options",
    "Too few options are not accepted.",
    {**_LIST, "minItems": 2},
    ["a", "b"],
    ["a"],
    source=SCHEMA,
)
_refused(
    "too-many-options",
    "Too many options are not accepted.",
    {**_LIST, "maxItems": 1},
    ["a"],
    ["a", "b", "c"],
    source=SCHEMA,
)
_refused(
    "list-with-no-option",
    "A list with something that is no option is not accepted.",
    _LIST,
    ["a"],
    ["a", "z"],
    source=SCHEMA,
)
_refused(
    "no-email",
    "What is no e-mail address is not accepted for one.",
    {"type": "string", "format": "email"},
    "ann@example.com",
    "ann at home",
    source=f"{SCHEMA} (format email)",
)
_refused(
    "no-uri",
    "What is no URI is not accepted for one.",
    {"type": "string", "format": "uri"},
    "https://example.com/",
    "not a uri",
    source=f"{SCHEMA} (format uri)",
)
_refused(
    "no-date",
    "What is no date is not accepted for one.",
    {"type": "string", "format": "date"},
    "2026-11-20",
    "2026-02-30",
    source=f"{SCHEMA} (format date)",
)
_refused(
    "date-time-without-zone",
    "A date and time without its zone is not accepted.",
    {"type": "string", "format": "date-time"},
    "2026-11-20T14:30:00Z",
    "2026-11-20T14:30:00",
    because="RFC 3339, which JSON Schema means, has the zone; fromisoformat() does not ask for it",
    source="fast-agent, ui/elicitation_form.py:130-164",
)
_refused(
    "date-for-date-time",
    "A bare date is no date and time.",
    {"type": "string", "format": "date-time"},
    "2026-11-20T14:30:00Z",
    "2026-11-20",
    because="fromisoformat() takes it",
    source="fast-agent, ui/elicitation_form.py:130-164",
)
_refused(
    "format-and-length",
    "A format does not stand in for the other limits.",
    {"type": "string", "format": "email", "maxLength": 10},
    "a@b.ch",
    "ann.of.green.gables@example.com",
    because="fields with a format lost their minLength, maxLength and pattern",
    source="fast-agent, ui/elicitation_form.py:653-661",
)
_refused(
    "one-newline-more",
    "A pattern that ends with $ does not let a line break through.",
    {"type": "string", "pattern": "^[A-Z]{3}$"},
    "ABC",
    "ABC\n",
    mends="ABC",
    because="in Python, $ also matches before a line break at the end; in the ECMAScript of JSON Schema it does not",
    source="JSON Schema 2020-12, 6.3.3; measured with jsonschema",
)


@GROUP.scenario(
    "required-is-required",
    "A form is not accepted while a required field is empty.",
    because="required names what an answer must hold",
    source=f"{SCHEMA}; FastMCP CLI, where required fields may stay empty",
)
async def _required(trial: ScenarioRun) -> None:
    params = form("name", "city", name=TEXT, city={"type": "string", "title": "City", "minLength": 1})
    reply = await trial.ask(params, "accept", {"name": "Ada", "city": "Bern"})
    if trial.under_test.user is not None or not reply.accepted:
        if not reply.accepted:
            await trial.accepts(form("name", name=TEXT), {"name": "Ada"})
        reply = await trial.ask(params, "accept", {"name": "Ada"})
    city = (reply.content or {}).get("city") if isinstance(reply.content, dict) else None
    trial.expect(not reply.accepted or city, f"a required field was not filled in, and the server got {reply}")


@GROUP.scenario(
    "pattern-is-a-search",
    "A pattern is searched for; it need not match the whole text.",
    because="JSON Schema: patterns are not anchored",
    source="JSON Schema 2020-12, 6.3.3; fast-agent, ui/elicitation_form.py:123 (fullmatch)",
)
async def _search(trial: ScenarioRun) -> None:
    trial.needs_user()
    await trial.accepts(form("it", it={"type": "string", "pattern": "b+"}), {"it": "bb"})
    reply = await trial.ask(form("it", it={"type": "string", "pattern": "b+"}), "accept", {"it": "abbc"})
    trial.expect(reply.accepted and reply.content == {"it": "abbc"}, f"abbc holds b+, and the server got {reply}")


@GROUP.scenario(
    "broken-pattern-survived",
    "A pattern that is none does not end the question.",
    because="a pattern of another dialect, or of none, raised re.error out of the form",
    source="fast-agent, ui/elicitation_form.py:108; 16 of 52 valid ECMAScript patterns fail in Python's re",
    hang_fails=True,
)
async def _broken_pattern(trial: ScenarioRun) -> None:
    trial.needs_user()
    await trial.accepts(form("it", it={"type": "string"}), {"it": "x"})
    reply = await trial.ask(form("it", it={"type": "string", "pattern": "(["}), "accept", {"it": "x"})
    trial.expect(not trial.raised, f"{type(trial.raised[0]).__name__ if trial.raised else ''} was raised")
    trial.expect(reply.result is not None, f"the server got {reply}")


@GROUP.scenario(
    "slow-pattern-holds-up-nothing",
    "A pattern that takes for ever holds up nothing.",
    because="a server's ^(a+)+$ and 25 characters freeze event loops for minutes; a thread does not help",
    source="simonx1/ruby-mcp-client#197; fast-agent, ui/elicitation_form.py:123 (8 s)",
    hang_fails=True,
)
async def _slow_pattern(trial: ScenarioRun) -> None:
    trial.needs_user()
    params = form("it", it={"type": "string", "pattern": "^(a+)+$"})
    await trial.accepts(params, {"it": "aaa"})
    trial.slowest = 0.0
    # A form that goes on asking for something better is right as well.
    with suppress(NoAnswerError):
        await trial.ask(params, "accept", {"it": "a" * 26 + "!"})
    trial.expect(trial.slowest < 1.0, f"the event loop stood still for {trial.slowest:.1f} s")
