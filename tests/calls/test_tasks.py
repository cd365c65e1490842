"""Calls that the server turns into tasks, as the user, the host application and the server see them."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest

from mcp_elicit_client import CallError, CallTimeoutError, ElicitationRegistry, UrlElicitationIncompleteError
from mcp_elicit_client.calls import Caller, TaskHandle, task_polling
from mcp_elicit_client.exceptions import CapabilityRequiredError, TaskError
from tests.servers.tasker import EXTENSION, RefusalError, Tasker, ask, build, question
from tests.support import until
from tests.support.extensions import everything_is_a_task, foreign_extension
from tests.support.taskers import TEXT, URL_REQUIRED, VISIT, User, accepted, connected, plan, told, updates

pytestmark = [pytest.mark.anyio, pytest.mark.rounds]


@pytest.fixture
def user() -> User:
    return User()


async def failed(tasker: Tasker, user: User, arguments: dict[str, Any], **options: Any) -> TaskError:
    """Make a call, and return the error in which it ends."""
    async with connected(tasker, user, max_questions=options.pop("max_questions", 25)) as (caller, client):
        try:
            await caller.call_tool(client, "run", arguments, **options)
        except TaskError as error:
            return error
    raise AssertionError("the call did not fail")


# --- the result


async def test_a_task_returns_the_result_of_the_tool(tasker: Tasker, user: User, seen: list[str]) -> None:
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan({"work": 2}, ask("a", "b"), {"work": 1}))
    assert type(result).__name__ == "CallToolResult"
    assert told(result) == accepted("a", "b")
    assert user.asked == ["Name for a?", "Name for b?"]
    assert updates(seen) == [accepted("a"), accepted("b")]  # each answer as soon as it is given


@pytest.mark.parametrize("through", ["client", "session"])
async def test_calls_without_the_caller_finish_tasks_as_well(tasker: Tasker, user: User, through: str) -> None:
    async with connected(tasker, user) as (_caller, client):
        result = await (client if through == "client" else client.session).call_tool("run", plan(ask("a")))
    assert told(result) == accepted("a")


@pytest.mark.parametrize("through", ["client", "session"])
async def test_a_task_of_a_call_without_the_caller_and_without_time_is_cancelled(
    tasker: Tasker, user: User, seen: list[str], through: str
) -> None:
    async with connected(tasker, user) as (_caller, client):
        with pytest.raises(CallTimeoutError):
            session = client if through == "client" else client.session
            await session.call_tool("run", plan(ask("a")), read_timeout_seconds=0)
    assert "cancel" in seen


async def test_rounds_may_precede_a_task(tasker: Tasker, user: User, seen: list[str]) -> None:
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan(ask("b"), rounds={"a": question("First?")}))
    assert told(result) == accepted("a", "b")
    assert user.asked == ["First?", "Name for b?"]
    assert seen[0] == "round"


async def test_a_task_may_be_complete_at_once(tasker: Tasker, user: User) -> None:
    async with connected(tasker, user) as (caller, client):
        for handle in ({"status": "completed", "result": TEXT}, {"status": "completed"}):
            result = await caller.call_tool(client, "run", plan({"end": {"result": TEXT}}, handle=handle))
            assert result.content[0].text == "done"


async def test_a_failed_task_raises_the_error_of_the_call(tasker: Tasker, user: User, seen: list[str]) -> None:
    from mcp import MCPError  # type: ignore[attr-defined, unused-ignore]

    end = {"status": "failed", "error": {"code": -32603, "message": "broken", "data": {"n": 1}}}
    async with connected(tasker, user) as (caller, client):
        with pytest.raises(MCPError) as caught:
            await caller.call_tool(client, "run", plan({"end": end}))
    assert (caught.value.error.code, caught.value.error.message, caught.value.error.data) == (
        -32603,
        "broken",
        {"n": 1},
    )
    assert "cancel" not in seen


async def test_a_task_that_fails_because_of_required_urls_is_made_again_after_the_visit(
    tasker: Tasker, user: User, seen: list[str]
) -> None:
    tasker.plans = [[ask("a"), {"end": URL_REQUIRED}], [ask("b")]]
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run")

    assert told(result) == accepted("b")
    assert user.asked == ["Name for a?", "Sign in", "Name for b?"]
    assert [line for line in seen if line.startswith("created")] == ['created "task-0"', 'created "task-1"']


async def test_a_task_that_fails_because_of_required_urls_is_not_made_again_without_the_visit(
    tasker: Tasker, user: User, seen: list[str]
) -> None:
    user.action = "decline"
    async with connected(tasker, user) as (caller, client):
        with pytest.raises(UrlElicitationIncompleteError, match="the user declined") as caught:
            await caller.call_tool(client, "run", plan({"end": URL_REQUIRED}))

    assert [answer.action for answer in caught.value.answers] == ["decline"]
    assert len([line for line in seen if line.startswith("created")]) == 1


async def test_a_resumed_task_that_fails_because_of_required_urls_says_so(tasker: Tasker, user: User) -> None:
    async with connected(tasker, user) as (caller, client):
        task = await caller.call_tool(client, "run", plan({"end": URL_REQUIRED}), wait=False)
        with pytest.raises(UrlElicitationIncompleteError, match="Call the tool again with `wait=True`"):
            await caller.resume_task(task, client)

    assert user.asked == []


async def test_an_error_of_the_tool_is_a_result(tasker: Tasker, user: User) -> None:
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "checked", plan({"end": {"result": {**TEXT, "isError": True}}}))
    assert result.is_error


async def test_the_result_of_a_task_is_checked_against_the_output_schema(tasker: Tasker, user: User) -> None:
    good = {**TEXT, "structuredContent": {"n": 1}}
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "checked", plan({"end": {"result": good}}))
        assert result.structured_content == {"n": 1}
        with pytest.raises(RuntimeError, match="output schema"):
            await caller.call_tool(client, "checked", plan({"end": {"result": TEXT}}))
        task = await caller.call_tool(client, "checked", plan({"end": {"result": TEXT}}), wait=False)
        with pytest.raises(RuntimeError, match="output schema"):
            await caller.resume_task(task, client)


async def test_a_url_in_a_task_is_open_until_the_server_says_so(tasker: Tasker, user: User, seen: list[str]) -> None:
    async with connected(tasker, user) as (caller, client):
        # The user's time: the server still lists the key, so its own timeout is paused.
        result = await caller.call_tool(client, "run", plan({"ask": {"u": VISIT}, "late": 60}), timeout=0.25)
        assert told(result) == {"u": {"action": "accept"}}
        with pytest.raises(CallTimeoutError) as caught:
            await caller.call_tool(client, "run", plan({"ask": {"u": VISIT}, "late": 9_999}), answer_timeout=0.3)
    assert caught.value.limit == "answer_timeout"
    assert (user.asked, seen[-1]) == (["Sign in"] * 2, "cancel")


async def test_a_user_may_take_longer_for_a_url_than_a_task_may_wait_for_nothing(
    tasker: Tasker, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_polling, "MAX_IDLE", 0.1)
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan({"ask": {"u": VISIT}, "late": 60}), answer_timeout=None)

    assert told(result) == {"u": {"action": "accept"}}


async def test_sampling_in_a_task_is_answered_by_the_host(tasker: Tasker, user: User) -> None:
    from mcp import types

    async def sample(_context: Any, params: Any) -> Any:
        return types.CreateMessageResult(role="assistant", model="m", content=params.messages[0].content)

    params = {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}], "maxTokens": 5}
    asks = {"ask": {"s": {"method": "sampling/createMessage", "params": params}}}
    async with connected(tasker, user, sampling_callback=sample) as (caller, client):
        answers = told(await caller.call_tool(client, "run", plan(asks)))
    assert answers["s"]["content"] == {"type": "text", "text": "hello"}
    assert "resultType" not in answers["s"]


# --- each key is asked once


@pytest.mark.parametrize("late", [1, 20])
async def test_an_answered_key_that_is_still_listed_is_not_asked_again(
    tasker: Tasker, user: User, seen: list[str], late: int
) -> None:
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan(ask("a", "b", late=late), ask("c")))
    assert told(result) == accepted("a", "b", "c")
    assert user.asked == ["Name for a?", "Name for b?", "Name for c?"]
    assert len(updates(seen)) == 3


async def test_a_key_that_vanishes_withdraws_its_request(tasker: Tasker, user: User, seen: list[str]) -> None:
    user.thinks = anyio.sleep_forever
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan(ask("a", polls=4), {"work": 3}))
    assert told(result) == {}
    assert user.withdrawn == ["Name for a?"]
    assert updates(seen) == []


async def test_a_key_that_is_missing_in_one_poll_stays_open(tasker: Tasker, user: User) -> None:
    """One of several replicas of the server may lag behind."""
    enough = anyio.Event()
    user.thinks = enough.wait
    steps = [ask("a", polls=2), {"work": 1}, ask("a", polls=2), {"work": 1}, ask("a")]

    async def answer_later() -> None:
        await until(lambda: len([line for line in tasker.seen.__self__ if line == "get"]) >= 8)  # type: ignore[attr-defined]
        enough.set()

    async with connected(tasker, user) as (caller, client), anyio.create_task_group() as group:
        group.start_soon(answer_later)
        assert told(await caller.call_tool(client, "run", plan(*steps))) == accepted("a")
    assert user.asked == ["Name for a?"]


async def test_a_poll_that_fails_does_not_withdraw_the_open_request(
    tasker: Tasker, user: User, seen: list[str]
) -> None:
    """It does not say what the server asks."""
    enough = anyio.Event()
    user.thinks = enough.wait
    steps = [ask("a", polls=2), {"work": 1}, {"refuse": [-32603], "polls": 2}, ask("a")]

    async def answer_later() -> None:
        await until(lambda: seen.count("get") >= 8)
        enough.set()

    async with connected(tasker, user) as (caller, client), anyio.create_task_group() as group:
        group.start_soon(answer_later)
        assert told(await caller.call_tool(client, "run", plan(*steps))) == accepted("a")
    assert user.asked == ["Name for a?"]


async def test_a_task_that_ends_withdraws_the_open_request(tasker: Tasker, user: User) -> None:
    user.thinks = anyio.sleep_forever
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan(ask("a", polls=2), {"end": {"result": TEXT}}))
    assert (result.content[0].text, user.withdrawn) == ("done", ["Name for a?"])


async def test_a_changed_request_under_the_same_key_is_not_answered(
    tasker: Tasker, user: User, seen: list[str]
) -> None:
    changed = {"ask": {"a": question("Your password?")}, "late": 9}
    error = await failed(tasker, user, plan(ask("a", late=2), changed))
    assert (error.code, user.asked) == ("invalid", ["Name for a?"])
    assert "changed a request" in str(error)
    assert seen[-1] == "cancel"


async def test_a_request_that_changes_while_it_is_open_is_withdrawn(
    tasker: Tasker, user: User, seen: list[str]
) -> None:
    user.thinks = anyio.sleep_forever
    error = await failed(tasker, user, plan(ask("a", polls=2), {"ask": {"a": question("Your password?")}}))
    assert (error.code, user.asked, user.withdrawn) == ("invalid", ["Name for a?"], ["Name for a?"])
    assert (updates(seen), seen[-1]) == ([], "cancel")


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_no_other_answer_follows_a_decline_or_cancel(
    tasker: Tasker, user: User, seen: list[str], action: str
) -> None:
    user.action = action
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan(ask("a", late=3)))
    assert told(result) == {"a": {"action": action}}
    assert updates(seen) == [{"a": {"action": action}}]


async def test_a_server_that_repeats_what_was_declined_gets_no_further(tasker: Tasker, user: User) -> None:
    user.action = "decline"
    again = [{"ask": {f"k{number}": question("Again?")}} for number in range(9)]
    async with connected(tasker, user) as (caller, client):
        with pytest.raises(CallError, match="declined"):
            await caller.call_tool(client, "run", plan(*again))
    assert user.asked == ["Again?"]


async def test_what_was_asked_together_is_no_repetition(tasker: Tasker, user: User) -> None:
    user.action = "decline"
    together = {"ask": dict.fromkeys("abc", question("Again?"))}
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan(together))
    assert told(result) == {key: {"action": "decline"} for key in "abc"}
    assert user.asked == ["Again?"]


# --- timeouts


async def test_the_time_of_the_user_is_not_that_of_the_server(tasker: Tasker, user: User) -> None:
    async def thinks() -> None:
        await anyio.sleep(0.6)

    user.thinks = thinks
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan(ask("a", "b")), timeout=0.4)
    assert told(result) == accepted("a", "b")


async def test_a_slow_task_ends_in_a_timeout_of_the_server_and_is_cancelled(
    tasker: Tasker, user: User, seen: list[str]
) -> None:
    async with connected(tasker, user) as (caller, client):
        with pytest.raises(CallTimeoutError) as caught:
            await caller.call_tool(client, "run", plan({"work": 9_999}), timeout=0.2)
    assert (caught.value.limit, seen[-1]) == ("timeout", "cancel")


async def test_a_timeout_of_the_user_cancels_the_request_and_not_the_task(
    tasker: Tasker, user: User, seen: list[str]
) -> None:
    user.thinks = anyio.sleep_forever
    async with connected(tasker, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan(ask("a", "b"), {"work": 2}), answer_timeout=0.2)
    assert told(result) == {"a": {"action": "cancel"}, "b": {"action": "cancel"}}
    assert (user.asked, user.withdrawn, "cancel" in seen) == (["Name for a?"], ["Name for a?"], False)


async def test_a_cancelled_call_cancels_its_task(tasker: Tasker, user: User, seen: list[str]) -> None:
    open_now = anyio.Event()

    async def thinks() -> None:
        open_now.set()
        await anyio.sleep_forever()

    user.thinks = thinks
    async with connected(tasker, user) as (caller, client), anyio.create_task_group() as group:
        group.start_soon(caller.call_tool, client, "run", plan(ask("a")))
        await open_now.wait()
        group.cancel_scope.cancel()
    assert (user.withdrawn, seen[-1], seen.count("cancel")) == (["Name for a?"], "cancel", 1)


@pytest.mark.parametrize("wish", [0, -1, 1e12, "soon", None, True])
async def test_the_poll_interval_has_limits(
    tasker: Tasker, user: User, seen: list[str], monkeypatch: pytest.MonkeyPatch, wish: Any
) -> None:
    monkeypatch.setattr(task_polling, "MIN_POLL_INTERVAL", 0.05)
    monkeypatch.setattr(task_polling, "MAX_POLL_INTERVAL", 0.1)
    monkeypatch.setattr(task_polling, "POLL_INTERVAL", 0.06)
    async with connected(tasker, user) as (caller, client):
        started = anyio.current_time()
        await caller.call_tool(client, "run", plan({"work": 3}, poll=wish))
        assert anyio.current_time() - started >= 0.2
    assert seen.count("get") == 4


# --- handles, status, cancellation


async def test_a_task_that_is_only_started_is_resumed_by_its_id(tasker: Tasker, user: User, seen: list[str]) -> None:
    async with connected(tasker, user) as (caller, client):
        task = await caller.call_tool(client, "run", plan(ask("a")), wait=False)
        assert isinstance(task, TaskHandle)
        assert (task.status, task.tool, task.server, user.asked) == ("working", "run", "mail", [])
        assert task.id not in repr(task)
        assert TaskHandle.model_validate_json(task.model_dump_json()) == task
    async with connected(tasker, user) as (caller, client):  # another connection, another process
        assert told(await caller.resume_task(task.id, client)) == accepted("a")
        assert told(await caller.resume_task(task, client)) == accepted("a")  # repeating is harmless
    assert (user.asked, "cancel" in seen) == (["Name for a?"], False)


async def test_a_call_without_a_task_returns_its_result_at_once(tasker: Tasker, user: User) -> None:
    async with connected(tasker, user, extensions=[foreign_extension()]) as (caller, client):
        result = await caller.call_tool(client, "run", plan(ask("a")), wait=False)
    assert result.content[0].text == "no task"


async def test_a_resumed_task_runs_on_if_nobody_waits_any_more(tasker: Tasker, user: User, seen: list[str]) -> None:
    async with connected(tasker, user) as (caller, client):
        task = await caller.call_tool(client, "run", plan({"work": 60}), wait=False)
        with pytest.raises(CallTimeoutError):
            await caller.resume_task(task, client, timeout=0.1)
        with anyio.move_on_after(0.1):
            await caller.resume_task(task, client)
        assert "cancel" not in seen
        assert told(await caller.resume_task(task, client)) == {}


async def test_a_task_can_be_cancelled_by_its_id(tasker: Tasker, user: User) -> None:
    async with connected(tasker, user) as (caller, client):
        task = await caller.call_tool(client, "run", plan({"work": 9_999}), wait=False)
        await caller.cancel_task(task.id, client)
        with pytest.raises(TaskError) as caught:
            await caller.resume_task(task, client)
        assert (caught.value.code, caught.value.task_id) == ("cancelled", task.id)
        with pytest.raises(TaskError) as caught:
            await caller.cancel_task("unknown", client)
    assert caught.value.code == "expired"


async def test_two_tasks_that_resume_one_handle_ask_once(tasker: Tasker, user: User) -> None:
    async def thinks() -> None:
        await anyio.sleep(0.1)

    user.thinks = thinks
    results: list[Any] = []
    async with connected(tasker, user) as (caller, client):
        task = await caller.call_tool(client, "run", plan(ask("a", "b")), wait=False)

        async def resume() -> None:
            results.append(told(await caller.resume_task(task, client)))

        async with anyio.create_task_group() as group:
            group.start_soon(resume)
            group.start_soon(resume)
    assert results == [accepted("a", "b")] * 2
    assert sorted(user.asked) == ["Name for a?", "Name for b?"]


async def test_a_call_that_resumes_a_task_does_not_time_out_while_another_call_asks(
    tasker: Tasker, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def thinks() -> None:
        await anyio.sleep(0.6)

    user.thinks = thinks
    monkeypatch.setattr(task_polling, "MAX_IDLE", 0.2)
    results: list[Any] = []
    async with connected(tasker, user) as (caller, client):
        task = await caller.call_tool(client, "run", plan(ask("a")), wait=False)

        async def resume() -> None:
            results.append(told(await caller.resume_task(task, client, timeout=0.4)))

        async with anyio.create_task_group() as group:
            group.start_soon(resume)
            group.start_soon(resume)
    assert results == [accepted("a")] * 2


async def test_no_answer_is_reused_for_a_new_task_with_an_old_id(user: User) -> None:
    class LosesAnswers(Tasker):
        def _update(self, _task_id: str, _responses: dict[str, Any]) -> dict[str, Any]:
            raise RefusalError(-32603)

    caller, seen = Caller(user, "mail"), list[str]()
    async with caller.client(build(LosesAnswers(seen.append))) as client:
        with pytest.raises(CallTimeoutError):
            await caller.call_tool(client, "run", plan(ask("a"), id="1"), timeout=0.3)
    user.action = "decline"
    async with caller.client(build(Tasker(seen.append))) as client:  # restarted: it counts from the beginning
        result = await caller.call_tool(client, "run", plan(ask("a"), id="1"))
    assert told(result) == {"a": {"action": "decline"}}
    assert user.asked == ["Name for a?"] * 2


async def test_tasks_of_two_users_with_the_same_id_are_two_tasks(user: User) -> None:
    is_asked, both_asked = anyio.Event(), anyio.Event()

    async def thinks() -> None:
        (both_asked if is_asked.is_set() else is_asked).set()
        await both_asked.wait()

    user.thinks = thinks
    caller, results = Caller(user, "mail"), list[Any]()

    async def call(name: str) -> None:
        async with caller.client(build(Tasker(lambda _line: None))) as client:  # each user has a process of the server
            task = await caller.call_tool(client, "run", plan(ask("a"), id="1"), wait=False, user=name)
            assert isinstance(task, TaskHandle)
            results.append(told(await caller.resume_task(task, client)))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(call, "ann")
            await is_asked.wait()
            group.start_soon(call, "bob")
    assert results == [accepted("a")] * 2
    assert user.asked == ["Name for a?"] * 2


@pytest.mark.parametrize("failure", [ValueError, asyncio.CancelledError])
async def test_the_host_sees_each_status_once_and_sanitized(
    tasker: Tasker, user: User, failure: type[BaseException]
) -> None:
    reported: list[tuple[str, str | None]] = []

    async def report(task: TaskHandle) -> None:
        reported.append((task.status, task.status_message))
        raise failure  # a broken callback changes nothing

    steps = [{"work": 3, "message": "half \x1b[31mdone\u202e"}, ask("a")]
    async with connected(tasker, user) as (caller, client):
        await caller.call_tool(client, "run", plan(*steps), on_task_status=report)
    assert [status for status, _ in reported] == ["working", "working", "input_required", "completed"]
    assert reported[0][1] is None
    assert reported[1][1] is not None
    assert "\x1b" not in reported[1][1]
    assert "\u202e" not in reported[1][1]


async def test_a_task_of_another_server_is_refused(tasker: Tasker, user: User) -> None:
    async with connected(tasker, user) as (caller, client):
        task = await caller.call_tool(client, "run", plan(), wait=False)
        with pytest.raises(ValueError, match="another server"):
            await Caller(user, "bank").resume_task(task, client)
        for bad in ("", "a\nb", "x" * 5_000, " a"):
            with pytest.raises(ValueError, match="ID of a task"):
                await caller.resume_task(bad, client)


# --- servers that break the protocol


@pytest.mark.parametrize(
    "raw",
    [
        {"status": "sleeping"},
        {"status": "absent"},
        {"status": 5},
        {"status": "completed"},
        {"status": "completed", "result": []},
        {"status": "completed", "result": {"content": 5}},
        {"status": "completed", "result": {**TEXT, "resultType": "input_required"}},
        {"status": "completed", "result": {"resultType": "task", "taskId": "other"}},
        {"status": "failed"},
        {"status": "failed", "error": "broken"},
        {"status": "failed", "error": {"message": "no code"}},
        {"taskId": "other", "status": "completed", "result": TEXT},
        {"status": "input_required", "inputRequests": []},
        {"status": "input_required", "inputRequests": {"a": 5}},
        {"status": "input_required", "inputRequests": {"a": {"method": "tools/call", "params": {}}}},
    ],
)
async def test_an_invalid_task_ends_in_an_error(tasker: Tasker, user: User, seen: list[str], raw: Any) -> None:
    error = await failed(tasker, user, plan({"raw": raw}))
    assert (error.code, user.asked) == ("invalid", [])
    assert error.task_id == "task-0"
    assert "task-0" not in str(error)
    assert seen[-1] == "cancel" or raw["status"] == "completed"


@pytest.mark.parametrize(
    ("handle", "code"),
    [
        ({"status": []}, "invalid"),
        ({"status": {}}, "invalid"),
        ({"status": "sleeping"}, "invalid"),
        ({"status": "failed", "error": "broken"}, "invalid"),
        ({"status": "input_required", "inputRequests": {f"k{number}": question("?") for number in range(17)}}, "limit"),
    ],
)
@pytest.mark.parametrize("through", ["caller", "client"])
async def test_a_task_that_is_created_invalid_is_cancelled(
    tasker: Tasker, user: User, seen: list[str], handle: Any, code: str, through: str
) -> None:
    async with connected(tasker, user) as (caller, client):
        with pytest.raises(TaskError) as caught:
            await (
                caller.call_tool(client, "run", plan(handle=handle))
                if through == "caller"
                else client.call_tool("run", plan(handle=handle))
            )
    assert (caught.value.code, caught.value.task_id, user.asked, seen[-1]) == (code, "task-0", [], "cancel")


@pytest.mark.parametrize("field", ["resultType", "createdAt", "lastUpdatedAt", "taskId", "ttlMs", "pollIntervalMs"])
async def test_a_task_without_one_of_the_other_fields_is_usable(tasker: Tasker, user: User, field: str) -> None:
    raw = {"status": "completed", "result": TEXT, field: "absent"}
    async with connected(tasker, user) as (caller, client):
        assert (await caller.call_tool(client, "run", plan({"raw": raw}))).content[0].text == "done"


@pytest.mark.parametrize("task_id", ["", "a\nb", "x" * 5_000, 5, None, "\u202ea", " a"])
async def test_an_id_that_cannot_be_sent_is_refused(tasker: Tasker, user: User, task_id: Any) -> None:
    error = await failed(tasker, user, plan(handle={"taskId": task_id}))
    assert (error.code, error.task_id) == ("invalid", None)


async def test_an_id_with_other_letters_is_used(tasker: Tasker, user: User) -> None:
    async with connected(tasker, user) as (caller, client):
        assert told(await caller.call_tool(client, "run", plan(ask("a"), id="tâche-ß"))) == accepted("a")


@pytest.mark.parametrize(
    "step",
    [
        {"ask": {"k" * 1_000_000: question("?")}},
        {"ask": {f"k{number}": question("?") for number in range(17)}},
    ],
    ids=["long key", "many keys"],
)
async def test_too_much_at_once_ends_in_an_error(tasker: Tasker, user: User, seen: list[str], step: Any) -> None:
    error = await failed(tasker, user, plan(step))
    assert (error.code, user.asked, seen[-1]) == ("limit", [], "cancel")


async def test_a_server_that_asks_without_end_is_stopped(tasker: Tasker, user: User, seen: list[str]) -> None:
    error = await failed(tasker, user, plan(*[ask(f"k{number}") for number in range(50)]), max_questions=5)
    assert (error.code, len(user.asked), seen[-1]) == ("limit", 5, "cancel")


async def test_a_server_that_flaps_is_stopped(tasker: Tasker, user: User, seen: list[str]) -> None:
    """It withdraws the same key again and again."""
    user.thinks = anyio.sleep_forever
    steps = [step for _ in range(20) for step in (ask("a", polls=1), {"work": 4})]
    error = await failed(tasker, user, plan(*steps), max_questions=5)
    assert (error.code, len(user.asked), seen[-1]) == ("limit", 5, "cancel")


async def test_input_that_is_not_asked_for_is_waited_for_but_not_forever(
    tasker: Tasker, user: User, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = {"raw": {"status": "input_required"}, "polls": 20}
    async with connected(tasker, user) as (caller, client):
        assert told(await caller.call_tool(client, "run", plan(nothing, ask("a")))) == accepted("a")
    monkeypatch.setattr(task_polling, "MAX_IDLE", 0.1)
    error = await failed(tasker, user, plan({**nothing, "polls": 9_999}))
    assert (error.code, seen[-1]) == ("invalid", "cancel")


@pytest.mark.parametrize("ttl", [0, 100, None, "long"])
async def test_a_task_may_live_longer_than_it_said_but_not_forever(
    tasker: Tasker, user: User, monkeypatch: pytest.MonkeyPatch, ttl: Any
) -> None:
    async with connected(tasker, user) as (caller, client):
        assert told(await caller.call_tool(client, "run", plan({"work": 3}, ttl=ttl))) == {}
        task = await caller.call_tool(client, "run", plan({"work": 300}, ttl=ttl), wait=False)
        assert (task.expires_at is None) == (ttl in (None, "long"))
    monkeypatch.setattr(task_polling, "TTL_MARGIN", 0.0)
    if task.expires_at is not None:
        assert (await failed(tasker, user, plan({"work": 300}, ttl=ttl))).code == "expired"


async def test_a_lifetime_that_grows_counts(tasker: Tasker, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_polling, "TTL_MARGIN", 0.0)
    grown = {"raw": {"status": "working", "ttlMs": 60_000}, "polls": 40}
    async with connected(tasker, user) as (caller, client):
        assert told(await caller.call_tool(client, "run", plan(grown, {"end": {"ttlMs": 1}}, ttl=100))) == {}


@pytest.mark.parametrize("is_open", [False, True])
async def test_a_task_that_the_server_has_forgotten_has_expired(tasker: Tasker, user: User, is_open: bool) -> None:
    user.thinks = anyio.sleep_forever
    first = ask("a", polls=2) if is_open else {"work": 2}
    error = await failed(tasker, user, plan(first, {"refuse": [-32602], "polls": 99}))
    assert (error.code, user.withdrawn) == ("expired", ["Name for a?"] if is_open else [])


async def test_a_capability_that_is_not_declared_is_named(tasker: Tasker, user: User) -> None:
    data: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}, "\x1b[31m": {}}}
    async with connected(tasker, user) as (caller, client):
        refused = {"refuse": [-32021, data]}
        end = {"status": "failed", "error": {"code": -32021, "message": "refused", "data": data}}
        for arguments in (refused, plan({**refused, "polls": 9}), plan({"end": end})):
            with pytest.raises(CapabilityRequiredError) as caught:
                await caller.call_tool(client, "run", arguments)
            assert caught.value.required == ("extensions",)


async def test_errors_of_single_polls_are_survived(tasker: Tasker, user: User) -> None:
    """A server that restarts, or a proxy in front of it."""
    async with connected(tasker, user) as (caller, client):
        steps = [{"refuse": [-32603], "polls": 3}, ask("a"), {"refuse": [-32000], "polls": 3}]
        assert told(await caller.call_tool(client, "run", plan(*steps))) == accepted("a")
    assert user.asked == ["Name for a?"]


async def test_one_error_is_survived_with_a_poll_interval_longer_than_the_outage(
    tasker: Tasker, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_polling, "MAX_OUTAGE", task_polling.MIN_POLL_INTERVAL / 2)
    async with connected(tasker, user) as (caller, client):
        steps = [{"work": 1}, {"refuse": [-32603], "polls": 1}, ask("a")]
        assert told(await caller.call_tool(client, "run", plan(*steps))) == accepted("a")


async def test_errors_of_polls_do_not_disturb_the_user(
    tasker: Tasker, user: User, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_polling, "MAX_OUTAGE", 0.05)

    async def thinks() -> None:
        await until(lambda: seen.count("get") >= 12)  # the ten polls that fail, and the one after them

    user.thinks = thinks
    steps = [ask("a", polls=1), {"refuse": [-32603], "polls": 10}, ask("a")]
    async with connected(tasker, user) as (caller, client):
        assert told(await caller.call_tool(client, "run", plan(*steps))) == accepted("a")
    assert (user.asked, user.withdrawn) == (["Name for a?"], [])


async def test_a_server_that_stays_away_ends_the_call_but_not_the_task(
    tasker: Tasker, user: User, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_polling, "MAX_OUTAGE", 0.05)
    error = await failed(tasker, user, plan(ask("a"), {"refuse": [-32603], "polls": 50}))
    assert (error.code, "cancel" in seen) == ("interrupted", False)
    assert error.task_id is not None


async def test_a_task_that_was_not_declared_names_the_fix(tasker: Tasker, user: User) -> None:
    from mcp import Client  # type: ignore[attr-defined,unused-ignore]

    caller = Caller(user, "mail")
    for extensions in ([], caller.extensions):
        async with Client(build(tasker), elicitation_callback=caller.callback, extensions=extensions) as client:
            try:
                assert told(await caller.call_tool(client, "run", plan(ask("a"), force=True))) == accepted("a")
                assert extensions
            except TaskError as error:
                assert (error.code, extensions) == ("undeclared", [])
                assert "extensions=caller.extensions" in str(error)


async def test_a_task_in_place_of_a_prompt_or_resource_is_an_invalid_response(user: User) -> None:
    caller = Caller(user, "mail")
    async with caller.client(everything_is_a_task()) as client:
        for call in (caller.get_prompt(client, "p"), caller.read_resource(client, "test://r")):
            with pytest.raises(CallError):
                await call


# --- declarations


async def test_tasks_are_declared_only_where_they_are_served(tasker: Tasker, user: User) -> None:
    caller = Caller(user, "mail")
    for mode, declared in (("auto", True), ("legacy", False)):
        async with caller.client(build(tasker), mode=mode) as client:
            version = str(client.session.protocol_version)
            capabilities = client.session._build_capabilities(version)
            assert (EXTENSION in (capabilities.extensions or {})) is declared
            if not declared:
                with pytest.raises(TaskError) as caught:
                    await caller.resume_task("t", client)
                assert caught.value.code == "unsupported"


async def test_a_result_that_another_extension_claims_is_finished_by_it(tasker: Tasker, user: User) -> None:
    async with connected(tasker, user, extensions=[foreign_extension()]) as (caller, client):
        result = await caller.call_tool(client, "run", plan(force=True))
        assert result.content[0].text == "claimed"


async def test_an_extension_of_the_host_is_not_declared_twice(tasker: Tasker, user: User) -> None:
    async with connected(tasker, user, extensions=[foreign_extension(EXTENSION)]) as (caller, client):
        result = await caller.call_tool(client, "run", plan(ask("a")))
        assert told(result) == accepted("a")
    registry = ElicitationRegistry()
    registry.on_elicitation(user)
    with pytest.raises(ValueError, match="more than once"):
        Caller(registry, "mail").client(build(tasker), extensions=[foreign_extension(EXTENSION)] * 2)
