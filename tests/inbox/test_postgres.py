"""`PostgresStore`: restarts, lost notifications, rights and tables of another format."""

from __future__ import annotations

import gc
import sys
from typing import Any

import anyio
import anyio.to_thread
import pytest

from mcp_elicit_client.inbox import Inbox, InboxError, InboxHandler, PostgresStore
from mcp_elicit_client.inbox.stores.postgres_connection import Listener, PostgresConnections
from tests.support import forks, succeeds_in_fork, until
from tests.support.inboxes import SECRET, Stores, asking, pending, request, stopped, waiting_for_answer

pytestmark = pytest.mark.anyio

ON_POSTGRES = pytest.mark.parametrize("backend", [("asyncio", "postgres"), ("trio", "postgres")], ids="-".join)
ONCE = pytest.mark.parametrize("backend", [("asyncio", "postgres")], ids="-".join)


@ON_POSTGRES
async def test_requests_survive_a_server_that_is_killed(stores: Stores) -> None:
    inbox, other = Inbox(stores()), Inbox(stores())
    async with waiting_for_answer(inbox) as one, waiting_for_answer(inbox) as two:
        before = await pending(other, count=2)
        with stopped(stores.servers.postgres):
            with pytest.raises(InboxError):
                await other.list("ann")
            answer: Any = await InboxHandler(inbox, "ann")(request())
            assert (answer.action, answer.by) == ("cancel", "error")
        after = await pending(other, count=2)
        assert {entry.id for entry in after} == {entry.id for entry in before}
        for entry in after:
            await other.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await one.result()).content == (await two.result()).content == {"a": "x"}


@ONCE
async def test_the_next_use_after_a_restart_succeeds(stores: Stores) -> None:
    inbox = Inbox(stores())
    await inbox.list("ann")
    with stopped(stores.servers.postgres):
        pass

    assert (await inbox.list("ann")).entries == ()


@ONCE
async def test_a_store_that_is_no_longer_used_closes_its_connections(stores: Stores) -> None:
    connections = PostgresConnections(stores.servers.postgres.url, stores.schema)
    with connections.reading() as session:
        found = session.execute("list_undelivered", lease_owner="nobody")
    (idle,) = connections._idle
    del connections, session
    gc.collect()

    assert (list(found), idle.closed) == ([], True)


@forks
@ONCE
async def test_a_forked_process_listens_on_a_connection_of_its_own(stores: Stores) -> None:
    listener = Listener(PostgresConnections(stores.servers.postgres.url, stores.schema))
    listener.wait(0)
    before = listener._connection.info.backend_pid

    def listens_on_its_own() -> None:
        listener.wait(0)
        assert listener._connection.info.backend_pid != before
        listener.close()

    assert succeeds_in_fork(listens_on_its_own)
    assert listener.wait(0) == set()
    listener.close()


@ONCE
async def test_an_answer_that_was_given_just_before_a_crash_is_delivered(stores: Stores) -> None:
    inbox, other = Inbox(stores()), Inbox(stores())
    async with waiting_for_answer(inbox) as asked:
        (entry,) = await pending(other)
        await other.answer("ann", entry.id, "accept", {"a": SECRET})
        with stopped(stores.servers.postgres):
            pass
        assert (await asked.result()).content == {"a": SECRET}

    async def is_erased() -> bool:
        return SECRET not in await stores.content()

    assert await until(is_erased)


@ONCE
async def test_a_request_expires_although_the_server_is_gone(stores: Stores) -> None:
    inbox = Inbox(stores(), answer_timeout=3)
    async with waiting_for_answer(inbox) as asked:
        with stopped(stores.servers.postgres):
            answer = await asked.result()

    assert (answer.action, answer.by) == ("cancel", "timeout")


@ONCE
async def test_an_answer_arrives_although_no_notification_does(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Listener.wait
    monkeypatch.setattr(Listener, "wait", lambda self, seconds: wait(self, seconds) and set())
    inbox, other = Inbox(stores()), Inbox(stores())
    async with asking(inbox) as asked:
        (entry,) = await pending(other)
        await other.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await asked.result()).content == {"a": "x"}


@ONCE
async def test_notifications_contain_neither_users_nor_ids_nor_answers(stores: Stores) -> None:
    import psycopg
    from psycopg import sql

    inbox, other = Inbox(stores()), Inbox(stores())
    await inbox.list("ann")
    with psycopg.connect(stores.servers.postgres.url, autocommit=True) as connection:
        connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(stores.schema)))
        async with asking(inbox) as asked:
            (entry,) = await pending(other)
            await other.answer("ann", entry.id, "accept", {"a": SECRET})
            await asked.result()
        heard = [each.payload for each in connection.notifies(timeout=0.1)]

    assert {text[0] for text in heard} == {"o", "w"}
    assert not [text for text in heard if "ann" in text or entry.id in text or SECRET in text]


