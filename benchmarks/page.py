"""
The time until a request is on its page.

From the request to the first byte of the form, in a process that has imported
``mcp`` and what a host imports.  The client follows the URL as a browser does.
Cold: the first request of a new process, with all imports.  Warm: the requests
after it, each with a server of its own.  The limit is 60 ms, cold.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

BAR = 0.060

_TIME = """
import asyncio, re, socket, threading, time
import anyio, mcp
begin = time.perf_counter()
from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.browser import BrowserHandler
imported = time.perf_counter()

NAMES = ["name", "email", "town", "street", "phone"]
FORM = {{"properties": {{name: {{"type": "string"}} for name in NAMES}}}}
times = []

def get(port, path):
    with socket.socket() as connection:
        connection.connect(("127.0.0.1", port))
        lines = [f"GET {{path}} HTTP/1.1", f"Host: 127.0.0.1:{{port}}", "Accept: text/html", "Connection: close"]
        head = "\\r\\n".join([*lines, "", ""])
        connection.sendall(head.encode())
        said = connection.recv(65536)
        first = time.perf_counter(), time.process_time()
        while some := connection.recv(65536):
            said += some
    return first, said.decode()

def visit(text):
    port, token = re.findall(r'url=http://127.0.0.1:(\\d+)(/[^"]+)"', text)[0]
    _, entry = get(int(port), token)
    first, form = get(int(port), "/" + re.findall(r'url=([^"]+)"', entry)[0])
    assert 'name="f4"' in form
    times.append(first)

async def main():
    await anyio.sleep(0)  # a question comes in a session, and that runs on anyio
    for _ in range({rounds}):
        visited = asyncio.Event()
        loop = asyncio.get_running_loop()
        async def open_file(path):
            def go(text=path.read_text()):
                visit(text)
                loop.call_soon_threadsafe(visited.set)
            threading.Thread(target=go).start()
            return True
        request = parse_request({{"message": "Hello", "requestedSchema": FORM}}, server="mail")
        begun = time.perf_counter(), time.process_time()
        asked = asyncio.ensure_future(BrowserHandler(open_file=open_file)(request))
        await visited.wait()
        asked.cancel()
        await asyncio.wait([asked])
        while any(thread.name == "mcp-elicit-browser" for thread in threading.enumerate()):
            await asyncio.sleep(0.01)
        print(times[-1][0] - begun[0], times[-1][1] - begun[1])

print(imported - begin, 0)
from mcp_elicit_client.handlers.browser import tab
tab.UNSEEN_TIMEOUT = 0
asyncio.run(main())
"""


def run(rounds: int) -> list[tuple[float, float]]:
    """
    Ask so many questions in a process of its own.

    Returns:
        The seconds, and those of the processor, of the import and of each question.
    """
    code = _TIME.format(rounds=rounds)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    rows = [line.split() for line in ran.stdout.splitlines()]
    return [(float(row[0]), float(row[1])) for row in rows]


def show(name: str, rows: list[tuple[float, float]]) -> float:
    """Print a line about some runs; return the median of their seconds."""
    seconds, busy = ([row[at] * 1000 for row in rows] for at in (0, 1))
    middle = statistics.median(seconds)
    print(
        f"{name:24} {middle:6.1f} ms  ({min(seconds):.1f} to {max(seconds):.1f}; "
        f"{statistics.median(busy):.1f} of the processor)"
    )
    return middle / 1000


def main() -> int:
    """Print the medians; fail above the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    run(1)  # so that no bytecode is written while it counts
    alone = [run(1) for _ in range(runs)]
    show("import of the handler", [rows[0] for rows in alone])
    cold = show("first byte, cold", [rows[1] for rows in alone])
    show("first byte, warm", run(runs + 1)[2:])
    print(f"bar: {BAR * 1000:.0f} ms, cold")
    return 0 if cold <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
