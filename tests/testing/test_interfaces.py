"""User interfaces of this package pass the scenarios with a scripted person in front of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mcp_elicit_client.check.interfaces import INTERFACES, SERVER, spec_of
from mcp_elicit_client.check.runner import ScenarioRunner
from mcp_elicit_client.check.scenarios import SCENARIOS
from tests.support.checking import check

pytestmark = pytest.mark.slow

GROUPS = {
    "inbox": {"what the user decided", "URLs"},
    "pages": {"what the user gave", "URLs"},
    "terminal": {
        "form-decline-is-decline",
        "form-cancel-is-cancel",
        "confirmation-accept-is-accept",
        "url-accept-is-accept",
        "url-opened-once",
        "options-are-shown",
        "several-are-a-list",
        "user-wins-over-default",
        "default-list-kept",
        "too-long",
        "too-many-options",
        "suspicious-url-has-a-warning",
    },
    "chat": {
        "form-cancel-is-cancel",
        "confirmation-decline-is-decline",
        "url-accept-is-accept",
        "url-shown-whole",
        "a-slash-first",
        "several-are-a-list",
        "user-wins-over-default",
        "untouched-number-left-out",
        "too-long",
        "list-with-no-option",
        "suspicious-url-has-a-warning",
    },
}
"""Groups, and names of scenarios."""

NOBODY = {"nobody-fills-in-no-form", "nobody-is-not-a-decline", "broken-interface-is-no-decision", "values-not-logged"}
TIMEOUT = 30.0


@pytest.mark.parametrize("name", INTERFACES)
def test_an_interface_passes(name: str) -> None:
    if name == "terminal" and sys.platform == "win32":
        pytest.skip("the interactive form needs POSIX")
    spec = spec_of(name)
    chosen = [each.name for each in SCENARIOS.values() if {each.group, each.name} & (GROUPS[name] | NOBODY)]
    runner = ScenarioRunner(
        callback=f"{spec}.callback",
        user=f"{spec}.follow",
        server=SERVER,
        scenarios=chosen,
        answer_timeout=TIMEOUT,
        scenario_timeout=4 * TIMEOUT,
    )

    found = {each.scenario: (each.outcome, each.reason) for each in runner.results()}

    assert set(found) == set(chosen)
    assert {name: each for name, each in found.items() if each[0] not in ("pass", "not applicable")} == {}


def test_the_report_says_what_was_driven(tmp_path: Path) -> None:
    file = tmp_path / "report.json"

    check("--interface", "inbox", "--only", "form-decline-is-decline", "--answer-timeout", "30", "--report", str(file))

    report = json.loads(file.read_text(encoding="utf-8"))
    assert report["tested"]["interface"] == INTERFACES["inbox"]
    assert report["scenarios"][0]["outcome"] == "pass"


def test_every_interface_can_be_chosen() -> None:
    assert f"--interface {{{','.join(sorted(INTERFACES))}}}" in " ".join(check("--help", status=0).stdout.split())
