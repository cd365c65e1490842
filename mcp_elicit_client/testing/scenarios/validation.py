"""Scenarios about validation: an invalid value is not sent."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mcp_elicit_client.testing.scenario_run import NoAnswerError, ScenarioRun
from mcp_elicit_client.testing.scenarios.requests import NAME_FIELD, NAME_FORM, form_params

_ADA = {"name": "Ada"}
_MAX_BLOCK = 1.0


async def invalid_value_is_refused(
    run: ScenarioRun, schema: Mapping[str, Any], valid: Any, invalid: Any, corrected: Any = None
) -> None:
    run.require_user()
    params = form_params("it", it=schema)
    await run.require_accept(params, {"it": valid})
    reply = await run.ask(params, "accept", {"it": invalid})
    received = reply.content.get("it") if isinstance(reply.content, dict) else None
    run.expect(
        not reply.accepted or (corrected is not None and received == corrected),
        f"{str(invalid)[:60]!r} is invalid, but the server received {str(reply)[:160]}.",
    )


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
