"""``mcp-elicit call --answers``, and ``--suspend`` with ``answer``, against real servers of others."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from mcp_elicit_client.cli import main
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from tests.integration.test_everything import everything_over_http
from tests.servers.fork_server import server_command
from tests.servers.tasker import ask
from tests.support import FILLED_IN, ROOT, free_port, http_server, npm_environment, npm_tool, read_line, skip_or_fail

FORM = "trigger-elicitation-request"
FASTMCP = [sys.executable, "-m", "tests.servers.fastmcp_asker"]
COMMAND = [sys.executable, "-m", "mcp_elicit_client"]
TASKER = server_command("tests.servers.tasker")
NODE = ROOT / ".npm" / "node_modules"

Run: TypeAlias = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, state: None) -> Run:
    def run(*words: str) -> tuple[int, str]:
        status = main(words)
        return status, capsys.readouterr().out

    return run


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The state of this user, and the environment of programs from npm."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NODE_PATH", str(NODE))
    monkeypatch.setenv("PATH", npm_environment()["PATH"])


@pytest.fixture
def answers(tmp_path: Path) -> Callable[[object], list[str]]:
    """Write answers into a file; return the option."""

    def write(answers: object) -> list[str]:
        (tmp_path / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        return ["--answers", str(tmp_path / "answers.json")]

    return write


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def everything() -> list[str]:
    return ["--env", "PATH", "--", npm_tool("mcp-server-everything"), "stdio"]


def typescript() -> list[str]:
    npm_tool("mcp-server-everything")  # or the test is skipped
    return [
        "--env",
        "NODE_PATH",
        "--env",
        "PATH",
        "--",
        "node",
        str(ROOT / "tests" / "servers" / "typescript_asker.cjs"),
    ]


def fastmcp() -> list[str]:
    if importlib.util.find_spec("fastmcp") is None or not supports_multi_round_trip():
        skip_or_fail("FastMCP 4 is not installed; see noxfile.py")
    return FASTMCP


def test_server_everything_gets_the_answers_of_a_file(run: Run, answers: Any) -> None:
    status, out = run("call", FORM, *answers(FILLED_IN), *everything())

    assert (status, "Ada Lovelace" in out) == (0, True)
    with everything_over_http() as (url, _):
        status, out = run("call", FORM, *answers([{"action": "decline"}]), "--url", url)
        assert (status, "declined" in out) == (0, True)


def test_server_everything_cannot_be_suspended(run: Run) -> None:
    status, out = run("call", FORM, "--suspend", *everything())

    assert status == 5
    (request,) = json.loads(out)["requests"]
    assert "requestedSchema" in request


def test_a_server_of_the_typescript_sdk_gets_the_answers_of_a_file(run: Run, answers: Any) -> None:
    status, out = run("call", "order", *answers({"size": "large"}), *typescript())

    assert (status, json.loads(out)) == (0, {"action": "accept", "content": {"size": "large", "guests": 2}})
    assert run("call", "order", *answers({"size": "huge"}), *typescript())[0] == 3
    assert run("call", "order", "--suspend", *typescript())[0] == 5


@pytest.fixture
def example() -> Iterator[str]:
    """The URL of the example of the TypeScript SDK for forms, over HTTP."""
    npm_tool("mcp-server-everything")
    script = (
        NODE / "@modelcontextprotocol" / "sdk" / "dist" / "esm" / "examples" / "server" / "elicitationFormExample.js"
    )
    variables = {**npm_environment(), "PORT": str(free_port())}
    with subprocess.Popen(["node", str(script)], env=variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            while "running on" not in read_line(process):
                pass
            yield f"http://localhost:{variables['PORT']}/mcp"
        finally:
            process.kill()


def test_the_form_example_of_the_typescript_sdk_gets_the_answers_of_a_file(
    run: Run, answers: Any, example: str
) -> None:
    form = {"username": "ada_l", "email": "ada@example.com", "password": "correct horse", "interests": ["ai"]}

    status, out = run("call", "register_user", *answers(form), "--url", example)

    assert (status, "Username: ada_l" in out) == (0, True)
    assert run("call", "register_user", "--set", "password=hunter22", "--url", example)[0] == 3


@pytest.mark.rounds
def test_fastmcp_gets_the_answers_of_a_file(run: Run, answers: Any) -> None:
    command = fastmcp()

    assert run("call", "push", "--legacy", *answers({"value": 4}), "--", *command) == (0, "accept 4\n")
    names = [{"message": f"Name for {each}?", "content": {"name": each}} for each in "abc"]
    status, out = run("call", "ask", *answers(names), "--", *command)
    assert (status, json.loads(out)["c"]) == (0, {"action": "accept", "content": {"name": "c"}})
    assert run("call", "push", "--suspend", "--", *command)[0] == 5


def requests_of(outcome: tuple[int, str]) -> dict[str, str]:
    """Return the IDs of the requests that a call waits for, by their messages."""
    assert outcome[0] == 4, outcome
    return {each["message"]: each["id"] for each in json.loads(outcome[1])["requests"]}


@pytest.mark.rounds
def test_fastmcp_over_http_is_suspended_and_answered(run: Run) -> None:
    with http_server(fastmcp()) as url:
        first = requests_of(run("call", "ask", "--suspend", "--url", url))
        assert list(first) == ["Name for a?", "Name for b?"]
        assert list(requests_of(run("answer", first["Name for a?"], "name=Ann"))) == ["Name for b?"]
        second = requests_of(run("answer", first["Name for b?"], "--decline"))
        assert list(second) == ["Name for c?"]
        status, out = run("answer", second["Name for c?"], "name=Cy")

    assert status == 0
    assert json.loads(json.loads(out)["result"]["content"][0]["text"]) == {
        "a": {"action": "accept", "content": {"name": "Ann"}},
        "b": {"action": "decline"},
        "c": {"action": "accept", "content": {"name": "Cy"}},
    }


@pytest.mark.rounds
def test_a_call_goes_on_once_if_two_processes_give_its_last_answers(run: Run) -> None:
    with http_server(fastmcp()) as url:
        first = requests_of(run("call", "ask", "--suspend", "--url", url))
        processes = [
            subprocess.Popen(
                [*COMMAND, "answer", each, "name=Ann"], env=environment(), stdout=subprocess.PIPE, text=True
            )
            for each in first.values()
        ]
        printed = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
        pending = json.loads(run("requests", "--json")[1])

    assert {each["status"] for each in printed} <= {"input_required", "continued_elsewhere"}
    assert [each["message"] for each in pending["requests"]] == ["Name for c?"]
    assert pending["answered_calls"] == []


@pytest.mark.rounds
def test_fastmcp_over_stdio_forgets_the_call_and_the_user_learns_why(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    first = requests_of(run("call", "ask", "--suspend", "--", *fastmcp()))
    run("answer", first["Name for a?"], "name=Ann")

    status = main(("answer", first["Name for b?"], "name=Bob"))

    shown = capsys.readouterr()
    assert (status, json.loads(shown.out)["code"]) == (1, "state_rejected")
    assert "Use a server with HTTP" in " ".join(shown.err.split())


@pytest.mark.rounds
def test_a_task_over_http_is_suspended_and_answered(run: Run) -> None:
    with http_server(TASKER) as url:
        plan = json.dumps({"plan": [ask("a"), ask("b")]})
        first = requests_of(run("call", "run", "--suspend", "--args", plan, "--url", url))
        second = requests_of(run("answer", first["Name for a?"], "name=Ann"))
        status, out = run("answer", second["Name for b?"], "name=Bob")

    assert status == 0
    result = json.loads(json.loads(out)["result"]["content"][0]["text"])
    assert {key: each["content"]["name"] for key, each in result.items()} == {"a": "Ann", "b": "Bob"}
