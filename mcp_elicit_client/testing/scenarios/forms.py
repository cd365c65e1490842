"""Scenarios with forms: the action and the values of the user reach the server, and no invalid value does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from mcp_elicit_client.sdk.tasks_extension import supports_tasks
from mcp_elicit_client.testing.callback_under_test import UserAction, UserActionName
from mcp_elicit_client.testing.scenario_run import (
    ALLOW_INCONCLUSIVE,
    SENTINEL_URL,
    FailedError,
    InconclusiveError,
    NoAnswerError,
    NotApplicableError,
    ScenarioRun,
)
from mcp_elicit_client.testing.scenarios.requests import NAME_FIELD, NAME_FORM, REQUESTS, form_params, url_params

_ADA = {"name": "Ada"}
_MAX_BLOCK = 1.0
_MAX_SHOWN = 160
_MANY = 500
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


# --- Decisions: the server receives the action of the user


async def action_is_kept(run: ScenarioRun, request: str, action: UserActionName) -> None:
    run.require_user()
    params = REQUESTS[request]
    content = _ADA if request == "form" else {}
    # A callback that always returns the same action proves nothing, so also test another action.
    if action == "accept":
        control = await run.ask(params, "decline", content)
        if control.accepted:
            raise InconclusiveError(
                "The callback also accepts what the user declines.",
                "Make the user hook decline; if it does, correct the callback.",
            )
    else:
        await run.require_accept(params, content)
    reply = await run.ask(params, action, content)
    if reply.refused:
        raise InconclusiveError(
            f"The callback does not support such requests: the server received {reply}.", ALLOW_INCONCLUSIVE
        )
    run.expect(reply.action == action, f"The action of the user is {action}, but the server received {reply}.")


async def action_has_no_content(run: ScenarioRun, action: UserActionName) -> None:
    run.require_user()
    await run.require_accept(NAME_FORM, _ADA)
    reply = await run.ask(NAME_FORM, action, _ADA)
    run.expect(reply.result is not None, f"The server received {reply}.")
    run.expect("content" not in (reply.result or {}), f"The server received {reply}.")


async def no_content_with_url(run: ScenarioRun) -> None:
    reply = await run.require_accept(url_params())
    run.expect("content" not in (reply.result or {}), f"The server received {reply}.")


async def accept_has_content(run: ScenarioRun) -> None:
    reply = await run.require_accept(form_params(name=NAME_FIELD))
    run.expect(isinstance(reply.content, dict), f"The server received {reply}.")


async def no_mode_is_a_form(run: ScenarioRun) -> None:
    await run.require_accept(NAME_FORM, _ADA)
    params = {key: value for key, value in NAME_FORM.items() if key != "mode"}
    reply = await run.ask(params, "accept", _ADA)
    run.expect(reply.accepted, f"The form is accepted with its mode. Without it, the server received {reply}.")


async def unknown_keys_do_no_harm(run: ScenarioRun, schema_keys: dict[str, Any], request_keys: dict[str, Any]) -> None:
    await run.require_accept(NAME_FORM, _ADA)
    schema = {**NAME_FORM["requestedSchema"], **schema_keys}
    reply = await run.ask({**NAME_FORM, **request_keys, "requestedSchema": schema}, "accept", _ADA)
    run.expect(
        reply.accepted and reply.content == _ADA,
        f"The form is accepted without the keys. With them, the server received {reply}.",
    )


async def thinking_takes_time(run: ScenarioRun) -> None:
    run.require_user()
    params, content = await run.find_accepted()
    reply = await run.ask(params, "accept", content, after=0.8)
    run.expect(reply.accepted, f"The server received {reply}.")


async def two_questions_at_once(run: ScenarioRun) -> None:
    run.require_user()
    fruit = form_params("fruit", fruit={"type": "string", "title": "A fruit"}, message="Which fruit?")
    city = form_params("city", city={"type": "string", "title": "A city"}, message="Which city?")
    replies = await run.ask_all([(fruit, "accept", {"fruit": "plum"}), (city, "accept", {"city": "Bern"})])
    if [reply.content for reply in replies] != [{"fruit": "plum"}, {"city": "Bern"}]:
        await run.require_accept(fruit, {"fruit": "pear"})
        raise FailedError(f"The server received {replies[0]} and {replies[1]}.")


async def two_users_at_once(run: ScenarioRun) -> None:
    run.require_user()
    names = {"Ann": form_params("name", name=NAME_FIELD, message="Ann, please fill this in.")}
    names["Ben"] = form_params("name", name=NAME_FIELD, message="Ben, please fill this in.")
    actions = [UserAction("accept", {"name": name}, params) for name, params in names.items()]
    replies = await run.ask_over_two_connections(actions)
    if [reply.content for reply in replies] != [{"name": "Ann"}, {"name": "Ben"}]:
        await run.require_accept(NAME_FORM, _ADA)
        raise FailedError(f"The server of Ann received {replies[0]}, and the server of Ben {replies[1]}.")


async def repeated_question_is_asked_again(run: ScenarioRun) -> None:
    run.require_user()
    await run.require_accept(NAME_FORM, _ADA)
    replies = await run.ask_all([(NAME_FORM, "accept", _ADA), (NAME_FORM, "decline", {})], in_turn=True)
    if not replies[0].accepted:
        raise run.not_accepted(replies[0])
    run.expect(
        not replies[1].accepted, f"The user declined the repeated question, but the server received {replies[1]}."
    )


async def restarted_server_asks_again(run: ScenarioRun) -> None:
    run.require_user()
    await run.require_accept(NAME_FORM, _ADA)
    for action in (UserAction("accept", _ADA, NAME_FORM), UserAction("decline", {}, NAME_FORM)):
        reply = await run.ask_over_new_connection(action)
        if action.action == "accept" and not reply.accepted:
            raise run.not_accepted(reply)
    run.expect(not reply.accepted, f"The user declined the request of the restarted server, but it received {reply}.")


async def tasks_get_their_answers(run: ScenarioRun) -> None:
    run.require_user()
    if not supports_tasks():
        raise NotApplicableError("It needs mcp 2.3.")
    await run.require_accept(NAME_FORM, _ADA)
    asked = [form_params("name", name=NAME_FIELD, message=f"{name}, please fill this in.") for name in ("Ann", "Ben")]
    actions = [UserAction("accept", {"name": "Ann"}, asked[0]), UserAction("decline", {}, asked[1])]
    replies = await run.ask_in_tasks(actions)
    run.expect(
        replies[0].content == {"name": "Ann"} and replies[1].action == "decline",
        f"Of two tasks, the accepted one received {replies[0]}, and the declined one {replies[1]}.",
    )


async def server_is_named(run: ScenarioRun) -> None:
    run.require_user()
    await run.find_accepted()
    run.require_shown("word-4711")
    run.expect(_is_server_shown(run), "The user is shown the request without the name of a server.")
    run.forget_shown()
    await run.ask(SENTINEL_URL, "decline")
    run.expect(
        _is_server_shown(run) or "word-4711" not in run.shown, "The user is shown a URL without the name of a server."
    )


def _is_server_shown(run: ScenarioRun) -> bool:
    return run.under_test.server in run.shown or run.server.name in run.shown


async def message_is_shown(run: ScenarioRun) -> None:
    run.require_user()
    field = {"type": "string", "title": "colour-4711"}
    params = form_params("colour-4711", message="reason-4712", **{"colour-4711": field})
    await run.ask(params, "accept", {"colour-4711": "red"})
    run.require_shown("colour-4711")
    run.expect("reason-4712" in run.shown, "The user is shown the fields without the message.")
    reply = await run.ask(form_params(message="reason-4713"), "accept")
    run.expect("reason-4713" in run.shown or not reply.accepted, "The user confirms a message that is not shown.")


async def options_are_shown(run: ScenarioRun) -> None:
    run.require_user()
    size = {"type": "string", "title": "Size 4711", "enum": ["petite", "grande"]}
    await run.ask(form_params("size", size=size, message="Which size, 4711?"), "accept", {"size": "grande"})
    run.require_shown("4711")
    run.expect("petite" in run.shown and "grande" in run.shown, "The user is shown the request without its options.")


# --- Values: the server receives what the user entered, and nothing else


async def value_is_kept(run: ScenarioRun, schema: Mapping[str, Any], value: Any, also: Sequence[Any] = ()) -> None:
    run.require_user()
    await run.require_accept(NAME_FORM, _ADA)
    values = {"it": value, **{f"it{number}": each for number, each in enumerate(also, 2)}}
    fields: dict[str, Any] = {name: {**schema, "title": name} if also else schema for name in values}
    reply = await run.ask(form_params(*values, **fields), "accept", values)
    received = reply.content if isinstance(reply.content, dict) else {}
    changed = [name for name in values if name not in received or not _json_equal(received[name], values[name])]
    is_kept = reply.accepted and not changed and received.keys() == values.keys()
    if reply.accepted and changed:
        entered, arrived = values[changed[0]], received.get(changed[0], "nothing")
    else:
        entered, arrived = values if also else value, reply
    run.expect(is_kept, f"The user entered {_shorten(entered)}, but the server received {_shorten(arrived)}.")


async def last_of_many_options(run: ScenarioRun) -> None:
    run.require_user()
    await run.require_accept(NAME_FORM, _ADA)
    codes = [f"code-{number}" for number in range(_MANY)]
    titled = [{"const": code, "title": f"Town no. {number}"} for number, code in enumerate(codes)]
    params = form_params(
        "plain",
        "titled",
        plain={"type": "string", "title": "Plain", "enum": codes},
        titled={"type": "string", "title": "Titled", "oneOf": titled},
    )
    content = {"plain": codes[-1], "titled": codes[-1]}
    reply = await run.ask(params, "accept", content)
    run.expect(
        reply.content == content, f"The user selected the last option, but the server received {_shorten(reply)}."
    )


async def optional_values_arrive(run: ScenarioRun) -> None:
    run.require_user()
    await run.require_accept(NAME_FORM, _ADA)
    optional = form_params(**_ALL_KINDS["requestedSchema"]["properties"])
    reply = await run.ask(optional, "accept", _ALL_VALUES)
    run.expect(
        reply.content == _ALL_VALUES, f"The user entered {_ALL_VALUES}, but the server received {_shorten(reply)}."
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
            raise run.not_accepted(reply)
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
        raise run.not_accepted(replies[0])
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


# --- Validation: an invalid value is not sent


async def invalid_value_is_refused(
    run: ScenarioRun, schema: Mapping[str, Any], valid: Any, invalid: Any, corrected: Any = None
) -> None:
    run.require_user()
    # A callback may check only required fields, or only the first field of a form.
    optional, required = form_params("name", name=NAME_FIELD, it=schema), form_params("it", it=schema)
    await run.require_accept(optional, {**_ADA, "it": valid})
    for params, others in ((required, {}), (optional, _ADA)):
        reply = await run.ask(params, "accept", {**others, "it": invalid})
        content = reply.content if isinstance(reply.content, dict) else {}
        is_corrected = corrected is not None and content.get("it") == corrected
        is_omitted = params is optional and "it" not in content
        run.expect(
            not reply.accepted or is_corrected or is_omitted,
            f"{str(invalid)[:60]!r} is invalid, but the server received {str(reply)[:160]}.",
        )


async def time_without_zone_is_not_sent(run: ScenarioRun, schema: Mapping[str, Any], valid: Any, invalid: str) -> None:
    run.require_user()
    params = form_params("it", it=schema)
    await run.require_accept(params, {"it": valid})
    reply = await run.ask(params, "accept", {"it": invalid})
    received = reply.content.get("it") if isinstance(reply.content, dict) else None
    # A host that knows the zone of the user may add it.
    is_zoned = isinstance(received, str) and re.fullmatch(rf"{invalid}(Z|[+-]\d\d:\d\d)", received)
    run.expect(not reply.accepted or is_zoned, f"{invalid!r} has no time zone, but the server received {reply}.")


async def not_finite_is_refused(run: ScenarioRun, schema: Mapping[str, Any], valid: Any, invalid: str) -> None:
    # JSON cannot represent the number, so the data file has its text.
    await invalid_value_is_refused(run, schema, valid, float(invalid))


async def required_is_required(run: ScenarioRun) -> None:
    params = form_params("name", "city", name=NAME_FIELD, city={"type": "string", "title": "City", "minLength": 1})
    reply = await run.ask(params, "accept", {**_ADA, "city": "Bern"})
    if run.under_test.user is not None or not reply.accepted:
        if not reply.accepted:
            await run.require_accept(NAME_FORM, _ADA)
        reply = await run.ask(params, "accept", _ADA)
    city = (reply.content or {}).get("city") if isinstance(reply.content, dict) else None
    run.expect(not reply.accepted or city, f"A required field is empty, but the server received {reply}.")


async def pattern_is_a_search(run: ScenarioRun) -> None:
    run.require_user()
    params = form_params("it", it={"type": "string", "pattern": "b+"})
    await run.require_accept(params, {"it": "bb"})
    reply = await run.ask(params, "accept", {"it": "abbc"})
    run.expect(
        reply.accepted and reply.content == {"it": "abbc"}, f"abbc contains b+, but the server received {reply}."
    )


async def broken_pattern_survived(run: ScenarioRun) -> None:
    run.require_user()
    await run.require_accept(form_params("it", it={"type": "string"}), {"it": "x"})
    reply = await run.ask(form_params("it", it={"type": "string", "pattern": "(["}), "accept", {"it": "x"})
    run.expect_nothing_raised()
    run.expect(reply.result is not None, f"The server received {reply}.")


async def slow_pattern_holds_up_nothing(run: ScenarioRun) -> None:
    run.require_user()
    params = form_params("it", it={"type": "string", "pattern": "^(a+)+$"})
    await run.require_accept(params, {"it": "aaa"})
    run.longest_block = 0.0
    # A form that keeps asking for a valid value is correct as well.
    with suppress(NoAnswerError):
        await run.ask(params, "accept", {"it": "a" * 26 + "!"})
    run.expect_no_block(_MAX_BLOCK)
