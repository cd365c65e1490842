"""`SqliteStore`: its file, its locks and forked processes."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from mcp_elicit_client import Answer
from mcp_elicit_client.core.request import with_deadline
from mcp_elicit_client.inbox import Inbox, InboxError, InboxHandler
from mcp_elicit_client.inbox.stores.models import Resolution, StoredRequest
from mcp_elicit_client.inbox.stores.sql_session import SqlSession
from mcp_elicit_client.inbox.stores.sql_worker import SqlWorker
from mcp_elicit_client.inbox.stores.sqlite_connection import SqliteConnection
from mcp_elicit_client.inbox.suspended_calls import calls_of
from tests.support import EVENT_LOOPS, forks, succeeds_in_fork, until
from tests.support.inboxes import FORM, SECRET, Stores, Waiting, asking, pending, request, waiting_for_answer

pytestmark = pytest.mark.anyio


@pytest.fixture
def sqlite(stores: Stores, backend: tuple[str, str]) -> Stores:
    assert backend[1] == "sqlite"
    return stores


ON_SQLITE = pytest.mark.parametrize("backend", [(loop, "sqlite") for loop in EVENT_LOOPS], ids="-".join)


async def refused(store: Any) -> Answer:
    answer: Any = await InboxHandler(Inbox(store), "ann")(request())
    with pytest.raises(InboxError, match=r"inbox\.db"):
        await Inbox(store).list("ann")
    assert isinstance(answer, Answer)
    assert (answer.action, answer.by) == ("cancel", "error")
    return answer


@ON_SQLITE
async def test_a_file_that_is_not_a_database_is_a_cancel_by_error(sqlite: Stores) -> None:
    sqlite.path.write_bytes(b"not a database" * 100)
    sqlite.path.chmod(0o600)
    assert "not a database. Restore the file, or move it to another place." in (await refused(sqlite())).reason


@ON_SQLITE
async def test_a_file_with_a_damaged_name_of_an_index_is_a_cancel_by_error(sqlite: Stores) -> None:
    inbox = Inbox(sqlite())
    await inbox.list("ann")
    await inbox.aclose()
    sqlite.path.write_bytes(sqlite.path.read_bytes().replace(b"indexpending", b"index\xa3ending"))
    assert "it is damaged. Restore the file" in (await refused(sqlite())).reason


@ON_SQLITE
async def test_a_missing_folder_is_named(sqlite: Stores) -> None:
    sqlite.path = sqlite.path.parent / "missing" / "inbox.db"
    assert f"Create the folder {sqlite.path.parent}." in (await refused(sqlite())).reason


@ON_SQLITE
@pytest.mark.parametrize("found", [0, 1, 99])
async def test_a_file_of_another_format_is_refused_unchanged_with_advice(sqlite: Stores, found: int) -> None:
    with sqlite3.connect(sqlite.path) as connection:
        connection.execute("CREATE TABLE other (a)")
        connection.execute(f"PRAGMA user_version = {found}")
    connection.close()
    sqlite.path.chmod(0o600)
    before = sqlite.path.read_bytes()
    reason = (await refused(sqlite())).reason

    assert f"has format {found}" in reason
    assert "needs an inbox of format 2. Use another file" in reason
    assert sqlite.path.read_bytes() == before


@ON_SQLITE
async def test_a_file_that_other_users_can_write_is_refused(sqlite: Stores) -> None:
    sqlite.path.touch()
    sqlite.path.chmod(0o666)
    assert f"Run `chmod 600 {sqlite.path}`" in (await refused(sqlite())).reason


@ON_SQLITE
async def test_a_missing_folder_is_a_cancel_by_error(sqlite: Stores) -> None:
    sqlite.path = sqlite.path.parent / "nowhere" / "inbox.db"
    assert (await refused(sqlite())).by == "error"


@ON_SQLITE
async def test_a_locked_file_is_a_cancel_by_error_and_is_used_again_once_it_is_free(sqlite: Stores) -> None:
    store = sqlite(lock_timeout=0.05)
    inbox = Inbox(store)
    await inbox.list("ann")
    other = sqlite3.connect(sqlite.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    answer: Any = await InboxHandler(inbox, "ann")(request())
    assert (answer.action, answer.by) == ("cancel", "error")
    assert "locked" in answer.reason
    other.execute("ROLLBACK")
    other.close()

    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await asked.result()).action == "accept"


@ON_SQLITE
async def test_a_full_disk_is_a_cancel_by_error(sqlite: Stores) -> None:
    store = sqlite()
    await Inbox(store).list("ann")
    store._database._connection.execute("PRAGMA max_page_count = 1")
    answer: Any = await InboxHandler(Inbox(store), "ann")(request({**FORM, "message": "m" * 4_000}))
    assert (answer.action, answer.by) == ("cancel", "error")
    assert "full" in answer.reason


@pytest.mark.skipif(os.name == "nt", reason="Windows does not delete open files")
@ON_SQLITE
async def test_a_file_that_was_deleted_is_created_again_for_all_processes(sqlite: Stores) -> None:
    inbox, other = Inbox(sqlite()), Inbox(sqlite())
    for each in (inbox, other):
        await each.list("ann")
    for file in sqlite.path.parent.glob("inbox.db*"):
        file.unlink()

    started_later = Inbox(sqlite())
    await started_later.list("ann")
    async with asking(inbox) as asked:
        (entry,) = await pending(started_later)
        await other.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await asked.result()).content == {"a": "x"}


@ON_SQLITE
async def test_only_the_owner_of_the_file_can_read_it(sqlite: Stores) -> None:
    await Inbox(sqlite()).list("ann")

    assert {file.stat().st_mode & 0o777 for file in sqlite.path.parent.glob("inbox.db*")} == {0o600}


@forks
@pytest.mark.parametrize("backend", [("asyncio", "sqlite")], ids="-".join)
async def test_a_forked_process_holds_a_lease_of_its_own(sqlite: Stores) -> None:
    store = sqlite()
    await Inbox(store).list("ann")
    before = store._worker.name

    def holds_its_own() -> None:
        assert store._worker.name != before
        assert store._database._open()

    assert succeeds_in_fork(holds_its_own)
    assert store._worker.name == before


@forks
@pytest.mark.parametrize("backend", [("asyncio", "sqlite")], ids="-".join)
async def test_a_process_that_was_forked_while_a_thread_used_the_file_can_use_it(sqlite: Stores) -> None:
    store = sqlite()
    await Inbox(store).list("ann")

    def reads() -> None:
        with store._database.reading():
            pass

    with store._database._lock:  # as another thread
        assert succeeds_in_fork(reads)


@ON_SQLITE
@pytest.mark.parametrize("is_used", [False, True])
async def test_a_locked_file_does_not_delay_a_cancellation(sqlite: Stores, is_used: bool) -> None:
    inbox = Inbox(sqlite(lock_timeout=30))
    if is_used:
        await inbox.list("ann")
    with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as other:
        sqlite.path.chmod(0o600)
        other.execute("CREATE TABLE IF NOT EXISTS held (x)") if not is_used else None
        other.execute("BEGIN EXCLUSIVE")
        work: list[Any] = [
            lambda: InboxHandler(inbox, default_user="ann")(request()),
            lambda: inbox.list("ann"),
            lambda: inbox.answer("ann", "x", "decline"),
            lambda: calls_of(inbox).store.claim("ann", "x", "t"),
        ]
        for each in work:
            begin = anyio.current_time()
            with anyio.move_on_after(0.1):
                await each()
            assert anyio.current_time() - begin < 5


async def cancel_while_locked(asked: Waiting, inbox: Inbox, path: Path) -> None:
    """Cancel *asked* while another process holds the lock of the file, and wait until its request is withdrawn."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        asked.scope.cancel()
        with anyio.fail_after(60):
            await asked.finished.wait()
        other.execute("ROLLBACK")

    async def is_withdrawn() -> bool:
        return [each.state for each in (await inbox.history("ann")).entries] == ["withdrawn"]

    await until(is_withdrawn)


