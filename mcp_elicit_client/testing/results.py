"""Scenarios, and what comes out of them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio

from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.testing.fake_server import DELIVERIES, Delivery
from mcp_elicit_client.testing.scenario_run import (
    CallbackUnderTest,
    FailedError,
    InconclusiveError,
    NoAnswerError,
    NotApplicableError,
    ScenarioRun,
    trying,
)
from mcp_elicit_client.testing.user_action import UnsupportedActionError

Outcome: TypeAlias = Literal["pass", "fail", "inconclusive", "not applicable"]
"""
What came out: it is right; it is wrong; it could not be seen, since the
callback did not come to the point or its user could not be played; or the
installed SDK does not know what it is about.
"""

ANSWER_TIMEOUT = 5.0
"""How long a callback has for one answer, in seconds, unless told otherwise."""

_REASON = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """
    One thing that a callback must get right.

    Attributes:
        name: Its stable name.
        title: What is right, as a sentence.
        because: What the specification says, or what went wrong elsewhere.
        source: Where that is to be read: revision and section, or an issue.
        group: What it is about.
        run: Tries it.
        deliveries: In which deliveries it makes sense.
        hang_fails: Whether no answer is a failure, and not just no verdict.
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
    What came out of one scenario.

    Attributes:
        scenario: Its name.
        outcome: What came out.
        reason: Why, in a sentence that is safe to show; empty for a pass.
        delivery: The delivery in which it came out, where it did not come out in the first.
        seconds: How long it took.
    """

    scenario: str
    outcome: Outcome
    reason: str = ""
    delivery: Delivery | None = None
    seconds: float = 0.0


async def run_scenario(
    subject: CallbackUnderTest, scenario: Scenario, *, answer_timeout: float = ANSWER_TIMEOUT
) -> ScenarioResult:
    """
    Try *scenario* on *subject*, in every delivery that the installed SDK speaks.

    A failure in one delivery is the verdict, and ends it; then what could not be
    seen in one.

    Args:
        subject: What is tested.
        scenario: What is tried.
        answer_timeout: How long the callback has for one answer, in seconds.
    """
    started = time.monotonic()
    deliveries = [delivery for delivery in DELIVERIES if delivery in scenario.deliveries]
    if not deliveries:
        return ScenarioResult(scenario=scenario.name, outcome="not applicable", reason="it takes mcp 2")
    found: list[tuple[Delivery, Outcome, str]] = []
    for delivery in deliveries:
        found.append((delivery, *await _judge_in(subject, scenario, delivery, answer_timeout)))
        if found[-1][1] == "fail":
            break
    order: tuple[Outcome, ...] = ("fail", "inconclusive", "not applicable", "pass")
    delivery, outcome, reason = min(found, key=lambda each: order.index(each[1]))
    return ScenarioResult(
        scenario=scenario.name,
        outcome=outcome,
        reason=sanitize_text(reason, limit=_REASON, multiline=False),
        delivery=None if found[0][1] == outcome else delivery,
        seconds=round(time.monotonic() - started, 3),
    )


async def run_scenarios(
    subject: CallbackUnderTest, scenarios: Iterable[Scenario], *, answer_timeout: float = ANSWER_TIMEOUT
) -> list[ScenarioResult]:
    """Try *scenarios* on *subject*, one after the other."""
    return [await run_scenario(subject, scenario, answer_timeout=answer_timeout) for scenario in scenarios]


async def _judge_in(
    subject: CallbackUnderTest, scenario: Scenario, delivery: Delivery, patience: float
) -> tuple[Outcome, str]:
    outcome: Outcome = "pass"
    reason = ""
    try:
        async with trying(subject, delivery, patience) as trial:
            try:
                await scenario.run(trial)
            except FailedError as error:
                outcome, reason = "fail", str(error)
            except NoAnswerError as error:
                outcome, reason = ("fail" if scenario.hang_fails else "inconclusive"), str(error)
            except InconclusiveError as error:
                outcome, reason = "inconclusive", str(error)
            except NotApplicableError as error:
                outcome, reason = "not applicable", str(error)
            except UnsupportedActionError as error:
                outcome, reason = "inconclusive", f"the interface has no way for it: {error}"
    except Exception as error:  # noqa: BLE001 -- what the SDK raises when a connection is cut
        if outcome == "pass" and not _is_end(error):
            outcome, reason = "inconclusive", f"the connection failed: {type(error).__name__}"
    return outcome, reason


def _is_end(error: BaseException) -> bool:
    several = getattr(error, "exceptions", None)
    if several is not None:
        return all(_is_end(each) for each in several)
    return isinstance(error, (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream))
