"""Inboxes for tests: real stores that share their contents as those of several processes do, and pending requests."""

from __future__ import annotations

import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from mcp_elicit_client import Answer, parse_request
from mcp_elicit_client.inbox import Entry, Inbox, InboxHandler, MemoryStore, RedisStore, SqliteStore
from tests.support import form_params, free_port, read_line, skip_or_fail

FORM = form_params(
    {"properties": {"a": {"type": "string", "title": "Color"}, "n": {"type": "integer"}}, "required": ["a"]},
    "What color?",
)
URL = {"mode": "url", "message": "m", "url": "https://a.example/", "elicitationId": "e"}
SECRET = "heliotrope-4711"
KEY = b"k" * 32


class Clock:
    """The time, and more."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


class RedisServer:
    """A real Redis on a free port that can be stopped and started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.options = options
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self.folder = folder
        self.start()

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--save", "", "--dir", str(self.folder), *self.options]
        try:
            self.process = subprocess.Popen([*command, "--bind", "127.0.0.1"], stdout=subprocess.PIPE, text=True)
        except FileNotFoundError:
            skip_or_fail("redis-server is not installed; see .ci/run")
        while "Ready to accept connections" not in read_line(self.process):
            assert self.process.poll() is None

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


class Stores:
    """Makes stores that share their contents, as those of two processes do."""

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
        """Return everything that is stored, as text."""
        if self.kind == "memory":
            return repr((self.made[0]._requests, self.made[0]._calls))
        if self.kind == "sqlite":
            files = self.path.parent.glob("inbox.db*")
            return "".join(file.read_bytes().decode("latin-1") for file in files)
        from redis.asyncio import Redis

        async with Redis.from_url(self.redis().url, decode_responses=True) as client:
            every: Any = client
            prefix = f"{{{self.path}}}"
            keys = [key async for key in client.scan_iter(f"*{self.path}*")]
            kinds = {key: key.removeprefix(f"{prefix}:").partition(":")[0] for key in keys}
            hashes = [await every.hgetall(key) for key in keys if kinds[key] in ("request", "call")]
            return repr((keys, hashes, [await every.get(key) for key in keys if kinds[key] == "body"]))


@asynccontextmanager
async def open_stores(kind: str, folder: Path, clock: Clock, redis: Callable[[], RedisServer]) -> AsyncIterator[Stores]:
    """Make `Stores`, and close them at the end."""
    stores = Stores(kind, folder, clock, redis)
    if kind == "redis":
        redis()  # started, or the test is skipped
    yield stores
    for store in stores.made:
        await store.aclose()


def same(first: Any, second: Any) -> bool:
    """Return True if two requests have the same JSON form."""
    return bool(first.model_dump() == second.model_dump())


async def until(condition: Callable[[], Awaitable[Any]]) -> Any:
    """Return the first true result of a condition."""
    with anyio.fail_after(60):
        while True:
            found = await condition()
            if found:
                return found
            await anyio.sleep(0.005)


def request(params: Any = FORM, **details: Any) -> Any:
    """Read a request of the server "mail"."""
    return parse_request(params, server="mail", **details)


async def pending(inbox: Inbox, owner: str = "ann", count: int = 1) -> tuple[Entry, ...]:
    """Wait until *count* requests are pending, and return them."""

    async def enough() -> tuple[Entry, ...]:
        entries = (await inbox.list(owner)).entries
        return entries if len(entries) >= count else ()

    found: tuple[Entry, ...] = await until(enough)
    return found


class Waiting:
    """A task that waits for an answer."""

    answer: Answer

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.finished = anyio.Event()

    async def result(self) -> Answer:
        with anyio.fail_after(60):
            await self.finished.wait()
        return self.answer


@asynccontextmanager
async def asking(inbox: Inbox, params: Any = None, owner: str | None = "ann") -> AsyncIterator[Waiting]:
    """Let a handler wait for an answer in the background."""
    waiting = Waiting()
    handler = InboxHandler(inbox, owner)

    async def ask() -> None:
        with waiting.scope:
            waiting.answer = await handler(request() if params is None else params)
        waiting.finished.set()

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        yield waiting
        group.cancel_scope.cancel()
