"""Runs scenarios in this process, and writes their results as text, JSON and JUnit XML."""

from __future__ import annotations

import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args
from xml.etree import ElementTree as ET

import anyio

from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.testing.callback_under_test import CallbackUnderTest, UnsupportedActionError
from mcp_elicit_client.testing.fake_server import DELIVERIES, Delivery
from mcp_elicit_client.testing.scenario_run import (
    FailedError,
    InconclusiveError,
    NoAnswerError,
    NotApplicableError,
    start_run,
)
from mcp_elicit_client.testing.scenarios import SCENARIOS, Scenario

Outcome: TypeAlias = Literal["pass", "fail", "inconclusive", "not applicable"]
"""
Correct; wrong; inconclusive, because the callback did not reach the tested
step or its user could not be played; or not supported by the installed SDK.
"""

ANSWER_TIMEOUT = 5.0
"""The default of the maximum seconds for one answer."""

_MAX_REASON = 400
_WIDTH = 100
_INDENT = 4
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_WORST_FIRST: tuple[Outcome, ...] = ("fail", "inconclusive", "not applicable", "pass")


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


# --- Reports


def as_text(results: Sequence[ScenarioResult], *, verbose: bool = False) -> Iterator[str]:
    """
    Yield the lines of the report: failures with their reasons, and counts.

    Args:
        results: The results.
        verbose: Also list the scenarios that pass.
    """
    for group in dict.fromkeys(_scenario(each).group for each in results):
        in_group = [each for each in results if _scenario(each).group == group]
        yield f"{group[0].upper()}{group[1:]}: {count_outcomes(in_group)}"
        for result in in_group:
            yield from _result_lines(result, verbose=verbose)
        yield from _unfinished_lines(in_group)
    yield ""
    yield f"{len(results)} scenarios: {count_outcomes(results)}"


def _result_lines(result: ScenarioResult, *, verbose: bool) -> Iterator[str]:
    scenario = _scenario(result)
    delivery = f" ({result.delivery})" if result.delivery else ""
    if result.outcome == "fail":
        yield f"  FAIL {result.scenario}{delivery}"
        yield from _wrap(scenario.title)
        yield from _wrap(f"Result: {result.reason}")
        yield from _wrap(f"Reason: {scenario.because}")
        yield from _wrap(f"Reference: {scenario.source}")
    elif result.outcome == "pass" and verbose:
        yield f"  pass {result.scenario}"


def _unfinished_lines(results: Sequence[ScenarioResult]) -> Iterator[str]:
    """Yield the inconclusive and not applicable scenarios, grouped by reason."""
    names: dict[tuple[Outcome, str], list[str]] = {}
    for each in results:
        if each.outcome in ("inconclusive", "not applicable"):
            names.setdefault((each.outcome, each.reason), []).append(each.scenario)
    for (outcome, reason), scenarios in names.items():
        yield from _wrap(f"{outcome}: {reason} ({', '.join(scenarios)})", 2)


def _wrap(text: str, indent: int = _INDENT) -> list[str]:
    return textwrap.wrap(
        sanitize_text(text, multiline=False), _WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2)
    )


def count_outcomes(results: Sequence[ScenarioResult]) -> str:
    """Return how many of *results* have each outcome, such as ``2 pass, 1 fail``."""
    counts = Counter(each.outcome for each in results)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in _OUTCOMES if counts[outcome]) or "none"


def as_json(callback: str, results: Sequence[ScenarioResult]) -> dict[str, Any]:
    """Return the report as JSON: the callback, the counts, and each result with its scenario."""
    counts = Counter(each.outcome for each in results)
    return {
        "callback": callback,
        "counts": {outcome: counts[outcome] for outcome in _OUTCOMES},
        "results": [{**asdict(each), **_texts(_scenario(each))} for each in results],
    }


def _texts(scenario: Scenario) -> Mapping[str, str]:
    return {name: getattr(scenario, name) for name in ("group", "title", "because", "source")}


def as_junit(callback: str, results: Sequence[ScenarioResult]) -> str:
    """Return the report as JUnit XML.  Inconclusive and not applicable scenarios are skipped tests."""
    counts = Counter(each.outcome for each in results)
    suite = ET.Element(
        "testsuite",
        name=f"mcp-elicit check {sanitize_text(callback, multiline=False)}",
        tests=str(len(results)),
        failures=str(counts["fail"]),
        errors="0",
        skipped=str(counts["inconclusive"] + counts["not applicable"]),
        time=f"{sum(each.seconds for each in results):.3f}",
    )
    for result in results:
        scenario = _scenario(result)
        case = ET.SubElement(
            suite, "testcase", classname=scenario.group, name=scenario.name, time=f"{result.seconds:.3f}"
        )
        if result.outcome == "fail":
            failure = ET.SubElement(case, "failure", message=result.reason)
            failure.text = f"{scenario.title}\n{scenario.because}\n{scenario.source}"
        elif result.outcome != "pass":
            ET.SubElement(case, "skipped", message=f"{result.outcome}: {result.reason}")
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)


def _scenario(result: ScenarioResult) -> Scenario:
    return SCENARIOS[result.scenario]
