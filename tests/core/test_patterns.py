from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest, Limits, get_defaults, parse_request, validate
from mcp_elicit_client.core.request import Request
from mcp_elicit_client.core.validation import pattern_process, pattern_worker
from mcp_elicit_client.core.validation.pattern_process import MAX_TEXT, PatternProcess, PatternResult
from mcp_elicit_client.core.validation.patterns import check_patterns
from mcp_elicit_client.dispatch import Dispatcher
from tests.support import cases, form_params, form_request, no_further_threads

ENDLESS = "^(a+)+$"
VICTIM = "a" * 40 + "!"
HOSTILE = {
    "exponential": (ENDLESS, VICTIM),
    "exponential words": (r"^(\w+\s?)*$", "word " * 20 + "!"),
    "alternation": ("^(a|aa)+$", "a" * 60 + "!"),
    "back-reference": (r"^(a+)+\1$", VICTIM),
    "look-ahead": ("^(?=(a+)+$)a", VICTIM),
    "look-behind": ("(?<=(a+)+)!$", "a" * 4_000 + "?"),
    "polynomial": (r"\s+$", " " * 4_095 + "x"),
    "polynomial of fifth degree": ("^a*a*a*a*a*$", "a" * 4_095 + "!"),
    "nested repeats": ("(?:(?:(?:a{1,99}){1,99}){1,99}){1,99}$", "a" * 4_000 + "!"),
    "huge repeats": ("(?:a{0,4294967295}){4294967295}", "b"),
    "3 000 groups": ("(.*)" * 3_000, "x" * 4_000),
    "100 000 parentheses": ("(" * 100_000, "x"),
    "100 000 balanced parentheses": ("(" * 100_000 + ")" * 100_000, "x"),
    "512 unicode classes": (r"\p{L}{1,50}" * 46, "x" * 4_096),
}


def check_pattern(pattern: str, text: str) -> PatternResult:
    # A server of its own for each pattern: no budget is used up.
    return check_patterns([(pattern, text)], (None, pattern))[0]