@ON_SQLITE
async def test_a_request_that_was_cancelled_while_the_file_was_locked_is_withdrawn(sqlite: Stores) -> None:
    inbox = Inbox(sqlite(lock_timeout=30))
    await inbox.list("ann")
    async with asking(inbox) as asked, asking(inbox):
        await pending(inbox, count=2)
        await cancel_while_locked(asked, inbox, sqlite.path)
        assert len((await inbox.list("ann")).entries) == 1


@ON_SQLITE
async def test_an_extended_request_that_was_cancelled_while_the_file_was_locked_is_withdrawn(
    sqlite: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = sqlite(lock_timeout=30)
    inbox, get, was_extended = Inbox(store), store.get, anyio.Event()

    async def get_after_an_extension(owner: str, entry_id: str) -> Any:
        await store.extend(owner, entry_id, sqlite.clock() + 100)
        return await get(owner, entry_id)

    monkeypatch.setattr(store, "get", get_after_an_extension)
    now = datetime.now(timezone.utc)
    deadline, latest = now + timedelta(seconds=1), now + timedelta(seconds=200)
    async with asking(inbox, with_deadline(request(), deadline, latest, lambda _: was_extended.set())) as asked:
        await was_extended.wait()
        sqlite.clock.ahead = 10  # after the time at which the request would have expired
        await cancel_while_locked(asked, inbox, sqlite.path)


@ON_SQLITE
async def test_an_answer_at_the_last_moment_is_erased_although_the_file_was_locked(sqlite: Stores) -> None:
    store = sqlite(lease_ttl=300)
    inbox, other = Inbox(store, answer_timeout=60), Inbox(sqlite())
    async with asking(inbox) as asked:
        (entry,) = await pending(other)
        look, store._worker._look = store._worker._look, lambda: None  # not before the file is locked
        await other.answer("ann", entry.id, "accept", {"a": SECRET})
        with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as locking:
            locking.execute("BEGIN IMMEDIATE")
            store._worker._look = look
            assert (await asked.result()).content == {"a": SECRET}
            sqlite.clock.ahead = 61
            locking.execute("ROLLBACK")
        await until(lambda: is_erased(sqlite))


async def is_erased(sqlite: Stores) -> bool:
    return SECRET not in await sqlite.content()


@ON_SQLITE
async def test_an_answer_to_a_process_that_has_stopped_is_erased_once_the_request_expires(sqlite: Stores) -> None:
    stopped, other = sqlite(), sqlite()
    await stopped.put(StoredRequest("a", "ann", "1:{}", time.time(), time.time() + 60))
    await other.resolve("ann", "a", Resolution("answered", "ann", time.time(), "accept", SECRET))
    assert SECRET in await sqlite.content()
    sqlite.clock.ahead = 61
    async with asking(Inbox(other)):
        await until(lambda: is_erased(sqlite))


@ON_SQLITE
async def test_a_draft_is_erased_once_it_is_deleted(sqlite: Stores) -> None:
    inbox = Inbox(sqlite())
    async with asking(inbox):
        (entry,) = await pending(inbox)
        await inbox.save_draft("ann", entry.id, {"values": {"f0": [SECRET]}})
        assert SECRET in await sqlite.content()
        await inbox.save_draft("ann", entry.id, None)
        await until(lambda: is_erased(sqlite))


class LeavingWhileCommitting(SqliteConnection):
    """A file to which a task leaves another request after what a transaction writes, and before it is committed."""

    leave: Any = None

    @contextmanager
    def writing(self) -> Iterator[SqlSession]:
        with super().writing() as session:
            yield session
            if self.leave is not None:
                leave, self.leave = self.leave, None
                leave()


@ON_SQLITE
async def test_requests_that_are_left_while_others_are_closed_are_closed_next(sqlite: Stores) -> None:
    store = sqlite()
    requests = [StoredRequest(name, "ann", "1:{}", time.time(), time.time() + 60) for name in ("a", "b")]
    for each in requests:
        await store.put(each)
    connection = LeavingWhileCommitting(sqlite.path, 2)
    worker = SqlWorker(connection, clock=time.time, lease_ttl=30, max_history=9, history_ttl=60)
    withdrawn = Resolution("withdrawn", "client", time.time())
    worker._left = [(requests[0], withdrawn)]
    connection.leave = lambda: worker._left.append((requests[1], withdrawn))

    worker._close_left()
    worker._close_left()

    found = [await store.get("ann", each.id) for each in requests]
    assert [each.resolution.state for each in found] == ["withdrawn", "withdrawn"]
    connection.close()


@ON_SQLITE
async def test_a_request_that_was_cancelled_before_it_was_stored_is_not_pending(sqlite: Stores) -> None:
    inbox = Inbox(sqlite(lock_timeout=30))
    await inbox.list("ann")
    with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for _ in range(5):
            with anyio.move_on_after(0.05):
                await InboxHandler(inbox, default_user="ann")(request())
        other.execute("ROLLBACK")

    async with asking(inbox):
        assert len(await pending(inbox)) == 1


@ON_SQLITE
async def test_an_answer_arrives_although_the_worker_cannot_write(sqlite: Stores) -> None:
    store, other = sqlite(), Inbox(sqlite())
    worker = store._worker
    with worker._database.reading() as session:
        session.connection.execute("PRAGMA query_only = ON")
    async with asking(Inbox(store)) as asked:
        (entry,) = await pending(other)
        await other.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await asked.result()).content == {"a": "x"}


