"""What the user gave is what the server gets, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.testing.scenario_run import InconclusiveError, ScenarioRun
from mcp_elicit_client.testing.scenarios.base import ACTIONS, PREFILL, SCHEMA, TEXT, Group, form

GROUP = Group("what the user gave")

_OPTIONS = [{"const": "#00f", "title": "Blue"}, {"const": "#f00", "title": "Red"}]


def _is(left: Any, right: Any) -> bool:
    """Compare as JSON does: true is not 1."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_is, left, right))
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _kept(  # noqa: PLR0913 -- a table
    name: str, title: str, schema: Mapping[str, Any], value: Any, *, because: str, source: str
) -> None:
    async def run(trial: ScenarioRun) -> None:
        trial.needs_user()
        await trial.accepts(form("name", name=TEXT), {"name": "Ada"})
        reply = await trial.ask(form("it", it=dict(schema)), "accept", {"it": value})
        got = reply.content.get("it") if isinstance(reply.content, dict) else None
        trial.expect(
            reply.accepted and _is(got, value) and set(reply.content) == {"it"},
            f"the user gave {_short(value)}, and the server got {_short(reply)}",
        )

    GROUP.add(name, title, run, because=because, source=source)


def _short(value: object) -> str:
    text = str(value) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 160 else f"{text[:80]} ... ({len(text)} characters)"


_MATCHING = '"The content field contains the submitted data matching the requested schema"'

