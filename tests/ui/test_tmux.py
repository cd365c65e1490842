"""The interactive form in a real terminal, with an independent server."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from tests.support import FILLED_IN, ROOT, form_params, npm_environment, npm_tool, recording_browser, skip_or_fail
from tests.support.tmux import PATIENCE, Pane, environment, window

if shutil.which("tmux") is None or importlib.util.find_spec("prompt_toolkit") is None:
    skip_or_fail("tmux or the extra terminal is not installed")

FORM = "trigger-elicitation-request"
SNAPSHOTS = Path(__file__).parent / "snapshots"


def quiet(**more: str) -> dict[str, str]:
    return environment(npm_environment(), PYTHONWARNINGS="", **more)


def command(*words: str) -> list[str]:
    server = ["--legacy", "--name", "everything", "--", npm_tool("mcp-server-everything"), "stdio"]
    return [sys.executable, "-m", "mcp_elicit_client", "call", *words, *server]


@contextmanager
def shows(params: Any, folder: Path, **more: str) -> Iterator[Pane]:
    """Show the request in *params* of a server named mail, below other output."""
    file = folder / "request.json"
    file.write_text(json.dumps(params))
    show = [sys.executable, "-m", "mcp_elicit_client", "show", str(file), "--name", "mail"]
    with window(["sh", "-c", f"seq 9; exec {shlex.join(show)}"], quiet(**more), cwd=ROOT) as pane:
        yield pane


@contextmanager
def everything(*words: str, columns: int = 100, rows: int = 50, **more: str) -> Iterator[Pane]:
    with window(command(*words), quiet(**more), columns=columns, rows=rows, cwd=ROOT) as pane:
        yield pane


def matches(name: str, pane: Pane, *texts: str) -> None:
    """
    Compare the question that shows *texts* with the picture kept under *name*.

    The picture is written where ``SNAPSHOTS=write`` is set.
    """
    kept = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("SNAPSHOTS") == "write":
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(f"{asked(pane.sees(*texts))}\n", encoding="utf-8")
    picture = kept.read_text(encoding="utf-8")
    if not supports_multi_round_trip():  # mcp 1.x does not keep what a server calls itself
        picture = picture.replace(" Name reported by the server | mcp-servers/everything\n", "")
    last_line = picture.splitlines()[-1]  # it is drawn last
    assert f"{asked(pane.sees(*texts, last_line))}\n" == picture


def asked(shown: str) -> str:
    """Cut off what was on the screen before the question."""
    return shown[shown.index("─ ") :]


def echoed(pane: Pane) -> Any:
    """Read the result that the server says it got."""
    pane.sees("exit status")
    shown = pane.history
    raw = shown[shown.index("Raw result: ") + len("Raw result: ") :]
    return json.JSONDecoder().raw_decode(raw)[0]


def test_all_thirteen_fields_of_a_real_server_are_filled_in() -> None:
    with everything(FORM) as pane:
        matches("form", pane, "Ctrl+S Review", "Legacy Titled")
        pane.types("Ada Lovelace")
        pane.keys("Tab")
        pane.types("y")
        pane.keys("Tab", "C-u")
        pane.types("A mouse took a stroll")
        pane.keys("Tab")
        pane.types("ada@")
        matches("error", pane, "! Enter an email address")
        pane.types("example.com")
        pane.keys("Tab")
        pane.types("https://example.com/ada")
        pane.keys("Tab")
        pane.types("1815-12-10")
        pane.keys("Tab", "C-u")
        pane.types("7")
        pane.keys("Tab", "C-u")
        pane.types("2.5")
        pane.keys("Tab", "Down", "Down", "Enter", "Down", "Down", "Down", "Down", "Space")
        matches("several", pane, "2 selected")
        # Enter on the last field opens the review.
        pane.keys("Tab", "Down", "Down", "Enter", "Down", "Down", "Space", "Tab", "Down", "Enter")
        matches("review", pane, "Check your answers", "Enter Send")
        pane.confirms("C-s", leaves="Check your answers")
        result = echoed(pane)

    assert result["content"] == FILLED_IN


def test_untouched_fields_have_their_default_or_are_omitted() -> None:
    with everything(FORM) as pane:
        pane.sees("Ctrl+S Review")
        pane.keys("C-s")
        pane.sees("! This field is required.", "1 field needs attention")
        pane.types("Ada")
        pane.keys("C-s")
        pane.sees("Boolean", "(not provided)", "Enter Send")
        pane.keys("Down", "Enter")
        pane.sees("Your full, legal name")
        pane.types("!")
        pane.sends("C-s", "|  Ada!")
        content = echoed(pane)["content"]

    assert (content["name"], content["integer"], content["number"]) == ("Ada!", 42, 3.14)
    assert not {"check", "email", "homepage", "birthdate"} & set(content)


@pytest.mark.parametrize(
    ("keys", "action"),
    [
        (["F3"], "decline"),
        (["C-c"], "cancel"),
        (["Escape"], "cancel"),
        (["x", "F3", "y"], "decline"),
        (["x", "Escape", "y"], "cancel"),
    ],
)
def test_decline_and_cancel_reach_the_server_and_clear_the_screen(keys: list[str], action: str) -> None:
    with everything(FORM) as pane:
        pane.sees("Ctrl+S Review")
        for at, key in enumerate(keys):
            pane.keys(key)
            if key == "x":
                pane.sees("|  x")
            elif key != "y" and at:
                pane.sees("this request?")
        assert echoed(pane) == {"action": action}
        assert "Ctrl+S" not in pane.shown


def test_keys_from_before_the_form_are_discarded() -> None:
    with everything(FORM, rows=50) as pane:
        pane.keys("y", "C-s", "C-s", "Enter", "F3")
        shown = pane.sees("Ctrl+S Review")
        assert "everything asks" in shown
        pane.keys("C-c")
        assert echoed(pane) == {"action": "cancel"}


EVERY_ERROR = {
    "type": "object",
    "properties": {
        "short": {"type": "string", "title": "Short", "minLength": 3, "maxLength": 5},
        "code": {"type": "string", "title": "Code", "pattern": "^[A-Z]+$"},
        "mail": {"type": "string", "title": "Mail", "format": "email"},
        "page": {"type": "string", "title": "Page", "format": "uri"},
        "day": {"type": "string", "title": "Day", "format": "date"},
        "when": {"type": "string", "title": "When", "format": "date-time"},
        "count": {"type": "integer", "title": "Count", "minimum": 2, "maximum": 8, "multipleOf": 2},
        "ratio": {"type": "number", "title": "Ratio", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "sure": {"type": "boolean", "title": "Sure", "description": "Are you?"},
        "city": {"type": "string", "title": "City", "enum": [f"City {at:02}" for at in range(30)]},
        "days": {
            "type": "array",
            "title": "Days",
            "items": {"enum": ["Mon", "Tue", "Wed"]},
            "minItems": 1,
            "maxItems": 2,
        },
        "note": {"type": "string", "title": "Note", "maxLength": 500},
    },
    "required": ["short"],
}
# What is typed into each field first, what is said of it, and what is typed then.
TYPED = [
    ("ab", "Enter at least 3 characters.", "abc"),
    ("lower", "This does not have the required format.", "UPPER"),
    ("ann@", "Enter an email address", "ann@example.com"),
    ("nowhere", "Enter a URL", "https://example.com/"),
    ("2026-13-01", "Enter a month from 1 to 12.", "2026-12-24"),
    ("2026-12-24 19:30", "zone", "2026-12-24 19:30 +01:00"),
    ("3", "Enter a multiple of 2.", "4"),
    ("1", "Enter less than 1.", "0.5"),
]


def test_errors_are_shown_while_typing_and_all_keys_work(tmp_path: Path) -> None:
    with shows({"message": "Everything", "requestedSchema": EVERY_ERROR}, tmp_path) as pane:
        pane.sees("mail asks for 12 answers", "Ctrl+S Review")
        pane.keys("C-s")
        pane.sees("! This field is required.")
        pane.types("abcdef")
        pane.sees("Enter at most 5 characters.")
        pane.keys("C-u")
        for wrong, said, right in TYPED:
            pane.types(wrong)
            pane.sees(said)
            pane.keys("C-u")
            pane.types(right)
            pane.keys("Tab")
        # yes or no: y, n, and back to neither; F1 tells more
        pane.sees(">  | Sure")
        pane.keys("F1")
        pane.sees("Field name:")
        pane.keys("F1")
        pane.types("n")
        pane.keys("Tab")
        # a long list is searched
        pane.types("27")
        pane.sees("1 of 30 options")
        pane.keys("Enter")
        # several options, and no more than two
        pane.sees("| Days", "[ ] Mon")
        pane.keys("Space", "Down", "Space", "Down", "Space")
        pane.sees("You can select at most 2 options.")
        pane.keys("Up", "Space", "Tab")
        # a new line in a text, the way back, and Escape, which asks
        pane.types("one")
        pane.keys("C-j")
        pane.types("two")
        pane.keys("Escape")
        pane.sees("Cancel this request? Your draft is kept. [y/N]")
        pane.keys("n")
        pane.keys("BTab")
        pane.sees("[x] Mon")
        pane.sends("C-s", "Check your answers", "City  |  City 27", "Days  |  Mon")
        shown = pane.sees("exit status 0")

    answer = json.loads(re.findall(r"\{.*\}", "".join(shown.split("\n")))[-1])
    assert answer == {
        "action": "accept",
        "content": {
            "short": "abc",
            "code": "UPPER",
            "mail": "ann@example.com",
            "page": "https://example.com/",
            "day": "2026-12-24",
            "when": "2026-12-24T19:30:00+01:00",
            "count": 4,
            "ratio": 0.5,
            "sure": False,
            "city": "City 27",
            "days": ["Mon"],
            "note": "one\ntwo",
        },
    }


def test_a_warning_about_one_of_several_fields_is_shown_once(tmp_path: Path) -> None:
    fields = {"name": {"type": "string"}, "password": {"type": "string"}}
    with shows({"message": "Hello", "requestedSchema": {"properties": fields}}, tmp_path) as pane:
        assert pane.sees("Ctrl+S Review").count("This field asks for a password.") == 1


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
WAVE = "\U0001f44b\U0001f3fd"
GERMANY = "\U0001f1e9\U0001f1ea"


def test_joined_emoji_move_no_text_of_other_fields(tmp_path: Path) -> None:
    fields = {
        "a": {"type": "string", "title": f"{FAMILY} Family"},
        "b": {"type": "string", "title": f"{GERMANY} Country", "default": WAVE},
        "c": {"type": "string", "title": "City"},
        "d": {"type": "string", "title": f"{WAVE} Greeting", "default": FAMILY},
        "e": {"type": "string", "title": "Street"},
    }
    with shows({"message": f"Hello {WAVE}", "requestedSchema": {"properties": fields}}, tmp_path) as pane:
        pane.sees("Ctrl+S Review")
        for text in ("one", "two", "three", "four", "five"):
            pane.types(text)
            pane.keys("Tab")
        pane.keys("Up", "Up", "Up")
        pane.sees(">✓ | City")
        pane.types("!")
        changed = pane.sees("three!")
        pane.resize(100, 49)  # the form is drawn anew
        pane.keys("F1", "F1")
        pane.sees("three!")
        assert asked(pane.shown).split("\n") == asked(changed).split("\n")
        assert asked(changed).count("Family") == asked(changed).count("Street") == 1


@pytest.mark.parametrize("keys", [["Escape"], ["x", "Escape", "y"], ["C-c"], ["x", "C-c", "C-c"]])
def test_escape_and_ctrl_c_cancel(keys: list[str], tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"message": "m", "requestedSchema": {"properties": {"a": {"type": "string"}}}}))
    show = [sys.executable, "-m", "mcp_elicit_client", "show", str(file)]
    with window(show, quiet(), columns=100, rows=50, cwd=ROOT) as pane:
        pane.sees("Ctrl+S Review")
        for key in keys:
            pane.keys(key)
            if key == "x":
                pane.sees("|  x")
            if key == "Escape" and len(keys) > 1:
                pane.sees("Cancel this request? Your draft is kept. [y/N]")
        assert '{"action": "cancel"}' in pane.sees("exit status 0")


def test_the_form_works_in_narrow_and_resized_windows() -> None:
    with everything(FORM, columns=24, rows=20) as pane:
        pane.sees("Ctrl+S Review")
        pane.resize(20, 12)
        pane.types("Ada")
        pane.sees("|  Ada")
        pane.resize(100, 50)
        pane.sees("|  Ada", "Legacy Titled")
        pane.sends("C-s", "|  Ada")
        assert echoed(pane)["content"]["name"] == "Ada"


def test_a_form_that_becomes_narrower_leaves_nothing_behind(tmp_path: Path) -> None:
    with shows({"message": "Everything " * 12, "requestedSchema": EVERY_ERROR}, tmp_path) as pane:
        pane.sees("Ctrl+S Review")
        pane.resize(60, 50)
        pane.sees("\n F1 Details")
        pane.resize(40, 50)
        shown = pane.sees("\n F3 Decline")

    assert (shown.count("mail asks for"), shown.count("| Short")) == (1, 1)


@pytest.mark.parametrize("choice", ["line", "interactive"])
def test_the_environment_selects_the_user_interface(choice: str) -> None:
    with everything(FORM, MCP_ELICIT_UI=choice) as pane:
        pane.sees("Field 1 of 13" if choice == "line" else "Ctrl+S Review")
        pane.keys("C-c")
        assert echoed(pane) == {"action": "cancel"}


@pytest.mark.parametrize(
    ("choice", "shown"),
    [("", "Field 1 of 1\n  | \\u6f22"), ("interactive", "Ctrl+S Review")],
    ids=["default", "chosen"],
)
def test_a_terminal_without_unicode_shows_which_characters_it_lacks(choice: str, shown: str, tmp_path: Path) -> None:
    params = form_params({"properties": {"a": {"type": "string", "title": "漢"}}})
    with shows(params, tmp_path, PYTHONIOENCODING="ascii", MCP_ELICIT_UI=choice) as pane:
        pane.sees(shown)
        pane.keys("C-c")
        pane.sees("exit status")


def test_a_url_is_opened_after_consent(tmp_path: Path) -> None:
    browser, opened = recording_browser(tmp_path)
    url = "https://login.xn--pple-43d.com/authorize?state=abc&scope=a+b"
    arguments = json.dumps({"url": url, "message": "Please sign in"})
    with everything("trigger-url-elicitation", "--args", arguments, BROWSER=str(browser)) as pane:
        matches("consent", pane, "! ", "d Decline   o Open xn--pple-43d.com")
        pane.confirms("o", leaves="   o Open")
        pane.sees("> o Open xn--pple-43d.com")
        assert not opened.exists()
        pane.keys("Enter")
        pane.sees("If no page opens, open this URL yourself:", "exit status 0")
    assert opened.read_text().splitlines() == ["1", url]


HOST = """
import asyncio, logging, sys, threading
logging.basicConfig(level=logging.INFO, format="log %(message)s")
from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.terminal import TerminalHandler

