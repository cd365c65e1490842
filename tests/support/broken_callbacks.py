"""
A broken callback for each scenario.

Each wraps a correct callback and breaks one thing: the request before it is
passed on, or the answer before it is sent.
"""

from __future__ import annotations

import asyncio
import html
import logging
import math
import re
import subprocess
import time
import unicodedata
import urllib.request
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import anyio
from mcp.types import ElicitResult, ErrorData

from mcp_elicit_client.testing import CallbackUnderTest, UserAction
from mcp_elicit_client.testing.callback_under_test import FAILURE_TEXT
from mcp_elicit_client.testing.task_server import RELATED_TASK
from tests.support.callbacks import scripted

Wire = dict[str, Any]
Ask = Callable[[Wire], Any]
Break = Callable[[Wire, Ask, UserAction | None], Any]
REQUEST_ID: ContextVar[Any] = ContextVar("request_id")


def broken(spoil: Break) -> CallbackUnderTest:
    """Return a callback that is broken by *spoil*, which gets the request, the correct callback and the action."""
    good = scripted()
    actions: list[UserAction] = []

    def follow(action: UserAction) -> Any:
        actions.append(action)
        assert good.user is not None
        return good.user(action)

    async def callback(context: Any, params: Any) -> Any:
        REQUEST_ID.set(getattr(context, "request_id", None))
        wire = params.model_dump(by_alias=True, mode="json", exclude_none=True)

        async def ask(wire: Wire) -> Wire:
            result = await good.callback(context, wire)
            answer: Wire = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            return answer

        answer = await spoil(wire, ask, actions.pop(0) if actions else None)
        if not isinstance(answer, dict):
            return answer
        # The SDK would refuse to build some of these results.
        fields = {"action": answer.get("action"), "content": answer.get("content"), "meta": None}
        if "code" in answer:
            return ErrorData.model_validate(answer)
        return ElicitResult.model_construct(**{k: v for k, v in fields.items() if v is not None})

    return CallbackUnderTest(callback, follow, good.server)


# --- breaking the request