_kept(
    "text-of-any-script",
    "Text of any script is sent as typed.",
    {"type": "string"},
    "Zoë, 日本語, Ελλάδα",
    because=_MATCHING,
    source=ACTIONS,
)
_kept(
    "long-text-kept",
    "A long text is not cut.",
    {"type": "string"},
    "It was a dark and stormy night; the rain fell in torrents. " * 11 + "The end",
    because="a text field without maxLength was cut at 500 characters without a word",
    source="docker/docker-agent, pkg/tui/dialog/elicitation.go:604",
)
_kept(
    "the-word-decline",
    "The word decline can be given as a value.",
    {"type": "string"},
    "decline",
    because="commands that share the line with values make these words impossible",
    source="FastMCP CLI, fastmcp/cli/client.py:169-225",
)
_kept(
    "the-word-cancel",
    "The word cancel can be given as a value.",
    {"type": "string"},
    "cancel",
    because="commands that share the line with values make these words impossible",
    source="FastMCP CLI, fastmcp/cli/client.py:169-225",
)
_kept(
    "a-slash-first",
    "A value may begin with a slash.",
    {"type": "string"},
    "/decline",
    because="a path or a command is a text as well; /decline typed into a field became a decision",
    source="mcp-agent 0.2.6, elicitation/handler.py",
)
_kept(
    "no-sentinel-value",
    "No text that can be typed is taken for a decision.",
    {"type": "string"},
    "__CANCELLED__",
    because="decisions were passed as texts in the place of values",
    source="fast-agent, mcp/elicitation_handlers.py:257-265",
)
_kept(
    "integer-stays-integer",
    "An integer is sent as a JSON integer.",
    {"type": "integer"},
    42,
    because=_MATCHING,
    source=ACTIONS,
)
_kept(
    "fraction-kept",
    "A fraction is sent as it is.",
    {"type": "number"},
    2.75,
    because="numbers were read with parseInt or int, which drops the fraction or refuses it",
    source="mcp-use, elicitationToAskUserQuestions.ts:138",
)
_kept(
    "zero-kept",
    "Zero is a value.",
    {"type": "integer"},
    0,
    because="values were tested for truth where they should be tested for presence",
    source="microsoft/vscode, mcpElicitationService.ts",
)
_kept(
    "false-kept",
    "No is an answer to a yes-or-no question.",
    {"type": "boolean"},
    False,
    because="values were tested for truth where they should be tested for presence",
    source="microsoft/vscode, mcpElicitationService.ts",
)
_kept(
    "true-is-true",
    "Yes is sent as JSON true.",
    {"type": "boolean"},
    True,
    because="a boolean was rendered, and sent, as a text",
    source="microsoft/vscode#326007",
)
_kept(
    "choice-sends-value",
    "Of a titled choice the value is sent, not its title.",
    {"type": "string", "oneOf": _OPTIONS},
    "#f00",
    because="the const is the value, the title is for people",
    source=f"{SCHEMA}; SEP-1330",
)
_kept(
    "enum-names-send-value",
    "Of a choice with enumNames the value is sent, not its name.",
    {"type": "string", "enum": ["b", "r"], "enumNames": ["Blue", "Red"]},
    "r",
    because="enumNames are for display; they were ignored, or sent",
    source="2025-06-18, client/elicitation, Requested Schema; modelcontextprotocol/inspector#1691",
)
_kept(
    "enum-names-of-other-length",
    "enumNames of another length than enum do not shift the options.",
    {"type": "string", "enum": ["a", "b", "c"], "enumNames": ["B", "C"]},
    "b",
    because="names paired by position with zip() stand beside the wrong values, and options disappear",
    source="found with real servers",
)
_kept(
    "same-titles-kept-apart",
    "Options with the same title are told apart.",
    {"type": "string", "oneOf": [{"const": "eu", "title": "Server"}, {"const": "us", "title": "Server"}]},
    "us",
    because="options looked up by title make the second of two the first",
    source="pi-mcp-adapter, elicitation-handler.ts:268-286, which numbers them",
)
_kept(
    "options-with-commas",
    "An option may hold a comma.",
    {"type": "array", "items": {"type": "string", "enum": ["salt, pepper", "oil"]}},
    ["salt, pepper"],
    because="lists that are split at commas break such options",
    source="found with real servers",
)
_kept(
    "several-are-a-list",
    "Several options are sent as a list of their values.",
    {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}},
    ["a", "c"],
    because="a multi-select is answered with an array of strings",
    source=f"{SCHEMA}; SEP-1330",
)
_kept(
    "one-of-several-is-a-list",
    "One option of several is a list of one.",
    {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}},
    ["b"],
    because="a multi-select is answered with an array of strings, however many",
    source=f"{SCHEMA}; SEP-1330",
)
_kept(
    "several-titled-send-values",
    "Of several titled options the values are sent.",
    {"type": "array", "items": {"anyOf": _OPTIONS}},
    ["#00f", "#f00"],
    because="the const is the value, the title is for people",
    source=f"{SCHEMA}; SEP-1330",
)
_kept(
    "optional-of-pydantic",
    "A field that may also be null (pydantic's Optional) can be filled in.",
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "Bern",
    because="servers built on pydantic send it, though the specification has no such schema",
    source="modelcontextprotocol/inspector#1928",
)
_kept(
    "date-time-keeps-zone",
    "A date and time is sent with the zone that was given.",
    {"type": "string", "format": "date-time"},
    "2026-11-20T14:30:00+05:30",
    because="RFC 3339 has the zone in it; without, or moved to another, it is another moment",
    source=f"{SCHEMA} (format date-time)",
)


def _named(name: str, key: str, title: str, because: str, source: str) -> None:
    async def run(trial: ScenarioRun) -> None:
        trial.needs_user()
        await trial.accepts(form("name", name=TEXT), {"name": "Ada"})
        reply = await trial.ask(
            form(key, message="What is it?", **{key: {"type": "string", "title": "It"}}), "accept", {key: "x"}
        )
        trial.expect(reply.content == {key: "x"}, f"the field is called {key!r}, and the server got {reply}")

    GROUP.add(name, title, run, because=because, source=source)


_named(
    "name-with-hyphen",
    "first-name",
    "A field's name need not be an identifier.",
    "schemas turned into classes rename fields, and the server gets names that it does not know",
    "FastMCP, json_schema_to_type",
)
_named(
    "name-of-python",
    "class",
    "A field may be called as a word of Python.",
    "schemas turned into classes cannot hold it",
    "FastMCP, json_schema_to_type",
)


# --- untouched

