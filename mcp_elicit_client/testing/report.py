"""Verdicts as text, as JSON, and as JUnit's XML."""

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
_MARGIN = 4
_ORDER: tuple[Outcome, ...] = ("pass", "fail", "inconclusive", "not applicable")


def as_text(verdicts: Sequence[ScenarioResult], *, verbose: bool = False) -> Iterator[str]:
    """
    List what is wrong, and count the rest; line by line.

    Args:
        verdicts: What came out.
        verbose: Also list what is right.
    """
    for group in dict.fromkeys(_scenario(each).group for each in verdicts):
        here = [each for each in verdicts if _scenario(each).group == group]
        yield f"{group[0].upper()}{group[1:]}: {counted(here)}"
        for verdict in here:
            yield from _in_words(verdict, verbose=verbose)
        yield from _unseen(here)
    yield ""
    yield f"{len(verdicts)} scenarios: {counted(verdicts)}"


def _in_words(verdict: ScenarioResult, *, verbose: bool) -> Iterator[str]:
    scenario = _scenario(verdict)
    delivery = f" ({verdict.delivery})" if verdict.delivery else ""
    if verdict.outcome == "fail":
        yield f"  FAIL {verdict.scenario}{delivery}"
        yield from _wrapped(scenario.title)
        yield from _wrapped(f"Here: {verdict.reason}.")
        yield from _wrapped(f"Why: {scenario.because}")
        yield from _wrapped(f"See: {scenario.source}")
    elif verdict.outcome == "pass" and verbose:
        yield f"  pass {verdict.scenario}"


def _unseen(verdicts: Sequence[ScenarioResult]) -> Iterator[str]:
    """Tell what could not be seen, by its reason."""
    alike: dict[tuple[Outcome, str], list[str]] = {}
    for each in verdicts:
        if each.outcome in ("inconclusive", "not applicable"):
            alike.setdefault((each.outcome, each.reason), []).append(each.scenario)
    for (outcome, reason), names in alike.items():
        yield from _wrapped(f"{outcome}: {reason}: {', '.join(names)}", 2)


def _wrapped(text: str, margin: int = _MARGIN) -> list[str]:
    return textwrap.wrap(
        sanitize_text(text, multiline=False), _WIDTH, initial_indent=" " * margin, subsequent_indent=" " * (margin + 2)
    )


def counted(verdicts: Sequence[ScenarioResult]) -> str:
    """Count the outcomes of *verdicts*, in words."""
    counts = Counter(each.outcome for each in verdicts)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in _ORDER if counts[outcome]) or "none"


def as_json(callback: str, verdicts: Sequence[ScenarioResult]) -> dict[str, Any]:
    """Return everything as JSON: the callback, the counts, and each verdict with its scenario."""
    counts = Counter(each.outcome for each in verdicts)
    return {
        "callback": callback,
        "counts": {outcome: counts[outcome] for outcome in _ORDER},
        "verdicts": [{**asdict(each), **_about(_scenario(each))} for each in verdicts],
    }


def _about(scenario: Scenario) -> Mapping[str, str]:
    return {name: getattr(scenario, name) for name in ("group", "title", "because", "source")}


def as_junit(callback: str, verdicts: Sequence[ScenarioResult]) -> str:
    """Return a test suite in JUnit's XML: what could not be seen is skipped."""
    counts = Counter(each.outcome for each in verdicts)
    suite = ET.Element(
        "testsuite",
        name=f"mcp-elicit check {sanitize_text(callback, multiline=False)}",
        tests=str(len(verdicts)),
        failures=str(counts["fail"]),
        errors="0",
        skipped=str(counts["inconclusive"] + counts["not applicable"]),
        time=f"{sum(each.seconds for each in verdicts):.3f}",
    )
    for verdict in verdicts:
        scenario = _scenario(verdict)
        case = ET.SubElement(
            suite, "testcase", classname=scenario.group, name=scenario.name, time=f"{verdict.seconds:.3f}"
        )
        if verdict.outcome == "fail":
            failure = ET.SubElement(case, "failure", message=verdict.reason)
            failure.text = f"{scenario.title}\n{scenario.because}\n{scenario.source}"
        elif verdict.outcome != "pass":
            ET.SubElement(case, "skipped", message=f"{verdict.outcome}: {verdict.reason}")
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)


def _scenario(verdict: ScenarioResult) -> Scenario:
    return SCENARIOS[verdict.scenario]
