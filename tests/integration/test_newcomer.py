"""The first minutes of somebody new: what the quickstart says is what happens."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path

from tests.support import ROOT, skip_or_fail
from tests.support.tmux import environment, window

if shutil.which("tmux") is None or importlib.util.find_spec("prompt_toolkit") is None:
    skip_or_fail("tmux or the extra terminal is not installed")

PROGRAM = [sys.executable, str(ROOT / "examples" / "terminal.py")]


def test_the_program_of_the_quickstart_asks_and_sends_with_two_keys() -> None:
    with window(PROGRAM, environment(), columns=100, rows=50, cwd=ROOT) as pane:
        pane.sees("restaurant asks for 13 answers", "Ctrl+S Review")
        pane.keys("C-s")
        pane.sees("Your answers will be sent to restaurant.", "Enter Send")
        pane.confirms("Enter", leaves="Enter Send")
        shown = pane.sees("exit status 0")

    assert '"action": "accept"' in shown
    assert re.search(r'"guests":\s+2', shown)


def test_without_the_extra_it_asks_line_by_line() -> None:
    with window(PROGRAM, environment(MCP_ELICIT_UI="line"), columns=100, rows=50, cwd=ROOT) as pane:
        pane.sees("restaurant asks for 13 answers", "Field 1 of 13")
        pane.types("/decline")
        pane.confirms("Enter", leaves="Enter Send")
        assert '"action": "decline"' in pane.sees("exit status 0")


def test_the_agent_of_the_examples_calls_a_tool_asks_and_takes_the_next_task() -> None:
    program = [sys.executable, str(ROOT / "examples" / "cli_agent.py")]
    with window(program, environment(), columns=100, rows=50, cwd=ROOT) as pane:
        pane.sees("You (Enter to leave):")
        pane.types("hello")
        pane.keys("Enter")
        pane.sees("I have no tool for this. I have: book_table")
        pane.types("book a table")
        pane.keys("Enter")
        pane.sees("restaurant asks for 13 answers", "Ctrl+S Review")
        pane.keys("C-s")
        pane.sees("Your answers will be sent to restaurant.", "Enter Send")
        pane.confirms("Enter", leaves="Enter Send")
        pane.sees('Agent: {"action": "accept"', "You (Enter to leave):")
        pane.keys("Enter")
        pane.sees("exit status 0")


DIES = """
import os
from mcp_elicit_client.demo import server
server._content = lambda _answer: os._exit(1)
server.anyio.run(server.serve)
"""


def test_the_agent_of_the_examples_reports_a_failed_call_and_can_be_interrupted() -> None:
    program = [sys.executable, str(ROOT / "examples" / "cli_agent.py"), sys.executable, "-c", DIES]
    with window(program, environment(MCP_ELICIT_UI="line"), columns=100, rows=50, cwd=ROOT) as pane:
        pane.sees("You (Enter to leave):")
        pane.types("book a table")
        pane.keys("Enter")
        pane.sees("Field 1 of 13")
        pane.types("/decline")
        pane.confirms("Enter", leaves="Enter Send")
        pane.sees("Agent: the call failed: ", "You (Enter to leave):")
        pane.keys("C-c")
        assert "Traceback" not in pane.sees("exit status")


def test_the_program_of_the_readme_copied_as_it_is_asks_and_sends(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "program.py"]
    with window(command, environment(PYTHONPATH=str(ROOT)), columns=100, rows=50, cwd=tmp_path) as pane:
        pane.sees("restaurant asks for 13 answers", "Ctrl+S Review")
        pane.keys("C-s")
        pane.sees("Your answers will be sent to restaurant.", "Enter Send")
        pane.confirms("Enter", leaves="Enter Send")
        assert '"action": "accept"' in pane.sees("exit status 0")
