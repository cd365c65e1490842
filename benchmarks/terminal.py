"""
How soon a question is on the screen, and how soon a key is.

First paint: in a process that has imported ``mcp`` and nothing of ours but
what a host imports, from the question to the first bytes on a terminal.  The
same for the first question of questionary and for a Textual application, where
they are installed.  A key: in a form of 64 fields, from the key to the end of
its repaint.  The bars are 150 ms and 30 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import pty
import signal
import statistics
import sys
import time

PAINT_BAR = 0.150
KEY_BAR = 0.030

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


def first_paint(code: str, sign: bytes) -> float:
    """Run *code* in a terminal of its own; return the seconds from its ``begin`` to *sign* on the screen."""
    size = {"COLUMNS": "80", "LINES": "40"}
    environment = {**os.environ, **size, "TERM": "xterm-256color", "MCP_ELICIT_UI": "interactive"}
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


async def keystrokes(count: int) -> list[float]:
    """Type into a form of 64 fields; return the seconds that each key took until it was painted."""
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output.vt100 import Vt100_Output

    from mcp_elicit_client import FormRequest, parse_request
    from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
    from mcp_elicit_client.handlers.terminal.interactive.form_view import FormView

    form = {
        "properties": {
            f"field{at}": {
                "type": "string",
                "title": f"Field {at}",
                "description": "Something about it",
                "default": "x",
            }
            for at in range(64)
        }
    }
    request = parse_request({"message": "Hello " * 100, "requestedSchema": form}, server="mail")
    assert isinstance(request, FormRequest)
    times: list[float] = []
    with create_pipe_input() as keyboard, open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230, PTH123 -- nothing waits
        screen = Vt100_Output(nowhere, lambda: Size(rows=50, columns=120), term="xterm", enable_cpr=False)
        app = TerminalApp(inert=0, input=keyboard, output=screen)
        shown = asyncio.ensure_future(app.show(FormView(app, request)))
        while app.application is None or not app.application.render_counter:  # noqa: ASYNC110 -- a benchmark
            await asyncio.sleep(0.001)
        for at in range(count):
            counter = app.application.render_counter
            begin = time.perf_counter()
            keyboard.send_text("\t" if at % 5 == 0 else "a")
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
    contestants = [("mcp_elicit_client", "ours", _OURS, b"Cancel]")]
    contestants += [("questionary", "questionary", _QUESTIONARY, b"name"), ("textual", "Textual", _TEXTUAL, b"phone")]
    paints: dict[str, float] = {}
    for module, name, code, sign in contestants:
        if importlib.util.find_spec(module) is None:
            print(f"first paint  {name:12} not installed")
            continue
        first_paint(code, sign)  # so that no bytecode is written while it counts
        seconds = [first_paint(code, sign) for _ in range(runs)]
        paints[name] = statistics.median(seconds)
        print(f"first paint  {name:12} {paints[name] * 1000:6.1f} ms  (at most {max(seconds) * 1000:.1f})")
    keys = asyncio.run(keystrokes(200))
    slow = statistics.quantiles(keys, n=20)[-1]
    print(f"a key, 64 fields          {statistics.median(keys) * 1000:6.1f} ms  (95 % within {slow * 1000:.1f})")
    print(f"bars: {PAINT_BAR * 1000:.0f} ms, {KEY_BAR * 1000:.0f} ms")
    return 0 if paints["ours"] <= PAINT_BAR and slow <= KEY_BAR else 1


if __name__ == "__main__":
    sys.exit(main())