_UNTOUCHED: dict[str, tuple[dict[str, Any], str, str]] = {
    "text": ({"type": "string"}, 'an empty text ("")', "modelcontextprotocol/inspector, SchemaForm.tsx (Clear)"),
    "number": ({"type": "number"}, "0", "mcp-use, useElicitationForm.ts:30-41"),
    "integer": ({"type": "integer"}, "0", "mcp-use, useElicitationForm.ts:30-41; mcp-agent cannot skip one"),
    "boolean": ({"type": "boolean"}, "false", "fast-agent, ui/elicitation_form.py:606-609"),
    "choice": ({"type": "string", "enum": ["a", "b"]}, "the first option", "fast-agent (RadioList picks the first)"),
    "list": ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, "an empty list", "fast-agent"),
    "date": ({"type": "string", "format": "date"}, "an empty text, which is no date", "mcp-use"),
}


def _untouched(kind: str, schema: Mapping[str, Any], sent: str, source: str) -> None:
    async def run(trial: ScenarioRun) -> None:
        reply = await trial.ask(form("name", name=TEXT, it=dict(schema)), "accept", {"name": "Ada"})
        if not reply.accepted:
            if trial.under_test.user is None:
                raise InconclusiveError(f"it takes an accept, and the server got {reply}")
            await trial.accepts(form("name", name=TEXT), {"name": "Ada"})
            trial.expect(False, f"nothing was given for an optional {kind}, and the server got {reply}")
        trial.expect(
            "it" not in reply.content, f"nothing was given for an optional {kind}, and the server got {reply.content}"
        )

    GROUP.add(
        f"untouched-{kind}-left-out",
        f"An optional {kind} that nobody touched is left out.",
        run,
        because=f"it was sent as {sent}: the server cannot tell what was said from what was not",
        source=source,
    )


for _kind, (_schema, _sent, _source) in _UNTOUCHED.items():
    _untouched(_kind, _schema, _sent, _source)


# --- defaults

_DEFAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("A text", {"type": "string", "default": "Bern"}),
    "false": ("No (false)", {"type": "boolean", "default": False}),
    "zero": ("Zero", {"type": "integer", "default": 0}),
    "empty-text": ("The empty text", {"type": "string", "default": ""}),
    "empty-list": (
        "The empty list",
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": []},
    ),
    "choice": ("An option", {"type": "string", "enum": ["a", "b"], "default": "b"}),
    "list": ("A list", {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["b"]}),
}


def _default(kind: str, title: str, schema: Mapping[str, Any]) -> None:
    async def run(trial: ScenarioRun) -> None:
        trial.needs_user()
        reply = await trial.accepts(form("name", name=TEXT, it=dict(schema)), {"name": "Ada"})
        value = schema["default"]
        got = reply.content.get("it", "nothing")
        trial.expect(_is(got, value), f"{value!r} was suggested and left as it is, and the server got {got!r}")

    falsy = kind in ("false", "zero", "empty-text", "empty-list")
    GROUP.add(
        f"default-{kind}-kept",
        f"{title} that the server suggests is sent if the user leaves it.",
        run,
        because=f"{PREFILL}; falsy ones are dropped where they are tested for truth" if falsy else PREFILL,
        source=f"{SCHEMA}; SEP-1034" + ("; microsoft/vscode, mcpElicitationService.ts" if falsy else ""),
    )


for _kind, (_title, _schema) in _DEFAULTS.items():
    _default(_kind, _title, _schema)


@GROUP.scenario(
    "user-wins-over-default",
    "What the user gives wins over what the server suggests, also where it is falsy.",
    because='the user can "review and modify their responses before sending" (MUST)',
    source="2025-11-25, client/elicitation, User Interaction Model; assistant-ui/assistant-ui#5339",
)
async def _user_wins(trial: ScenarioRun) -> None:
    trial.needs_user()
    params = form(name={"type": "string", "default": "Bern"}, sure={"type": "boolean", "default": True})
    reply = await trial.accepts(params, {"name": "Oslo", "sure": False})
    trial.expect(reply.content == {"name": "Oslo", "sure": False}, f"the server got {reply.content}")


