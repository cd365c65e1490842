"""Results of scenarios as text, JSON and JUnit XML."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET

from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.testing.results import Outcome, Scenario, ScenarioResult
from mcp_elicit_client.testing.scenarios import SCENARIOS

_WIDTH = 100
_INDENT = 4
_OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "inconclusive", "not applicable")


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
