"""The program of docs/users-and-workers.md: FastAPI with two workers, Redis, and two users."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.support import ROOT, free_port, skip_or_fail, until
from tests.support.inboxes import RedisServer
from tests.support.pages import FollowedPage

ANN = {"authorization": "Bearer token-of-ann"}
BOB = {"authorization": "Bearer token-of-bob"}
BOOKING = {"name": "Ann", "guests": 2, "days": ["sat"]}

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[str]:
    """Serve the program on a free port, and yield its URL."""
    if importlib.util.find_spec("fastapi") is None:
        skip_or_fail("fastapi is not installed; see the dependency group test")
    redis = RedisServer(tmp_path)
    port = free_port()
    page = FollowedPage("users-and-workers.md", tmp_path)
    page.save()
    try:
        with page.running("python many_users.py", REDIS_URL=redis.url, PORT=str(port)):
            yield f"http://127.0.0.1:{port}"
    finally:
        redis.stop()


@asynccontextmanager
async def connections(url: str) -> AsyncIterator[list[list[httpx.AsyncClient]]]:
    """Open two connections to each of the two workers: an open request occupies its connection."""
    by_worker: dict[int, list[httpx.AsyncClient]] = {}
    async with AsyncExitStack() as stack:
        with anyio.fail_after(60):
            while sum(len(clients) >= 2 for clients in by_worker.values()) < 2:
                limits = httpx.Limits(max_connections=1, keepalive_expiry=None)
                client = httpx.AsyncClient(base_url=url, limits=limits, timeout=60, trust_env=False)
                stack.push_async_callback(client.aclose)
                worker = await until(partial(_worker, client))
                clients = by_worker.setdefault(worker, [])
                if len(clients) < 2:
                    clients.append(client)
                else:
                    await client.aclose()
        yield list(by_worker.values())


async def _worker(client: httpx.AsyncClient) -> int | None:
    try:
        return int((await client.get("/worker")).text)
    except httpx.ConnectError:  # it is still starting
        return None


async def pending(client: httpx.AsyncClient, user: dict[str, str]) -> dict[str, Any]:
    """Wait for the only pending request of *user*."""

    async def listed() -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = (
            (await client.get("/requests/", headers=user)).raise_for_status().json()["entries"]
        )
        return entries

    (entry,) = await until(listed)
    return dict(entry)


async def test_two_users_book_with_two_workers_and_see_only_their_own_requests(backend: str) -> None:
    booked: dict[str, Any] = {}

    async def book(client: httpx.AsyncClient, user: dict[str, str]) -> None:
        answer = (await client.post("/bookings", headers=user)).raise_for_status().json()
        booked[answer["user"]] = json.loads(answer["result"])

    async with connections(backend) as ((first, first_too, *_), (second, second_too, *_)):
        async with anyio.create_task_group() as group:
            # Each booking is answered through the other worker.
            group.start_soon(book, first, ANN)
            group.start_soon(book, second, BOB)
            anns, bobs = await pending(second_too, ANN), await pending(first_too, BOB)
            assert (anns["owner"], bobs["owner"]) == ("ann", "bob")
            assert (await first_too.get(f"/requests/{bobs['id']}", headers=ANN)).status_code == 404
            stolen = await first_too.post(f"/requests/{bobs['id']}", headers=ANN, json={"action": "decline"})
            assert stolen.status_code == 404
            answer = {"action": "accept", "content": BOOKING}
            assert (await second_too.post(f"/requests/{anns['id']}", headers=ANN, json=answer)).status_code == 200
            declined = await first_too.post(f"/requests/{bobs['id']}", headers=BOB, json={"action": "decline"})
            assert declined.status_code == 200
        stranger = await first.get("/requests/")
        unsigned = await first.post("/bookings")

    assert booked["ann"] == {"action": "accept", "content": BOOKING}
    assert booked["bob"]["action"] == "decline"
    assert (stranger.status_code, unsigned.status_code) == (401, 401)


async def test_a_server_that_a_user_blocked_does_not_ask_through_another_worker(backend: str) -> None:
    booked: list[Any] = []

    async with connections(backend) as ((first, *_), (second, *_)):
        async with anyio.create_task_group() as group:

            async def book() -> None:
                booked.append((await first.post("/bookings", headers=ANN)).raise_for_status().json())

            group.start_soon(book)
            entry = await pending(second, ANN)
            answer = {"action": "decline", "block_server": True}
            await second.post(f"/requests/{entry['id']}", headers=ANN, json=answer)
        with anyio.fail_after(30):
            booked.append((await second.post("/bookings", headers=ANN)).raise_for_status().json())

    assert [json.loads(each["result"])["action"] for each in booked] == ["decline", "cancel"]


async def test_the_commands_of_the_page_list_and_answer_the_requests_of_one_user(backend: str) -> None:
    commands = [each for each in FollowedPage("users-and-workers.md", Path()).commands if each.startswith("curl")]
    book, list_bobs, list_anns, answer = [each.replace("http://127.0.0.1:8000", backend) for each in commands]
    async with connections(backend) as ((first, *_), _), anyio.create_task_group() as group:
        booked: list[str] = []

        async def run_the_first_command() -> None:
            booked.append(await output_of(book))

        group.start_soon(run_the_first_command)
        entry = await pending(first, ANN)
        bobs, anns = json.loads(await output_of(list_bobs)), json.loads(await output_of(list_anns))
        stolen = await output_of(answer.replace("ID", entry["id"]).replace("token-of-ann", "token-of-bob"))
        await output_of(answer.replace("requests/ID", f"requests/{entry['id']}"))

    assert bobs["entries"] == []
    assert [each["id"] for each in anns["entries"]] == [entry["id"]]
    assert "error" in json.loads(stolen)
    assert json.loads(json.loads(booked[0])["result"]) == {"action": "accept", "content": BOOKING}


async def output_of(command: str) -> str:
    """Run *command* in a shell, and return what it prints."""
    done = await anyio.run_process(["sh", "-c", command], env={**os.environ, "no_proxy": "*"})
    return done.stdout.decode()


def test_the_page_shows_the_program_as_it_is() -> None:
    program = (ROOT / "examples" / "many_users.py").read_text(encoding="utf-8").split('"""\n\n', 1)[1]

    assert program in (ROOT / "docs" / "users-and-workers.md").read_text(encoding="utf-8")
