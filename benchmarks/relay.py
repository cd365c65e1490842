"""
What a relay adds to a bare relay, which forwards params and answers unchanged.

Run from the checkout with mcp 2: ``python -m benchmarks.relay``.  The client,
in this process, answers a form with a constant.  Both gateways reach the same
kind of server, and take turns in short batches.  This is repeated with new
connections, and the median is printed: some are slower than others.

Over stdio, gateway and server are processes, and the time of the client is
measured.  Over HTTP, the gateways are in this process, behind sockets, and
the processor time of this process is counted: of the client and of the
gateway.  Connections differ more, so there are more of them.  Without a
transport, the server is in this process as well, and no message is written as
JSON: this shows the steps of the relay alone.

The bar: a call with one question takes at most 0.5 ms and 10 % more, and a
call without a question as well.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import mcp
import mcp.types
import uvicorn
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.lowlevel import Server
from mcp.types import ElicitResult
from typing_extensions import Self

from benchmarks.round_trip import CONTENT, PARAMS
from mcp_elicit_client.relay import Relay
from tests.servers.asker import build_for_mcp_2
from tests.servers.serving import listen, serve_stdio
from tests.support import ROOT, http_server

TRANSPORTS = ("stdio", "HTTP", "none")
MODES = {"push": "legacy", "rounds": "auto"}
BAR_MS, BAR_SHARE = 0.5, 0.10

_PAIRS = {"stdio": 5, "HTTP": 7, "none": 3}
_BATCHES = 14
_CALLS = 10

types: Any = mcp.types
sdk: Any = mcp
server_class: Any = Server


async def answer(_context: Any, _params: Any) -> ElicitResult:
    """Answer with a constant, as the callback of the client."""
    return ElicitResult(action="accept", content=dict(CONTENT))


class BareRelay:
    """Forwards everything unchanged, with one connection and one client."""

    def __init__(self, target: Any, up: str) -> None:
        self._target = target
        self._up = up
        self._stack = AsyncExitStack()
        self._context: Any = None
        self._upstream: Any = None
        self._group: anyio.abc.TaskGroup
        self._asked: Any = None
        self._answered: Any = None

    async def __aenter__(self) -> Self:
        """Connect to the server."""
        client = sdk.Client(self._target, mode=MODES[self._up], elicitation_callback=self._ask)
        self._upstream = await self._stack.enter_async_context(client)
        self._group = await self._stack.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(self, *error: Any) -> None:  # noqa: PYI036 -- passed on
        """Disconnect."""
        await self._stack.__aexit__(*error)

    async def list_tools(self, _context: Any, _params: Any) -> Any:
        """Forward the list of tools."""
        return await self._upstream.list_tools()

    async def call_tool(self, context: Any, params: Any) -> Any:
        """Forward a call."""
        self._context = context
        if context.protocol_version < "2026-07-28":
            return await self._upstream.call_tool(params.name, params.arguments)
        if self._up == "rounds":
            return await self._upstream.session.call_tool(
                params.name,
                params.arguments,
                input_responses=params.input_responses,
                request_state=params.request_state,
                allow_input_required=True,
            )
        return await self._hold(params)

    async def _hold(self, params: Any) -> Any:
        """Keep the call open between two requests of the client."""
        if params.request_state is None:
            self._asked, self._answered = anyio.create_memory_object_stream[Any](1), None
            self._group.start_soon(self._run, params)
        else:
            (self._answered_with,) = params.input_responses.values()
            self._answered.set()
        came = await self._asked[1].receive()
        if isinstance(came, types.CallToolResult):
            return came
        request = types.ElicitRequest(params=came)
        return types.InputRequiredResult(input_requests={"q": request}, request_state="held")

    async def _run(self, params: Any) -> None:
        await self._asked[0].send(await self._upstream.call_tool(params.name, params.arguments))

    async def _ask(self, _context: Any, params: Any) -> Any:
        if self._context.protocol_version >= "2026-07-28":
            self._answered = anyio.Event()
            await self._asked[0].send(params)
            await self._answered.wait()
            return self._answered_with
        return await self._context.session.elicit_form(
            params.message, params.requested_schema, related_request_id=self._context.request_id
        )


@asynccontextmanager
async def serving(server: Any) -> AsyncIterator[str]:
    """Serve *server* over HTTP in this process; yield its URL."""
    listener = listen()
    web = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error"))
    async with anyio.create_task_group() as group:
        group.start_soon(web.serve, [listener])
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        web.should_exit = True


class OwnRelay(Relay):
    """The relay of the package, with a list of tools."""

    async def list_tools(self, context: Any, _params: Any) -> Any:
        """Return the tools of the upstream server."""
        async with self.connection(context) as client:
            return await client.list_tools()


async def batch(client: Any, arguments: Mapping[str, Any], clock: Callable[[], float]) -> float:
    """Return the seconds of one call."""
    start = clock()
    for _ in range(_CALLS):
        result = await client.call_tool("ask", dict(arguments))
        assert not result.is_error, result
    return (clock() - start) / _CALLS


async def measure(transport: str, url: str, up: str, down: str, arguments: Mapping[str, Any]) -> tuple[float, float]:
    """Return the seconds of a call through a bare relay and through that of the package: the best batches."""
    # In one process, other programs do not matter.
    clock = time.perf_counter if transport == "stdio" else time.process_time
    ended = anyio.Event()
    async with anyio.create_task_group() as group:
        # Each in its own task: otherwise one is inside of all cancel scopes of the other.
        connected = [functools.partial(client_of, kind, transport, url, up, down) for kind in ("bare", "own")]
        clients = [await group.start(hold, each, ended) for each in connected]
        for client in clients:
            await batch(client, arguments, clock)
        seconds: list[list[float]] = [[], []]
        for turn in range(_BATCHES):
            for which in (0, 1) if turn % 2 else (1, 0):
                seconds[which].append(await batch(clients[which], arguments, clock))
        ended.set()
    return min(seconds[0]), min(seconds[1])


async def hold(
    connect: Callable[[], AbstractAsyncContextManager[Any]],
    ended: anyio.Event,
    *,
    task_status: anyio.abc.TaskStatus[Any],
) -> None:
    """Connect a client, report it, and disconnect when *ended* is set."""
    async with connect() as client:
        task_status.started(client)
        await ended.wait()


@asynccontextmanager
async def client_of(kind: str, transport: str, url: str, up: str, down: str) -> AsyncIterator[Any]:
    """Connect a client to a gateway with a relay of *kind*."""
    async with AsyncExitStack() as stack:
        where: Any
        if transport == "stdio":
            where = stdio_client(_python("-m", "benchmarks.relay", "--gateway", kind, "--upstream", up))
        else:
            relay = await stack.enter_async_context(
                relay_of(kind, url if transport == "HTTP" else build_for_mcp_2(), up)
            )
            where = gateway(relay)
            if transport == "HTTP":
                where = await stack.enter_async_context(serving(where))
        yield await stack.enter_async_context(sdk.Client(where, mode=MODES[down], elicitation_callback=answer))


def relay_of(kind: str, target: Any, up: str) -> Any:
    """Return a relay of *kind* to the server *target*."""
    if kind == "own":
        return OwnRelay("asker", target, mode=MODES[up])
    return BareRelay(stdio_client(target) if isinstance(target, StdioServerParameters) else target, up)


def gateway(relay: Any) -> Any:
    """Return the server of a gateway."""
    return server_class("gateway", on_list_tools=relay.list_tools, on_call_tool=relay.call_tool)


async def serve_gateway(kind: str, up: str) -> None:
    """Serve a gateway over standard input and output, in front of a server process."""
    async with relay_of(kind, _python("-m", "tests.servers.asker"), up) as relay:
        await serve_stdio(gateway(relay))


def _python(*arguments: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=list(arguments), env={"PYTHONPATH": str(ROOT)})


async def compare() -> bool:
    """Print the results; return True if all are within the bar."""
    is_good = True
    print("| transport | upstream | client | question | bare, ms | relay, ms | added, ms | bar, ms |")
    print("|---|---|---|---|---|---|---|---|")
    with http_server() as url:
        for transport, up, down, question in itertools.product(TRANSPORTS, MODES, MODES, (True, False)):
            arguments = {"params": dict(PARAMS)} if question else {}
            pairs = [await measure(transport, url, up, down, arguments) for _ in range(_PAIRS[transport])]
            bare = statistics.median(bare for bare, _ in pairs)
            added = statistics.median(own - bare for bare, own in pairs)
            bar = BAR_MS / 1000 + BAR_SHARE * bare
            is_good = is_good and added <= bar and math.isfinite(added)
            figures = " | ".join(f"{1000 * each:.2f}" for each in (bare, bare + added, added, bar))
            print(f"| {transport} | {up} | {down} | {'a form' if question else 'none'} | {figures} |", flush=True)
    return is_good


def main() -> int:
    """Compare both, or serve a gateway."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gateway", choices=["bare", "own"], help="serve the gateway of this relay over stdio")
    parser.add_argument("--upstream", choices=list(MODES), default="push")
    options = parser.parse_args()
    if options.gateway:
        anyio.run(serve_gateway, options.gateway, options.upstream)
        return 0
    return 0 if anyio.run(compare) else 1


if __name__ == "__main__":
    sys.exit(main())
