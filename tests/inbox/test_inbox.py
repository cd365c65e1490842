"""The inbox: one contract for all stores, and what each has of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, parse_request
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.inbox import (
    Entry,
    EntryClosedError,
    EntryNotFoundError,
    Inbox,
    InboxError,
    InboxHandler,
    MemoryStore,
    RedisStore,
    request_schema,
)
from tests.support import ROOT, form_params
from tests.support.inboxes import Clock, RedisServer, Stores, until

pytestmark = pytest.mark.anyio

FORM = form_params(
    {"properties": {"a": {"type": "string", "title": "Colour"}, "n": {"type": "integer"}}, "required": ["a"]},
    "What colour?",
)
URL = {"mode": "url", "message": "m", "url": "https://a.example/", "elicitationId": "e"}
SECRET = "heliotrope-4711"
KEY = b"k" * 32


def request(params: Any = FORM, **details: Any) -> Any:
    return parse_request(params, server="mail", **details)


@pytest.fixture(
    params=[
        ("asyncio", "memory"),
        ("trio", "memory"),
        ("asyncio", "sqlite"),
        ("trio", "sqlite"),
        ("asyncio", "redis"),
    ],
    ids="-".join,
)
def place(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Each store on each event loop that it runs on."""
    place: tuple[str, str] = request.param
    return place


@pytest.fixture
def anyio_backend(place: tuple[str, str]) -> str:
    return place[0]


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def stores(
    place: tuple[str, str], tmp_path: Path, clock: Clock, request: pytest.FixtureRequest
) -> AsyncIterator[Stores]:
    stores = Stores(place[1], tmp_path, clock, lambda: request.getfixturevalue("redis"))
    if place[1] == "redis":
        stores.redis()
    yield stores
    for store in stores.made:
        await store.aclose()


@pytest.fixture
def inbox(stores: Stores) -> Inbox:
    return Inbox(stores())


async def waiting(inbox: Inbox, owner: str = "ann", count: int = 1) -> tuple[Entry, ...]:
    async def enough() -> tuple[Entry, ...]:
        entries = (await inbox.list(owner)).entries
        return entries if len(entries) >= count else ()

    found: tuple[Entry, ...] = await until(enough)
    return found


class Question:
    """One that somebody waits for, in the background."""

    answer: Answer

    def __init__(self, scope: anyio.CancelScope) -> None:
        self.scope = scope
        self.is_over = anyio.Event()

    async def over(self) -> Answer:
        with anyio.fail_after(20):
            await self.is_over.wait()
        return self.answer


@asynccontextmanager
async def asked(inbox: Inbox, params: Any = None, owner: str | None = "ann") -> AsyncIterator[Question]:
    question = Question(anyio.CancelScope())
    handler = InboxHandler(inbox, lambda _: owner)

    async def ask() -> None:
        with question.scope:
            question.answer = await handler(request() if params is None else params)
        question.is_over.set()

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        yield question
        group.cancel_scope.cancel()


# --- one contract


async def test_a_question_waits_is_answered_and_becomes_history(inbox: Inbox) -> None:
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        assert entry.read() == request()
        assert (entry.owner, entry.state, entry.answered_by, entry.action) == ("ann", "pending", "", None)
        assert len(entry.id) == 32
        assert entry.expires_at - entry.created_at == timedelta(seconds=240)
        assert await inbox.get("ann", entry.id) == entry

        validation = await inbox.answer("ann", entry.id, "accept", {"a": "red", "n": 3.0}, answered_by="ann@phone")
        answer = await question.over()

    assert validation.valid
    assert (answer.action, answer.content, answer.by) == ("accept", {"a": "red", "n": 3}, "user")
    assert answer.sources == {"a": "user", "n": "user"}
    assert "ann@phone" in answer.reason
    assert not (await inbox.list("ann")).entries
    (past,) = (await inbox.history("ann")).entries
    assert (past.id, past.state, past.answered_by, past.action) == (entry.id, "answered", "ann@phone", "accept")
    assert past.updated_at >= past.created_at
    assert json.loads(past.model_dump_json())["updated_at"].endswith("Z")
    assert past.read() == request()


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_no_has_no_content(inbox: Inbox, action: Any) -> None:
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        await inbox.answer("ann", entry.id, action, {"a": "red"})
        answer = await question.over()

    assert (answer.action, answer.content, answer.by) == (action, None, "user")


async def test_a_url_is_accepted_without_content(inbox: Inbox) -> None:
    async with asked(inbox, request(URL)) as question:
        (entry,) = await waiting(inbox)
        assert entry.read().target.registrable_domain == "a.example"  # type: ignore[union-attr]
        await inbox.answer("ann", entry.id, "accept", {"a": "ignored"})
        answer = await question.over()

    assert (answer.action, answer.content) == ("accept", None)


