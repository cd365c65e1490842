"""Requirements of the specification, and the reports of ``mcp-elicit check`` that map results to them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from datetime import datetime, timezone
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mcp_elicit_client.check.report import (
    BEGIN_EMBEDDED,
    END_EMBEDDED,
    FORMAT,
    ReportError,
    as_text,
    hash_of,
    make_report,
    read_report,
)
from mcp_elicit_client.check.report_page import as_page
from mcp_elicit_client.check.requirements import REQUIREMENT_OUTCOMES, load_requirements
from mcp_elicit_client.check.scenarios import SCENARIOS
from mcp_elicit_client.cli import main
from mcp_elicit_client.testing import ScenarioResult
from tests.support import ROOT
from tests.support.checking import OURS, check
from tools.normative import KEYWORD, PAGES, read

PAGES_OF_SPECIFICATION = [each for each in load_requirements() if each.name in PAGES]
REQUIREMENTS = [each for page in load_requirements() for each in page.requirements]
CREATED = datetime(2026, 11, 22, 12, 30, tzinfo=timezone.utc)
TESTED = {"callback": "a:b", "user": None, "deliveries": ["server-initiated", "multi-round-trip"]}


def report_of(*results: ScenarioResult, tested: dict[str, Any] = TESTED) -> dict[str, Any]:
    return make_report(tested, {"mcp": "2.3.0", "python": "3.11"}, results, CREATED)


def outcomes(report: dict[str, Any], scenario: str) -> dict[str, set[str]]:
    """Return the outcomes of the requirements that *scenario* tests, by page."""
    return {
        page["page"]: {each["outcome"] for each in page["requirements"] if scenario in each["scenarios"]}
        for page in report["pages"]
        if any(scenario in each["scenarios"] for each in page["requirements"])
    }


# --- Requirements


def test_every_normative_sentence_of_three_revisions_is_a_requirement() -> None:
    fixture = json.loads((ROOT / "fixtures" / "specification.json").read_text(encoding="utf-8"))

    found = {
        page.name: {each.id: hashlib.sha256(each.text.encode()).hexdigest() for each in page.requirements}
        for page in PAGES_OF_SPECIFICATION
    }

    assert found == fixture
    assert {each.partition("/")[0] for each in found} == {"2025-06-18", "2025-11-25", "2026-07-28"}


@pytest.mark.skipif("ELICIT_SPECIFICATION" not in os.environ, reason="needs a checkout of the specification")
def test_the_sentences_are_those_of_a_checkout_of_the_specification() -> None:
    for name, sentences in read(Path(os.environ["ELICIT_SPECIFICATION"])).items():
        page = next(each for each in PAGES_OF_SPECIFICATION if each.name == name)
        assert [(each.id, each.text) for each in sentences] == [(each.id, each.text) for each in page.requirements]


def test_every_requirement_names_scenarios_or_a_reason() -> None:
    for each in REQUIREMENTS:
        assert bool(each.scenarios) != bool(each.reason), each.id
        assert set(each.scenarios) <= set(SCENARIOS), each.id
        assert len(set(each.scenarios)) == len(each.scenarios), each.id


def test_only_sentences_about_clients_name_scenarios() -> None:
    for page in PAGES_OF_SPECIFICATION:
        for each in page.requirements:
            assert KEYWORD.search(each.text), each.id
            if each.text.startswith("Servers"):
                assert each.reason == "It binds servers.", each.id


def test_identifiers_are_unique_and_begin_with_their_page() -> None:
    identifiers = [each.id for each in REQUIREMENTS]

    assert len(set(identifiers)) == len(identifiers)
    for each in load_requirements():
        assert all(requirement.id.rpartition("#")[0] == each.name for requirement in each.requirements)
        assert each.requirements


def test_the_extraction_joins_lists_with_what_introduces_them() -> None:
    from tools.normative import extract

    source = """---
title: Elicitation
---
## Safe URLs

Clients **MUST**:

- Show the `URL`
- **MUST NOT** fetch it,
  not even its icon. For example, a preview.

Servers MAY do this. They **SHOULD** tell. Nobody knows.

```text
You MUST NOT read this.
```

1. Servers **SHOULD** include the following:
   - a name
