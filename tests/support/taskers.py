"""What tests of tasks share: a user who answers, and a connection to the server `tasker` in this process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel

from mcp_elicit_client import Answer
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.typing import Request
from tests.servers.tasker import Tasker, build

TEXT = {"content": [{"type": "text", "text": "done"}]}
VISIT: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Sign in", "url": "https://a.example/"},
}


URL_REQUIRED = {
    "status": "failed",
    "error": {
        "code": -32042,
        "message": "sign in first",
        "data": {"elicitations": [{**VISIT["params"], "elicitationId": "e1"}]},
    },
}
"""The last status of a task that failed because the server requires a URL elicitation."""


class User:
    """Answers every request with a name, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.withdrawn: list[str] = []
        self.thinks: Callable[[], Awaitable[object]] = anyio.lowlevel.checkpoint
        self.action = "accept"

    async def __call__(self, request: Request, /) -> Answer:
        self.asked.append(request.message)
        try:
            await self.thinks()
        except anyio.get_cancelled_exc_class():
            self.withdrawn.append(request.message)
            raise
        if self.action != "accept":
            return Answer.decline(by="user") if self.action == "decline" else Answer.cancel(by="user")
        return Answer.accept(None if request.mode == "url" else {"name": "Ann"}, by="user")


@asynccontextmanager
async def connected(
    tasker: Tasker,
    handler: Any,
    *,
    server: Any = None,
    user: str | None = None,
    max_questions: int = 25,
    **options: Any,
) -> AsyncIterator[tuple[Any, Any]]:
    """Connect to *tasker*; yield the caller and the client."""
    caller = Caller(handler, "mail", user=user, max_questions=max_questions)
    async with caller.client(server or build(tasker), **options) as client:
        with anyio.fail_after(60):
            yield caller, client


def told(result: Any) -> Any:
    """Return what the server got, by its keys."""
    return json.loads(result.content[0].text)


def accepted(*keys: str) -> dict[str, Any]:
    return {key: {"action": "accept", "content": {"name": "Ann"}} for key in keys}


def updates(seen: list[str]) -> list[Any]:
    """Return the responses in each ``tasks/update``."""
    return [json.loads(line.removeprefix("update ")) for line in seen if line.startswith("update ")]


def plan(*steps: Any, **more: Any) -> dict[str, Any]:
    """Return the arguments of a call."""
    return {"plan": list(steps), **more}
