"""``mcp-elicit check``: scenarios on callbacks in other processes."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest

from mcp_elicit_client.check.results import Outcome, ScenarioResult, worst_result
from mcp_elicit_client.check.runner import LoadError, ScenarioRunner
from mcp_elicit_client.check.scenarios import ALL_DELIVERIES, SCENARIOS
from mcp_elicit_client.check.settings import CallbackShape
from mcp_elicit_client.cli import main
from mcp_elicit_client.testing import DELIVERIES, CallbackUnderTest, UserAction, run_scenario
from mcp_elicit_client.testing.callback_under_test import load_callable
from tests.support import ROOT, callbacks, skip_or_fail
from tests.support.checking import OURS, check
from tools import scenario_tables

CONFIRMATION = "nobody-confirms-nothing"
INCONCLUSIVE = 3
CRASHED = "The process crashed."
SCENARIO_GROUPS = dict.fromkeys(each.group for each in SCENARIOS.values())


def results(*arguments: str, status: int | None = None) -> dict[str, dict[str, Any]]:
    report = json.loads(check(*arguments, "--json", status=status).stdout)
    return {each["scenario"]: each for each in report["results"]}


def test_our_callback_passes_every_scenario_of_failures() -> None:
    found = results(*OURS, "--only", "without a user, and failures", "--silence", "1", status=0)

    assert len(found) > 10
    assert {each["outcome"] for each in found.values()} <= {"pass", "not applicable"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_declines_with_one_delivery_start_no_cooldown_for_the_other() -> None:
    name = "suspicious-url-has-a-warning"

    found = results("tests.support.callbacks:with_recommended_policy", *OURS[1:], "--only", name, status=0)

    assert found[name]["deliveries"] == dict.fromkeys(DELIVERIES, "pass")


@pytest.mark.parametrize(
    ("outcomes", "outcome", "delivery"),
    [
        (("pass", "fail"), "fail", "multi-round-trip"),
        (("fail", "pass"), "fail", None),
        (("inconclusive", "inconclusive"), "inconclusive", None),
    ],
)
def test_the_worst_result_names_its_delivery_unless_it_is_the_first(
    outcomes: tuple[Outcome, Outcome], outcome: str, delivery: str | None
) -> None:
    pairs = zip(ALL_DELIVERIES, outcomes, strict=True)
    found = worst_result([ScenarioResult(scenario="a", outcome=each, deliveries={name: each}) for name, each in pairs])

    assert (found.outcome, found.delivery) == (outcome, delivery)
    assert tuple(found.deliveries.values()) == outcomes


def test_line_mode_passes_every_scenario() -> None:
    groups = [word for group in list(SCENARIO_GROUPS)[:4] for word in ("--only", group)]

    found = results(
        "tests.support.callbacks:terminal",
        "--user",
        "tests.support.callbacks:type_at",
        "--server",
        "mail",
        *groups,
        status=0,
    )

    assert len(found) > 100
    assert {each["outcome"] for each in found.values()} <= {"pass", "not applicable"}


def test_a_callback_without_a_user_fails_nothing() -> None:
    found = results("tests.support.callbacks:headless", status=INCONCLUSIVE)

    assert found[CONFIRMATION]["outcome"] == found["nobody-is-not-a-decline"]["outcome"] == "pass"
    assert found["form-accept-is-accept"]["outcome"] == "inconclusive"


EXPECTED = {
    "form-accept-is-accept": "pass",
    "form-decline-is-decline": "pass",
    "form-cancel-is-cancel": "inconclusive",
    "two-users-at-once": "pass",
    "server-is-named": "fail",
    "url-shown-whole": "fail",
    "nobody-raises-nothing": "fail",
    "event-loop-goes-on": "fail",
}


def test_lines_are_typed_to_a_callback_that_reads_standard_input() -> None:
    only = [word for name in EXPECTED for word in ("--only", name)]

    found = results(
        "tests/support/misbehaving_callbacks.py:asks",
        "--user",
        "tests/support/misbehaving_callbacks.py:types",
        *only,
        status=1,
    )

    assert {name: each["outcome"] for name, each in found.items()} == EXPECTED
    assert (
        found["form-cancel-is-cancel"]["reason"]
        == "The interface does not support this action: There is no word for it."
    )


@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        ("fails", "The user hook failed: ValueError: no such field"),
        ("is_async", "The user hook failed: TypeError: 'coroutine' object is not iterable"),
        ("returns_numbers", "The user hook failed: AttributeError: 'int' object has no attribute 'encode'"),
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.anyio
async def test_a_user_hook_that_fails_is_named(hook: str, reason: str) -> None:
    async def is_async(_step: UserAction) -> list[str]:
        return []

    def fails(_step: UserAction) -> list[str]:
        raise ValueError("no such field")

    hooks: dict[str, Any] = {"fails": fails, "is_async": is_async, "returns_numbers": lambda _step: [3]}
    under_test = CallbackUnderTest(callbacks.callback, hooks[hook], "mail")

    result = await run_scenario(under_test, "form-accept-is-accept", deliveries=DELIVERIES[:1])

    assert (result.outcome, result.reason) == ("inconclusive", reason)
    assert "user hook" in result.next_step


SILENT_SCENARIOS = [name for name, each in SCENARIOS.items() if each.silent]


def test_a_callback_that_decides_for_a_silent_user_fails() -> None:
    runner = ScenarioRunner(
        callback="tests.support.misbehaving_callbacks:hurries",
        user="tests.support.callbacks:follow",
        server="mail",
        scenarios=SILENT_SCENARIOS,
        silence=3,
    )

    found = {each.scenario: each for each in runner.results()}

    assert {name: each.outcome for name, each in found.items()} == dict.fromkeys(SILENT_SCENARIOS, "fail")
    assert "The user did not answer, but the server received {'action': 'decline'}" in found[SILENT_SCENARIOS[0]].reason


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_silent_scenarios_run_at_the_same_time_as_all_others() -> None:
    runner = ScenarioRunner(
        callback="tests.support.callbacks:callback",
        user="tests.support.callbacks:follow",
        server="mail",
        scenarios=[CONFIRMATION, *SILENT_SCENARIOS],
        silence=2,
    )

    found = [each.scenario for each in runner.results()]

    # Although it starts last, the scenario that does not wait ends first.
    assert found[0] == CONFIRMATION
    assert sorted(found[1:]) == sorted(SILENT_SCENARIOS)


def test_a_crash_in_a_silent_scenario_leaves_the_results_of_the_others() -> None:
    runner = ScenarioRunner(
        callback="tests.support.misbehaving_callbacks:crashes_at_url",
        user="tests.support.callbacks:follow",
        server="mail",
        scenarios=SILENT_SCENARIOS,
        silence=0.5,
    )

    found = {each.scenario: (each.outcome, each.reason) for each in runner.results()}

    assert found == {**dict.fromkeys(SILENT_SCENARIOS, ("pass", "")), "silence-opens-no-url": ("fail", CRASHED)}


@pytest.mark.parametrize(
    ("name", "scenario", "outcome", "reason"),
    [
        ("hangs", "nobody-holds-up-nothing", "fail", "was stopped after 3 s"),
        ("hangs", "no-content-with-url", "inconclusive", "was stopped after 3 s"),
        ("crashes", CONFIRMATION, "fail", "The process crashed"),
        ("exits", CONFIRMATION, "fail", "SystemExit"),
    ],
)
def test_a_callback_that_hangs_or_crashes_is_stopped_and_reported(
    name: str, scenario: str, outcome: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runner = ScenarioRunner(
        callback=f"tests.support.misbehaving_callbacks:{name}",
        scenarios=[scenario, "url-mode-gets-an-answer"],
        answer_timeout=1,
        scenario_timeout=3,
    )

    found = {each.scenario: each for each in runner.results()}

    assert found.keys() == {scenario, "url-mode-gets-an-answer"}
    assert found[scenario].outcome == outcome
    assert reason in found[scenario].reason
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_a_callback_forked_is_not_awaited() -> None:
    words = ["tests.support.misbehaving_callbacks:forks", *OURS[1:], "--only", "form-decline-is-decline"]

    run = check(*words, status=0, timeout=100)

    assert "1 scenario: 1 pass" in run.stdout


def test_scenarios_are_stopped_after_any_time_and_the_import_is_not_blamed() -> None:
    scenarios = [CONFIRMATION, "url-mode-gets-an-answer"]
    runner = ScenarioRunner(
        callback="tests.support.callbacks:headless", scenarios=scenarios, scenario_timeout=0.000_001
    )

    found = list(runner.results())

    assert sorted(each.scenario for each in found) == sorted(scenarios)
    assert {each.reason for each in found} == {"The scenario was stopped after 1e-06 s."}


def test_the_text_report_names_failures_reasons_and_references() -> None:
    run = check("tests.support.misbehaving_callbacks:accepts", "--only", CONFIRMATION, "--only", "too-long", status=1)

    assert "FAIL nobody-confirms-nothing" in run.stdout
    assert "Result: The user was absent, but the server received" in run.stdout
    assert "Reference: NousResearch/hermes-agent#58778" in run.stdout
    text = " ".join(run.stdout.split())  # without line breaks, which depend on the width
    assert (
        "inconclusive: The scenario needs a user. Next step: Pass --user to name the hook that plays the user." in text
    )
    assert "2 scenarios: 1 fail, 1 inconclusive 1 scenario was not tested to the end" in text
    assert "\x1b" not in run.stdout


def test_the_junit_report_counts_outcomes_and_names_scenarios(tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"

    check(
        "tests.support.misbehaving_callbacks:accepts",
        "--only",
        CONFIRMATION,
        "--only",
        "too-long",
        "--junit",
        str(file),
        status=1,
    )

    suite = ET.parse(file).getroot()
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "2",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    assert [case.get("name") for case in suite] == ["too-long", CONFIRMATION]


def test_inconclusive_scenarios_have_an_exit_status_of_their_own_unless_they_are_allowed(tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    arguments = ("tests.support.callbacks:headless", "--only", "too-long", "--junit", str(file))

    check(*arguments, status=INCONCLUSIVE)
    assert ET.parse(file).getroot().get("errors") == "1"
    check(*arguments, "--allow-inconclusive", status=0)
    assert ET.parse(file).getroot().get("skipped") == "1"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_results_are_printed_although_a_report_cannot_be_written(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.symlink_to("/dev/full")
    arguments = ("tests.support.callbacks:headless", "--only", "too-long", "--json")

    run = check(*arguments, "--report", str(report), status=2)

    assert "too-long" in {each["scenario"] for each in json.loads(run.stdout)["results"]}
    assert "Cannot write" in run.stderr


@pytest.mark.parametrize("name", ["nowhere/report.html", "folder.json", "file.xml/report.json"])
def test_a_report_that_cannot_be_written_is_refused_before_the_callback_is_loaded(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file.xml").touch()
    report = tmp_path / name

    status = main(["check", "tests.nowhere:callback", "--report", str(report)])

    assert (status, f"Cannot write {report}: " in capsys.readouterr().err) == (2, True)


def test_each_inconclusive_scenario_names_the_next_step() -> None:
    found = results("tests.support.callbacks:headless", status=INCONCLUSIVE)

    assert {bool(each["next_step"]) for each in found.values() if each["outcome"] == "inconclusive"} == {True}
    assert {each["next_step"] for each in found.values() if each["outcome"] != "inconclusive"} <= {""}


def test_the_scenarios_can_be_listed_by_group() -> None:
    run = check("--list", "--only", "URLs", status=0)

    assert run.stdout.splitlines()[0] == "URLs"
    assert "  url-opened-once\n    A URL is opened once at most.\n" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tests.nowhere:callback"], "Cannot import tests.nowhere"),
        (["tests/nowhere.py:callback"], "There is no file"),
        (["tests.support.exits_on_import:callback"], "The process ended while it imported"),
        (["tests.support.misbehaving_callbacks:nothing"], "has no nothing"),
        (["tests.support.misbehaving_callbacks:NOTHING"], "is not callable"),
        (["tests.support.misbehaving_callbacks:types"], "is not async. Define it with `async def`"),
        (["tests.support.misbehaving_callbacks:UserAction"], "is a class. Name an instance of it."),
        (["tests.support.misbehaving_callbacks"], "is not MODULE:CALLABLE"),
        (
            ["tests.support.misbehaving_callbacks:asks", "--user", "tests.support.misbehaving_callbacks:nobody"],
            "has no nobody",
        ),
        (
            ["tests.support.misbehaving_callbacks:asks", "--user", "tests.support.misbehaving_callbacks:asks"],
            "is async. Define it with `def`. Of a `ScriptedUser`, name its method `follow`.",
        ),
        (
            ["tests.support.misbehaving_callbacks:asks", "--only", "nothing"],
            "There is no scenario or group named nothing",
        ),
        (
            ["tests.support.misbehaving_callbacks:asks", "--junit", "/nowhere/at/all.xml", "--only", CONFIRMATION],
            "Cannot write",
        ),
        ([], "Pass a CALLBACK, --interface, --list or --verify."),
        (["tests.support.misbehaving_callbacks:asks", "--list"], "CALLBACK cannot be combined with --list."),
        (["host:callback", "--interface", "inbox"], "CALLBACK cannot be combined with --interface."),
        (["--interface", "inbox", "--user", "player:play"], "--interface cannot be combined with --user."),
        (["--list", "--report", "report.html"], "--list cannot be combined with --report."),
        (["--verify", "report.json", "--only", "URLs"], "--verify cannot be combined with --only."),
        (["host:callback", "--report", "x.json", "--junit", "./x.json"], "x.json is named for two reports."),
        (["host:callback", "--report", "x.html", "--report", "x.html"], "Name a separate file for each."),
        (
            ["tests.support.misbehaving_callbacks:asks", "--", "x"],
            "Only `mcp-elicit call` and `mcp-elicit answer` accept a command",
        ),
        (["tests.support.misbehaving_callbacks:asks", "--answer-timeout", "0"], "invalid"),
    ],
)
def test_usage_errors_have_exit_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    try:
        status = main(["check", *arguments])
    except SystemExit as usage:
        status = int(str(usage.code))

    error = capsys.readouterr().err
    assert (status, message in error, "Traceback" in error) == (2, True, False)


def test_the_error_names_a_missing_library() -> None:
    with pytest.raises(LoadError, match="langchain_mcp_adapters"):
        list(
            ScenarioRunner(
                callback="tests.support.misbehaving_callbacks:asks", shape="langchain", scenarios=[CONFIRMATION]
            ).results()
        )


def test_a_fastmcp_handler_is_called_as_by_fastmcp() -> None:
    if importlib.util.find_spec("fastmcp") is None:
        skip_or_fail("FastMCP is not installed")
    handler = ["tests.support.callbacks:fastmcp", "--shape", "fastmcp", *OURS[1:]]

    found = results(*handler, "--only", "what the user decided", "--only", "URLs", status=0)

    assert {each["outcome"] for each in found.values()} == {"pass"}


def test_every_shape_can_be_chosen() -> None:
    assert f"{{{','.join(get_args(CallbackShape))}}}" in check("--help", status=0).stdout


def test_a_callable_may_be_a_dotted_path() -> None:
    assert load_callable("tests.support.misbehaving_callbacks:UserAction.saw") is not None


def test_the_path_of_a_file_may_contain_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    file = tmp_path / "C:" / "host_4712.py"
    file.parent.mkdir()
    file.write_text("def answer(): ...", encoding="utf-8")

    assert callable(load_callable(f"{file}:answer"))


def test_a_file_can_import_the_modules_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "beside_4711.py").write_text("def answer(): ...", encoding="utf-8")
    (tmp_path / "host_4711.py").write_text("from beside_4711 import answer", encoding="utf-8")

    assert callable(load_callable(f"{tmp_path / 'host_4711.py'}:answer"))


@pytest.mark.parametrize("page", scenario_tables.TABLES)
def test_the_tables_in_the_documentation_are_up_to_date(page: str) -> None:
    assert scenario_tables.updated(page) == (scenario_tables.DOCS / page).read_text(encoding="utf-8")


def test_the_findings_in_the_documentation_name_existing_scenarios() -> None:
    text = (ROOT / "docs" / "check-results.md").read_text(encoding="utf-8").partition("<!-- found -->")[2]

    found = re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)

    assert len(found) >= 12
    assert set(found) <= set(SCENARIOS)