FORM = {"properties": {"name": {"type": "string"}}}
REQUEST = parse_request({"message": "Hello", "requestedSchema": FORM}, server="mail")

def chatter(lines):
    for at in range(lines):
        (print if at % 2 else logging.getLogger("host").info)(f"line {at:04}.")

async def main():
    asked = asyncio.ensure_future(TerminalHandler()(REQUEST))
    BODY
    print("answer", (await asked).to_wire())

asyncio.run(main())
"""


def host(body: str, **more: Any) -> Any:
    code = HOST.replace("BODY", body)
    return window([sys.executable, "-c", code], quiet(), cwd=ROOT, **more)


def test_a_thousand_lines_of_output_appear_above_the_form(tmp_path: Path) -> None:
    body = f"""
    import pathlib
    while not pathlib.Path({str(tmp_path / "now")!r}).exists():
        await asyncio.sleep(0.01)
    threading.Thread(target=chatter, args=(1000,)).start()
"""
    with host(body, rows=20) as pane:
        pane.sees("Ctrl+S Review")
        (tmp_path / "now").touch()
        pane.types("Ann")
        shown = pane.sees("line 0999.", "Ctrl+S Review", "|  Ann")
        assert shown.count("mail asks for 1 answer") == 1
        pane.keys("C-u")
        pane.types("Bob")
        pane.sees("|  Bob")
        pane.sends("C-s", "name |  Bob")
        pane.sees("answer {'action': 'accept', 'content': {'name': 'Bob'}}")
        lines = re.findall(r"^(?:log )?line (\d{4})\.$", pane.history, re.MULTILINE)

    assert sorted(lines) == [f"{at:04}" for at in range(1000)]


def test_a_click_moves_the_focus_wherever_the_form_is_in_the_terminal() -> None:
    two_fields = HOST.replace('"name": {"type": "string"}', '"first": {"type": "string"}, "last": {"type": "string"}')
    code = two_fields.replace("Handler()", "Handler(mouse=True)").replace("BODY", "chatter(5)")
    with window([sys.executable, "-c", code], quiet(), cwd=ROOT, rows=20) as pane:
        lines = pane.sees("> ", "| last", "Ctrl+S Review").splitlines()
        row = next(at for at, line in enumerate(lines, 1) if "| last" in line)
        until = time.monotonic() + PATIENCE
        # The form is drawn before the terminal has told where it is.
        while ">  | last" not in pane.shown and time.monotonic() < until:
            pane.types(f"\x1b[<0;10;{row}M\x1b[<0;10;{row}m")
            time.sleep(0.1)
        pane.types("Lovelace")
        pane.sees("| last  |  Lovelace")


def test_a_withdrawn_request_releases_the_terminal(tmp_path: Path) -> None:
    body = f"""
    import pathlib
    while not pathlib.Path({str(tmp_path / "now")!r}).exists():
        await asyncio.sleep(0.01)
    asked.cancel()
    await asyncio.wait([asked])
    print("typed", input("Type: "), flush=True)
    sys.exit(3)
