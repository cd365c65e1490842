"""Suspended and resumed calls, as the user, the policies and the server see them."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import mcp.types
import pytest
from hypothesis import given
from hypothesis import strategies as some

from mcp_elicit_client import Answer, ElicitationRegistry, UrlRequest, parse_request
from mcp_elicit_client.audit import AuditLog
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.calls.active_call import CallHistory
from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.calls.suspending import CallSnapshot, read_snapshot
from mcp_elicit_client.exceptions import CallError, ElicitationError, RequestStateRejectedError, ResumeError
from mcp_elicit_client.inbox import Inbox, InboxError, InboxHandler, MemoryStore, RedisStore, SqliteStore
from mcp_elicit_client.inbox.stores.models import StoredCall, StoredRequest
from mcp_elicit_client.inbox.suspended_calls import calls_of
from mcp_elicit_client.policies import (
    AutomaticAnswers,
    Permissions,
    answer_timeout,
    compose,
    cooldown_after_declines,
    form_fingerprint,
    hooks,
    is_resuming,
    one_at_a_time,
    rate_limit,
    recommended,
)
from mcp_elicit_client.typing import Policy, Request
from tests.servers.fork_server import server_command
from tests.servers.visitor import FORM, asked_form
from tests.support import ROOT, http_server, until
from tests.support.inboxes import Clock, RedisServer, Stores, call_snapshot
from tests.support.inprocess import in_process
from tests.support.raw import raw_server

pytestmark = [pytest.mark.anyio, pytest.mark.rounds, pytest.mark.event_loops("asyncio")]

AIRLINE = server_command("tests.servers.airline")
NAMED, TYPED = {"name": "Ann"}, {"text": "typed"}
URL = "https://login.example.com/start"


each_store = pytest.mark.parametrize("kind", ["memory", "sqlite", "redis", "postgres"])
both_loops = pytest.mark.parametrize(
    ("anyio_backend", "kind"),
    [
        ("asyncio", "memory"),
        ("trio", "memory"),
        ("asyncio", "sqlite"),
        ("trio", "sqlite"),
        ("asyncio", "redis"),
        ("trio", "postgres"),
    ],
)


@pytest.fixture
def inbox(stores: Stores) -> Inbox:
    return Inbox(stores())


@pytest.fixture
def suspend(inbox: Inbox) -> SuspendOptions:
    return SuspendOptions(inbox, "ann")


class NeverCalled:
    """Fails the test if it is called: registered handlers are not asked while a call is suspended."""

    async def __call__(self, request: Request, /) -> Answer:
        raise AssertionError(f"asked: {request.message}")


def caller(policy: Policy | None = None, name: str = "mail", **limits: Any) -> Any:
    registry = ElicitationRegistry(policy=policy)
    registry.on_elicitation(NeverCalled())
    return Caller(registry, name, **limits)


@asynccontextmanager
async def visitor(seen: list[str], who: Caller | None = None, **options: Any) -> AsyncIterator[tuple[Any, Any]]:
    who = who or caller()
    async with in_process(who, "auto", seen.append, **options) as client:
        yield who, client


def told(result: Any) -> Any:
    assert not isinstance(result, SuspendedCall), result
    return json.loads(result.content[0].text)


async def answer(suspend: SuspendOptions, suspended: Any, *replies: Any) -> SuspendedCall:
    """Answer the requests of the *suspended* call, which is returned."""
    assert isinstance(suspended, SuspendedCall), suspended
    for entry_id, reply in zip(suspended.pending_ids, replies, strict=True):
        action, content = reply if isinstance(reply, tuple) else ("accept", reply)
        owner = suspend.owner or suspend.default_user or ""
        assert await suspend.inbox.answer(owner, entry_id, action, content)
    return suspended


# --- one call


@both_loops
async def test_a_call_is_suspended_answered_and_resumed(
    suspend: SuspendOptions, stores: Stores, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "form", suspend=suspend)
        assert isinstance(suspended, SuspendedCall)
        assert suspended.request_ids == suspended.pending_ids
        assert timedelta(seconds=580) < suspended.expires_at - datetime.now(timezone.utc) <= timedelta(seconds=590)
        assert SuspendedCall.model_validate_json(suspended.model_dump_json()) == suspended

    elsewhere = SuspendOptions(Inbox(stores()), "ann")
    (entry,) = (await elsewhere.inbox.list("ann")).entries
    assert (entry.id, entry.call, entry.read().tool) == (suspended.pending_ids[0], suspended.id, "form")
    assert timedelta(seconds=530) < entry.expires_at - entry.created_at < timedelta(seconds=532)
    await answer(elsewhere, suspended, NAMED)

    async with visitor(seen) as (who, client):
        result = await who.resume(suspended.id, client, elsewhere)

    got = {"action": "accept", "content": NAMED}
    assert told(result) == {"got": got}
    assert seen == ["form", f"form {json.dumps({'q': got})}", "form done"]


@each_store
async def test_a_call_with_pending_requests_is_returned_unchanged_and_nothing_is_sent(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "two", suspend=suspend)
        assert await who.resume(suspended.id, client, suspend) == suspended
        await suspend.inbox.answer("ann", suspended.request_ids[1], "accept", {"name": "Second"})
        half = await who.resume(suspended.id, client, suspend)
        assert half == suspended.model_copy(update={"pending_ids": suspended.request_ids[:1]})
        assert seen == ["two"]
        await answer(suspend, half, {"name": "First"})
        got = told(await who.resume(suspended.id, client, suspend))["got"]

    assert [each["content"]["name"] for each in got] == ["First", "Second"]
    turns = [entry.read().batch_position for entry in (await suspend.inbox.history("ann")).entries]
    assert [(turn.number, turn.total) for turn in turns if turn] == [(1, 2), (2, 2)]


@both_loops
async def test_a_call_is_suspended_again_if_the_user_needs_longer_at_a_url_than_one_attempt_takes(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "signs_in", {"times": 3}, suspend=suspend)
        await answer(suspend, suspended, ("accept", None))
        for _ in range(2):
            again = await who.resume(suspended.id, client, suspend, answer_timeout=0.01)
            assert (again.id, again.request_ids, again.pending_ids) == (suspended.id, (), ())
        result = await who.resume(suspended.id, client, suspend)

    assert told(result) == {"polls": 3}
    assert seen.count("signs_in") == 4


async def test_prompts_and_resources_are_suspended_as_well(suspend: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        prompt = await who.get_prompt(client, "form", {"a": "b"}, meta={"trace": "x"}, suspend=suspend)
        resource = await who.read_resource(client, "thing://form", suspend=suspend)
        await answer(suspend, prompt, NAMED)
        await answer(suspend, resource, ("decline", None))
        prompt = await who.resume(prompt.id, client, suspend)
        resource = await who.resume(resource.id, client, suspend)

    assert json.loads(prompt.messages[0].content.text)["got"]["content"] == NAMED
    assert json.loads(resource.contents[0].text)["got"] == {"action": "decline"}


async def test_further_requests_suspend_a_call_under_the_same_id_until_the_limit(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "nag", {"reword": True}, suspend=suspend)
        ids, questions = {suspended.id}, set(suspended.request_ids)
        for _ in range(9):
            await answer(suspend, suspended, NAMED)
            suspended = await who.resume(suspended.id, client, suspend)
            ids.add(suspended.id)
            questions |= set(suspended.request_ids)
        await answer(suspend, suspended, NAMED)
        with pytest.raises(CallError, match="required input more than 10 times"):
            await who.resume(suspended.id, client, suspend)
        with pytest.raises(ResumeError) as caught:
            await who.resume(suspended.id, client, suspend)

    assert (len(ids), len(questions), caught.value.code) == (1, 10, "finished")
    assert not (await suspend.inbox.list("ann")).entries


async def test_a_call_keeps_its_reference_when_another_process_suspends_it_again(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        options = dataclasses.replace(suspend, reference="tool call 1")
        suspended = await answer(suspend, await who.call_tool(client, "twice", suspend=options), NAMED)
        assert isinstance(await who.resume(suspended.id, client, suspend), SuspendedCall)
    found = await calls_of(suspend.inbox).find("ann", suspended.id)
    assert found is not None
    assert read_snapshot(found.body).reference == "tool call 1"


async def test_a_request_declined_while_suspended_is_not_asked_again(suspend: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "nag", suspend=suspend)
        await answer(suspend, suspended, ("decline", None))
        with pytest.raises(CallError, match="keeps asking what the user declined or cancelled"):
            await who.resume(suspended.id, client, suspend)

    assert seen.count('nag {"q": {"action": "decline"}}') == 2
    assert not (await suspend.inbox.list("ann")).entries


async def test_visits_are_counted_across_suspensions(suspend: SuspendOptions, seen: list[str]) -> None:
    visits: list[int] = []
    async with visitor(seen) as (who, client):
        result = await who.call_tool(client, "looks", {"times": 3}, suspend=suspend)
        while isinstance(result, SuspendedCall):
            request = (await suspend.inbox.get("ann", result.pending_ids[0])).read()
            assert isinstance(request, UrlRequest)
            assert (request.target.url, request.respond_after) == (URL, "completion")
            visits.append(request.previous_visits)
            await answer(suspend, result, None)
            result = await who.resume(result.id, client, suspend)

    assert told(result) == {"looks": 3}
    assert visits == [0, 1, 2]


async def test_the_limit_on_requests_holds_across_suspensions(suspend: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen, caller(max_questions=3)) as (who, client):
        suspended = await who.call_tool(client, "nag", {"reword": True}, suspend=suspend)
        for _ in range(2):
            await answer(suspend, suspended, NAMED)
            suspended = await who.resume(suspended.id, client, suspend)
        await answer(suspend, suspended, NAMED)
        with pytest.raises(CallError, match="more than 10 times"):
            await who.resume(suspended.id, client, suspend)

    assert seen.count('nag {"q": {"action": "cancel"}}') == 7
    assert len((await suspend.inbox.history("ann")).entries) == 3


async def test_unanswerable_requests_are_cancelled_and_host_requests_answered_on_resume(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    async def list_roots(_context: Any) -> Any:
        return mcp.types.ListRootsResult.model_validate({"roots": [{"uri": "file:///home", "name": "home"}]})

    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "mixed", suspend=suspend)
        assert len(suspended.request_ids) == 1
        await answer(suspend, suspended, NAMED)
        with pytest.raises(Exception, match="List roots not supported"):
            await who.resume(suspended.id, client, suspend)
        assert seen == ["mixed"]  # nothing was sent, so the call is unchanged
    async with visitor(seen, list_roots_callback=list_roots) as (who, client):
        got = told(await who.resume(suspended.id, client, suspend))["got"]

    assert got["a"] == {"action": "accept", "content": NAMED}
    assert got["bad"] == {"action": "cancel"}
    assert got["roots"]["roots"][0]["name"] == "home"


@each_store
async def test_a_state_of_a_megabyte_is_returned_unchanged(suspend: SuspendOptions, seen: list[str]) -> None:
    size = 1_048_576
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "state", {"size": size}, suspend=suspend)
        await answer(suspend, suspended, NAMED)
        assert told(await who.resume(suspended.id, client, suspend)) == {"size": size, "same": True}


async def test_a_call_that_is_too_large_is_not_suspended(
    suspend: SuspendOptions, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_elicit_client.calls.suspending.MAX_SNAPSHOT", 10_000)
    async with visitor(seen) as (who, client):
        with pytest.raises(CallError, match="takes more than 10000 characters"):
            await who.call_tool(client, "state", {"size": 10_000}, suspend=suspend)

    assert not (await suspend.inbox.list("ann")).entries


class NotifyingStore(MemoryStore):
    """Says when it has stored a call, and then takes as long as it may."""

    def __init__(self) -> None:
        super().__init__()
        self.has_stored = anyio.Event()
        self.is_quick = False
        self.deadline = 0.0

    async def suspend(self, call: StoredCall, requests: Sequence[StoredRequest]) -> None:
        await super().suspend(call, requests)
        self.has_stored.set()
        self.deadline = anyio.current_effective_deadline()
        if not self.is_quick:
            await anyio.sleep_forever()


@pytest.mark.parametrize("is_resumed", [False, True])
async def test_a_call_that_is_cancelled_while_it_is_stored_leaves_no_request_to_the_user(is_resumed: bool) -> None:
    store, seen = NotifyingStore(), list[str]()
    suspend = SuspendOptions(Inbox(store), "ann")

    async def call() -> None:
        if not is_resumed:
            await who.call_tool(client, "form", {}, suspend=suspend)
            return
        store.is_quick = True
        asked = await who.call_tool(client, "nag", {"reword": True}, suspend=suspend)
        suspended = await answer(suspend, asked, NAMED)
        store.is_quick, store.has_stored = False, anyio.Event()
        can_be_cancelled.set()
        await who.resume(suspended.id, client, suspend)

    async with visitor(seen) as (who, client), anyio.create_task_group() as group:
        group.cancel_scope.deadline = anyio.current_time() + 60
        can_be_cancelled = anyio.Event()
        if not is_resumed:
            can_be_cancelled.set()
        group.start_soon(call)
        await can_be_cancelled.wait()
        await store.has_stored.wait()
        assert (await suspend.inbox.list("ann")).entries
        group.cancel_scope.cancel()

    assert not (await suspend.inbox.list("ann")).entries
    assert (await suspend.inbox.history("ann")).entries[0].state == "withdrawn"
    assert [each.state for each in store._calls.values()] == ["finished"]


async def test_the_time_for_storing_a_call_is_not_that_of_the_server() -> None:
    store, seen = NotifyingStore(), list[str]()
    store.is_quick = True
    async with visitor(seen) as (who, client):
        await who.call_tool(client, "form", {}, suspend=SuspendOptions(Inbox(store), "ann"), timeout=30)

    assert store.deadline == math.inf


async def test_a_call_that_is_not_json_is_not_suspended(suspend: SuspendOptions, seen: list[str]) -> None:
    async def garble(request: Any) -> Any:
        return request.model_copy(update={"message": "\ud800"})

    async with visitor(seen, caller(hooks(before=garble))) as (who, client):
        with pytest.raises(CallError, match="a request cannot be written as JSON"):
            await who.call_tool(client, "form", suspend=suspend)
    with pytest.raises(CallError, match="it cannot be written as JSON"):
        call_snapshot(state="\ud800").write()

    assert not (await suspend.inbox.list("ann")).entries


# --- time


async def test_an_expired_request_is_a_cancel_while_the_call_can_be_resumed(
    suspend: SuspendOptions, clock: Clock, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "form", suspend=suspend)
        clock.ahead = 532
        assert told(await who.resume(suspended.id, client, suspend)) == {"got": {"action": "cancel"}}

    (past,) = (await suspend.inbox.history("ann")).entries
    assert (past.state, past.answered_by) == ("expired", "clock")


@each_store
async def test_a_call_that_was_not_resumed_in_time_is_not_sent(
    suspend: SuspendOptions, clock: Clock, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        clock.ahead = 591
        with pytest.raises(ResumeError, match="not resumed in time") as caught:
            await who.resume(suspended.id, client, suspend)

    assert caught.value.code == "expired"
    assert seen == ["form"]


async def test_a_policy_may_shorten_the_deadline_of_a_request(suspend: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen, caller(answer_timeout(60))) as (who, client):
        suspended = await who.call_tool(client, "form", suspend=suspend)

    (entry,) = (await suspend.inbox.list("ann")).entries
    assert timedelta(seconds=59) < entry.expires_at - entry.created_at < timedelta(seconds=61)
    assert suspended.expires_at - entry.expires_at > timedelta(seconds=500)


@pytest.mark.parametrize(
    ("user", "lifetime"), [("", 1), ("u" * 257, 1), (7, 1), ("ann", 0), ("ann", 1e9), ("ann", float("nan"))]
)
def test_suspend_options_without_a_valid_user_and_timeout_are_refused(user: Any, lifetime: float) -> None:
    with pytest.raises(
        ValueError, match=r"`default_user` must|`resume_timeout` must be a number above 0 and at most 31622400"
    ):
        SuspendOptions(Inbox(MemoryStore()), user, lifetime)


# --- at most once


@each_store
async def test_exactly_one_of_many_workers_resumes_a_call(
    suspend: SuspendOptions, stores: Stores, seen: list[str]
) -> None:
    results: list[Any] = []
    async with visitor(seen) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)

        async def resume(place: SuspendOptions) -> None:
            try:
                results.append(told(await who.resume(suspended.id, client, place)))
            except ResumeError as error:
                results.append(error.code)

        async with anyio.create_task_group() as group:
            for _ in range(12):
                group.start_soon(resume, SuspendOptions(Inbox(stores()), "ann"))

    assert len([each for each in results if isinstance(each, dict)]) == 1
    assert {each for each in results if isinstance(each, str)} <= {"resuming", "finished"}
    assert len([line for line in seen if line.startswith("form {")]) == 1


class Overtaken(MemoryStore):
    """Lets another worker run between loading and claiming a call."""

    faster: Any = None

    async def claim(self, owner: str, call_id: str, token: str) -> Any:
        faster, self.faster = self.faster, None
        if faster is not None:
            await faster()
        return await super().claim(owner, call_id, token)


async def test_a_worker_that_is_overtaken_by_a_round_does_not_send_the_old_one(seen: list[str]) -> None:
    store = Overtaken()
    suspend = SuspendOptions(Inbox(store), "ann")
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "nag", {"reword": True}, suspend=suspend)
        await answer(suspend, suspended, NAMED)
        ahead: list[Any] = []

        async def resume() -> None:
            ahead.append(await who.resume(suspended.id, client, suspend))

        store.faster = resume
        behind = await who.resume(suspended.id, client, suspend)
        assert [behind] == ahead
        assert behind.pending_ids
        assert len(seen) == 2
        await answer(suspend, behind, NAMED)  # the call is unchanged
        assert isinstance(await who.resume(suspended.id, client, suspend), SuspendedCall)


async def test_a_call_that_expires_while_it_is_claimed_is_not_sent(clock: Clock, seen: list[str]) -> None:
    class Late(MemoryStore):
        async def claim(self, owner: str, call_id: str, token: str) -> Any:
            state = await super().claim(owner, call_id, token)
            clock.ahead = 591
            return state

    suspend = SuspendOptions(Inbox(Late(clock=clock)), "ann")
    async with visitor(seen) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        with pytest.raises(ResumeError, match="not resumed in time"):
            await who.resume(suspended.id, client, suspend)

    assert seen == ["form"]


async def test_a_call_whose_worker_stopped_cannot_be_resumed(suspend: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        await calls_of(suspend.inbox).store.claim("ann", suspended.id, "a process that is gone")
        with pytest.raises(ResumeError, match="or stopped while it did") as caught:
            await who.resume(suspended.id, client, suspend)

    assert caught.value.code == "resuming"
    assert seen == ["form"]


@each_store
async def test_a_resume_that_is_cancelled_before_sending_leaves_the_call_unchanged(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    def slow(handler: Any) -> Any:
        async def ask(request: Request) -> Any:
            if is_resuming():
                is_asked.set()
                await anyio.sleep_forever()
            return await handler(request)

        return ask

    is_asked = anyio.Event()
    async with visitor(seen) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        async with anyio.create_task_group() as group:
            group.start_soon(caller(slow).resume, suspended.id, client, suspend)
            with anyio.fail_after(60):
                await is_asked.wait()
            group.cancel_scope.cancel()
        assert seen == ["form"]
        assert told(await who.resume(suspended.id, client, suspend))["got"]["content"] == NAMED


@both_loops
async def test_a_resume_over_a_closed_connection_leaves_the_call_unchanged(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "form", suspend=suspend)
        closed = client.session
    await answer(suspend, suspended, NAMED)
    with pytest.raises(mcp.MCPError, match="Connection closed"):  # type: ignore[attr-defined,unused-ignore]
        await who.resume(suspended.id, closed, suspend)

    async with visitor(seen) as (who, client):
        assert told(await who.resume(suspended.id, client, suspend))["got"] == {"action": "accept", "content": NAMED}


@pytest.mark.parametrize(
    ("status", "headers"), [(None, {}), (503, {"retry-after": "5"}), (429, {}), (401, {}), (401, {"content-type": "x"})]
)
async def test_answers_that_the_server_did_not_take_are_sent_when_the_call_is_resumed_again(
    status: int | None, headers: dict[str, str], suspend: SuspendOptions
) -> None:
    """The server is restarted, overloaded, or no longer accepts the token, while the user answers."""
    with raw_server("2026-07-28", "http") as (url, server):
        async with caller().connect(url) as client:
            suspended = await answer(suspend, await caller().call_tool(client, "ask", suspend=suspend), TYPED)
            server.status, server.headers = status, headers
            if status is None:
                await anyio.to_thread.run_sync(server.stop)
            for _ in range(2):
                with pytest.raises(ResumeError, match="resume the call later") as raised:
                    await caller().resume(suspended.id, client, suspend)
                assert raised.value.code == "unreachable"
            server.status = None
            if status is None:
                server.start()
            result: Any = await caller().resume(suspended.id, client, suspend)
            assert result.content[0].text == "typed"


@pytest.mark.parametrize("failure", ["breaks off", "502", "503"])
async def test_answers_that_the_server_may_have_taken_are_not_sent_again(failure: str, suspend: SuspendOptions) -> None:
    with raw_server("2026-07-28", "http") as (url, server):
        async with caller().connect(url) as client:
            suspended = await answer(suspend, await caller().call_tool(client, "ask", suspend=suspend), TYPED)
            server.breaks_off = failure == "breaks off"
            server.status = None if server.breaks_off else int(failure)
            with pytest.raises(mcp.MCPError, match="cannot be reached"):  # type: ignore[attr-defined,unused-ignore]
                await caller().resume(suspended.id, client, suspend)
            server.breaks_off, server.status = False, None
            with pytest.raises(ResumeError) as raised:
                await caller().resume(suspended.id, client, suspend)
            assert raised.value.code == "finished"
            assert server.methods.count("tools/call") == 2


async def test_answers_are_not_sent_again_if_a_later_round_of_the_call_is_refused(suspend: SuspendOptions) -> None:
    with raw_server("2026-07-28", "http") as (url, server):

        async def decline_the_second(request: Request) -> Answer | None:
            if request.message == "q?":
                return None
            server.status = 429
            return Answer.decline(by="policy")

        who = caller(hooks(before=decline_the_second))
        async with who.connect(url) as client:
            suspended = await answer(suspend, await who.call_tool(client, "again", suspend=suspend), TYPED)
            with pytest.raises(mcp.MCPError, match="HTTP status 429"):  # type: ignore[attr-defined,unused-ignore]
                await who.resume(suspended.id, client, suspend)
            server.status = None
            with pytest.raises(ResumeError) as raised:
                await who.resume(suspended.id, client, suspend)
            assert raised.value.code == "finished"


async def test_a_resume_that_is_cancelled_after_sending_ends_the_call(suspend: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        suspended = await who.call_tool(client, "hang", suspend=suspend)
        await answer(suspend, suspended, NAMED)
        async with anyio.create_task_group() as group:
            group.start_soon(who.resume, suspended.id, client, suspend)
            await until(lambda: "hanging" in seen)
            group.cancel_scope.cancel()
        with pytest.raises(ResumeError, match="resumed already"):
            await who.resume(suspended.id, client, suspend)


async def test_a_call_is_resumed_only_by_its_owner_with_its_server_and_protocol(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    codes: list[str] = []
    async with visitor(seen) as (who, client), in_process(who, "legacy", seen.append) as old:
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        for other, over, place, name in (
            (who, client, SuspendOptions(suspend.inbox, "bob"), suspended.id),
            (who, client, suspend, "forged"),
            (who, client, suspend, "\ud800"),
            (caller(name="post"), client, suspend, suspended.id),
            (who, old, suspend, suspended.id),
        ):
            with pytest.raises(ResumeError) as caught:
                await other.resume(name, over, place)
            codes.append(caught.value.code)
        assert seen == ["form"]
        assert told(await who.resume(suspended.id, client, suspend))["got"]["content"] == NAMED

    assert codes == ["unknown", "unknown", "unknown", "server", "protocol"]


async def test_a_call_of_the_default_user_is_resumed_by_no_other_user_of_the_conversation(
    inbox: Inbox, seen: list[str]
) -> None:
    suspend, of_all = SuspendOptions(inbox, "ann", owner="chat-1"), SuspendOptions(inbox, owner="chat-1")
    async with visitor(seen) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        for user, options in (("bob", of_all), ("bob", suspend), (None, of_all)):
            with pytest.raises(ResumeError) as caught:
                await who.resume(suspended.id, client, options, user=user)
            assert caught.value.code == "unknown"
        assert told(await who.resume(suspended.id, client, of_all, user="ann"))["got"]["content"] == NAMED


# --- policies


async def test_policies_that_answer_replace_a_suspension(suspend: SuspendOptions, seen: list[str]) -> None:
    form = parse_request(asked_form()).form  # type: ignore[union-attr]
    permissions = Permissions()
    permissions.set("block", server="mail")
    policies: list[tuple[Policy, Any]] = [
        (permissions.policy, {"action": "cancel"}),
        (AutomaticAnswers({("mail", form_fingerprint(form)): NAMED}).policy, {"action": "accept", "content": NAMED}),
        (hooks(before=_decline), {"action": "decline"}),
        (hooks(after=_veto), {"action": "decline"}),
    ]
    for policy, got in policies:
        async with visitor(seen, caller(policy)) as (who, client):
            assert told(await who.call_tool(client, "form", suspend=suspend)) == {"got": got}

    assert not (await suspend.inbox.list("ann")).entries


async def _decline(_request: Request) -> Answer:
    return Answer.decline(by="policy")


async def _veto(_request: Request, answer: Answer) -> Answer:
    assert answer.by == "pending"
    return Answer.decline(by="policy")


async def test_requests_without_a_handler_are_not_stored_but_can_be_resumed(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(mode="form")(NeverCalled())
    async with visitor(seen, Caller(registry, "mail")) as (who, client):
        assert told(await who.call_tool(client, "url", suspend=suspend)) == {"got": {"action": "cancel"}}
        suspended = await who.call_tool(client, "form", suspend=suspend)
        assert [entry.request["mode"] for entry in (await suspend.inbox.list("ann")).entries] == ["form"]
        await answer(suspend, suspended, NAMED)
        only_resumes = Caller(ElicitationRegistry(), "mail")  # the answer was given elsewhere
        assert told(await only_resumes.resume(suspended.id, client, suspend))["got"]["content"] == NAMED


async def test_an_answer_of_a_policy_is_not_decided_again_on_resume(suspend: SuspendOptions, seen: list[str]) -> None:
    asked: list[str] = []

    async def second(request: Request) -> Answer | None:
        asked.append(request.message)
        return Answer.accept({"name": "a policy"}, by="policy") if request.message == "Second?" else None

    async with visitor(seen, caller(hooks(before=second))) as (who, client):
        suspended = await who.call_tool(client, "two", suspend=suspend)
        await answer(suspend, suspended, {"name": "a person"})
        got = told(await who.resume(suspended.id, client, suspend))["got"]

    assert [each["content"]["name"] for each in got] == ["a person", "a policy"]
    assert asked == ["First?", "Second?", "First?"]


async def test_policies_that_limit_asking_are_skipped_on_resume(suspend: SuspendOptions, seen: list[str]) -> None:
    policy = compose(
        cooldown_after_declines(declines=1),
        rate_limit(["1/hour"]),
        one_at_a_time(max_queued=0),
        AutomaticAnswers({}).policy,
    )
    async with visitor(seen, caller(policy)) as (who, client):
        suspended = await who.call_tool(client, "two", suspend=suspend)
        assert len(suspended.pending_ids) == 1  # the rate limit refused the other one
        await answer(suspend, suspended, ("decline", None))
        got = told(await who.resume(suspended.id, client, suspend))["got"]
        assert told(await who.call_tool(client, "form", suspend=suspend)) == {
            "got": {"action": "cancel"}
        }  # the cooldown has started

    assert [each["action"] for each in got] == ["decline", "cancel"]


async def test_unconfirmed_sensitive_data_is_not_sent_on_resume(suspend: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen, caller(recommended())) as (who, client):
        for confirmed, action in ((False, "cancel"), (True, "accept")):
            suspended = await who.call_tool(client, "form", suspend=suspend)
            card = {"name": "4111 1111 1111 1111"}
            await suspend.inbox.answer("ann", suspended.pending_ids[0], "accept", card, confirmed=confirmed)
            assert told(await who.resume(suspended.id, client, suspend))["got"]["action"] == action


async def test_a_server_blocked_during_the_suspension_gets_a_cancel(suspend: SuspendOptions, seen: list[str]) -> None:
    permissions = Permissions()
    async with visitor(seen, caller(permissions.policy)) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        permissions.set("block_until_restart", server="mail")
        assert told(await who.resume(suspended.id, client, suspend)) == {"got": {"action": "cancel"}}


async def test_a_block_in_the_inbox_is_kept_on_resume(suspend: SuspendOptions, seen: list[str]) -> None:
    permissions = Permissions()
    async with visitor(seen, caller(permissions.policy)) as (who, client):
        suspended = await who.call_tool(client, "form", suspend=suspend)
        await suspend.inbox.answer("ann", suspended.pending_ids[0], "decline", block_server=True)
        await who.resume(suspended.id, client, suspend)

    assert [(rule.server, rule.permission) for rule in permissions] == [("mail", "block")]


async def test_the_audit_log_records_the_suspension_and_the_answer(
    suspend: SuspendOptions, seen: list[str], tmp_path: Path
) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    async with visitor(seen, caller(log.policy)) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        await who.resume(suspended.id, client, suspend)
    log.close()

    events = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [(event["action"], event["by"]) for event in events] == [("cancel", "pending"), ("accept", "user")]


async def test_an_answer_that_does_not_fit_its_form_is_not_sent_on_resume(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    """The answer is checked against the form of the server before it is sent, not only in the inbox."""

    def narrower(handler: Any) -> Any:
        async def ask(request: Any) -> Any:
            got = await handler(request)
            return got.model_copy(update={"content": {"name": 7}}) if is_resuming() else got

        return ask

    async with visitor(seen, caller(narrower)) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        assert told(await who.resume(suspended.id, client, suspend)) == {"got": {"action": "cancel"}}


async def test_a_registered_handler_in_policies_of_its_own_is_not_asked(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(compose(one_at_a_time(), rate_limit())(NeverCalled()))

    async with visitor(seen, Caller(registry, "mail")) as (who, client):
        assert isinstance(await who.call_tool(client, "form", suspend=suspend), SuspendedCall)

    assert len((await suspend.inbox.list("ann")).entries) == 1


async def test_an_unregistered_inbox_handler_suspends_and_other_handlers_answer(
    suspend: SuspendOptions, seen: list[str]
) -> None:
    async def at_once(_request: Request) -> Answer:
        return Answer.accept(NAMED, by="host")

    async with visitor(seen, Caller(InboxHandler(suspend.inbox, "bob"), "mail")) as (who, client):
        assert isinstance(await who.call_tool(client, "form", suspend=suspend), SuspendedCall)
    async with visitor(seen, Caller(at_once, "mail")) as (who, client):
        assert told(await who.call_tool(client, "form", suspend=suspend))["got"]["content"] == NAMED

    assert len((await suspend.inbox.list("ann")).entries) == 1


# --- failures


async def test_an_unusable_inbox_is_an_error_and_nothing_is_sent(tmp_path: Path, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        place = SuspendOptions(Inbox(SqliteStore(tmp_path / "nowhere" / "inbox.db")), "ann")
        for attempt in (who.call_tool(client, "form", suspend=place), who.resume("x", client, place)):
            with pytest.raises(InboxError):
                await attempt

    assert seen == ["form"]


@each_store
async def test_an_unreadable_stored_call_is_an_error_and_nothing_is_sent(stores: Stores, seen: list[str]) -> None:
    suspend = SuspendOptions(Inbox(stores(), b"k" * 32), "ann")
    async with visitor(seen) as (who, client):
        suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
        for key in (None, b"o" * 32):
            with pytest.raises(InboxError):
                await who.resume(suspended.id, client, SuspendOptions(Inbox(stores(), key), "ann"))
        for body in ("", "{", "[]", "null", '{"format": 2}', '{"format": 1}', "[" * 100_000):
            plain = Inbox(stores())
            call = await calls_of(plain).suspend("ann", body or " ", [], 100)
            with pytest.raises(InboxError, match=r"(?i)call the tool again"):
                await who.resume(call.id, client, SuspendOptions(plain, "ann"))
        assert seen == ["form"]
        assert told(await who.resume(suspended.id, client, suspend))["got"]["content"] == NAMED


CORRUPT = {
    "request_ids": ("{", "7", "[]", '["x", "y"]', "null"),
    "state": ("", "suspended!", "pending"),
    "expires_at": (1e300, "never"),
}


@pytest.mark.parametrize("kind", ["sqlite", "redis"])
async def test_a_store_that_was_tampered_with_is_an_error_and_nothing_is_sent(
    suspend: SuspendOptions, stores: Stores, seen: list[str]
) -> None:

    async def tamper(column: str, value: Any) -> None:
        if stores.kind == "sqlite":
            with stores.made[0]._database.writing() as session:
                session.connection.execute(f"UPDATE calls SET {column} = ?", (value,))
        else:
            from redis.asyncio import Redis

            client: Any
            async with Redis.from_url(stores.servers.redis.url) as client:
                await client.execute_command("HSET", f"{{{stores.path}}}:call:{suspended.id}", column, value)

    async with visitor(seen) as (who, client):
        for column, values in CORRUPT.items():
            for value in values:
                suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
                await tamper(column, value)
                with pytest.raises((InboxError, ResumeError)):
                    await who.resume(suspended.id, client, suspend)

    assert set(seen) == {"form"}


async def test_an_inbox_in_place_of_suspend_options_is_a_type_error(inbox: Inbox) -> None:
    who: Any = caller()
    for attempt in (who.call_tool(None, "form", suspend=inbox), who.resume("x", None, inbox)):
        with pytest.raises(TypeError, match="`suspend` must be SuspendOptions, not Inbox"):
            await attempt


async def test_a_store_that_stops_during_a_resume_does_not_lose_the_result(
    tmp_path: Path, seen: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def stop(request: Request, _answer: Answer) -> None:
        if is_resuming():
            server.stop()

    server = RedisServer(tmp_path)
    inbox = Inbox(RedisStore(server.url))
    suspend = SuspendOptions(inbox, "ann")
    try:
        async with visitor(seen, caller(hooks(after=stop))) as (who, client):
            suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
            assert told(await who.resume(suspended.id, client, suspend))["got"]["content"] == NAMED
    finally:
        await inbox.aclose()
        server.stop()

    assert "a suspended call could not be given back" in caplog.text


async def test_suspended_calls_survive_a_restart_of_a_persistent_redis(tmp_path: Path, seen: list[str]) -> None:
    server = RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    inbox = Inbox(RedisStore(server.url))
    suspend = SuspendOptions(inbox, "ann")
    try:
        async with visitor(seen) as (who, client):
            suspended = await answer(suspend, await who.call_tool(client, "form", suspend=suspend), NAMED)
            server.stop()
            with pytest.raises(InboxError):
                await who.resume(suspended.id, client, suspend)
            server.start()
            assert told(await who.resume(suspended.id, client, suspend))["got"]["content"] == NAMED
    finally:
        await inbox.aclose()
        server.stop()


JSON = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(2**53), 2**53)
    | some.floats(allow_nan=False, allow_infinity=False)
    | some.text(some.characters(exclude_categories=["Cs"])),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(
    arguments=some.none() | some.dictionaries(some.text(some.characters(exclude_categories=["Cs"]), max_size=5), JSON),
    state=some.none() | some.text(some.characters(exclude_categories=["Cs"])),
)
def test_a_snapshot_is_read_as_it_was_written(arguments: Any, state: str | None) -> None:
    request = parse_request({"message": "m", "requestedSchema": FORM, "_meta": {"x": arguments}}, server="mail")
    snapshot = CallSnapshot(
        server="mail",
        call_spec=CallSpec("tool", "t", arguments, None),
        state=state,
        history=CallHistory(rounds=1, visits={URL: 2}, declined={"d"}),
        requests={"q": request},
        answers={"a": Answer.accept({"n": 3, "b": True, "l": ("x",), "f": 1.0}, by="policy")},
        host_requests={},
    )

    read = read_snapshot(snapshot.write())
    assert isinstance(read, CallSnapshot)
    assert read.model_dump() == snapshot.model_dump()
    assert json.dumps(read.call_spec.arguments) == json.dumps(arguments)


# --- the server of the Python SDK


FLY = {"day": "Monday"}


@pytest.fixture
def airline() -> Any:
    from tests.servers import airline

    return airline


async def test_a_rejected_state_is_an_error_without_the_servers_text(suspend: SuspendOptions, airline: Any) -> None:
    who = caller(name="airline")
    async with who.client(airline.build()) as client:
        suspended = await who.call_tool(client, "book", FLY, suspend=suspend)
        await answer(suspend, suspended, {"city": "Bern"})
    async with who.client(airline.build()) as client:  # restarted, with another key
        with pytest.raises(RequestStateRejectedError) as caught:
            await who.resume(suspended.id, client, suspend)
        with pytest.raises(ResumeError, match="resumed already"):
            await who.resume(suspended.id, client, suspend)

    assert str(caught.value.__cause__) not in str(caught.value)
    assert "requestState" in str(caught.value.__cause__)
    assert isinstance(caught.value, ElicitationError)


async def test_an_expired_state_is_the_same_error(suspend: SuspendOptions, airline: Any) -> None:
    who = caller(name="airline")
    async with who.client(airline.build(ttl=0.001)) as client:
        suspended = await who.call_tool(client, "book", FLY, suspend=suspend)
        await answer(suspend, suspended, {"city": "Bern"})
        with pytest.raises(RequestStateRejectedError):
            await who.resume(suspended.id, client, suspend)


PROCESS = """
import json, os, signal, sys, anyio
from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.inbox import Inbox, InboxHandler
from tests.servers.stores import store_at
step, url, address, *about = sys.argv[1:]
store = store_at(address)
inbox = Inbox(store, b"k" * 32)
registry = ElicitationRegistry()
registry.on_elicitation(InboxHandler(inbox, "ann"))
caller, suspend = Caller(registry, "airline"), SuspendOptions(inbox, "ann")
async def main():
    if step == "answer":
        await inbox.answer("ann", about[0], "accept", json.loads(about[1]))
    else:
        async with caller.client(url) as client:
            if step == "call":
                result = await caller.call_tool(client, "book", {"day": "Monday"}, suspend=suspend)
            else:
                result = await caller.resume(about[0], client, suspend)
        print(result.model_dump_json(by_alias=True), flush=True)
        if step == "call":
            os.kill(os.getpid(), signal.SIGKILL)
    await store.aclose()
