"""Tasks that are suspended in an inbox, and resumed in any process."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, CallTimeoutError, ElicitationRegistry, UrlElicitationIncompleteError
from mcp_elicit_client.calls import SuspendedCall, SuspendOptions, TaskHandle, task_polling
from mcp_elicit_client.exceptions import ResumeError, TaskError
from mcp_elicit_client.inbox import Inbox, InboxHandler
from mcp_elicit_client.policies import is_resuming
from mcp_elicit_client.typing import Policy, Request
from tests.servers import visitor
from tests.servers.tasker import Tasker, ask, build, question
from tests.support.inboxes import KEY, Clock, Stores
from tests.support.taskers import TEXT, URL_REQUIRED, VISIT, User, accepted, connected, plan, told, updates

pytestmark = [pytest.mark.anyio, pytest.mark.rounds, pytest.mark.event_loops("asyncio")]

each_store = pytest.mark.parametrize("kind", ["memory", "sqlite", "redis", "postgres"])
NAMED = {"name": "Ann"}


class Process:
    """A process of the host application: a connection, and an inbox over the common store."""

    def __init__(
        self, tasker: Tasker, stores: Stores, key: bytes | None = None, policy: Policy | None = None, server: Any = None
    ) -> None:
        self.tasker = tasker
        self.server = server
        self.inbox = Inbox(stores(), key)
        self.options = SuspendOptions(self.inbox)
        self.registry = ElicitationRegistry(policy=policy)
        self.registry.on_elicitation(InboxHandler(self.inbox))

    @asynccontextmanager
    async def connected(self, **options: Any) -> AsyncIterator[tuple[Any, Any]]:
        async with connected(self.tasker, self.registry, user="ann", server=self.server, **options) as both:
            yield both

    async def call(self, arguments: Any, **options: Any) -> Any:
        return await self._run(
            lambda caller, client: caller.call_tool(client, "run", arguments, suspend=self.options, **options)
        )

    async def resume(self, call_id: str, **options: Any) -> Any:
        return await self._run(lambda caller, client: caller.resume(call_id, client, self.options, **options))

    async def _run(self, call: Callable[[Any, Any], Awaitable[Any]]) -> Any:
        failure: Exception | None = None
        async with self.connected() as (caller, client):
            try:
                return await call(caller, client)
            except Exception as error:
                failure = error
        if failure is not None:
            raise failure
        return None

    async def messages(self) -> list[str]:
        return [entry.read().message for entry in (await self.inbox.list("ann")).entries]

    async def answer(self, action: Any = "accept", content: Any = NAMED) -> None:
        """Answer all pending requests."""
        for entry in (await self.inbox.list("ann")).entries:
            await self.inbox.answer("ann", entry.id, action, content if action == "accept" else None)


@each_store
async def test_a_task_is_suspended_answered_and_resumed_by_three_processes(
    tasker: Tasker, stores: Stores, seen: list[str]
) -> None:
    suspended = await Process(tasker, stores).call(plan({"work": 2}, ask("a", "b"), {"work": 2}))
    assert isinstance(suspended, SuspendedCall)
    assert len(suspended.pending_ids) == 2
    assert updates(seen) == []

    second = Process(tasker, stores)
    assert await second.messages() == ["Name for a?", "Name for b?"]
    (entry, _) = (await second.inbox.list("ann")).entries
    assert (entry.call, entry.read().tool, entry.read().server.name) == (suspended.id, "run", "mail")
    await second.answer()

    third = Process(tasker, stores)
    assert told(await third.resume(suspended.id)) == accepted("a", "b")
    assert updates(seen) == [accepted("a"), accepted("b")]
    assert told(await Process(tasker, stores).resume(suspended.id)) == accepted("a", "b")  # the result is not lost
    assert "cancel" not in seen


@each_store
async def test_a_task_asks_again_while_it_is_suspended(tasker: Tasker, stores: Stores, seen: list[str]) -> None:
    process = Process(tasker, stores, KEY)
    suspended = await process.call(plan(ask("a", late=3), ask("b"), {"work": 1}))
    await process.answer()
    again = await process.resume(suspended.id)
    assert isinstance(again, SuspendedCall)
    assert (again.id, len(again.request_ids), len(again.pending_ids)) == (suspended.id, 2, 1)
    assert await process.messages() == ["Name for b?"]
    await process.answer("decline")
    assert told(await process.resume(suspended.id)) == {**accepted("a"), "b": {"action": "decline"}}
    assert len(updates(seen)) == 2


@each_store
async def test_a_suspended_call_that_becomes_a_task_stays_suspended(
    tasker: Tasker, stores: Stores, seen: list[str]
) -> None:
    async def report(task: TaskHandle) -> None:
        statuses.append(task.status)

    statuses: list[str] = []
    server = build(tasker)  # it reads its own state only
    process = Process(tasker, stores, server=server)
    arguments = plan({"work": 1}, ask("b"), rounds={"a": question("First?")})
    first = await process.call(arguments)
    assert (await process.messages(), seen) == (["First?"], ["round"])
    await process.answer()
    second = await process.resume(first.id, on_task_status=report)
    assert isinstance(second, SuspendedCall)
    assert (second.id, len(second.pending_ids)) == (first.id, 1)
    assert (await process.messages(), [*dict.fromkeys(statuses)]) == (["Name for b?"], ["working", "input_required"])
    await process.answer()
    for _ in range(2):
        assert told(await Process(tasker, stores, server=server).resume(first.id)) == accepted("a", "b")
    assert "cancel" not in seen


async def test_a_suspended_call_that_becomes_a_task_runs_on_after_a_timeout(
    tasker: Tasker, stores: Stores, seen: list[str]
) -> None:
    process = Process(tasker, stores, server=build(tasker))
    suspended = await process.call(plan({"work": 120}, rounds={"a": question("First?")}))
    await process.answer()
    with pytest.raises(CallTimeoutError):
        await process.resume(suspended.id, timeout=0.3)
    for _ in range(2):
        assert told(await process.resume(suspended.id)) == accepted("a")
    assert "cancel" not in seen


async def test_requests_are_sent_as_soon_as_they_are_answered(tasker: Tasker, stores: Stores, seen: list[str]) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan(ask("a", "b")))
    entry_id = suspended.pending_ids[1]
    await process.inbox.answer("ann", entry_id, "accept", NAMED)
    again = await process.resume(suspended.id)
    assert again.pending_ids == suspended.pending_ids[:1]
    assert updates(seen) == [accepted("b")]
    assert await process.messages() == ["Name for a?"]


@each_store
async def test_many_processes_resume_a_task_at_the_same_time(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan(ask("a"), {"work": 5}, ask("b", "c"), {"work": 3}))
    results: list[Any] = []

    async def resume() -> None:
        results.append(await Process(tasker, stores).resume(suspended.id))

    for pending, asked in ((2, 3), (0, 3)):
        await process.answer()
        results.clear()
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(resume)
        if pending:
            assert {(each.id, len(each.pending_ids), len(each.request_ids)) for each in results} == {
                (suspended.id, pending, asked)
            }
            assert await process.messages() == ["Name for b?", "Name for c?"]
        else:
            assert [told(each) for each in results] == [accepted("a", "b", "c")] * 5


async def test_an_answer_is_sent_again_if_it_may_not_have_arrived(
    tasker: Tasker, stores: Stores, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan(ask("a", late=30)))
    await process.answer()

    async def dies(*_arguments: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(task_polling.TaskPoller, "next", dies)
        with pytest.raises(BaseException):  # noqa: B017 -- the process is killed after the update
            await process.resume(suspended.id)
    assert updates(seen) == [accepted("a")]
    assert told(await Process(tasker, stores).resume(suspended.id)) == accepted("a")
    assert updates(seen) == [accepted("a")] * 2
    assert len(suspended.request_ids) == 1


async def test_a_request_that_the_server_no_longer_lists_is_withdrawn(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan(ask("a", polls=2), {"work": 4}, ask("b")))
    again = await process.resume(suspended.id)
    while not isinstance(again, SuspendedCall) or await process.messages() != ["Name for b?"]:
        again = await process.resume(suspended.id)
    states = [entry.state for entry in (await process.inbox.history("ann")).entries]
    assert states == ["withdrawn"]
    await process.answer()
    assert told(await process.resume(suspended.id)) == accepted("b")


async def test_a_poll_that_fails_does_not_withdraw_a_stored_request(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores)
    steps = [ask("a", polls=1), {"work": 1}, {"refuse": [-32603], "polls": 2}, ask("a")]
    suspended = await process.call(plan(*steps))
    again = await process.resume(suspended.id)
    assert (again.pending_ids, await process.messages()) == (suspended.pending_ids, ["Name for a?"])


async def test_a_task_that_has_ended_withdraws_its_requests_and_erases_answers(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan(ask("a", "b", polls=2), {"end": {"result": TEXT}}))
    await process.inbox.answer("ann", suspended.pending_ids[0], "accept", {"name": "heliotrope"})
    assert "heliotrope" in await stores.content()
    result = await process.resume(suspended.id)
    while isinstance(result, SuspendedCall):
        result = await process.resume(suspended.id)
    assert result.content[0].text == "done"
    assert await process.messages() == []
    assert "heliotrope" not in await stores.content()


@pytest.mark.parametrize("kind", ["sqlite"])
async def test_a_result_is_returned_although_the_answers_cannot_be_erased(
    tasker: Tasker, stores: Stores, seen: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    impatient: Any = partial(stores, lock_timeout=0.1)
    process = Process(tasker, impatient, policy=lambda _handler: decline)
    await process.inbox.list("ann")
    with closing(sqlite3.connect(stores.path, isolation_level=None)) as other:
        save = tasker._save

        def lock_at_the_end(task_id: str, task: dict[str, Any]) -> None:
            save(task_id, task)
            if seen[-1].startswith("update") and not other.in_transaction:
                other.execute("BEGIN IMMEDIATE")

        tasker._save = lock_at_the_end  # type: ignore[method-assign]
        result = await process.call(plan(ask("a")))
        other.execute("ROLLBACK")

    assert told(result) == {"a": {"action": "decline"}}
    assert "locked" in caplog.text


async def decline(_request: Request) -> Answer:
    return Answer.decline(by="policy")


async def test_a_changed_request_is_not_answered_with_the_stored_answer(
    tasker: Tasker, stores: Stores, seen: list[str]
) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan(ask("a", polls=1), {"ask": {"a": question("Your password?")}}))
    await process.answer()
    with pytest.raises(TaskError) as caught:
        await process.resume(suspended.id)
    assert (caught.value.code, updates(seen), seen[-1]) == ("invalid", [], "cancel")


async def test_answers_of_policies_are_stored_before_they_are_sent(
    tasker: Tasker, stores: Stores, seen: list[str]
) -> None:
    asked: list[str] = []

    def decides_b(handler: Any) -> Any:
        async def decide(request: Request) -> Answer:
            if "b" not in request.message:
                return await handler(request)  # type: ignore[no-any-return]
            asked.append(request.message)
            return Answer.decline(by="policy")

        return decide

    process = Process(tasker, stores, policy=decides_b)
    suspended = await process.call(plan(ask("a", "b", late=5)))
    assert updates(seen) == [{"b": {"action": "decline"}}]
    assert len(suspended.pending_ids) == 1
    await process.answer()
    result = await Process(tasker, stores, policy=decides_b).resume(suspended.id)
    assert told(result) == {**accepted("a"), "b": {"action": "decline"}}
    assert asked == ["Name for b?"]


async def test_the_time_for_sending_an_answer_is_not_that_of_the_user(tasker: Tasker, stores: Stores) -> None:
    def slow(handler: Any) -> Any:
        async def wait(request: Request) -> Answer:
            if is_resuming():
                await anyio.sleep(0.6)  # longer than the answer timeout
            return await handler(request)  # type: ignore[no-any-return]

        return wait

    suspended = await Process(tasker, stores).call(plan(ask("a"), ask("b")))
    await Process(tasker, stores).answer()
    process = Process(tasker, stores, policy=slow)
    assert len((await process.resume(suspended.id, answer_timeout=0.5)).pending_ids) == 1
    await process.answer()
    assert told(await Process(tasker, stores).resume(suspended.id)) == accepted("a", "b")


@each_store
async def test_what_is_stored_of_a_task_is_encrypted(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores, KEY)
    await process.call(plan(ask("a"), id="bearer-4711"))
    assert "bearer-4711" not in await stores.content()


async def test_a_new_task_that_fails_because_of_required_urls_is_made_again_after_the_visit(
    tasker: Tasker, stores: Stores
) -> None:
    tasker.plans = [[{"end": URL_REQUIRED}], [ask("a")]]
    process = Process(tasker, stores)
    process.registry.on_elicitation(User(), mode="url")
    suspended = await process.call({})
    await process.answer()

    assert told(await process.resume(suspended.id)) == accepted("a")
    assert await process.messages() == []


@pytest.mark.parametrize("is_call", [False, True])
async def test_a_resumed_task_that_fails_because_of_required_urls_says_so(
    tasker: Tasker, stores: Stores, is_call: bool
) -> None:
    process = Process(tasker, stores, server=build(tasker))
    steps = [{"end": URL_REQUIRED}] if is_call else [ask("a"), {"end": URL_REQUIRED}]
    suspended = await process.call(plan(*steps, **({"rounds": {"a": question("First?")}} if is_call else {})))
    await process.answer()

    with pytest.raises(UrlElicitationIncompleteError, match="Call the tool again"):
        await process.resume(suspended.id)
    assert await process.messages() == []


async def test_a_task_that_needs_no_user_returns_its_result(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores)
    assert told(await process.call(plan({"work": 2}))) == {}
    calls = stores.made[0]._calls
    assert [call.state for call in calls.values()] == ["finished"]


async def test_a_task_that_is_only_started_is_stored(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan({"work": 2}, ask("a")), wait=False)
    assert isinstance(suspended, SuspendedCall)
    assert suspended.request_ids == ()
    again = await process.resume(suspended.id)
    assert len(again.pending_ids) == 1
    await process.answer()
    assert told(await process.resume(suspended.id)) == accepted("a")


async def test_a_url_in_a_suspended_task_is_open_until_the_server_says_so(
    tasker: Tasker, stores: Stores, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_polling, "MAX_IDLE", 0.1)
    process = Process(tasker, stores)
    suspended = await process.call(plan({"ask": {"u": VISIT}, "late": 120}))
    await process.answer(content=None)
    with pytest.raises(CallTimeoutError) as caught:
        await process.resume(suspended.id, answer_timeout=0.3)

    assert caught.value.limit == "answer_timeout"
    assert told(await process.resume(suspended.id, timeout=0.25)) == {"u": {"action": "accept"}}
    assert "cancel" not in seen


async def test_a_resumed_task_runs_on_after_a_timeout(tasker: Tasker, stores: Stores, seen: list[str]) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan({"work": 40}), wait=False)
    with pytest.raises(CallTimeoutError):
        await process.resume(suspended.id, timeout=0.05)
    with anyio.move_on_after(0.05):
        await process.resume(suspended.id)
    assert told(await process.resume(suspended.id)) == {}
    assert "cancel" not in seen


async def test_a_cancelled_call_leaves_no_task_behind(tasker: Tasker, stores: Stores, seen: list[str]) -> None:
    process = Process(tasker, stores)
    async with process.connected() as (caller, client):
        with anyio.move_on_after(0.3):
            await caller.call_tool(client, "run", plan({"work": 9_999}), suspend=process.options)
    assert seen[-1] == "cancel"
    assert [call.state for call in stores.made[0]._calls.values()] == ["finished"]


async def test_a_task_that_is_cancelled_while_its_request_is_stored_leaves_none_to_the_user(
    tasker: Tasker, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Process(tasker, stores)
    store, has_stored = stores.made[0], anyio.Event()
    update = store.update

    async def update_and_take_long(*arguments: Any) -> bool:
        await update(*arguments)
        has_stored.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def cancel() -> None:
        await has_stored.wait()
        monkeypatch.undo()
        assert await process.messages()
        calling.cancel()

    async with process.connected() as (caller, client), anyio.create_task_group() as group:
        monkeypatch.setattr(store, "update", update_and_take_long)
        group.start_soon(cancel)
        with anyio.CancelScope() as calling:
            await caller.call_tool(client, "run", plan(ask("a")), suspend=process.options)

    assert await process.messages() == []
    assert [call.state for call in store._calls.values()] == ["finished"]


async def test_a_task_that_the_server_has_forgotten_has_expired(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan(ask("a")))
    tasker._tasks.clear()  # the server was restarted without its store
    with pytest.raises(TaskError) as caught:
        await process.resume(suspended.id)
    assert caught.value.code == "expired"
    assert await process.messages() == []


async def test_a_server_without_tasks_does_not_end_a_suspended_task(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores)
    suspended = await process.call(plan(ask("a")))
    await process.answer()
    with pytest.raises(TaskError) as caught:
        await Process(tasker, stores, server=visitor.build(lambda _line: None)).resume(suspended.id)
    assert caught.value.code == "unsupported"
    assert told(await process.resume(suspended.id)) == accepted("a")


@pytest.mark.parametrize(("ttl", "seconds"), [(0, 60), (600_000, 600), (None, 7_200), (10**12, 7_200), ("x", 7_200)])
async def test_a_suspended_task_lives_as_long_as_the_server_keeps_it(
    tasker: Tasker, stores: Stores, clock: Clock, ttl: Any, seconds: float
) -> None:
    process = Process(tasker, stores)
    process.options = SuspendOptions(process.inbox, task_timeout=7_200)
    suspended = await process.call(plan(ask("a"), ttl=ttl))
    (entry,) = (await process.inbox.list("ann")).entries
    assert abs((suspended.expires_at - entry.created_at).total_seconds() - seconds) < 5
    assert entry.expires_at < suspended.expires_at
    clock.ahead = seconds + 1
    with pytest.raises(ResumeError) as caught:
        await process.resume(suspended.id)
    assert caught.value.code == "expired"


async def test_a_lifetime_that_grows_is_stored(tasker: Tasker, stores: Stores) -> None:
    process = Process(tasker, stores)
    grown = {"raw": {"status": "input_required", "ttlMs": 900_000, "inputRequests": ask("a")["ask"]}, "polls": 9}
    suspended = await process.call(plan(ask("a", polls=1), grown, ttl=100_000))
    again = await process.resume(suspended.id)
    assert 790 < (again.expires_at - suspended.expires_at).total_seconds() < 810


async def test_a_server_that_asks_without_end_is_stopped_across_processes(
    tasker: Tasker, stores: Stores, seen: list[str]
) -> None:
    suspended = await Process(tasker, stores).call(plan(*[ask(f"k{number}") for number in range(50)]))
    process = Process(tasker, stores)
    with pytest.raises(TaskError) as caught:
        for _ in range(40):
            await process.answer()
            await Process(tasker, stores).resume(suspended.id)
    assert (caught.value.code, len(updates(seen)), seen[-1]) == ("limit", 25, "cancel")


async def test_the_status_of_a_suspended_task_is_reported(tasker: Tasker, stores: Stores) -> None:
    reported: list[str] = []

    async def report(task: TaskHandle) -> None:
        reported.append(task.status)

    process = Process(tasker, stores)
    suspended = await process.call(plan({"work": 2}, ask("a")), on_task_status=report)
    await process.answer()
    await process.resume(suspended.id, on_task_status=report)
    assert reported == ["working", "working", "input_required", "input_required", "completed"]