@ON_SQLITE
async def test_an_inbox_that_is_used_while_it_is_closed_does_not_delay_that(sqlite: Stores) -> None:
    store = sqlite()
    inbox, worker = Inbox(store), store._worker
    is_looking, may_go_on = threading.Event(), threading.Event()
    look = worker._look

    def look_slowly() -> None:
        is_looking.set()
        may_go_on.wait(60)
        look()

    async with waiting_for_answer(inbox):
        worker._look = look_slowly
        await until(is_looking.is_set)
        worker._look = look
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(inbox.aclose)
                await until(worker._stopped.is_set)
                async with waiting_for_answer(inbox):
                    may_go_on.set()


@ON_SQLITE
async def test_an_answer_that_cannot_be_read_neither_stops_the_others_nor_ends_the_lease(sqlite: Stores) -> None:
    store, other = sqlite(lease_ttl=3), Inbox(sqlite())
    inbox = Inbox(store)
    async with asking(inbox):
        (damaged,) = await pending(other)
        async with asking(inbox) as asked:
            _, entry = await pending(other, count=2)
            with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as connection:
                damage = "UPDATE requests SET state = 'answered', action = 'x', updated_at = 'never' WHERE id = ?"
                connection.execute(damage, [damaged.id])
            renewed = _lease_end(sqlite)

            await until(lambda: _lease_end(sqlite) > renewed + 0.3)
            await other.answer("ann", entry.id, "accept", {"a": "x"})
            assert (await asked.result()).content == {"a": "x"}


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize(
    ("column", "damage"),
    [
        ("request", b"\x00"),
        *(("state", value) for value in ("unknown", b"pending", "")),
        *((column, value) for column in ("created_at", "expires_at") for value in ("nan", 1e300, 2**62, "soon")),
        *((column, "1e400") for column in ("sequence", "revision")),
    ],
)
@pytest.mark.parametrize("backend", [("asyncio", "sqlite")], ids="-".join)
async def test_a_row_that_another_program_damaged_is_an_inbox_error(
    sqlite: Stores, column: str, damage: Any, is_closed: bool
) -> None:
    inbox, other = Inbox(sqlite()), Inbox(sqlite())
    async with asking(inbox):
        (entry,) = await pending(other)
        if is_closed:
            await other.answer("ann", entry.id, "decline")
        with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as connection:
            connection.execute(f"UPDATE requests SET {column} = ?", [damage])
        with pytest.raises(InboxError, match="contains a request that cannot be read"):
            await other.get("ann", entry.id)


