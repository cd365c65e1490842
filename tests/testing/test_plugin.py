"""The pytest plugin, in separate runs of pytest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ROOT

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]
LOADED = ("-p", "anyio.pytest_plugin", "-p", "mcp_elicit_client.pytest_plugin", "-p", "no:cacheprovider")

TESTS = """
import pytest

pytestmark = pytest.mark.anyio
FORM = {
    "message": "How many guests?",
    "requestedSchema": {"type": "object", "properties": {"guests": {"type": "integer"}}, "required": ["guests"]},
}

@pytest.fixture
def anyio_backend():
    return "asyncio"

async def test_booking(elicitation):
    elicitation.user.types({"guests": "2"})
    reply = await elicitation.ask(FORM)
    assert reply.content == {"guests": 2}

async def test_nonsense(elicitation):
    elicitation.user.types({"guests": "12abc"})
    reply = await elicitation.ask(FORM)
    assert reply.action == "cancel"
    assert elicitation.user.errors_shown == [("guests", "Enter a whole number.")]

async def test_own_callback(elicitation):
    from mcp.types import ElicitResult

    async def always(_context, _params):
        return ElicitResult(action="accept", content={})

    result = await elicitation.run_scenario("nobody-confirms-nothing", always)
    assert result.outcome == "fail"
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\n")

    def run(source: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(source)
        return pytester.runpytest_inprocess(*LOADED, *options)

    return run


def test_a_user_follows_the_script(run: Run) -> None:
    result = run(TESTS)

    result.assert_outcomes(passed=3)
    assert "elicitations" not in result.stdout.str()


def test_the_fixture_has_a_public_type_that_only_a_test_with_it_loads(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
import sys

def test_without():
    assert "mcp_elicit_client.testing" not in sys.modules

def test_with(elicitation):
    from mcp_elicit_client.testing import Elicitation
    assert type(elicitation) is Elicitation
""")
    pytester.runpytest_subprocess(*LOADED).assert_outcomes(passed=2)  # this process has loaded it before


def test_the_report_does_not_replace_tests(run: Run, pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile(test_kept=TESTS)
    source = file.read_bytes()

    for tests in ("test_kept.py", "test_kept.py::test_one", "."):
        result = run(TESTS, "--elicit-report", tests)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines("ERROR: --elicit-report takes a file for the report, but * contains tests.*")

    assert file.read_bytes() == source


def test_the_report_lists_requests_replies_and_results(run: Run) -> None:
    result = run(TESTS, "--elicit-report")

    result.stdout.fnmatch_lines(
        [
            "*elicitations*",
            "*::test_booking",
            "  form: How many guests?",
            "  The server received *accept*guests*2*",
            "  fail: nobody-confirms-nothing: The user was absent*",
        ]
    )


def test_the_report_can_be_a_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "report.json"

    run(TESTS, f"--elicit-report={file}").assert_outcomes(passed=3)

    report = json.loads(file.read_text())
    assert [each["test"].rpartition("::")[2] for each in report] == [
        "test_booking",
        "test_nonsense",
        "test_own_callback",
    ]
    assert report[0]["replies"] == [{"result": {"action": "accept", "content": {"guests": 2}}, "error": None}]
    assert report[2]["results"][0]["outcome"] == "fail"


def test_the_folder_of_the_report_is_created(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "reports" / "today" / "report.json"

    run(TESTS, f"--elicit-report={file}").assert_outcomes(passed=3)

    assert len(json.loads(file.read_text())) == 3


def test_a_report_that_cannot_be_written_is_refused_before_the_tests_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    result = run(TESTS, f"--elicit-report={tmp_path / 'file' / 'report.json'}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("ERROR: --elicit-report cannot write *report.json: *File exists*")


def test_the_report_contains_the_tests_of_other_processes(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "report.json"

    run(TESTS, "-p", "xdist", "-n", "1", f"--elicit-report={file}").assert_outcomes(passed=3)

    assert [len(each["requests"]) for each in json.loads(file.read_text())] == [1, 1, 0]


BEYOND = """
import anyio

def test_it(elicitation):
    {script}
    {strict}
    anyio.run(elicitation.ask, {{"message": "Sure?", "requestedSchema": {{"type": "object", "properties": {{}}}}}})
"""


@pytest.mark.parametrize(
    ("script", "strict", "outcomes", "line"),
    [
        ("pass", "pass", {"passed": 1, "errors": 1}, "*More requests arrived than were scripted: 'Sure[?]'*"),
        ("pass", "elicitation.strict = False", {"passed": 1}, "*1 passed*"),
        (
            "elicitation.user.declines().declines()",
            "pass",
            {"passed": 1, "errors": 1},
            "*Steps of the script remain unused: 1. Requests that arrived: 1.*",
        ),
        (
            "elicitation.user.answers({'guest': 2})",
            "pass",
            {"passed": 1, "errors": 1},
            "*The script does not fit a request: `answers` names the field 'guest', which the form does not have.*",
        ),
        ("elicitation.user.answers({'guest': 2})", "elicitation.strict = False", {"passed": 1}, "*1 passed*"),
        ("elicitation.user.declines()", "pass", {"passed": 1}, "*1 passed*"),
    ],
)
def test_a_script_must_be_followed_exactly_unless_strict_is_false(
    run: Run, script: str, strict: str, outcomes: dict[str, int], line: str
) -> None:
    result = run(BEYOND.format(script=script, strict=strict))

    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines([line])


FROM_A_FILE = """
import anyio

EMPTY = {{"type": "object", "properties": {{}}}}
GUESTS = {{"type": "object", "properties": {{"guests": {{"type": "integer"}}}}}}

def test_it(elicitation):
    elicitation.read_answers("answers.json", accept_urls={accept_urls})
    reply = anyio.run(elicitation.ask, {{"message": "How many  guests?", "requestedSchema": GUESTS}})
    assert reply.action == "{action}"
    assert len(elicitation.user.requests) == 1
"""


@pytest.mark.parametrize(
    ("answers", "action", "outcomes", "line"),
    [
        ('{"guests": 4}', "accept", {"passed": 1}, "*1 passed*"),
        ('[{"message": "How many guests?", "action": "decline"}]', "decline", {"passed": 1}, "*1 passed*"),
        ('{"guests": "4"}', "cancel", {"passed": 1, "errors": 1}, '*"guests": Enter a whole number.*'),
        ("[]", "cancel", {"passed": 1, "errors": 1}, "*No answer was given for it.*"),
        (
            '[{"action": "accept"}, {"action": "decline"}]',
            "accept",
            {"passed": 1, "errors": 1},
            "*Answer 2 was not*",
        ),
        ('{"guests": 4, "guests": 5}', "accept", {"failed": 1}, '*There are two answers for "guests".*'),
    ],
)
def test_a_file_answers_in_place_of_the_user(
    run: Run, pytester: pytest.Pytester, answers: str, action: str, outcomes: dict[str, int], line: str
) -> None:
    (pytester.path / "answers.json").write_text(answers)

    result = run(FROM_A_FILE.format(accept_urls=False, action=action))

    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines([line])


REFUSED = """
import anyio

URL = {{"mode": "url", "message": "Go", "url": "javascript:alert(1)", "elicitationId": "1"}}

def test_it(elicitation):
    {script}
    anyio.run(elicitation.ask, URL)
"""


def test_a_request_that_the_registry_refuses_has_no_valid_answer_in_a_file(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "answers.json").write_text("[]")

    result = run(REFUSED.format(script="elicitation.read_answers('answers.json', accept_urls=True)"))

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*has no valid answer:*", "*`url` must have the scheme https*"])


def test_the_report_lists_requests_that_the_registry_refuses(run: Run) -> None:
    result = run(REFUSED.format(script="pass"), "--elicit-report")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_it", "  refused: `url` must have the scheme https", "  The server received*"])


def test_the_example_of_the_page_runs(run: Run) -> None:
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    block = next(each for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "read_answers" in each)

    run(f"import pytest\n{block}\npytestmark = pytest.mark.anyio").assert_outcomes(passed=2)
