"""The command line."""

from __future__ import annotations

import errno
import io
import itertools
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn, get_args

import anyio
import pytest

from mcp_elicit_client.check.results import Outcome, ScenarioResult, report_lines
from mcp_elicit_client.cli import _RepetitionFilter, _SanitizingFormatter, main
from mcp_elicit_client.cli.call import _ask_tool, _tool_at
from mcp_elicit_client.cli.common import quote
from mcp_elicit_client.cli.server_errors import explain, open_log
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS
from mcp_elicit_client.core.schema.lint import lint
from mcp_elicit_client.demo.server import REQUESTS
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.handlers.terminal.console import LineTooLongError
from mcp_elicit_client.presentation.catalog import ENGLISH, available_languages
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from tests.support import DEMO, ROOT, cases, corpus, form_params, http_server, needs_babel
from tests.support.console import ScriptedConsole
from tests.support.tmux import environment, window

GOOD = form_params({"type": "object", "properties": {"name": {"type": "string"}}})
ODD = form_params({"type": "object", "properties": {"a": {"type": "object"}, "b": {"anyOf": [{"type": "null"}, {}]}}})
IMPOSSIBLE = form_params({"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]})


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    def run(*words: str, file: object = None) -> tuple[int, str, str]:
        if file is not None:
            path = tmp_path / "request.json"
            path.write_bytes(file if isinstance(file, bytes) else json.dumps(file).encode())
            words = (*words, str(path))
        try:
            status = main(words)
        except SystemExit as end:
            status = int(end.code or 0)
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err + shown.out
        return status, shown.out, shown.err

    return run


def test_help_names_the_commands_and_the_exit_status(run: Any) -> None:
    status, out, _ = run("--help")

    assert status == 0
    assert all(word in out for word in ("demo", "call", "show", "lint", "exit status"))


def test_without_a_command_the_help_is_printed(run: Any) -> None:
    assert run() == run("--help")


def test_the_version_is_printed(run: Any) -> None:
    status, out, _ = run("--version")

    assert (status, out.split()[0], out.split()[3]) == (0, "mcp-elicit", f"{metadata.version('mcp')})")


def test_commands_without_a_session_load_neither_the_sdk_nor_other_commands(tmp_path: Path) -> None:
    request, store = tmp_path / "request.json", tmp_path / "calls.db"
    request.write_text('{"message": "Sure?"}', encoding="utf-8")
    commands = (
        ["check", "--list"],
        ["check", "--verify", str(request)],
        ["audit", "verify", str(request)],
        ["lint", str(request)],
        ["show", "--headless", str(request)],
        ["requests", "--store", str(store)],
        ["answer", "1", "--decline", "--store", str(store)],
    )
    code = (
        "import sys; from mcp_elicit_client.cli import main\n"
        f"for command in {commands}:\n"
        "    main(command); print('loaded', *sys.modules)"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    loaded = [set(line.split()) for line in run.stdout.splitlines() if line.startswith("loaded ")]
    assert len(loaded) == len(commands)
    assert "mcp" not in loaded[-1]
    assert not loaded[3] & {"mcp_elicit_client.handlers", "mcp_elicit_client.inbox", "mcp_elicit_client.calls"}
    assert not loaded[4] & {"mcp_elicit_client.inbox", "mcp_elicit_client.calls", "mcp_elicit_client.testing"}


def test_the_package_can_be_run_in_place_of_the_command() -> None:
    command = [sys.executable, "-m", "mcp_elicit_client", "--version"]

    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("mcp-elicit ")


@needs_babel
@pytest.mark.parametrize("words", [["--language", "de"], ["--language=de"]])
def test_texts_are_in_the_language_of_the_option(run: Any, words: list[str]) -> None:
    assert "Aufruf: mcp-elicit" in run(*words, "--help")[1]
    status, _, err = run(*words, "show", "/does/not/exist")
    assert (status, err) == (2, "mcp-elicit: /does/not/exist kann nicht gelesen werden: No such file or directory\n")


@needs_babel
@pytest.mark.parametrize(
    "words",
    [
        ["audit", "verify", "/does/not/exist", "--language", "de"],
        ["audit", "--language", "de", "verify", "/does/not/exist"],
        ["show", "--language=de", "/does/not/exist"],
        ["--language", "fr", "show", "/does/not/exist", "--language", "de"],
    ],
)
def test_the_language_can_follow_the_command(run: Any, words: list[str]) -> None:
    status, _, err = run(*words)

    assert status == 2
    assert "kann nicht gelesen werden: No such file or directory\n" in err


def test_the_language_of_the_command_of_a_server_is_not_ours(run: Any) -> None:
    assert "The server failed" in run("call", "x", "--", "/does/not/exist", "--language", "de")[2]


@needs_babel
def test_texts_are_in_the_language_of_the_environment(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_CH.UTF-8")

    assert "Aufruf: mcp-elicit" in run("call", "--help")[1]


def test_a_language_of_the_environment_without_translation_is_english(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "pt_BR.UTF-8")

    assert "usage: mcp-elicit" in run("--help")[1]


PASSWORD = form_params(
    {
        "type": "object",
        "properties": {
            "password": {"type": "string", "title": "Password"},
            "count": {"type": "integer", "default": "x"},
            "code": {"type": "string", "pattern": "^a$", "default": "b"},
        },
    }
)


def test_lint_warns_about_sensitive_data_and_impossible_defaults(run: Any) -> None:
    _, out, _ = run("lint", file=PASSWORD)
    _, data, _ = run("lint", "--json", file=PASSWORD)

    shown = " ".join(out.split())
    fields = "/requestedSchema/properties"
    assert shown.count(f"warning: {fields}/password: This field asks for a password. Servers must not") == 1
    assert shown.count(f"warning: {fields}/count/default: its default is not valid: Enter a whole number.") == 1
    assert shown.count(f"warning: {fields}/code/default: its default does not match its pattern") == 1
    assert {each["severity"] for each in json.loads(data)} == {"error", "warning", "note"}


def test_show_warns_about_sensitive_data_and_impossible_defaults(run: Any) -> None:
    _, out, err = run("show", "--headless", "--json", file=PASSWORD)

    assert "Warning: This field asks for a password. Servers must not request it in forms.\n" in err
    assert 'Note: "count": its default is not valid: Enter a whole number.\n' in err
    assert 'Note: "code": its default does not match its pattern\n' in err
    answer = json.loads(out)
    assert (answer["action"], answer["by"]) == ("cancel", "unattended")
    assert [each["code"] for each in answer["warnings"] if not each["is_note"]] == ["sensitive_data"]


def test_limits_are_switches(run: Any) -> None:
    many = form_params({"properties": {f"f{number}": {"type": "string"} for number in range(5)}})

    assert run("show", "--headless", "--max-fields", "4", file=many)[0] == 1
    assert run("show", "--headless", "--max-fields", "5", file=many)[0] == 0
    assert "rejects this request" in run("lint", "--max-fields", "4", file=many)[1]
    assert "supports this request" in run("lint", "--no-check-patterns", file=many)[1]
    assert run("lint", "--max-fields", "-1", file=many)[0] == 2


@pytest.mark.parametrize("tool", ["1", "book_table"])
def test_call_takes_a_tool_by_number_or_name(run: Any, tool: str) -> None:
    status, out, _ = run("call", tool, "--headless", *DEMO)

    assert status == 0
    assert json.loads(out)["action"] == "cancel"


@pytest.mark.parametrize(
    ("typed", "tool"),
    [("2", "b"), ("b", "b"), ("1", "1"), ("4", None), ("0", None), ("²", None), ("", None), ("9" * 5_000, None)],
)
def test_a_name_is_preferred_to_a_number(typed: str, tool: str | None) -> None:
    assert _tool_at(typed, [("a", ""), ("b", ""), ("1", "")]) == tool


def test_only_the_end_of_the_log_of_a_server_is_read() -> None:
    with open_log() as errlog:
        errlog.truncate(100_000_000)
        errlog.seek(0, os.SEEK_END)
        errlog.write("\nlast line\n")
        tracemalloc.start()
        try:
            text = explain(ValueError("broken"), ENGLISH, errlog)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert text.endswith("| last line")
    assert peak < 5_000_000


def test_every_command_prints_json(run: Any) -> None:
    tools = json.loads(run("call", "--json", *DEMO)[1])
    calls = [json.loads(line) for line in run("demo", "--auto", "--json")[1].splitlines()]
    scenarios = json.loads(run("check", "--list", "--json")[1])

    assert tools[0]["name"] == "book_table"
    assert {each["tool"] for each in calls} == {each["name"] for each in tools}
    assert {"name", "group", "title", "because", "source"} == set(scenarios[0])


@pytest.mark.parametrize("columns", [40, 60, 120])
def test_output_fits_the_terminal_and_names_are_whole(run: Any, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    names = [each["name"] for each in json.loads(run("check", "--list", "--json")[1])]
    results = [
        ScenarioResult(scenario=name, outcome=outcome, reason="It " + "failed badly " * 9)
        for name, outcome in zip(names, itertools.cycle(get_args(Outcome)), strict=False)
    ]
    shown = [*run("check", "--list")[1].splitlines(), *report_lines(results, verbose=True, width=columns)]

    assert set(names) <= {line.split()[-1] for line in shown if line.strip()}
    assert all(len(line) <= columns or len(line.split()) <= 3 or "fail," in line for line in shown)


def test_the_terminal_breaks_no_line_of_the_server_at_20_columns(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")

    listed = run("call", *DEMO)[1]
    failed = run("call", "x", "--", sys.executable, "-c", f"import sys; sys.exit('{'word ' * 20}')")[2]

    assert max(map(len, [*listed.splitlines(), *failed.splitlines()[1:]])) <= 20


# --- Completion

COMPLETIONS = [
    ("mcp-elicit c", ["call", "check", "completion"]),
    ("mcp-elicit check --sh", ["--shape"]),
    ("mcp-elicit check --shape f", ["fastmcp"]),
    ("mcp-elicit audit v", ["verify"]),
    ("mcp-elicit audit verify --ch", ["--checkpoint"]),
    ("mcp-elicit audit verify READM", ["README.md"]),
    ("mcp-elicit show READM", ["README.md"]),
    ("mcp-elicit completion b", ["bash"]),
    ("mcp-elicit call book_table --js", ["--json"]),
    ("mcp-elicit call --max-op", ["--max-option-title", "--max-option-value", "--max-options"]),
]


def complete(run: Any, folder: Path, shell: str, line: str, program: str) -> list[str]:
    """Complete *line* in a real shell with *program*, which gets the script and the line."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = folder / shell
    script.write_text(run("completion", shell)[1], encoding="utf-8")
    words = [shell, "-c", program, *(["shell"] if shell == "bash" else []), str(script), line]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    return sorted(row.split("\t")[0] for row in done.stdout.split("\n") if row)


@pytest.mark.parametrize(("line", "expected"), COMPLETIONS)
def test_bash_completes_commands_options_values_and_files(
    run: Any, tmp_path: Path, line: str, expected: list[str]
) -> None:
    program = (
        'source "$1"; COMP_WORDS=($2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mcp_elicit; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )

    assert complete(run, tmp_path, "bash", line, program) == expected


@pytest.mark.parametrize(("line", "expected"), COMPLETIONS)
def test_fish_completes_commands_options_values_and_files(
    run: Any, tmp_path: Path, line: str, expected: list[str]
) -> None:
    assert complete(run, tmp_path, "fish", line, "source $argv[1]; complete -C $argv[2]") == expected


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
@pytest.mark.parametrize(
    ("shell", "line", "expected"),
    [
        (["bash", "--norc"], "show su", "show sub/"),
        (["bash", "--norc"], "check --report of", "check --report of\\ Ada/"),
        (["zsh", "-f"], "call book_table --js", "call book_table --json"),
        (["zsh", "-f"], "answer ID guests=4 --dr", "answer ID guests=4 --dry-run"),
        (["zsh", "-f"], "requests --us", "requests --user"),
        (["zsh", "-f"], "show su", "show sub/"),
    ],
)
def test_a_key_completes_folders_and_options_after_arguments(
    run: Any, tmp_path: Path, shell: list[str], line: str, expected: str
) -> None:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    (tmp_path / "sub").mkdir()
    (tmp_path / "of Ada").mkdir()
    script = "autoload -U compinit; compinit -D -u\n" if shell[0] == "zsh" else ""
    (tmp_path / "script").write_text(script + run("completion", shell[0])[1], encoding="utf-8")

    with window(shell, environment(PS1="> "), cwd=tmp_path) as pane:
        pane.sees(">")
        pane.types(f"source ./script && echo loa''ded\nmcp-elicit {line}")
        pane.sees("loaded\n", f"mcp-elicit {line}")
        pane.keys("Tab")
        pane.sees(f"mcp-elicit {expected}")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_valid_in_every_language(run: Any, tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    for language in available_languages():
        script = tmp_path / shell
        script.write_text(run("--language", language, "completion", shell)[1], encoding="utf-8")
        assert subprocess.run([shell, "-n", str(script)], check=False, capture_output=True).stderr == b""


@pytest.mark.parametrize(
    ("words", "description"),
    [
        (["demo"], "Start the demo server and answer its requests"),
        (["call"], "Connect to a server, call one of its tools"),
        (["requests"], "List the requests of suspended calls"),
        (["answer"], "Answer a request of `mcp-elicit call --suspend`"),
        (["show"], "Show the request in a file and print the answer as JSON"),
        (["lint"], "Check a request against each protocol version"),
        (["audit"], "Verify or read an audit log"),
        (["audit", "verify"], "Verify that a log was not changed. Rotated files"),
        (["check"], "Send requests of correct and hostile servers"),
        (["completion"], "Print a script that completes commands and options."),
    ],
)
def test_the_help_of_every_command_says_what_it_does(run: Any, words: list[str], description: str) -> None:
    status, out, _ = run(*words, "--help")

    assert status == 0
    assert out.startswith(f"usage: mcp-elicit {' '.join(words)} ")
    assert f"\n\n{description}" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["call", "x"], "Pass either --url URL or -- COMMAND"),
        (["call", "x", "--", ""], "Pass either --url URL or -- COMMAND"),
        (["call", "x", "--url", "http://x", "--", "y"], "Pass either --url URL or -- COMMAND"),
        (["call", "x", "--url", "example.com/mcp"], "--url needs the URL of a server that begins with https://"),
        (
            ["call", "x", "--url", "http://localhost:99999/mcp"],
            "--url needs the URL of a server that begins with https://",
        ),
        (["call", "x", "--url", "http://x", "--header", "My Header=V"], "--header needs NAME=VARIABLE"),
        (["call", "x", "--url", "ftp://example.com/mcp"], "--url needs the URL of a server that begins with https://"),
        (
            ["call", "x", "--suspend-timeout", "0", "--", "y"],
            "invalid number of seconds '0': pass a number above 0 and at most 31536000",
        ),
        (["call", "x", "--suspend-timeout", "nan", "--", "y"], "invalid number of seconds 'nan'"),
        (["check", "x:y", "--scenario-timeout", "1e12"], "invalid number of seconds '1e12'"),
        (["call", "x", "--max-fields", "many", "--", "y"], "invalid number 'many': pass a whole number, at least 0"),
        (["answer"], "the following arguments are required: ID\n"),
        (["audit", "stats", "/usr"], "/usr is not a regular file"),
        (["audit", "tail", "."], "Cannot read .: Is a directory"),
        (["audit", "verify", "/"], "Cannot read /: Is a directory"),
        (
            ["audit", "verify", __file__],
            f"Cannot read {__file__}.key: No such file or directory. Pass the key of the log",
        ),
        (["audit", "tail", __file__], f"{__file__} is not an audit log."),
        (["audit", "stats", __file__], f"{__file__} is not an audit log."),
        (["call", "x", "--nonsense", "y"], "unrecognized arguments: --nonsense y\n"),
        (["call", "x", "python", "server.py"], "python server.py. Write -- before the command of a server\n"),
        (["call", "x", "--headless", "--browser", "--", "y"], "--headless cannot be combined with --browser."),
        (["demo", "--auto", "--browser"], "--auto cannot be combined with --browser."),
        (["check", "callback"], "'callback' is not MODULE:CALLABLE, such as myhost:callback."),
        (["call", "x", "--args", "{", "--", "y"], "--args is not JSON"),
        (["call", "x", "--args", '{"a": NaN}', "--", "y"], "--args is not JSON"),
        (["call", "x", "--args", "[]", "--", "y"], "--args must be a JSON object"),
        (["demo", "--", "x"], "Only `mcp-elicit call` and `mcp-elicit answer` accept a command after `--`."),
        (["show", "x", "--name", ""], "argument --name: the name is empty: pass the name that users see"),
        (["call", "x", "--name", " ", "--", "y"], "argument --name: the name is empty"),
        (["check", "x:y", "--server", ""], "argument --server: the name is empty"),
        (["show", "/does/not/exist"], "Cannot read /does/not/exist: No such file"),
        (["--language", "xx", "--help"], "unknown language 'xx': use one of en, de, es, fr, ja\n"),
        (["demo", "--language", "xx"], "unknown language 'xx': use one of en, de, es, fr, ja\n"),
        (["demo", "--language"], "argument --language: expected one argument"),
        (["--language=", "--help"], "unknown language '': use one of en, "),
        (["lint", "x", "--protocol-version", "2020-01-01"], "invalid choice"),
    ],
)
def test_a_usage_error_says_what_is_wrong(run: Any, words: list[str], message: str) -> None:
    status, _, err = run(*words)

    assert status == 2
    assert message in err


@pytest.mark.parametrize("data", [b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_not_json_is_a_usage_error(run: Any, data: bytes) -> None:
    status, _, err = run("show", file=data)

    assert status == 2
    assert "is not JSON" in err


@pytest.mark.parametrize("file", [GOOD, {"method": "elicitation/create", "params": GOOD}])
def test_show_without_a_user_prints_a_cancel(run: Any, file: object) -> None:
    status, out, err = run("show", "--headless", file=file)

    assert (status, json.loads(out)) == (0, {"action": "cancel"})
    assert "there is no user to ask" in err


def test_a_request_is_read_from_standard_input(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(GOOD).encode())))

    status, out, _ = run("show", "--headless", "-")

    assert (status, json.loads(out)) == (0, {"action": "cancel"})


def test_the_size_of_a_file_is_limited(run: Any) -> None:
    status, _, err = run("show", "/dev/zero")

    assert status == 2
    assert "larger than" in err


def test_show_prints_the_diagnostics_of_the_request(run: Any) -> None:
    _, _, err = run("show", "--headless", file=ODD)

    assert 'Note: "a": it has an unsupported type' in " ".join(err.split())


def test_show_fails_if_no_user_was_asked(run: Any) -> None:
    status, out, err = run("show", file=GOOD)

    assert (status, json.loads(out)) == (1, {"action": "cancel"})
    assert err == "mcp-elicit: The request was not answered: there is no terminal\n"


@pytest.mark.parametrize(
    ("words", "err"),
    [([], "mcp-elicit: The request was not answered: there is no terminal\n"), (["--headless"], "")],
    ids=["no terminal", "headless"],
)
def test_call_reports_that_no_user_was_asked(run: Any, words: list[str], err: str) -> None:
    assert run("call", "book_table", *words, *DEMO) == (0, '{"action": "cancel"}\n', err)


def test_the_option_that_allows_a_url_on_this_computer_is_named(run: Any) -> None:
    asks = {"message": "Sign in", "mode": "url", "url": "http://localhost:8000/", "elicitationId": "1"}

    assert "To allow it, pass --allow-loopback." in run("show", file=asks)[2]
    assert "To allow it, pass --allow-loopback." in " ".join(run("lint", file=asks)[1].split())
    assert "mcp-elicit supports this request." in run("lint", "--allow-loopback", file=asks)[1]


def test_show_refuses_a_request_that_cannot_be_answered(run: Any) -> None:
    status, out, err = run("show", file=IMPOSSIBLE)

    assert (status, out) == (1, "")
    assert err == 'mcp-elicit: the required field "a" has an unsupported type\n'


def test_lint_checks_each_protocol_version(run: Any) -> None:
    status, out, _ = run("lint", file=REQUESTS["pay_deposit"])

    assert status == 0
    assert out == (
        "2025-06-18: not allowed\n  error: /mode: must be one of: form\n"
        "2025-11-25: allowed\n"
        "2026-07-28: allowed\n"
        "  note: /elicitationId: this version has no elicitationId; the key is ignored\n"
        "mcp-elicit supports this request.\n"
    )


def test_lint_prints_one_version_as_json(run: Any) -> None:
    status, out, _ = run("lint", "--json", "--protocol-version", "2025-06-18", file=REQUESTS["pay_deposit"])

    assert status == 1
    assert [(each["severity"], each["path"]) for each in json.loads(out)] == [("error", "/mode")]


def test_lint_says_why_a_request_cannot_be_answered(run: Any) -> None:
    status, out, _ = run("lint", file=IMPOSSIBLE)

    assert status == 1
    assert "mcp-elicit rejects this request: the required field" in out


def test_lint_prints_the_diagnostics_of_the_request(run: Any) -> None:
    _, out, _ = run("lint", file=ODD)

    assert '  unsupported_field: "a": it has an unsupported type\n' in out


FIELDS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"type": "string"}, ()),
    ({"type": "string", "default": 1}, ("2025-11-25", "2026-07-28")),
    ({"type": "string", "format": "uuid"}, PROTOCOL_VERSIONS),
    ({"type": "string", "minLength": "1"}, PROTOCOL_VERSIONS),
    ({"type": "string", "title": 5}, PROTOCOL_VERSIONS),
    ({"type": "integer", "minimum": True}, PROTOCOL_VERSIONS),
    ({"type": "boolean", "default": "no"}, PROTOCOL_VERSIONS),
    ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, ("2025-06-18",)),
    ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, ("2025-06-18",)),
    ({"type": "array", "items": {"enum": ["a"]}}, PROTOCOL_VERSIONS),
    ({"type": "array", "items": {"type": "string", "enum": ["a"]}, "default": "a"}, PROTOCOL_VERSIONS),
    ({"type": ["string", "null"]}, PROTOCOL_VERSIONS),
    ({}, PROTOCOL_VERSIONS),
]


@pytest.mark.parametrize(("field", "refusing"), FIELDS)
def test_a_field_is_allowed_or_not_by_each_version(field: dict[str, Any], refusing: tuple[str, ...]) -> None:
    findings = lint(form_params({"type": "object", "properties": {"f": field}}))

    assert tuple(dict.fromkeys(each.protocol_version for each in findings if each.severity == "error")) == refusing


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"message": "m"},
        form_params([]),
        form_params({"type": "object"}),
        form_params({"type": "object", "properties": {"f": 5}}),
        form_params({"type": "object", "properties": {}, "required": "f"}),
        {"mode": "x", "message": "m"},
        {"mode": "url", "message": "m"},
    ],
)
def test_a_malformed_request_is_allowed_by_no_version(params: dict[str, Any]) -> None:
    assert {each.protocol_version for each in lint(params) if each.severity == "error"} == set(PROTOCOL_VERSIONS)


@pytest.mark.parametrize("case", cases("lint"))
def test_lint_finds_exactly_what_the_table_says(case: Any) -> None:
    findings = [[each.protocol_version, each.severity, each.path, each.message] for each in lint(case["params"])]

    assert case["findings"] == findings


def test_lint_raises_if_the_params_are_not_an_object() -> None:
    with pytest.raises(RequestError):
        lint([])


def test_lint_agrees_with_the_schemas_of_the_versions_on_the_corpus() -> None:
    compared = 0
    for row in corpus("requests.jsonl"):
        if not isinstance(row["params"], dict):
            continue
        refusing = {each.protocol_version for each in lint(row["params"]) if each.severity == "error"}
        for version in PROTOCOL_VERSIONS:
            compared += 1
            assert row[f"schema_{version.replace('-', '_')}"] == (version not in refusing), row["id"]

    assert compared > 900


def test_the_demo_calls_every_tool_in_every_mode(run: Any) -> None:
    status, out, _ = run("demo", "--auto")

    assert status == 0
    assert out.count("Calling the tool") == (6 if supports_multi_round_trip() else 3)
    assert out.count('"guests": 2') == (2 if supports_multi_round_trip() else 1)
    assert ("protocol version 2026-07-28" in out) is supports_multi_round_trip()


def test_call_lists_the_tools(run: Any) -> None:
    status, out, _ = run("call", *DEMO)

    assert status == 0
    assert out.startswith("  1  | book_table\n     | Welcome!")


SERVER_INITIATED = """
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel
app = MCPServer("weather")
class City(BaseModel):
    city: str = "Bern"
@app.tool()
async def forecast(ctx: Context) -> str:
    return (await ctx.elicit("Where?", City)).action
app.run()
"""


@pytest.mark.rounds
def test_call_suggests_legacy_for_servers_with_server_initiated_requests(run: Any) -> None:
    server = ["--", sys.executable, "-c", SERVER_INITIATED]
    status, _, err = run("call", "forecast", "--headless", *server)
    assert status == 1
    assert "pass --legacy" in err

    status, out, err = run("call", "forecast", "--headless", "--legacy", *server)
    assert (status, "cancel" in out, "--legacy" in err) == (0, True, False)


@pytest.mark.parametrize("legacy", [[], ["--legacy"]])
def test_call_prints_the_text_of_the_result(run: Any, legacy: list[str]) -> None:
    status, out, _ = run("call", "confirm_booking", "--headless", *legacy, *DEMO)

    assert status == 0
    assert json.loads(out)["action"] == "cancel"


STRUCTURED = """
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult
app = MCPServer("weather")
@app.tool()
async def forecast() -> CallToolResult:
    return CallToolResult(content=[], structuredContent={"sky": "blue"})
app.run()
"""


@pytest.mark.rounds
def test_call_prints_the_structured_content_of_a_result_without_text(run: Any) -> None:
    status, out, _ = run("call", "forecast", "--", sys.executable, "-c", STRUCTURED)

    assert (status, json.loads(out)) == (0, {"sky": "blue"})


def test_call_prints_the_result_as_json(run: Any) -> None:
    status, out, _ = run("call", "confirm_booking", "--headless", "--json", *DEMO)

    assert status == 0
    assert json.loads(out)["content"][0]["type"] == "text"


@pytest.mark.parametrize(
    "command",
    [
        ["/does/not/exist"],
        [sys.executable, "-c", ""],
        [sys.executable, "-c", "import sys; sys.exit('no \\x1b[2J config')"],
    ],
)
def test_a_server_that_does_not_start_is_explained(run: Any, command: list[str]) -> None:
    status, _, err = run("call", "x", "--", *command)

    assert status == 1
    assert err.startswith("mcp-elicit: The server failed: ")
    assert "\x1b" not in err
    assert ("| no \\u{1b}[2J config" in err) is ("config" in command[-1])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["call", "x", "--json", "--", "/does/not/exist"], "server"),
        (["call", "--json", "--", "/does/not/exist"], "server"),
        (["call", "x", "--json", "--env", "MCP_ELICIT_MISSING", "--", "x"], "failed"),
        (["requests", "--json", "--store", "/does/not/exist"], "store"),
    ],
)
def test_a_command_with_json_prints_why_it_failed(run: Any, words: list[str], code: str) -> None:
    status, out, err = run(*words)

    failure = json.loads(out)
    assert (status, failure["status"], failure["code"]) == (1, "failed", code)
    assert err == f"mcp-elicit: {failure['message']}\n"


def test_show_with_json_prints_one_document(run: Any) -> None:
    status, out, _ = run("show", "--json", file=GOOD)

    assert (status, json.loads(out)["action"]) == (1, "cancel")


@pytest.mark.parametrize("value", ["Bearer s3cret\n", "Bearer s3cret ", "Bearer s3cret-\u00e9", "s3cret\r\nX: y"])
def test_a_value_that_no_header_can_have_is_not_quoted(run: Any, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MY_TOKEN", value)

    status, out, err = run("call", "x", "--json", "--url", "http://127.0.0.1:9/", "--header", "Authorization=MY_TOKEN")

    assert status == 1
    assert 'The environment variable "MY_TOKEN" cannot be sent as an HTTP header.' in err
    assert "s3cret" not in out + err


def test_an_unknown_tool_fails(run: Any) -> None:
    status, out, err = run("call", "nonsense", *DEMO)

    assert (status, err) == (1, "")
    assert "There is no tool 'nonsense'. The tools are: book_table, " in out


def test_call_connects_to_a_server_over_http(run: Any) -> None:
    with http_server() as url:
        status, out, _ = run("call", "ask", "--url", url, "--headless", "--args", json.dumps({"params": GOOD}))

    assert status == 0
    assert json.loads(out)["action"] == "cancel"


def test_an_interrupt_ends_the_command(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(anyio, "run", interrupted)

    assert run("show", file=GOOD)[0] == 130


def test_an_interrupt_while_the_arguments_are_read_is_no_traceback(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("mcp_elicit_client.cli.options.is_available", interrupted)

    assert run("--language", "de", "lint", file=GOOD)[0] == 130


def buffered() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.mark.parametrize(
    "words", [["call", *DEMO], ["demo", "--auto"], ["audit", "--help"], ["--version"]], ids=lambda words: words[0]
)
def test_a_closed_output_ends_the_command_silently(words: list[str]) -> None:
    command = [sys.executable, "-m", "mcp_elicit_client", *words]
    with subprocess.Popen(command, env=buffered(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()

    assert process.returncode == 1
    assert err == b""


def test_an_output_that_is_closed_while_a_request_is_shown_ends_the_demo_silently() -> None:
    command = [sys.executable, "-m", "mcp_elicit_client", "demo", "--auto"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while b"Calling" not in process.stdout.readline():
            pass
        process.stdout.close()
        err = process.stderr.read()

    assert (process.returncode, err) == (1, b"")


def test_an_output_that_cannot_be_written_is_an_error(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(_text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    output = io.StringIO()
    monkeypatch.setattr(output, "write", write)
    monkeypatch.setattr(sys, "stdout", output)

    assert run("completion", "bash") == (1, "", "mcp-elicit: Cannot write stdout: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words", [["call", *DEMO], ["check", "--list"], ["--version"], ["--help"]], ids=lambda words: words[0]
)
def test_a_full_disk_is_an_error(words: list[str], unbuffered: str) -> None:
    command = [sys.executable, "-m", "mcp_elicit_client", *words]
    with Path("/dev/full").open("wb") as full:
        env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        ended = subprocess.run(command, env=env, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (1, "mcp-elicit: Cannot write stdout: No space left on device\n")


@pytest.mark.parametrize(
    ("words", "escaped"),
    [
        (["--language", "fr", "--help"], "utilisation\\xa0"),
        (["--language", "fr", "demo", "--auto"], "Le serveur a re\\xe7u"),
    ],
    ids=["help", "demo"],
)
def test_characters_that_the_output_cannot_encode_are_escaped(words: list[str], escaped: str) -> None:
    command = [sys.executable, "-m", "mcp_elicit_client", *words]
    ended = subprocess.run(
        command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=False
    )

    assert escaped in ended.stdout
    assert "UnicodeEncodeError" not in ended.stderr
    assert ended.returncode == 0


@pytest.mark.parametrize(
    "words",
    [["lint"], ["show"], ["audit", "tail"], ["requests", "--store"], ["check", "--verify"], ["check", "--report"]],
)
def test_the_name_of_a_file_in_an_error_cannot_control_the_terminal(run: Any, words: list[str]) -> None:
    callback = ["host:callback"] if "--report" in words else []

    status, _, err = run(*words, "\x1b]0;title\x07", *callback)

    assert status in (1, 2)
    assert "\\u{1b}]0;title\\u{7}" in err
    assert "\x1b" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
@pytest.mark.parametrize(
    ("name", "before", "status"),
    [("SIGTERM", "SIG_DFL", 130), ("SIGHUP", "SIG_DFL", 130), ("SIGHUP", "SIG_IGN", 0)],
    ids=["terminated", "closed terminal", "nohup"],
)
def test_signals_to_end_interrupt_a_command_unless_they_are_ignored(
    tmp_path: Path, name: str, before: str, status: int
) -> None:
    file = tmp_path / "request.json"
    os.mkfifo(file)
    code = f"import signal as s, sys; s.signal(s.{name}, s.{before}); from mcp_elicit_client.cli import main"
    command = [sys.executable, "-c", f"{code}; sys.exit(main())", "lint", str(file)]
    # The file is open as soon as the command reads it.
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process, file.open("w") as writer:
        process.send_signal(getattr(signal, name))
        if status:
            process.wait(60)
        else:
            writer.write(json.dumps(GOOD))

    assert process.returncode == status


CLOSED_OUTPUT = "mcp-elicit: Cannot write stdout: Bad file descriptor\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("words", "closed", "status", "out", "err"),
    [
        ("show --headless", ">&-", 1, "", CLOSED_OUTPUT),
        ("lint", ">&-", 1, "", CLOSED_OUTPUT),
        ("show --headless", "2>&-", 0, '{"action": "cancel"}\n', ""),
        ("lint --json", "2>&-", 0, "[]\n", ""),
    ],
)
def test_a_closed_standard_output_is_an_error_and_a_closed_standard_error_is_silent(
    tmp_path: Path, words: str, closed: str, status: int, out: str, err: str
) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps(GOOD), encoding="utf-8")
    command = f'"{sys.executable}" -m mcp_elicit_client {words} "{file}" {closed}'

    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (status, out, err)


def test_the_demo_asks_no_user_if_standard_input_is_closed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    status, out, _ = run("demo", "--json")

    assert (status, "cancel" in out) == (0, True)


def test_standard_input_that_is_closed_is_a_usage_error(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    assert run("lint", "-") == (2, "", "mcp-elicit: Cannot read stdin: Bad file descriptor\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudoterminal")
def test_a_user_who_has_to_type_json_is_told_so() -> None:
    keyboard, terminal = os.openpty()
    try:
        os.write(keyboard, b'{"message": "?"}\n\x04')
        command = [sys.executable, "-m", "mcp_elicit_client", "lint", "-"]
        ended = subprocess.run(command, stdin=terminal, capture_output=True, text=True, check=False)
    finally:
        os.close(keyboard)
        os.close(terminal)

    assert ended.stderr == "Type JSON. To end it, press Ctrl+D on an empty line.\n"
    assert "mcp-elicit" in ended.stdout


@pytest.mark.anyio
async def test_a_tool_is_requested_again_if_the_terminal_lost_the_end_of_the_line() -> None:
    class Terminal(ScriptedConsole):
        async def ask(self, prompt: str, *, hidden: bool = False) -> str:
            if not self.shown:
                self.shown = prompt
                raise LineTooLongError
            return await super().ask(prompt, hidden=hidden)

    console = Terminal(["book_table"])

    assert await _ask_tool(console, ENGLISH, "") == "book_table"
    assert "The line is too long for this terminal and was ignored." in console.shown


def test_log_lines_are_sanitized() -> None:
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "server says %s", ("\x1b[2J",), None)

    assert _SanitizingFormatter("%(message)s").format(record) == "server says \\u{1b}[2J"


def test_log_lines_name_an_exception_without_its_traceback() -> None:
    error = ValueError("no number\nin the answer")
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "It failed", (), (ValueError, error, None))

    assert _SanitizingFormatter("%(message)s").format(record) == "It failed\nValueError: no number"


def test_a_server_cannot_fill_the_terminal_with_the_same_log_line() -> None:
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    handler.addFilter(_RepetitionFilter(_SanitizingFormatter("%(message)s")))

    for text in ("no JSON", "no JSON", "no JSON", "closed", "no JSON"):
        handler.handle(logging.makeLogRecord({"msg": text}))

    assert output.getvalue() == "no JSON\nclosed\nno JSON\n"


def test_server_text_keeps_its_mark_on_every_line_of_a_terminal_without_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))

    lines = quote("日" * 30 + " bank: type your password:", margin=4).split("\n")

    assert all(line.startswith("  | ") and len(line) <= 40 - 4 and line.isascii() for line in lines)


def test_an_unknown_user_interface_in_the_environment_is_a_usage_error(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_ELICIT_UI", "curses")

    status, out, err = run("demo")

    assert (status, out) == (2, "")
    assert "MCP_ELICIT_UI=curses is unknown. Use one of these values" in err
    assert "interactive, line, browser" in err