def properties(change: Callable[[str, Wire], Wire]) -> Break:
    async def spoil(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
        if "requestedSchema" in wire:
            schema = wire["requestedSchema"]
            changed = {name: change(name, dict(each)) for name, each in schema.get("properties", {}).items()}
            wire = {**wire, "requestedSchema": {**schema, "properties": changed}}
        return await ask(wire)

    return spoil


def without(*keywords: str, when: Callable[[Wire], bool] = lambda _schema: True) -> Break:
    """Remove *keywords* from the schema of each field, so that they are not checked."""

    def change(_name: str, schema: Wire) -> Wire:
        return {key: value for key, value in schema.items() if key not in keywords} if when(schema) else schema

    return properties(change)


def without_default(value: Any) -> Break:
    def is_it(schema: Wire) -> bool:
        return "default" in schema and schema["default"] == value and type(schema["default"]) is type(value)

    return without("default", when=is_it)


def of_format(name: str) -> Break:
    return without("format", when=lambda schema: schema.get("format") == name)


# --- breaking the answer


def answers(change: Callable[[Wire, Wire], Any]) -> Break:
    """Replace the correct answer with the result of *change*, which gets the request and the answer."""

    async def spoil(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
        return change(wire, await ask(wire))

    return spoil


def becomes(action: str, instead: str, mode: str = "form", *, empty: bool = False) -> Break:
    def change(wire: Wire, answer: Wire) -> Wire:
        asked = wire.get("mode", "form")
        is_empty = asked == "form" and not wire["requestedSchema"].get("properties")
        if answer["action"] == action and asked == mode and is_empty == empty:
            return {"action": instead, **({"content": {"name": "x"}} if instead == "accept" and mode == "form" else {})}
        return answer

    return answers(change)


def values(change: Callable[[Any], Any]) -> Break:
    """Change every value with *change*."""

    def spoil(_wire: Wire, answer: Wire) -> Wire:
        if answer["action"] != "accept" or "content" not in answer:
            return answer
        return {**answer, "content": {name: change(value) for name, value in answer["content"].items()}}

    return answers(spoil)


def swap(value: Any, instead: Any) -> Break:
    """Send *instead* in place of *value*; ... omits it."""

    def is_it(other: Any) -> bool:
        return bool(other == value) and type(other) is type(value)

    def spoil(_wire: Wire, answer: Wire) -> Wire:
        if answer["action"] != "accept" or "content" not in answer:
            return answer
        content = {
            name: instead if is_it(each) else each
            for name, each in answer["content"].items()
            if not (instead is ... and is_it(each))
        }
        return {**answer, "content": content}

    return answers(spoil)


def decides(word: str, instead: str) -> Break:
    """Treat the text *word* as a decision."""

    def spoil(_wire: Wire, answer: Wire) -> Wire:
        return {"action": instead} if word in (answer.get("content") or {}).values() else answer

    return answers(spoil)


def fills(kind: Callable[[Wire], bool], value: Any) -> Break:
    """Send *value* for every optional field of a *kind* that the user did not touch."""

    def spoil(wire: Wire, answer: Wire) -> Wire:
        if answer["action"] != "accept" or "requestedSchema" not in wire:
            return answer
        known = wire["requestedSchema"]["properties"]
        added = {name: value for name, schema in known.items() if kind(schema) and "default" not in schema}
        return {**answer, "content": {**added, **answer.get("content", {})}}

    return answers(spoil)


def is_type(name: str) -> Callable[[Wire], bool]:
    return lambda schema: schema.get("type") == name and "format" not in schema and "enum" not in schema


def unchecked(fits: Callable[[Any], bool]) -> Break:
    """Send the content of the user unchecked if *fits* returns True for one of its values."""

    async def spoil(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
        answer = await ask(wire)
        if action is not None and action.action == "accept" and any(map(fits, action.content.values())):
            return {"action": "accept", "content": dict(action.content)}
        return answer

    return spoil


def sends_defaults(value: Any) -> Break:
    """Send the default *value* unchecked."""

    def spoil(wire: Wire, answer: Wire) -> Wire:
        if answer["action"] != "accept" or "requestedSchema" not in wire:
            return answer
        known = wire["requestedSchema"]["properties"]
        added = {
            name: schema["default"]
            for name, schema in known.items()
            if "default" in schema and schema["default"] == value
        }
        return {**answer, "content": {**added, **answer.get("content", {})}}

    return answers(spoil)


# --- doing something else


def beside(act: Callable[[Wire, UserAction | None], Any]) -> Break:
    async def spoil(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
        act(wire, action)
        return await ask(wire)

    return spoil


def at_url(act: Callable[[str], Any]) -> Break:
    return beside(lambda wire, _action: act(wire["url"]) if wire.get("mode") == "url" else None)


def accepts_url(prefix: str) -> Break:
    async def spoil(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
        if str(wire.get("url", "")).startswith(prefix):
            return {"action": "accept"}
        return await ask(wire)

    return spoil


def shows(make: Callable[[Wire], str]) -> Break:
    """Show the user only the text that *make* returns for the request."""

    async def spoil(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
        answer = await ask(wire)
        if action is not None:
            action.seen[:] = [make(wire)]
        return answer

    return spoil


async def fetch(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    if wire.get("mode") == "url":
        with suppress(OSError):
            await asyncio.to_thread(urllib.request.urlopen, wire["url"].replace("https", "http"), timeout=0.01)
    return await ask(wire)


def absent(instead: Any, *, empty: bool | None = None, mode: str = "form") -> Break:
    """Answer *instead* if the user is absent."""

    async def spoil(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
        is_empty = not wire.get("requestedSchema", {}).get("properties")
        if (
            action is not None
            and action.action == "absent"
            and wire.get("mode", "form") == mode
            and empty in (None, is_empty)
        ):
            if isinstance(instead, Exception):
                raise instead
            return instead
        return await ask(wire)

    return spoil


def interface(instead: Any) -> Break:
    """Answer *instead* if the interface fails."""

    async def spoil(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
        if action is not None and action.action == "fail":
            if isinstance(instead, Exception):
                raise instead
            return instead
        return await ask(wire)

    return spoil


async def hangs_alone(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    if action is not None and action.action == "absent":
        await anyio.sleep_forever()
    return await ask(wire)


async def hangs_at_empty(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    if wire.get("mode", "form") == "form" and not wire["requestedSchema"].get("properties"):
        await anyio.sleep_forever()
    return await ask(wire)


async def impatient(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    with anyio.move_on_after(0.3):
        return await ask(wire)
    return {"action": "cancel"}


def overhasty(instead: Wire, *, mode: str = "form", empty: bool = False) -> Break:
    """Answer *instead* if the user says nothing for a while."""

    async def spoil(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
        is_empty = not wire.get("requestedSchema", {}).get("properties")
        if (wire.get("mode", "form"), is_empty) != (mode, empty):
            return await ask(wire)
        with anyio.move_on_after(0.3):
            return await ask(wire)
        return instead

    return spoil


async def blocks(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    if action is not None:
        time.sleep(action.after)  # noqa: ASYNC251 -- it is broken
    return await ask(wire)


async def swallows(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    try:
        return await ask(wire)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(1.5)
        return {"action": "cancel"}


async def mixes_up(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    """Answer the second request as if it were the first."""
    answer = await ask(wire)
    content = answer.get("content", {})
    return {"action": "accept", "content": {"fruit": content["city"]}} if "city" in content else answer


class RemembersById:
    """Keeps requests by request ID, for all connections."""

    def __init__(self) -> None:
        self.requests: dict[Any, Wire] = {}

    async def __call__(self, wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
        self.requests[REQUEST_ID.get()] = wire
        await anyio.sleep(0.2)
        return await ask(self.requests[REQUEST_ID.get()])


class RemembersAnswersById:
    """Answers a message with the same request ID with the earlier answer, also after a restart of the server."""

    def __init__(self) -> None:
        self.answers: dict[tuple[Any, str], Wire] = {}

    async def __call__(self, wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
        key = (REQUEST_ID.get(), wire["message"])
        if key not in self.answers:
            self.answers[key] = await ask(wire)
        return self.answers[key]


async def cancels_tasks(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    """Cancel a request that belongs to no pending call."""
    answer = await ask(wire)
    return {"action": "cancel"} if "_meta" in wire and RELATED_TASK in wire["_meta"] else answer


async def needs_a_schema(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    if wire.get("mode", "form") == "form":
        wire["requestedSchema"].setdefault("required", [])
    return await ask(wire)


class RemembersAnswers:
    """Answers a repeated message with the earlier answer."""

    def __init__(self) -> None:
        self.answers: dict[str, Wire] = {}

    async def __call__(self, wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
        if wire["message"] not in self.answers:
            self.answers[wire["message"]] = await ask(wire)
        return self.answers[wire["message"]]


def first_options(_name: str, schema: Wire) -> Wire:
    """Keep the first 100 options."""
    return {key: value[:100] if key in ("enum", "oneOf") else value for key, value in schema.items()}


def only_required(wire: Wire, answer: Wire) -> Wire:
    required = wire.get("requestedSchema", {}).get("required", [])
    if "content" not in answer:
        return answer
    return {**answer, "content": {name: value for name, value in answer["content"].items() if name in required}}


def names_in_request(wire: Wire) -> str:
    return f"{wire['message']} {(wire.get('_meta') or {}).get('toolName')}"


async def python_pattern(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    """Check patterns with Python's re.fullmatch, in the event loop."""
    for name, schema in wire.get("requestedSchema", {}).get("properties", {}).items():
        value = action.content.get(name) if action is not None and action.action == "accept" else None
        if "pattern" in schema and isinstance(value, str) and not re.fullmatch(schema["pattern"], value):
            return {"action": "cancel"}
    return await ask(wire)


async def newline_pattern(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    """Check patterns with Python's re.match."""
    for name, schema in wire.get("requestedSchema", {}).get("properties", {}).items():
        value = action.content.get(name) if action is not None else None
        if "pattern" in schema and isinstance(value, str) and re.match(schema["pattern"], value):
            return {"action": "accept", "content": {name: value}}
    return await ask(wire)


async def reads_meta(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    return {"action": "cancel"} if "$schema" in wire.get("requestedSchema", {}) else await ask(wire)


async def forms_only(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    wire["requestedSchema"]["properties"]
    return await ask(wire)


async def quotes_values(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    if action is not None and any(not isinstance(value, (int, float)) for value in action.content.values()):
        return {"code": -32602, "message": f"validation error: {dict(action.content)}"}
    return await ask(wire)


def chokes(at: Callable[[Wire], bool]) -> Break:
    """Block at a request that is too large."""
    return beside(lambda wire, _action: time.sleep(2.2) if at(wire) else None)


def count_of_properties(wire: Wire) -> int:
    return len(wire.get("requestedSchema", {}).get("properties", {}))


def options(wire: Wire) -> int:
    return max((len(each.get("oneOf", [])) for each in wire["requestedSchema"]["properties"].values()), default=0)


async def follows_references(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    for schema in wire.get("requestedSchema", {}).get("properties", {}).values():
        with suppress(OSError):
            urllib.request.urlopen(schema["$ref"], timeout=0.05) if "$ref" in schema else None  # noqa: ASYNC210
    return await ask(wire)


def by_title(instead: dict[str, str]) -> Break:
    return values(
        lambda value: (
            [instead.get(each, each) for each in value]
            if isinstance(value, list)
            else instead.get(value, value)
            if isinstance(value, str)
            else value
        )
    )


def renames(key: str) -> Break:
    def spoil(_wire: Wire, answer: Wire) -> Wire:
        content = answer.get("content")
        if not content or key not in content:
            return answer
        return {**answer, "content": {f"field_{name}": value for name, value in content.items()}}

    return answers(spoil)


async def everything_reaches(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    answer = await ask(wire)
    if action is not None:
        action.saw(wire["message"])
    return answer


async def no_mode_is_none(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    # The SDK adds the mode, so look at the params that were sent.
    if action is not None and "mode" not in action.params:
        return {"action": "decline"}
    return await ask(wire)


def raw(part: Callable[[Wire], str]) -> Break:
    return shows(lambda wire: f"mail {part(wire)}")


def message(wire: Wire) -> str:
    return str(wire["message"])


def titles(wire: Wire) -> str:
    fields = wire.get("requestedSchema", {}).get("properties", {})
    return " ".join([wire["message"], *(str(each.get("title")) for each in fields.values())])


def default_for_falsy(wire: Wire, answer: Wire) -> Wire:
    known = wire.get("requestedSchema", {}).get("properties", {})
    content = {name: value or known[name].get("default", value) for name, value in answer.get("content", {}).items()}
    return {**answer, "content": content} if answer["action"] == "accept" else answer


async def truncates(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    if action is not None and action.content.get("it") == 2.5:
        return {"action": "accept", "content": {"it": int(action.content["it"])}}
    return await ask(wire)


async def nothing_required(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    if "requestedSchema" in wire:
        wire = {**wire, "requestedSchema": {**wire["requestedSchema"], "required": []}}
    return await ask(wire)


def is_bad(value: Any) -> Callable[[Any], bool]:
    return lambda other: type(other) is type(value) and other == value


BROKEN_CALLBACKS: dict[str, Break] = {
    # decisions
    "form-accept-is-accept": becomes("accept", "cancel"),
    "form-decline-is-decline": becomes("decline", "cancel"),
    "form-cancel-is-cancel": becomes("cancel", "decline"),
    "url-accept-is-accept": becomes("accept", "decline", "url"),
    "url-decline-is-decline": becomes("decline", "cancel", "url"),
    "url-cancel-is-cancel": becomes("cancel", "decline", "url"),
    "confirmation-accept-is-accept": hangs_at_empty,
    "confirmation-decline-is-decline": becomes("decline", "accept", empty=True),
    "confirmation-cancel-is-cancel": becomes("cancel", "decline", empty=True),
    "no-content-with-decline": answers(lambda _, a: {**a, "content": {"name": "x"}} if a["action"] == "decline" else a),
    "no-content-with-cancel": answers(lambda _, a: {**a, "content": {"name": "x"}} if a["action"] == "cancel" else a),
    "no-content-with-url": answers(lambda w, a: {**a, "content": {}} if w.get("mode") == "url" else a),
    "accept-has-content": answers(lambda _, a: a if a.get("content") else {"action": a["action"]}),
    "no-mode-is-a-form": no_mode_is_none,
    "unknown-keys-do-no-harm": reads_meta,
    "thinking-takes-time": impatient,
    "two-questions-at-once": mixes_up,
    "repeated-question-is-asked-again": RemembersAnswers(),
    "two-users-at-once": RemembersById(),
    "restarted-server-asks-again": RemembersAnswersById(),
    "tasks-get-their-answers": cancels_tasks,
    "server-is-named": shows(titles),
    "message-is-shown": shows(lambda wire: " ".join(["mail", *wire.get("requestedSchema", {}).get("properties", {})])),
    "options-are-shown": raw(titles),
    # values
    "text-of-any-script": values(lambda v: v.encode("ascii", "ignore").decode() if isinstance(v, str) else v),
    "text-is-not-changed": values(lambda v: unicodedata.normalize("NFKC", v) if isinstance(v, str) else v),
    "long-text-kept": values(lambda v: v[:500] if isinstance(v, str) else v),
    "the-word-decline": decides("decline", "decline"),
    "the-word-cancel": decides("cancel", "cancel"),
    "a-slash-first": decides("/decline", "decline"),
    "no-sentinel-value": decides("__CANCELLED__", "cancel"),
    "integer-stays-integer": values(lambda v: str(v) if type(v) is int else v),
    "fraction-kept": values(lambda v: int(v) if isinstance(v, float) else v),
    "zero-kept": swap(0, ...),
    "false-kept": swap(False, ...),
    "true-is-true": swap(True, "true"),
    "choice-sends-value": by_title({"#f00": "Red"}),
    "enum-names-send-value": by_title({"r": "Red"}),
    "enum-names-of-other-length": by_title({"b": "a"}),
    "same-titles-kept-apart": by_title({"us": "eu"}),
    "last-of-many-options": properties(first_options),
    "options-with-commas": values(lambda v: ",".join(v).split(",") if isinstance(v, list) else v),
    "several-are-a-list": values(lambda v: ",".join(v) if isinstance(v, list) else v),
    "one-of-several-is-a-list": values(lambda v: v[0] if isinstance(v, list) and len(v) == 1 else v),
    "several-titled-send-values": by_title({"#00f": "Blue", "#f00": "Red"}),
    "optional-of-pydantic": answers(
        lambda w, a: {"action": "cancel"} if "anyOf" in str(w.get("requestedSchema")) else a
    ),
    "date-kept": values(lambda v: f"{v[:5]}{v[8:]}-{v[5:7]}" if isinstance(v, str) else v),
    "date-time-keeps-zone": values(lambda v: v.partition("+")[0] if isinstance(v, str) else v),
    "name-with-hyphen": renames("first-name"),
    "name-of-python": renames("class"),
    "optional-values-arrive": answers(only_required),
    "untouched-text-left-out": fills(is_type("string"), ""),
    "untouched-number-left-out": fills(is_type("number"), 0),
    "untouched-integer-left-out": fills(is_type("integer"), 0),
    "untouched-boolean-left-out": fills(is_type("boolean"), value=False),
    "untouched-choice-left-out": fills(lambda schema: "enum" in schema, "a"),
    "untouched-list-left-out": fills(is_type("array"), []),
    "untouched-date-left-out": fills(lambda schema: schema.get("format") == "date", ""),
    "default-text-kept": without_default("Bern"),
    "default-false-kept": without_default(False),
    "default-zero-kept": without_default(0),
    "default-empty-text-kept": without_default(""),
    "default-empty-list-kept": without_default([]),
    "default-choice-kept": without("default", when=lambda schema: "enum" in schema),
    "default-list-kept": without("default", when=lambda schema: schema.get("type") == "array"),
    "user-wins-over-default": answers(default_for_falsy),
    "default-outside-options-not-sent": sends_defaults("z"),
    "default-too-long-not-sent": sends_defaults("much too long"),
    "default-of-wrong-type-not-sent": sends_defaults("twelve"),
    "default-null-not-sent": sends_defaults(None),
    "default-no-email-not-sent": sends_defaults("nobody"),
    "no-nulls": fills(lambda schema: True, None),
    "values-of-the-wire": values(lambda v: {"value": v}),
    "only-what-was-asked-for": unchecked(lambda value: value == "4711"),
    # validation
    "too-short": without("minLength"),
    "too-long": without("maxLength"),
    "below-minimum": without("minimum"),
    "above-maximum": without("maximum"),
    "fraction-for-integer": truncates,
    "digits-then-letters": unchecked(is_bad("12abc")),
    "nan-refused": unchecked(lambda value: isinstance(value, float) and math.isnan(value)),
    "infinity-refused": unchecked(lambda value: value == math.inf),
    "boolean-for-number": unchecked(lambda value: value is True),
    "text-for-boolean": unchecked(is_bad("perhaps")),
    "not-an-option": without("enum"),
    "title-for-value": unchecked(is_bad("Red")),
    "too-few-options": without("minItems"),
    "too-many-options": without("maxItems"),
    "list-with-no-option": unchecked(is_bad(["a", "z"])),
    "no-email": of_format("email"),
    "no-uri": of_format("uri"),
    "no-date": of_format("date"),
    "date-time-without-zone": of_format("date-time"),
    "date-for-date-time": of_format("date-time"),
    "format-and-length": without("maxLength", when=lambda schema: "format" in schema),
    "one-newline-more": newline_pattern,
    "required-is-required": nothing_required,
    "pattern-is-a-search": python_pattern,
    "broken-pattern-survived": python_pattern,
    "slow-pattern-holds-up-nothing": python_pattern,
    # URLs
    "url-not-opened-when-declined": at_url(webbrowser.open),
    "url-not-opened-by-nobody": absent({"action": "accept"}, mode="url"),
    "url-mode-gets-an-answer": forms_only,
    "url-not-fetched": fetch,
    "url-not-through-a-shell": at_url(lambda url: subprocess.run(f"true '{url}'", shell=True, check=False)),
    "url-opened-once": at_url(lambda url: (webbrowser.open(url), webbrowser.open(url))),
    "url-shown-whole": shows(message),
    "suspicious-url-has-a-warning": shows(lambda wire: f"mail {wire['message']} {wire.get('url')}"),
    "url-javascript-refused": accepts_url("javascript:"),
    "url-file-refused": accepts_url("file:"),
    "url-data-refused": accepts_url("data:"),
    "url-option-refused": accepts_url("--"),
    "url-program-refused": accepts_url("calc"),
    "url-backslash-refused": accepts_url("https://evil.example\\"),
    "url-line-break-refused": accepts_url("https://bank.example\r"),
    "url-not-logged": at_url(lambda url: logging.getLogger("broken").info("asked to visit %s", url)),
    # failures
    "nobody-fills-in-no-form": absent({"action": "accept", "content": {"name": "John Doe"}}, empty=False),
    "nobody-confirms-nothing": absent({"action": "accept", "content": {}}, empty=True),
    "silence-is-no-answer-to-a-form": overhasty({"action": "accept", "content": {"name": "x"}}),
    "silence-confirms-nothing": overhasty({"action": "decline"}, empty=True),
    "silence-opens-no-url": overhasty({"action": "accept"}, mode="url", empty=True),
    "nobody-is-not-a-decline": absent({"action": "decline"}),
    "nobody-holds-up-nothing": hangs_alone,
    "nobody-raises-nothing": absent(EOFError("EOF when reading a line")),
    "exception-text-not-told": interface({"code": -32603, "message": f"failed: {FAILURE_TEXT}"}),
    "broken-interface-raises-nothing": interface(RuntimeError(FAILURE_TEXT)),
    "broken-interface-is-no-decision": interface({"action": "decline"}),
    "values-not-in-errors": quotes_values,
    "values-not-logged": beside(
        lambda _wire, action: logging.getLogger("broken").info("got %s", action.content if action is not None else None)
    ),
    "event-loop-goes-on": blocks,
    "leaving-ends-the-question": swallows,
    "withdrawn-is-no-answer": swallows,
    # hostile servers
    "many-fields-survived": chokes(lambda wire: count_of_properties(wire) > 1_000),
    "many-options-survived": chokes(lambda wire: options(wire) > 1_000),
    "doubling-survived": chokes(lambda wire: "$defs" in wire["requestedSchema"]),
    "long-message-survived": chokes(lambda wire: len(wire["message"]) > 1_000_000),
    "huge-numbers-survived": beside(lambda wire, _action: str(wire["requestedSchema"]["properties"].get("a"))),
    "message-only-gets-an-answer": needs_a_schema,
    "no-reference-fetched": follows_references,
    "escapes-in-message": raw(message),
    "escapes-in-title": raw(titles),
    "carriage-return-in-message": raw(message),
    "reversed-text-in-message": raw(message),
    "escapes-in-url": raw(message),
    "forged-names-are-not-shown": raw(names_in_request),
    "flood-is-held-back": everything_reaches,
    "server-may-die": swallows,
}


def text(change: Callable[[str], Any]) -> Break:
    """Change every text with *change*."""
    return values(lambda value: change(value) if isinstance(value, str) else value)


CHANGED_VALUES: dict[str, tuple[str, Break]] = {
    "digits become a number": ("text-is-not-changed", text(lambda v: int(v) if v.isdigit() else v)),
    "true becomes a truth value": ("text-is-not-changed", text(lambda v: True if v == "true" else v)),
    "spaces at the ends are removed": ("text-is-not-changed", text(str.strip)),
    "null is omitted": ("text-is-not-changed", swap("null", ...)),
    "markup is escaped": ("text-is-not-changed", text(html.escape)),
    "quotation marks become typographic": ("text-is-not-changed", text(lambda v: v.replace('"', "\u201d"))),
    "pictures are removed": ("text-is-not-changed", text(lambda v: "".join(c for c in v if c < "\U00010000"))),
    "a number loses its sign": ("fraction-kept", values(lambda v: abs(v) if isinstance(v, float) else v)),
    "a number is rounded": ("fraction-kept", values(lambda v: round(v, 2) if isinstance(v, float) else v)),
    "a text has at most 2000 characters": ("long-text-kept", text(lambda v: v[:2000])),
}
"""More callbacks that change what the user entered, each with the scenario that finds it."""


async def checks_required(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    """Check only the types of optional fields."""
    form = wire.get("requestedSchema", {})
    fields = {
        name: schema if name in form.get("required", []) else {"type": schema.get("type")}
        for name, schema in form.get("properties", {}).items()
    }
    return await ask({**wire, "requestedSchema": {**form, "properties": fields}} if form else wire)


async def checks_the_first(wire: Wire, ask: Ask, _action: UserAction | None) -> Any:
    """Check only the types of all fields but the first."""
    form = wire.get("requestedSchema", {})
    fields = {
        name: {"type": schema.get("type")} if at else schema
        for at, (name, schema) in enumerate(form.get("properties", {}).items())
    }
    return await ask({**wire, "requestedSchema": {**form, "properties": fields}} if form else wire)


async def cancels_itself(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    """Raise the error of a cancelled future if the user is absent."""
    if action is not None and action.action == "absent":
        raise asyncio.CancelledError
    return await ask(wire)


def fields(wire: Wire) -> Wire:
    return dict(wire.get("requestedSchema", {}).get("properties", {}))


def option_titles(wire: Wire) -> str:
    return " ".join(each["title"] for schema in fields(wire).values() for each in schema.get("oneOf", ()))


def defaults(wire: Wire) -> str:
    return " ".join(str(schema.get("default")) for schema in fields(wire).values())


def log_accepted_url(wire: Wire, answer: Wire) -> Wire:
    if wire.get("mode") == "url" and answer["action"] == "accept":
        logging.getLogger("broken").info("opening %s", wire["url"])
    return answer


async def log_invalid(wire: Wire, ask: Ask, action: UserAction | None) -> Any:
    answer = await ask(wire)
    if action is not None and action.action == "accept" and answer["action"] != "accept":
        logging.getLogger("broken").warning("invalid answer: %s", dict(action.content))
    return answer


PARTLY_BROKEN: dict[str, tuple[str, Break]] = {
    "only required fields are checked": ("too-short", checks_required),
    "only the first field is checked": ("not-an-option", checks_the_first),
    "the server is named for forms, but not for URLs": (
        "server-is-named",
        shows(lambda wire: f"{'' if 'url' in wire else 'mail '}{wire['message']}"),
    ),
    "the message of a form without fields is not shown": (
        "message-is-shown",
        shows(lambda wire: f"{wire} " if wire.get("requestedSchema", {}).get("properties") else ""),
    ),
    "option titles are not sanitized": (
        "escapes-in-title",
        raw(lambda wire: f"{wire['message']} {option_titles(wire)}"),
    ),
    "default values are not sanitized": ("escapes-in-title", raw(lambda wire: f"{wire['message']} {defaults(wire)}")),
    "field names are not sanitized": ("escapes-in-title", raw(lambda wire: " ".join([wire["message"], *fields(wire)]))),
    "a URL is logged when it is opened": (
        "url-not-logged",
        answers(log_accepted_url),
    ),
    "invalid values are logged": ("values-not-logged", log_invalid),
    "the end of the user interface is a cancellation": ("nobody-raises-nothing", cancels_itself),
    "an error has the text of the exception in its data": (
        "exception-text-not-told",
        interface({"code": -32603, "message": "failed", "data": {"cause": [FAILURE_TEXT]}}),
    ),
}
"""Callbacks that are broken only in some cases, each with the scenario that finds it."""
