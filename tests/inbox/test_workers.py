"""Requests of one process that are answered over HTTP in another, with a real Redis or PostgreSQL between them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx
import pytest

from tests.support import LONG, ROOT, read_line, until
from tests.support.inboxes import PostgresServer, RedisServer, stopped

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]


@dataclass
class Shared:
    """What the processes share: a server, and the address of their store in it."""

    server: RedisServer | PostgresServer
    address: str


@pytest.fixture(params=["redis", "postgres"])
def backend(request: pytest.FixtureRequest) -> tuple[str, str]:
    return ("asyncio", request.param)


@pytest.fixture
def shared(backend: tuple[str, str], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shared]:
    if backend[1] == "postgres":
        postgres: PostgresServer = request.getfixturevalue("postgres_server")
        yield Shared(postgres, f"{postgres.url}#{tmp_path.name}")
    else:
        redis = RedisServer(tmp_path)
        yield Shared(redis, f"{redis.url}#{{work}}")
        redis.stop()


@contextmanager
def worker(part: str, shared: Shared, *more: Any) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.servers.worker", part, shared.address, *map(str, more)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@asynccontextmanager
async def front(shared: Shared) -> AsyncIterator[httpx.AsyncClient]:
    """Provide a client of a worker that serves the app."""
    with worker("serve", shared) as serving:
        assert serving.stdout is not None
        port = await anyio.to_thread.run_sync(serving.stdout.readline)
        limits = httpx.Limits(max_connections=20)
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{int(port)}", headers={"x-user": "ann"}, timeout=30, limits=limits
        ) as client:
            await until(lambda: _is_up(client))
            yield client


async def _is_up(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/")).status_code == 200
    except httpx.ConnectError:
        return False


async def entries(client: httpx.AsyncClient, path: str = "/") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await client.get(path)).raise_for_status().json()["entries"]
    return found


async def test_of_many_requests_over_http_none_is_lost_and_none_answered_twice(shared: Shared) -> None:
    count = 1_000 if LONG else 150
    statuses: list[int] = []

    async def answer(client: httpx.AsyncClient, entry: dict[str, Any]) -> None:
        # Each request is answered twice, as by a double click.
        for who in ("first", "second"):
            said = {"action": "accept", "content": {"a": f"{who} {entry['request']['message']}"}}
            statuses.append((await client.post(f"/{entry['id']}", json=said)).status_code)

    async with front(shared) as client:
        with worker("ask", shared, count) as asking, anyio.fail_after(120):
            while statuses.count(200) < count:
                page = await entries(client)
                async with anyio.create_task_group() as group:
                    for entry in page:
                        group.start_soon(answer, client, entry)
            output, _ = await anyio.to_thread.run_sync(asking.communicate)

    answers = json.loads(output.removeprefix("stored\n"))
    assert sorted(number for number, _, _ in answers) == list(range(count))
    assert all((said, action) == (f"first {number}", "accept") for number, said, action in answers)
    assert sorted(statuses) == [200] * count + [409] * count


async def test_the_pages_of_a_killed_worker_say_that_it_has_stopped(shared: Shared) -> None:
    told: list[str] = []

    async def follow(client: httpx.AsyncClient) -> None:
        async with client.stream("GET", "/events") as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data:"):
                    told.append(json.loads(line.removeprefix("data:"))["state"])  # noqa: PERF401 -- seen as it comes

    async with front(shared) as client:
        with worker("ask", shared, 1) as asking:
            (entry,) = await until(lambda: entries(client))
            async with anyio.create_task_group() as group:
                group.start_soon(follow, client)
                await until(lambda: _in(told, "pending"))
                asking.kill()
                await until(lambda: _in(told, "orphaned"))
                group.cancel_scope.cancel()
        with anyio.fail_after(60):
            page = await client.get(f"/{entry['id']}", headers={"accept": "text/html"})
            late = await client.post(f"/{entry['id']}", json={"action": "decline"})

    assert (page.status_code, "The program that sent this request has stopped." in page.text) == (200, True)
    assert (late.status_code, late.json()["state"]) == (409, "orphaned")


async def _in(told: list[str], state: str) -> bool:
    return state in told


async def test_pending_requests_survive_a_restart_of_the_server(shared: Shared) -> None:
    async with front(shared) as client:
        with worker("ask", shared, 3) as asking:
            assert await anyio.to_thread.run_sync(read_line, asking) == "stored\n"
            before = await until(lambda: _all(client, 3))
            with stopped(shared.server):
                assert (await client.get("/")).status_code == 503
            after = await until(lambda: _all(client, 3))
            for entry in after:
                said = {"action": "accept", "content": {"a": "still there"}}
                assert (await client.post(f"/{entry['id']}", json=said)).status_code == 200
            output, _ = await anyio.to_thread.run_sync(asking.communicate)

    assert {entry["id"] for entry in after} == {entry["id"] for entry in before}
    assert sorted(json.loads(output)) == [[number, "still there", "accept"] for number in range(3)]


async def _all(client: httpx.AsyncClient, count: int) -> list[dict[str, Any]] | None:
    reply = await client.get("/")
    found: list[dict[str, Any]] = reply.json().get("entries", [])
    return found if len(found) == count else None
