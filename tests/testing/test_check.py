"""``mcp-elicit check``: callbacks graded in processes of their own."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from mcp_elicit_client.cli import main
from mcp_elicit_client.testing import SCENARIOS
from mcp_elicit_client.testing.callback_loader import LoadError, find
from mcp_elicit_client.testing.runner import ScenarioRunner
from mcp_elicit_client.testing.scenarios import GROUPS
from tests.support import ROOT, skip_or_fail

CONFIRMATION = "nobody-confirms-nothing"
OURS = ["tests.support.subjects:callback", "--user", "tests.support.subjects:follow", "--server", "mail"]


def check(*arguments: str, status: int | None = None) -> subprocess.CompletedProcess[str]:
    run = subprocess.run(
        [sys.executable, "-m", "mcp_elicit_client.cli", "check", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if status is not None:
        assert run.returncode == status, run.stderr
    return run


def verdicts(*arguments: str, status: int | None = None) -> dict[str, dict[str, Any]]:
    report = json.loads(check(*arguments, "--json", status=status).stdout)
    return {each["scenario"]: each for each in report["verdicts"]}


def test_ours_has_no_fault_and_leaves_nothing_untried() -> None:
    found = verdicts(*OURS, "--only", "nobody there, and failures", status=0)

    assert len(found) > 10
    assert {each["outcome"] for each in found.values()} <= {"pass", "not applicable"}


def test_a_terminal_line_by_line_has_no_fault() -> None:
    groups = [word for group in GROUPS[:4] for word in ("--only", group.name)]

    found = verdicts(
        "tests.support.subjects:terminal",
        "--user",
        "tests.support.subjects:type_at",
        "--server",
        "mail",
        *groups,
        status=0,
    )

    assert len(found) > 100
    assert {each["outcome"] for each in found.values()} <= {"pass", "not applicable"}


def test_nobody_at_all_has_no_fault() -> None:
    found = verdicts("tests.support.subjects:headless", status=0)

    assert found[CONFIRMATION]["outcome"] == found["nobody-is-not-a-decline"]["outcome"] == "pass"
    assert found["form-accept-is-accept"]["outcome"] == "inconclusive"


EXPECTED = {
    "form-accept-is-accept": "pass",
    "form-decline-is-decline": "pass",
    "form-cancel-is-cancel": "inconclusive",
    "server-is-named": "fail",
    "url-shown-whole": "fail",
    "nobody-raises-nothing": "fail",
    "event-loop-goes-on": "fail",
}


def test_a_callback_that_asks_at_standard_input_is_typed_to() -> None:
    only = [word for name in EXPECTED for word in ("--only", name)]

    found = verdicts("tests/support/checked.py:asks", "--user", "tests/support/checked.py:types", *only, status=1)

    assert {name: each["outcome"] for name, each in found.items()} == EXPECTED
    assert found["form-cancel-is-cancel"]["reason"] == "the interface has no way for it: there is no word for it"


@pytest.mark.parametrize(
    ("name", "scenario", "outcome", "reason"),
    [
        ("hangs", "nobody-holds-up-nothing", "fail", "was stopped"),
        ("hangs", "no-content-with-url", "inconclusive", "was stopped"),
        ("crashes", CONFIRMATION, "fail", "the process died"),
        ("leaves", CONFIRMATION, "fail", "SystemExit"),
    ],
)
def test_what_hangs_or_crashes_is_stopped_and_told(
    name: str, scenario: str, outcome: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    grading = ScenarioRunner(
        callback=f"tests.support.checked:{name}",
        scenarios=[scenario, "url-mode-gets-an-answer"],
        answer_timeout=1,
        scenario_timeout=3,
    )

    found = list(grading.results())

    assert [each.scenario for each in found] == [scenario, "url-mode-gets-an-answer"]
    assert found[0].outcome == outcome
    assert reason in found[0].reason
    assert list(tmp_path.iterdir()) == []


def test_the_text_lists_what_is_wrong_and_why() -> None:
    run = check("tests.support.checked:accepts", "--only", CONFIRMATION, "--only", "too-long", status=1)

    assert "FAIL nobody-confirms-nothing" in run.stdout
    assert "Here: nobody was there, and the server got" in run.stdout
    assert "See: NousResearch/hermes-agent#58778" in run.stdout
    assert "inconclusive: it takes a user: say how to play yours (--user): too-long" in run.stdout
    assert "2 scenarios: 1 fail, 1 inconclusive" in run.stdout
    assert "\x1b" not in run.stdout


def test_junit_counts_and_names(tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"

    check("tests.support.checked:accepts", "--only", CONFIRMATION, "--only", "too-long", "--junit", str(file), status=1)

    suite = ET.parse(file).getroot()
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "2",
        "failures": "1",
        "skipped": "1",
    }
    assert [case.get("name") for case in suite] == ["too-long", CONFIRMATION]


def test_strict_takes_what_could_not_be_tried_for_wrong() -> None:
    arguments = ("tests.support.subjects:headless", "--only", "too-long")

    check(*arguments, status=0)
    check(*arguments, "--strict", status=1)


def test_the_scenarios_can_be_listed_by_group() -> None:
    run = check("--list", "--only", "URLs", status=0)

    assert run.stdout.splitlines()[0] == "URLs:"
    assert "  url-opened-once: A URL is opened once at most." in run.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tests.nowhere:callback"], "cannot import tests.nowhere"),
        (["tests/nowhere.py:callback"], "there is no file"),
        (["tests.support.checked:nothing"], "has no nothing"),
        (["tests.support.checked:NOTHING"], "cannot be called"),
        (["tests.support.checked"], "is not MODULE:CALLABLE"),
        (["tests.support.checked:asks", "--user", "tests.support.checked:nobody"], "has no nobody"),
        (["tests.support.checked:asks", "--only", "nothing"], "there is no scenario or group nothing"),
        (["tests.support.checked:asks", "--junit", "/nowhere/at/all.xml", "--only", CONFIRMATION], "cannot write"),
        ([], "needs a CALLBACK"),
        (["tests.support.checked:asks", "--list"], "needs a CALLBACK"),
        (["tests.support.checked:asks", "--", "x"], "only call takes"),
        (["tests.support.checked:asks", "--answer-timeout", "0"], "invalid"),
    ],
)
def test_what_cannot_be_done_is_told_with_status_2(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    try:
        status = main(["check", *arguments])
    except SystemExit as usage:
        status = int(str(usage.code))

    said = capsys.readouterr().err
    assert (status, told in said, "Traceback" in said) == (2, True, False)


def test_a_library_that_is_missing_is_named() -> None:
    with pytest.raises(LoadError, match="langchain_mcp_adapters"):
        list(
            ScenarioRunner(callback="tests.support.checked:asks", shape="langchain", scenarios=[CONFIRMATION]).results()
        )


def test_a_handler_of_fastmcp_is_graded_as_fastmcp_calls_it() -> None:
    if importlib.util.find_spec("fastmcp") is None:
        skip_or_fail("FastMCP is not installed")
    handler = ["tests.support.subjects:fastmcp", "--shape", "fastmcp", *OURS[1:]]

    found = verdicts(*handler, "--only", "what the user decided", "--only", "URLs", status=0)

    assert {each["outcome"] for each in found.values()} == {"pass"}


def test_every_shape_can_be_chosen() -> None:
    from mcp_elicit_client.testing.callback_loader import SHAPES

    assert f"{{{','.join(SHAPES)}}}" in check("--help", status=0).stdout


def test_a_callable_may_have_dots() -> None:
    assert find("tests.support.checked:UserAction.saw") is not None


def test_the_list_of_scenarios_in_the_documentation_is_up_to_date() -> None:
    from tools.scenarios import PAGE, page

    text = PAGE.read_text(encoding="utf-8")

    assert page(text) == text


def test_what_was_found_elsewhere_is_in_the_documentation_and_about_scenarios_that_exist() -> None:
    text = (ROOT / "docs" / "check.md").read_text(encoding="utf-8").partition("<!-- found -->")[2]

    found = re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)

    assert len(found) >= 12
    assert set(found) <= set(SCENARIOS)