"""
    with host(body) as pane:
        pane.sees("Ctrl+S Review")
        (tmp_path / "now").touch()
        pane.sees("The request from mail was withdrawn.\nType:")
        pane.types("back")
        pane.sees("Type: back")
        pane.keys("Enter")
        shown = pane.sees("typed back", "exit status 3")
    assert "Ctrl+S" not in shown


def test_a_closed_terminal_cancels(tmp_path: Path) -> None:
    result = tmp_path / "result"
    body = f"""
    import pathlib, signal
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    answer = await asked
    pathlib.Path({str(result)!r}).write_text(f"{{answer.action}} {{answer.by}}")
    sys.exit(0)
"""
    with host(body) as pane:
        pane.sees("Ctrl+S Review")
        pane.types("Ann")
        pane.sees("|  Ann")
    until = time.monotonic() + PATIENCE
    while not (result.exists() and result.read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    assert result.read_text() == "cancel unattended"


@pytest.mark.parametrize("ui", ["interactive", "line"])
def test_a_terminated_command_gives_the_terminal_its_mode_back(tmp_path: Path, ui: str) -> None:
    request, pid = tmp_path / "request.json", tmp_path / "pid"
    request.write_text(json.dumps(form_params({"properties": {"name": {"type": "string"}}})))
    show = shlex.join([sys.executable, "-m", "mcp_elicit_client", "show", str(request)])
    run = shlex.join(["sh", "-c", f"echo $$ >{pid}; exec {show}"])
    script = f'before=$(stty -g); {run}; echo "exit status $?"; [ $before = $(stty -g) ] && echo restored'
    with window(["sh", "-c", script], environment(MCP_ELICIT_UI=ui), cwd=ROOT) as pane:
        pane.sees("| name")
        os.kill(int(pid.read_text()), signal.SIGTERM)
        pane.sees("exit status 130", "restored")


def test_a_form_is_drawn_again_after_the_process_was_stopped_and_continued(tmp_path: Path) -> None:
    request, pid = tmp_path / "request.json", tmp_path / "pid"
    request.write_text(
        json.dumps(form_params({"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}))
    )
    show = shlex.join([sys.executable, "-m", "mcp_elicit_client", "show", str(request)])
    run = shlex.join(["sh", "-c", f"echo $$ >{pid}; exec {show}"])
    with window(["bash", "--norc", "-i"], quiet(PS1="shell> "), cwd=ROOT) as pane:
        pane.sees("shell>")
        pane.types(f"clear; {run}")
        pane.keys("Enter")
        pane.sees("Ctrl+S Review")
        pane.types("Ann")
        pane.sees("|  Ann")
        os.kill(int(pid.read_text()), signal.SIGSTOP)
        pane.sees("Stopped")
        pane.types("clear; fg")
        pane.keys("Enter")
        pane.sees("|  Ann", "Ctrl+S Review")
        pane.keys("Tab")
        pane.types("36")
        pane.sees("|  36")
        pane.sends("C-s", "|  36")
        shown = pane.sees('{"action": "accept", "content": {"name": "Ann", "age": 36}}', "shell>")

    assert "Ctrl+S" not in shown


INSIDE = """
import asyncio, threading
from prompt_toolkit import PromptSession
from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.terminal import TerminalHandler

