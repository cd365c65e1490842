"""Scenarios, their results, and how one scenario is run in this process."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio

from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.testing.callback_under_test import CallbackUnderTest, UnsupportedActionError
from mcp_elicit_client.testing.fake_server import DELIVERIES, Delivery
from mcp_elicit_client.testing.scenario_run import (
    FailedError,
    InconclusiveError,
    NoAnswerError,
    NotApplicableError,
    ScenarioRun,
    start_run,
)

Outcome: TypeAlias = Literal["pass", "fail", "inconclusive", "not applicable"]
"""
Correct; wrong; inconclusive, because the callback did not reach the tested
step or its user could not be played; or not supported by the installed SDK.
"""

ANSWER_TIMEOUT = 5.0
"""The default of the maximum seconds for one answer."""

_MAX_REASON = 400
_WORST_FIRST: tuple[Outcome, ...] = ("fail", "inconclusive", "not applicable", "pass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """
    One thing that a callback must do correctly.

    Attributes:
        name: The stable name.
        title: The correct behavior, as a sentence.
        because: The sentence of the specification, or the defect that was
            found in other clients.
        source: Where to read about it: protocol version and section, or an
            issue.
        group: The topic.
        run: Runs the scenario.
        deliveries: The deliveries to which it applies.
        hang_fails: True if a missing answer is a failure, False if it is
            inconclusive.
    """

    name: str
    title: str
    because: str
    source: str
    group: str
    run: Callable[[ScenarioRun], Awaitable[None]]
    deliveries: tuple[Delivery, ...] = ("server-initiated", "multi-round-trip")
    hang_fails: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult:
    """
    The result of one scenario.

    Attributes:
        scenario: The name of the scenario.
        outcome: The outcome.
        reason: The reason, as sanitized text; empty for a pass.
        delivery: The delivery with this outcome; None if the first delivery
            has it.
        seconds: The duration.
    """

    scenario: str
    outcome: Outcome
    reason: str = ""
    delivery: Delivery | None = None
    seconds: float = 0.0


async def run_scenario(
    under_test: CallbackUnderTest, scenario: Scenario, *, answer_timeout: float = ANSWER_TIMEOUT
) -> ScenarioResult:
    """
    Run *scenario* with every delivery that the installed SDK supports.

    The worst outcome is the result.  After a failure, the remaining delivery
    is skipped.

    Args:
        under_test: The callback.
        scenario: The scenario.
        answer_timeout: Maximum seconds for one answer.
    """
    started = time.monotonic()
    deliveries = [delivery for delivery in DELIVERIES if delivery in scenario.deliveries]
    if not deliveries:
        return ScenarioResult(scenario=scenario.name, outcome="not applicable", reason="It needs mcp 2.")
    found: list[tuple[Delivery, Outcome, str]] = []
    for delivery in deliveries:
        found.append((delivery, *await _run_once(under_test, scenario, delivery, answer_timeout)))
        if found[-1][1] == "fail":
            break
    delivery, outcome, reason = min(found, key=lambda each: _WORST_FIRST.index(each[1]))
    return ScenarioResult(
        scenario=scenario.name,
        outcome=outcome,
        reason=sanitize_text(reason, limit=_MAX_REASON, multiline=False),
        delivery=None if found[0][1] == outcome else delivery,
        seconds=round(time.monotonic() - started, 3),
    )


async def run_scenarios(
    under_test: CallbackUnderTest, scenarios: Iterable[Scenario], *, answer_timeout: float = ANSWER_TIMEOUT
) -> list[ScenarioResult]:
    """Run *scenarios* one after the other; return their results."""
    return [await run_scenario(under_test, scenario, answer_timeout=answer_timeout) for scenario in scenarios]


async def _run_once(
    under_test: CallbackUnderTest, scenario: Scenario, delivery: Delivery, answer_timeout: float
) -> tuple[Outcome, str]:
    outcome: Outcome = "pass"
    reason = ""
    try:
        async with start_run(under_test, delivery, answer_timeout) as run:
            try:
                await scenario.run(run)
            except FailedError as error:
                outcome, reason = "fail", str(error)
            except NoAnswerError as error:
                outcome, reason = ("fail" if scenario.hang_fails else "inconclusive"), str(error)
            except InconclusiveError as error:
                outcome, reason = "inconclusive", str(error)
            except NotApplicableError as error:
                outcome, reason = "not applicable", str(error)
            except UnsupportedActionError as error:
                outcome, reason = "inconclusive", f"The interface does not support this action: {error}"
    except Exception as error:  # noqa: BLE001 -- the SDK raises when a connection is closed
        if outcome == "pass" and not _is_disconnect(error):
            outcome, reason = "inconclusive", f"The connection failed: {type(error).__name__}."
    return outcome, reason


def _is_disconnect(error: BaseException) -> bool:
    several = getattr(error, "exceptions", None)
    if several is not None:
        return all(_is_disconnect(each) for each in several)
    return isinstance(error, (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream))
