"""Calls that wait for answers in a store: ``call --suspend``, ``requests`` and ``answer``."""

from __future__ import annotations

import getpass
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import anyio
import pytest

from mcp_elicit_client.cli import main
from mcp_elicit_client.cli.call_store import default_store
from mcp_elicit_client.cli.server_address import ServerAddress
from mcp_elicit_client.inbox import Inbox, SqliteStore
from tests.servers.fork_server import server_command
from tests.servers.tasker import ask
from tests.support import ASKER, DEMO, ROOT, free_port, http_server, recording_browser

if TYPE_CHECKING:
    from tests.support.inboxes import RedisServer

pytestmark = [pytest.mark.slow, pytest.mark.rounds]

TASKER = ["--env", "ELICIT_TASKS", "--", *server_command("tests.servers.tasker")]
FORM = {
    "message": "Your order?",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "guests": {"type": "integer", "minimum": 1, "default": 2}},
        "required": ["name"],
    },
}
LOGIN = {
    "message": "Log in",
    "requestedSchema": {"type": "object", "properties": {"user": {"type": "string"}, "password": {"type": "string"}}},
}


class Outcome(NamedTuple):
    """What a command printed: its exit status, its JSON document and its other output."""

    status: int
    document: Any
    err: str


Run: TypeAlias = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state directory."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("MCP_ELICIT_STORE", raising=False)
    return tmp_path / "state"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*words: str, stdin: str | None = None) -> Outcome:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        try:
            status = main(words)
        except SystemExit as end:
            status = int(str(end.code))
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        is_document = shown.out.startswith("{")
        return Outcome(status, json.loads(shown.out) if is_document else shown.out, shown.err)

    return run