anyio.run(main)
"""


@pytest.mark.parametrize("kind", ["sqlite", "redis", "postgres"])
async def test_one_process_suspends_another_answers_a_third_resumes(stores: Stores) -> None:
    def process(step: str, *about: str) -> Any:
        command = [sys.executable, "-c", PROCESS, step, url, stores.address, *about]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
        if run.returncode != (-9 if step == "call" else 0):  # the first process is killed at once
            raise subprocess.CalledProcessError(run.returncode, step, run.stdout, run.stderr)
        return json.loads(run.stdout or "null")

    with http_server(AIRLINE) as url:
        suspended = process("call")
        assert len(suspended["pending_ids"]) == 1
        assert process("resume", suspended["id"]) == suspended
        process("answer", suspended["pending_ids"][0], '{"city": "Bern"}')
        again = process("resume", suspended["id"])
        assert again["id"] == suspended["id"]
        assert again["pending_ids"] != suspended["pending_ids"]
        process("answer", again["pending_ids"][0], '{"place": "aisle"}')
        result = process("resume", suspended["id"])
        with pytest.raises(subprocess.CalledProcessError) as caught:
            process("resume", suspended["id"])

    assert result["content"][0]["text"] == "Monday: Bern, aisle, 1 booked"
    assert "This call was resumed already" in caught.value.stderr
    content = await stores.content()
    assert "Bern" not in content
    assert "aisle" not in content