_BAD_DEFAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "outside-options": ("that is no option", {"type": "string", "enum": ["a", "b"], "default": "z"}),
    "too-long": ("that is too long", {"type": "string", "maxLength": 3, "default": "much too long"}),
    "of-wrong-type": ("of the wrong type", {"type": "integer", "default": "twelve"}),
    "null": ("null", {"type": "string", "default": None}),
    "no-email": ("that is no e-mail address", {"type": "string", "format": "email", "default": "nobody"}),
}


def _bad_default(kind: str, title: str, schema: Mapping[str, Any]) -> None:
    async def run(trial: ScenarioRun) -> None:
        await trial.accepts(form("name", name=TEXT), {"name": "Ada"})
        reply = await trial.ask(form("name", name=TEXT, it=dict(schema)), "accept", {"name": "Ada"})
        trial.expect(
            not reply.accepted or not _is((reply.content or {}).get("it", ...), schema["default"]),
            f"the default breaks its own schema, and the server got {reply.content}",
        )

    GROUP.add(
        f"default-{kind}-not-sent",
        f"A suggestion {title} is not sent.",
        run,
        because='"Clients SHOULD validate all responses against the provided schema", the defaults among them',
        source="2025-11-25, client/elicitation, Form Mode Security; mcp-use, applyDefaults",
    )


for _kind, (_title, _schema) in _BAD_DEFAULTS.items():
    _bad_default(_kind, _title, _schema)


# --- whatever the answer is

_EVERY_KIND = form(
    "name",
    name=TEXT,
    age={"type": "integer", "minimum": 0},
    weight={"type": "number"},
    member={"type": "boolean"},
    colour={"type": "string", "enum": ["red", "blue"]},
    days={"type": "array", "items": {"type": "string", "enum": ["fri", "sat"]}},
)
_FULL = {"name": "Ada", "age": 36, "weight": 52.5, "member": True, "colour": "blue", "days": ["sat"]}


@GROUP.scenario(
    "no-nulls",
    "No value is null.",
    because="null is no value of an answer; the TypeScript SDK's servers refuse it",
    source="2025-11-25, schema.ts, ElicitResult (string, number, boolean, array of strings)",
)
async def _no_nulls(trial: ScenarioRun) -> None:
    replies = [await trial.ask(_EVERY_KIND, "accept", content) for content in ({"name": "Ada"}, _FULL)]
    accepted = [reply.content for reply in replies if reply.accepted and isinstance(reply.content, dict)]
    if not accepted:
        raise InconclusiveError(f"it takes an accept, and the server got {replies[0]}")
    for content in accepted:
        trial.expect(all(value is not None for value in content.values()), f"the server got {_short(content)}")


@GROUP.scenario(
    "values-of-the-wire",
    "Every value is a text, a number, a boolean, or a list of texts.",
    because="an answer is flat: nothing else is a value of one",
    source="2025-11-25, schema.ts, ElicitResult",
)
async def _of_the_wire(trial: ScenarioRun) -> None:
    reply = await trial.accepts(_EVERY_KIND, _FULL)
    for name, value in reply.content.items():
        listed = isinstance(value, list) and all(isinstance(each, str) for each in value)
        trial.expect(
            value is None or isinstance(value, (str, int, float, bool)) or listed,
            f"{name} was sent as {_short(value)}",
        )


@GROUP.scenario(
    "only-what-was-asked-for",
    "Nothing is sent that the form did not ask for.",
    because=_MATCHING + "; a server gets to know what the user meant for it, and no more",
    source=f"{ACTIONS}; FastMCP 3, where a result object became the content",
)
async def _only_asked(trial: ScenarioRun) -> None:
    params = form("name", name=TEXT)
    await trial.accepts(params, {"name": "Ada"})
    reply = await trial.ask(params, "accept", {"name": "Ada", "token": "4711"})
    sent = set(reply.content) if isinstance(reply.content, dict) else set()
    trial.expect(sent <= {"name"}, f"the form asks for the name alone, and the server got {reply.content}")
