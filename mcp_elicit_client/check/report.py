"""The report of ``mcp-elicit check`` as a JSON document: versions, results, requirements, and a hash that covers it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, TypeAlias

from mcp_elicit_client.check.requirements import (
    REQUIREMENT_OUTCOMES,
    Requirement,
    RequirementPage,
    load_requirements,
    requirement_outcome,
    scenario_outcome,
)
from mcp_elicit_client.check.results import ScenarioResult, outcome_counts
from mcp_elicit_client.check.scenarios import SCENARIOS

CheckReport: TypeAlias = dict[str, Any]
"""The document.  docs/check-report.md describes its members, whose order is fixed."""

FORMAT = "mcp-elicit-check/1"
"""The value of ``format``.  The number changes if a member is removed or changes its meaning."""

BEGIN_EMBEDDED = '<script type="application/json" id="report">'
"""What precedes the document in a page that has it embedded."""

END_EMBEDDED = "</script>"

_WITH_HASH = "Pass a .json or .html file of --report. JUnit XML contains no hash."


class ReportError(Exception):
    """A file is not a report of ``mcp-elicit check``.  The text says why."""


def make_report(
    tested: Mapping[str, Any],
    versions: Mapping[str, str],
    results: Sequence[ScenarioResult],
    created: datetime | None = None,
) -> CheckReport:
    """
    Return the report.

    Args:
        tested: What was tested and how: the callback and the options.
        versions: The versions of the packages, by name.
        results: The results.
        created: When the scenarios were run; None for now.
    """
    moment = created or datetime.now(timezone.utc)
    by_name = {each.scenario: each for each in results}
    report = {
        "format": FORMAT,
        "created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "tested": dict(tested),
        "versions": dict(versions),
        "counts": outcome_counts(results),
        "pages": [_page(page, by_name) for page in load_requirements()],
        "scenarios": [_scenario(each) for each in results],
    }
    return {**report, "sha256": hash_of(report)}


def hash_of(report: Mapping[str, Any]) -> str:
    """Return the SHA-256 of *report* without ``sha256``, as compact JSON with sorted names in UTF-8."""
    content = {name: value for name, value in report.items() if name != "sha256"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def as_text(report: CheckReport) -> str:
    """Return *report* as the text of a file."""
    return f"{json.dumps(report, indent=2, ensure_ascii=False)}\n"


def read_report(text: str) -> CheckReport:
    """
    Return the report in *text*, which is JSON, or a page that has it embedded.

    Raises:
        ReportError: If *text* contains no report.
    """
    _, mark, rest = text.partition(BEGIN_EMBEDDED)
    try:
        report = json.loads(rest.partition(END_EMBEDDED)[0] if mark else text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"It is not JSON ({error}). {_WITH_HASH}") from None
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise ReportError(f"The format is not {FORMAT}.")
    return report


def _page(page: RequirementPage, results: Mapping[str, ScenarioResult]) -> dict[str, Any]:
    requirements = [_requirement(each, page, results) for each in page.requirements]
    counts = Counter(each["outcome"] for each in requirements)
    return {
        "page": page.name,
        "title": page.title,
        "url": page.url,
        "delivery": page.delivery,
        "counts": {outcome: counts[outcome] for outcome in REQUIREMENT_OUTCOMES},
        "requirements": requirements,
    }


def _requirement(
    requirement: Requirement, page: RequirementPage, results: Mapping[str, ScenarioResult]
) -> dict[str, Any]:
    outcomes = {name: scenario_outcome(results.get(name), page.delivery) for name in requirement.scenarios}
    return {
        "id": requirement.id,
        "text": requirement.text,
        "outcome": requirement_outcome(requirement, list(outcomes.values())),
        "reason": requirement.reason,
        "scenarios": outcomes,
    }


def _scenario(result: ScenarioResult) -> dict[str, Any]:
    scenario = SCENARIOS[result.scenario]
    return {
        "name": result.scenario,
        "group": scenario.group,
        "title": scenario.title,
        "source": scenario.source,
        "outcome": result.outcome,
        "reason": result.reason,
        "next_step": result.next_step,
        "deliveries": dict(result.deliveries),
        "milliseconds": round(result.seconds * 1000),
    }
