"""Calls that are parked and resumed: what the user, the policies and the server see of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import mcp.types
import pytest
from hypothesis import given
from hypothesis import strategies as some

from mcp_elicit_client import Answer, ElicitationRegistry, UrlRequest, parse_request
from mcp_elicit_client.audit import AuditLog
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.calls.active_call import CallHistory
from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.calls.suspending import CallSnapshot
from mcp_elicit_client.dispatch import is_resuming
from mcp_elicit_client.exceptions import CallError, ElicitationError, RequestStateRejectedError, ResumeError
from mcp_elicit_client.inbox import Inbox, InboxError, InboxHandler, MemoryStore, RedisStore, SqliteStore
from mcp_elicit_client.policies import (
    AutomaticAnswers,
    Permissions,
    answer_timeout,
    compose,
    cooldown_after_declines,
    form_fingerprint,
    hooks,
    one_at_a_time,
    rate_limit,
    recommended,
)
from mcp_elicit_client.typing import Policy, Request
from tests.servers.visitor import FORM, asked_form
from tests.support import ROOT, http_server
from tests.support.inboxes import Clock, RedisServer, Stores
from tests.support.inprocess import in_process

pytestmark = [pytest.mark.anyio, pytest.mark.rounds, pytest.mark.event_loops("asyncio")]

AIRLINE = [sys.executable, "-m", "tests.servers.airline"]
NAMED = {"name": "Ann"}
URL = "https://login.example.com/start"


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kind() -> str:
    """Most is tested with the store in memory; what is about stores with each of them."""
    return "memory"


each_store = pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"])
both_loops = pytest.mark.parametrize(
    ("anyio_backend", "kind"),
    [("asyncio", "memory"), ("trio", "memory"), ("asyncio", "sqlite"), ("trio", "sqlite"), ("asyncio", "redis")],
)


@pytest.fixture
async def stores(kind: str, tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
    stores = Stores(kind, tmp_path, clock, lambda: request.getfixturevalue("redis"))
    if kind == "redis":
        stores.redis()
    yield stores
    for store in stores.made:
        await store.aclose()


@pytest.fixture
def inbox(stores: Stores) -> Inbox:
    return Inbox(stores())


@pytest.fixture
def parking(inbox: Inbox) -> SuspendOptions:
    return SuspendOptions(inbox, "ann")


@pytest.fixture
def seen() -> list[str]:
    return []


class Nobody:
    """Whoever is registered is never asked for what is parked."""

    async def __call__(self, request: Request, /) -> Answer:
        raise AssertionError(f"asked: {request.message}")


def caller(policy: Policy | None = None, name: str = "mail", **bounds: Any) -> Caller:
    registry = ElicitationRegistry(policy=policy)
    registry.on_elicitation(Nobody())
    return Caller(registry, name, **bounds)


@asynccontextmanager
async def visitor(seen: list[str], who: Caller | None = None, **options: Any) -> AsyncIterator[tuple[Caller, Any]]:
    who = who or caller()
    async with in_process(who, "auto", seen.append, **options) as client:
        yield who, client


def told(result: Any) -> Any:
    assert not isinstance(result, SuspendedCall), result
    return json.loads(result.content[0].text)


async def answer(parking: SuspendOptions, parked: Any, *replies: Any) -> None:
    assert isinstance(parked, SuspendedCall), parked
    for entry_id, reply in zip(parked.pending_ids, replies, strict=True):
        action, content = reply if isinstance(reply, tuple) else ("accept", reply)
        assert await parking.inbox.answer(parking.owner, entry_id, action, content)


# --- a parked call


@both_loops
async def test_a_call_is_parked_answered_and_resumed(parking: SuspendOptions, stores: Stores, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        assert isinstance(parked, SuspendedCall)
        assert parked.request_ids == parked.pending_ids
        assert timedelta(seconds=580) < parked.expires_at - datetime.now(timezone.utc) <= timedelta(seconds=590)
        assert SuspendedCall.model_validate_json(parked.model_dump_json()) == parked

    elsewhere = SuspendOptions(Inbox(stores()), "ann")
    (entry,) = (await elsewhere.inbox.list("ann")).entries
    assert (entry.id, entry.call, entry.read().tool) == (parked.pending_ids[0], parked.id, "form")
    assert timedelta(seconds=530) < entry.expires_at - entry.created_at < timedelta(seconds=532)
    await answer(elsewhere, parked, NAMED)

    async with visitor(seen) as (who, client):
        result = await who.resume(parked.id, client, elsewhere)

    got = {"action": "accept", "content": NAMED}
    assert told(result) == {"got": got}
    assert seen == ["form", f"form {json.dumps({'q': got})}", "form done"]


@each_store
async def test_before_all_is_answered_the_same_call_comes_back_and_nothing_is_sent(
    parking: SuspendOptions, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "two", suspend=parking)
        assert await who.resume(parked.id, client, parking) == parked
        await parking.inbox.answer("ann", parked.request_ids[1], "accept", {"name": "Second"})
        half = await who.resume(parked.id, client, parking)
        assert half == parked.model_copy(update={"pending_ids": parked.request_ids[:1]})
        assert seen == ["two"]
        await answer(parking, half, {"name": "First"})
        got = told(await who.resume(parked.id, client, parking))["got"]

    assert [each["content"]["name"] for each in got] == ["First", "Second"]
    turns = [entry.read().batch_position for entry in (await parking.inbox.history("ann")).entries]
    assert [(turn.number, turn.total) for turn in turns if turn] == [(1, 2), (2, 2)]


async def test_prompts_and_resources_are_parked_too(parking: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        prompt = await who.get_prompt(client, "form", {"a": "b"}, meta={"trace": "x"}, suspend=parking)
        resource = await who.read_resource(client, "thing://form", suspend=parking)
        await answer(parking, prompt, NAMED)
        await answer(parking, resource, ("decline", None))
        prompt = await who.resume(prompt.id, client, parking)
        resource = await who.resume(resource.id, client, parking)

    assert json.loads(prompt.messages[0].content.text)["got"]["content"] == NAMED
    assert json.loads(resource.contents[0].text)["got"] == {"action": "decline"}


async def test_further_questions_park_it_again_under_the_same_name_until_it_asks_too_often(
    parking: SuspendOptions, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "nag", {"reword": True}, suspend=parking)
        ids, questions = {parked.id}, set(parked.request_ids)
        for _ in range(9):
            await answer(parking, parked, NAMED)
            parked = await who.resume(parked.id, client, parking)
            ids.add(parked.id)
            questions |= set(parked.request_ids)
        await answer(parking, parked, NAMED)
        with pytest.raises(CallError, match="came back with questions more than 10 times"):
            await who.resume(parked.id, client, parking)
        with pytest.raises(ResumeError) as caught:
            await who.resume(parked.id, client, parking)

    assert (len(ids), len(questions), caught.value.code) == (1, 10, "finished")
    assert not (await parking.inbox.list("ann")).entries


async def test_what_was_declined_while_parked_is_not_asked_again(parking: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "nag", suspend=parking)
        await answer(parking, parked, ("decline", None))
        with pytest.raises(CallError, match="keeps asking for what was declined"):
            await who.resume(parked.id, client, parking)

    assert seen.count('nag {"q": {"action": "decline"}}') == 2
    assert not (await parking.inbox.list("ann")).entries


async def test_a_url_that_is_not_finished_yet_is_known_again_when_it_is_asked_for(
    parking: SuspendOptions, seen: list[str]
) -> None:
    visits: list[int] = []
    async with visitor(seen) as (who, client):
        result = await who.call_tool(client, "looks", {"times": 3}, suspend=parking)
        while isinstance(result, SuspendedCall):
            request = (await parking.inbox.get("ann", result.pending_ids[0])).read()
            assert isinstance(request, UrlRequest)
            assert (request.target.url, request.respond_after) == (URL, "completion")
            visits.append(request.previous_visits)
            await answer(parking, result, None)
            result = await who.resume(result.id, client, parking)

    assert told(result) == {"looks": 3}
    assert visits == [0, 1, 2]


async def test_no_more_than_so_many_questions_are_asked_however_often_it_is_parked(
    parking: SuspendOptions, seen: list[str]
) -> None:
    async with visitor(seen, caller(max_questions=3)) as (who, client):
        parked = await who.call_tool(client, "nag", {"reword": True}, suspend=parking)
        for _ in range(2):
            await answer(parking, parked, NAMED)
            parked = await who.resume(parked.id, client, parking)
        await answer(parking, parked, NAMED)
        with pytest.raises(CallError, match="more than 10 times"):
            await who.resume(parked.id, client, parking)

    assert seen.count('nag {"q": {"action": "cancel"}}') == 7
    assert len((await parking.inbox.history("ann")).entries) == 3


async def test_what_nobody_could_answer_is_cancelled_and_what_is_for_the_host_is_asked_when_it_goes_on(
    parking: SuspendOptions, seen: list[str]
) -> None:
    async def list_roots(_context: Any) -> Any:
        return mcp.types.ListRootsResult.model_validate({"roots": [{"uri": "file:///home", "name": "home"}]})

    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "mixed", suspend=parking)
        assert len(parked.request_ids) == 1
        await answer(parking, parked, NAMED)
        with pytest.raises(Exception, match="List roots not supported"):
            await who.resume(parked.id, client, parking)
        assert seen == ["mixed"]  # nothing was sent, so the call is as it was
    async with visitor(seen, list_roots_callback=list_roots) as (who, client):
        got = told(await who.resume(parked.id, client, parking))["got"]

    assert got["a"] == {"action": "accept", "content": NAMED}
    assert got["bad"] == {"action": "cancel"}
    assert got["roots"]["roots"][0]["name"] == "home"


@each_store
async def test_a_state_of_a_megabyte_goes_back_untouched(parking: SuspendOptions, seen: list[str]) -> None:
    size = 1_048_576
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "state", {"size": size}, suspend=parking)
        await answer(parking, parked, NAMED)
        assert told(await who.resume(parked.id, client, parking)) == {"size": size, "same": True}


async def test_what_is_too_much_to_write_down_is_not_parked(
    parking: SuspendOptions, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_elicit_client.calls.suspending.MAX_BODY", 10_000)
    async with visitor(seen) as (who, client):
        with pytest.raises(CallError, match="takes more than 10000 characters"):
            await who.call_tool(client, "state", {"size": 10_000}, suspend=parking)

    assert not (await parking.inbox.list("ann")).entries


async def test_what_cannot_be_written_down_is_not_parked(parking: SuspendOptions, seen: list[str]) -> None:
    async def garble(request: Any) -> Any:
        return request.model_copy(update={"message": "\ud800"})

    async with visitor(seen, caller(hooks(before=garble))) as (who, client):
        with pytest.raises(CallError, match="a question cannot be written as JSON"):
            await who.call_tool(client, "form", suspend=parking)
    memo = CallSnapshot(
        server="mail",
        call_spec=CallSpec("tool", "t"),
        state="\ud800",
        history=CallHistory(),
        requests={},
        answers={},
        others={},
    )
    with pytest.raises(CallError, match="it cannot be written as JSON"):
        memo.write()

    assert not (await parking.inbox.list("ann")).entries


# --- time


async def test_a_question_that_nobody_answered_in_time_is_a_cancel_while_the_call_can_be_resumed(
    parking: SuspendOptions, clock: Clock, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        clock.ahead = 532
        assert told(await who.resume(parked.id, client, parking)) == {"got": {"action": "cancel"}}

    (past,) = (await parking.inbox.history("ann")).entries
    assert (past.state, past.answered_by) == ("expired", "clock")


@each_store
async def test_a_call_that_was_not_resumed_in_time_is_not_sent(
    parking: SuspendOptions, clock: Clock, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)
        clock.ahead = 591
        with pytest.raises(ResumeError, match="not resumed in time") as caught:
            await who.resume(parked.id, client, parking)

    assert caught.value.code == "expired"
    assert seen == ["form"]


async def test_a_policy_may_close_a_question_earlier(parking: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen, caller(answer_timeout(60))) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)

    (entry,) = (await parking.inbox.list("ann")).entries
    assert timedelta(seconds=59) < entry.expires_at - entry.created_at < timedelta(seconds=61)
    assert parked.expires_at - entry.expires_at > timedelta(seconds=500)


@pytest.mark.parametrize(
    ("owner", "lifetime"), [("", 1), (None, 1), (7, 1), ("ann", 0), ("ann", 1e9), ("ann", float("nan"))]
)
def test_a_parking_without_an_owner_or_an_end_is_refused(owner: Any, lifetime: float) -> None:
    with pytest.raises(ValueError, match="a parked call needs"):
        SuspendOptions(Inbox(MemoryStore()), owner, lifetime)


# --- exactly once, here, and by whom


@each_store
async def test_of_many_who_resume_at_once_one_does(parking: SuspendOptions, stores: Stores, seen: list[str]) -> None:
    results: list[Any] = []
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)

        async def resume(place: SuspendOptions) -> None:
            try:
                results.append(told(await who.resume(parked.id, client, place)))
            except ResumeError as error:
                results.append(error.code)

        async with anyio.create_task_group() as group:
            for _ in range(12):
                group.start_soon(resume, SuspendOptions(Inbox(stores()), "ann"))

    assert len([each for each in results if isinstance(each, dict)]) == 1
    assert {each for each in results if isinstance(each, str)} <= {"resuming", "finished"}
    assert len([line for line in seen if line.startswith("form {")]) == 1


class Overtaken(MemoryStore):
    """Lets somebody else be faster between the look at a call and the claim to it."""

    faster: Any = None

    async def claim(self, owner: str, call_id: str, token: str) -> Any:
        faster, self.faster = self.faster, None
        if faster is not None:
            await faster()
        return await super().claim(owner, call_id, token)


async def test_who_is_overtaken_by_a_whole_round_does_not_send_the_old_one_again(seen: list[str]) -> None:
    store = Overtaken()
    parking = SuspendOptions(Inbox(store), "ann")
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "nag", {"reword": True}, suspend=parking)
        await answer(parking, parked, NAMED)
        ahead: list[Any] = []

        async def resume() -> None:
            ahead.append(await who.resume(parked.id, client, parking))

        store.faster = resume
        behind = await who.resume(parked.id, client, parking)
        assert [behind] == ahead
        assert behind.pending_ids
        assert len(seen) == 2
        await answer(parking, behind, NAMED)  # and the call is as it was
        assert isinstance(await who.resume(parked.id, client, parking), SuspendedCall)


async def test_who_claims_a_call_at_the_last_moment_finds_it_expired(clock: Clock, seen: list[str]) -> None:
    class Late(MemoryStore):
        async def claim(self, owner: str, call_id: str, token: str) -> Any:
            state = await super().claim(owner, call_id, token)
            clock.ahead = 591
            return state

    parking = SuspendOptions(Inbox(Late(clock=clock)), "ann")
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)
        with pytest.raises(ResumeError, match="not resumed in time"):
            await who.resume(parked.id, client, parking)

    assert seen == ["form"]


async def test_who_dies_over_a_call_takes_it_along(parking: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)
        await parking.inbox.calls.claim("ann", parked.id, "a process that is gone")
        with pytest.raises(ResumeError, match="or whoever did has died over it") as caught:
            await who.resume(parked.id, client, parking)

    assert caught.value.code == "resuming"
    assert seen == ["form"]


@each_store
async def test_who_is_cancelled_before_anything_is_sent_leaves_the_call_as_it_was(
    parking: SuspendOptions, seen: list[str]
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
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)
        async with anyio.create_task_group() as group:
            group.start_soon(caller(slow).resume, parked.id, client, parking)
            with anyio.fail_after(10):
                await is_asked.wait()
            group.cancel_scope.cancel()
        assert seen == ["form"]
        assert told(await who.resume(parked.id, client, parking))["got"]["content"] == NAMED


async def test_who_is_cancelled_while_the_server_works_has_lost_the_call(
    parking: SuspendOptions, seen: list[str]
) -> None:
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "hang", suspend=parking)
        await answer(parking, parked, NAMED)
        async with anyio.create_task_group() as group:
            group.start_soon(who.resume, parked.id, client, parking)
            with anyio.fail_after(10):
                while "hanging" not in seen:
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        with pytest.raises(ResumeError, match="resumed already"):
            await who.resume(parked.id, client, parking)


async def test_a_call_is_resumed_by_its_owner_at_its_server_in_its_revision(
    parking: SuspendOptions, seen: list[str]
) -> None:
    codes: list[str] = []
    async with visitor(seen) as (who, client), in_process(who, "legacy", seen.append) as old:
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)
        for other, over, place, name in (
            (who, client, SuspendOptions(parking.inbox, "bob"), parked.id),
            (who, client, parking, "forged"),
            (who, client, parking, "\ud800"),
            (caller(name="post"), client, parking, parked.id),
            (who, old, parking, parked.id),
        ):
            with pytest.raises(ResumeError) as caught:
                await other.resume(name, over, place)
            codes.append(caught.value.code)
        assert seen == ["form"]
        assert told(await who.resume(parked.id, client, parking))["got"]["content"] == NAMED

    assert codes == ["unknown", "unknown", "unknown", "server", "protocol"]


# --- policies


async def test_policies_that_answer_by_themselves_have_their_say(parking: SuspendOptions, seen: list[str]) -> None:
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
            assert told(await who.call_tool(client, "form", suspend=parking)) == {"got": got}

    assert not (await parking.inbox.list("ann")).entries


async def _decline(_request: Request) -> Answer:
    return Answer.decline(by="policy")


async def _veto(_request: Request, answer: Answer) -> Answer:
    assert answer.by == "pending"
    return Answer.decline(by="policy")


async def test_what_no_handler_is_registered_for_is_not_parked_and_may_be_resumed(
    parking: SuspendOptions, seen: list[str]
) -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(mode="form")(Nobody())
    async with visitor(seen, Caller(registry, "mail")) as (who, client):
        assert told(await who.call_tool(client, "url", suspend=parking)) == {"got": {"action": "cancel"}}
        parked = await who.call_tool(client, "form", suspend=parking)
        assert [entry.request["mode"] for entry in (await parking.inbox.list("ann")).entries] == ["form"]
        await answer(parking, parked, NAMED)
        only_resumes = Caller(ElicitationRegistry(), "mail")  # what somebody was asked elsewhere has its answer
        assert told(await only_resumes.resume(parked.id, client, parking))["got"]["content"] == NAMED


async def test_what_a_policy_decided_when_the_call_was_parked_is_not_decided_anew(
    parking: SuspendOptions, seen: list[str]
) -> None:
    asked: list[str] = []

    async def second(request: Request) -> Answer | None:
        asked.append(request.message)
        return Answer.accept({"name": "a policy"}, by="policy") if request.message == "Second?" else None

    async with visitor(seen, caller(hooks(before=second))) as (who, client):
        parked = await who.call_tool(client, "two", suspend=parking)
        await answer(parking, parked, {"name": "a person"})
        got = told(await who.resume(parked.id, client, parking))["got"]

    assert [each["content"]["name"] for each in got] == ["a person", "a policy"]
    assert asked == ["First?", "Second?", "First?"]


async def test_what_bounds_asking_does_not_take_away_what_was_answered(
    parking: SuspendOptions, seen: list[str]
) -> None:
    policy = compose(
        cooldown_after_declines(declines=1),
        rate_limit(["1/hour"]),
        one_at_a_time(max_queued=0),
        AutomaticAnswers({}).policy,
    )
    async with visitor(seen, caller(policy)) as (who, client):
        parked = await who.call_tool(client, "two", suspend=parking)
        assert len(parked.pending_ids) == 1  # the other one was too many
        await answer(parking, parked, ("decline", None))
        got = told(await who.resume(parked.id, client, parking))["got"]
        assert told(await who.call_tool(client, "form", suspend=parking)) == {
            "got": {"action": "cancel"}
        }  # it is quiet

    assert [each["action"] for each in got] == ["decline", "cancel"]


async def test_a_secret_that_was_typed_and_not_confirmed_is_not_sent(parking: SuspendOptions, seen: list[str]) -> None:
    async with visitor(seen, caller(recommended())) as (who, client):
        for confirmed, action in ((False, "cancel"), (True, "accept")):
            parked = await who.call_tool(client, "form", suspend=parking)
            card = {"name": "4111 1111 1111 1111"}
            await parking.inbox.answer("ann", parked.pending_ids[0], "accept", card, confirmed=confirmed)
            assert told(await who.resume(parked.id, client, parking))["got"]["action"] == action


async def test_a_server_that_was_blocked_meanwhile_gets_nothing(parking: SuspendOptions, seen: list[str]) -> None:
    permissions = Permissions()
    async with visitor(seen, caller(permissions.policy)) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)
        permissions.set("block_until_restart", server="mail")
        assert told(await who.resume(parked.id, client, parking)) == {"got": {"action": "cancel"}}


async def test_never_again_is_heard(parking: SuspendOptions, seen: list[str]) -> None:
    permissions = Permissions()
    async with visitor(seen, caller(permissions.policy)) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        await parking.inbox.answer("ann", parked.pending_ids[0], "decline", block_server=True)
        await who.resume(parked.id, client, parking)

    assert [(rule.server, rule.permission) for rule in permissions] == [("mail", "block")]


async def test_the_log_tells_that_it_was_parked_and_what_was_answered(
    parking: SuspendOptions, seen: list[str], tmp_path: Path
) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    async with visitor(seen, caller(log.policy)) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)
        await who.resume(parked.id, client, parking)
    log.close()

    events = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [(event["action"], event["by"]) for event in events] == [("cancel", "pending"), ("accept", "user")]


async def test_a_form_that_has_become_another_takes_no_answer_that_does_not_fit_it(
    parking: SuspendOptions, seen: list[str]
) -> None:
    """The answer is checked where it is sent, by the form that the server sent, whatever the store says."""

    def narrower(handler: Any) -> Any:
        async def ask(request: Any) -> Any:
            got = await handler(request)
            return got.model_copy(update={"content": {"name": 7}}) if is_resuming() else got

        return ask

    async with visitor(seen, caller(narrower)) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)
        assert told(await who.resume(parked.id, client, parking)) == {"got": {"action": "cancel"}}


async def test_an_inbox_handler_parks_and_one_that_answers_at_once_need_not(
    parking: SuspendOptions, seen: list[str]
) -> None:
    async def at_once(_request: Request) -> Answer:
        return Answer.accept(NAMED, by="host")

    async with visitor(seen, Caller(InboxHandler(parking.inbox, lambda _: "bob"), "mail")) as (who, client):
        assert isinstance(await who.call_tool(client, "form", suspend=parking), SuspendedCall)
    async with visitor(seen, Caller(at_once, "mail")) as (who, client):
        assert told(await who.call_tool(client, "form", suspend=parking))["got"]["content"] == NAMED

    assert len((await parking.inbox.list("ann")).entries) == 1


# --- what goes wrong


async def test_an_inbox_that_cannot_be_used_is_an_error_and_nothing_is_sent(tmp_path: Path, seen: list[str]) -> None:
    async with visitor(seen) as (who, client):
        place = SuspendOptions(Inbox(SqliteStore(tmp_path / "nowhere" / "inbox.db")), "ann")
        for attempt in (who.call_tool(client, "form", suspend=place), who.resume("x", client, place)):
            with pytest.raises(InboxError):
                await attempt

    assert seen == ["form"]


@each_store
async def test_a_call_of_another_key_or_that_is_no_call_is_an_error_and_nothing_is_sent(
    stores: Stores, seen: list[str]
) -> None:
    parking = SuspendOptions(Inbox(stores(), b"k" * 32), "ann")
    async with visitor(seen) as (who, client):
        parked = await who.call_tool(client, "form", suspend=parking)
        await answer(parking, parked, NAMED)
        for key in (None, b"o" * 32):
            with pytest.raises(InboxError):
                await who.resume(parked.id, client, SuspendOptions(Inbox(stores(), key), "ann"))
        for body in ("", "{", "[]", "null", '{"version": 2}', '{"version": 1}', "[" * 100_000):
            plain = Inbox(stores())
            call = await plain.calls.suspend("ann", body or " ", [], 100)
            with pytest.raises(InboxError, match="no parked call"):
                await who.resume(call.id, client, SuspendOptions(plain, "ann"))
        assert seen == ["form"]
        assert told(await who.resume(parked.id, client, parking))["got"]["content"] == NAMED


CORRUPT = {
    "questions": ("{", "7", "[]", '["x", "y"]', "null"),
    "state": ("", "parked!", "pending"),
    "expires": (1e300, "never"),
}


@pytest.mark.parametrize("kind", ["sqlite", "redis"])
async def test_a_store_that_was_tampered_with_is_an_error_or_no_call_and_nothing_is_sent(
    parking: SuspendOptions, stores: Stores, seen: list[str]
) -> None:
    async def tamper(column: str, value: Any) -> None:
        if stores.kind == "sqlite":
            with stores.made[0]._database.writing() as connection:
                connection.execute(f"UPDATE calls SET {column} = ?", (value,))
        else:
            await stores.made[0]._link().run_command("HSET", f"{{{stores.path}}}:call:{parked.id}", column, value)

    async with visitor(seen) as (who, client):
        for column, values in CORRUPT.items():
            for value in values:
                parked = await who.call_tool(client, "form", suspend=parking)
                await answer(parking, parked, NAMED)
                await tamper(column, value)
                with pytest.raises((InboxError, ResumeError)):
                    await who.resume(parked.id, client, parking)

    assert set(seen) == {"form"}


async def test_an_inbox_alone_is_no_parking(inbox: Inbox, seen: list[str]) -> None:
    who: Any = caller()
    for attempt in (who.call_tool(None, "form", suspend=inbox), who.resume("x", None, inbox)):
        with pytest.raises(TypeError, match=r"SuspendOptions\(inbox, owner\), not Inbox"):
            await attempt


async def test_a_store_that_goes_away_while_a_call_goes_on_does_not_take_its_result(
    tmp_path: Path, seen: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def stop(request: Request, _answer: Answer) -> None:
        if is_resuming():
            server.stop()

    server = RedisServer(tmp_path)
    inbox = Inbox(RedisStore(server.url))
    parking = SuspendOptions(inbox, "ann")
    try:
        async with visitor(seen, caller(hooks(after=stop))) as (who, client):
            parked = await who.call_tool(client, "form", suspend=parking)
            await answer(parking, parked, NAMED)
            assert told(await who.resume(parked.id, client, parking))["got"]["content"] == NAMED
    finally:
        await inbox.aclose()
        server.stop()

    assert "a parked call could not be put away" in caplog.text


async def test_parked_calls_survive_a_redis_that_restarts_and_keeps_what_it_is_told(
    tmp_path: Path, seen: list[str]
) -> None:
    server = RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    inbox = Inbox(RedisStore(server.url))
    parking = SuspendOptions(inbox, "ann")
    try:
        async with visitor(seen) as (who, client):
            parked = await who.call_tool(client, "form", suspend=parking)
            await answer(parking, parked, NAMED)
            server.stop()
            with pytest.raises(InboxError):
                await who.resume(parked.id, client, parking)
            server.start()
            assert told(await who.resume(parked.id, client, parking))["got"]["content"] == NAMED
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
def test_what_is_written_down_of_a_call_is_read_as_it_was(arguments: Any, state: str | None) -> None:
    request = parse_request({"message": "m", "requestedSchema": FORM, "_meta": {"x": arguments}}, server="mail")
    memo = CallSnapshot(
        server="mail",
        call_spec=CallSpec("tool", "t", arguments, None),
        state=state,
        history=CallHistory(rounds=1, visits={URL: 2}, declined={"d"}),
        requests={"q": request},
        answers={"a": Answer.accept({"n": 3, "b": True, "l": ("x",), "f": 1.0}, by="policy")},
        others={},
    )

    read = CallSnapshot.model_validate_json(memo.write())
    assert read == memo
    assert json.dumps(read.call_spec.arguments) == json.dumps(arguments)


# --- the Python SDK's own server


FLY = {"day": "Monday"}


@pytest.fixture
def airline() -> Any:
    from tests.servers import airline

    return airline


async def test_a_state_that_the_server_does_not_take_back_is_an_error_without_its_words(
    parking: SuspendOptions, airline: Any
) -> None:
    who = caller(name="airline")
    async with who.client(airline.build()) as client:
        parked = await who.call_tool(client, "book", FLY, suspend=parking)
        await answer(parking, parked, {"city": "Bern"})
    async with who.client(airline.build()) as client:  # restarted: its key is another one
        with pytest.raises(RequestStateRejectedError) as caught:
            await who.resume(parked.id, client, parking)
        with pytest.raises(ResumeError, match="resumed already"):
            await who.resume(parked.id, client, parking)

    assert "requestState" not in str(caught.value)
    assert "requestState" in str(caught.value.__cause__)
    assert isinstance(caught.value, ElicitationError)


async def test_a_state_that_is_too_old_is_the_same_error(parking: SuspendOptions, airline: Any) -> None:
    who = caller(name="airline")
    async with who.client(airline.build(ttl=0.001)) as client:
        parked = await who.call_tool(client, "book", FLY, suspend=parking)
        await answer(parking, parked, {"city": "Bern"})
        with pytest.raises(RequestStateRejectedError):
            await who.resume(parked.id, client, parking)


PROCESS = """
import json, os, signal, sys, anyio
from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.inbox import Inbox, InboxHandler, RedisStore, SqliteStore
step, url, kind, where, *about = sys.argv[1:]
store = SqliteStore(where) if kind == "sqlite" else RedisStore(where.split()[0], prefix=where.split()[1])
inbox = Inbox(store, b"k" * 32)
registry = ElicitationRegistry()
registry.on_elicitation(InboxHandler(inbox, lambda request: "ann"))
caller, parking = Caller(registry, "airline"), SuspendOptions(inbox, "ann")
async def main():
    if step == "answer":
        await inbox.answer("ann", about[0], "accept", json.loads(about[1]))
    else:
        async with caller.client(url) as client:
            if step == "call":
                result = await caller.call_tool(client, "book", {"day": "Monday"}, suspend=parking)
            else:
                result = await caller.resume(about[0], client, parking)
        print(result.model_dump_json(by_alias=True), flush=True)
        if step == "call":
            os.kill(os.getpid(), signal.SIGKILL)
    await store.aclose()
