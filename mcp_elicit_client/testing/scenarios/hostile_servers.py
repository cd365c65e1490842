"""Scenarios with hostile servers: payloads, escape sequences, floods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.testing.hostile_server import payload_params
from mcp_elicit_client.testing.scenario_run import InconclusiveError, NotApplicableError, ScenarioRun
from mcp_elicit_client.testing.scenarios.requests import NAME_FIELD, NAME_FORM, form_params

_MAX_BLOCK = 2.0
_FLOOD = 60
_MAX_SHOWN_OF_FLOOD = 40


async def payload_is_survived(run: ScenarioRun, payload: str) -> None:
    await run.ask(NAME_FORM, "decline")
    run.longest_block = 0.0
    started = run.started
    reply = await run.ask(payload_params(payload), "decline")
    if not started or run.started == started:
        raise InconclusiveError("The SDK refused the request before it reached the callback.")
    run.expect_nothing_raised()
    run.expect_no_block(_MAX_BLOCK)
    has_reply = reply.result is not None or reply.error is not None or reply.refused
    run.expect(has_reply, f"The server received {reply}.")
    run.expect(not reply.accepted, "The user declined, but the server received an accept.")


async def no_reference_fetched(run: ScenarioRun) -> None:
    observations = (
        ("http://127.0.0.1:9/4711", run.observer.reached, "127.0.0.1"),
        ("file:///4711", run.observer.read, "4711"),
    )
    for reference, observed, name in observations:
        params = form_params("name", name=NAME_FIELD, it={"$ref": reference})
        await run.ask(params, "accept", {"name": "Ada", "it": "x"})
        if not run.started:
            raise InconclusiveError("The SDK refused the request before it reached the callback.")
        events = observed(name)
        run.expect(not events, f"{reference} was fetched ({events[0].name if events else ''}).")


async def text_is_sanitized(run: ScenarioRun, params: Mapping[str, Any], control: str) -> None:
    run.require_user()
    await run.ask(params, "decline")
    run.require_shown("word-4711")
    run.expect(control not in run.shown, "The user is shown the text unsanitized.")


async def flood_is_held_back(run: ScenarioRun) -> None:
    run.require_user()
    shown = 0
    params, _ = await run.find_accepted()
    for number in range(_FLOOD):
        run.seen.clear()
        before = len(run.observer.printed)
        await run.ask({**params, "message": f"Please, word-4711 {number}"}, "decline")
        shown += "word-4711" in "\n".join([*run.seen, run.observer.printed[before:]])
    if not shown:
        raise InconclusiveError("The user interface cannot be observed.")
    run.expect(shown < _MAX_SHOWN_OF_FLOOD, f"The user was shown {shown} of {_FLOOD} requests in a row.")


async def server_may_die(run: ScenarioRun) -> None:
    run.require_user()
    if not supports_multi_round_trip():
        raise NotApplicableError("mcp 1 does not notice a closed connection while the callback runs.")
    params, _ = await run.find_accepted()

    async def ask() -> None:
        await run.ask(params, "hang")

    await run.interrupt(ask, run.server.disconnect)
