"""Requests in an inbox: one contract for all stores."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, Limits, parse_request
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.request import default_answer_timeout
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.inbox import (
    EntryClosedError,
    EntryNotFoundError,
    Inbox,
    InboxError,
    InboxHandler,
    MemoryStore,
    RedisStore,
    request_schema,
)
from mcp_elicit_client.inbox import inbox as inbox_module
from mcp_elicit_client.inbox.inbox import record_notice
from mcp_elicit_client.inbox.stores.models import HISTORY_TTL, Resolution, StoredRequest
from mcp_elicit_client.inbox.stores.sql_session import SqlSession
from mcp_elicit_client.policies import answer_timeout
from tests.support import EVENT_LOOPS, form_params, until
from tests.support.inboxes import (
    FORM,
    KEY,
    SECRET,
    URL,
    Clock,
    Stores,
    asking,
    pending,
    request,
    same,
    waiting_for_answer,
)

pytestmark = pytest.mark.anyio


async def test_a_request_is_pending_then_answered_and_then_history(inbox: Inbox) -> None:
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        assert same(entry.read(), request())
        assert (entry.owner, entry.state, entry.answered_by, entry.action) == ("ann", "pending", "", None)
        assert len(entry.id) == 32
        assert entry.expires_at - entry.created_at == timedelta(seconds=240)
        assert await inbox.get("ann", entry.id) == entry

        validation = await inbox.answer("ann", entry.id, "accept", {"a": "red", "n": 3.0}, answered_by="ann@phone")
        answer = await asked.result()

    assert validation.valid
    assert (answer.action, answer.content, answer.by) == ("accept", {"a": "red", "n": 3}, "user")
    assert answer.sources == {"a": "user", "n": "user"}
    assert "ann@phone" in answer.reason
    assert not (await inbox.list("ann")).entries
    (past,) = (await inbox.history("ann")).entries
    assert (past.id, past.state, past.answered_by, past.action) == (entry.id, "answered", "ann@phone", "accept")
    assert past.updated_at >= past.created_at
    assert json.loads(past.model_dump_json())["updated_at"].endswith("Z")
    assert same(past.read(), request())


async def test_values_that_a_page_suggested_have_the_source_default(inbox: Inbox) -> None:
    properties = {
        "name": {"type": "string", "default": "Ann"},
        "seats": {"type": "integer", "default": 2},
        "window": {"type": "boolean", "default": False},
        "meal": {"type": "boolean", "default": True},  # which no page preselects
        "extras": {"type": "array", "items": {"enum": ["bag", "bike"]}, "default": ["bike"]},
        "note": {"type": "string"},
    }
    content = {"name": "Bob", "seats": 2.0, "window": False, "meal": True, "extras": ["bike"], "note": ""}
    async with asking(inbox, request(form_params({"properties": properties}))) as asked:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, "accept", content)
        answer = await asked.result()

    assert answer.sources == {
        "name": "user",
        "seats": "default",
        "window": "default",
        "meal": "user",
        "extras": "default",
        "note": "user",
    }


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_decline_or_cancel_has_no_content(inbox: Inbox, action: Any) -> None:
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, action, {"a": "red"})
        answer = await asked.result()

    assert (answer.action, answer.content, answer.by) == (action, None, "user")


async def test_a_url_is_accepted_without_content(inbox: Inbox) -> None:
    async with asking(inbox, request(URL)) as asked:
        (entry,) = await pending(inbox)
        assert entry.read().target.registrable_domain == "a.example"  # type: ignore[union-attr]
        await inbox.answer("ann", entry.id, "accept", {"a": "ignored"})
        answer = await asked.result()

    assert (answer.action, answer.content) == ("accept", None)


async def test_block_server_counts_only_where_the_request_allows_it(inbox: Inbox) -> None:
    blockable = request().model_copy(update={"can_block": True})
    for asks, blocks in ((request(), False), (blockable, True)):
        async with asking(inbox, asks) as asked:
            (entry,) = await pending(inbox)
            await inbox.answer("ann", entry.id, "decline", block_server=True, confirmed=True)
            answer = await asked.result()
        assert (answer.block_server, answer.confirmed) == (blocks, True)


async def test_of_fifty_simultaneous_answers_one_counts(inbox: Inbox, stores: Stores) -> None:
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

    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(answer, number)
        got = await asked.result()

    assert len(won) == 1
    assert late == ["answered"] * 49
    assert got.content == {"a": str(won[0])}
    assert (await inbox.get("ann", entry.id)).answered_by == str(won[0])


async def test_an_answer_to_a_request_that_was_just_read_does_not_read_it_again(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    get = inbox._store.get

    async def counted(owner: str, entry_id: str) -> StoredRequest | None:
        read.append(entry_id)
        return await get(owner, entry_id)

    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        monkeypatch.setattr(inbox._store, "get", counted)
        assert (await inbox.answer("ann", entry.id, "accept", {"a": "red"})).valid
        await asked.result()

    assert not read


async def test_a_request_that_was_closed_since_it_was_read_takes_no_answer(inbox: Inbox, stores: Stores) -> None:
    other = Inbox(stores())
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        assert (await other.get("ann", entry.id)).state == "pending"
        with pytest.raises(EntryNotFoundError):
            await other.answer("ben", entry.id, "decline")
        await inbox.answer("ann", entry.id, "accept", {"a": "red"})
        for content in ({"a": "blue"}, {"a": 7}):
            with pytest.raises(EntryClosedError, match="answered"):
                await other.answer("ann", entry.id, "accept", content)
        answer = await asked.result()

    assert answer.content == {"a": "red"}


@pytest.mark.parametrize(
    ("owner", "entry_id"),
    [("bob", None), ("ann", "forged"), ("", None), ("ann", ""), ("ann", "\ud800"), ("ann", "x" * 9_999)],
)
async def test_a_wrong_owner_gets_the_error_of_a_wrong_id(inbox: Inbox, owner: str, entry_id: str | None) -> None:
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
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

        assert len(texts) == 1
        assert not (await inbox.list("bob")).entries
        assert not asked.finished.is_set()
        assert (await inbox.get("ann", entry.id)).state == "pending"


async def test_an_invalid_answer_leaves_the_request_pending(inbox: Inbox) -> None:
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        for answer in (inbox.validate, lambda *about: inbox.answer(about[0], about[1], "accept", about[2])):
            wrong = await answer("ann", entry.id, {"n": "three"})
            assert {(error.field, error.code) for error in wrong.errors} == {("a", "required"), ("n", "type")}
        with pytest.raises(ValueError, match="accept, decline or cancel"):
            await inbox.answer("ann", entry.id, "yes")  # type: ignore[arg-type]
        assert await inbox.validate("ann", entry.id, {"a": "red"})
        assert not asked.finished.is_set()

        assert await inbox.answer("ann", entry.id, "accept", {"a": "red"})
        assert (await asked.result()).content == {"a": "red"}


async def test_patterns_are_checked(inbox: Inbox) -> None:
    asks = request(form_params({"properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}}))
    async with asking(inbox, asks) as asked:
        (entry,) = await pending(inbox)
        wrong = await inbox.answer("ann", entry.id, "accept", {"a": "R2"})
        assert [error.code for error in wrong.errors] == ["pattern"]
        await inbox.answer("ann", entry.id, "accept", {"a": "red", "more": 1})
        assert (await asked.result()).content == {"a": "red"}


async def test_a_request_expires(inbox: Inbox, clock: Clock) -> None:
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        clock.ahead = 241
        with pytest.raises(EntryClosedError, match="expired"):
            await inbox.answer("ann", entry.id, "accept", {"a": "late"})
        answer = await asked.result()

    assert (answer.action, answer.by) == ("cancel", "timeout")
    (past,) = (await inbox.history("ann")).entries
    assert (past.state, past.answered_by, past.updated_at) == ("expired", "clock", past.expires_at)


async def test_without_an_answer_in_time_the_result_is_a_cancel(stores: Stores) -> None:
    inbox = Inbox(stores(), answer_timeout=0.2)
    answer: Any = await InboxHandler(inbox, "ann")(request())

    assert (answer.action, answer.by) == ("cancel", "timeout")
    assert [entry.state for entry in (await inbox.history("ann")).entries] == ["expired"]


async def test_a_request_with_a_deadline_expires_then(inbox: Inbox) -> None:
    deadline = datetime.now(timezone.utc) + timedelta(seconds=20)
    async with asking(inbox, request().model_copy(update={"deadline": deadline})):
        (entry,) = await pending(inbox)

    assert abs(entry.expires_at - deadline) < timedelta(milliseconds=1)


async def test_a_user_can_extend_the_deadline_ten_times(stores: Stores) -> None:
    inbox = Inbox(stores(), answer_timeout=100)
    async with asking(inbox) as waiting:
        (entry,) = await pending(inbox)
        assert entry.max_expires_at - entry.created_at == timedelta(seconds=1_100)
        for count in range(11):
            assert (entry.expires_at < entry.max_expires_at) == (count < 10)
            entry = await inbox.extend("ann", entry.id)
        assert entry.expires_at == entry.max_expires_at
        assert (await inbox.get("ann", entry.id)).expires_at == entry.max_expires_at
        await inbox.answer("ann", entry.id, "accept", {"a": "red"})
        assert (await waiting.result()).action == "accept"
        with pytest.raises(EntryClosedError):
            await inbox.extend("ann", entry.id)


async def test_an_extended_request_expired_at_its_new_deadline(inbox: Inbox, clock: Clock) -> None:
    async with asking(inbox):
        (entry,) = await pending(inbox)
        extended = await inbox.extend("ann", entry.id)
        clock.ahead = 1_000
        (past,) = (await inbox.history("ann")).entries

    assert (past.state, past.updated_at) == ("expired", extended.expires_at)


async def test_the_task_that_waits_notices_an_extension_by_another_process(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "_EXTENSION_MARGIN", 0.1)
    inbox, other = Inbox(stores(), answer_timeout=1.5), Inbox(stores(), answer_timeout=1.5)
    async with asking(inbox) as waiting:
        (entry,) = await pending(other)
        await other.extend("ann", entry.id)
        extended = (await other.get("ann", entry.id)).expires_at
        assert extended > entry.expires_at
        assert (await waiting.result()).by == "timeout"
        assert datetime.now(timezone.utc) >= extended - timedelta(seconds=0.01)


async def test_the_policy_for_answer_timeouts_lets_the_user_extend_them(inbox: Inbox) -> None:
    handler = answer_timeout(3)(InboxHandler(inbox, "ann"))

    answers = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            answers.append(await handler(request()))

        group.start_soon(ask)
        (entry,) = await pending(inbox)
        for _ in range(5):  # so that a busy machine answers in time
            later = await inbox.extend("ann", entry.id)
        assert later.expires_at > entry.expires_at + timedelta(seconds=12)
        with anyio.fail_after(60):
            while datetime.now(timezone.utc) < entry.expires_at + timedelta(seconds=0.1):
                await anyio.sleep(0.05)
        await inbox.answer("ann", entry.id, "accept", {"a": "red"})
    assert answers[0].action == "accept"


@pytest.mark.parametrize("fields", [0, 5, 6, 7, 20, 60])
def test_the_default_deadline_is_in_proportion_to_the_form(fields: int) -> None:
    form = form_params({"properties": {f"a{at}": {"type": "string"} for at in range(fields)}})
    seconds = {0: 240, 5: 240, 6: 240, 7: 280, 20: 800, 60: 1_800}
    assert default_answer_timeout(request(form)) == seconds[fields]


async def test_a_request_can_be_withdrawn(inbox: Inbox) -> None:
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        await inbox.withdraw("ann", entry.id, withdrawn_by="the agent")
        answer = await asked.result()
        for again in (inbox.withdraw("ann", entry.id), inbox.answer("ann", entry.id, "decline")):
            with pytest.raises(EntryClosedError) as caught:
                await again
            assert caught.value.state == "withdrawn"

    assert (answer.action, answer.by) == ("cancel", "host")
    assert (await inbox.get("ann", entry.id)).answered_by == "the agent"


async def test_an_answer_in_place_of_an_action_is_refused_and_not_quoted(inbox: Inbox) -> None:
    async with asking(inbox):
        (entry,) = await pending(inbox)
        wrong: Any = Answer.accept({"city": "Bern"}, by="user")

        with pytest.raises(TypeError, match=r"must be str, not Answer\. Pass the action, then the content\.$"):
            await inbox.answer("ann", entry.id, wrong)
        await inbox.answer("ann", entry.id, "decline")


async def test_cancellation_withdraws_the_request(inbox: Inbox) -> None:
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        asked.scope.cancel()
        with anyio.fail_after(60):
            await asked.finished.wait()
        with pytest.raises(EntryClosedError):
            await inbox.answer("ann", entry.id, "decline")

    past = await inbox.get("ann", entry.id)
    assert (past.state, past.answered_by) == ("withdrawn", "client")


async def test_a_request_without_a_user_is_cancelled_unless_the_inbox_is_that_of_one_person(
    inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    answer: Any = await InboxHandler(inbox)(request())

    assert (answer.action, answer.by, answer.reason) == ("cancel", "unattended", "the request has no user")
    assert "it has no user. Pass `user` to the callback" in caplog.text
    async with asking(inbox, owner="me"):
        assert await pending(inbox, "me")


async def test_the_owner_of_a_request_is_its_user_even_if_there_is_a_default(inbox: Inbox) -> None:
    async with asking(inbox, request(user="bob"), owner="ann"):
        (entry,) = await pending(inbox, "bob")
        assert (await inbox.list("ann")).entries == ()

    assert (entry.owner, entry.request["user"]) == ("bob", "bob")


@pytest.mark.parametrize("user", ["", "u" * 257, 7, "\ud800", lambda _: "ann"])
def test_a_default_user_that_is_no_user_is_refused(user: Any) -> None:
    with pytest.raises(ValueError, match=r"`default_user` must (be|have)"):
        InboxHandler(Inbox(MemoryStore()), user)


@pytest.mark.parametrize("key", [None, KEY])
async def test_an_answer_is_erased_from_the_store_once_it_is_delivered(stores: Stores, key: Any) -> None:
    inbox = Inbox(stores(), key)
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        assert ("What color?" in await stores.content()) == (key is None)
        await inbox.answer("ann", entry.id, "accept", {"a": SECRET})
        assert (await asked.result()).content == {"a": SECRET}

    async def is_erased() -> bool:
        return SECRET not in await stores.content()

    await until(is_erased)
    shown = [await inbox.get("ann", entry.id), *(await inbox.history("ann")).entries]
    assert not any(SECRET in each.model_dump_json() for each in shown)


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize(
    ("limits", "length", "number", "codes"),
    [
        (Limits(max_answer=20), 20, 1, ["too_large"]),
        (Limits(max_integer=99), 20, 100, ["unsafe_integer"]),
        (Limits(max_answer=99_999, max_integer=2**60), 20_000, 2**57, []),
    ],
)
async def test_the_limits_of_an_answer_apply_in_the_inbox(
    stores: Stores, limits: Limits, length: int, number: int, codes: list[str], key: Any
) -> None:
    schema = {"properties": {"text": {"type": "string"}, "number": {"type": "integer"}}}
    asked_with = parse_request({"message": "?", "requestedSchema": schema}, server="shop", limits=limits)
    values = {"text": "x" * length, "number": number}
    inbox, other = Inbox(stores(), key), Inbox(stores(), key)
    async with asking(inbox, asked_with):
        (entry,) = await pending(other)
        checked = await other.validate("ann", entry.id, values)
        answered = await other.answer("ann", entry.id, "accept", values)
    assert [error.code for error in checked.errors] == [error.code for error in answered.errors] == codes


async def test_data_of_another_key_is_an_error(stores: Stores) -> None:
    inbox, other, plain = Inbox(stores(), KEY), Inbox(stores(), b"o" * 32), Inbox(stores())
    async with asking(inbox):
        (entry,) = await pending(inbox)
        for stranger in (other, plain):
            with pytest.raises(InboxError):
                await stranger.answer("ann", entry.id, "accept", {"a": "x"})
            with pytest.raises(InboxError):
                await stranger.list("ann")


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("found", ["2:", "", '{"a": ', "x:1:"])
@pytest.mark.parametrize("backend", [("asyncio", "memory")], ids="-".join)
async def test_data_of_another_format_is_refused_with_advice(stores: Stores, key: Any, found: str) -> None:
    store = stores()
    inbox = Inbox(store, key)
    async with asking(inbox):
        (entry,) = await pending(inbox)
        stored = store._requests[entry.id]
        store._requests[entry.id] = stored._replace(request=stored.request.replace("1:", found, 1))
        with pytest.raises(InboxError, match=r"needs format 1\. Use an empty store"):
            await inbox.get("ann", entry.id)


@pytest.mark.parametrize(
    "damage", [lambda text: text.replace('"mode":"form"', '"mode":"fax"'), lambda text: text[:-1], lambda _: "1:1.5"]
)
@pytest.mark.parametrize("backend", [("asyncio", "memory")], ids="-".join)
async def test_a_request_that_cannot_be_read_does_not_hide_the_others(
    stores: Stores, damage: Callable[[str], str]
) -> None:
    store = stores()
    inbox = Inbox(store)
    async with asking(inbox), asking(inbox):
        damaged, _ = await pending(inbox, count=2)
        stored = store._requests[damaged.id]
        store._requests[damaged.id] = stored._replace(request=damage(stored.request))
        first, second = (await inbox.list("ann")).entries
        assert second.read().message
        with pytest.raises(InboxError, match="contains a request that cannot be read"):
            first.read()
        with pytest.raises(InboxError, match="contains a request that cannot be read"):
            await inbox.get("ann", damaged.id)


@pytest.mark.parametrize("found", ["1:", "1:soon {}", "1:nan {}", "1:1e99 {}"])
@pytest.mark.parametrize("backend", [("asyncio", "memory")], ids="-".join)
async def test_a_text_that_is_no_request_is_an_error(stores: Stores, found: str) -> None:
    store = stores()
    inbox = Inbox(store)
    async with asking(inbox):
        (entry,) = await pending(inbox)
        store._requests[entry.id] = store._requests[entry.id]._replace(request=found)
        for reading in (inbox.get("ann", entry.id), inbox.list("ann"), inbox.extend("ann", entry.id)):
            with pytest.raises(InboxError, match="contains a request that cannot be read"):
                await reading


@pytest.mark.parametrize("backend", [("asyncio", "memory")], ids="-".join)
async def test_an_encrypted_text_cannot_be_moved_to_another_request(stores: Stores) -> None:
    store = stores()
    inbox = Inbox(store, KEY)
    async with asking(inbox), asking(inbox):
        first, second = await pending(inbox, count=2)
        moved = store._requests[first.id].request
        store._requests[second.id] = store._requests[second.id]._replace(request=moved)
        with pytest.raises(InboxError, match="not encrypted with this key"):
            await inbox.get("ann", second.id)


async def test_a_request_expires_in_time_although_the_clock_is_set_back(
    stores: Stores, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "_EXTENSION_MARGIN", 0.1)
    inbox = Inbox(stores(), answer_timeout=0.5)
    async with waiting_for_answer(inbox) as asked:
        clock.ahead = -3_600
        answer = await asked.result()
        assert (answer.action, answer.by) == ("cancel", "timeout")
    assert [each.state for each in (await inbox.history("ann")).entries] == ["expired"]


async def test_an_answer_may_come_from_another_event_loop(stores: Stores) -> None:
    store = stores()
    inbox = Inbox(store)

    async def elsewhere() -> None:
        await inbox.answer("ann", entry.id, "accept", {"a": "x"})
        if stores.kind == "redis":
            await inbox.aclose()

    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        await anyio.to_thread.run_sync(anyio.run, elsewhere)
        assert (await asked.result()).content == {"a": "x"}


async def test_a_task_that_waits_receives_its_answer_after_the_inbox_was_closed(inbox: Inbox) -> None:
    async with waiting_for_answer(inbox) as waiting:
        (entry,) = await pending(inbox)
        await inbox.aclose()
        await inbox.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await waiting.result()).content == {"a": "x"}
    await inbox.aclose()


async def test_a_task_that_waits_receives_the_answer_of_another_process_after_the_inbox_was_closed(
    stores: Stores,
) -> None:
    inbox, other = Inbox(stores()), Inbox(stores())
    async with waiting_for_answer(inbox) as waiting:
        (entry,) = await pending(other)
        await inbox.aclose()
        await other.answer("ann", entry.id, "accept", {"a": "x"})
        assert (await waiting.result()).content == {"a": "x"}


async def test_a_page_begins_where_the_previous_one_ended(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        for number in range(7):
            asks = request({**FORM, "message": str(number)})
            group.start_soon(InboxHandler(inbox, "ann"), asks)
            await pending(inbox, count=number + 1)
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
    for cursor in ("x", "-1", "9" * 30):
        with pytest.raises(ValueError, match="cursor"):
            await inbox.list("ann", cursor=cursor)


async def test_a_page_of_large_requests_is_short(inbox: Inbox) -> None:
    # It is read and written in one step of the event loop: for a hundred megabytes, that took three seconds.
    options = {"enum": [f"{at}{'a' * 990}" for at in range(400)]}
    large = request(form_params({"properties": {"a": options}}))
    async with anyio.create_task_group() as group:
        for number, asks in enumerate((large, large, large, request())):
            group.start_soon(InboxHandler(inbox, "ann"), asks)
            await pending(inbox, count=number + 1)
        first = await inbox.list("ann")
        second = await inbox.list("ann", cursor=first.next_cursor)
        assert [len(first.entries), len(second.entries)] == [2, 2]
        assert (second.next_cursor, (await inbox.list("ann", limit=0)).next_cursor) == (None, None)
        group.cancel_scope.cancel()


async def test_a_page_contains_a_request_however_large(inbox: Inbox) -> None:
    options = {"enum": [f"{at}{'a' * 990}" for at in range(1_200)]}
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(InboxHandler(inbox, "ann"), request(form_params({"properties": {"a": options}})))
        entries = await pending(inbox, count=2)
        first = await inbox.list("ann")
        second = await inbox.list("ann", cursor=first.next_cursor)
        assert [each.id for page in (first, second) for each in page.entries] == [each.id for each in entries]
        group.cancel_scope.cancel()


async def test_the_history_in_memory_is_limited_by_its_size() -> None:
    # A server that withdrew two hundred requests of 4 MB filled 1 GB for a week.
    store = MemoryStore()
    for entry_id in ("a", "b", "c", "d"):
        await put_withdrawn(store, entry_id, 4_000_000)
    assert [each.id for each in await store.history("ann", 10, None)] == ["d", "c"]
    assert await store.get("ann", "b") is None

    await put_withdrawn(store, "e", 12_000_000)
    assert [each.id for each in await store.history("ann", 10, None)] == ["e"]


async def put_withdrawn(store: MemoryStore, entry_id: str, size: int) -> None:
    now = store.clock()
    stored = StoredRequest(entry_id, "ann", size * "x", created_at=now, expires_at=now + 60)
    await store.put(stored)
    await store.leave(stored, Resolution("withdrawn", "client", now))


async def test_a_negative_limit_is_refused(inbox: Inbox) -> None:
    for entries in (inbox.list, inbox.history):
        with pytest.raises(ValueError, match="`limit` must be an int of at least 0"):
            await entries("ann", -5)


async def test_a_limit_may_be_larger_than_the_numbers_of_a_database(inbox: Inbox) -> None:
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        assert [each.id for each in (await inbox.list("ann", 10**30)).entries] == [entry.id]
        await inbox.answer("ann", entry.id, "decline")
        await asked.result()

    assert [each.id for each in (await inbox.history("ann", 10**30)).entries] == [entry.id]


async def test_history_is_limited_in_number(stores: Stores) -> None:
    inbox = Inbox(stores(max_history=3))
    entries = []
    for _ in range(6):
        async with asking(inbox) as asked:
            (entry,) = await pending(inbox)
            await inbox.answer("ann", entry.id, "decline")
            await asked.result()
        entries.append(entry.id)

    found = [entry.id for entry in (await inbox.history("ann")).entries]
    assert found == entries[:2:-1]
    with pytest.raises(EntryNotFoundError):
        await inbox.get("ann", entries[0])


async def test_history_with_requests_of_a_process_that_has_stopped_is_limited_in_number(
    stores: Stores, clock: Clock
) -> None:
    if stores.kind == "memory":
        pytest.skip("one process has one lease")
    stopped, other = stores(max_history=3), stores(max_history=3)
    for number in range(6):
        await stopped.put(StoredRequest(str(number), "ann", "1:{}", clock(), clock() + 60))
    clock.ahead = 40  # after its lease
    assert {each.resolution.state for each in await other.history("ann", 10, None)} == {"orphaned"}
    clock.ahead = 80

    async def is_limited() -> bool:
        return len(await other.history("ann", 10, None)) == 3

    async with asking(Inbox(other), owner="bob"):
        await until(is_limited)


async def test_history_is_limited_in_age(stores: Stores) -> None:
    inbox = Inbox(stores(history_ttl=0.3))
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, "decline")
        await asked.result()

    async def is_deleted() -> bool:
        return not (await inbox.history("ann")).entries

    await until(is_deleted)


@pytest.mark.parametrize("backend", [(loop, "memory") for loop in EVENT_LOOPS], ids="-".join)
async def test_old_history_of_owners_who_do_not_return_is_deleted_from_memory(stores: Stores, clock: Clock) -> None:
    inbox = Inbox(stores())
    for owner in ("ann", "bob"):
        async with asking(inbox, owner=owner) as asked:
            (entry,) = await pending(inbox, owner)
            await inbox.answer(owner, entry.id, "decline")
            await asked.result()
    assert FORM["message"] in await stores.content()
    clock.ahead = HISTORY_TTL + 1
    await inbox.list("another")

    assert FORM["message"] not in await stores.content()


async def test_an_owner_that_no_database_can_keep_does_not_disturb_others(stores: Stores) -> None:
    inbox, other = Inbox(stores()), Inbox(stores())
    async with asking(inbox) as asked:
        (entry,) = await pending(other)
        refused = await InboxHandler(inbox)(request(user="ann\0bob"))
        await other.answer("ann", entry.id, "accept", {"a": "red"})
        answer = await asked.result()

    assert (refused.action, refused.by, "NUL" in refused.reason) == ("cancel", "error", True)
    assert answer.content == {"a": "red"}


@pytest.mark.parametrize("owner", ["ann\0bob", "\ud800", "\U0001f4de" * 513], ids=["NUL", "surrogate", "long"])
async def test_requests_of_an_owner_that_no_database_can_keep_are_refused_without_delaying_others(
    stores: Stores, owner: str
) -> None:
    inbox, other = Inbox(stores()), Inbox(stores())
    async with asking(inbox) as asked:
        (entry,) = await pending(other)
        with pytest.raises(InboxError), anyio.fail_after(5):
            await inbox.ask(owner, request())
        with pytest.raises(InboxError), anyio.fail_after(5):
            await anext(inbox.watch(owner))
        await other.answer("ann", entry.id, "decline")
        answer = await asked.result()

    assert answer.action == "decline"


@pytest.mark.parametrize("owner", ["ann\0bob", "\ud800", "\U0001f4de" * 513], ids=["NUL", "surrogate", "long"])
async def test_for_an_owner_that_no_database_can_keep_each_method_raises_the_same_error(
    inbox: Inbox, owner: str
) -> None:
    attempts: list[Callable[[], Awaitable[Any]]] = [
        lambda: inbox.list(owner),
        lambda: inbox.history(owner),
        lambda: inbox.get(owner, "id"),
        lambda: inbox.answer(owner, "id", "decline"),
        lambda: inbox.extend(owner, "id"),
        lambda: inbox.withdraw(owner, "id"),
        lambda: inbox.get_draft(owner, "id"),
    ]
    for attempt in attempts:
        with pytest.raises(InboxError, match="owner"):
            await attempt()


async def test_the_longest_owner_can_be_kept_by_each_store(inbox: Inbox) -> None:
    # Digests: a database compresses what repeats.
    owner = "".join(hashlib.sha256(bytes([each])).hexdigest() for each in range(32))
    ids: list[str] = []
    with anyio.CancelScope() as scope:

        def leave(entry_id: str) -> None:
            ids.append(entry_id)
            scope.cancel()

        await inbox.ask(owner, request(), on_stored=leave)

    assert [entry.id for entry in (await inbox.history(owner)).entries] == ids


@pytest.mark.parametrize("name", ["ann\0bob", "\ud800"])
async def test_a_name_that_no_database_can_keep_neither_answers_nor_withdraws(inbox: Inbox, name: str) -> None:
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        with pytest.raises(ValueError, match="`answered_by` must be valid Unicode"):
            await inbox.answer("ann", entry.id, "decline", answered_by=name)
        with pytest.raises(ValueError, match="`withdrawn_by` must be valid Unicode"):
            await inbox.withdraw("ann", entry.id, withdrawn_by=name)
        await inbox.answer("ann", entry.id, "decline", answered_by="phone \U0001f4de")
        answer = await asked.result()

    assert answer.action == "decline"


@pytest.mark.parametrize("limits", [{"max_history": 0}, {"history_ttl": 0}], ids=str)
@pytest.mark.parametrize("action", ["accept", "decline", "withdraw"])
async def test_without_a_history_answers_are_delivered_and_then_deleted(
    stores: Stores, limits: dict[str, Any], action: Any
) -> None:
    inbox, other = Inbox(stores(**limits)), Inbox(stores(**limits))
    async with asking(inbox) as asked:
        (entry,) = await pending(other)
        if action == "withdraw":
            await other.withdraw("ann", entry.id)
        else:
            await other.answer("ann", entry.id, action, {"a": "red"})
        answer = await asked.result()

    assert answer.action == ("cancel" if action == "withdraw" else action)

    async def is_deleted() -> bool:
        return not (await inbox.history("ann")).entries

    await until(is_deleted)


async def test_a_watcher_sees_pending_requests_new_ones_and_changes(inbox: Inbox, stores: Stores) -> None:
    seen: list[tuple[str, str]] = []
    watched = Inbox(stores())

    async def watch() -> None:
        async for entry in watched.watch("ann"):
            seen.append((entry.id, entry.state))  # noqa: PERF401 -- one by one

    async def saw(*events: tuple[str, str]) -> None:
        await until(lambda: len(seen) >= len(events))
        assert seen == list(events)

    async with asking(inbox) as first:
        (one,) = await pending(inbox)
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await saw((one.id, "pending"))
            async with asking(inbox), asking(inbox, owner="bob"):
                two = (await pending(inbox, count=2))[1]
                await saw((one.id, "pending"), (two.id, "pending"))
                await inbox.answer("ann", one.id, "accept", {"a": "x"})
                await first.result()
                await saw((one.id, "pending"), (two.id, "pending"), (one.id, "answered"))
            await saw((one.id, "pending"), (two.id, "pending"), (one.id, "answered"), (two.id, "withdrawn"))
            group.cancel_scope.cancel()


async def test_front_ends_can_get_the_schema_of_requests() -> None:
    schema = request_schema()

    assert {"FormRequest", "UrlRequest"} <= set(schema["$defs"])


async def test_requests_keep_their_fields_except_the_meta_of_the_server(inbox: Inbox) -> None:
    asks = request({**FORM, "_meta": {"x": {"y": 1}}}, protocol_version="2025-11-25", tool="paint", request_id=7)
    async with asking(inbox, asks):
        (entry,) = await pending(inbox)

    assert "meta" not in entry.request
    assert same(entry.read(), asks.model_copy(update={"meta": {}}))


# --- extras


@pytest.mark.parametrize("backend", [("asyncio", "memory")], ids="-".join)
async def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("redis.asyncio", "cryptography.exceptions"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"mcp-elicit-client\[redis\]"):
        RedisStore("redis://127.0.0.1:1")
    with pytest.raises(MissingExtraError, match=r"mcp-elicit-client\[encryption\]"):
        Inbox(MemoryStore(), KEY)


@pytest.mark.parametrize("backend", [("asyncio", "memory")], ids="-".join)
async def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Inbox(MemoryStore(), b"short")


def test_importing_the_inbox_loads_neither_redis_nor_cryptography() -> None:
    code = "import sys, mcp_elicit_client.inbox; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert not {name.partition(".")[0] for name in run.stdout.split()} & {"redis", "cryptography", "trio", "starlette"}


class Hostile:
    """A store whose contents someone changes between the answer and its reader, without the key."""

    def __init__(self, store: Any, change: Any) -> None:
        self._store = store
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def resolve(self, owner: str, entry_id: str, resolution: Any) -> Any:
        return await self._store.resolve(owner, entry_id, self._change(resolution))


@pytest.mark.parametrize("written", ["accept", "1:accept", "decline", "", "1:", "x"])
@pytest.mark.parametrize("action", ["decline", "cancel", "accept"])
async def test_a_stored_action_that_was_changed_is_an_error(stores: Stores, action: Any, written: str) -> None:
    inbox = Inbox(Hostile(stores(), lambda found: found._replace(action=written)), KEY)
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, action, {"a": "x"} if action == "accept" else None)
        answer = await asked.result()
        assert (answer.action, answer.by) == ("cancel", "error")
        with pytest.raises(InboxError):
            await inbox.get("ann", entry.id)


@pytest.mark.parametrize("parts", [("action",), ("answer",), ("action", "answer")], ids="-".join)
@pytest.mark.parametrize("kinds", [(None, None), (None, URL), (URL, None), (URL, URL)], ids=range(4))
async def test_an_answer_cannot_be_moved_to_another_request(stores: Stores, kinds: Any, parts: Any) -> None:
    seen: dict[str, Any] = {}

    def move(found: Any) -> Any:
        changed = found._replace(**{name: getattr(seen["found"], name) for name in parts}) if seen else found
        seen.setdefault("found", found)
        return changed

    inbox = Inbox(Hostile(stores(), move), KEY)
    first_kind, second_kind = (None if each is None else request(each) for each in kinds)
    async with asking(inbox, first_kind) as first:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, "accept", None if kinds[0] else {"a": "x"})
        assert (await first.result()).action == "accept"
    async with asking(inbox, second_kind) as second:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, "decline")
        answer = await second.result()
    assert (answer.action, answer.by) == ("cancel", "error")


@pytest.mark.parametrize("backend", [("asyncio", "memory")], ids="-".join)
async def test_an_answer_does_not_fit_another_question_under_the_same_id(stores: Stores) -> None:
    inbox = Inbox(stores(), KEY)
    codec = inbox._codec
    asked = codec.new_request("ann", request(), 0.0)
    other = codec.new_request("ann", request({**FORM, "message": "Pay?"}), 0.0)._replace(id=asked.id)
    given = codec.encode_answer(asked, Answer.accept({"a": "x"}, by="user"), "ann", 1.0)
    assert codec.decode_answer(asked, given).action == "accept"
    for elsewhere in (other, asked._replace(owner="bob"), asked._replace(id="other")):
        with pytest.raises(InboxError):
            codec.decode_answer(elsewhere, given)


async def test_actions_are_not_readable_with_a_key(stores: Stores) -> None:
    inbox = Inbox(stores(), KEY)
    async with asking(inbox) as asked:
        (entry,) = await pending(inbox)
        await inbox.answer("ann", entry.id, "decline")
        assert (await asked.result()).action == "decline"
    assert "decline" not in await stores.content()
    assert (await inbox.get("ann", entry.id)).action == "decline"


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("failure", [ValueError, asyncio.CancelledError])
async def test_the_owner_of_a_new_request_is_notified_and_a_failing_hook_changes_nothing(
    failure: type[BaseException],
) -> None:
    inbox = Inbox(MemoryStore())
    notified: list[tuple[str, str]] = []

    async def notify(owner: str, entry_id: str) -> None:
        notified.append((owner, entry_id))
        raise failure

    answers: list[Answer] = []

    async def ask() -> None:
        answers.append(await InboxHandler(inbox, "ann", on_pending=notify)(request()))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        (entry,) = await pending(inbox)
        await until(lambda: notified)
        await inbox.answer("ann", entry.id, "accept", {"a": "red"})

    assert answers[0].content == {"a": "red"}
    assert notified == [("ann", entry.id)]


@pytest.mark.parametrize("backend", [("asyncio", "sqlite"), ("asyncio", "postgres")], ids="-".join)
async def test_a_watcher_misses_nothing_that_changes_while_it_reads(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = stores(), stores()
    codec = Inbox(store)._codec
    first, second = (codec.new_request("ann", request(), stores.clock()) for _ in range(2))
    await store.put(first)
    since = await store.last_revision()
    execute = SqlSession.execute

    def execute_before_a_change(session: SqlSession, statement: str, **values: Any) -> Any:
        if "after" not in values:
            return execute(session, statement, **values)
        rows = list(execute(session, statement, **values))
        monkeypatch.undo()
        other._put(second)
        other._resolve("ann", first.id, Resolution("withdrawn", "client", stores.clock()))
        return rows

    monkeypatch.setattr(SqlSession, "execute", execute_before_a_change)
    with store.waiters.change_notifier("ann"):
        seen = list(await store.changes("ann", since))
        seen += await store.changes("ann", max([since, *(each.revision for each in seen)]))

    assert {each.id for each in seen} == {first.id, second.id}


async def test_a_request_is_extended_in_its_last_second_by_a_process_whose_clock_is_behind(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    if stores.kind == "memory":
        pytest.skip("one process has one clock")
    behind = Clock()
    behind.ahead = -5
    store = stores()
    inbox, other = Inbox(store, answer_timeout=1), Inbox(stores(clock=behind))
    get = store.get
    looks: list[str] = []

    async def get_before_an_extension(owner: str, entry_id: str) -> Any:
        found = await get(owner, entry_id)
        looks.append(entry_id)
        if len(looks) == 1:
            await other.extend(owner, entry_id)
            stores.clock.ahead += 1  # the time at which the request would have expired
        return found

    monkeypatch.setattr(store, "get", get_before_an_extension)

    async with asking(inbox) as asked:
        await until(lambda: len(looks) > 1)
        await other.answer("ann", looks[0], "accept", {"a": "x"})
        assert (await asked.result()).content == {"a": "x"}


async def test_a_notice_whose_task_is_cancelled_is_recorded_and_never_pending(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = stores()
    inbox, put = Inbox(store), store.put
    notice = Notice(request=request(), policy="rate_limit", reason="too many requests")
    with anyio.CancelScope() as scope:

        async def put_and_cancel(stored: StoredRequest) -> None:
            await put(stored)
            scope.cancel()

        monkeypatch.setattr(store, "put", put_and_cancel)
        await record_notice(inbox, "ann", notice)

    (entry,) = (await inbox.history("ann")).entries
    assert (entry.state, entry.action, entry.answered_by) == ("answered", "decline", "policy rate_limit")