anyio.run(main)
"""


@pytest.mark.parametrize("kind", ["sqlite", "redis"])
async def test_one_process_parks_another_answers_a_third_resumes(stores: Stores) -> None:
    where = str(stores.path) if stores.kind == "sqlite" else f"{stores.redis().url} {{{stores.path}}}"

    def process(step: str, *about: str) -> Any:
        command = [sys.executable, "-c", PROCESS, step, url, stores.kind, where, *about]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
        if run.returncode != (-9 if step == "call" else 0):  # who calls is killed at once
            raise subprocess.CalledProcessError(run.returncode, step, run.stdout, run.stderr)
        return json.loads(run.stdout or "null")

    with http_server(AIRLINE) as url:
        parked = process("call")
        assert len(parked["pending_ids"]) == 1
        assert process("resume", parked["id"]) == parked
        process("answer", parked["pending_ids"][0], '{"city": "Bern"}')
        again = process("resume", parked["id"])
        assert again["id"] == parked["id"]
        assert again["pending_ids"] != parked["pending_ids"]
        process("answer", again["pending_ids"][0], '{"place": "aisle"}')
        result = process("resume", parked["id"])
        with pytest.raises(subprocess.CalledProcessError) as caught:
            process("resume", parked["id"])

    assert result["content"][0]["text"] == "Monday: Bern, aisle, 1 booked"
    assert "the parked call was resumed already" in caught.value.stderr
    content = await stores.content()
    assert "Bern" not in content
    assert "aisle" not in content
