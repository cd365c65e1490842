"""The results of scenarios, as text, JSON and JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree as ET

from mcp_elicit_client.check.scenarios import SCENARIOS, Delivery, Scenario
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.quoting import wrap

Outcome: TypeAlias = Literal["pass", "fail", "inconclusive", "not applicable"]
"""
Correct; wrong; inconclusive, because the callback did not reach the tested
step or its user could not be played; or not supported by the installed SDK.
"""

OUTCOMES: Mapping[Outcome, Message] = {
    "pass": Message("pass"),
    "fail": Message("fail"),
    "inconclusive": Message("inconclusive"),
    "not applicable": Message("not applicable"),
}
FAIL = Message("FAIL")
RESULT = Message("Result: {text}")
REASON = Message("Reason: {text}")
NEXT_STEP = Message("Next step: {text}")
REFERENCE = Message("Reference: {text}")
NOT_PASSED = Message(
    "{count} scenario was not tested to the end, so nothing is known about it.",
    "{count} scenarios were not tested to the end, so nothing is known about them.",
    "count",
)
SCENARIO_COUNT = Message("{count} scenario", "{count} scenarios", "count")

_WIDTH = 100
_INDENT = 4
_WORST_FIRST: tuple[Outcome, ...] = ("fail", "inconclusive", "not applicable", "pass")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult:
    """
    The result of one scenario.

    Attributes:
        scenario: The name of the scenario.
        outcome: The outcome.
        reason: The reason, as sanitized text; empty for a pass.
        next_step: What to do so that an inconclusive scenario reaches the
            tested step; empty for other outcomes.
        delivery: The delivery with this outcome; None if the first delivery
            has it.
        seconds: The duration.
        deliveries: The outcome with each delivery that was tried.
    """

    scenario: str
    outcome: Outcome
    reason: str = ""
    next_step: str = ""
    delivery: Delivery | None = None
    seconds: float = 0.0
    deliveries: Mapping[Delivery, Outcome] = field(default_factory=dict)


def worst_result(results: Sequence[ScenarioResult]) -> ScenarioResult:
    """Return the first of *results* with the worst outcome: those of one scenario, one for each delivery."""
    worst = min(results, key=lambda each: _WORST_FIRST.index(each.outcome))
    return replace(
        worst,
        delivery=None if worst is results[0] else next(iter(worst.deliveries), None),
        deliveries={name: outcome for each in results for name, outcome in each.deliveries.items()},
    )


def crashed(scenario: str) -> ScenarioResult:
    """Return the result of *scenario*, whose process crashed."""
    return ScenarioResult(scenario=scenario, outcome="fail", reason="The process crashed.")


# --- Reports


def report_lines(
    results: Sequence[ScenarioResult],
    *,
    verbose: bool = False,
    width: int = _WIDTH,
    catalog: MessageCatalog = ENGLISH,
) -> Iterator[str]:
    """
    Yield the lines of the report: failures with their reasons, and counts.

    Each name of a scenario is on a separate line, without a line break.

    Args:
        results: The results.
        verbose: Also list the scenarios that pass.
        width: The maximum length of a line, except for names.
        catalog: The labels.  What scenarios say is in English.
    """
    report = _Report(width, catalog)
    for group in dict.fromkeys(_scenario(each).group for each in results):
        in_group = [each for each in results if _scenario(each).group == group]
        yield f"{group}: {count_outcomes(in_group, catalog)}"
        for result in in_group:
            yield from report.lines(result, verbose=verbose)
        yield from report.unfinished_lines(in_group)
    yield ""
    yield f"{catalog.text(SCENARIO_COUNT, count=len(results))}: {count_outcomes(results, catalog)}"
    if inconclusive := sum(each.outcome == "inconclusive" for each in results):
        yield from wrap(catalog.text(NOT_PASSED, count=inconclusive), width, 0, 2).split("\n")


class _Report:
    """The parts of the report."""

    def __init__(self, width: int, catalog: MessageCatalog) -> None:
        self._width = width
        self._text = catalog.text

    def lines(self, result: ScenarioResult, *, verbose: bool) -> Iterator[str]:
        """Yield the lines about a scenario that failed, or passed."""
        scenario = _scenario(result)
        delivery = f" ({result.delivery})" if result.delivery else ""
        if result.outcome == "fail":
            yield f"  {self._text(FAIL)} {result.scenario}{delivery}"
            yield from self._wrap(scenario.title)
            yield from self._wrap(self._text(RESULT, text=result.reason))
            yield from self._wrap(self._text(REASON, text=scenario.because))
            yield from self._wrap(self._text(REFERENCE, text=scenario.source))
        elif result.outcome == "pass" and verbose:
            yield f"  {self._text(OUTCOMES['pass'])} {result.scenario}"

    def unfinished_lines(self, results: Sequence[ScenarioResult]) -> Iterator[str]:
        """Yield the inconclusive and not applicable scenarios, grouped by reason."""
        names: dict[tuple[Outcome, str, str], list[str]] = {}
        for each in results:
            if each.outcome in ("inconclusive", "not applicable"):
                names.setdefault((each.outcome, each.reason, each.next_step), []).append(each.scenario)
        for (outcome, reason, next_step), scenarios in names.items():
            yield from self._wrap(f"{self._text(OUTCOMES[outcome])}: {reason}", 2)
            if next_step:
                yield from self._wrap(self._text(NEXT_STEP, text=next_step))
            yield from (f"{' ' * _INDENT}{name}" for name in scenarios)

    def _wrap(self, text: str, indent: int = _INDENT) -> list[str]:
        return wrap(sanitize_text(text, multiline=False), self._width, indent, indent + 2).split("\n")


def outcome_counts(results: Sequence[ScenarioResult]) -> dict[Outcome, int]:
    """Return how many of *results* have each outcome."""
    counts = Counter(each.outcome for each in results)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def count_outcomes(results: Sequence[ScenarioResult], catalog: MessageCatalog = ENGLISH) -> str:
    """Return how many of *results* have each outcome, such as ``2 pass, 1 fail``."""
    counts = outcome_counts(results)
    shown = [f"{count} {catalog.text(OUTCOMES[outcome])}" for outcome, count in counts.items() if count]
    return ", ".join(shown) or "0"


def as_json(callback: str, results: Sequence[ScenarioResult]) -> dict[str, Any]:
    """Return the report as JSON: the callback, the counts, and each result with its scenario."""
    return {
        "callback": callback,
        "counts": outcome_counts(results),
        "results": [{**asdict(each), **_texts(_scenario(each))} for each in results],
    }


def _texts(scenario: Scenario) -> Mapping[str, str]:
    return {name: getattr(scenario, name) for name in ("group", "title", "because", "source")}


def as_junit(callback: str, results: Sequence[ScenarioResult], *, allow_inconclusive: bool) -> str:
    """
    Return the report as JUnit XML.

    Scenarios that do not apply are skipped tests.  Inconclusive ones are
    errors, or skipped tests if *allow_inconclusive* is True.
    """
    counts = outcome_counts(results)
    suite = ET.Element(
        "testsuite",
        name=f"mcp-elicit check {sanitize_text(callback, multiline=False)}",
        tests=str(len(results)),
        failures=str(counts["fail"]),
        errors=str(0 if allow_inconclusive else counts["inconclusive"]),
        skipped=str(counts["not applicable"] + (counts["inconclusive"] if allow_inconclusive else 0)),
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
            is_error = result.outcome == "inconclusive" and not allow_inconclusive
            message = f"{result.outcome}: {result.reason} {result.next_step}".rstrip()
            ET.SubElement(case, "error" if is_error else "skipped", message=message)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)


def _scenario(result: ScenarioResult) -> Scenario:
    return SCENARIOS[result.scenario]
