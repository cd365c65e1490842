"""Every combination of both sides, kinds of requests and outcomes, through a gateway: cases, and what is right."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio

from mcp_elicit_client import Answer
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, connect
from mcp_elicit_client.exceptions import CallTimeoutError, RequestStateRejectedError
from mcp_elicit_client.typing import Request
from tests.servers.fork_server import server_command
from tests.support.gateways import MODES, SIDES

GATEWAY = server_command("tests.servers.gateway")
HASTY = 0.25
RELAYS: dict[str, dict[str, Any]] = {
    "push": {"mode": "legacy"},
    "rounds": {"mode": "auto"},
    "hasty-push": {"mode": "legacy", "answer_timeout": HASTY},
    "hasty-rounds": {"mode": "auto", "answer_timeout": HASTY},
}
URL = "https://login.example.com/start"

_numbers = itertools.count()

KINDS = ("form", "url", "required")
OUTCOMES = ("accept", "decline", "cancel", "timeout", "withdrawn")


class Case:
    """One combination: the user, the call and what came of it."""

    def __init__(self, up: str, down: str, kind: str, outcome: str, folder: Path) -> None:
        self.up, self.down, self.kind, self.outcome = up, down, kind, outcome
        self.name = f"{up}/{down} {kind} {outcome}"
        self.mark = folder / f"mark-{next(_numbers)}"
        self.asked: list[str] = []
        self.ended = anyio.Event()
        self.given_up = False
        self.seen = folder / "seen"

    @property
    def is_withdrawn_by_server(self) -> bool:
        return self.outcome == "withdrawn" and self.up == "push" and self.kind != "required"

    @property
    def is_withdrawn_by_client(self) -> bool:
        return self.outcome == "withdrawn" and not self.is_withdrawn_by_server

    async def answer(self, request: Request) -> Answer:
        self.asked.append(request.message)
        try:
            return await self._answer(request)
        except anyio.get_cancelled_exc_class():
            self.given_up = True
            raise

    async def _answer(self, request: Request) -> Answer:
        if self.outcome == "decline":
            return Answer.decline(by="user")
        if self.outcome == "cancel":
            return Answer.cancel(by="user")
        if self.outcome == "timeout" and self.down == "push":
            await anyio.sleep_forever()
        if self.outcome == "timeout":
            await anyio.sleep(HASTY + 0.1)
        if self.is_withdrawn_by_server:
            self.mark.touch()
            if self.down == "push":
                await anyio.sleep_forever()
            await self._until_seen("withdraw done")
        if self.is_withdrawn_by_client:
            self.ended.set()
            await anyio.sleep_forever()
        return Answer.accept({"name": "Ann"} if request.mode == "form" else None, by="user")

    async def _until_seen(self, line: str) -> None:
        while line not in self.seen.read_text().splitlines():
            await anyio.sleep(0.005)

    @property
    def tool(self) -> str:
        prefix = f"hasty-{self.up}" if self.outcome == "timeout" else self.up
        return f"{prefix}.{'withdraw' if self.is_withdrawn_by_server else self.kind}"

    @property
    def arguments(self) -> dict[str, Any]:
        if self.is_withdrawn_by_server:
            return {"mark": str(self.mark), "url": self.kind == "url"}
        return {"urls": [URL], "key": self.mark.name} if self.kind == "required" else {}

    async def run(self, caller: Caller, client: Any) -> str:
        """Make the call; return what came of it as text."""
        self.seen.write_text("")
        hurry = self.outcome == "timeout" and self.kind == "required" and self.down == "push"
        came = "withdrawn by the client"

        async def call() -> None:
            nonlocal came
            try:
                result: Any = await caller.call_tool(
                    client, self.tool, self.arguments, answer_timeout=HASTY if hurry else None
                )
                came = result.content[0].text
            except Exception as error:
                came = f"{type(error).__name__}: {error}"
            group.cancel_scope.cancel()

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(call)
                await self.ended.wait()
                group.cancel_scope.cancel()
        return came

    @property
    def expected(self) -> str:
        if self.is_withdrawn_by_client:
            return "withdrawn by the client"
        if self.is_withdrawn_by_server:
            return '{"withdrawn": true}'
        if self.outcome == "timeout" and self.down == "rounds":
            return RequestStateRejectedError.__name__
        if self.kind == "required":
            return self._expected_of_error
        action = "cancel" if self.outcome == "timeout" else self.outcome
        content = ', "content": {"name": "Ann"}' if (action, self.kind) == ("accept", "form") else ""
        return f'{{"got": {{"action": "{action}"{content}}}}}'

    @property
    def _expected_of_error(self) -> str:
        if self.outcome == "accept":
            return '{"calls": 2}'
        if self.outcome == "timeout":
            return CallTimeoutError.__name__
        return "UrlElicitationIncompleteError" if self.down == "push" else "MCPError"

    def judge(self, came: str) -> list[str]:
        """Return what is wrong."""
        wrong = [] if came.startswith(self.expected) else [f"{self.name}: {came} and not {self.expected}"]
        if len(self.asked) != 1:
            wrong.append(f"{self.name}: asked {len(self.asked)} times")
        elif not self.asked[0].startswith("[visitor] "):
            wrong.append(f"{self.name}: no name of the server: {self.asked[0]}")
        lines = self.seen.read_text().splitlines()
        if came != '{"calls": 2}' and self.kind == "required" and lines.count("required") != 1:
            wrong.append(f"{self.name}: called again without consent: {lines}")
        needs_withdrawal = self.down == "push" and self.outcome in ("timeout", "withdrawn")
        if needs_withdrawal and not self.given_up:
            wrong.append(f"{self.name}: the user was still asked")
        return wrong


async def run_all(target: Command | str, down: str, folder: Path) -> AsyncIterator[tuple[Case, str]]:
    """Run every case with one client; yield each with what came of it."""
    current: list[Case] = []

    async def ask(request: Request) -> Answer:
        return await current[-1].answer(request)

    caller = Caller(ask, "gateway")
    async with connect(target, caller, mode=MODES[down]) as connection:
        for up, kind, outcome in itertools.product(SIDES, KINDS, OUTCOMES):
            current.append(Case(up, down, kind, outcome, folder))
            yield current[-1], await current[-1].run(caller, connection.client)
