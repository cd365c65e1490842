"""
Random schedules of crashes around suspended tasks.

Each schedule runs one task to its end, while worker processes and servers are killed with SIGKILL at random moments,
workers resume the same task at the same time, the server lists answered keys for a while, and the user takes longer
than the timeouts of the call.  At the end, the result must be there, also for another worker, every question must have
been asked once, and the server must have the user's answer to each.

``python -m tests.support.task_schedules STORE FOLDER FIRST COUNT`` runs some schedules; STORE is ``sqlite`` or the URL
of a Redis or PostgreSQL server.  This process only forks and kills, so that it never forks with threads or an event
loop.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import mcp

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions, task_polling
from mcp_elicit_client.exceptions import ElicitationError
from mcp_elicit_client.inbox import Inbox, InboxHandler
from tests.servers import tasker
from tests.servers.stores import store_at

KEY = b"k" * 32
MAX_STEPS = 300
WORKER_TIMEOUT = 60.0
ANSWER_TIMEOUT = 2.0


@dataclass
class Schedule:
    """One schedule: its store, its folder and what was drawn for it."""

    store: str
    folder: Path
    seed: int

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.folder.mkdir()
        (self.folder / "tasks").mkdir()
        keys = iter("abcdef")
        self.plan: list[dict[str, Any]] = []
        for _ in range(self.random.randint(1, 3)):
            asked = [next(keys) for _ in range(self.random.randint(1, 2))]
            self.plan += [tasker.ask(*asked, late=self.random.randint(0, 4)), {"work": self.random.randint(0, 3)}]
        self.keys = [key for step in self.plan for key in step.get("ask", ())]

    def open(self) -> tuple[Inbox, Caller, SuspendOptions]:
        if self.store == "sqlite":
            inbox = Inbox(store_at(str(self.folder / "inbox.db"), lock_timeout=20), KEY)
        else:
            inbox = Inbox(store_at(f"{self.store}#{{{self.folder.parent.name}-{self.seed}}}"), KEY)
        registry = ElicitationRegistry()
        registry.on_elicitation(InboxHandler(inbox))
        return inbox, Caller(registry, "mail", user="ann"), SuspendOptions(inbox)

    # --- the processes

    async def work(self) -> None:
        """Make the call, or resume it; write down its ID or its result."""
        task_polling.MIN_POLL_INTERVAL = 0.005
        inbox, caller, options = self.open()
        environ = {
            **os.environ,
            "ELICIT_TASKS": str(self.folder / "tasks"),
            "ELICIT_SEEN": str(self.folder / "seen"),
        }
        server = mcp.StdioServerParameters(command=sys.executable, args=["-IS", tasker.__file__], env=environ)
        call_id = await self.call_id(inbox)
        limits: dict[str, Any] = {"timeout": 20, "answer_timeout": ANSWER_TIMEOUT}
        async with caller.client(server) as client:
            if call_id is None:
                arguments = {"plan": self.plan}
                result = await caller.call_tool(client, "run", arguments, suspend=options, **limits)
            else:
                result = await caller.resume(call_id, client, options, **limits)
        if isinstance(result, SuspendedCall):
            self.write("id", result.id)
        else:
            self.write("result", result.content[0].text)
        await inbox.aclose()

    async def call_id(self, inbox: Inbox) -> str | None:
        """Return the ID of the call: as it was written down, or as the inbox shows it."""
        if (self.folder / "id").exists():
            return (self.folder / "id").read_text()
        return next((entry.call for entry in await entries(inbox)), None)

    async def answer(self) -> None:
        """Answer what is pending, each with something of its own, and write it down."""
        inbox, _, _ = self.open()
        for entry in (await inbox.list("ann")).entries:
            with suppress(ElicitationError):  # another worker withdrew it
                await inbox.answer("ann", entry.id, "accept", {"name": entry.id})
        await inbox.aclose()

    async def check(self) -> None:
        """Compare what was asked, what was answered, and what the server got."""
        inbox, _, _ = self.open()
        asked = await entries(inbox)
        await inbox.aclose()
        result = json.loads((self.folder / "result").read_text())
        problems = {}
        if Counter(entry.read().message for entry in asked) != Counter(f"Name for {key}?" for key in self.keys):
            problems["asked"] = [entry.read().message for entry in asked]
        ids = {entry.read().message: entry.id for entry in asked}
        expected = {key: {"action": "accept", "content": {"name": ids.get(f"Name for {key}?")}} for key in self.keys}
        if result != expected:
            problems["result"] = result
        if problems:
            raise AssertionError(json.dumps(problems))

    def write(self, name: str, text: str) -> None:
        path = self.folder / f"{name}-{os.getpid()}"
        path.write_text(text)
        path.replace(self.folder / name)

    # --- the schedule

    def run(self) -> None:
        slow = [ANSWER_TIMEOUT + 0.1] if self.seed % 10 == 0 else []
        for _ in range(MAX_STEPS):
            self.step()
            if (self.folder / "result").exists():
                break
            if self.random.random() < 0.85:
                if slow:
                    time.sleep(slow.pop())
                wait([fork(self.answer)])
        else:
            raise AssertionError("the result was lost")
        first = (self.folder / "result").read_text()
        (self.folder / "result").unlink()
        wait([fork(self.work)])
        assert (self.folder / "result").read_text() == first, "another worker gets another result"
        if wait([fork(self.check)]) != [0]:
            raise AssertionError("see above")

    def step(self) -> None:
        """Let one or more workers run, and kill some of them, or their server."""
        count = self.random.choice([1, 1, 1, 1, 2, 3])  # the call itself is made once
        workers = [fork(self.work) for _ in range(count if (self.folder / "id").exists() else 1)]
        what = self.random.choice(["nothing", "client", "server"])
        if what != "nothing":
            time.sleep(self.random.uniform(0, 0.35))
            victims = self.random.sample(workers, self.random.randint(1, len(workers)))
            if what == "server":
                victims = self.servers()
            for pid in victims:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        wait(workers)

    def servers(self) -> list[int]:
        seen = self.folder / "seen"
        lines = seen.read_text().splitlines() if seen.exists() else []
        pids = [int(words[2]) for line in lines if (words := line.split())[1] == "pid"]
        return [pid for pid in pids[-3:] if is_server(pid)]


def is_server(pid: int) -> bool:
    """Return True if *pid* still belongs to a server of this test, and not to another process by now."""
    try:
        return b"tasker.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


async def entries(inbox: Inbox) -> list[Any]:
    """Return all entries of the call, pending or not."""
    return [*(await inbox.list("ann")).entries, *(await inbox.history("ann")).entries]


def fork(work: Callable[[], Coroutine[Any, Any, None]]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        anyio.run(work)
        code = 0
    except AssertionError as error:
        print(error, file=sys.stderr, flush=True)
    except Exception:
        if "--debug" in sys.argv:
            traceback.print_exc()
    finally:
        os._exit(code)


def wait(pids: list[int]) -> list[int]:
    """Wait for processes; kill what hangs."""
    deadline = time.monotonic() + WORKER_TIMEOUT
    codes = []
    for pid in pids:
        while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise AssertionError("a process hangs")
            time.sleep(0.002)
        codes.append(os.waitstatus_to_exitcode(ended[1]))
    return codes


def main() -> None:
    store, folder, first, count = sys.argv[1:5]
    if store != "sqlite":
        importlib.import_module("redis.asyncio" if store.startswith("redis:") else "psycopg")  # once
    gc.freeze()
    for seed in range(int(first), int(first) + int(count)):
        started = time.monotonic()
        Schedule(store, Path(folder) / f"{seed}", seed).run()
        print(f"schedule {seed}: {time.monotonic() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
