"""Gateways in this process: a client, a gateway with a relay, and a server, with either SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from mcp_elicit_client import Answer
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import ConnectMode
from mcp_elicit_client.relay import Relay
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Handler, Request
from tests.servers import gateway

SIDES = ("push", "rounds") if supports_multi_round_trip() else ("push",)
MODES: Mapping[str, ConnectMode] = {"push": "legacy", "rounds": "auto"}


@asynccontextmanager
async def streams_to(server: Any) -> AsyncIterator[Any]:
    """Run a server in this process; yield the streams of its client."""
    import mcp.shared.memory

    memory: Any = mcp.shared.memory
    async with memory.create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:
        group.start_soon(server.run, *theirs, server.create_initialization_options())
        yield ours
        group.cancel_scope.cancel()


def target(server: Any) -> Any:
    """Return what a `Relay` takes for a server in this process."""
    return server if supports_multi_round_trip() else lambda _user: streams_to(server)


@asynccontextmanager
async def connected(relays: Relay | Mapping[str, Relay], down: str, caller: Caller) -> AsyncIterator[Any]:
    """Connect *caller* to a gateway with open relays; yield the SDK's client."""
    server = gateway.build(relays)
    where = server if supports_multi_round_trip() else streams_to(server)
    async with caller.connect(where, mode=MODES[down]) as client:
        yield client


class User:
    """Answers as told, and remembers what was asked."""

    def __init__(self, answer: Handler | None = None) -> None:
        self.requests: list[Request] = []
        self.cancelled = 0
        self._answer = answer

    async def __call__(self, request: Request) -> Answer:
        self.requests.append(request)
        try:
            if self._answer is not None:
                answer = await self._answer(request)
                assert isinstance(answer, Answer)
                return answer
            return Answer.accept({"name": "Ann"} if request.mode == "form" else None, by="user")
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise


def said(result: Any) -> str:
    """Return the text of a tool's result."""
    return str(result.content[0].text)


Seen = Callable[[str], None]
