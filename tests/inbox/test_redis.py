"""`RedisStore`: restarts, lost messages and lost data."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_elicit_client.inbox import Inbox, InboxError, InboxHandler, RedisStore
from mcp_elicit_client.inbox.stores import redis_connection
from tests.support import until
from tests.support.inboxes import RedisServer, Stores, asking, pending, request, stopped, waiting_for_answer

pytestmark = pytest.mark.anyio

ON_REDIS = pytest.mark.parametrize("backend", [("asyncio", "redis")], ids="-".join)


@ON_REDIS
async def test_requests_survive_a_redis_that_restarts_without_its_data(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    here, there = RedisStore(server.url), RedisStore(server.url)
    inbox, other = Inbox(here), Inbox(there)
    try:
        async with waiting_for_answer(inbox) as one, waiting_for_answer(inbox) as two:
            before = await pending(other, count=2)
            server.stop()
            with pytest.raises(InboxError):
                await other.list("ann")
            answer: Any = await InboxHandler(inbox, "ann")(request())
            assert (answer.action, answer.by) == ("cancel", "error")
            server.start()
            after = await pending(other, count=2)
            assert {entry.id for entry in after} == {entry.id for entry in before}
            for entry in after:
                await other.answer("ann", entry.id, "accept", {"a": "x"})
            assert (await one.result()).content == (await two.result()).content == {"a": "x"}
    finally:
        await here.aclose()
        await there.aclose()
        server.stop()


@ON_REDIS
async def test_requests_survive_a_redis_that_restarts_with_older_data(tmp_path: Path) -> None:
    from redis.asyncio import Redis

    server = RedisServer(tmp_path)
    here, there = RedisStore(server.url), RedisStore(server.url)
    inbox, other = Inbox(here), Inbox(there)
    seen: list[str] = []

    async def watch() -> None:
        while True:
            with suppress(InboxError):
                async for entry in other.watch("ann"):
                    seen.append(entry.id)  # noqa: PERF401 -- one by one

    try:
        async with waiting_for_answer(inbox) as one, anyio.create_task_group() as group:
            (old,) = await pending(other)
            async with Redis.from_url(server.url) as client:
                await client.save()
            for _ in range(20):
                async with asking(inbox):
                    await pending(other, count=2)
            async with waiting_for_answer(inbox) as two:
                (_, new) = await pending(other, count=2)
                group.start_soon(watch)
                with stopped(server), pytest.raises(InboxError):
                    await other.list("ann")
                assert {entry.id for entry in await pending(other, count=2)} == {old.id, new.id}
                async with asking(inbox):
                    (_, _, newest) = await pending(other, count=3)

                    await until(lambda: newest.id in seen)
                for entry in (old, new):
                    await other.answer("ann", entry.id, "accept", {"a": "x"})
                assert (await one.result()).content == (await two.result()).content == {"a": "x"}
            group.cancel_scope.cancel()
    finally:
        await here.aclose()
        await there.aclose()
        server.stop()


@ON_REDIS
async def test_requests_survive_older_data_in_which_closed_ones_are_pending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from redis.asyncio import Redis

    monkeypatch.setattr(redis_connection, "_MAX_CHECKED", 1)
    server = RedisServer(tmp_path)
    inbox, other = Inbox(RedisStore(server.url)), Inbox(RedisStore(server.url))
    try:
        async with waiting_for_answer(inbox) as closed, waiting_for_answer(inbox) as closed_too:
            before = await pending(other, count=2)
            async with Redis.from_url(server.url) as client:
                await client.save()
            for entry in before:
                await other.answer("ann", entry.id, "decline")
            await closed.result()
            await closed_too.result()
        async with waiting_for_answer(inbox), waiting_for_answer(inbox):
            wanted = {entry.id for entry in await pending(other, count=2)}
            with stopped(server):
                pass

            async def are_pending() -> bool:
                with suppress(InboxError):
                    return wanted <= {entry.id for entry in (await other.list("ann")).entries}
                return False

            await until(are_pending)
    finally:
        await inbox.aclose()
        await other.aclose()
        server.stop()


@ON_REDIS
async def test_a_request_expires_although_redis_is_gone(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    inbox = Inbox(RedisStore(server.url), answer_timeout=3)
    try:
        async with waiting_for_answer(inbox) as asked:
            server.stop()
            answer = await asked.result()
    finally:
        await inbox.aclose()
        server.stop()

    assert (answer.action, answer.by) == ("cancel", "timeout")


@ON_REDIS
async def test_a_request_that_was_cancelled_while_redis_was_gone_is_withdrawn(tmp_path: Path) -> None:
    from redis.asyncio import Redis

    server = RedisServer(tmp_path)
    inbox, other = Inbox(RedisStore(server.url)), Inbox(RedisStore(server.url))
    try:
        async with waiting_for_answer(inbox) as cancelled, waiting_for_answer(inbox):
            await pending(other, count=2)
            async with Redis.from_url(server.url) as client:
                await client.save()
            with stopped(server):
                cancelled.scope.cancel()
                with anyio.fail_after(60):
                    await cancelled.finished.wait()

            async def is_withdrawn() -> bool:
                with suppress(InboxError):
                    return [each.state for each in (await other.history("ann")).entries] == ["withdrawn"]
                return False

            await until(is_withdrawn)
            assert len((await other.list("ann")).entries) == 1
    finally:
        await inbox.aclose()
        await other.aclose()
        server.stop()


@ON_REDIS
async def test_an_answer_that_was_published_while_no_one_listened_is_read(stores: Stores) -> None:
    """What is published while no one listens is lost, and the answer is not."""
    store = stores()
    inbox = Inbox(store)
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        store._connection._receive = lambda *_: None
        await inbox.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await asked.result()).content == {"a": "x"}


@ON_REDIS
async def test_data_of_another_format_is_refused_with_advice(stores: Stores) -> None:
    from redis.asyncio import Redis

    inbox = Inbox(stores())
    async with Redis.from_url(stores.servers.redis.url) as client:
        await client.set(f"{{{stores.path}}}:format", "2")
    with pytest.raises(InboxError, match=r"has format 2, but .* needs format 1\. Use another prefix"):
        await inbox.list("ann")
    answer: Any = await InboxHandler(inbox, "ann")(request())
    assert (answer.action, answer.by) == ("cancel", "error")


@ON_REDIS
async def test_a_script_that_redis_has_forgotten_is_sent_again(stores: Stores) -> None:
    from redis.asyncio import Redis

    inbox = Inbox(stores())
    await inbox.list("ann")
    async with Redis.from_url(stores.servers.redis.url) as client:
        await client.script_flush()

    assert (await inbox.list("ann")).entries == ()


@ON_REDIS
@pytest.mark.parametrize("connections", [0, 2])  # 0 is the default
async def test_two_connections_are_enough(stores: Stores, connections: int) -> None:
    store = RedisStore(f"{stores.servers.redis.url}?max_connections={connections}", prefix=str(stores.path))
    stores.made.append(store)
    inbox = Inbox(store)
    async with waiting_for_answer(inbox) as one, waiting_for_answer(inbox) as two:
        for entry in await pending(inbox, count=2):
            await inbox.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await one.result()).content == (await two.result()).content == {"a": "x"}


@pytest.mark.parametrize("backend", [("trio", "redis")], ids="-".join)
async def test_redis_requires_asyncio() -> None:
    inbox = Inbox(RedisStore("redis://127.0.0.1:1"))
    with pytest.raises(InboxError, match="asyncio"):
        await inbox.list("ann")
    answer: Any = await InboxHandler(inbox, "ann")(request())
    assert (answer.action, answer.by) == ("cancel", "error")


@ON_REDIS
@pytest.mark.parametrize(
    "limits", [{"history_ttl": math.inf}, {"history_ttl": 1e30}, {"max_history": sys.maxsize}], ids=str
)
async def test_closed_requests_can_be_kept_without_a_limit(limits: Any, tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    store = RedisStore(server.url, **limits)
    inbox = Inbox(store)
    try:
        async with waiting_for_answer(inbox) as one:
            (entry,) = await pending(inbox)
            await inbox.answer("ann", entry.id, "accept", {"a": "x"})
            assert (await one.result()).content == {"a": "x"}
        assert [each.id for each in (await inbox.history("ann")).entries] == [entry.id]
    finally:
        await store.aclose()
        server.stop()