async def test_what_else_a_person_says_is_passed_on_where_it_may_be_said(inbox: Inbox) -> None:
    silenceable = request().model_copy(update={"can_block": True})
    for asks, never_again in ((request(), False), (silenceable, True)):
        async with asked(inbox, asks) as question:
            (entry,) = await waiting(inbox)
            await inbox.answer("ann", entry.id, "decline", block_server=True, confirmed=True)
            answer = await question.over()
        assert (answer.block_server, answer.confirmed) == (never_again, True)


async def test_fifty_answer_at_once_and_one_counts(inbox: Inbox, stores: Stores) -> None:
    others = [inbox, *(Inbox(stores()) for _ in range(3))]
    won: list[int] = []
    late: list[str] = []

    async def answer(number: int) -> None:
        try:
            await others[number % 4].answer("ann", entry.id, "accept", {"a": str(number)}, answered_by=str(number))
        except EntryClosedError as error:
            late.append(error.state)
        else:
            won.append(number)

    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(answer, number)
        got = await question.over()

    assert len(won) == 1
    assert late == ["answered"] * 49
    assert got.content == {"a": str(won[0])}
    assert (await inbox.get("ann", entry.id)).answered_by == str(won[0])


@pytest.mark.parametrize(
    ("owner", "entry_id"),
    [("bob", None), ("ann", "forged"), ("", None), ("ann", ""), ("ann", "\ud800"), ("ann", "x" * 9_999)],
)
async def test_a_wrong_owner_finds_what_a_wrong_id_finds(inbox: Inbox, owner: str, entry_id: str | None) -> None:
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        guess = entry.id if entry_id is None else entry_id
        attempts: list[Callable[[], Awaitable[Any]]] = [
            lambda: inbox.get(owner, guess),
            lambda: inbox.validate(owner, guess, {}),
            lambda: inbox.answer(owner, guess, "accept", {"a": "stolen"}),
            lambda: inbox.answer(owner, guess, "decline"),
            lambda: inbox.withdraw(owner, guess),
        ]
        texts = set()
        for attempt in attempts:
            with pytest.raises(EntryNotFoundError) as caught:
                await attempt()
            texts.add(str(caught.value))

        assert texts == {"there is no such question"}
        assert not (await inbox.list("bob")).entries
        assert not question.is_over.is_set()
        assert (await inbox.get("ann", entry.id)).state == "pending"


async def test_an_answer_that_does_not_fit_is_not_consumed(inbox: Inbox) -> None:
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        for answer in (inbox.validate, lambda *about: inbox.answer(about[0], about[1], "accept", about[2])):
            wrong = await answer("ann", entry.id, {"n": "three"})
            assert {(error.field, error.code) for error in wrong.errors} == {("a", "required"), ("n", "type")}
        with pytest.raises(ValueError, match="accept, decline or cancel"):
            await inbox.answer("ann", entry.id, "yes")  # type: ignore[arg-type]
        assert await inbox.validate("ann", entry.id, {"a": "red"})
        assert not question.is_over.is_set()

        assert await inbox.answer("ann", entry.id, "accept", {"a": "red"})
        assert (await question.over()).content == {"a": "red"}