@ON_SQLITE
async def test_a_file_whose_contents_were_deleted_is_refused_with_advice(sqlite: Stores) -> None:
    inbox = Inbox(sqlite())
    await inbox.list("ann")
    with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as connection:
        for table in ("requests", "leases", "counter", "calls", "drafts"):
            connection.execute(f"DELETE FROM {table}")
    answer: Any = await InboxHandler(inbox, "ann")(request())
    assert (answer.action, answer.by) == ("cancel", "error")
    with pytest.raises(InboxError, match=r"`counter` is empty. Delete the whole file or schema"):
        await anext(inbox.watch("ann"))


@pytest.mark.parametrize(("column", "damage"), [("updated_at", "nan"), ("action", b"x"), ("answered_by", b"x")])
@pytest.mark.parametrize("backend", [("asyncio", "sqlite")], ids="-".join)
async def test_a_resolution_that_another_program_damaged_is_an_inbox_error(
    sqlite: Stores, column: str, damage: Any
) -> None:
    inbox = Inbox(sqlite())
    async with asking(inbox):
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, "decline")
        with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as connection:
            connection.execute(f"UPDATE requests SET {column} = ?", [damage])
        with pytest.raises(InboxError, match="contains a request that cannot be read"):
            await inbox.history("ann")


@pytest.mark.parametrize(("column", "damage"), [("state", "unknown"), ("body", b"x"), ("expires_at", 1e300)])
@pytest.mark.parametrize("backend", [("asyncio", "sqlite")], ids="-".join)
async def test_a_suspended_call_that_another_program_damaged_is_an_inbox_error(
    sqlite: Stores, column: str, damage: Any
) -> None:
    calls = calls_of(Inbox(sqlite()))
    call = await calls.suspend("ann", "{}", [request()], 600.0)
    with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE calls SET {column} = ?", [damage])
    with pytest.raises(InboxError, match="contains a suspended call that cannot be read"):
        await calls.find("ann", call.id)


def _lease_end(sqlite: Stores) -> float:
    with closing(sqlite3.connect(sqlite.path)) as connection:
        (found,) = connection.execute("SELECT max(expires_at) FROM leases").fetchone()
        return float(found)
