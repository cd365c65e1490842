"""Suspended calls in an inbox: one contract for all stores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import pytest

from mcp_elicit_client.exceptions import EntryClosedError
from mcp_elicit_client.inbox import Inbox, InboxError
from mcp_elicit_client.inbox.stores import sql
from mcp_elicit_client.inbox.suspended_calls import calls_of
from tests.support import until
from tests.support.inboxes import KEY, SECRET, URL, Clock, Stores, asking, pending, request

pytestmark = pytest.mark.anyio

BODY = "everything that is needed"


async def suspend(inbox: Inbox, *asks: Any, resume_timeout: float = 500, call_id: str | None = None) -> Any:
    deadline = datetime.fromtimestamp(calls_of(inbox).store.clock() + 0.9 * resume_timeout, timezone.utc)
    closing = [each.model_copy(update={"deadline": deadline}) for each in asks or (request(),)]
    return await calls_of(inbox).suspend("ann", BODY, closing, resume_timeout, call_id)


async def test_requests_of_a_suspended_call_stay_pending_without_a_process(stores: Stores) -> None:
    call = await suspend(Inbox(stores()), request(), request(URL))
    later = Clock()
    other = Inbox(stores(clock=later) if stores.kind != "memory" else stores())
    later.ahead = stores.clock.ahead = 440

    first, second = (await other.list("ann")).entries
    assert (first.id, second.id) == call.request_ids
    assert (first.call, first.state) == (call.id, "pending")
    assert abs(first.expires_at - first.created_at - timedelta(seconds=450)) < timedelta(seconds=1)
    found = await calls_of(other).find("ann", call.id)
    assert found is not None
    assert (found.body, found.answers, found.call.state) == (BODY, (None, None), "suspended")

    await other.answer("ann", first.id, "accept", {"a": SECRET}, answered_by="ann@phone")
    await other.withdraw("ann", second.id)
    found = await calls_of(other).find("ann", call.id)
    assert found is not None
    assert [(each.action, each.content, each.by) for each in found.answers if each] == [
        ("accept", {"a": SECRET}, "user"),
        ("cancel", None, "host"),
    ]


@pytest.mark.parametrize("key", [None, KEY])
async def test_answers_are_kept_until_the_call_is_finished(stores: Stores, key: Any) -> None:
    inbox = Inbox(stores(max_history=2, history_ttl=0.05), key)
    call = await suspend(inbox)
    await inbox.answer("ann", call.request_ids[0], "accept", {"a": SECRET})
    for _ in range(4):  # More than history holds.
        async with asking(inbox) as asked:
            (entry,) = await pending(inbox)
            await inbox.answer("ann", entry.id, "decline")
            await asked.result()

    async def is_deleted() -> bool:
        return not any(entry.call is None for entry in (await inbox.history("ann")).entries)

    await until(is_deleted)
    content = await stores.content()
    assert (BODY in content, SECRET in content) == (key is None, key is None)
    assert await calls_of(inbox).store.claim("ann", call.id, "t") == "suspended"
    found = await calls_of(inbox).find("ann", call.id)
    assert found is not None
    assert found.answers[0] is not None
    assert (found.call.state, found.answers[0].content) == ("resuming", {"a": SECRET})

    await calls_of(inbox).store.finish(call.id)

    async def is_erased() -> bool:
        content = await stores.content()
        return SECRET not in content and BODY not in content

    await until(is_erased)
    found = await calls_of(inbox).find("ann", call.id)
    assert found is not None
    assert (found.call.state, found.body, found.answers) == ("finished", "", ())


async def test_of_forty_simultaneous_claims_one_succeeds(stores: Stores) -> None:
    inboxes = [Inbox(stores()) for _ in range(4)]
    call = await suspend(inboxes[0])
    states: list[Any] = []

    async def claim(number: int) -> None:
        states.append(await calls_of(inboxes[number % 4]).store.claim("ann", call.id, f"t{number}"))

    async with anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(claim, number)

    assert sorted(states) == [*["resuming"] * 39, "suspended"]


async def test_only_the_token_of_a_claim_releases_it(inbox: Inbox) -> None:
    call = await suspend(inbox)
    assert await calls_of(inbox).store.claim("ann", call.id, "mine") == "suspended"
    await calls_of(inbox).store.release(call.id, "theirs")
    assert await calls_of(inbox).store.claim("ann", call.id, "theirs") == "resuming"
    await calls_of(inbox).store.release(call.id, "mine")
    assert await calls_of(inbox).store.claim("ann", call.id, "theirs") == "suspended"
    await calls_of(inbox).store.finish(call.id)
    await calls_of(inbox).store.release(call.id, "theirs")
    assert await calls_of(inbox).store.claim("ann", call.id, "mine") == "finished"


@pytest.mark.parametrize("owner_and_id", [("bob", None), ("ann", "forged"), ("", None), ("ann", "\ud800")])
async def test_a_wrong_owner_finds_no_suspended_call(inbox: Inbox, owner_and_id: tuple[str, str | None]) -> None:
    call = await suspend(inbox)
    owner, guess = owner_and_id[0], call.id if owner_and_id[1] is None else owner_and_id[1]
    assert await calls_of(inbox).find(owner, guess) is None
    if guess.isascii():
        assert await calls_of(inbox).store.claim(owner, guess, "t") is None
    assert await calls_of(inbox).store.claim("ann", call.id, "t") == "suspended"


async def test_a_call_that_is_suspended_again_keeps_its_id_and_loses_its_answers(inbox: Inbox, stores: Stores) -> None:
    call = await suspend(inbox)
    await inbox.answer("ann", call.request_ids[0], "accept", {"a": SECRET})
    await calls_of(inbox).store.claim("ann", call.id, "t")
    again = await suspend(inbox, request(URL), call_id=call.id)

    assert again.id == call.id
    found = await calls_of(Inbox(stores())).find("ann", call.id)
    assert found is not None
    assert (found.call.state, found.answers, found.call.request_ids) == ("suspended", (None,), again.request_ids)
    assert [entry.id for entry in (await inbox.list("ann")).entries] == list(again.request_ids)

    async def is_erased() -> bool:
        return SECRET not in await stores.content()

    await until(is_erased)


async def test_the_answer_to_a_request_that_the_call_had_before_is_erased_with_the_others(
    inbox: Inbox, stores: Stores
) -> None:
    first = await suspend(inbox)
    await suspend(inbox, request(URL), call_id=first.id)
    await inbox.answer("ann", first.request_ids[0], "accept", {"a": SECRET})
    assert SECRET in await stores.content()

    await calls_of(inbox).store.finish(first.id)
    assert await until(lambda: is_erased(stores))


async def is_erased(stores: Stores) -> bool:
    return SECRET not in await stores.content()


async def test_a_call_that_is_not_resumed_expires_and_is_erased(stores: Stores, clock: Clock) -> None:
    inbox = Inbox(stores())
    answered, pending_call = await suspend(inbox), await suspend(inbox)
    claimed = await suspend(inbox)
    await inbox.answer("ann", answered.request_ids[0], "accept", {"a": SECRET})
    await calls_of(inbox).store.claim("ann", claimed.id, "t")
    clock.ahead = 451
    (past, *others) = (await inbox.history("ann")).entries
    assert {past.state, *(each.state for each in others)} == {"expired", "answered"}
    assert await calls_of(inbox).store.claim("ann", pending_call.id, "t") == "suspended"  # It can still be resumed.
    await calls_of(inbox).store.release(pending_call.id, "t")

    clock.ahead = 501
    for call, state in ((answered, "expired"), (pending_call, "expired"), (claimed, "resuming")):
        found = await calls_of(inbox).find("ann", call.id)
        assert found is not None
        assert (found.call.state, found.body, found.answers) == (state, "", ())
        assert await calls_of(inbox).store.claim("ann", call.id, "x") == state
    await until(lambda: is_erased(stores))

    clock.ahead = 501 + 3_601
    if stores.kind != "redis":  # Redis deletes by its own clock.
        assert [await calls_of(inbox).find("ann", call.id) for call in (answered, pending_call, claimed)] == [None] * 3


async def test_a_call_is_erased_even_if_nothing_used_the_store_until_it_is_forgotten(
    stores: Stores, clock: Clock
) -> None:
    inbox = Inbox(stores())
    call = await suspend(inbox)
    await inbox.answer("ann", call.request_ids[0], "accept", {"a": SECRET})
    clock.ahead = 501 + 3_601
    assert await calls_of(inbox).find("ann", call.id) is None or stores.kind == "redis"  # as above
    await until(lambda: is_erased(stores))


async def test_a_suspended_call_of_another_key_is_an_error(stores: Stores) -> None:
    call = await suspend(Inbox(stores(), KEY))
    stranger = Inbox(stores(), b"o" * 32)
    for look in (stranger.list("ann"), calls_of(stranger).find("ann", call.id)):
        with pytest.raises(InboxError, match="not encrypted with this key"):
            await look


class Swapped:
    """A store in which someone, without the key, gave a call the requests of another one."""

    def __init__(self, store: Any, request_ids: tuple[str, ...]) -> None:
        self._store = store
        self._request_ids = request_ids

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get_call(self, owner: str, call_id: str) -> Any:
        return (await self._store.get_call(owner, call_id))._replace(request_ids=self._request_ids)


async def test_a_call_does_not_take_the_answers_of_another_one(stores: Stores) -> None:
    inbox = Inbox(stores(), KEY)
    accepted, pending_call = await suspend(inbox), await suspend(inbox)
    await inbox.answer("ann", accepted.request_ids[0], "accept", {"a": "x"})

    for request_ids in (accepted.request_ids, (), accepted.request_ids + pending_call.request_ids):
        hostile = Inbox(Swapped(stores(), request_ids), KEY)
        with pytest.raises(InboxError):
            await calls_of(hostile).find("ann", pending_call.id)


async def test_a_watcher_sees_the_requests_of_a_suspended_call(inbox: Inbox, stores: Stores) -> None:
    seen: list[tuple[str | None, str]] = []
    watched = Inbox(stores())

    async def watch() -> None:
        async for entry in watched.watch("ann"):
            seen.append((entry.call, entry.state))  # noqa: PERF401 -- one by one

    async def saw(count: int) -> None:
        await until(lambda: len(seen) >= count)

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        first = await suspend(inbox)
        await saw(1)
        await inbox.answer("ann", first.request_ids[0], "decline")
        await saw(2)
        group.cancel_scope.cancel()

    assert seen == [(first.id, "pending"), (first.id, "answered")]


async def test_requests_are_added_to_a_suspended_call_and_answers_are_kept(stores: Stores) -> None:
    inbox, other = Inbox(stores(), KEY), Inbox(stores(), KEY)
    call = await suspend(inbox)
    await inbox.answer("ann", call.request_ids[0], "accept", {"a": SECRET})
    deadline = datetime.fromtimestamp(call.expires_at, timezone.utc)
    more = [request(URL).model_copy(update={"deadline": deadline})]

    changed = await calls_of(inbox).update(call, "other body", more, call.expires_at + 100)
    assert changed is not None
    assert await calls_of(other).update(call, "too late", more, call.expires_at) is None

    found = await calls_of(other).find("ann", call.id)
    assert found is not None
    assert (found.body, found.call) == ("other body", changed)
    assert (found.call.request_ids[:1], len(found.call.request_ids)) == (call.request_ids, 2)
    assert [each and each.content for each in found.answers] == [{"a": SECRET}, None]
    assert [entry.call for entry in (await other.list("ann")).entries] == [call.id]

    await calls_of(other).store.erase_answers(call.id)
    found = await calls_of(inbox).find("ann", call.id)
    assert found is not None
    assert (found.body, found.call.state) == ("other body", "suspended")
    assert found.answers[0] is None or found.answers[0].content is None
    assert SECRET not in await stores.content()


async def test_a_call_without_requests_has_no_lease_that_would_remain(inbox: Inbox, stores: Stores) -> None:
    """A relay makes many of them, and no process looks for requests that need such a lease."""
    calls = calls_of(inbox)
    call = await calls.suspend("ann", "first", [], 60)
    assert await calls.update(call, "second", [], call.expires_at + 60)

    lease = f"call:{call.id}"
    content = (await stores.content()).replace(f":{lease}", "the key of the call in Redis")
    assert lease not in content


async def test_of_forty_simultaneous_updates_one_succeeds(stores: Stores) -> None:
    inboxes = [Inbox(stores()) for _ in range(4)]
    call = await suspend(inboxes[0])
    updated: list[Any] = []

    async def update(number: int) -> None:
        updated.append(await calls_of(inboxes[number % 4]).update(call, f"{number}", [request()], call.expires_at))

    async with anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(update, number)

    assert len([each for each in updated if each is not None]) == 1
    assert len((await inboxes[0].list("ann")).entries) == 2


async def test_only_a_suspended_call_of_its_owner_is_updated(inbox: Inbox, clock: Clock) -> None:
    call = await suspend(inbox)
    assert await calls_of(inbox).update(call._replace(owner="bob"), BODY, [], call.expires_at) is None
    assert await calls_of(inbox).update(call._replace(id="other"), BODY, [], call.expires_at) is None
    await calls_of(inbox).store.claim("ann", call.id, "t")
    assert await calls_of(inbox).update(call, BODY, [], call.expires_at) is None
    await calls_of(inbox).store.release(call.id, "t")
    assert await calls_of(inbox).update(call, BODY, [], call.expires_at) is not None
    clock.ahead = 1_000
    assert await calls_of(inbox).update(call, BODY, [], call.expires_at + 5_000) is None


@pytest.mark.parametrize("backend", [("asyncio", "sqlite"), ("asyncio", "postgres")], ids="-".join)
async def test_requests_that_expire_at_once_are_closed_in_several_transactions(
    stores: Stores, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "_MAX_CLOSED", 10)
    store = stores()
    inbox = Inbox(store)
    call = await suspend(inbox, *[request()] * 25)
    transactions: list[int] = []
    writing = store._database.writing

    @contextmanager
    def counted() -> Iterator[Any]:
        with writing() as session:
            yield session
            still_pending = session.connection.execute("SELECT id FROM requests WHERE state = 'pending'").fetchall()
            transactions.append(len(still_pending))

    monkeypatch.setattr(store._database, "writing", counted)
    clock.ahead = 460

    assert not (await inbox.list("ann")).entries
    assert transactions == [15, 5, 0]
    changes = await store.changes("ann", 0)
    assert {each.id for each in changes} == set(call.request_ids)
    assert len({each.revision for each in changes}) == 25
    assert {each.resolution.state for each in changes} == {"expired"}
    assert await store.last_revision() == changes[-1].revision


async def test_requests_that_are_pending_when_their_call_is_finished_are_withdrawn(inbox: Inbox) -> None:
    call = await suspend(inbox, request(), request(URL))
    await inbox.answer("ann", call.request_ids[0], "accept", {"a": SECRET})
    assert await calls_of(inbox).store.claim("ann", call.id, "t") == "suspended"
    await calls_of(inbox).store.finish(call.id)

    assert not (await inbox.list("ann")).entries
    with pytest.raises(EntryClosedError) as error:
        await inbox.answer("ann", call.request_ids[1], "accept")
    assert error.value.state == "withdrawn"
    latest = (await inbox.history("ann")).entries[0]
    assert (latest.id, latest.state, latest.answered_by) == (call.request_ids[1], "withdrawn", "client")


async def test_a_call_that_expires_while_it_is_claimed_is_expired_after_its_release(inbox: Inbox, clock: Clock) -> None:
    call = await suspend(inbox)
    store = calls_of(inbox).store
    assert await store.claim("ann", call.id, "t") == "suspended"
    clock.ahead = 501
    await inbox.list("ann")  # which erases what has expired
    await store.release(call.id, "t")
    assert await store.claim("ann", call.id, "x") == "expired"
    found = await calls_of(inbox).find("ann", call.id)
    assert found is not None
    assert found.call.state == "expired"


async def test_of_requests_that_expired_before_anyone_looked_the_last_is_first_in_history(
    inbox: Inbox, clock: Clock
) -> None:
    ends = [300, 100, 200]
    deadlines = [datetime.fromtimestamp(clock() + each, timezone.utc) for each in ends]
    asks = [request().model_copy(update={"deadline": each}) for each in deadlines]
    await calls_of(inbox).suspend("ann", BODY, asks, 500)
    clock.ahead = 400
    history = (await inbox.history("ann")).entries
    assert [each.expires_at for each in history] == sorted(deadlines, reverse=True)


async def test_no_request_is_pending_after_its_call_has_expired(inbox: Inbox, clock: Clock) -> None:
    call = await suspend(inbox)
    changed = await calls_of(inbox).update(call, BODY, [], clock() + 100)  # the server shortened its task
    assert changed is not None
    clock.ahead = 200
    assert not (await inbox.list("ann")).entries
    assert [each.state for each in (await inbox.history("ann")).entries] == ["orphaned"]


@pytest.mark.parametrize("end", ["finish", "expire"])
async def test_without_a_history_the_requests_of_a_call_are_deleted_with_it(
    stores: Stores, clock: Clock, end: str
) -> None:
    inbox = Inbox(stores(max_history=0))
    call = await suspend(inbox, request(), request(URL))
    await inbox.answer("ann", call.request_ids[0], "accept", {"a": "x"})
    await inbox.answer("ann", call.request_ids[1], "decline")
    assert "What color?" in await stores.content()
    if end == "finish":
        await calls_of(inbox).store.claim("ann", call.id, "t")
        await calls_of(inbox).store.finish(call.id)
    else:
        clock.ahead = 501
        await inbox.list("ann")

    assert not (await inbox.history("ann")).entries

    async def is_deleted() -> bool:
        return "What color?" not in await stores.content()

    await until(is_deleted)
