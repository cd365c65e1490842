"""
What answering a form costs, compared to ``jsonschema.validate`` and to a trivial callback.

Run from the checkout: ``python -m benchmarks.round_trip``.  The bars, with the
recommended policies and a form of eight fields: the whole callback takes at
most 0.09 of ``jsonschema.validate``, and a call with one request takes at most
1.6 (in process), 1.25 (stdio) and 1.12 (HTTP) of the same call with a callback
that returns a constant.  Made with a `Caller`, it takes at most 1.8, 1.35 and
1.15; and a call without a request at most 1.10, 1.03 and 1.03 of the SDK's own.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import jsonschema
import mcp
from mcp.types import ElicitRequestFormParams, ElicitResult

from mcp_elicit_client import Answer, ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, _stdio
from mcp_elicit_client.policies import rate_limit, recommended
from tests.support import ASKER, ROOT, http_server
from tests.support.plain import plain

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 100},
        "email": {"type": "string", "title": "E-mail", "format": "email"},
        "age": {"type": "integer", "title": "Age", "minimum": 0, "maximum": 150},
        "score": {"type": "number", "title": "Score", "minimum": 0},
        "news": {"type": "boolean", "title": "News", "default": False},
        "color": {"type": "string", "title": "Color", "enum": ["red", "green", "blue"]},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "maxItems": 2},
    },
    "required": ["name", "email"],
}
CONTENT: Mapping[str, Any] = {
    "name": "Ann",
    "email": "ann@example.com",
    "age": 30,
    "score": 1.5,
    "news": True,
    "color": "red",
    "size": "s",
    "tags": ["a"],
}
PARAMS: Mapping[str, Any] = {"mode": "form", "message": "Please fill in the form", "requestedSchema": SCHEMA}
BARS = {"in process": 1.6, "stdio": 1.25, "HTTP": 1.12}
CALLER_BARS = {"in process": 1.8, "stdio": 1.35, "HTTP": 1.15}
PLAIN_BARS = {"in process": 1.1, "stdio": 1.03, "HTTP": 1.03}
CALLBACK_BAR = 0.09

_PAIRS = 3
"""How often each transport is measured, with new connections: processes differ by some per cent.  The median counts."""

_BATCHES = 100
_CALLS = 5


def registry() -> ElicitationRegistry:
    """Return a registry with the recommended policies, whose handler returns a constant."""
    answers = ElicitationRegistry(policy=recommended(rate_limit=rate_limit(["1000000/minute"])))
    answer = Answer.accept(CONTENT, by="user")

    @answers.on_elicitation
    async def fill_in(_request: object) -> Answer:
        return answer

    return answers


async def trivial(_context: Any, _params: Any) -> ElicitResult:
    """Answer with a constant."""
    return ElicitResult(action="accept", content=dict(CONTENT))


async def of_callback() -> float:
    """Return the time of the whole callback, as a part of that of ``jsonschema.validate``."""
    callback: Any = registry().callback("benchmark")
    params = ElicitRequestFormParams.model_validate(PARAMS)

    async def ours() -> None:
        result = await callback(None, params)
        assert result.action == "accept"

    async def theirs() -> None:
        jsonschema.validate(CONTENT, SCHEMA)

    return await _compare(ours, theirs, clock=time.process_time)


async def of_call(connect: Callable[[Any], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the time of a call with one request, as a multiple of that with a trivial callback."""
    async with connect(registry().callback("benchmark")) as ours, connect(trivial) as theirs:
        return await _compare(lambda: _call(ours), lambda: _call(theirs), clock)


async def _call(connection: Any) -> None:
    result = await connection.call_tool("ask", {"params": PARAMS})
    assert not result.get("isError"), result


async def _median(measure: Callable[[], Awaitable[float]]) -> float:
    return statistics.median([await measure() for _ in range(_PAIRS)])


