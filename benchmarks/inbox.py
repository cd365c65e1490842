"""
The cost of an inbox: memory, listing, and the delivery of an answer to another process.

``python -m benchmarks.inbox`` measures the memory of each pending request in a
`MemoryStore` beyond the request itself, the time for a page of 50 among 100
and 10 000 entries, and the time until an answer reaches the process that asked
over Redis, if it is installed.  The latter is a ratio to a bare round trip
(PUBLISH to a subscriber that publishes back), interleaved in one run.
"""

from __future__ import annotations

import asyncio
import gc
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

from mcp_elicit_client import parse_request
from mcp_elicit_client.inbox import Entry, Inbox, InboxHandler, MemoryStore, RedisStore

PARAMS = {
    "message": "Where shall we send the parcel?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "street": {"type": "string", "title": "Street", "minLength": 2},
            "city": {"type": "string", "title": "City"},
            "express": {"type": "boolean", "title": "By express?", "default": False},
        },
        "required": ["street", "city"],
    },
}
ANSWER = {"street": "Bundesplatz 3", "city": "Bern", "express": False}
WAITING = 10_000
ROUNDS = 1_000


async def wait_for(inbox: Inbox, count: int) -> list[asyncio.Task[Any]]:
    """Let *count* questions of one owner wait."""
    handler = InboxHandler(inbox, "ann")
    requests = [parse_request(PARAMS, server="parcels") for _ in range(count)]
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tasks = [asyncio.ensure_future(handler(request)) for request in requests]
    await asyncio.sleep(1)
    gc.collect()
    if tracemalloc.is_tracing():
        each = (tracemalloc.get_traced_memory()[0] - before) / count
        print(f"memory of one that waits, beyond its request  {each:6.0f} B (bar 4096), of {count}")
    return tasks


async def list_them(inbox: Inbox) -> float:
    took = []
    for _ in range(200):
        started = time.perf_counter()
        page = await inbox.list("ann", limit=50)
        took.append(time.perf_counter() - started)
        assert len(page.entries) == 50
    return statistics.median(took) * 1e6


async def leave(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def measure_memory() -> None:
    tracemalloc.start()
    tasks = await wait_for(Inbox(MemoryStore()), WAITING)
    tracemalloc.stop()
    await leave(tasks)
    took = {}
    for count in (100, WAITING):
        inbox = Inbox(MemoryStore())
        tasks = await wait_for(inbox, count)
        took[count] = await list_them(inbox)
        await leave(tasks)
    print(f"a page of 50 among 100                        {took[100]:6.0f} us")
    print(f"a page of 50 among {WAITING}                      {took[WAITING]:6.0f} us, {took[WAITING] / took[100]:.2f}")


@contextmanager
def redis() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = ["redis-server", "--port", str(port), "--save", "", "--dir", folder, "--bind", "127.0.0.1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            while "Ready to accept connections" not in process.stdout.readline():
                assert process.poll() is None
            yield f"redis://127.0.0.1:{port}"
            process.kill()


async def ask(url: str) -> None:
    """The process that asks: it prints when each answer, or bare message, has arrived."""
    from redis.asyncio import Redis

    store = RedisStore(url)
    handler = InboxHandler(Inbox(store), "ann")
    client: Any = Redis.from_url(url, decode_responses=True)
    channel = client.pubsub(ignore_subscribe_messages=True)
    await channel.subscribe("bare")

    async def hear() -> None:
        while True:
            if await channel.get_message(timeout=1) is not None:
                print("bare", time.monotonic(), flush=True)
                await client.publish("back", "x")

    async def answered() -> None:
        for _ in range(ROUNDS):
            answer: Any = await handler(parse_request(PARAMS, server="parcels"))
            print("answer", time.monotonic(), flush=True)
            assert answer.content == ANSWER

    hearing = asyncio.ensure_future(hear())
    await answered()
    hearing.cancel()
    await asyncio.gather(hearing, return_exceptions=True)
    await channel.aclose()
    await client.aclose()
    await store.aclose()


async def first(inbox: Inbox) -> Entry:
    async with aclosing(inbox.watch("ann")) as entries:
        return await anext(entry async for entry in entries if entry.state == "pending")


async def measure_hand_off() -> None:
    from redis.asyncio import Redis

    with redis() as url:
        command = [sys.executable, "-m", "benchmarks.inbox", url]
        process = await asyncio.create_subprocess_exec(
            *command, stdout=subprocess.PIPE, cwd=Path(__file__).parent.parent
        )
        assert process.stdout is not None
        store = RedisStore(url)
        inbox = Inbox(store)
        client: Any = Redis.from_url(url)
        back = client.pubsub(ignore_subscribe_messages=True)
        await back.subscribe("back")
        took: dict[str, list[float]] = {"one way": [], "round": [], "claim": [], "answer": []}
        settle = store.resolve
        claimed = 0.0

        async def timed(*about: Any) -> Any:
            nonlocal claimed
            claimed = time.monotonic()
            return await settle(*about)

        store.resolve = timed  # type: ignore[assignment, method-assign]

        async def hears(what: str, act: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
            started = time.monotonic()
            await act()
            assert process.stdout is not None
            kind, moment = (await process.stdout.readline()).split()
            assert kind.decode() == what
            return started, float(moment)

        for _ in range(ROUNDS):
            entry = await first(inbox)
            started, heard = await hears("bare", lambda: client.publish("bare", "x"))
            took["one way"].append(heard - started)
            while await back.get_message(timeout=1) is None:
                pass
            took["round"].append(time.monotonic() - started)
            started, heard = await hears("answer", lambda: inbox.answer("ann", entry.id, "accept", ANSWER))  # noqa: B023 -- awaited at once
            took["answer"].append(heard - started)
            took["claim"].append(heard - claimed)
        await process.wait()
        await back.aclose()
        await client.aclose()
        await store.aclose()
    middle = {what: statistics.median(times) * 1e3 for what, times in took.items()}
    print(
        f"Redis, bare: a PUBLISH, one way               {middle['one way']:6.2f} ms;"
        f" and one back {middle['round']:.2f} ms"
    )
    for what, name in (("claim", "from the claim"), ("answer", "from Inbox.answer")):
        late = statistics.quantiles(took[what], n=100)[98] * 1e3
        ratios = [middle[what] / middle[bare] for bare in ("one way", "round")]
        print(
            f"until the handler has it, {name:19} {middle[what]:6.2f} ms, p99 {late:.2f} ms;"
            f" {ratios[0]:.2f} of one way, {ratios[1]:.2f} of a round (bar 1.5)"
        )


def main() -> None:
    if len(sys.argv) > 1:
        asyncio.run(ask(sys.argv[1]))
        return
    asyncio.run(measure_memory())
    if shutil.which("redis-server"):
        asyncio.run(measure_hand_off())


if __name__ == "__main__":
    main()
