"""Inboxes for tests: real stores that share their contents as those of several processes do, and pending requests."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio

from mcp_elicit_client import Answer, parse_request
from mcp_elicit_client.calls.active_call import CallHistory
from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.calls.suspending import CallSnapshot
from mcp_elicit_client.inbox import Entry, Inbox, InboxHandler, MemoryStore
from mcp_elicit_client.inbox.inbox import list_all
from tests.servers.stores import store_at
from tests.support import form_params, free_port, read_line, skip_or_fail, until

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


class PostgresServer:
    """A real PostgreSQL on a free port that can be killed and started again.  It does not run as root."""

    def __init__(self) -> None:
        self._programs = postgres_programs()
        self._user = unprivileged_user()
        self._folder = tempfile.TemporaryDirectory(prefix="mcp-elicit-postgres-")
        if self._user:
            os.chown(self._folder.name, self._user["user"], self._user["group"])
        self.port = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        create = ["initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N", "--no-locale"]
        subprocess.run(self._command(*create), check=True, stdout=subprocess.DEVNULL, **self._user)
        self.start()

    @property
    def _data(self) -> str:
        return str(Path(self._folder.name, "data"))

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [str(self._programs / program), *arguments]

    def start(self) -> None:
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        command = self._command("postgres", "-D", self._data, "-p", str(self.port), *options)
        log = Path(self._folder.name, "log")
        with log.open("ab") as file:
            self._process = subprocess.Popen(command, stderr=file, **self._user)
        is_ready = self._command("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port))
        while subprocess.run(is_ready, check=False).returncode:
            assert self._process.poll() is None, log.read_text()

    def stop(self) -> None:
        """End all processes of the server at once, as a crash does: the next start recovers."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def close(self) -> None:
        self.stop()
        self._folder.cleanup()


def postgres_programs() -> Path:
    """Return the folder with the programs of PostgreSQL, which Debian does not add to the path."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders:
        skip_or_fail("postgresql is not installed; see .ci/run")
    return folders[-1]


def unprivileged_user() -> dict[str, Any]:
    """Return the options with which a process of root becomes another user: PostgreSQL refuses to run as root."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return {}
    import pwd

    names = {each.pw_name for each in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def stopped(server: RedisServer | PostgresServer) -> Iterator[None]:
    """Kill a server, and start it again at the end."""
    server.stop()
    try:
        yield
    finally:
        server.start()


class Servers:
    """The servers of the session, which are started when a test needs them."""

    def __init__(self, get: Callable[[str], Any]) -> None:
        self._get = get

    @property
    def redis(self) -> RedisServer:
        server: RedisServer = self._get("redis_server")
        return server

    @property
    def postgres(self) -> PostgresServer:
        server: PostgresServer = self._get("postgres_server")
        return server


class Stores:
    """Makes stores that share their contents, as those of two processes do."""

    def __init__(self, kind: str, folder: Path, clock: Clock, servers: Servers) -> None:
        self.kind = kind
        self.path = folder / "inbox.db"
        self.clock = clock
        self.servers = servers
        self.made: list[Any] = []
        if kind == "redis":
            _ = servers.redis  # started, or the test is skipped
        if kind == "postgres":
            _ = servers.postgres

    def __call__(self, **options: Any) -> Any:
        options = {"clock": self.clock, **options}
        store: Any
        if self.kind == "memory":
            store = self.made[0] if self.made else MemoryStore(**options)
        else:
            store = store_at(self.address, **options)
        self.made.append(store)
        return store

    @property
    def address(self) -> str:
        """Where stores of other processes find the same contents, for `store_at`."""
        match self.kind:
            case "sqlite":
                return str(self.path)
            case "postgres":
                return f"{self.servers.postgres.url}#{self.schema}"
            case _:
                return f"{self.servers.redis.url}#{{{self.path}}}"

    @property
    def schema(self) -> str:
        """The schema of this test in PostgreSQL; its name needs quotes."""
        return f'Test "{hashlib.sha256(str(self.path).encode()).hexdigest()[:16]}"'

    async def content(self) -> str:
        """Return everything that is stored, as text."""
        if self.kind == "memory":
            return repr((self.made[0]._requests, self.made[0]._calls))
        if self.kind == "sqlite":
            files = self.path.parent.glob("inbox.db*")
            return "".join(file.read_bytes().decode("latin-1") for file in files)
        if self.kind == "postgres":
            return repr([self.query(f"SELECT * FROM {table}") for table in ("requests", "leases", "calls", "drafts")])
        from redis.asyncio import Redis

        async with Redis.from_url(self.servers.redis.url, decode_responses=True) as client:
            every: Any = client
            prefix = f"{{{self.path}}}"
            keys = [key async for key in client.scan_iter(f"*{self.path}*")]
            kinds = {key: key.removeprefix(f"{prefix}:").partition(":")[0] for key in keys}
            hashes = [await every.hgetall(key) for key in keys if kinds[key] in ("request", "call")]
            bodies = [await every.get(key) for key in keys if kinds[key] == "body"]
            return repr((keys, hashes, bodies, await every.zrange(f"{prefix}:leases", 0, -1)))

    def query(self, statement: str) -> list[Any]:
        """Execute a statement in the schema in PostgreSQL, and return the rows."""
        import psycopg
        from psycopg import sql

        with psycopg.connect(self.servers.postgres.url, autocommit=True) as connection:
            connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(self.schema)))
            cursor: Any = connection.execute(statement.encode())
            return list(cursor.fetchall()) if cursor.description else []