1. The id is _new_ and **MUST** differ (e.g. Two).
"""

    assert {each.id: each.text for each in extract("p", source)} == {
        "p#safe-urls-1": "Clients MUST: Show the URL",
        "p#safe-urls-2": "Clients MUST: MUST NOT fetch it, not even its icon.",
        "p#safe-urls-3": "They SHOULD tell.",
        "p#safe-urls-4": "Servers SHOULD include the following: a name",
        "p#safe-urls-5": "The id is new and MUST differ (e.g. Two).",
    }


# --- Reports


def test_a_requirement_fails_in_the_revision_whose_delivery_fails() -> None:
    result = ScenarioResult(
        scenario="flood-is-held-back", outcome="pass", deliveries={"server-initiated": "pass"}, seconds=0.5
    )
    failed = ScenarioResult(
        scenario="no-mode-is-a-form",
        outcome="fail",
        deliveries={"server-initiated": "pass", "multi-round-trip": "fail"},
    )

    report = report_of(result, failed)

    assert outcomes(report, "flood-is-held-back")["2025-06-18/client/elicitation"] == {"pass"}
    assert outcomes(report, "no-mode-is-a-form") == {
        "2025-11-25/client/elicitation": {"pass"},
        "2026-07-28/client/elicitation": {"fail"},
    }


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        # The first delivery failed, so the second one was not tried: it does not count as passed.
        ({"outcome": "fail", "deliveries": {"server-initiated": "fail"}}, {"fail"}),
        ({"outcome": "fail", "deliveries": {}}, {"fail"}),
        ({"outcome": "inconclusive", "deliveries": {}}, {"inconclusive"}),
        ({"outcome": "pass", "deliveries": {"server-initiated": "pass"}}, {"not tested"}),
        ({"outcome": "not applicable", "deliveries": {}}, {"not tested"}),
    ],
)
def test_a_delivery_that_was_not_tried_is_not_passed(result: dict[str, Any], expected: set[str]) -> None:
    report = report_of(ScenarioResult(scenario="no-mode-is-a-form", **result))

    assert outcomes(report, "no-mode-is-a-form")["2026-07-28/client/elicitation"] == expected


def test_the_counts_of_a_page_add_up() -> None:
    for page in report_of()["pages"]:
        assert list(page["counts"]) == list(REQUIREMENT_OUTCOMES)
        assert sum(page["counts"].values()) == len(page["requirements"])
        assert page["counts"]["pass"] == 0


def test_the_members_have_a_fixed_order() -> None:
    report = report_of(ScenarioResult(scenario="too-long", outcome="fail", reason="It was sent.", seconds=0.25))

    assert list(report) == ["format", "created", "tested", "versions", "counts", "pages", "scenarios", "sha256"]
    assert list(report["pages"][0]) == ["page", "title", "url", "delivery", "counts", "requirements"]
    assert list(report["pages"][0]["requirements"][0]) == ["id", "text", "outcome", "reason", "scenarios"]
    assert report["scenarios"] == [
        {
            "name": "too-long",
            "group": "what does not fit",
            "title": SCENARIOS["too-long"].title,
            "source": SCENARIOS["too-long"].source,
            "outcome": "fail",
            "reason": "It was sent.",
            "next_step": "",
            "deliveries": {},
            "milliseconds": 250,
        }
    ]
    assert report["created"] == "2026-11-22T12:30:00Z"


def test_the_documentation_describes_each_member() -> None:
    report = report_of(ScenarioResult(scenario="too-long", outcome="pass"))
    text = (ROOT / "docs" / "check-report.md").read_text(encoding="utf-8")

    described = set(re.findall(r"^\| `([a-z0-9_]+)` \|", text, re.MULTILINE))

    parts = (report, report["pages"][0], report["pages"][0]["requirements"][0], report["scenarios"][0])
    assert {name for part in parts for name in part} <= described


def test_a_changed_report_does_not_match_its_hash() -> None:
    report = report_of(ScenarioResult(scenario="too-long", outcome="fail"))

    assert hash_of(report) == report["sha256"]
    assert hash_of(read_report(as_text(report))) == report["sha256"]
    report["scenarios"][0]["outcome"] = "pass"
    assert hash_of(report) != report["sha256"]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name == "href" and value]


def test_a_page_has_the_report_embedded_and_no_markup_of_a_callback() -> None:
    hostile = "</script><script>alert(1)</script><img src=x>"
    result = ScenarioResult(scenario="too-long", outcome="fail", reason=hostile)
    report = report_of(result, tested={**TESTED, "callback": hostile})

    text = as_page(report)

    parsed = _Page()
    parsed.feed(text)
    assert parsed.tags.count("script") == 1
    assert "img" not in parsed.tags
    embedded = read_report(text)
    assert embedded == report
    assert hash_of(embedded) == report["sha256"]


def test_the_links_of_a_page_lead_to_its_parts() -> None:
    results = [ScenarioResult(scenario=name, outcome="pass") for name in SCENARIOS]

    parsed = _Page()
    parsed.feed(as_page(report_of(*results)))

    local = {link[1:] for link in parsed.links if link.startswith("#")}
    assert local
    assert local <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other"}', "<html></html>", "[" * 100_000])
def test_what_is_not_a_report_is_refused(text: str) -> None:
    with pytest.raises(ReportError):
        read_report(text)


def test_a_page_that_shows_another_outcome_than_its_data_is_not_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = as_page(report_of(ScenarioResult(scenario="form-accept-is-accept", outcome="fail", reason="It <hangs>.")))
    file = tmp_path / "report.html"
    forged = {"format": FORMAT}
    without_members = f"{BEGIN_EMBEDDED}{as_text({**forged, 'sha256': hash_of(forged)})}{END_EMBEDDED}"
    found = []
    for text in (page, page.replace("✗ fail", "✓ pass"), without_members):
        file.write_text(text, encoding="utf-8")
        status = main(["check", "--verify", str(file)])
        found.append((status, "The report is unchanged." in capsys.readouterr().out))

    assert found == [(0, True), (1, False), (1, False)]


@pytest.mark.slow
def test_check_writes_reports_that_can_be_verified(tmp_path: Path) -> None:
    files = [tmp_path / f"report.{suffix}" for suffix in ("json", "html", "xml")]

    check(*OURS, "--only", "no-mode-is-a-form", *(word for file in files for word in ("--report", str(file))), status=0)

    report = json.loads(files[0].read_text(encoding="utf-8"))
    assert report["versions"].keys() >= {"mcp", "python", "platform"}
    assert report["tested"]["callback"] == OURS[0]
    assert report["counts"]["pass"] == 1
    assert files[2].read_text(encoding="utf-8").startswith("<?xml")
    for file in files[:2]:
        assert check("--verify", str(file), status=0).stdout == "The report is unchanged.\n"
        file.write_text(file.read_text(encoding="utf-8").replace('"pass": 1,', '"pass": 9,'), encoding="utf-8")
        assert "does not match its hash" in check("--verify", str(file), status=1).stdout
    assert "Pass a .json or .html file of --report." in check("--verify", str(files[2]), status=2).stderr