FORM = {"properties": {"name": {"type": "string"}}}
REQUEST = parse_request({"message": "Hello", "requestedSchema": FORM}, server="mail")

async def ask(done):
    done.append((await TerminalHandler()(REQUEST)).to_wire())

async def main():
    session, done = PromptSession("host> "), []
    here = asyncio.current_task
    print("first:", await session.prompt_async())
    START
    print("second:", await session.prompt_async())
    print("answer", done)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "start",
    [
        "asked = asyncio.ensure_future(ask(done))",
        "threading.Thread(target=lambda: asyncio.run(ask(done))).start()",
    ],
    ids=["same-loop", "another-thread"],
)
def test_a_prompt_of_the_host_is_suspended_and_resumed(start: str) -> None:
    code = INSIDE.replace("START", start)
    with window([sys.executable, "-c", code], quiet(), cwd=ROOT) as pane:
        pane.sees("host>")
        pane.types("one")
        pane.keys("Enter")
        pane.sees("mail asks for 1 answer", "Ctrl+S Review")
        pane.types("Ann")
        pane.sends("C-s", "name |  Ann")
        pane.sees("first: one\nhost>")
        pane.types("two")
        pane.keys("Enter")
        shown = pane.sees("second: two", "answer [{'action': 'accept', 'content': {'name': 'Ann'}}]")
    assert "Ctrl+S" not in shown