async def _compare(
    ours: Callable[[], Awaitable[object]],
    theirs: Callable[[], Awaitable[object]],
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """
    Return the quotient of the first deciles of batches that take turns.

    Other programs that use the processor at the same time add to single
    batches, and more to those that take longer.
    """
    seconds: dict[Any, list[float]] = {ours: [], theirs: []}
    for _ in range(_BATCHES):
        for work, batches in seconds.items():
            begin = clock()
            for _ in range(_CALLS):
                await work()
            batches.append(clock() - begin)
    first, second = (statistics.quantiles(batches[1:], n=10)[0] for batches in seconds.values())
    return first / second


@asynccontextmanager
async def in_process(callback: Any) -> AsyncIterator[Any]:
    """Connect to the server in this process."""
    from tests.servers.asker import build_for_mcp_2

    client_type: Any = mcp.Client  # type: ignore[attr-defined, unused-ignore]
    async with client_type(build_for_mcp_2(), mode="legacy", elicitation_callback=callback) as client:
        yield _InProcess(client)


class _InProcess:
    def __init__(self, client: Any) -> None:
        self._client = client

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool."""
        return {"isError": (await self._client.call_tool(name, arguments)).is_error}


@asynccontextmanager
async def over_stdio(callback: Any) -> AsyncIterator[Any]:
    """Start the server and connect to it over its standard input and output."""
    with tempfile.TemporaryFile("w+") as errlog:
        command = Command(ASKER, errlog, {"PYTHONPATH": str(ROOT)})
        async with plain(command, callback, mode="legacy") as connection:
            yield connection


async def measure_calls() -> dict[str, float]:
    """Return the quotient of each transport."""
    found = {
        "in process": await _median(lambda: of_call(in_process, time.process_time)),
        "stdio": await _median(lambda: of_call(over_stdio)),
    }
    with http_server() as url:
        found["HTTP"] = await _median(lambda: of_call(lambda callback: plain(url, callback, mode="legacy")))
    return found


async def of_caller(target: Any, arguments: dict[str, Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the time of a call with a `Caller`, as a multiple of that with the SDK and a trivial callback."""
    client_type: Any = mcp.Client  # type: ignore[attr-defined, unused-ignore]
    caller = Caller(registry(), "benchmark")
    first, second = target(), target()
    async with (
        caller.connect(first, mode="legacy") as ours,
        client_type(second, mode="legacy", elicitation_callback=trivial) as theirs,
    ):
        return await _compare(
            lambda: caller.call_tool(ours, "ask", arguments), lambda: theirs.call_tool("ask", arguments), clock
        )


async def measure_caller(arguments: dict[str, Any]) -> dict[str, float]:
    """Return the quotient of each transport, for a call with a `Caller`."""
    from tests.servers.asker import build_for_mcp_2

    found = {"in process": await _median(lambda: of_caller(build_for_mcp_2, arguments, time.process_time))}
    with tempfile.TemporaryFile("w+") as errlog:
        command = Command(ASKER, errlog, {"PYTHONPATH": str(ROOT)})
        found["stdio"] = await _median(lambda: of_caller(lambda: _stdio(command), arguments))
    with http_server() as url:
        found["HTTP"] = await _median(lambda: of_caller(lambda: url, arguments))
    return found


def report(what: str, found: Mapping[str, float], bars: Mapping[str, float]) -> bool:
    """Print the quotients; return True if none is above its bar."""
    for transport, times in found.items():
        print(f"{what}, {transport}: {times:.2f} (at most {bars[transport]})")
    return all(times <= bars[transport] for transport, times in found.items())


def main() -> int:
    """Print the figures; fail if one is above its bar."""
    callback = anyio.run(of_callback)
    print(f"the callback: {callback:.3f} of jsonschema.validate (at most {CALLBACK_BAR})")
    kept = [
        callback <= CALLBACK_BAR,
        report("a callback with one request, of a trivial one", anyio.run(measure_calls), BARS),
        report("a Caller with one request, of the SDK", anyio.run(measure_caller, {"params": PARAMS}), CALLER_BARS),
        report("a Caller without a request, of the SDK", anyio.run(measure_caller, {}), PLAIN_BARS),
    ]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