@pytest.fixture
def process() -> Iterator[PatternProcess]:
    process = PatternProcess()
    yield process
    process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_patterns_are_checked_in_a_process_with_a_lower_limit_of_memory() -> None:
    code = (
        "from mcp_elicit_client.core.validation.pattern_process import PatternProcess\n"
        "process = PatternProcess()\n"
        "print(process.check('^a+$', 'aaa')[0].name)\n"
        "process.kill()\n"
    )
    command = ["sh", "-c", 'ulimit -v 400000 && exec "$0" -c "$1"', sys.executable, code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.strip() == "MATCH"


def test_a_system_that_cannot_limit_memory_checks_patterns_nevertheless(monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS does: `setrlimit` raises for the address space, and core dumps are disabled."""
    resource = pytest.importorskip("resource", reason="Windows has no such limits")
    applied = []

    def setrlimit(limit: int, value: tuple[int, int]) -> None:
        if limit == resource.RLIMIT_AS:
            raise ValueError("current limit exceeds maximum limit")
        applied.append((limit, value))

    monkeypatch.setattr(resource, "setrlimit", setrlimit)
    pattern_worker.limit_resources()

    assert applied == [(resource.RLIMIT_CORE, (0, 0))]


def form(properties: dict[str, Any], **limits: Any) -> FormRequest:
    return form_request(form_params({"properties": properties}), limits=Limits(**limits))


@pytest.mark.parametrize("case", cases("patterns"))
def test_a_pattern_answers_as_in_javascript_or_is_not_checked(case: Any) -> None:
    outcomes = [check_pattern(case["pattern"], text) for text in case["inputs"]]

    if case["matches"] is None and "why" in case:
        assert all(outcome.checked for outcome in outcomes)
    elif case["matches"] is None:
        assert set(outcomes) == {PatternResult.INVALID}
    else:
        assert [PatternResult.MATCH if match else PatternResult.NO_MATCH for match in case["matches"]] == outcomes


@pytest.mark.parametrize(("pattern", "text"), HOSTILE.values(), ids=HOSTILE)
def test_no_pattern_hangs_or_breaks_the_next_check(pattern: str, text: str) -> None:
    check_pattern(pattern, text)

    assert check_pattern("^a", "abc") is PatternResult.MATCH


def test_a_pattern_that_takes_too_long_is_not_checked() -> None:
    assert check_pattern(ENDLESS, VICTIM) is PatternResult.TIMEOUT


def test_a_text_that_is_too_long_is_not_checked() -> None:
    assert check_pattern("^a", "a" * MAX_TEXT) is PatternResult.MATCH
    assert check_pattern("^a", "a" * (MAX_TEXT + 1)) is PatternResult.TEXT_TOO_LONG


def test_the_process_is_used_again(process: PatternProcess) -> None:
    process.check("a", "a")
    pid = process.pid
    process.check("b", "a")

    assert pid is not None
    assert process.pid == pid


def test_a_process_that_died_is_replaced(process: PatternProcess) -> None:
    process.check("a", "a")
    assert process._process is not None
    process._process.kill()
    process._process.wait()

    assert process.check("a", "a")[0] is PatternResult.MATCH


def test_a_check_during_which_a_used_process_dies_is_repeated_once(process: PatternProcess) -> None:
    process.check("a", "a")
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    threading.Timer(0.02, os.kill, (process.pid, signal.SIGKILL)).start()

    assert process.check("a", "a")[0] is PatternResult.MATCH


@pytest.mark.parametrize("executable", ["/does/not/exist", ""])
def test_where_no_process_can_start_nothing_is_checked(
    process: PatternProcess, monkeypatch: pytest.MonkeyPatch, executable: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)

    # The time is that of the longest check, so that what kills a process uses up the budget of its server.
    assert process.check("a", "a") == (PatternResult.FAILED, pattern_process.CHECK_TIMEOUT)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit the size of a stack")
def test_where_no_thread_can_start_nothing_is_checked(process: PatternProcess) -> None:
    with no_further_threads():
        assert process.check("a", "a")[0] is PatternResult.FAILED

    assert process.check("a", "a")[0] is PatternResult.MATCH


def test_a_check_reports_its_processor_time(process: PatternProcess) -> None:
    _, short = process.check("^a", "a")
    _, long = process.check("^(a+)+$", "a" * 20 + "!")  # Some clocks count in steps of 10 ms.

    assert short < long < pattern_process.CHECK_TIMEOUT


def test_after_a_timeout_the_other_patterns_of_an_answer_have_little_time_left() -> None:
    field = {"type": "string", "pattern": ENDLESS}
    request = form({f"f{at}": field for at in range(60)})

    validation = validate(request, {f"f{at}": VICTIM for at in range(60)})

    assert validation.valid
    reasons = [problem.message for problem in validation.unchecked]
    assert len(reasons) == 60
    assert reasons.count(PatternResult.TIMEOUT.value) <= 2


ANSWERS: list[tuple[dict[str, Any], Any, list[str], list[str]]] = [
    ({"type": "string", "pattern": "b+"}, "abbc", [], []),
    ({"type": "string", "pattern": "^b+$"}, "abbc", ["pattern"], []),
    ({"type": "string", "pattern": "^b+$", "maxLength": 2}, "abbc", ["max_length"], []),
    ({"type": "string", "pattern": "^abc$"}, "abc\n", ["pattern"], []),
    ({"type": "string", "pattern": r"^\d$"}, "\u0661", ["pattern"], []),
    ({"type": "string", "pattern": "("}, "x", [], [PatternResult.INVALID.value]),
    ({"type": "string", "pattern": ENDLESS}, VICTIM, [], [PatternResult.TIMEOUT.value]),
    ({"type": "string", "pattern": "a" * 513}, "x", [], ["the pattern is longer than 512 characters"]),
    ({"type": "string", "pattern": "a"}, 5, ["type"], []),
    ({"type": "array", "items": {"type": "string", "pattern": "^a"}}, ["a", "ab"], [], []),
    ({"type": "array", "items": {"type": "string", "pattern": "^a"}}, ["a", "b"], ["pattern"], []),
]


@pytest.mark.parametrize(("field", "value", "errors", "unchecked"), ANSWERS)
def test_an_answer_is_checked_against_its_pattern_or_said_not_to_be(
    field: dict[str, Any], value: Any, errors: list[str], unchecked: list[str]
) -> None:
    validation = validate(form({"f": field}), {"f": value})

    assert [error.code for error in validation.errors] == errors
    assert [problem.message for problem in validation.unchecked] == unchecked


def test_the_pattern_is_a_sanitized_parameter_of_the_error_and_never_in_its_sentence() -> None:
    (error,) = validate(form({"f": {"type": "string", "pattern": "^\x1b"}}), {"f": "x"}).errors

    assert error.message == "This does not have the required format."
    assert error.params == {"pattern": "^\\u{1b}"}


def test_a_long_pattern_is_cut_and_in_one_line_in_the_error() -> None:
    (error,) = validate(form({"f": {"type": "string", "pattern": "b\n" + "a" * 100}}), {"f": "x"}).errors

    assert error.params == {"pattern": f"b {'a' * 78}…"}


def test_a_pattern_is_checked_whatever_the_fields_before_it_have() -> None:
    fields = {
        "missing": {"type": "string", "pattern": "^a"},
        "number": {"type": "integer"},
        "plain": {"type": "string"},
        "skipped": {"type": "string", "pattern": "a" * 513},
        "last": {"type": "string", "pattern": "^a"},
    }

    validation = validate(form(fields), {"number": 1, "plain": "b", "skipped": "b", "last": "b"})

    assert [(error.field, error.code) for error in validation.errors] == [("last", "pattern")]
    assert [problem.field for problem in validation.unchecked] == ["skipped"]


def test_a_host_may_turn_patterns_off() -> None:
    validation = validate(form({"f": {"type": "string", "pattern": "^a"}}, check_patterns=False), {"f": "b"})

    assert validation.valid
    assert [problem.message for problem in validation.unchecked] == ["patterns are turned off"]


def test_a_default_that_does_not_match_is_dropped() -> None:
    request = form({"a": {"type": "string", "pattern": "^a", "default": "b"}, "c": {"type": "string", "default": "d"}})

    assert get_defaults(request) == {"c": "d"}


@pytest.mark.anyio
async def test_the_event_loop_goes_on_while_a_pattern_is_checked() -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": ENDLESS}}}
    registry = ElicitationRegistry()
    seen: list[Answer] = []
    ticks = 0

    @registry.on_elicitation
    async def handler(_request: Request) -> Answer:
        return Answer.accept({"a": VICTIM}, by="user")

    async def ask() -> None:
        seen.append(
            await Dispatcher(registry).answer(form_params(schema), server=parse_request(form_params({})).server)
        )

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        while not seen:
            ticks += 1
            await anyio.lowlevel.checkpoint()

    assert ticks > 100
    assert seen[0].action == "accept"
    assert [note.code for note in seen[0].diagnostics] == ["pattern_not_checked"]


@pytest.mark.anyio
async def test_a_handler_sees_no_default_that_does_not_match_its_pattern() -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^a", "default": "b"}}}
    registry = ElicitationRegistry()
    seen: list[FormRequest] = []

    @registry.on_elicitation(mode="form")
    async def handler(request: FormRequest) -> Answer:
        seen.append(request)
        return Answer.decline(by="user")

    await Dispatcher(registry).answer(form_params(schema), server=parse_request(form_params({})).server)

    assert seen[0].form.fields[0].default is None
    assert [problem.code for problem in seen[0].diagnostics] == ["default_dropped"]


@pytest.mark.anyio
async def test_in_an_event_loop_a_direct_check_gives_up_soon() -> None:
    assert check_pattern("^a", "abc") is not PatternResult.NO_MATCH
    assert not check_pattern(ENDLESS, VICTIM).checked


CHECK_AND = """
import os, sys
from mcp_elicit_client.core.validation.pattern_pool import POOL
from mcp_elicit_client.core.validation.pattern_process import PatternResult
from mcp_elicit_client.core.validation.patterns import check_patterns
assert check_patterns([("a", "a")]) == [PatternResult.MATCH]
print(POOL.processes[0].pid, flush=True)
{then}
"""


KILLED_WHILE_CHECKING = f"""
POOL.processes[0]._process.stdin.write(b'["{ENDLESS}", "{VICTIM}"]\\n')
POOL.processes[0]._process.stdin.flush()
os.kill(os.getpid(), 9)
"""


def ended(pid: int) -> bool:
    """Wait until a process has ended; without a sleep."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    try:
        return bool(poll.poll(10_000))
    finally:
        os.close(descriptor)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no way to wait for a process that is not a child")
@pytest.mark.parametrize(
    "then",
    [
        "",
        "sys.exit(3)",
        "raise ValueError",
        "os.kill(os.getpid(), 9)",
        KILLED_WHILE_CHECKING,
    ],
    ids=["end", "exit", "exception", "kill -9", "kill -9 in the middle of a check"],
)
def test_no_worker_outlives_its_process(then: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", CHECK_AND.format(then=then)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )

    assert ended(int(run.stdout))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_has_a_worker_of_its_own() -> None:
    then = """
child = os.fork()
assert check_patterns([("b", "a")]) == [PatternResult.NO_MATCH]
print(POOL.processes[0].pid, flush=True)
if child:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert check_patterns([("a", "a")]) == [PatternResult.MATCH]
"""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHECK_AND.format(then=then)], capture_output=True, text=True, check=False
    )

    pids = run.stdout.split()
    assert run.returncode == 0, run.stderr
    assert (len(pids), len(set(pids))) == (3, 2)
    assert all(ended(int(pid)) for pid in pids)