def test_a_prompt_of_the_host_is_suspended_and_resumed_in_line_mode() -> None:
    code = INSIDE.replace("START", "asked = asyncio.ensure_future(ask(done))")
    with window([sys.executable, "-c", code], quiet(MCP_ELICIT_UI="line"), cwd=ROOT) as pane:
        pane.sees("host>")
        for typed, prompt in [("one", "do not provide (/help):"), ("Ann", "/ cancel:"), ("send", "first: one")]:
            pane.types(typed)
            pane.keys("Enter")
            pane.sees(prompt)
        pane.types("two")
        pane.keys("Enter")
        pane.sees("second: two", "answer [{'action': 'accept', 'content': {'name': 'Ann'}}]")


def test_requests_of_several_threads_are_shown_one_at_a_time() -> None:
    body = """
    other = []
    thread = threading.Thread(target=lambda: other.append(asyncio.run(TerminalHandler()(REQUEST))))
    thread.start()
    first = await asked
    await asyncio.to_thread(thread.join)
    print("both", first.content, other[0].content, flush=True)
    sys.exit(0)
"""
    with host(body) as pane:
        for name in ("Ann", "Bob"):
            pane.sees("Ctrl+S Review", "name |\n")
            pane.types(name)
            pane.sends("C-s", f"name |  {name}")
        shown = pane.sees("both")
    assert "Ann" in shown
    assert "Bob" in shown


