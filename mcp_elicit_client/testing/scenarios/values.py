"""Scenarios about values: the server gets what the user entered, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.testing.scenario_run import InconclusiveError, ScenarioRun
from mcp_elicit_client.testing.scenarios.requests import NAME_FIELD, NAME_FORM, form_params

_ADA = {"name": "Ada"}
_MAX_SHOWN = 160
_ALL_KINDS = form_params(
    "name",
    name=NAME_FIELD,
    age={"type": "integer", "minimum": 0},
    weight={"type": "number"},
    member={"type": "boolean"},
    colour={"type": "string", "enum": ["red", "blue"]},
    days={"type": "array", "items": {"type": "string", "enum": ["fri", "sat"]}},
)
_ALL_VALUES = {"name": "Ada", "age": 36, "weight": 52.5, "member": True, "colour": "blue", "days": ["sat"]}


async def value_is_kept(run: ScenarioRun, schema: Mapping[str, Any], value: Any) -> None:
    run.require_user()
    await run.require_accept(NAME_FORM, _ADA)
    reply = await run.ask(form_params("it", it=schema), "accept", {"it": value})
    received = reply.content.get("it") if isinstance(reply.content, dict) else None
    run.expect(
        reply.accepted and _json_equal(received, value) and set(reply.content) == {"it"},
        f"The user entered {_shorten(value)}, but the server received {_shorten(reply)}.",
    )


async def field_name_is_kept(run: ScenarioRun, name: str) -> None:
    run.require_user()
    await run.require_accept(NAME_FORM, _ADA)
    params = form_params(name, message="What is it?", **{name: {"type": "string", "title": "It"}})
    reply = await run.ask(params, "accept", {name: "x"})
    run.expect(reply.content == {name: "x"}, f"The name of the field is {name!r}, but the server received {reply}.")


async def untouched_field_is_omitted(run: ScenarioRun, schema: Mapping[str, Any]) -> None:
    reply = await run.ask(form_params("name", name=NAME_FIELD, it=schema), "accept", _ADA)
    failure = f"The user did not touch an optional field, but the server received {reply}."
    if not reply.accepted:
        if run.under_test.user is None:
            raise InconclusiveError(f"The scenario needs an accept, but the server received {reply}.")
        await run.require_accept(NAME_FORM, _ADA)
    run.expect(reply.accepted and "it" not in reply.content, failure)


async def default_is_kept(run: ScenarioRun, schema: Mapping[str, Any]) -> None:
    run.require_user()
    reply = await run.require_accept(form_params("name", name=NAME_FIELD, it=schema), _ADA)
    default = schema["default"]
    received = reply.content.get("it", "nothing")
    run.expect(
        _json_equal(received, default),
        f"The user kept the default {default!r}, but the server received {received!r}.",
    )


async def user_wins_over_default(run: ScenarioRun) -> None:
    run.require_user()
    params = form_params(name={"type": "string", "default": "Bern"}, sure={"type": "boolean", "default": True})
    reply = await run.require_accept(params, {"name": "Oslo", "sure": False})
    run.expect(reply.content == {"name": "Oslo", "sure": False}, f"The server received {reply.content}.")


async def invalid_default_is_not_sent(run: ScenarioRun, schema: Mapping[str, Any]) -> None:
    await run.require_accept(NAME_FORM, _ADA)
    reply = await run.ask(form_params("name", name=NAME_FIELD, it=schema), "accept", _ADA)
    run.expect(
        not reply.accepted or not _json_equal((reply.content or {}).get("it", ...), schema["default"]),
        f"The default is invalid, but the server received {reply.content}.",
    )


async def no_nulls(run: ScenarioRun) -> None:
    replies = [await run.ask(_ALL_KINDS, "accept", content) for content in (_ADA, _ALL_VALUES)]
    accepted = [reply.content for reply in replies if reply.accepted and isinstance(reply.content, dict)]
    if not accepted:
        raise InconclusiveError(f"The scenario needs an accept, but the server received {replies[0]}.")
    for content in accepted:
        run.expect(all(value is not None for value in content.values()), f"The server received {_shorten(content)}.")


async def values_of_the_wire(run: ScenarioRun) -> None:
    reply = await run.require_accept(_ALL_KINDS, _ALL_VALUES)
    for name, value in reply.content.items():
        is_list_of_texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
        run.expect(
            value is None or isinstance(value, (str, int, float, bool)) or is_list_of_texts,
            f"{name} was sent as {_shorten(value)}.",
        )


async def only_what_was_asked_for(run: ScenarioRun) -> None:
    await run.require_accept(NAME_FORM, _ADA)
    reply = await run.ask(NAME_FORM, "accept", {**_ADA, "token": "4711"})
    sent = set(reply.content) if isinstance(reply.content, dict) else set()
    run.expect(sent <= {"name"}, f"The form requests only the name, but the server received {reply.content}.")


def _json_equal(left: Any, right: Any) -> bool:
    """Return True if two JSON values are equal.  True and 1 are different."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_json_equal, left, right))
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _shorten(value: object) -> str:
    text = str(value) if not isinstance(value, str) else repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN // 2]} ... ({len(text)} characters)"
