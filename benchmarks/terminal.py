"""
How soon a request is on the screen, and how soon a key is.

First paint: in a process that has imported ``mcp`` and nothing of ours but
what a host imports, from the request to the first bytes on a terminal, beside
a bare prompt of prompt_toolkit in the same run, and questionary and Textual
where they are installed.  A key: from the key to the end of its repaint, in a
form of 200 fields and in a search in 10 000 options.  The bars are 1.5 of the
bare prompt and 16 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import atexit
import importlib.util
import os
import pty
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

PAINT_BAR = 1.5
"""The first paint, as a multiple of that of a bare prompt."""

KEY_BAR = 0.016
"""Seconds."""

_OURS = """
import asyncio, time
import mcp
from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.terminal import TerminalHandler
NAMES = ["name", "email", "town", "street", "phone"]
FORM = {"properties": {name: {"type": "string"} for name in NAMES}}
request = parse_request({"message": "Hello", "requestedSchema": FORM}, server="mail")
print("begin", time.monotonic(), flush=True)
asyncio.run(TerminalHandler()(request))
"""
_PROMPT = """
import asyncio, time
import mcp
print("begin", time.monotonic(), flush=True)
from prompt_toolkit import PromptSession
asyncio.run(PromptSession().prompt_async("name "))
"""
_QUESTIONARY = """
import asyncio, time
import mcp
print("begin", time.monotonic(), flush=True)
import questionary
asyncio.run(questionary.text("name").ask_async())
"""
_TEXTUAL = """
import asyncio, time
import mcp
print("begin", time.monotonic(), flush=True)
from textual.app import App
from textual.widgets import Input, Label
class Form(App):
    def compose(self):
        for name in ["name", "email", "town", "street", "phone"]:
            yield Label(name)
            yield Input()
asyncio.run(Form().run_async(inline=True))
"""


@cache
def _bytecode() -> str:
    """Return a directory for bytecode, which is removed at the end."""
    directory = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def first_paint(code: str, sign: bytes) -> float:
    """Run *code* in a terminal of its own; return the seconds from its ``begin`` to *sign* on the screen."""
    size = {"COLUMNS": "80", "LINES": "40"}
    environment = {**os.environ, **size, "TERM": "xterm-256color", "MCP_ELICIT_UI": "interactive"}
    # Both have bytecode, as after an installation.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = _bytecode()
    process, master = pty.fork()
    if process == 0:
        os.execve(sys.executable, [sys.executable, "-c", code], environment)  # noqa: S606 -- no shell is wanted
    seen = b""
    try:
        while sign not in seen.partition(b"begin ")[2].partition(b"\n")[2]:
            seen += os.read(master, 65_536)
        end = time.monotonic()
    except OSError:
        raise RuntimeError(seen.decode(errors="replace")) from None
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(master)
    return end - float(seen.partition(b"begin ")[2].split()[0])


FIELDS = {
    f"field{at}": {"type": "string", "title": f"Field {at}", "description": "Something about it", "default": "x"}
    for at in range(200)
}
OPTIONS = {"town": {"type": "string", "enum": [f"Town {at} of {at * 7919 % 10_000}" for at in range(10_000)]}}


async def keystrokes(properties: dict[str, Any], keys: Sequence[str]) -> list[float]:
    """Type *keys* into a form; return the seconds that each key took until it was painted."""
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output.vt100 import Vt100_Output

    from mcp_elicit_client import FormRequest, parse_request
    from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
    from mcp_elicit_client.handlers.terminal.interactive.form_view import FormView

    params = {"message": "Hello " * 100, "requestedSchema": {"properties": properties}}
    request = parse_request(params, server="mail")
    assert isinstance(request, FormRequest)
    times: list[float] = []
    with create_pipe_input() as keyboard, open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230, PTH123 -- nothing waits
        screen = Vt100_Output(nowhere, lambda: Size(rows=50, columns=120), term="xterm", enable_cpr=False)
        app = TerminalApp(inert=0, input=keyboard, output=screen)
        shown = asyncio.ensure_future(app.show(FormView(app, request)))
        while app.application is None or not app.application.render_counter:  # noqa: ASYNC110 -- a benchmark
            await asyncio.sleep(0.001)
        for key in keys:
            counter = app.application.render_counter
            begin = time.perf_counter()
            keyboard.send_text(key)
            while app.application.render_counter == counter:  # noqa: ASYNC110 -- a benchmark
                await asyncio.sleep(0)
            times.append(time.perf_counter() - begin)
        shown.cancel()
        await asyncio.wait([shown])
    return times


def main() -> int:
    """Print the medians; fail above the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    contestants = [
        ("prompt_toolkit", "bare prompt", _PROMPT, b"name"),
        ("mcp_elicit_client", "ours", _OURS, b"Cancel"),
        ("questionary", "questionary", _QUESTIONARY, b"name"),
        ("textual", "Textual", _TEXTUAL, b"phone"),
    ]
    contestants = [each for each in contestants if importlib.util.find_spec(each[0]) is not None]
    for _, _, code, sign in contestants:
        first_paint(code, sign)  # so that no bytecode is written while it counts
    paints: dict[str, list[float]] = {name: [] for _, name, _, _ in contestants}
    for _ in range(runs):  # in turns, so that other work on the machine affects all of them
        for _, name, code, sign in contestants:
            paints[name].append(first_paint(code, sign))
    bare = statistics.median(paints["bare prompt"])
    for name, seconds in paints.items():
        median = statistics.median(seconds)
        print(f"first paint  {name:12} {median * 1000:6.1f} ms  {median / bare:4.2f} of a bare prompt")
    typed = ["a", "b", "\t", "c", "\x7f"] * 40
    searched = [*"town 12", *["\x7f"] * 7, *"ton99", *["\x7f"] * 5, "\x1b[B", "\x1b[B", " "] * 6
    slowest = 0.0
    for name, properties, keys in (("200 fields", FIELDS, typed), ("10 000 options", OPTIONS, searched)):
        times = asyncio.run(keystrokes(properties, keys))
        slow = statistics.quantiles(times, n=20)[-1]
        slowest = max(slowest, slow)
        print(f"a key        {name:14} {statistics.median(times) * 1000:6.1f} ms  95 % within {slow * 1000:.1f} ms")
    ours = statistics.median(paints["ours"]) / bare
    print(f"bars: {PAINT_BAR} of a bare prompt, {KEY_BAR * 1000:.0f} ms")
    return 0 if ours <= PAINT_BAR and slowest <= KEY_BAR else 1


if __name__ == "__main__":
    sys.exit(main())
