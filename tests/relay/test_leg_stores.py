"""The stores of legs: the memory of one process, and an inbox."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult, ElicitResult

from mcp_elicit_client.calls.active_call import CallHistory
from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.calls.suspending import PausedCall
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.request import FormRequest, Server
from mcp_elicit_client.inbox import Inbox, InboxError, MemoryStore
from mcp_elicit_client.relay import leg_stores, stored_calls
from mcp_elicit_client.relay.leg_stores import (
    MAX_IN_MEMORY,
    InboxLegs,
    KeptLeg,
    LegContent,
    LegRecord,
    LegStore,
    MemoryLegs,
    StoredOutcome,
)
from mcp_elicit_client.relay.legs import CallOutcome, Step
from mcp_elicit_client.relay.refusals import RelayClosedError
from mcp_elicit_client.relay.state import StateContent
from mcp_elicit_client.relay.stored_calls import StoredCalls
from tests.support.inboxes import Clock, call_snapshot

pytestmark = pytest.mark.anyio

STORES: Mapping[str, Callable[[Clock], LegStore]] = {
    "memory": MemoryLegs,
    "inbox": lambda clock: InboxLegs(Inbox(MemoryStore(clock=clock))),
    "encrypted inbox": lambda clock: InboxLegs(Inbox(MemoryStore(clock=clock), b"k" * 32)),
}
each_store = pytest.mark.parametrize("name", STORES)


def first_leg(clock: Clock) -> LegRecord:
    asked = FormRequest(server=Server(name="files"), message="Which file?", form=Form())
    snapshot = call_snapshot(requests={"q": asked}, history=CallHistory(rounds=1))
    content = LegContent(questions={"q1.1": asked}, keys={"q1.1": "q"}, snapshot=snapshot)
    return LegRecord(number=1, ends_at=clock() + 100, content=content)


def open_store(name: str) -> tuple[LegStore, Clock]:
    clock = Clock()
    return STORES[name](clock), clock


@each_store
async def test_a_leg_is_found_by_its_caller_only(name: str) -> None:
    store, clock = open_store(name)
    kept = await store.add("ann", first_leg(clock), clock() + 10)
    found = await store.find("ann", kept.id)
    assert found is not None
    assert found.leg == kept.leg
    assert await store.find("bob", kept.id) is None
    assert await store.find("ann", "another") is None


@each_store
async def test_a_leg_is_replaced_once(name: str) -> None:
    store, clock = open_store(name)
    kept = await store.add("ann", first_leg(clock), clock() + 10)
    taken = replace(kept.leg, sending="one")
    assert await store.replace(kept, taken, kept.expires_at)
    assert await store.replace(kept, replace(kept.leg, sending="two"), kept.expires_at) is None
    found = await store.find("ann", kept.id)
    assert found is not None
    assert found.leg == taken
    outcome = StoredOutcome(call_spec=CallSpec("tool", "open"), error={"code": 1, "message": "no"})
    ended = LegRecord(number=2, ends_at=taken.ends_at, outcome=outcome)
    assert await store.replace(found, ended, clock() + 10)
    after = await store.find("ann", kept.id)
    assert after is not None
    assert after.leg == ended


@each_store
async def test_a_leg_expires_when_it_was_said_last(name: str) -> None:
    store, clock = open_store(name)
    kept = await store.add("ann", first_leg(clock), clock() + 10)
    later = await store.replace(kept, kept.leg, clock() + 20)
    assert later is not None
    clock.ahead += 15
    assert await store.find("ann", kept.id)
    sooner = await store.replace(later, kept.leg, clock() + 2)
    assert sooner is not None
    clock.ahead += 3
    assert await store.find("ann", kept.id) is None
    assert await store.replace(sooner, kept.leg, clock() + 10) is None


async def test_expired_legs_are_forgotten() -> None:
    clock = Clock()
    store = MemoryLegs(clock)
    for _ in range(100):
        await store.add("ann", first_leg(clock), clock() + 1)
    clock.ahead += 2
    await store.find("ann", "another")
    assert not store._legs
    assert not store._expiry


async def test_legs_of_clients_that_never_come_back_are_forgotten_when_others_are_stored() -> None:
    clock = Clock()
    store = MemoryLegs(clock)
    for _ in range(100):
        await store.add("ann", first_leg(clock), clock() + 1)
        clock.ahead += 2
    assert len(store._legs) == len(store._expiry) == 1


async def test_the_oldest_call_of_a_user_is_forgotten_if_too_many_wait() -> None:
    clock = Clock()
    store = MemoryLegs(clock)
    other = await store.add("bob", first_leg(clock), clock() + 10)
    kept = [await store.add("ann", first_leg(clock), clock() + 10) for _ in range(MAX_IN_MEMORY + 1)]

    assert await store.find("ann", kept[0].id) is None
    assert await store.replace(kept[0], kept[0].leg, clock() + 10) is None
    assert [await store.find("ann", each.id) for each in kept[1:]] == kept[1:]
    assert await store.find("bob", other.id) is not None
    clock.ahead = 11
    assert await store.find("bob", other.id) is None
    assert vars(store)["_legs"] == vars(store)["_sizes"] == {}


@pytest.mark.parametrize("of", ["requests", "results"])
async def test_the_oldest_calls_of_a_user_are_forgotten_if_they_are_too_large_together(
    monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    clock = Clock()
    store = MemoryLegs(clock)
    leg = first_leg(clock)
    if of == "results":
        outcome = StoredOutcome(call_spec=CallSpec("tool", "open"), result="x" * 1_000)
        leg = LegRecord(number=2, ends_at=clock() + 100, outcome=outcome)
    monkeypatch.setattr(leg_stores, "MAX_SIZE_IN_MEMORY", 3 * leg_stores._size_of(leg))
    other = await store.add("bob", leg, clock() + 10)
    kept = [await store.add("ann", leg, clock() + 10) for _ in range(5)]
    renewed = await store.replace(kept[2], replace(leg, sending="now"), clock() + 20)

    assert renewed is not None
    found = [await store.find("ann", each.id) for each in kept]
    assert found == [None, None, renewed, *kept[3:]]
    assert await store.find("bob", other.id) == other


async def test_a_call_that_grows_stays_and_older_ones_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    store = MemoryLegs(clock)
    monkeypatch.setattr(leg_stores, "MAX_SIZE_IN_MEMORY", 10_000)
    kept = [await store.add("ann", first_leg(clock), clock() + 10) for _ in range(3)]
    outcome = StoredOutcome(call_spec=CallSpec("tool", "open"), result="x" * 20_000)
    ended = LegRecord(number=2, ends_at=clock() + 100, outcome=outcome)

    grown = await store.replace(kept[0], ended, clock() + 10)

    assert [await store.find("ann", each.id) for each in kept] == [grown, None, None]


async def test_a_process_does_not_remember_large_calls_that_it_has_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    store = InboxLegs(Inbox(MemoryStore(clock=clock), b"k" * 32))
    small = await store.add("ann", first_leg(clock), clock() + 10)
    assert store._known[small.id] == small

    monkeypatch.setattr(leg_stores, "_MAX_SIZE_REMEMBERED", 10)
    large = await store.add("ann", first_leg(clock), clock() + 10)
    later = await store.replace(small, replace(small.leg, sending="now"), clock() + 20)

    assert not store._known
    assert await store.find("ann", large.id) == large
    assert await store.find("ann", small.id) == later


async def test_a_leg_that_another_process_stored_is_read() -> None:
    clock = Clock()
    inbox = Inbox(MemoryStore(clock=clock), b"k" * 32)
    kept = await InboxLegs(inbox).add("ann", first_leg(clock), clock() + 10)
    found = await InboxLegs(inbox).find("ann", kept.id)
    assert found is not None
    assert found.leg == kept.leg
    assert found.expires_at == kept.expires_at


@pytest.mark.rounds
@each_store
async def test_a_result_that_cannot_be_written_as_json_is_not_obtained_again_by_sending_the_answers_twice(
    name: str,
) -> None:
    store, clock = open_store(name)
    calls = StoredCalls(store, leg_ttl=10, max_ttl=100, limits=Limits())
    content = first_leg(clock).content
    assert content is not None
    leg = await calls.start("ann", PausedCall(content.snapshot, content.questions))
    times = 0

    async def proceed(_snapshot: object, _answers: object, before_send: Callable[[], None]) -> CallToolResult:
        nonlocal times
        before_send()
        times += 1
        return CallToolResult.model_validate({"content": [], "structuredContent": {"text": "\ud800"}})

    state = StateContent(leg.call_id, leg.number, "")
    responses = {key: ElicitResult(action="accept") for key in leg.questions}
    steps = [
        await calls.respond("ann", state, responses, spec=content.snapshot.call_spec, proceed=proceed) for _ in range(2)
    ]

    first, again = steps
    assert isinstance(first, CallOutcome)
    assert first.error is None
    assert isinstance(again, CallOutcome)
    assert again.error is not None
    assert times == 1


async def started(store: LegStore) -> tuple[StoredCalls, Callable[..., Coroutine[Any, Any, Step]]]:
    """Return the calls in *store*, and a function that accepts all requests of one that was started there."""
    calls = StoredCalls(store, leg_ttl=10, max_ttl=100, limits=Limits())
    content = first_leg(Clock()).content
    assert content is not None
    leg = await calls.start("ann", PausedCall(content.snapshot, content.questions))
    state = StateContent(leg.call_id, leg.number, "")
    responses = {key: ElicitResult(action="accept") for key in leg.questions}
    return calls, partial(calls.respond, "ann", state, responses, spec=content.snapshot.call_spec)


class FailingLegs(MemoryLegs):
    """Legs that can no longer be replaced once *has_failed* is True."""

    has_failed = False

    async def replace(self, kept: KeptLeg, leg: LegRecord, expires_at: float) -> KeptLeg | None:
        if self.has_failed:
            raise InboxError("The inbox cannot be used.")
        return await super().replace(kept, leg, expires_at)


@pytest.mark.rounds
async def test_a_store_that_fails_when_the_relay_is_closed_does_not_hide_that(caplog: pytest.LogCaptureFixture) -> None:
    store = FailingLegs()
    calls, respond = await started(store)

    async def proceed(*_: object) -> None:
        store.has_failed = True
        raise RelayClosedError

    with pytest.raises(RelayClosedError):
        await respond(proceed=proceed)
    assert "could not be given back to its store" in caplog.text


class HangingLegs(MemoryLegs):
    """Legs of which one is not replaced for a while once *hangs* is True."""

    hangs = False

    def __init__(self) -> None:
        super().__init__()
        self.began = anyio.Event()
        self.was_given_up = False

    async def replace(self, kept: KeptLeg, leg: LegRecord, expires_at: float) -> KeptLeg | None:
        if self.hangs:
            self.hangs = False
            self.began.set()
            try:
                await anyio.sleep(10)
            except anyio.get_cancelled_exc_class():
                self.was_given_up = True
                raise
        return await super().replace(kept, leg, expires_at)


@pytest.mark.rounds
async def test_a_relay_can_be_closed_while_its_store_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_calls, "LEASE", 0.05)
    store = HangingLegs()
    calls, respond = await started(store)

    async def proceed(*_: object) -> None:
        store.hangs = True
        await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        group.start_soon(partial(respond, proceed=proceed))
        group.start_soon(calls.renew_leases)
        await store.began.wait()
        group.cancel_scope.cancel()
    assert store.was_given_up
