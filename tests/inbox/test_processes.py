"""Processes that share a store."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import anyio
import anyio.to_thread
import pytest

from mcp_elicit_client.inbox import Entry, EntryClosedError, EntryNotFoundError, Inbox, InboxError
from tests.support import LONG, ROOT, until
from tests.support.inboxes import SECRET, Clock, Stores, asking, pending, stopped

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "backend", [("asyncio", "sqlite"), ("trio", "sqlite"), ("asyncio", "redis"), ("asyncio", "postgres")], ids="-".join
)
async def test_a_request_is_orphaned_if_its_process_does_not_renew_the_lease(stores: Stores) -> None:
    inbox, later = Inbox(stores()), Clock()
    other = Inbox(stores(clock=later))
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        later.ahead = 29
        assert (await other.get("ann", entry.id)).state == "pending"
        later.ahead = 31
        assert (await other.get("ann", entry.id)).state == "orphaned"
        assert not (await other.list("ann")).entries
        with pytest.raises(EntryClosedError, match="orphaned"):
            await other.answer("ann", entry.id, "accept", {"a": "x"})
        answer = await asked.result()

    assert (answer.action, answer.by) == ("cancel", "error")
    assert (await inbox.get("ann", entry.id)).answered_by == "heartbeat"


@contextmanager
def unusable(stores: Stores) -> Iterator[None]:
    """Let no process write to the store for a while."""
    if stores.kind == "sqlite":
        with closing(sqlite3.connect(stores.path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield
        return
    with stopped(stores.servers.redis if stores.kind == "redis" else stores.servers.postgres):
        yield


@pytest.mark.parametrize(
    "backend", [("asyncio", "sqlite"), ("trio", "sqlite"), ("asyncio", "redis"), ("asyncio", "postgres")], ids="-".join
)
async def test_after_an_outage_of_the_store_processes_have_the_time_of_a_lease_to_renew_theirs(stores: Stores) -> None:
    inbox, later = Inbox(stores()), Clock()
    other = Inbox(stores(clock=later))

    async def state(entry: Entry) -> str:
        with suppress(InboxError, EntryNotFoundError):  # until the server is connected, and has the request
            return (await other.get("ann", entry.id)).state
        return ""

    async with asking(inbox) as asked:
        (first,) = await pending(inbox)
        async with asking(inbox):
            _, second = await pending(inbox, count=2)
            later.ahead = 31  # as after an outage of 31 seconds, in which no process could renew its lease
            with unusable(stores), pytest.raises(InboxError):
                await other.list("ann")
            assert await until(lambda: state(first)) == await until(lambda: state(second)) == "pending"
            await other.answer("ann", first.id, "accept", {"a": "x"})
            answer = await asked.result()
            later.ahead = 70
            assert await state(second) == "orphaned"

    assert answer.content == {"a": "x"}


@pytest.mark.parametrize("backend", [("asyncio", "sqlite"), ("trio", "sqlite"), ("asyncio", "postgres")], ids="-".join)
async def test_a_process_keeps_its_requests_after_the_computer_slept(stores: Stores, clock: Clock) -> None:
    inbox = Inbox(stores())
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        clock.ahead = 60  # longer than a lease
        assert [each.id for each in (await inbox.list("ann")).entries] == [entry.id]
        await inbox.answer("ann", entry.id, "accept", {"a": "x"})
        answer = await asked.result()

    assert answer.content == {"a": "x"}


@pytest.mark.parametrize("backend", [("asyncio", "sqlite"), ("asyncio", "postgres")], ids="-".join)
async def test_a_process_that_only_waits_renews_its_lease_after_the_computer_slept(
    stores: Stores, clock: Clock
) -> None:
    inbox, other = Inbox(stores(lease_ttl=600), answer_timeout=3600), stores(lease_ttl=600)

    async def is_renewed() -> bool:
        with other._database.reading() as session:
            leases = session.connection.execute("SELECT expires_at FROM leases").fetchall()
        return [each["expires_at"] > clock() for each in leases] == [True]

    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        for clock.ahead in (1200, 2400):  # The first renewal comes soon in any case.
            await until(is_renewed)
        await Inbox(other).answer("ann", entry.id, "accept", {"a": "x"})
        answer = await asked.result()

    assert answer.content == {"a": "x"}


ASK = """
import sys, anyio, json
from mcp_elicit_client import parse_request
from mcp_elicit_client.inbox import Inbox, InboxHandler
from tests.servers.stores import store_at
store = store_at(sys.argv[1], lease_ttl=float(sys.argv[2]))
params = {"message": "m", "requestedSchema": {"properties": {"a": {"type": "string"}}}}
async def main():
    answer = await InboxHandler(Inbox(store), "ann")(parse_request(params, server="mail"))
    print(json.dumps([answer.action, answer.content, answer.by]))
    await store.aclose()
