"""The scenarios: each passes on a correct callback and fails on one that is broken in that respect."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_elicit_client.testing import SCENARIOS, CallbackUnderTest, run_scenario
from tests.support.broken_callbacks import BROKEN_CALLBACKS, CHANGED_VALUES, PARTLY_BROKEN, Break, broken
from tests.support.callbacks import scripted

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

SILENCE = 0.8
"""Seconds for which a silent user is watched here."""

OF_MCP_2 = {"withdrawn-is-no-answer", "server-may-die", "tasks-get-their-answers"}
"""Scenarios that do not apply to mcp 1.x."""


def test_every_scenario_has_one_broken_callback() -> None:
    assert set(BROKEN_CALLBACKS) == set(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_broken_callback_fails(name: str) -> None:
    result = await run_scenario(broken(BROKEN_CALLBACKS[name]), name, answer_timeout=3, silence=SILENCE)

    if result.outcome == "not applicable":
        assert name in OF_MCP_2
    else:
        assert (result.outcome, bool(result.reason)) == ("fail", True)


@pytest.mark.parametrize(("name", "spoil"), CHANGED_VALUES.values(), ids=CHANGED_VALUES)
async def test_a_callback_that_changes_what_the_user_entered_fails(name: str, spoil: Break) -> None:
    result = await run_scenario(broken(spoil), name, answer_timeout=3)

    assert result.outcome == "fail"


@pytest.mark.parametrize(("name", "spoil"), PARTLY_BROKEN.values(), ids=PARTLY_BROKEN)
async def test_a_callback_that_is_broken_only_in_some_cases_fails(name: str, spoil: Break) -> None:
    result = await run_scenario(broken(spoil), name, answer_timeout=3)

    assert result.outcome == "fail"


@pytest.mark.parametrize("name", SCENARIOS)
async def test_our_callback_passes(name: str) -> None:
    result = await run_scenario(scripted(), name, silence=SILENCE)

    if result.outcome == "not applicable":
        assert name in OF_MCP_2
    else:
        assert (result.outcome, result.reason) == ("pass", "")


@pytest.mark.parametrize(("deliveries", "error"), [(["x"], ValueError), ("server-initiated", TypeError)])
async def test_deliveries_that_are_none_are_named(deliveries: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="deliver"):
        await run_scenario(scripted(), next(iter(SCENARIOS)), deliveries=deliveries)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_callback_that_always_declines_passes_only_scenarios_that_need_no_accept(name: str) -> None:
    from mcp.types import ElicitResult

    async def decline(_context: object, _params: object) -> ElicitResult:
        return ElicitResult(action="decline")

    result = await run_scenario(CallbackUnderTest(decline), name, answer_timeout=1)

    if result.outcome == "pass":
        assert name in PASSED_BY_A_DECLINE
    elif result.outcome == "fail":
        assert name == "nobody-is-not-a-decline"


PASSED_BY_A_DECLINE = {
    "doubling-survived",
    "huge-numbers-survived",
    "long-message-survived",
    "many-fields-survived",
    "many-options-survived",
    "message-only-gets-an-answer",
    "no-reference-fetched",
    "nobody-confirms-nothing",
    "nobody-fills-in-no-form",
    "nobody-holds-up-nothing",
    "nobody-raises-nothing",
    "url-mode-gets-an-answer",
    "url-not-fetched",
    "url-not-logged",
    "url-not-opened-by-nobody",
}
"""Scenarios that a callback passes although it always declines."""


@pytest.mark.parametrize(
    ("name", "outcome"), [("form-accept-is-accept", "fail"), ("form-decline-is-decline", "inconclusive")]
)
async def test_a_callback_that_returns_nothing_is_told_to_return_a_result(name: str, outcome: str) -> None:
    async def callback(_context: object, _params: object) -> None:
        """Return nothing, as a function whose last branch has no ``return``."""

    result = await run_scenario(CallbackUnderTest(callback, lambda _: []), name)

    assert (result.outcome, result.reason) == (
        outcome,
        "The callback returned NoneType, which is neither an answer nor an error.",
    )
    assert ("return an ElicitResult" in result.next_step) == (outcome == "inconclusive")
