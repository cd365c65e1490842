"""From the terminal through the command to real servers of others."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.support import DEMO, FILLED_IN, npm_environment, npm_tool, recording_browser

COMMAND = [sys.executable, "-m", "mcp_elicit_client"]
FORM = "trigger-elicitation-request"


@contextmanager
def terminal(*words: str, environment: dict[str, str] | None = None) -> Iterator[Any]:
    environment = {**(environment or os.environ), "TERM": "dumb", "NO_COLOR": "1"}
    # The terminal that runs the tests may have another size.
    environment = {name: value for name, value in environment.items() if name not in {"COLUMNS", "LINES"}}
    child = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], *words],
        env=environment,
        encoding="utf-8",
        timeout=30,
        dimensions=(50, 100),
    )
    child.delaybeforesend = None
    try:
        yield child
    finally:
        child.close(force=True)


def say(child: Any, prompt: str, line: str) -> str:
    """Wait for *prompt*, type *line*; return what was shown until then."""
    child.expect_exact(prompt)
    shown: str = child.before
    child.sendline(line)
    return shown


def everything() -> list[str]:
    return ["--", npm_tool("mcp-server-everything"), "stdio"]


@pytest.mark.parametrize("mode", [[], ["--legacy"]])
def test_all_thirteen_fields_of_a_real_server_are_answered(mode: list[str]) -> None:
    typed = [
        "Ada Lovelace",
        "yes",
        "A mouse took a stroll",
        "ada@example.com",
        "https://example.com/ada",
        "1815-12-10",
        "7",
        "2.5",
        "Joey",
        "1, Bass",
        "3",
        "Tuna, Trout",
        "dogs",
    ]
    with terminal("call", *mode, *everything(), environment=npm_environment()) as child:
        say(child, "(press Enter to quit): ", FORM)
        for line in typed:
            say(child, "(/help): ", line)
        review = say(child, "cancel: ", "send")
        shown = say(child, "(press Enter to quit): ", "")
        child.expect(pexpect.EOF)
        child.wait()

    assert "13) Legacy Titled Single Select Enum: Dogs" in review
    assert echoed(shown) == FILLED_IN
    assert child.exitstatus == 0


def echoed(shown: str) -> Any:
    """Return the content that the server reports."""
    raw = shown[shown.index("Raw result: ") + len("Raw result: ") :]
    text = re.sub(r"^\s*\| ?", "", raw.replace("\r\n", "\n"), flags=re.MULTILINE)
    return json.JSONDecoder().raw_decode(text)[0]["content"]


def test_a_url_of_a_real_server_is_shown_and_opened_after_consent(tmp_path: Path) -> None:
    browser, opened = recording_browser(tmp_path)
    url = "https://login.example.com/authorize?state=abc&scope=a+b"
    arguments = json.dumps({"url": url, "message": "Please sign in"})
    environment = {**npm_environment(), "BROWSER": str(browser)}
    with terminal("call", "--legacy", "--name", "everything", *everything(), environment=environment) as child:
        say(child, "(press Enter to quit): ", f"trigger-url-elicitation {arguments}")
        asked = say(child, "cancel: ", "open")
        shown = say(child, "(press Enter to quit): ", "")
        child.expect(pexpect.EOF)

    assert url in asked
    assert "everything asks you to open example.com\r\n" in asked
    assert asked.rstrip().endswith("everything: open / show / decline /")
    assert opened.read_text().splitlines() == ["1", url]
    assert "accept" in shown


def test_a_required_url_is_shown_and_the_call_is_repeated(tmp_path: Path) -> None:
    browser, opened = recording_browser(tmp_path, '"$1"')
    arguments = json.dumps({"url": "https://example.com/", "message": "m", "errorPath": True})
    environment = {**npm_environment(), "BROWSER": str(browser)}
    with terminal("call", "--legacy", "--name", "everything", *everything(), environment=environment) as child:
        say(child, "(press Enter to quit): ", f"trigger-url-elicitation {arguments}")
        first = say(child, "cancel: ", "open")
        say(child, "done / reopen / decline / cancel: ", "done")
        second = say(child, "cancel: ", "open")
        shown = say(child, "(press Enter to quit): ", 'echo {"message": "still here"}')
        child.expect_exact("Echo: still here")

    assert "https://modelcontextprotocol.io" in first
    assert "https://example.com/" in second
    assert opened.read_text().split() == ["https://modelcontextprotocol.io", "https://example.com/"]
    assert '"action": "accept"' in shown


def test_a_declined_required_url_fails_the_call_with_an_explanation() -> None:
    arguments = json.dumps({"url": "https://example.com/", "message": "m", "errorPath": True})
    with terminal("call", "--legacy", *everything(), environment=npm_environment()) as child:
        say(child, "(press Enter to quit): ", f"trigger-url-elicitation {arguments}")
        say(child, "cancel: ", "decline")
        shown = say(child, "(press Enter to quit): ", 'echo {"message": "still here"}')
        child.expect_exact("Echo: still here")

    assert "The server requires a URL elicitation that was not completed: the user declined." in shown


def test_a_url_is_not_opened_without_consent(tmp_path: Path) -> None:
    browser, opened = recording_browser(tmp_path)
    with terminal("call", "pay_deposit", *DEMO, environment={**os.environ, "BROWSER": str(browser)}) as child:
        say(child, "cancel: ", "y")
        say(child, "cancel: ", "decline")
        child.expect(pexpect.EOF)
        shown = child.before

    assert '"action": "decline"' in shown
    assert not opened.exists()


def test_the_demo_in_a_terminal_asks_the_user() -> None:
    with terminal("demo") as child:
        for _ in range(13):
            say(child, "(/help): ", "")
        say(child, "cancel: ", "send")
        child.expect_exact('"guests": 2')
        say(child, "cancel: ", "decline")
        child.expect_exact('{"action": "decline"}')
        child.expect_exact("cancel: ")
        child.sendintr()
        child.expect_exact('{"action": "cancel"}')


def test_show_asks_at_the_terminal_and_prints_the_result(tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"message": "m", "requestedSchema": {"properties": {"n": {"type": "integer"}}}}))
    with terminal("show", str(file)) as child:
        say(child, "(/help): ", "12abc")
        child.expect_exact("Enter a whole number.")
        say(child, "(/help): ", "12")
        say(child, "cancel: ", "send")
        child.expect(pexpect.EOF)
        shown = child.before

    assert json.loads(re.findall(r"\{.*\}", shown)[-1]) == {"action": "accept", "content": {"n": 12}}


def test_a_wrong_tool_or_wrong_arguments_can_be_corrected() -> None:
    with terminal("call", *DEMO) as child:
        say(child, "(press Enter to quit): ", "nonsense")
        child.expect_exact("Unknown tool.")
        say(child, "(press Enter to quit): ", "book_table {")
        child.expect_exact("The arguments are not JSON.")
        say(child, "(press Enter to quit): ", "book_table []")
        child.expect_exact("The arguments must be a JSON object.")
        say(child, "(press Enter to quit): ", "")
        child.expect(pexpect.EOF)
        child.wait()

    assert child.exitstatus == 0


def test_an_interrupt_between_questions_ends_the_command_without_a_traceback() -> None:
    with terminal("call", *DEMO) as child:
        child.expect_exact("(press Enter to quit): ")
        child.sendintr()
        child.expect(pexpect.EOF)

        assert "Traceback" not in child.before
        child.wait()
    assert child.exitstatus == 0
