"""Stores for the tests: real ones, that share what they hold as those of several processes do."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from mcp_elicit_client.inbox import MemoryStore, RedisStore, SqliteStore
from tests.support import skip_or_fail


class Clock:
    """The time, and some more."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


class RedisServer:
    """A real Redis on a port of its own, which can be stopped and started."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.options = options
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self.folder = folder
        self.start()

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--save", "", "--dir", str(self.folder), *self.options]
        try:
            self.process = subprocess.Popen([*command, "--bind", "127.0.0.1"], stdout=subprocess.PIPE, text=True)
        except FileNotFoundError:
            skip_or_fail("redis-server is not installed; see .ci/run")
        assert self.process.stdout is not None
        while "Ready to accept connections" not in self.process.stdout.readline():
            assert self.process.poll() is None

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


class Stores:
    """Makes stores that share what they hold, as those of two processes do."""

    def __init__(self, kind: str, folder: Path, clock: Clock, redis: Callable[[], RedisServer]) -> None:
        self.kind = kind
        self.path = folder / "inbox.db"
        self.clock = clock
        self.redis = redis
        self.made: list[Any] = []

    def __call__(self, **options: Any) -> Any:
        options = {"clock": self.clock, **options}
        match self.kind:
            case "memory":
                store: Any = self.made[0] if self.made else MemoryStore(**options)
            case "sqlite":
                store = SqliteStore(self.path, **options)
            case _:
                store = RedisStore(self.redis().url, prefix=f"{{{self.path}}}", **options)
        self.made.append(store)
        return store

    async def content(self) -> str:
        """All that is stored, as text."""
        if self.kind == "memory":
            return repr((self.made[0]._records, self.made[0]._calls))
        if self.kind == "sqlite":
            files = self.path.parent.glob("inbox.db*")
            return "".join(file.read_bytes().decode("latin-1") for file in files)
        from redis.asyncio import Redis

        async with Redis.from_url(self.redis().url, decode_responses=True) as client:
            keys = [key async for key in client.scan_iter(f"*{self.path}*")]
            every: Any = client
            hashes = [
                await every.hgetall(key) for key in keys if ":entry:" in key or ":call:" in key.partition("}")[2][:6]
            ]
            return repr((keys, hashes, [await every.get(key) for key in keys if ":body:" in key]))


async def until(condition: Callable[[], Awaitable[Any]]) -> Any:
    """Return the first true result of a condition."""
    with anyio.fail_after(20):
        while True:
            found = await condition()
            if found:
                return found
            await anyio.sleep(0.005)