async def test_patterns_are_checked(inbox: Inbox) -> None:
    asks = request(form_params({"properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}}))
    async with asked(inbox, asks) as question:
        (entry,) = await waiting(inbox)
        wrong = await inbox.answer("ann", entry.id, "accept", {"a": "R2"})
        assert [error.code for error in wrong.errors] == ["pattern"]
        await inbox.answer("ann", entry.id, "accept", {"a": "red", "more": 1})
        assert (await question.over()).content == {"a": "red"}


async def test_after_its_time_a_question_is_expired(inbox: Inbox, clock: Clock) -> None:
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        clock.ahead = 241
        with pytest.raises(EntryClosedError, match="expired"):
            await inbox.answer("ann", entry.id, "accept", {"a": "late"})
        answer = await question.over()

    assert (answer.action, answer.by) == ("cancel", "timeout")
    (past,) = (await inbox.history("ann")).entries
    assert (past.state, past.answered_by, past.updated_at) == ("expired", "clock", past.expires_at)


async def test_nobody_answers_in_time(stores: Stores) -> None:
    inbox = Inbox(stores(), answer_timeout=0.2)
    answer: Any = await InboxHandler(inbox, lambda _: "ann")(request())

    assert (answer.action, answer.by) == ("cancel", "timeout")
    assert [entry.state for entry in (await inbox.history("ann")).entries] == ["expired"]


async def test_the_deadline_of_a_request_counts(inbox: Inbox) -> None:
    deadline = datetime.now(timezone.utc) + timedelta(seconds=20)
    async with asked(inbox, request().model_copy(update={"deadline": deadline})):
        (entry,) = await waiting(inbox)

    assert abs(entry.expires_at - deadline) < timedelta(milliseconds=1)


async def test_a_question_can_be_withdrawn(inbox: Inbox) -> None:
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        await inbox.withdraw("ann", entry.id, withdrawn_by="the agent")
        answer = await question.over()
        for again in (inbox.withdraw("ann", entry.id), inbox.answer("ann", entry.id, "decline")):
            with pytest.raises(EntryClosedError) as caught:
                await again
            assert caught.value.state == "withdrawn"

    assert (answer.action, answer.by) == ("cancel", "host")
    assert (await inbox.get("ann", entry.id)).answered_by == "the agent"


async def test_cancellation_withdraws(inbox: Inbox) -> None:
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        question.scope.cancel()
        with anyio.fail_after(20):
            await question.is_over.wait()
        with pytest.raises(EntryClosedError):
            await inbox.answer("ann", entry.id, "decline")

    past = await inbox.get("ann", entry.id)
    assert (past.state, past.answered_by) == ("withdrawn", "client")


@pytest.mark.parametrize("owner", [None, "", 7])
async def test_without_an_owner_nobody_is_asked(inbox: Inbox, owner: Any) -> None:
    answer: Any = await InboxHandler(inbox, lambda _: owner)(request())

    assert (answer.action, answer.by) == ("cancel", "unattended")


@pytest.mark.parametrize("key", [None, KEY])
async def test_values_are_in_the_store_until_they_are_delivered_and_no_longer(stores: Stores, key: Any) -> None:
    inbox = Inbox(stores(), key)
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        assert ("What colour?" in await stores.content()) == (key is None)
        await inbox.answer("ann", entry.id, "accept", {"a": SECRET})
        assert (await question.over()).content == {"a": SECRET}

    async def is_wiped() -> bool:
        return SECRET not in await stores.content()

    await until(is_wiped)
    shown = [await inbox.get("ann", entry.id), *(await inbox.history("ann")).entries]
    assert not any(SECRET in each.model_dump_json() for each in shown)


async def test_what_another_key_sealed_is_an_error(stores: Stores) -> None:
    inbox, other, plain = Inbox(stores(), KEY), Inbox(stores(), b"o" * 32), Inbox(stores())
    async with asked(inbox):
        (entry,) = await waiting(inbox)
        for stranger in (other, plain):
            with pytest.raises(InboxError):
                await stranger.answer("ann", entry.id, "accept", {"a": "x"})
            with pytest.raises(InboxError):
                await stranger.list("ann")


async def test_an_answer_may_come_from_another_event_loop(stores: Stores) -> None:
    store = stores()
    inbox = Inbox(store)

    async def elsewhere() -> None:
        await inbox.answer("ann", entry.id, "accept", {"a": "x"})
        if stores.kind == "redis":
            await inbox.aclose()

    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        await anyio.to_thread.run_sync(anyio.run, elsewhere)
        assert (await question.over()).content == {"a": "x"}


async def test_pages_begin_where_the_last_one_ended(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        for number in range(7):
            asks = request({**FORM, "message": str(number)})
            group.start_soon(InboxHandler(inbox, lambda _: "ann"), asks)
            await waiting(inbox, count=number + 1)
        first = await inbox.list("ann", limit=3)
        second = await inbox.list("ann", limit=3, cursor=first.next_cursor)
        third = await inbox.list("ann", limit=3, cursor=second.next_cursor)
        for entry in first.entries:
            await inbox.answer("ann", entry.id, "decline")
        assert len((await inbox.list("ann", cursor=first.next_cursor)).entries) == 4
        assert len((await inbox.list("bob")).entries) == 0
        group.cancel_scope.cancel()

    pages = [[entry.request["message"] for entry in page.entries] for page in (first, second, third)]
    assert pages == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    assert third.next_cursor is None
    past = await inbox.history("ann", limit=5)
    rest = await inbox.history("ann", limit=5, cursor=past.next_cursor)
    states = [entry.state for entry in (*past.entries, *rest.entries)]
    assert states == ["withdrawn"] * 4 + ["answered"] * 3
    for nowhere in ("x", "-1", "9" * 30):
        with pytest.raises(ValueError, match="no place"):
            await inbox.list("ann", cursor=nowhere)


async def test_history_is_bounded_in_number(stores: Stores) -> None:
    inbox = Inbox(stores(max_history=3))
    entries = []
    for _ in range(6):
        async with asked(inbox) as question:
            (entry,) = await waiting(inbox)
            await inbox.answer("ann", entry.id, "decline")
            await question.over()
        entries.append(entry.id)

    found = [entry.id for entry in (await inbox.history("ann")).entries]
    assert found == entries[:2:-1]
    with pytest.raises(EntryNotFoundError):
        await inbox.get("ann", entries[0])


async def test_history_is_bounded_in_age(stores: Stores, clock: Clock) -> None:
    inbox = Inbox(stores(history_ttl=0.3))
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        await inbox.answer("ann", entry.id, "decline")
        await question.over()

    async def is_forgotten() -> bool:
        return not (await inbox.history("ann")).entries

    await until(is_forgotten)


async def test_a_watcher_sees_what_waits_what_comes_and_what_becomes_of_it(inbox: Inbox, stores: Stores) -> None:
    seen: list[tuple[str, str]] = []
    watched = Inbox(stores())

    async def watch() -> None:
        async for entry in watched.watch("ann"):
            seen.append((entry.id, entry.state))  # noqa: PERF401 -- one by one

    async def saw(*events: tuple[str, str]) -> None:
        async def all_of_them() -> bool:
            return len(seen) >= len(events)

        await until(all_of_them)
        assert seen == list(events)

    async with asked(inbox) as first:
        (one,) = await waiting(inbox)
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await saw((one.id, "pending"))
            async with asked(inbox), asked(inbox, owner="bob"):
                two = (await waiting(inbox, count=2))[1]
                await saw((one.id, "pending"), (two.id, "pending"))
                await inbox.answer("ann", one.id, "accept", {"a": "x"})
                await first.over()
                await saw((one.id, "pending"), (two.id, "pending"), (one.id, "answered"))
            await saw((one.id, "pending"), (two.id, "pending"), (one.id, "answered"), (two.id, "withdrawn"))
            group.cancel_scope.cancel()


async def test_the_schema_of_requests_is_there_for_front_ends() -> None:
    schema = request_schema()

    assert {"FormRequest", "UrlRequest"} <= set(schema["$defs"])


async def test_requests_keep_their_fields_and_lose_the_servers_meta(inbox: Inbox) -> None:
    asks = request({**FORM, "_meta": {"x": {"y": 1}}}, protocol_version="2025-11-25", tool="paint", request_id=7)
    async with asked(inbox, asks):
        (entry,) = await waiting(inbox)

    assert "meta" not in entry.request
    assert entry.read() == asks.model_copy(update={"meta": {}})


# --- parked calls

BODY = "everything that is needed"


async def parked(inbox: Inbox, *asks: Any, lifetime: float = 500, call_id: str | None = None) -> Any:
    deadline = datetime.fromtimestamp(inbox.calls.store.clock() + 0.9 * lifetime, timezone.utc)
    closing = [each.model_copy(update={"deadline": deadline}) for each in asks or (request(),)]
    return await inbox.calls.suspend("ann", BODY, closing, lifetime, call_id)


async def test_the_questions_of_a_parked_call_wait_though_no_process_does(stores: Stores) -> None:
    call = await parked(Inbox(stores()), request(), request(URL))
    later = Clock()
    other = Inbox(stores(clock=later) if stores.kind != "memory" else stores())
    later.ahead = stores.clock.ahead = 440

    first, second = (await other.list("ann")).entries
    assert (first.id, second.id) == call.request_ids
    assert (first.call, first.state) == (call.id, "pending")
    assert abs(first.expires_at - first.created_at - timedelta(seconds=450)) < timedelta(seconds=1)
    found = await other.calls.find("ann", call.id)
    assert found is not None
    assert (found.body, found.answers, found.call.state) == (BODY, (None, None), "suspended")

    await other.answer("ann", first.id, "accept", {"a": SECRET}, answered_by="ann@phone")
    await other.withdraw("ann", second.id)
    found = await other.calls.find("ann", call.id)
    assert found is not None
    assert [(each.action, each.content, each.by) for each in found.answers if each] == [
        ("accept", {"a": SECRET}, "user"),
        ("cancel", None, "host"),
    ]


@pytest.mark.parametrize("key", [None, KEY])
async def test_what_was_answered_stays_until_the_call_is_over_and_no_longer(stores: Stores, key: Any) -> None:
    inbox = Inbox(stores(max_history=2, history_ttl=0.05), key)
    call = await parked(inbox)
    await inbox.answer("ann", call.request_ids[0], "accept", {"a": SECRET})
    for _ in range(4):  # what history holds is not what a call needs
        async with asked(inbox) as question:
            (entry,) = await waiting(inbox)
            await inbox.answer("ann", entry.id, "decline")
            await question.over()
    await anyio.sleep(0.1)  # longer than history is kept

    content = await stores.content()
    assert (BODY in content, SECRET in content) == (key is None, key is None)
    assert await inbox.calls.claim("ann", call.id, "t") == "suspended"
    found = await inbox.calls.find("ann", call.id)
    assert found is not None
    assert found.answers[0] is not None
    assert (found.call.state, found.answers[0].content) == ("resuming", {"a": SECRET})

    await inbox.calls.finish(call.id)

    async def is_wiped() -> bool:
        content = await stores.content()
        return SECRET not in content and BODY not in content

    await until(is_wiped)
    found = await inbox.calls.find("ann", call.id)
    assert found is not None
    assert (found.call.state, found.body, found.answers) == ("finished", "", ())


async def test_of_forty_who_resume_a_call_at_once_one_does(stores: Stores) -> None:
    inboxes = [Inbox(stores()) for _ in range(4)]
    call = await parked(inboxes[0])
    states: list[Any] = []

    async def claim(number: int) -> None:
        states.append(await inboxes[number % 4].calls.claim("ann", call.id, f"t{number}"))

    async with anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(claim, number)

    assert sorted(states) == [*["resuming"] * 39, "suspended"]


async def test_a_claim_is_given_up_only_by_who_has_it(inbox: Inbox) -> None:
    call = await parked(inbox)
    assert await inbox.calls.claim("ann", call.id, "mine") == "suspended"
    await inbox.calls.release(call.id, "theirs")
    assert await inbox.calls.claim("ann", call.id, "theirs") == "resuming"
    await inbox.calls.release(call.id, "mine")
    assert await inbox.calls.claim("ann", call.id, "theirs") == "suspended"
    await inbox.calls.finish(call.id)
    await inbox.calls.release(call.id, "theirs")
    assert await inbox.calls.claim("ann", call.id, "mine") == "finished"


@pytest.mark.parametrize("owner_and_id", [("bob", None), ("ann", "forged"), ("", None), ("ann", "\ud800")])
async def test_a_wrong_owner_finds_no_parked_call(inbox: Inbox, owner_and_id: tuple[str, str | None]) -> None:
    call = await parked(inbox)
    owner, guess = owner_and_id[0], call.id if owner_and_id[1] is None else owner_and_id[1]
    assert await inbox.calls.find(owner, guess) is None
    if guess.isascii():
        assert await inbox.calls.claim(owner, guess, "t") is None
    assert await inbox.calls.claim("ann", call.id, "t") == "suspended"


async def test_a_call_that_asks_again_keeps_its_name_and_forgets_what_was_answered(
    inbox: Inbox, stores: Stores
) -> None:
    call = await parked(inbox)
    await inbox.answer("ann", call.request_ids[0], "accept", {"a": SECRET})
    await inbox.calls.claim("ann", call.id, "t")
    again = await parked(inbox, request(URL), call_id=call.id)

    assert again.id == call.id
    found = await Inbox(stores()).calls.find("ann", call.id)
    assert found is not None
    assert (found.call.state, found.answers, found.call.request_ids) == ("suspended", (None,), again.request_ids)
    assert [entry.id for entry in (await inbox.list("ann")).entries] == list(again.request_ids)

    async def is_wiped() -> bool:
        return SECRET not in await stores.content()

    await until(is_wiped)


async def test_a_call_that_nobody_resumes_expires_and_leaves_nothing(stores: Stores, clock: Clock) -> None:
    inbox = Inbox(stores())
    answered, open_ = await parked(inbox), await parked(inbox)
    claimed = await parked(inbox)
    await inbox.answer("ann", answered.request_ids[0], "accept", {"a": SECRET})
    await inbox.calls.claim("ann", claimed.id, "t")
    clock.ahead = 451
    (past, *others) = (await inbox.history("ann")).entries
    assert {past.state, *(each.state for each in others)} == {"expired", "answered"}
    assert await inbox.calls.claim("ann", open_.id, "t") == "suspended"  # it still can be resumed
    await inbox.calls.release(open_.id, "t")

    clock.ahead = 501
    for call, state in ((answered, "expired"), (open_, "expired"), (claimed, "resuming")):
        found = await inbox.calls.find("ann", call.id)
        assert found is not None
        assert (found.call.state, found.body, found.answers) == (state, "", ())
        assert await inbox.calls.claim("ann", call.id, "x") == state
    if stores.kind == "sqlite":
        await stores.made[0].aclose()
    assert SECRET not in await stores.content()

    clock.ahead = 501 + 3_601
    if stores.kind != "redis":  # which forgets by a clock of its own
        assert [await inbox.calls.find("ann", call.id) for call in (answered, open_, claimed)] == [None] * 3


async def test_a_parked_call_of_another_key_is_an_error(stores: Stores) -> None:
    call = await parked(Inbox(stores(), KEY))
    stranger = Inbox(stores(), b"o" * 32)
    for look in (stranger.list("ann"), stranger.calls.find("ann", call.id)):
        with pytest.raises(InboxError, match="not sealed with this key"):
            await look


async def test_a_watcher_sees_the_questions_of_a_parked_call(inbox: Inbox, stores: Stores) -> None:
    seen: list[tuple[str | None, str]] = []
    watched = Inbox(stores())

    async def watch() -> None:
        async for entry in watched.watch("ann"):
            seen.append((entry.call, entry.state))  # noqa: PERF401 -- one by one

    async def saw(count: int) -> None:
        async def enough() -> bool:
            return len(seen) >= count

        await until(enough)

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        first = await parked(inbox)
        await saw(1)
        await inbox.answer("ann", first.request_ids[0], "decline")
        await saw(2)
        group.cancel_scope.cancel()

    assert seen == [(first.id, "pending"), (first.id, "answered")]


# --- processes that share a store


@pytest.mark.parametrize("place", [("asyncio", "sqlite"), ("trio", "sqlite"), ("asyncio", "redis")], ids="-".join)
async def test_a_question_whose_process_gives_no_sign_of_life_is_orphaned(stores: Stores) -> None:
    inbox, later = Inbox(stores()), Clock()
    other = Inbox(stores(clock=later))
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        later.ahead = 29
        assert (await other.get("ann", entry.id)).state == "pending"
        later.ahead = 31
        assert (await other.get("ann", entry.id)).state == "orphaned"
        assert not (await other.list("ann")).entries
        with pytest.raises(EntryClosedError, match="orphaned"):
            await other.answer("ann", entry.id, "accept", {"a": "x"})
        answer = await question.over()

    assert (answer.action, answer.by) == ("cancel", "error")
    assert (await inbox.get("ann", entry.id)).answered_by == "heartbeat"


ASKER = """
import sys, anyio, json
from mcp_elicit_client import parse_request
from mcp_elicit_client.inbox import Inbox, InboxHandler, RedisStore, SqliteStore
kind, where, lease = sys.argv[1:4]
store = SqliteStore(where, lease=float(lease)) if kind == "sqlite" else RedisStore(
    where.split()[0], prefix=where.split()[1], lease=float(lease))
params = {"message": "m", "requestedSchema": {"properties": {"a": {"type": "string"}}}}
async def main():
    answer = await InboxHandler(Inbox(store), lambda _: "ann")(parse_request(params, server="mail"))
    print(json.dumps([answer.action, answer.content, answer.by]))
    await store.aclose()
anyio.run(main)
"""


def asker(stores: Stores, lease: float) -> subprocess.Popen[str]:
    where = str(stores.path) if stores.kind == "sqlite" else f"{stores.redis().url} {{{stores.path}}}"
    return subprocess.Popen(
        [sys.executable, "-c", ASKER, stores.kind, where, str(lease)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


TWO = pytest.mark.parametrize("place", [("asyncio", "sqlite"), ("asyncio", "redis")], ids="-".join)


@TWO
async def test_asked_in_one_process_answered_in_another(stores: Stores) -> None:
    inbox = Inbox(stores())
    with asker(stores, 30) as process:
        (entry,) = await waiting(inbox)
        await inbox.answer("ann", entry.id, "accept", {"a": SECRET})
        output, _ = await anyio.to_thread.run_sync(process.communicate)

    assert json.loads(output) == ["accept", {"a": SECRET}, "user"]
    assert SECRET not in await stores.content()


@TWO
async def test_the_questions_of_a_killed_process_are_orphaned_and_those_of_a_living_one_are_not(stores: Stores) -> None:
    inbox = Inbox(stores(lease=1))
    with asker(stores, 1) as killed, asker(stores, 1) as living:
        try:
            entries = await waiting(inbox, count=2)
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


CROWD = """
import sys, anyio, json
from mcp_elicit_client import parse_request
from mcp_elicit_client.inbox import Inbox, InboxHandler, RedisStore, SqliteStore
kind, where, count = sys.argv[1:4]
store = SqliteStore(where, lock_timeout=20) if kind == "sqlite" else RedisStore(where.split()[0], prefix=where.split()[1])
params = {"message": "m", "requestedSchema": {"properties": {"a": {"type": "string"}}}}
answers = []
async def ask(handler, number):
    answer = await handler(parse_request({**params, "message": str(number)}, server="mail"))
    answers.append([str(number), (answer.content or {}).get("a"), answer.action])
async def main():
    handler = InboxHandler(Inbox(store), lambda _: "ann")
    async with anyio.create_task_group() as group:
        for number in range(int(count)):
            group.start_soon(ask, handler, number)
    await store.aclose()
    print(json.dumps(answers))
anyio.run(main)
"""


@pytest.mark.parametrize(
    ("place", "count"), [(("asyncio", "sqlite"), 200), (("asyncio", "redis"), 1_000)], ids=["sqlite", "redis"]
)
async def test_of_a_thousand_asked_in_one_process_none_is_lost_and_none_answered_twice(
    stores: Stores, count: int
) -> None:
    inbox = Inbox(stores(lock_timeout=20) if stores.kind == "sqlite" else stores())
    where = str(stores.path) if stores.kind == "sqlite" else f"{stores.redis().url} {{{stores.path}}}"
    command = [sys.executable, "-c", CROWD, stores.kind, where, str(count)]
    answered = 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process, anyio.fail_after(60):
        while answered < count:
            for entry in await waiting(inbox):
                await inbox.answer("ann", entry.id, "accept", {"a": entry.request["message"]})
                answered += 1
        output, _ = await anyio.to_thread.run_sync(process.communicate)

    answers = json.loads(output)
    assert sorted(int(number) for number, _, _ in answers) == list(range(count))
    assert all(number == value and action == "accept" for number, value, action in answers)


# --- SQLite


@pytest.fixture
def sqlite(stores: Stores, place: tuple[str, str]) -> Stores:
    assert place[1] == "sqlite"
    return stores


ON_SQLITE = pytest.mark.parametrize("place", [("asyncio", "sqlite"), ("trio", "sqlite")], ids="-".join)


async def refused(store: Any) -> Answer:
    answer: Any = await InboxHandler(Inbox(store), lambda _: "ann")(request())
    with pytest.raises(InboxError, match=r"inbox\.db cannot be used"):
        await Inbox(store).list("ann")
    assert isinstance(answer, Answer)
    assert (answer.action, answer.by) == ("cancel", "error")
    return answer


@ON_SQLITE
async def test_a_file_that_is_no_inbox_is_a_cancel_by_error(sqlite: Stores) -> None:
    sqlite.path.write_bytes(b"not a database" * 100)
    assert "not a database" in (await refused(sqlite())).reason


@ON_SQLITE
async def test_a_file_of_another_version_is_refused(sqlite: Stores) -> None:
    with sqlite3.connect(sqlite.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert "version" in (await refused(sqlite())).reason


VERSION_1 = """
CREATE TABLE entries (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, worker TEXT NOT NULL, request TEXT NOT NULL, created REAL NOT NULL,
    expires REAL NOT NULL, place INTEGER NOT NULL, changed INTEGER NOT NULL, state TEXT NOT NULL, who TEXT NOT NULL,
    moment REAL NOT NULL, action TEXT NOT NULL, answer TEXT, token TEXT NOT NULL, is_open INTEGER NOT NULL
);
CREATE TABLE leases (worker TEXT PRIMARY KEY, until REAL NOT NULL);
CREATE TABLE position (last INTEGER NOT NULL);
INSERT INTO position VALUES (7);
PRAGMA user_version = 1;
"""


@ON_SQLITE
async def test_a_file_of_the_version_before_is_used_as_it_is(sqlite: Stores) -> None:
    now = sqlite.clock()
    written = request().model_dump_json(exclude={"meta"})
    values = ("x" * 32, "ann", "w", written, now, now + 200, 7, 7, "pending", "", now, "", None, "", 1)
    with sqlite3.connect(sqlite.path) as connection:
        connection.executescript(VERSION_1)
        connection.execute(f"INSERT INTO entries VALUES ({', '.join('?' * 15)})", values)
        connection.execute("INSERT INTO leases VALUES ('w', ?)", (now + 200,))
    connection.close()
    sqlite.path.chmod(0o600)

    inbox = Inbox(sqlite())
    (old,) = (await inbox.list("ann")).entries
    call = await parked(inbox)
    assert old.read() == request()
    assert [entry.call for entry in (await Inbox(sqlite()).list("ann")).entries] == [None, call.id]


@ON_SQLITE
async def test_a_file_that_others_may_write_is_refused(sqlite: Stores) -> None:
    sqlite.path.touch()
    sqlite.path.chmod(0o666)
    assert "others may write it" in (await refused(sqlite())).reason


@ON_SQLITE
async def test_a_folder_that_is_not_there_is_a_cancel_by_error(sqlite: Stores) -> None:
    sqlite.path = sqlite.path.parent / "nowhere" / "inbox.db"
    assert (await refused(sqlite())).by == "error"


@ON_SQLITE
async def test_a_locked_file_is_a_cancel_by_error_and_used_again_when_it_is_free(sqlite: Stores) -> None:
    store = sqlite(lock_timeout=0.05)
    inbox = Inbox(store)
    await inbox.list("ann")
    other = sqlite3.connect(sqlite.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    answer: Any = await InboxHandler(inbox, lambda _: "ann")(request())
    assert (answer.action, answer.by) == ("cancel", "error")
    assert "locked" in answer.reason
    other.execute("ROLLBACK")
    other.close()

    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        await inbox.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await question.over()).action == "accept"


@ON_SQLITE
async def test_a_full_disk_is_a_cancel_by_error(sqlite: Stores) -> None:
    store = sqlite()
    await Inbox(store).list("ann")
    store._database._connection.execute("PRAGMA max_page_count = 1")
    answer: Any = await InboxHandler(Inbox(store), lambda _: "ann")(request({**FORM, "message": "m" * 4_000}))
    assert (answer.action, answer.by) == ("cancel", "error")
    assert "full" in answer.reason


@ON_SQLITE
async def test_the_file_is_for_its_owner_alone(sqlite: Stores) -> None:
    await Inbox(sqlite()).list("ann")

    assert {file.stat().st_mode & 0o777 for file in sqlite.path.parent.glob("inbox.db*")} == {0o600}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is nothing to fork here")
@pytest.mark.parametrize("place", [("asyncio", "sqlite")], ids="-".join)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
async def test_a_forked_process_asks_under_its_own_name(sqlite: Stores) -> None:
    store = sqlite()
    await Inbox(store).list("ann")
    before = store._name()
    child = os.fork()
    if not child:
        os._exit(0 if store._name() != before and store._database._open() else 1)

    _, status = await anyio.to_thread.run_sync(os.waitpid, child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert store._name() == before


# --- Redis

ON_REDIS = pytest.mark.parametrize("place", [("asyncio", "redis")], ids="-".join)


@ON_REDIS
async def test_questions_survive_a_redis_that_restarts_and_has_lost_everything(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    server = RedisServer(tmp_path)
    here, there = RedisStore(server.url), RedisStore(server.url)
    inbox, other = Inbox(here), Inbox(there)
    try:
        async with asked(inbox) as one, asked(inbox) as two:
            before = await waiting(other, count=2)
            server.stop()
            with pytest.raises(InboxError):
                await other.list("ann")
            answer: Any = await InboxHandler(inbox, lambda _: "ann")(request())
            assert (answer.action, answer.by) == ("cancel", "error")
            server.start()
            after = await waiting(other, count=2)
            assert {entry.id for entry in after} == {entry.id for entry in before}
            for entry in after:
                await other.answer("ann", entry.id, "accept", {"a": "x"})
            assert (await one.over()).content == (await two.over()).content == {"a": "x"}
    finally:
        await here.aclose()
        await there.aclose()
        server.stop()


@ON_REDIS
async def test_a_question_ends_in_time_though_redis_is_gone(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    inbox = Inbox(RedisStore(server.url), answer_timeout=0.5)
    try:
        async with asked(inbox) as question:
            await waiting(inbox)
            server.stop()
            answer = await question.over()
    finally:
        await inbox.aclose()
        server.stop()

    assert (answer.action, answer.by) == ("cancel", "timeout")


@ON_REDIS
async def test_an_answer_that_was_not_heard_is_read(stores: Stores) -> None:
    """What is published while nobody listens is lost, and the answer is not."""
    store = stores()
    inbox = Inbox(store)
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        store._link()._take = lambda *_: None
        await inbox.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await question.over()).content == {"a": "x"}


@ON_REDIS
async def test_the_same_attempt_again_is_the_same_answer(stores: Stores) -> None:
    from mcp_elicit_client.inbox.stores.protocol import Resolution

    store = stores()
    inbox = Inbox(store)
    async with asked(inbox) as question:
        (entry,) = await waiting(inbox)
        about = ("ann", entry.id, Resolution("withdrawn", "x", stores.clock()), "token")
        assert [await store.resolve(*about), await store.resolve(*about)] == ["pending", "pending"]
        assert await store.resolve(*about[:3], "another") == "withdrawn"
        await question.over()


@ON_REDIS
async def test_the_same_attempt_to_park_or_resume_again_is_the_same(stores: Stores) -> None:
    store = stores()
    call = await parked(Inbox(store))
    await store.suspend(call, [], "again")
    assert [await store.claim("ann", call.id, "mine") for _ in range(2)] == ["suspended", "suspended"]
    await store.suspend(call, [], "again")  # the same attempt: it was parked by it already
    assert await store.claim("ann", call.id, "theirs") == "resuming"


@pytest.mark.parametrize("place", [("trio", "redis")], ids="-".join)
async def test_redis_needs_asyncio() -> None:
    inbox = Inbox(RedisStore("redis://127.0.0.1:1"))
    with pytest.raises(InboxError, match="asyncio"):
        await inbox.list("ann")
    answer: Any = await InboxHandler(inbox, lambda _: "ann")(request())
    assert (answer.action, answer.by) == ("cancel", "error")


# --- extras


@pytest.mark.parametrize("place", [("asyncio", "memory")], ids="-".join)
async def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("redis.asyncio", "cryptography.exceptions"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"mcp-elicit-client\[redis\]"):
        RedisStore("redis://127.0.0.1:1")
    with pytest.raises(MissingExtraError, match=r"mcp-elicit-client\[sealed\]"):
        Inbox(MemoryStore(), KEY)


@pytest.mark.parametrize("place", [("asyncio", "memory")], ids="-".join)
async def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Inbox(MemoryStore(), b"short")


def test_importing_the_inbox_loads_neither_redis_nor_cryptography() -> None:
    code = "import sys, mcp_elicit_client.inbox; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert not {name.partition(".")[0] for name in run.stdout.split()} & {"redis", "cryptography", "trio", "starlette"}