def test_a_withdrawn_request_of_another_thread_resumes_the_prompt() -> None:
    start = """
    async def brief():
        try:
            await asyncio.wait_for(ask(done), 2)
        except asyncio.TimeoutError:
            done.append("too late")
    threading.Thread(target=lambda: asyncio.run(brief())).start()
"""
    with window([sys.executable, "-c", INSIDE.replace("    START", start)], quiet(), cwd=ROOT) as pane:
        pane.sees("host>")
        pane.types("one")
        pane.keys("Enter")
        pane.sees("mail asks for 1 answer")
        shown = pane.sees("The request from mail was withdrawn.", "host>")
        assert "Ctrl+S" not in shown
        pane.types("two")
        pane.keys("Enter")
        pane.sees("second: two", "answer ['too late']")


def test_the_form_is_in_the_terminal_if_the_output_is_a_file(tmp_path: Path) -> None:
    request, answer = tmp_path / "request.json", tmp_path / "answer.json"
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    request.write_text(json.dumps({"message": "Who?", "requestedSchema": schema}), encoding="utf-8")
    show = [sys.executable, "-m", "mcp_elicit_client", "show", str(request), "--name", "mail"]
    with window(["sh", "-c", f"{shlex.join(show)} > {shlex.quote(str(answer))}"], quiet(), cwd=ROOT) as pane:
        pane.sees("mail asks for 1 answer", "| Who?")
        pane.types("Ann")
        pane.sends("C-s", "name |  Ann")
        pane.sees("exit status 0")

    assert json.loads(answer.read_text(encoding="utf-8")) == {"action": "accept", "content": {"name": "Ann"}}
