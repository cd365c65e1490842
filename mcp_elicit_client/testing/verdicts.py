"""Scenarios, and what comes out of them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio

from mcp_elicit_client.core.text import printable
from mcp_elicit_client.testing.server import ERAS, Era
from mcp_elicit_client.testing.trial import (
    FailedError,
    NoAnswerError,
    NotApplicableError,
    NotReachedError,
    Subject,
    Trial,
    trying,
)
from mcp_elicit_client.testing.wish import NoWayError

Outcome: TypeAlias = Literal["pass", "fail", "not reached", "not applicable"]
"""
What came out: it is right; it is wrong; it could not be seen, since the
callback did not come to the point or its user could not be played; or the
installed SDK does not know what it is about.
"""

PATIENCE = 5.0
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
        eras: In which eras it makes sense.
        hang_fails: Whether no answer is a failure, and not just no verdict.
    """

    name: str
    title: str
    because: str
    source: str
    group: str
    run: Callable[[Trial], Awaitable[None]]
    eras: tuple[Era, ...] = ("push", "rounds")
    hang_fails: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    What came out of one scenario.

    Attributes:
        scenario: Its name.
        outcome: What came out.
        reason: Why, in a sentence that is safe to show; empty for a pass.
        era: The era in which it came out, where it did not come out in the first.
        seconds: How long it took.
    """

    scenario: str
    outcome: Outcome
    reason: str = ""
    era: Era | None = None
    seconds: float = 0.0


async def judge(subject: Subject, scenario: Scenario, *, patience: float = PATIENCE) -> Verdict:
    """
    Try *scenario* on *subject*, in every era that the installed SDK speaks.

    A failure in one era is the verdict, and ends it; then what could not be
    seen in one.

    Args:
        subject: What is tested.
        scenario: What is tried.
        patience: How long the callback has for one answer, in seconds.
    """
    started = time.monotonic()
    eras = [era for era in ERAS if era in scenario.eras]
    if not eras:
        return Verdict(scenario=scenario.name, outcome="not applicable", reason="it takes mcp 2")
    found: list[tuple[Era, Outcome, str]] = []
    for era in eras:
        found.append((era, *await _judge_in(subject, scenario, era, patience)))
        if found[-1][1] == "fail":
            break
    order: tuple[Outcome, ...] = ("fail", "not reached", "not applicable", "pass")
    era, outcome, reason = min(found, key=lambda each: order.index(each[1]))
    return Verdict(
        scenario=scenario.name,
        outcome=outcome,
        reason=printable(reason, limit=_REASON, multiline=False),
        era=None if found[0][1] == outcome else era,
        seconds=round(time.monotonic() - started, 3),
    )


async def judge_all(subject: Subject, scenarios: Iterable[Scenario], *, patience: float = PATIENCE) -> list[Verdict]:
    """Try *scenarios* on *subject*, one after the other."""
    return [await judge(subject, scenario, patience=patience) for scenario in scenarios]


async def _judge_in(subject: Subject, scenario: Scenario, era: Era, patience: float) -> tuple[Outcome, str]:
    outcome: Outcome = "pass"
    reason = ""
    try:
        async with trying(subject, era, patience) as trial:
            try:
                await scenario.run(trial)
            except FailedError as error:
                outcome, reason = "fail", str(error)
            except NoAnswerError as error:
                outcome, reason = ("fail" if scenario.hang_fails else "not reached"), str(error)
            except NotReachedError as error:
                outcome, reason = "not reached", str(error)
            except NotApplicableError as error:
                outcome, reason = "not applicable", str(error)
            except NoWayError as error:
                outcome, reason = "not reached", f"the interface has no way for it: {error}"
    except Exception as error:  # noqa: BLE001 -- what the SDK raises when a connection is cut
        if outcome == "pass" and not _is_end(error):
            outcome, reason = "not reached", f"the connection failed: {type(error).__name__}"
    return outcome, reason


def _is_end(error: BaseException) -> bool:
    several = getattr(error, "exceptions", None)
    if several is not None:
        return all(_is_end(each) for each in several)
    return isinstance(error, (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream))
