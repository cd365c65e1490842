"""The timeouts of the server and the user, on a simulated clock."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from trio.testing import MockClock

from mcp_elicit_client import Answer
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import ConnectMode
from mcp_elicit_client.calls.active_call import CallTimeouts
from mcp_elicit_client.calls.methods import unwrap_session
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.core.request import MAX_EXTENSIONS
from mcp_elicit_client.exceptions import CallError, CallTimeoutError
from mcp_elicit_client.policies import answer_timeout
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Request
from tests.support.inprocess import in_process

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops(("trio", {"clock": MockClock(autojump_threshold=0.01)}))]

CONNECT_MODES: list[ConnectMode] = ["legacy", "auto"] if supports_multi_round_trip() else ["legacy"]
URL = "https://login.example.com/start"
YES = Answer.accept(by="user")
NAMED = Answer.accept({"name": "Ann"}, by="user")

only_multi_round_trip = pytest.mark.rounds


@pytest.fixture(params=CONNECT_MODES)
def connect_mode(request: pytest.FixtureRequest) -> ConnectMode:
    return "auto" if request.param == "auto" else "legacy"


def thinking(seconds: float, answer: Answer = NAMED) -> Any:
    async def think(_request: Request) -> Answer:
        await anyio.sleep(seconds)
        return answer

    return think


async def call(caller: Caller, client: Any, tool: str, arguments: dict[str, Any] | None = None, **timeouts: Any) -> Any:
    result = await caller.call_tool(client, tool, arguments, **timeouts)
    return json.loads(result.content[0].text)


async def test_the_servers_timeout_does_not_include_the_users_time(connect_mode: ConnectMode) -> None:
    caller = Caller(thinking(3), "mail")
    async with in_process(caller, connect_mode) as client:
        started = anyio.current_time()
        got = await call(caller, client, "form", timeout=1)

    assert got["got"]["content"] == {"name": "Ann"}
    assert 3 <= anyio.current_time() - started < 4


async def test_a_server_that_hangs_after_the_answer_times_out(connect_mode: ConnectMode) -> None:
    caller = Caller(thinking(3), "mail")
    async with in_process(caller, connect_mode) as client:
        with pytest.raises(CallTimeoutError) as caught:
            await call(caller, client, "hang", timeout=1, answer_timeout=60)

    error = caught.value
    assert error.limit == "timeout"
    assert (round(error.server_seconds, 1), round(error.user_seconds, 1)) == (1.0, 3.0)
    assert str(error) == (
        "The server did not answer in time: the server took 1.0 s (limit 1.0 s), the user 3.0 s (limit 60.0 s). "
        "Increase `timeout`, or call again later."
    )
    assert isinstance(error, TimeoutError)
    assert isinstance(error, CallError)


@only_multi_round_trip
@pytest.mark.parametrize("answer_timeout", [2, 60])
async def test_a_server_that_returns_only_state_without_asking_uses_its_own_time(answer_timeout: float) -> None:
    caller = Caller(thinking(0), "mail")
    async with in_process(caller, "auto") as client:
        with pytest.raises(CallTimeoutError) as caught:
            await call(caller, client, "polls", {"times": 1_000}, timeout=9, answer_timeout=answer_timeout)

    error = caught.value
    assert (error.limit, round(error.server_seconds), error.user_seconds) == ("timeout", 9, 0)


async def test_a_server_that_hangs_before_its_request_times_out(connect_mode: ConnectMode) -> None:
    caller = Caller(thinking(0), "mail")
    async with in_process(caller, connect_mode) as client:
        with pytest.raises(CallTimeoutError, match=r"the server took 0.5 s \(limit 0.5 s\), the user 0 s \(no limit\)"):
            await call(caller, client, "silent", timeout=0.5, answer_timeout=None)


async def test_the_error_names_a_limit_of_milliseconds(connect_mode: ConnectMode) -> None:
    caller = Caller(thinking(0), "mail")
    async with in_process(caller, connect_mode) as client:
        with pytest.raises(CallTimeoutError, match=r"the server took 0\.01\d* s \(limit 0\.01 s\)"):
            await call(caller, client, "silent", timeout=0.01)


async def test_the_read_timeout_of_the_session_does_not_apply(connect_mode: ConnectMode) -> None:
    read_timeout: Any = 1.0 if supports_multi_round_trip() else timedelta(seconds=1)
    caller = Caller(thinking(3), "mail")
    async with in_process(caller, connect_mode, read_timeout_seconds=read_timeout) as client:
        assert (await call(caller, client, "form"))["got"]["action"] == "accept"
        assert (await caller.get_prompt(client, "form")).messages
        assert (await caller.read_resource(client, "thing://form")).contents


async def test_the_users_timeout_withdraws_the_request_and_cancels(connect_mode: ConnectMode) -> None:
    caller = Caller(thinking(1_000), "mail")
    async with in_process(caller, connect_mode) as client:
        started = anyio.current_time()
        got = await call(caller, client, "form", timeout=1, answer_timeout=20)

    assert got == {"got": {"action": "cancel"}}
    assert 20 <= anyio.current_time() - started < 21


@pytest.mark.parametrize("policy_seconds", [None, 600])
async def test_a_request_expires_when_the_users_timeout_passes(
    connect_mode: ConnectMode, policy_seconds: float | None
) -> None:
    seen: list[tuple[timedelta, datetime | None]] = []

    async def show(request: Request) -> Answer:
        assert request.deadline is not None
        seen.append((request.deadline - datetime.now(timezone.utc), request.max_deadline))
        return NAMED

    handler = show if policy_seconds is None else answer_timeout(policy_seconds)(show)
    async with in_process(caller := Caller(handler, "mail"), connect_mode) as client:
        await call(caller, client, "form", answer_timeout=20)

    ((left, max_deadline),) = seen
    assert timedelta(seconds=15) < left <= timedelta(seconds=20)
    assert max_deadline is None


async def test_a_handler_can_close_a_request_itself_when_it_expires(connect_mode: ConnectMode) -> None:
    closed = 0

    async def wait(request: Request) -> Answer:
        nonlocal closed
        assert request.deadline is not None
        await anyio.sleep((request.deadline - datetime.now(timezone.utc)).total_seconds())
        await anyio.sleep(0.1)  # what it stores
        closed += 1
        return Answer.cancel(by="timeout")

    caller = Caller(wait, "mail")
    async with in_process(caller, connect_mode) as client:
        assert await call(caller, client, "form", answer_timeout=20) == {"got": {"action": "cancel"}}

    assert closed == 1


async def test_without_a_timeout_of_the_user_the_policy_sets_when_a_request_expires(connect_mode: ConnectMode) -> None:
    seen: list[timedelta] = []

    async def show(request: Request) -> Answer:
        assert request.deadline is not None
        assert request.max_deadline is not None
        seen.append(request.max_deadline - request.deadline)
        return NAMED

    async with in_process(caller := Caller(answer_timeout(600)(show), "mail"), connect_mode) as client:
        await call(caller, client, "form", answer_timeout=None)

    assert seen == [timedelta(seconds=600 * MAX_EXTENSIONS)]


async def test_the_users_timeout_is_for_all_requests_of_a_call(connect_mode: ConnectMode) -> None:
    asked = 0

    async def think(_request: Request) -> Answer:
        nonlocal asked
        asked += 1
        await anyio.sleep(8)
        return NAMED

    caller = Caller(think, "mail", max_rounds=50)
    async with in_process(caller, connect_mode) as client:
        if connect_mode == "legacy":
            got = await call(caller, client, "nag", {"reword": True}, answer_timeout=20)
            assert got["got"][:4] == ["accept", "accept", "cancel", "cancel"]
        else:
            with pytest.raises(CallError, match="more than 50 times"):
                await call(caller, client, "nag", {"reword": True}, answer_timeout=20)

    assert asked == 3


async def test_a_call_whose_user_is_late_takes_no_time_from_another_one_over_the_session() -> None:
    requests = 0

    async def answer_the_second(_request: Request) -> Answer:
        nonlocal requests
        requests += 1
        await anyio.sleep(1_000 if requests == 1 else 10)
        return NAMED

    caller = Caller(answer_the_second, "mail")
    async with in_process(caller, "legacy") as client, anyio.create_task_group() as group:
        group.start_soon(lambda: call(caller, client, "hang", answer_timeout=5))
        await anyio.sleep(6)
        assert await call(caller, client, "form", answer_timeout=60) == {"got": NAMED.to_wire()}
        group.cancel_scope.cancel()


@pytest.mark.parametrize(("ended_at", "late_at"), [(1, 2), (3, 3)])
async def test_a_request_has_the_time_of_the_calls_that_go_on(ended_at: float, late_at: float) -> None:
    caller = Caller(thinking(1_000), "mail")
    async with in_process(caller, "legacy") as client, anyio.create_task_group() as group:

        async def end_the_longer_call() -> None:
            with anyio.move_on_after(ended_at):
                await call(caller, client, "silent", answer_timeout=None)

        started = anyio.current_time()
        group.start_soon(end_the_longer_call)
        await anyio.lowlevel.checkpoint()
        assert await call(caller, client, "form", answer_timeout=2) == {"got": {"action": "cancel"}}

    assert late_at <= anyio.current_time() - started < late_at + 0.5


async def test_the_users_timeout_during_a_required_url_is_an_error() -> None:
    caller = Caller(thinking(1_000, YES), "mail")
    async with in_process(caller, "legacy") as client:
        with pytest.raises(CallTimeoutError, match="The user did not answer in time") as caught:
            await call(caller, client, "required", {"urls": [URL]}, timeout=5, answer_timeout=30)

    assert (caught.value.limit, round(caught.value.user_seconds), caught.value.answer_timeout) == (
        "answer_timeout",
        30,
        30,
    )
    assert not isinstance(caught.value, UrlElicitationIncompleteError)


@only_multi_round_trip
async def test_pauses_grow_while_the_server_returns_only_its_state() -> None:
    lines: list[str] = []
    caller = Caller(thinking(0), "mail")
    async with in_process(caller, "auto", lines.append) as client:
        started = anyio.current_time()
        with pytest.raises(CallTimeoutError) as caught:
            await call(caller, client, "polls", {"times": 10_000}, answer_timeout=60)

    assert caught.value.limit == "answer_timeout"
    assert round(anyio.current_time() - started) == 60
    assert 10 < lines.count("polls") < 25


async def test_a_cancelled_call_withdraws_its_request(connect_mode: ConnectMode) -> None:
    withdrawn = 0

    async def think(_request: Request) -> Answer:
        nonlocal withdrawn
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn += 1
        raise AssertionError

    caller = Caller(think, "mail")
    async with in_process(caller, connect_mode) as client:
        with anyio.move_on_after(5):
            await call(caller, client, "form", answer_timeout=None)
        await anyio.sleep(1)

    assert withdrawn == 1


async def test_nothing_is_sent_to_the_server_while_the_user_thinks(connect_mode: ConnectMode) -> None:
    sent: list[object] = []
    sent_meanwhile: list[object] = []

    async def think(_request: Request) -> Answer:
        sent.clear()
        await anyio.sleep(30)
        sent_meanwhile.extend(sent)
        return NAMED

    caller = Caller(think, "mail")
    async with in_process(caller, connect_mode) as client:
        session = unwrap_session(client)
        send = session.send_request

        async def recording(request: object, *arguments: object, **options: object) -> object:
            sent.append(request)
            return await send(request, *arguments, **options)

        session.send_request = recording
        assert (await call(caller, client, "form"))["got"]["action"] == "accept"

    assert sent_meanwhile == []


async def test_each_timeout_counts_only_its_own_time() -> None:
    timeouts = CallTimeouts(timeout=5, answer_timeout=7)
    with pytest.raises(CallTimeoutError) as caught, timeouts:
        await anyio.sleep(2)
        with timeouts.paused_for_user():
            await anyio.sleep(3)
            with timeouts.paused_for_user():
                await anyio.sleep(1)
            assert round(timeouts.user_deadline - anyio.current_time()) == 3
        await anyio.sleep(2)
        with timeouts.paused_for_user():
            assert round(timeouts.user_deadline - anyio.current_time()) == 3
        await anyio.sleep(100)

    assert (round(caught.value.server_seconds), round(caught.value.user_seconds)) == (5, 4)


async def test_the_time_of_the_host_counts_as_neither() -> None:
    timeouts = CallTimeouts(timeout=5, answer_timeout=7)
    with pytest.raises(CallTimeoutError) as caught, timeouts:
        await anyio.sleep(2)
        with timeouts.paused_for_host():
            await anyio.sleep(20)
            with timeouts.paused_for_user():
                await anyio.sleep(1)
            await anyio.sleep(20)
        assert not timeouts.is_user_late
        await anyio.sleep(100)

    assert (round(caught.value.server_seconds), round(caught.value.user_seconds)) == (5, 1)


async def test_a_cancel_from_outside_is_not_a_timeout() -> None:
    with anyio.move_on_after(1) as scope, CallTimeouts(timeout=5, answer_timeout=7):
        await anyio.sleep(3)

    assert scope.cancelled_caught
