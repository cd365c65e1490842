"""Connections of ``agent-client-protocol`` whose other end sends and receives what a test says."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from tests.support import skip_or_fail

if importlib.util.find_spec("acp") is None:
    skip_or_fail("the extra acp is not installed")

SESSION = "session-1"


class Peer:
    """
    The other end of a connection.  It is the transport of the package at the same time.

    What is sent is written as JSON and read again, as over a pipe.
    """

    def __init__(self) -> None:
        self._to_package: asyncio.Queue[Any] = asyncio.Queue()
        self._from_package: asyncio.Queue[Any] = asyncio.Queue()
        self.is_closed = False

    # --- the transport of the package

    async def send(self, message: Any) -> None:
        if self.is_closed:
            raise ConnectionResetError("closed")
        self._from_package.put_nowait(json.loads(json.dumps(message, allow_nan=False)))

    async def receive(self) -> Any:
        return await self._to_package.get()

    async def close(self) -> None:
        self.disconnect()

    # --- what the test says

    def say(self, method: str, params: Any = None, **more: Any) -> None:
        self.write({"jsonrpc": "2.0", "method": method, "params": {} if params is None else params, **more})

    def write(self, message: Any) -> None:
        self._to_package.put_nowait(message)

    def disconnect(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._to_package.put_nowait(None)

    async def read(self) -> Any:
        with anyio.fail_after(60):
            return await self._from_package.get()

    async def call(self, method: str, params: Any, request_id: object = 1) -> Any:
        self.say(method, params, id=request_id)
        return await self.read()

    def respond(self, request: Any, result: Any = None, **more: Any) -> None:
        answer = more or {"result": result}
        self.write({"jsonrpc": "2.0", "id": request["id"], **answer})


class Agent:
    """An agent that does nothing."""

    async def initialize(self, **_: Any) -> Any:
        import acp

        return acp.InitializeResponse(protocol_version=1)

    async def cancel(self, **_: Any) -> None:
        pass


class Client:
    """A client that shows nothing, and must not be asked by the package."""

    def __init__(self) -> None:
        self.updates: list[Any] = []

    async def session_update(self, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def create_elicitation(self, **_: Any) -> Any:
        raise AssertionError("the package must not see elicitations")

    complete_elicitation = create_elicitation


def capabilities(*modes: str) -> dict[str, Any]:
    """Return the params of ``initialize`` of a client that declares *modes*."""
    return {"protocolVersion": 1, "clientCapabilities": {"elicitation": {mode: {} for mode in modes}}}


@asynccontextmanager
async def agent_side(attach: Any, *modes: str, **params: Any) -> AsyncIterator[Peer]:
    """Connect an agent; *attach* gets its connection.  The peer is its editor, which declares *modes*."""
    from acp.agent.connection import AgentSideConnection

    peer = Peer()
    agent: Any = Agent()
    agent.on_connect = attach
    connection = AgentSideConnection(agent, peer)
    try:
        await peer.call("initialize", params or capabilities(*modes))
        yield peer
    finally:
        await connection.close()


@asynccontextmanager
async def client_side(attach: Any, elicitation: Any) -> AsyncIterator[tuple[Any, Peer]]:
    """Connect a client that declares *elicitation*; *attach* gets its connection.  The peer is its agent."""
    from acp.client.connection import ClientSideConnection
    from acp.schema import ClientCapabilities

    peer = Peer()
    client: Any = Client()
    client.on_connect = attach
    connection = ClientSideConnection(client, peer)
    try:
        declared = ClientCapabilities(elicitation=elicitation)
        starting = asyncio.ensure_future(connection.initialize(protocol_version=1, client_capabilities=declared))
        peer.respond(await peer.read(), {"protocolVersion": 1})
        await starting
        yield connection, peer
    finally:
        await connection.close()
