"""The scenarios: each passes on what is right, and fails on what is broken where it looks."""

from __future__ import annotations

import re

import pytest

from mcp_elicit_client.testing import SCENARIOS, CallbackUnderTest, run_scenario
from mcp_elicit_client.testing.scenarios import GROUPS
from tests.support.broken import BROKEN_CALLBACKS, broken
from tests.support.subjects import scripted

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

OF_MCP_2 = {"withdrawn-is-no-answer", "server-may-die"}
"""What mcp 1.x cannot do, whatever the callback is."""


def test_there_are_enough_scenarios_and_each_has_its_reason() -> None:
    assert len(SCENARIOS) >= 60
    assert len(SCENARIOS) == sum(len(group.scenarios) for group in GROUPS)
    for name, scenario in SCENARIOS.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", name), name
        assert scenario.title.endswith("."), name
        assert scenario.because, name
        assert scenario.source, name


def test_every_scenario_has_a_callback_that_is_broken_there_and_no_other() -> None:
    assert set(BROKEN_CALLBACKS) == set(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_callback_that_is_broken_there_fails(name: str) -> None:
    verdict = await run_scenario(broken(BROKEN_CALLBACKS[name]), SCENARIOS[name], answer_timeout=3)

    if verdict.outcome == "not applicable":
        assert name in OF_MCP_2
    else:
        assert (verdict.outcome, bool(verdict.reason)) == ("fail", True)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_ours_passes(name: str) -> None:
    verdict = await run_scenario(scripted(), SCENARIOS[name])

    if verdict.outcome == "not applicable":
        assert name in OF_MCP_2
    else:
        assert (verdict.outcome, verdict.reason) == ("pass", "")


@pytest.mark.parametrize("name", SCENARIOS)
async def test_whoever_always_declines_passes_little_and_nothing_that_takes_an_accept(name: str) -> None:
    from mcp.types import ElicitResult

    async def decline(_context: object, _params: object) -> ElicitResult:
        return ElicitResult(action="decline")

    verdict = await run_scenario(CallbackUnderTest(decline), SCENARIOS[name], answer_timeout=1)

    if verdict.outcome == "pass":
        assert name in PASSED_BY_A_DECLINE
    elif verdict.outcome == "fail":
        assert name == "nobody-is-not-a-decline"


PASSED_BY_A_DECLINE = {
    "doubling-survived",
    "huge-numbers-survived",
    "long-message-survived",
    "many-fields-survived",
    "many-options-survived",
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
"""What is right about saying no to everything."""