@ONCE
async def test_a_process_that_hangs_in_a_transaction_does_not_stop_the_others(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp_elicit_client.inbox.stores import postgres_connection

    settings = postgres_connection._SETTINGS.replace("idle_in_transaction_session_timeout TO '5s'", "{}")
    monkeypatch.setattr(
        postgres_connection,
        "_SETTINGS",
        settings.replace("{}", "idle_in_transaction_session_timeout TO '200ms'"),
    )
    hanging, inbox = stores(), Inbox(stores())
    await hanging.last_revision()

    def hang() -> None:
        with pytest.raises(InboxError), hanging._database.writing() as session:
            locked.set()
            while session.connection.fileno() and not _is_ended(session.connection):
                pass

    import threading

    locked = threading.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, hang)
        await anyio.to_thread.run_sync(locked.wait)
        async with asking(inbox) as asked:
            (entry,) = await pending(inbox)
            await inbox.answer("ann", entry.id, "decline")
            assert (await asked.result()).action == "decline"


def _is_ended(connection: Any) -> bool:
    import select

    return bool(select.select([connection.fileno()], [], [], 1)[0])


@ONCE
async def test_tables_of_another_format_are_refused_with_advice(stores: Stores) -> None:
    await Inbox(stores()).list("ann")
    stores.query("UPDATE counter SET format = 2")
    inbox = Inbox(stores())

    with pytest.raises(InboxError, match=r"has format 2, but .* needs format 1\. Use another schema"):
        await inbox.list("ann")
    answer: Any = await InboxHandler(inbox, "ann")(request())
    assert (answer.action, answer.by) == ("cancel", "error")


@ONCE
async def test_tables_that_were_dropped_are_created_again(stores: Stores) -> None:
    from psycopg import sql

    inbox = Inbox(stores())
    await inbox.list("ann")
    stores.query(f"DROP SCHEMA {sql.Identifier(stores.schema).as_string(None)} CASCADE")
    with pytest.raises(InboxError, match="does not exist"):
        await inbox.list("ann")

    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, "decline")
        assert (await asked.result()).action == "decline"


@ONCE
async def test_tables_whose_contents_were_deleted_are_refused_with_advice(stores: Stores) -> None:
    inbox = Inbox(stores())
    await inbox.list("ann")
    stores.query("TRUNCATE requests, leases, counter, calls, drafts")
    answer: Any = await InboxHandler(inbox, "ann")(request())
    assert (answer.action, answer.by) == ("cancel", "error")
    with pytest.raises(InboxError, match=r"`counter` is empty. Delete the whole file or schema"):
        await Inbox(stores()).list("ann")


@ONCE
async def test_a_role_may_own_a_schema_without_rights_in_the_database(stores: Stores) -> None:
    role = f"owner_{abs(hash(stores.schema))}"
    stores.query(f"CREATE ROLE {role} LOGIN; CREATE SCHEMA {role} AUTHORIZATION {role}")
    url = stores.servers.postgres.url.replace("postgres@", f"{role}@")
    allowed, refused = PostgresStore(url, schema=role), PostgresStore(url, schema="elsewhere")
    try:
        assert (await Inbox(allowed).list("ann")).entries == ()
        with pytest.raises(InboxError, match="permission denied"):
            await Inbox(refused).list("ann")
    finally:
        await allowed.aclose()
        await refused.aclose()


@ONCE
@pytest.mark.parametrize("url", ["postgresql://127.0.0.1:1/x", "host=127.0.0.1 port=1 dbname="])
async def test_an_address_without_a_server_is_a_cancel_by_error(url: str, stores: Stores) -> None:
    inbox = Inbox(PostgresStore(url))
    with pytest.raises(InboxError, match="cannot be used"):
        await inbox.list("ann")
    answer: Any = await InboxHandler(inbox, "ann")(request())
    assert (answer.action, answer.by) == ("cancel", "error")


@ONCE
@pytest.mark.parametrize("text", ["\x00", "a\x00b", "'; DROP TABLE requests; --", "%(owner)s", ":owner"])
async def test_no_text_of_a_user_is_read_as_sql(text: str, stores: Stores) -> None:
    inbox = Inbox(stores())
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        await inbox.save_draft("ann", entry.id, {"values": {"a": text}})
        draft = await inbox.get_draft("ann", entry.id)
        await inbox.answer("ann", entry.id, "accept", {"a": text})
        answer = await asked.result()

    assert draft is not None
    assert draft["values"] == answer.content == {"a": text}


@ONCE
async def test_threads_that_open_the_same_schema_at_once_create_it_once(stores: Stores) -> None:
    inboxes = [Inbox(stores()) for _ in range(6)]
    async with anyio.create_task_group() as group:
        for inbox in inboxes:
            group.start_soon(inbox.list, "ann")

    assert len(stores.query("SELECT * FROM counter")) == 1


@ONCE
async def test_without_the_driver_the_error_names_the_extra(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp_elicit_client.exceptions import MissingExtraError

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match="postgres"):
        stores()
