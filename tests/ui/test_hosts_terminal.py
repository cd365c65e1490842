"""The interactive form in the terminals of hosts that use the terminal themselves."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import ROOT, skip_or_fail
from tests.support.tmux import Pane, environment, window

if shutil.which("tmux") is None or importlib.util.find_spec("prompt_toolkit") is None:
    skip_or_fail("tmux or the extra terminal is not installed")

from mcp_elicit_client.handlers.terminal.interactive.keyboard import _seems_to_wait

BEGIN = """
import asyncio, sys, threading, time
from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.handlers.terminal.interactive.keyboard import waiting_threads

def until_a_thread_waits():
    while not waiting_threads(0):
        time.sleep(0.01)

FORM = {"properties": {"name": {"type": "string"}}}
REQUEST = parse_request({"message": "Hello", "requestedSchema": FORM}, server="mail")
"""


@contextmanager
def host(code: str, **more: str) -> Iterator[Pane]:
    command = [sys.executable, "-c", BEGIN + code]
    with window(command, environment(**more), columns=80, rows=24, cwd=ROOT) as pane:
        yield pane


def answer(pane: Pane, name: str, ui: str = "interactive") -> None:
    """Fill in the form, and send it."""
    pane.sees("mail asks for 1 answer")
    if ui == "interactive":
        pane.sees("Ctrl+S Review")
        pane.types(name)
        pane.sends("Enter", f"name |  {name}")
        return
    for prompt, typed in [("do not provide (/help):", name), ("/ cancel:", "send")]:
        pane.sees(prompt)
        pane.types(typed)
        pane.keys("Enter")


IN_A_THREAD = """
async def main():
    chat = asyncio.ensure_future(asyncio.to_thread(input, "host> "))
    await asyncio.to_thread(until_a_thread_waits)
    print("answer", (await TerminalHandler()(REQUEST)).to_wire())
    print("chat", await chat)
    print("again", await asyncio.to_thread(input, "again> "))

asyncio.run(main())
"""

IN_THE_MAIN_THREAD = """
handler = TerminalHandler()

def answer():
    until_a_thread_waits()
    print("answer", asyncio.run(handler(REQUEST)).to_wire())

thread = threading.Thread(target=answer)
thread.start()
print("chat", input("host> "))
thread.join()
print("again", input("again> "))
"""


@pytest.mark.parametrize("code", [IN_A_THREAD, IN_THE_MAIN_THREAD], ids=["thread", "main-thread"])
@pytest.mark.parametrize("readline", ["", "import readline\n"], ids=["plain", "readline"])
@pytest.mark.parametrize("ui", ["interactive", "line"])
def test_a_thread_of_the_host_that_waits_for_input_leaves_the_keys_to_the_form(
    ui: str, code: str, readline: str
) -> None:
    with host(readline + code, MCP_ELICIT_UI=ui) as pane:
        answer(pane, "Ann", ui)
        pane.sees("answer {'action': 'accept', 'content': {'name': 'Ann'}}")
        pane.types("hello")
        pane.keys("Enter")
        pane.sees("chat hello", "again>")
        pane.types("two")
        pane.keys("Enter")
        pane.sees("again two", "exit status 0")


IN_THE_EVENT_LOOP = """
async def main():
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    print("answer", (await TerminalHandler()(REQUEST)).to_wire())
    print("chat", await reader.readline())

asyncio.run(main())
"""


@pytest.mark.parametrize("ui", ["interactive", "line"])
def test_a_host_that_reads_the_terminal_with_asyncio_reads_on_after_the_form(ui: str) -> None:
    with host(IN_THE_EVENT_LOOP, MCP_ELICIT_UI=ui) as pane:
        answer(pane, "Ann", ui)
        pane.sees("answer {'action': 'accept', 'content': {'name': 'Ann'}}")
        pane.types("hello")
        pane.keys("Enter")
        pane.sees("chat b'hello\\n'")


def test_a_thread_that_waits_is_recognized_without_the_help_of_the_system() -> None:
    def reads() -> None:
        input()

    def works() -> None:
        threading.Event().wait()

    def frame_of(function: Any) -> Any:
        return SimpleNamespace(f_code=function.__code__, f_locals={})

    assert _seems_to_wait(frame_of(reads))
    assert not _seems_to_wait(frame_of(works))
    assert not _seems_to_wait(None)


def test_the_form_begins_on_a_line_of_its_own() -> None:
    code = """
sys.stdout.write("Your bank ")
sys.stdout.flush()
print("answer", asyncio.run(TerminalHandler()(REQUEST)).to_wire())
"""
    with host(code) as pane:
        lines = pane.sees("mail asks for 1 answer", "Ctrl+S Review").splitlines()
        assert lines[0] == "Your bank"
        assert lines[1].startswith("─ mail asks for 1 answer ─")
        answer(pane, "Ann")
        pane.sees("answer {'action': 'accept'")


def test_a_spinner_of_the_host_does_not_disturb_the_form() -> None:
    code = """
ends = threading.Event()

def spin():
    at = 0
    while not ends.is_set():
        sys.stdout.write(f"\\r{'|/-'[at % 3]} working {at}")
        sys.stdout.flush()
        at += 1
        time.sleep(0.01)
    sys.stdout.write("\\rdone\\x1b[K\\n")

async def main():
    thread = threading.Thread(target=spin)
    thread.start()
    await asyncio.sleep(0.3)
    result = await TerminalHandler()(REQUEST)
    ends.set()
    await asyncio.to_thread(thread.join)
    print("answer", result.to_wire())

asyncio.run(main())
"""
    with host(code) as pane:
        answer(pane, "Ann")
        shown = pane.sees("answer {'action': 'accept', 'content': {'name': 'Ann'}}")
        assert "done" in shown
        assert shown.count("working") <= 1
        assert "Ctrl+S" not in shown


TEXTUAL = """
from textual.app import App
from textual.widgets import Input, Label

class Host(App):
    def compose(self):
        yield Label("host", id="ticks")
        yield Input()

    def on_mount(self):
        self.ticks = 0
        self.set_interval(0.05, self.tick)
        self.run_worker(self.ask())

    def tick(self):
        self.ticks += 1
        self.query_one("#ticks", Label).update(f"tick {self.ticks}")

    async def ask(self):
        answer = await TerminalHandler()(REQUEST)
        self.mount(Label(f"answer {answer.to_wire()}"))

Host().run()
"""


@pytest.mark.skipif(importlib.util.find_spec("textual") is None, reason="Textual is not installed")
def test_a_textual_application_is_suspended_and_resumed() -> None:
    with host(TEXTUAL) as pane:
        answer(pane, "Ann")
        shown = pane.sees("tick ", "answer {'action': 'accept', 'content': {'name': 'Ann'}}")
        assert "Ctrl+S" not in shown
        pane.types("typed")
        pane.sees("typed")
        pane.keys("C-q")
        pane.sees("exit status 0")
