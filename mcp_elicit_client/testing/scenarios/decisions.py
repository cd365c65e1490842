"""Scenarios about decisions: the server gets the action that the user chose."""

from __future__ import annotations

from typing import Any

from mcp_elicit_client.testing.callback_under_test import UserActionName
from mcp_elicit_client.testing.scenario_run import InconclusiveError, ScenarioRun
from mcp_elicit_client.testing.scenarios.requests import NAME_FIELD, NAME_FORM, REQUESTS, form_params, url_params

_CONTENT = {"name": "Ada Lovelace"}


async def action_is_kept(run: ScenarioRun, request: str, action: UserActionName) -> None:
    run.require_user()
    params = REQUESTS[request]
    content = _CONTENT if request == "form" else {}
    # A callback that always returns the same action proves nothing, so also test another action.
    if action == "accept":
        control = await run.ask(params, "decline", content)
        if control.accepted:
            raise InconclusiveError("The callback also accepts what the user declines.")
    else:
        await run.require_accept(params, content)
    reply = await run.ask(params, action, content)
    if reply.refused:
        raise InconclusiveError(f"The callback does not support such requests: the server received {reply}.")
    run.expect(reply.action == action, f"The action of the user is {action}, but the server received {reply}.")


async def action_has_no_content(run: ScenarioRun, action: UserActionName) -> None:
    run.require_user()
    await run.require_accept(NAME_FORM, _CONTENT)
    reply = await run.ask(NAME_FORM, action, _CONTENT)
    run.expect(reply.result is not None, f"The server received {reply}.")
    run.expect("content" not in (reply.result or {}), f"The server received {reply}.")


async def no_content_with_url(run: ScenarioRun) -> None:
    reply = await run.require_accept(url_params())
    run.expect("content" not in (reply.result or {}), f"The server received {reply}.")


async def accept_has_content(run: ScenarioRun) -> None:
    reply = await run.require_accept(form_params(name=NAME_FIELD))
    run.expect(isinstance(reply.content, dict), f"The server received {reply}.")


async def no_mode_is_a_form(run: ScenarioRun) -> None:
    await run.require_accept(NAME_FORM, _CONTENT)
    params = {key: value for key, value in NAME_FORM.items() if key != "mode"}
    reply = await run.ask(params, "accept", _CONTENT)
    run.expect(reply.accepted, f"The form is accepted with its mode. Without it, the server received {reply}.")


async def unknown_keys_do_no_harm(run: ScenarioRun, schema_keys: dict[str, Any], request_keys: dict[str, Any]) -> None:
    await run.require_accept(NAME_FORM, _CONTENT)
    schema = {**NAME_FORM["requestedSchema"], **schema_keys}
    reply = await run.ask({**NAME_FORM, **request_keys, "requestedSchema": schema}, "accept", _CONTENT)
    run.expect(
        reply.accepted and reply.content == _CONTENT,
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
    await run.require_accept(fruit, {"fruit": "pear"})
    replies = await run.ask_all([(fruit, "accept", {"fruit": "plum"}), (city, "accept", {"city": "Bern"})])
    received = [reply.content for reply in replies]
    run.expect(received == [{"fruit": "plum"}, {"city": "Bern"}], f"The server received {replies[0]} and {replies[1]}.")


async def server_is_named(run: ScenarioRun) -> None:
    run.require_user()
    await run.find_accepted()
    run.require_shown("word-4711")
    run.expect(
        run.under_test.server in run.shown or run.server.name in run.shown,
        "The user is shown the request without the name of a server.",
    )


async def message_is_shown(run: ScenarioRun) -> None:
    run.require_user()
    field = {"type": "string", "title": "colour-4711"}
    params = form_params("colour-4711", message="reason-4712", **{"colour-4711": field})
    await run.ask(params, "accept", {"colour-4711": "red"})
    run.require_shown("colour-4711")
    run.expect("reason-4712" in run.shown, "The user is shown the fields without the message.")


async def options_are_shown(run: ScenarioRun) -> None:
    run.require_user()
    size = {"type": "string", "title": "Size 4711", "enum": ["petite", "grande"]}
    await run.ask(form_params("size", size=size, message="Which size, 4711?"), "accept", {"size": "grande"})
    run.require_shown("4711")
    run.expect("petite" in run.shown and "grande" in run.shown, "The user is shown the request without its options.")
