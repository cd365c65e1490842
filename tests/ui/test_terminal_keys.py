"""Keys in a real terminal: what is typed is neither sent by accident nor lost."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT, skip_or_fail
from tests.support.tmux import Pane, environment, window

if shutil.which("tmux") is None or importlib.util.find_spec("prompt_toolkit") is None:
    skip_or_fail("tmux or the extra terminal is not installed")

PROGRAM = """
import asyncio, json, sys
from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.policies import recommended
handler = recommended()(TerminalHandler())
for _ in range(int(sys.argv[2])):
    answer = asyncio.run(handler(parse_request(json.loads(sys.argv[1]), server="restaurant")))
    print("ANSWER", json.dumps(answer.to_wire()), answer.block_server, flush=True)
"""
TEXT = {"type": "string"}


@contextmanager
def asked(properties: dict[str, Any], message: str = "Who?", *, times: int = 1) -> Iterator[Pane]:
    params = {"message": message, "requestedSchema": {"type": "object", "properties": properties}}
    command = [sys.executable, "-c", PROGRAM, json.dumps(params), str(times)]
    with window(command, environment(), columns=100, rows=24, cwd=ROOT) as pane:
        pane.sees("restaurant asks", "Esc Cancel")
        yield pane


def test_ctrl_d_deletes_a_character_and_ctrl_z_undoes_that() -> None:
    with asked({"name": TEXT}) as pane:
        pane.types("Byron")
        pane.keys("Home", "C-d")
        pane.sees("|  yron")
        pane.keys("C-z")
        pane.sees("|  Byron")
        assert "ANSWER" not in pane.shown


def test_blocking_a_server_asks_first() -> None:
    with asked({"name": TEXT}) as pane:
        pane.types("Byron")
        pane.keys("F4")
        pane.sees("Decline and block restaurant? [y/N]")
        pane.keys("n")
        pane.sees("|  Byron", "Ctrl+S Review")
        pane.keys("F4", "y")
        pane.sees('ANSWER {"action": "decline"} True')


@pytest.mark.parametrize(
    ("key", "wire"),
    [("y", '{"action": "accept", "content": {}}'), ("n", '{"action": "decline"}'), ("Escape", '{"action": "cancel"}')],
)
def test_a_confirmation_takes_one_key(key: str, wire: str) -> None:
    with asked({}, "Delete 5 rows?") as pane:
        pane.confirms(key, leaves="Esc Cancel")
        pane.sees(f"ANSWER {wire}")


def test_page_down_moves_by_a_screen() -> None:
    with asked({f"f{at}": {**TEXT, "title": f"Field {at}"} for at in range(60)}) as pane:
        pane.sees("Field 1 of 60", "more below")
        pane.keys("NPage")
        shown = pane.sees("| Field 30 |")
        numbers = [int(each) for each in re.findall(r"\| Field (\d+)", shown)]
        assert numbers[0] >= 10
        pane.keys("PPage")
        pane.sees("| Who?", "| Field 0")


def test_a_line_end_that_is_pasted_is_neither_sent_nor_lost_in_the_review(tmp_path: Path) -> None:
    pasted = tmp_path / "pasted"
    pasted.write_text("Ann\n")
    with asked({"name": {**TEXT, "title": "Your name"}}) as pane:
        pane.run("load-buffer", str(pasted))
        pane.run("paste-buffer", "-p")
        pane.sees("|  Ann")
        pane.keys("C-s")
        pane.sees("Check your answers", "Your name |  Ann")
        pane.confirms("Enter", leaves="Check your answers")
        pane.sees('ANSWER {"action": "accept", "content": {"name": "Ann"}}')


def test_a_dismissed_draft_comes_back_when_the_server_asks_again() -> None:
    with asked({"name": TEXT}, times=2) as pane:
        pane.types("Byron")
        pane.keys("Escape")
        pane.sees("Cancel this request? Your draft is kept. [y/N]")
        pane.keys("Escape")
        pane.sees('ANSWER {"action": "cancel"}', "Restored draft", "|  Byron")
