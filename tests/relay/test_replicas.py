"""Calls through two processes of a gateway with one store, which are killed at random."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.support import LONG, ROOT, VISITOR, free_port, http_server, read_line
from tests.support.relay_matrix import GATEWAY

pytestmark = [pytest.mark.anyio, pytest.mark.rounds, pytest.mark.event_loops("asyncio")]

CALLS = 200 if LONG else 16
AT_ONCE = 4
CALLS_PER_KILL = 8
MAX_REFUSALS = 20
KEY = "k" * 32
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


class Replica:
    """A process of the gateway, on one port for all its lives."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self._environment = {**os.environ, **environment, "ELICIT_PORT": str(self.port)}
        self._process: subprocess.Popen[str]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [*GATEWAY, "--http"], cwd=ROOT, env=self._environment, stdout=subprocess.PIPE, text=True
        )

    def wait(self) -> None:
        read_line(self._process)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@dataclass
class Run:
    """The clients of both replicas, and what came of their calls."""

    replicas: list[Replica]
    http: httpx.AsyncClient
    came: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    ended: int = 0

    async def post(self, number: int, tool: str, **params: Any) -> dict[str, Any] | None:
        """Send a request to either replica; return the response, or None if the connection broke."""
        user = params.pop("user", f"user-{number}")
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": {"number": number}, "_meta": META, **params},
        }
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": tool,
            "x-user": user,
        }
        try:
            response = await self.http.post(random.choice(self.replicas).url, json=body, headers=headers)
        except httpx.TransportError:
            await anyio.sleep(0.05)
            return None
        found: dict[str, Any] = response.json()
        return found

    async def call(self, number: int, side: str) -> None:
        """Make one call; repeat requests whose responses were lost."""
        tool = f"{side}.order"
        asked = None
        while asked is None:
            asked = await self.post(number, tool)
        given: dict[str, Any] = {"requestState": asked["result"]["requestState"]}
        (key,) = asked["result"]["inputRequests"]
        given["inputResponses"] = {key: {"action": "accept", "content": {"name": f"name-{number}"}}}
        if number % 4 == 0:
            await self._attack(number, tool, given)
        refusals = 0
        while True:
            response = await self.post(number, tool, **given)
            if response is None:
                continue
            if "result" in response:
                self._judge(number, json.loads(response["result"]["content"][0]["text"]))
                self.came[f"{side} completed"] += 1
                return
            code = str((response["error"].get("data") or {}).get("code", response["error"]["message"]))
            refusals += 1
            if side == "rounds" and not code.startswith("The gateway cannot connect"):
                self.wrong.append(f"call {number}: lost: {response['error']}")
                return
            # The other process may hold the call.  If neither does, that is the end of it.
            if side == "push" and (code != "process" or refusals == MAX_REFUSALS):
                self.came[f"{side} refused: {code}"] += 1
                return

    def _judge(self, number: int, result: dict[str, Any]) -> None:
        expected = {"number": number, "answer": {"action": "accept", "content": {"name": f"name-{number}"}}}
        if result != expected:
            self.wrong.append(f"call {number}: {result}")

    async def _attack(self, number: int, tool: str, given: dict[str, Any]) -> None:
        """Another user sends an answer with the state of this one."""
        (key,) = given["inputResponses"]
        mine = {**given, "inputResponses": {key: {"action": "accept", "content": {"name": "mallory"}}}}
        response = await self.post(number, tool, user="mallory", **mine)
        if response is not None and response.get("error", {}).get("data", {}).get("code") != "caller":
            self.wrong.append(f"call {number}: another user was not refused: {response}")

    async def kill_now_and_then(self) -> None:
        """Kill one of the replicas after some calls, as long as there are calls."""
        kills = 0
        while self.ended < CALLS:
            if self.ended >= (kills + 0.3) * CALLS_PER_KILL:
                kills += 1
                replica = random.choice(self.replicas)
                await anyio.sleep(random.random() * 0.05)
                replica.kill()
                replica.start()
                await anyio.to_thread.run_sync(replica.wait)
            await anyio.sleep(0.01)
        self.came["kills"] = kills


@contextmanager
def two_replicas(folder: Path, store: str) -> Iterator[list[Replica]]:
    """Start a server and two processes of a gateway to it."""
    with http_server(VISITOR, {"ELICIT_SEEN": str(folder / "seen")}) as upstream:
        environment = {
            "ELICIT_UPSTREAM": upstream,
            "ELICIT_STORE": store,
            "ELICIT_KEY": KEY,
            "ELICIT_LEASE": "1",
            "ELICIT_RELAYS": json.dumps({"push": {"mode": "legacy"}, "rounds": {"mode": "auto"}}),
        }
        replicas = [Replica(environment) for _ in range(2)]
        try:
            for replica in replicas:
                replica.wait()
            yield replicas
        finally:
            for replica in replicas:
                replica.kill()


@pytest.mark.parametrize("store", ["redis_server", "postgres_server"])
async def test_no_call_is_lost_or_doubled_when_processes_are_killed(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Calls of servers with server-initiated requests end in an error if their process was killed."""
    url = request.getfixturevalue(store).url
    with two_replicas(tmp_path, url) as replicas:
        async with httpx.AsyncClient(timeout=30) as http:
            run = Run(replicas, http)
            limiter = anyio.CapacityLimiter(AT_ONCE)

            async def call(number: int) -> None:
                async with limiter:
                    await run.call(number, "rounds" if number % 2 else "push")
                run.ended += 1

            with anyio.fail_after(60 + 2 * CALLS):
                async with anyio.create_task_group() as group:
                    group.start_soon(run.kill_now_and_then)
                    for number in range(CALLS):
                        group.start_soon(call, number)
    lines = [line.split(" ", 2) for line in (tmp_path / "seen").read_text().splitlines()]
    placed = [(each[1], each[2]) for each in lines if each[0] == "placed"]
    print(dict(run.came), f"{len(placed)} placed, {len(placed) - len(set(placed))} sent again")
    assert run.wrong == []
    assert run.came["rounds completed"] == CALLS // 2
    assert run.came["kills"] > 0
    # Each order has one answer, which is that of its user.
    assert len({number for number, _ in placed}) == len(set(placed))
    assert all(f'"name-{number}"' in answer for number, answer in placed)
    held = Counter(number for number, _ in placed if int(number) % 2 == 0)
    assert all(count == 1 for count in held.values())