Asking: TypeAlias = Callable[..., list[str]]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The URL of a server for the tests of this module."""
    with http_server() as url:
        yield url


@pytest.fixture
def asking(url: str) -> Asking:
    """Return the arguments of a call of a server that sends *params*."""

    def words(params: object, *options: str, server: Sequence[str] = ("--url", url)) -> list[str]:
        return ["call", "ask", "--suspend", "--args", json.dumps({"params": params}), *options, *server]

    return words


def request_of(outcome: Outcome) -> Any:
    """Return the one request that a call waits for."""
    assert outcome.status == 4, outcome
    assert outcome.document["status"] == "input_required"
    (request,) = outcome.document["requests"]
    return request


def told(outcome: Outcome) -> Any:
    """Return what the server got."""
    assert outcome.status == 0, outcome
    assert outcome.document["status"] == "completed"
    return json.loads(outcome.document["result"]["content"][0]["text"])


def test_a_call_ends_with_its_request_and_goes_on_with_the_answer(
    run: Run, asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_of(run(*asking(FORM, server=["--", *ASKER])))

    assert (request["message"], request["mode"], request["sensitive"]) == ("Your order?", "form", [])
    assert request["requestedSchema"]["properties"]["guests"]["minimum"] == 1
    assert request["answer_with"] == f"mcp-elicit answer {request['id']} FIELD=VALUE ..."
    monkeypatch.chdir(tmp_path)  # the command runs in the directory of the call
    outcome = run("answer", request["id"], "name=Ada")
    assert told(outcome) == {"action": "accept", "content": {"name": "Ada", "guests": 2}}
    assert "Answer that is sent to" in outcome.err
    assert '| "name": Ada' in outcome.err


def test_requests_are_listed_for_people_and_programs(run: Run, asking: Asking) -> None:
    assert run("requests").document == "No pending requests\n"
    request = request_of(run(*asking(FORM)))

    shown = run("requests").document
    assert request["id"] in shown
    assert "  | Your order?" in shown
    assert f"mcp-elicit answer {request['id']}" in shown
    assert run("requests", "--json").document == {"requests": [request], "answered_calls": []}


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (["--decline"], {"action": "decline"}),
        (["--cancel"], {"action": "cancel"}),
        (["--answers", "-"], {"action": "accept", "content": {"name": "Ada", "guests": 5}}),
    ],
)
def test_every_action_reaches_the_server(run: Run, asking: Asking, choice: list[str], sent: dict[str, Any]) -> None:
    request = request_of(run(*asking(FORM)))

    assert told(run("answer", request["id"], *choice, stdin='{"name": "Ada", "guests": 5}')) == sent


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("http://a.example/", "`url` must use https"),
        ("http://localhost/", "`url` leads to the user's own computer. To allow it, pass --allow-loopback."),
    ],
)
def test_a_request_that_is_refused_unread_is_reported(run: Run, asking: Asking, target: str, reason: str) -> None:
    outcome = run(*asking({"mode": "url", "message": "Go", "url": target, "elicitationId": "1"}))

    assert told(outcome) == {"action": "cancel"}
    assert f"The request was not answered: {reason}\n" in outcome.err


def test_fields_may_follow_options(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(FORM)))

    dry = run("answer", "--dry-run", request["id"], "name=Ada", "--user", current_user(), "guests=3")
    assert dry.document["content"] == {"name": "Ada", "guests": 3}


def current_user() -> str:
    return getpass.getuser()


def test_an_answer_that_does_not_fit_is_not_sent_and_the_request_stays_pending(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(FORM)))

    outcome = run("answer", request["id"], "guests=many", "nmae=Ada")

    assert (outcome.status, outcome.document["status"]) == (3, "invalid_answer")
    assert outcome.document["problems"] == [
        '"nmae": The server did not request this field.',
        '"guests": Enter a whole number.',
    ]
    assert "requestedSchema" in outcome.document
    assert run("answer", request["id"], "guests=3").document["problems"] == ['"name": This field is required.']
    assert run("requests", "--json").document["requests"] == [request]


def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(FORM)))

    outcome = run("answer", request["id"], "name=Ada", "--dry-run")

    assert (outcome.status, outcome.document["status"]) == (0, "dry_run")
    assert (outcome.document["action"], outcome.document["content"]) == ("accept", {"name": "Ada", "guests": 2})
    assert "would be sent" in outcome.err
    assert run("requests", "--json").document["requests"] == [request]


def test_a_sensitive_field_is_refused_in_arguments_and_hidden_from_the_review(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(LOGIN)))

    assert request["sensitive"] == ["password"]
    assert request["answer_with"].endswith("--answers -")
    refused = run("answer", request["id"], "password=hunter2")
    assert (refused.status, "--answers -" in refused.err) == (3, True)
    values = '{"user": "ada", "password": "hunter2"}'
    dry = run("answer", request["id"], "--answers", "-", "--dry-run", stdin=values)
    assert dry.document["content"] == {"user": "ada", "password": "********"}
    outcome = run("answer", request["id"], "--answers", "-", stdin=values)
    assert told(outcome)["content"] == {"user": "ada", "password": "hunter2"}
    assert "hunter2" not in outcome.err


def test_sensitive_data_in_another_field_needs_a_confirmation(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(FORM)))
    secret = f"name=ghp_{'a1B2' * 9}"

    refused = run("answer", request["id"], secret)

    assert (refused.status, "--send-anyway" in refused.err) == (3, True)
    assert told(run("answer", request["id"], secret, "--send-anyway"))["action"] == "accept"


def test_a_url_is_shown_whole_and_never_opened(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, opened = recording_browser(tmp_path)
    monkeypatch.setenv("BROWSER", str(browser))
    request = request_of(run("call", "pay_deposit", "--suspend", *DEMO))

    assert (request["mode"], request["registrable_domain"]) == ("url", "example.com")
    assert request["url"].startswith("https://pay.example.com/")
    assert run("answer", request["id"], "--accept").status == 2
    assert run("answer", request["id"], "name=Ada").status == 2
    assert told(run("answer", request["id"], "--done")) == {"action": "accept"}
    assert not opened.exists()


@pytest.mark.parametrize(
    "words", [[], ["--decline", "--cancel"], ["name=Ada", "--accept"], ["--done"], ["name"], ["name=a", "name=b"]]
)
def test_arguments_that_are_no_answer_are_usage_errors(run: Run, asking: Asking, words: list[str]) -> None:
    request = request_of(run(*asking(FORM)))

    assert run("answer", request["id"], *words).status == 2
    assert run("requests", "--json").document["requests"] == [request]


@pytest.mark.parametrize("values", ['[{"content": {"name": "Ada"}}]', '{"action": "decline"}'])
def test_answers_in_place_of_values_are_a_usage_error_that_names_the_options(
    run: Run, asking: Asking, values: str
) -> None:
    request = request_of(run(*asking(FORM)))

    refused = run("answer", request["id"], "--answers", "-", stdin=values)

    assert (refused.status, "pass --decline or --cancel" in refused.err) == (2, True)
    assert "list of answers" not in refused.err


def test_all_requests_of_a_call_are_answered_before_it_goes_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELICIT_TASKS", str(tmp_path / "tasks"))
    (tmp_path / "tasks").mkdir()
    plan = json.dumps({"plan": [ask("a", "b"), ask("c")]})

    first = run("call", "run", "--suspend", "--args", plan, *TASKER)

    assert (first.status, [each["message"] for each in first.document["requests"]]) == (
        4,
        ["Name for a?", "Name for b?"],
    )
    a, b = (each["id"] for each in first.document["requests"])
    second = run("answer", a, "name=Ann")
    assert (second.status, [each["id"] for each in second.document["requests"]]) == (4, [b])
    c = request_of(run("answer", b, "--decline"))
    assert c["message"] == "Name for c?"
    assert told(run("answer", c["id"], "name=Cy")) == {
        "a": {"action": "accept", "content": {"name": "Ann"}},
        "b": {"action": "decline"},
        "c": {"action": "accept", "content": {"name": "Cy"}},
    }
    assert run("requests", "--json").document == {"requests": [], "answered_calls": []}


def test_a_task_needs_the_environment_of_its_server_again(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELICIT_TASKS", str(tmp_path))
    request = request_of(run("call", "run", "--suspend", "--args", json.dumps({"plan": [ask("a")]}), *TASKER))
    monkeypatch.delenv("ELICIT_TASKS")

    outcome = run("answer", request["id"], "name=Ann")

    assert (outcome.status, '"ELICIT_TASKS"' in outcome.err) == (1, True)
    assert str(tmp_path).encode() not in default_store().read_bytes().replace(str(default_store()).encode(), b"")
    assert run("requests", "--json").document["requests"] == [request]


def test_of_two_processes_exactly_one_answers(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(FORM)))
    command = [sys.executable, "-m", "mcp_elicit_client", "answer", request["id"]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    processes = [
        subprocess.Popen([*command, f"name={name}"], stdout=subprocess.PIPE, text=True, env=environment)
        for name in ("Ada", "Eve")
    ]
    printed = [json.loads(process.communicate(timeout=60)[0]) for process in processes]

    assert sorted(process.returncode for process in processes) == [0, 1]
    won, lost = sorted(printed, key=lambda each: str(each["status"]))
    assert (won["status"], lost["status"]) == ("completed", "failed")
    assert lost["code"] in ("answered", "call_resuming", "call_finished")


@pytest.mark.parametrize("words", [["unknown", "name=Ada"], ["unknown", "--continue"]])
def test_an_unknown_request_is_reported(run: Run, words: list[str]) -> None:
    outcome = run("answer", *words)

    assert outcome.status == 1
    assert outcome.document["code"] in ("unknown", "call_unknown")


def test_another_user_finds_no_request(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(FORM)))

    for words in (["name=Ada"], ["--continue"], ["--decline", "--dry-run"]):
        outcome = run("answer", request["id"], *words, "--user", "eve")
        assert (outcome.status, outcome.document["code"].removeprefix("call_")) == (1, "unknown")
    assert run("requests", "--user", "eve", "--json").document["requests"] == []
    assert run("requests", "--json").document["requests"] == [request]


def test_a_request_expires(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(FORM, "--suspend-timeout", "0.01")))

    outcome = run("answer", request["id"], "name=Ada")

    assert (outcome.status, outcome.document["code"]) == (1, "expired")
    assert "expired" in outcome.err


def test_a_call_with_answers_that_was_not_continued_can_be(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(FORM)))

    async def answer() -> None:  # as a process does that is stopped then
        inbox = Inbox(SqliteStore(default_store()))
        await inbox.answer(current_user(), request["id"], "accept", {"name": "Ada"})
        await inbox.aclose()

    anyio.run(answer)

    again = run("answer", request["id"], "name=Eve")
    assert (again.status, again.document["code"], "--continue" in again.err) == (1, "answered", True)
    (ready,) = run("requests", "--json").document["answered_calls"]
    assert ready["call"] == request["call"]
    assert f"{request['call']} --continue" in run("requests").document
    assert told(run("answer", request["call"], "--continue"))["content"] == {"name": "Ada"}
    assert run("answer", request["id"], "--continue").document["code"] == "call_finished"


def test_a_server_over_http_that_is_gone_leaves_the_request_pending(run: Run, asking: Asking) -> None:
    port = str(free_port())
    with http_server(environment={"ELICIT_PORT": port}) as url:
        request = request_of(run(*asking(FORM, server=["--url", url])))

    gone = run("answer", request["id"], "name=Ada")

    assert (gone.status, gone.document["code"]) == (1, "server")
    assert "still pending" in gone.err
    with http_server(environment={"ELICIT_PORT": port}):
        assert told(run("answer", request["id"], "name=Ada"))["content"] == {"name": "Ada", "guests": 2}


def test_an_address_with_a_secret_is_not_stored_and_is_needed_again(run: Run, asking: Asking) -> None:
    secret = f"ghp_{'a1B2' * 9}"
    command = [*ASKER, "--token", secret]
    request = request_of(run(*asking(FORM, server=["--", *command])))

    assert secret not in json.dumps(request)
    files = default_store().parent.iterdir()
    assert not any(secret.encode() in path.read_bytes() for path in files)
    missing = run("answer", request["id"], "name=Ada")
    assert (missing.status, "-- COMMAND" in missing.err) == (2, True)
    other = run("answer", request["id"], "name=Ada", "--", "/bin/cat")
    assert (other.status, "--name" in other.err) == (2, True)
    assert told(run("answer", request["id"], "name=Ada", "--", *command))["action"] == "accept"


@pytest.mark.parametrize(
    ("address", "is_secret", "name"),
    [
        ({"url": "https://mcp.example.com/mcp"}, False, "https://mcp.example.com/mcp"),
        ({"url": "https://mcp.example.com/mcp?key=abc"}, True, "mcp.example.com"),
        ({"url": "https://ann:pw@mcp.example.com/mcp"}, True, "mcp.example.com"),
        ({"url": "https://mcp.example.com/s/ZTk4YWJjZGVm1234/mcp"}, True, "mcp.example.com"),
        ({"command": ["python", "-m", "server", "--port", "8000"]}, False, "python -m server --port 8000"),
        ({"command": ["npx", "@scope/server-name@2026.1.0"]}, False, "npx @scope/server-name@2026.1.0"),
        ({"command": ["/opt/bin/server", "--key=0123456789abcdef0123456789abcdef"]}, True, "server"),
        ({"command": ["server", "postgresql://ann:s3cr3t@db/x"]}, True, "server"),
    ],
)
def test_addresses_that_may_contain_secrets_are_recognized(address: dict[str, Any], is_secret: bool, name: str) -> None:
    found = ServerAddress(**address)

    assert (found.may_contain_secrets, found.name) == (is_secret, name)


def test_a_store_that_others_can_read_is_refused(run: Run, asking: Asking) -> None:
    request = request_of(run(*asking(FORM)))
    default_store().chmod(0o644)

    for words in (["answer", request["id"], "name=Ada"], ["requests"], asking(FORM)):
        outcome = run(*words)
        assert (outcome.status, "chmod 600" in outcome.err) == (1, True)


def test_the_store_is_private_to_the_user(run: Run, asking: Asking, state: Path) -> None:
    request_of(run(*asking(FORM)))

    assert (state / "mcp-elicit").stat().st_mode & 0o777 == 0o700
    assert default_store().stat().st_mode & 0o777 == 0o600


def test_a_shared_store_does_not_say_what_to_run(run: Run, asking: Asking, url: str, redis_server: RedisServer) -> None:
    store = ["--store", redis_server.url]
    request = request_of(run(*asking(FORM, *store)))

    assert "--store" not in request["answer_with"]  # the URL may contain a password
    missing = run("answer", request["id"], "name=Ada", *store)
    assert (missing.status, "not stored" in missing.err) == (2, True)
    assert told(run("answer", request["id"], "name=Ada", *store, "--url", url))["action"] == "accept"


@pytest.mark.parametrize("store", ["redis://127.0.0.1:1", "/dev/null"])
def test_a_store_that_cannot_be_used_is_reported(run: Run, asking: Asking, store: str) -> None:
    for words in (["requests"], ["answer", "id", "--decline"], asking(FORM)):
        outcome = run(*words[:3], "--store", store, *words[3:])
        assert (outcome.status, "cannot be used" in outcome.err) == (1, True), outcome


def test_a_store_that_does_not_exist_is_created_by_calls_only(run: Run, asking: Asking, tmp_path: Path) -> None:
    path = tmp_path / "typo.db"

    for words in (["requests"], ["answer", "id", "--decline"]):
        outcome = run(*words, "--store", str(path))
        assert (outcome.status, f"Cannot read {path}: " in outcome.err) == (1, True), outcome
    assert not path.exists()
    request_of(run(*asking(FORM, "--store", str(path))))
    assert path.exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["call", "--suspend", *DEMO], "--suspend needs a TOOL"),
        (["call", "t", "--store", "calls.sqlite", *DEMO], "--store needs --suspend"),
        (["call", "t", "--user", "ann", *DEMO], "--user needs --suspend"),
        (["call", "t", "--suspend-timeout", "60", *DEMO], "--suspend-timeout needs --suspend"),
        (["call", "t", "--suspend", "--headless", *DEMO], "--suspend cannot be combined with --headless"),
        (["call", "t", "--suspend", "--legacy", *DEMO], "--suspend cannot be combined with --legacy"),
        (["call", "t", "--suspend", "--set", "a=b", *DEMO], "--set cannot be combined with --suspend"),
        (["call", "t", "--suspend", "--header", "A=B", *DEMO], "--header cannot be combined"),
        (["call", "t", "--suspend", "--url", "http://x", "--header", "A"], "NAME=VARIABLE"),
        (["call", "t", "--suspend", "--store", "ftp://x", *DEMO], "--store needs a file"),
        (["requests", "--store", "ftp://x"], "--store needs a file"),
        (["requests", "--store", "redis://[::"], "Invalid IPv6 URL"),
        (["requests", "--user", "x" * 300], "must have 1 to 256 characters"),
        (["call", "t", "--suspend", "--url", "http://[::"], "--url needs the URL of a server"),
        (["requests", "surplus"], "unrecognized arguments"),
        (["answer", "id", "--decline", "--env", "TOKEN"], "Pass either --url URL or -- COMMAND"),
        (["answer", "id", "--decline", "--header", "A=B"], "Pass either --url URL or -- COMMAND"),
        (["answer", "id", "--decline", "--name", "other"], "Pass either --url URL or -- COMMAND"),
        (["answer", "id", "--nonsense"], "unrecognized arguments"),
        (["answer", "id", "--set", "name=Ada"], "usage: mcp-elicit answer ID [FIELD=VALUE ...]"),
    ],
)
def test_wrong_options_are_explained(run: Run, words: list[str], reason: str) -> None:
    outcome = run(*words)

    assert (outcome.status, reason in outcome.err) == (2, True), outcome


def test_headers_have_their_values_from_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "Bearer sesame")
    words = ["call", "ask", "--suspend", "--args", json.dumps({"params": FORM}), "--header", "Authorization=MY_TOKEN"]
    with http_server(environment={"ELICIT_AUTHORIZATION": "Bearer sesame"}) as url:
        request = request_of(run(*words, "--url", url))
        assert b"sesame" not in default_store().read_bytes()
        assert told(run("answer", request["id"], "name=Ada"))["action"] == "accept"
        assert run(*words[:5], "--url", url).status == 1
        monkeypatch.delenv("MY_TOKEN")
        assert '"MY_TOKEN"' in run(*words, "--url", url).err