anyio.run(main)
"""


def asking_process(stores: Stores, lease_ttl: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ASK, stores.address, str(lease_ttl)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


IN_TWO_PROCESSES = pytest.mark.parametrize(
    "backend", [("asyncio", "sqlite"), ("asyncio", "redis"), ("asyncio", "postgres")], ids="-".join
)


@IN_TWO_PROCESSES
async def test_a_request_of_one_process_is_answered_in_another(stores: Stores) -> None:
    inbox = Inbox(stores())
    with asking_process(stores, 30) as process:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, "accept", {"a": SECRET})
        output, _ = await anyio.to_thread.run_sync(process.communicate)

    assert json.loads(output) == ["accept", {"a": SECRET}, "user"]
    assert SECRET not in await stores.content()


@IN_TWO_PROCESSES
async def test_requests_of_a_killed_process_are_orphaned_and_those_of_a_living_one_stay(stores: Stores) -> None:
    inbox = Inbox(stores(lease_ttl=1))
    with asking_process(stores, 1) as killed, asking_process(stores, 1) as living:
        try:
            entries = await pending(inbox, count=2)
            killed.kill()

            async def orphaned() -> tuple[Entry, ...]:
                return (await inbox.history("ann")).entries

            (gone,) = await until(orphaned)
            (left,) = (await inbox.list("ann")).entries
            assert {gone.id, left.id} == {entry.id for entry in entries}
            assert (gone.state, gone.answered_by) == ("orphaned", "heartbeat")
            with pytest.raises(EntryClosedError):
                await inbox.answer("ann", gone.id, "decline")
            await inbox.answer("ann", left.id, "decline")
            output, _ = await anyio.to_thread.run_sync(living.communicate)
        finally:
            killed.kill()
            living.kill()

    assert json.loads(output)[0] == "decline"


ASK_MANY = """
import sys, anyio, json
from mcp_elicit_client import parse_request
from mcp_elicit_client.inbox import Inbox, InboxHandler
from tests.servers.stores import store_at
address, count, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
store = store_at(address, **options)
params = {"message": "m", "requestedSchema": {"properties": {"a": {"type": "string"}}}}
answers = []
async def ask(handler, number):
    answer = await handler(parse_request({**params, "message": str(number)}, server="mail"))
    answers.append([str(number), (answer.content or {}).get("a"), answer.action])
async def main():
    handler = InboxHandler(Inbox(store), "ann")
    async with anyio.create_task_group() as group:
        for number in range(int(count)):
            group.start_soon(ask, handler, number)
    await store.aclose()
    print(json.dumps(answers))
anyio.run(main)
"""


@IN_TWO_PROCESSES
async def test_of_many_requests_none_is_lost_and_none_answered_twice(stores: Stores) -> None:
    count = 1_000 if LONG else 150
    options = {"lock_timeout": 20} if stores.kind == "sqlite" else {}
    inbox = Inbox(stores(**options))
    command = [sys.executable, "-c", ASK_MANY, stores.address, str(count), json.dumps(options)]
    answered = 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        while answered < count:
            for entry in await pending(inbox):
                await inbox.answer("ann", entry.id, "accept", {"a": entry.request["message"]})
                answered += 1
        output, _ = await anyio.to_thread.run_sync(process.communicate)

    answers = json.loads(output)
    assert sorted(int(number) for number, _, _ in answers) == list(range(count))
    assert all(number == value and action == "accept" for number, value, action in answers)
