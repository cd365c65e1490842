"""
Requirements of the specification and of security standards, and the scenarios that test them.

``requirements.json`` has every normative sentence (MUST, SHOULD and their
negations) of the pages it lists, in the order of the pages.  Each names the
scenarios that test it, or the reason why a callback cannot be tested for it.
The rows of standards other than the specification paraphrase.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeAlias, get_args

from mcp_elicit_client.check.results import ScenarioResult
from mcp_elicit_client.check.scenarios import Delivery

RequirementOutcome: TypeAlias = Literal["pass", "fail", "inconclusive", "not tested", "not testable"]
"""
All scenarios that were run pass; one fails; one is inconclusive; none was
run; or the requirement cannot be tested with a callback.
"""

REQUIREMENT_OUTCOMES: tuple[RequirementOutcome, ...] = get_args(RequirementOutcome)


@dataclass(frozen=True, slots=True)
class Requirement:
    """
    A requirement.

    Attributes:
        id: The page, and the section and number or the number in it.
        text: The sentence, or a paraphrase.
        scenarios: The names of the scenarios that test it.
        reason: Why it cannot be tested; empty if it can.
    """

    id: str
    text: str
    scenarios: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class RequirementPage:
    """
    A page with requirements.

    Attributes:
        name: The name with which the identifiers begin.
        title: What the page is.
        url: Its address.
        delivery: The delivery of requests that its revision of the protocol
            uses; None for all.
        requirements: The requirements, in the order of the page.
    """

    name: str
    title: str
    url: str
    delivery: Delivery | None
    requirements: tuple[Requirement, ...]


@functools.cache
def load_requirements() -> tuple[RequirementPage, ...]:
    """Return the pages with their requirements."""
    data = json.loads(files(__package__).joinpath("requirements.json").read_text(encoding="utf-8"))
    return tuple(_page(page, data) for page in data["pages"])


def _page(page: Mapping[str, Any], data: Mapping[str, Any]) -> RequirementPage:
    rows = (row for row in data["requirements"] if row["id"].rpartition("#")[0] == page["page"])
    requirements = (
        Requirement(
            row["id"],
            row["text"],
            tuple(row.get("scenarios", ())),
            data["reasons"][row["reason"]] if "reason" in row else "",
        )
        for row in rows
    )
    return RequirementPage(page["page"], page["title"], page["url"], page["delivery"], tuple(requirements))


def scenario_outcome(result: ScenarioResult | None, delivery: Delivery | None) -> str:
    """
    Return the outcome of a scenario as far as it concerns *delivery*.

    After a failure, the remaining delivery is skipped, and a scenario that was
    stopped names none: then its outcome counts for every delivery.
    """
    if result is None:
        return "not tested"
    if delivery is None or not result.deliveries or result.outcome == "not applicable":
        return result.outcome
    if delivery not in result.deliveries and result.outcome != "fail":
        return "not applicable"
    return result.deliveries.get(delivery, result.outcome)


def requirement_outcome(requirement: Requirement, outcomes: Sequence[str]) -> RequirementOutcome:
    """Return the outcome of *requirement*, whose scenarios have *outcomes*."""
    if requirement.reason:
        return "not testable"
    found = set(outcomes) - {"not applicable", "not tested"}
    worst: tuple[RequirementOutcome, ...] = ("fail", "inconclusive", "pass")
    return next((each for each in worst if each in found), "not tested")