@asynccontextmanager
async def open_stores(kind: str, folder: Path, clock: Clock, get: Callable[[str], Any]) -> AsyncIterator[Stores]:
    """Make `Stores` that use the servers of the session, which *get* returns, and close them at the end."""
    stores = Stores(kind, folder, clock, Servers(get))
    yield stores
    for store in stores.made:
        await store.aclose()


def same(first: Any, second: Any) -> bool:
    """Return True if two requests have the same JSON form."""
    return bool(first.model_dump() == second.model_dump())


def request(params: Any = FORM, **details: Any) -> Any:
    """Read a request of the server "mail"."""
    return parse_request(params, server="mail", **details)


def call_snapshot(**changes: Any) -> CallSnapshot:
    """Return what is stored of a suspended call without requests, with *changes*."""
    stored: dict[str, Any] = {"server": "mail", "call_spec": CallSpec("tool", "form"), "state": "s"}
    nothing: dict[str, Any] = {"history": CallHistory(), "requests": {}, "answers": {}, "host_requests": {}}
    return CallSnapshot(**{**stored, **nothing, **changes})


async def pending(inbox: Inbox, owner: str = "ann", count: int = 1) -> tuple[Entry, ...]:
    """Wait until *count* requests are pending, and return them."""

    async def enough() -> tuple[Entry, ...]:
        entries = tuple(await list_all(inbox, owner))
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
async def asking(
    inbox: Inbox,
    params: Any = None,
    owner: str | None = "ann",
    on_pending: Callable[[str, str], Awaitable[object]] | None = None,
) -> AsyncIterator[Waiting]:
    """Let a handler wait for an answer in the background."""
    waiting = Waiting()
    handler = InboxHandler(inbox, owner, on_pending)

    async def ask() -> None:
        with waiting.scope:
            waiting.answer = await handler(request() if params is None else params)
        waiting.finished.set()

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        yield waiting
        group.cancel_scope.cancel()


@asynccontextmanager
async def waiting_for_answer(inbox: Inbox) -> AsyncIterator[Waiting]:
    """As `asking`, once the handler knows that its request is stored.  Others can list the request before."""
    stored = anyio.Event()

    async def note(_owner: str, _entry_id: str) -> None:
        stored.set()

    async with asking(inbox, on_pending=note) as waiting:
        with anyio.fail_after(60):
            await stored.wait()
        yield waiting
