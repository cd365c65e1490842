"""
Clients with multi-round-trip requests: states, replays and bad responses.

The client here is the SDK's session, which sends whatever the tests tell it.
With ``push`` upstream the gateway holds the call; with ``rounds`` it stores it,
in its memory or in an inbox.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.to_thread
import mcp.types
import pytest
from hypothesis import given
from hypothesis import strategies as some
from mcp.server import lowlevel

from mcp_elicit_client import Limits, RequestOptions
from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox import Inbox, MemoryStore
from mcp_elicit_client.inbox.suspended_calls import calls_of
from mcp_elicit_client.policies import hooks
from mcp_elicit_client.relay import Relay, held_call, held_calls, leg_stores, relay, stored_calls, upstream
from mcp_elicit_client.relay.legs import check_same_call
from mcp_elicit_client.relay.refusals import RefusedError
from mcp_elicit_client.relay.state import MAX_STATE, StateContent, StateSigner
from mcp_elicit_client.stored_answers import is_resuming
from tests.servers import visitor
from tests.servers.gateway import build as gateway_server
from tests.support.gateways import MODES, said, streams_to
from tests.support.inboxes import Clock, Stores, open_stores
from tests.support.raw import raw_server

pytestmark = [pytest.mark.anyio, pytest.mark.rounds, pytest.mark.event_loops("asyncio")]

types: Any = mcp.types
both_loops = pytest.mark.event_loops("asyncio", "trio")
each_side = pytest.mark.parametrize("up", ["push", "rounds", "rounds, in an inbox"])
ANN = {"action": "accept", "content": {"name": "Ann"}}
ACCEPT = {"action": "accept"}
BOB = {"action": "accept", "content": {"name": "Bob"}}


class Client:
    """A client that repeats, changes and invents what it sends."""

    def __init__(self, client: Any, people: list[str]) -> None:
        self._session = client.session
        self._people = people

    async def call(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        state: str | None = None,
        responses: dict[str, Any] | None = None,
        user: str = "ann",
        progress: list[float] | None = None,
    ) -> Any:
        self._people[:] = [user]
        answers = {key: _response(each) for key, each in (responses or {}).items()}

        async def report(reached: float, _total: float | None, _message: str | None) -> None:
            if progress is not None:
                progress.append(reached)

        return await self._session.call_tool(
            name,
            arguments or {},
            progress_callback=None if progress is None else report,
            input_responses=answers or None,
            request_state=state,
            allow_input_required=True,
        )

    async def refusal(self, *arguments: Any, **options: Any) -> str:
        """Return the code with which the gateway refuses a request."""
        with pytest.raises(mcp.MCPError) as caught:  # type: ignore[attr-defined,unused-ignore]
            await self.call(*arguments, **options)
        error = caught.value.error
        assert error.code == -32602
        assert error.data["reason"].startswith("invalid_")
        return str(error.data["code"])


def _response(wire: dict[str, Any]) -> Any:
    if "roots" in wire:
        return types.ListRootsResult.model_validate(wire)
    return types.ElicitResult.model_validate(wire)


def keys(result: Any) -> list[str]:
    return list(result.input_requests)


async def declare(_context: Any, _params: Any) -> Any:
    raise AssertionError("the gateway must not push")


@asynccontextmanager
async def gateway(
    up: str,
    seen: list[str] | None = None,
    *,
    has_wire: bool = False,
    tools: visitor.Tools | None = None,
    upstream: Any = None,
    **options: Any,
) -> AsyncIterator[Client]:
    """Connect to a gateway to the server `visitor`; with *has_wire*, all messages are JSON."""
    if up == "rounds, in an inbox":
        up, options = "rounds", {"inbox": Inbox(MemoryStore()), **options}
    people = ["ann"]
    sdk: Any = mcp
    tools = tools or visitor.Tools((seen if seen is not None else []).append)
    server = visitor.build_for_mcp_2(tools)
    upstream = upstream or ((lambda _user: streams_to(server)) if has_wire else server)

    async with (
        Relay("visitor", upstream, mode=MODES[up], user=lambda _context: people[0], **options) as open_relay,
        sdk.Client(
            streams_to(gateway_server(open_relay)) if has_wire else gateway_server(open_relay),
            elicitation_callback=declare,
        ) as client,
    ):
        with anyio.fail_after(30):
            yield Client(client, people)


class OwnState:
    """Makes a new server for each connection, which accepts only its own state, as servers over stdio do."""

    def __init__(self) -> None:
        self.closed: dict[str, anyio.Event] = {}
        self.waiting = 0
        self.both_wait = anyio.Event()

    @asynccontextmanager
    async def __call__(self, user: str | None) -> AsyncIterator[Any]:
        self.closed[user or ""] = closed = anyio.Event()
        own_state = f"state {len(self.closed)} {id(closed)}"

        async def call_tool(_context: Any, params: Any) -> Any:
            if params.name == "together" and not params.input_responses:
                self.waiting += 1
                if self.waiting == 2:
                    self.both_wait.set()
                await self.both_wait.wait()
            if params.name == "handshake":
                raise mcp.MCPError(-32600, "Cannot send 'elicitation/create'")  # type: ignore[attr-defined,unused-ignore]
            if params.name in ("form", "together") and not params.input_responses:
                request = {"method": "elicitation/create", "params": visitor.asked_form()}
                question = types.ElicitRequest.model_validate(request)
                return types.InputRequiredResult(input_requests={"q": question}, request_state=own_state)
            text = "accepted" if params.request_state in (None, own_state) else "another state"
            return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

        async def list_tools(_context: Any, _params: Any) -> Any:
            schema = {"type": "object"}
            return types.ListToolsResult(tools=[types.Tool(name="invalid", input_schema=schema, output_schema=schema)])

        try:
            server: Any = lowlevel.Server
            async with streams_to(server("own", on_call_tool=call_tool, on_list_tools=list_tools)) as streams:
                yield streams
        finally:
            closed.set()


async def test_calls_at_the_same_time_continue_where_their_servers_accept_the_state() -> None:
    async with gateway("rounds", upstream=OwnState()) as client:
        asked: list[Any] = []

        async def call() -> None:
            asked.append(await client.call("together"))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            group.start_soon(call)
        for each in asked:
            answers = dict.fromkeys(keys(each), ANN)
            result = await client.call("together", state=each.request_state, responses=answers)
            assert said(result) == "accepted"


@pytest.mark.parametrize("name", ["invalid", "handshake"])
async def test_a_call_that_fails_leaves_the_connection_to_the_calls_that_wait_on_it(name: str) -> None:
    async with gateway("rounds", upstream=OwnState()) as client:
        asked = await client.call("form")
        with pytest.raises(mcp.MCPError):  # type: ignore[attr-defined,unused-ignore]
            await client.call(name)
        answers = dict.fromkeys(keys(asked), ANN)
        assert said(await client.call("form", state=asked.request_state, responses=answers)) == "accepted"


async def test_a_connection_stays_open_while_a_call_waits_for_its_client() -> None:
    upstream = OwnState()
    async with gateway("rounds", upstream=upstream, idle_timeout=0) as client:
        asked = await client.call("form")
        await client.call("echo", user="bob")
        await upstream.closed["bob"].wait()
        answers = dict.fromkeys(keys(asked), ANN)
        assert said(await client.call("form", state=asked.request_state, responses=answers)) == "accepted"
        await upstream.closed["ann"].wait()


async def test_of_the_ended_calls_of_one_client_only_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_calls, "MAX_ENDED", 2)
    async with gateway("push") as client:
        firsts = [await client.call("form") for _ in range(3)]
        for first in firsts:
            await client.call("form", state=first.request_state, responses={keys(first)[0]: ANN})

        for first in firsts[1:]:
            again = await client.call("form", state=first.request_state, responses={keys(first)[0]: ANN})
            assert not again.is_error
        oldest = firsts[0]
        refused = await client.refusal("form", state=oldest.request_state, responses={keys(oldest)[0]: ANN})
        assert refused == "ended"


@both_loops
@each_side
async def test_the_same_responses_again_lead_to_the_same_result_and_are_sent_once(up: str) -> None:
    """The results may have been lost on their way."""
    seen: list[str] = []
    async with gateway(up, seen) as client:
        first = await client.call("twice")
        answers = {keys(first)[0]: ANN}
        assert (await client.call("twice", state=first.request_state)).input_requests == first.input_requests
        second = await client.call("twice", state=first.request_state, responses=answers)
        again = await client.call("twice", state=first.request_state, responses=answers)
        assert again.input_requests == second.input_requests
        done = await client.call("twice", state=again.request_state, responses={keys(again)[0]: BOB})
        repeated = await client.call("twice", state=second.request_state, responses={keys(second)[0]: BOB})
    assert said(done) == said(repeated) == json.dumps({"got": [ANN, BOB]})
    assert len([line for line in seen if line.startswith("twice ") and "done" in line]) == 1
    assert len(seen) == (2 if up == "push" else 4)


@pytest.mark.parametrize("up", MODES)
async def test_a_request_without_the_capability_is_not_asked_and_the_call_goes_on_waiting(up: str) -> None:
    """The client declares its capabilities with each request."""
    sdk: Any = mcp
    server = visitor.build_for_mcp_2(visitor.Tools(lambda _line: None))
    async with (
        Relay("visitor", server, mode=MODES[up], user=lambda _context: "ann") as relay,
        sdk.Client(gateway_server(relay), elicitation_callback=declare) as able,
        sdk.Client(gateway_server(relay)) as unable,
    ):
        asked = await Client(able, []).call("form")
        with pytest.raises(sdk.MCPError, match="does not declare") as caught:
            await Client(unable, []).call("form", state=asked.request_state)
        error = caught.value.error
        assert (error.code, error.data) == (-32021, {"requiredCapabilities": {"elicitation": {"form": {}}}})
        answers = dict.fromkeys(keys(asked), ANN)
        result = await Client(able, []).call("form", state=asked.request_state, responses=answers)
    assert json.loads(said(result)) == {"got": ANN}


@pytest.mark.parametrize("up", ["rounds", "rounds, in an inbox"])
async def test_answers_are_sent_once_if_the_result_does_not_fit_the_schema_of_the_tool(up: str) -> None:
    answered = 0

    async def list_tools(_context: Any, _params: Any) -> Any:
        integer = {"type": "object", "properties": {"count": {"type": "integer"}}}
        tool = types.Tool(name="count", input_schema={"type": "object"}, output_schema=integer)
        return types.ListToolsResult(tools=[tool])

    async def call_tool(_context: Any, params: Any) -> Any:
        nonlocal answered
        if not params.input_responses:
            request = {"method": "elicitation/create", "params": visitor.asked_form()}
            return types.InputRequiredResult(input_requests={"q": types.ElicitRequest.model_validate(request)})
        answered += 1
        return types.CallToolResult(content=[], structured_content={"count": "many"})

    server: Any = lowlevel.Server
    own = server("own", on_list_tools=list_tools, on_call_tool=call_tool)
    async with gateway(up, upstream=own) as client:
        asked = await client.call("count")
        for _ in range(2):
            with pytest.raises(Exception, match="The gateway failed"):
                await client.call("count", state=asked.request_state, responses=dict.fromkeys(keys(asked), ANN))
    assert answered == 1


@each_side
async def test_an_error_of_the_server_after_the_responses_ends_the_call_for_good(up: str) -> None:
    """Servers use the code with which the SDK reports a lost connection, too."""
    seen: list[str] = []
    async with gateway(up, seen) as client:
        first = await client.call("fail")
        for _ in range(2):
            with pytest.raises(mcp.MCPError, match="refused") as caught:  # type: ignore[attr-defined,unused-ignore]
                await client.call("fail", state=first.request_state, responses={keys(first)[0]: ANN})
            assert caught.value.error.code == -32000
    assert len([line for line in seen if line.startswith("fail ended")]) == 1


@each_side
async def test_other_responses_to_a_leg_that_was_answered_are_refused(up: str) -> None:
    async with gateway(up) as client:
        first = await client.call("twice")
        key = keys(first)[0]
        second = await client.call("twice", state=first.request_state, responses={key: ANN})
        assert await client.refusal("twice", state=first.request_state, responses={key: BOB}) == "used"
        assert await client.refusal("twice", state=first.request_state) == "used"
        done = await client.call("twice", state=second.request_state, responses={keys(second)[0]: BOB})
        assert await client.refusal("twice", state=first.request_state, responses={key: ANN}) == "used"
        assert await client.refusal("twice", state=second.request_state, responses={keys(second)[0]: ANN}) == "used"
    assert said(done) == json.dumps({"got": [ANN, BOB]})


BAD_RESPONSES: dict[str, tuple[dict[str, Any], str]] = {
    "another type": ({"roots": []}, "invalid_response"),
    "another type with a URL": ({"roots": [{"uri": "file:///home"}]}, "invalid_response"),
    "a value of another type": ({"action": "accept", "content": {"name": 7}}, "invalid_content"),
    "no content": ({"action": "accept"}, "invalid_content"),
    "the field of another form": ({"action": "accept", "content": {"color": "red"}}, "invalid_content"),
    "too much": ({"action": "accept", "content": {"name": "x" * 200_000}}, "invalid_content"),
}


@each_side
@pytest.mark.parametrize("name", BAD_RESPONSES)
async def test_a_bad_response_is_refused_and_the_question_stays_open(up: str, name: str) -> None:
    seen: list[str] = []
    async with gateway(up, seen) as client:
        first = await client.call("form")
        key = keys(first)[0]
        bad = {key: BAD_RESPONSES[name][0]}
        code = await client.refusal("form", state=first.request_state, responses=bad)
        before = list(seen)
        done = await client.call("form", state=first.request_state, responses={key: ANN})
    assert code == BAD_RESPONSES[name][1]
    assert before == ["form"]
    assert said(done) == json.dumps({"got": ANN})


@each_side
@pytest.mark.parametrize("given", ["another key", "the server's key"])
async def test_a_response_to_another_request_answers_none_and_is_not_sent(up: str, given: str) -> None:
    """The specification wants it to be ignored, and missing responses to be requested again."""
    seen: list[str] = []
    async with gateway(up, seen) as client:
        first = await client.call("form")
        key, unknown = keys(first)[0], {"another key": "q9", "the server's key": "q"}[given]
        again = await client.call("form", state=first.request_state, responses={unknown: BOB})
        assert again.input_requests == first.input_requests
        assert seen == ["form"]
        answer: dict[str, Any] = {"state": first.request_state, "responses": {key: ANN, unknown: BOB}}
        done = [await client.call("form", **answer) for _ in range(2)]
    assert [said(each) for each in done] == [json.dumps({"got": ANN})] * 2
    assert not any("Bob" in line for line in seen)


@each_side
async def test_after_a_response_to_one_of_two_requests_both_are_made_again(up: str) -> None:
    async with gateway(up) as client:
        first = await client.call("both" if up == "push" else "two")
        one, other = keys(first)
        tool = "both" if up == "push" else "two"
        again = await client.call(tool, state=first.request_state, responses={one: ANN})
        assert again.input_requests == first.input_requests
        done = await client.call(tool, state=first.request_state, responses={one: ANN, other: BOB})
    assert json.loads(said(done))["got"] == [ANN, BOB]


@each_side
async def test_content_of_a_decline_does_not_go_up(up: str) -> None:
    async with gateway(up) as client:
        first = await client.call("form")
        decline = {"action": "decline", "content": {"name": "Ann"}}
        done = await client.call("form", state=first.request_state, responses={keys(first)[0]: decline})
    assert said(done) == '{"got": {"action": "decline"}}'


@each_side
async def test_a_state_belongs_to_its_user_its_call_and_its_arguments(up: str) -> None:
    seen: list[str] = []
    async with gateway(up, seen) as client:
        first = await client.call("form")
        given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        assert await client.refusal("form", **given, user="bob") == "caller"
        assert await client.refusal("url", **given) == "call"
        assert await client.refusal("form", {"a": 1}, **given) == "call"
        assert seen == ["form"]
        assert said(await client.call("form", **given)) == json.dumps({"got": ANN})
        assert await client.refusal("form", {"a": 1}, **given) == "call"


def test_arguments_may_be_repeated_in_another_order() -> None:
    made = CallSpec("tool", "form", {"a": 1, "b": {"c": 2, "d": 3}})
    check_same_call(made, CallSpec("tool", "form", {"b": {"d": 3, "c": 2}, "a": 1}))
    with pytest.raises(RefusedError, match="another method, name or arguments"):
        check_same_call(made, CallSpec("tool", "form", {"b": {"c": 2}, "a": 1}))


@each_side
async def test_responses_without_a_state_do_not_start_a_call(up: str) -> None:
    seen: list[str] = []
    async with gateway(up, seen) as client:
        assert await client.refusal("form", responses={"q1": ANN}) == "state_missing"
    assert seen == []


@each_side
async def test_a_key_of_another_call_does_not_answer_this_one(up: str) -> None:
    async with gateway(up) as client:
        one, other = await client.call("form"), await client.call("twice")
        given = {keys(other)[0]: BOB}
        assert await client.refusal("form", state=other.request_state, responses=given) == "call"
        assert await client.refusal("twice", state=one.request_state, responses={keys(one)[0]: ANN}) == "call"


@each_side
async def test_a_forged_state_is_refused(up: str) -> None:
    async with gateway(up) as client:
        first = await client.call("form")
        state = str(first.request_state)
        prefix, tag, leg, rest = state.split(".", 3)
        elsewhere = StateSigner(b"k" * 32, "visitor").sign(StateContent("id", 1), "ann", 9)
        for each in (
            "s",
            "",
            state[:-1],
            state + "A",
            f"{prefix}.{tag}.{int(leg) + 1}.{rest}",
            elsewhere,
            "\u00e9" * 9,
            "x" * 9_999,
        ):
            assert await client.refusal("form", state=each, responses={keys(first)[0]: ANN}) == "invalid"
        assert said(await client.call("form", state=state, responses={keys(first)[0]: ANN}))


@each_side
async def test_a_late_response_is_refused_and_the_server_is_not_called_again(up: str) -> None:
    seen: list[str] = []
    async with gateway(up, seen, answer_timeout=0.3) as client:
        first = await client.call("form")
        await anyio.sleep(0.4)
        code = await client.refusal("form", state=first.request_state, responses={keys(first)[0]: ANN})
    assert code in ("expired", "ended")
    assert not any("accept" in line for line in seen)
    assert seen.count("form") == 1


@both_loops
async def test_a_call_that_is_held_is_cancelled_when_its_client_does_not_come_back() -> None:
    seen: list[str] = []
    async with gateway("push", seen, answer_timeout=0.5) as client:
        await client.call("hang")
        while "hang ended by cancellation" not in seen:
            await anyio.sleep(0.01)


async def test_the_user_has_the_whole_time_for_each_request_of_a_held_call() -> None:
    """The answer to a state that is still valid would be lost otherwise, and policies do not see another time."""
    deadlines: list[Any] = []

    def note_deadline(handler: Any) -> Any:
        async def note(request: Any) -> Any:
            deadlines.append(request.deadline)
            return await handler(request)

        return note

    async with gateway("push", policies=[note_deadline], answer_timeout=20.0) as client:
        first = await client.call("twice")
        second = await client.call("twice", state=first.request_state, responses={keys(first)[0]: ANN})
        await client.call("twice", state=second.request_state, responses={keys(second)[0]: ANN})
    assert deadlines == [None, None]


async def test_the_error_of_a_slow_server_in_a_held_call_names_no_time_of_the_user() -> None:
    async with gateway("push", timeout=1.0) as client:
        first = await client.call("hang")
        with pytest.raises(mcp.MCPError, match=r"the server took 1\.\d s \(limit 1\.0 s\), .* s \(no limit\)"):  # type: ignore[attr-defined,unused-ignore]
            await client.call("hang", state=first.request_state, responses={keys(first)[0]: ANN})


@both_loops
async def test_a_call_that_is_held_is_cancelled_after_its_maximum_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_calls, "OUTCOME_TTL", 0.05)
    seen: list[str] = []
    async with gateway("push", seen) as client:
        await client.call("hang")
        later = SimpleNamespace(monotonic=lambda: time.monotonic() + held_calls.MAX_CALL)
        monkeypatch.setattr(held_calls, "time", later)
        while "hang ended by cancellation" not in seen:
            await anyio.sleep(0.01)


@both_loops
async def test_a_client_that_cancels_while_the_server_works_cancels_the_call() -> None:
    seen: list[str] = []
    async with gateway("push", seen) as client:
        first = await client.call("hang")
        async with anyio.create_task_group() as group:

            async def answer() -> None:
                await client.call("hang", state=first.request_state, responses={keys(first)[0]: ANN})

            group.start_soon(answer)
            while "hanging" not in seen:
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        while "hang ended by cancellation" not in seen:
            await anyio.sleep(0.01)


async def test_requests_that_a_server_makes_at_the_same_time_arrive_together() -> None:
    async with gateway("push") as client:
        first = await client.call("both")
        assert [each.params.message for each in first.input_requests.values()] == [
            "[visitor] First?",
            "[visitor] Second?",
        ]


async def test_calls_that_wait_for_their_client_are_limited() -> None:
    async with gateway("push", max_calls=2) as client:
        for _ in range(2):
            await client.call("form")
        with pytest.raises(mcp.MCPError, match="too many calls") as caught:  # type: ignore[attr-defined,unused-ignore]
            await client.call("form")
        assert caught.value.error.data["reason"] == "too_many_calls"
        first = await client.call("form", user="bob")
        assert keys(first)


async def test_a_held_call_is_not_continued_by_another_process() -> None:
    """The other process has the same key; nothing is started again."""
    key, seen = b"k" * 32, []  # type: ignore[var-annotated]
    async with gateway("push", seen, key=key) as one, gateway("push", seen, key=key) as other:
        first = await one.call("form")
        given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        assert await other.refusal("form", **given) == "process"
        assert seen == ["form"]
        assert said(await one.call("form", **given)) == json.dumps({"got": ANN})


async def test_a_held_call_of_a_process_that_stopped_ends_in_an_error() -> None:
    key, seen = b"k" * 32, []  # type: ignore[var-annotated]
    async with gateway("push", seen, key=key) as one:
        first = await one.call("form")
    async with gateway("push", seen, key=key) as other:
        given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        assert await other.refusal("form", **given) == "process"
    assert seen.count("form") == 1


async def test_a_held_call_of_a_relay_that_was_closed_has_ended() -> None:
    sdk: Any = mcp
    open_relay = Relay("visitor", visitor.build(lambda _line: None), mode="legacy")
    async with sdk.Client(gateway_server(open_relay), elicitation_callback=declare) as connected:
        client = Client(connected, [])
        async with open_relay:
            first = await client.call("form")
        async with open_relay:
            with anyio.fail_after(30):
                given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
                assert await client.refusal("form", **given) == "ended"


@pytest.fixture
async def stores(tmp_path: Any, clock: Clock, request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
    kind = request.param
    async with open_stores(kind, tmp_path, clock, request.getfixturevalue) as stores:
        yield stores


@pytest.mark.parametrize("stores", ["memory", "sqlite", "redis", "postgres"], indirect=True)
async def test_any_process_continues_a_stored_call_and_one_sends_the_answer(stores: Stores) -> None:
    seen: list[str] = []
    key = b"k" * 32
    options: list[dict[str, Any]] = [{"key": key, "inbox": Inbox(stores(), key)} for _ in range(2)]
    async with gateway("rounds", seen, **options[0]) as one, gateway("rounds", seen, **options[1]) as other:
        first = await one.call("twice")
        given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        results: list[Any] = []

        async def send(client: Client) -> None:
            results.append(await client.call("twice", **given))

        async with anyio.create_task_group() as group:
            for client in (one, other, one, other):
                group.start_soon(send, client)
        assert len({str(each.input_requests) for each in results}) == 1
        second = results[0]
        done = await other.call("twice", state=second.request_state, responses={keys(second)[0]: BOB})
    assert said(done) == json.dumps({"got": [ANN, BOB]})
    assert len([line for line in seen if line.startswith('twice {"q"')]) == 2


async def test_a_leg_whose_process_stopped_while_it_sent_the_answer_is_sent_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lease of the first one has passed."""
    monkeypatch.setattr(stored_calls, "LEASE", 0.2)
    seen: list[str] = []
    key, inbox = b"k" * 32, Inbox(MemoryStore())
    async with (
        gateway("rounds", seen, key=key, inbox=inbox) as one,
        gateway("rounds", seen, key=key, inbox=inbox) as two,
    ):
        first = await one.call("form")
        given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        legs = leg_stores.InboxLegs(inbox)
        (call_id,) = calls_of(inbox).store._calls  # type: ignore[attr-defined]
        kept = await legs.find("ann", call_id)
        assert kept is not None
        from mcp_elicit_client.relay.legs import digest_of

        digest = digest_of({keys(first)[0]: _response(ANN)})
        taken = dataclasses.replace(kept.leg, sending=digest, sending_until=legs.clock() + 0.2)
        assert await legs.replace(kept, taken, kept.expires_at)
        other: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: BOB}}
        assert await two.refusal("form", **other) == "used"
        assert said(await two.call("form", **given)) == json.dumps({"got": ANN})


async def test_an_answer_that_was_being_sent_when_its_relay_was_closed_is_sent_by_another_process() -> None:
    sdk: Any = mcp
    seen: list[str] = []
    options: dict[str, Any] = {"key": b"k" * 32, "inbox": Inbox(MemoryStore())}
    closing = Relay("visitor", visitor.build(seen.append), user=lambda _context: "ann", **options)
    async with (
        gateway("rounds", seen, **options) as other,
        sdk.Client(gateway_server(closing), elicitation_callback=declare) as connected,
        anyio.create_task_group() as group,
    ):
        one = Client(connected, [])
        given: dict[str, Any] = {}

        async def expect_the_end() -> None:
            with pytest.raises(mcp.MCPError, match="closed its connections"):  # type: ignore[attr-defined,unused-ignore]
                await one.call("hang", **given)

        async with closing:
            first = await one.call("hang")
            given.update(state=first.request_state, responses={keys(first)[0]: ANN})
            group.start_soon(expect_the_end)
            while "hanging" not in seen:
                await anyio.sleep(0.01)
        group.start_soon(functools.partial(other.call, "hang", **given))
        while seen.count("hanging") < 2:
            await anyio.sleep(0.01)
        group.cancel_scope.cancel()


async def test_without_policies_the_gateway_still_ends_a_call_that_repeats_what_was_declined() -> None:
    async with gateway("rounds") as client:
        asked, given = await client.call("nag"), {"action": "decline"}
        with pytest.raises(mcp.MCPError, match="keeps asking"):  # type: ignore[attr-defined,unused-ignore]
            while True:
                asked = await client.call("nag", state=asked.request_state, responses={keys(asked)[0]: given})


async def test_a_call_that_was_refused_before_its_answer_was_sent_stays_pending(tmp_path: Path) -> None:
    seen: list[str] = []
    async with gateway("rounds", seen, max_calls=1) as client, anyio.create_task_group() as group:
        first = await client.call("form")
        given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        mark = tmp_path / "mark"
        group.start_soon(client.call, "slow", {"mark": str(mark)})
        while "slow" not in seen:
            await anyio.sleep(0.01)
        with pytest.raises(mcp.MCPError, match="too many calls"):  # type: ignore[attr-defined,unused-ignore]
            await client.call("form", **given)
        mark.touch()
        while "slow done" not in seen:
            await anyio.sleep(0.01)
        await anyio.wait_all_tasks_blocked()
        done = await client.call("form", **given)
    assert said(done) == json.dumps({"got": ANN})


@pytest.mark.parametrize(("status", "gateways"), [(None, 1), (None, 2), (502, 1)])
async def test_an_answer_whose_server_could_not_be_reached_over_http_is_sent_again(
    status: int | None, gateways: int
) -> None:
    """The server is restarted, perhaps behind a proxy, while the user answers."""
    with raw_server("2026-07-28", "http") as (url, server):
        async with AsyncExitStack() as stack:
            upstream: Any = url
            for _ in range(gateways - 1):
                inner = await stack.enter_async_context(Relay("raw", upstream, user=lambda _context: None))
                upstream = gateway_server(inner)
            client = await stack.enter_async_context(gateway("rounds", upstream=upstream))
            first = await client.call("ask")
            answer: dict[str, Any] = {
                "state": first.request_state,
                "responses": {keys(first)[0]: {"action": "accept", "content": {"text": "typed"}}},
            }
            server.status = status
            if status is None:
                await anyio.to_thread.run_sync(server.stop)
            for _ in range(2):
                with pytest.raises(mcp.MCPError, match="Send the same request again"):  # type: ignore[attr-defined,unused-ignore]
                    await client.call("ask", **answer)
            server.status = None
            if status is None:
                server.start()
            assert said(await client.call("ask", **answer)) == "typed"


async def test_a_server_that_changed_its_protocol_version_does_not_get_the_call_anew() -> None:
    """It would not see the answer."""
    key, seen = b"k" * 32, []  # type: ignore[var-annotated]
    options: dict[str, Any] = {"key": key, "inbox": Inbox(MemoryStore(), key)}
    async with gateway("rounds", seen, **options) as before, gateway("push", seen, **options) as after:
        first = await before.call("form")
        given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        with pytest.raises(mcp.MCPError, match="protocol version") as caught:  # type: ignore[attr-defined,unused-ignore]
            await after.call("form", **given)
        assert caught.value.error.code == -32603
        assert seen == ["form"]
        assert said(await before.call("form", **given)) == json.dumps({"got": ANN})


async def test_a_client_does_not_get_the_text_of_an_error_of_the_store(caplog: pytest.LogCaptureFixture) -> None:
    class FailingStore(MemoryStore):
        async def suspend(self, *_arguments: Any) -> None:
            raise InboxError("The inbox /srv/inbox.db cannot be used.")

    async with gateway("rounds", inbox=Inbox(FailingStore())) as client:
        with pytest.raises(mcp.MCPError, match="The gateway failed") as caught:  # type: ignore[attr-defined,unused-ignore]
            await client.call("form")
    assert caught.value.error.code == -32603
    assert "/srv/inbox.db" in caplog.text


async def test_the_lease_of_a_leg_is_renewed_while_its_answer_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise another process would send the answer as well."""
    monkeypatch.setattr(stored_calls, "LEASE", 0.05)
    inbox = Inbox(MemoryStore())

    async def leased_until() -> float:
        (call_id,) = calls_of(inbox).store._calls  # type: ignore[attr-defined]
        kept = await leg_stores.InboxLegs(inbox).find("ann", call_id)
        assert kept is not None
        return kept.leg.sending_until

    def wait_for_renewals(handler: Any) -> Any:
        async def wait(request: Any) -> Any:
            if is_resuming():
                first = await leased_until()
                while await leased_until() < first + 0.1:
                    await anyio.sleep(0.01)
            return await handler(request)

        return wait

    async with gateway("rounds", inbox=inbox, policies=[wait_for_renewals]) as client:
        first = await client.call("form")
        done = await client.call("form", state=first.request_state, responses={keys(first)[0]: ANN})
    assert said(done) == json.dumps({"got": ANN})


async def test_a_lease_that_cannot_be_renewed_does_not_end_its_call(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stored_calls, "LEASE", 0.05)
    failed = anyio.Event()
    is_sending = False

    class FailingStore(MemoryStore):
        async def update(self, *arguments: Any) -> bool:
            if is_sending and not failed.is_set():
                failed.set()
                raise InboxError("The store cannot be reached.")
            return await super().update(*arguments)

    def wait_for_failure(handler: Any) -> Any:
        async def wait(request: Any) -> Any:
            nonlocal is_sending
            is_sending = is_resuming()
            if is_sending:
                await failed.wait()
            return await handler(request)

        return wait

    async with gateway("rounds", inbox=Inbox(FailingStore()), policies=[wait_for_failure]) as client:
        first = await client.call("form")
        done = await client.call("form", state=first.request_state, responses={keys(first)[0]: ANN})
    assert said(done) == json.dumps({"got": ANN})
    assert "could not be renewed" in caplog.text


async def test_an_answer_is_sent_once_if_the_store_renews_a_lease_and_its_response_is_lost(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stored_calls, "LEASE", 0.05)
    lost = anyio.Event()
    seen: list[str] = []

    class LosingStore(MemoryStore):
        async def update(self, *arguments: Any) -> bool:
            is_updated = await super().update(*arguments)
            if "waiting" in seen and not lost.is_set():
                lost.set()
                raise InboxError("The response was lost.")
            return is_updated

    call: dict[str, Any] = {"name": "again", "arguments": {"mark": str(tmp_path / "mark")}}
    async with gateway("rounds", seen, inbox=Inbox(LosingStore())) as client, anyio.create_task_group() as group:
        first = await client.call(**call)
        answer = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        group.start_soon(functools.partial(client.call, **call, **answer))
        await lost.wait()
        (tmp_path / "mark").touch()
    assert seen.count("waiting") == 1
    assert sum("accept" in line for line in seen) == 1


@pytest.mark.parametrize("up", ["rounds", "rounds, in an inbox"])
@pytest.mark.parametrize("at", [1, 2])
async def test_a_server_cannot_fill_the_store_that_other_users_share(
    monkeypatch: pytest.MonkeyPatch, up: str, at: int
) -> None:
    class Growing(visitor.Tools):
        async def grow(self, peer: visitor.Peer) -> Any:
            leg = 1 if peer.state is None else 2
            return visitor.Asks({"q": visitor.asked_form(f"{leg}?")}, "x" * (10_000 if leg == at else 10))

    monkeypatch.setattr(leg_stores, "MAX_SNAPSHOT", 4_000)
    seen: list[str] = []
    refused: list[str] = []
    async with gateway(up, tools=Growing(seen.append)) as client:
        try:
            call: dict[str, Any] = {}
            for _ in range(2):
                asked = await client.call("grow", **call)
                call = {"state": asked.request_state, "responses": {keys(asked)[0]: ANN}}
        except mcp.MCPError as error:  # type: ignore[attr-defined,unused-ignore]
            refused.append(str(error))
            if at == 2:
                with pytest.raises(mcp.MCPError, match="take more than"):  # type: ignore[attr-defined,unused-ignore]
                    await client.call("grow", **call)
    assert ["take more than 4000" in each for each in refused] == [True]
    assert len(seen) == at


async def test_an_outcome_that_cannot_be_stored_is_returned(caplog: pytest.LogCaptureFixture) -> None:
    is_sending = False

    class FailingStore(MemoryStore):
        async def update(self, *arguments: Any) -> bool:
            if is_sending:
                raise InboxError("The disk is full.")
            return await super().update(*arguments)

    def note(handler: Any) -> Any:
        async def note_sending(request: Any) -> Any:
            nonlocal is_sending
            is_sending = is_resuming()
            return await handler(request)

        return note_sending

    async with gateway("rounds", inbox=Inbox(FailingStore()), policies=[note]) as client:
        first = await client.call("form")
        done = await client.call("form", state=first.request_state, responses={keys(first)[0]: ANN})
    assert said(done) == json.dumps({"got": ANN})
    assert "The disk is full." in caplog.text


async def test_processes_that_send_the_same_answer_ask_the_same_next_question(tmp_path: Path) -> None:
    """The first one lost its lease, and its server asked something else than that which the other process stored."""
    seen: list[str] = []
    clock, mark, tools = Clock(), tmp_path / "mark", visitor.Tools(seen.append)
    options: dict[str, Any] = {"key": b"k" * 32, "inbox": Inbox(MemoryStore(clock=clock)), "tools": tools}
    call: dict[str, Any] = {"name": "again", "arguments": {"mark": str(mark)}}
    async with gateway("rounds", **options) as one, gateway("rounds", **options) as two:
        first = await one.call(**call)
        call |= {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        asked: list[Any] = []

        async def send_late() -> None:
            asked.append(await one.call(**call))

        async with anyio.create_task_group() as group:
            group.start_soon(send_late)
            while "waiting" not in seen:
                await anyio.sleep(0.01)
            clock.ahead += 2 * stored_calls.LEASE
            asked.append(await two.call(**call))
            mark.touch()
    assert [each.params.message for result in asked for each in result.input_requests.values()] == [
        "[visitor] Answer 2?",
        "[visitor] Answer 2?",
    ]


@pytest.mark.parametrize(("length", "max_answer"), [(30, 20), (150_000, 1_000_000)])
async def test_the_limits_of_the_relay_apply_in_every_process(length: int, max_answer: int) -> None:
    options: dict[str, Any] = {"key": b"k" * 32, "inbox": Inbox(MemoryStore())}
    options["request_options"] = RequestOptions(limits=Limits(max_answer=max_answer))
    async with gateway("rounds", **options) as one, gateway("rounds", **options) as two:
        first = await one.call("form")
        content = {"action": "accept", "content": {"name": "A" * length}}
        given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: content}}
        if length > max_answer:
            assert await two.refusal("form", **given) == "invalid_content"
        else:
            assert json.loads(said(await two.call("form", **given))) == {"got": content}


async def test_a_call_whose_server_takes_long_after_a_late_answer_can_be_continued() -> None:
    """The leg would have expired while its answer was sent."""
    clock = Clock()

    def take_long(handler: Any) -> Any:
        async def wait(request: Any) -> Any:
            clock.ahead += 8 * is_resuming()
            return await handler(request)

        return wait

    inbox = Inbox(MemoryStore(clock=clock))
    async with gateway("rounds", inbox=inbox, policies=[take_long]) as client:
        first = await client.call("twice")
        clock.ahead = relay.ANSWER_TIMEOUT - 5
        given = {keys(first)[0]: ANN}
        second = await client.call("twice", state=first.request_state, responses=given)
        again = await client.call("twice", state=first.request_state, responses=given)
        done = await client.call("twice", state=second.request_state, responses={keys(second)[0]: BOB})
    assert again.input_requests == second.input_requests
    assert said(done) == json.dumps({"got": [ANN, BOB]})


@each_side
async def test_a_question_that_changes_between_rounds_is_another_question(up: str) -> None:
    """The answer to the first one is not taken for the second one."""
    async with gateway(up) as client:
        first = await client.call("twice")
        second = await client.call("twice", state=first.request_state, responses={keys(first)[0]: ANN})
        assert keys(first) != keys(second)
        given = {keys(first)[0]: ANN}
        again = await client.call("twice", state=second.request_state, responses=given)
    assert again.input_requests == second.input_requests


async def test_a_server_that_requires_input_too_often_ends_the_call() -> None:
    async with gateway("rounds", max_rounds=2) as client:
        first = await client.call("looks", {"times": 3})
        given = {keys(first)[0]: ACCEPT}
        second = await client.call("looks", {"times": 3}, state=first.request_state, responses=given)
        with pytest.raises(mcp.MCPError, match=r"more than 2 times in one call\. Increase `max_rounds`"):  # type: ignore[attr-defined,unused-ignore]
            await client.call("looks", {"times": 3}, state=second.request_state, responses={keys(second)[0]: ACCEPT})


async def test_required_urls_are_asked_for_before_the_call_is_made_again() -> None:
    seen: list[str] = []
    url = "https://login.example.com/start"
    async with gateway("rounds", seen) as client:
        first = await client.call("required", {"urls": [url]})
        assert [each.params.url for each in first.input_requests.values()] == [url]
        assert seen.count("required") == 1
        given = {keys(first)[0]: {"action": "accept"}}
        done = await client.call("required", {"urls": [url]}, state=first.request_state, responses=given)
    assert json.loads(said(done)) == {"calls": 2}


@pytest.mark.parametrize("up", ["rounds", "rounds, in an inbox"])
async def test_a_url_that_is_required_after_an_answer_is_asked_for_and_the_answer_is_sent_again(up: str) -> None:
    async with gateway(up) as client:
        first = await client.call("form_then_required")
        given: dict[str, Any] = {"state": first.request_state, "responses": {keys(first)[0]: ANN}}
        second = await client.call("form_then_required", **given)
        assert [each.params.url for each in second.input_requests.values()] == [visitor.URL]
        assert (await client.call("form_then_required", **given)).input_requests == second.input_requests
        opened = {keys(second)[0]: ACCEPT}
        done = await client.call("form_then_required", state=second.request_state, responses=opened)
    assert json.loads(said(done)) == {"got": {"q": ANN}, "state": "s"}


async def test_a_client_waits_with_several_requests_while_its_user_is_at_a_url(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(held_call, "MAX_WAIT", 0.0)
    seen: list[str] = []
    arguments = {"mark": str(tmp_path / "mark")}
    async with gateway("push", seen) as client:
        first = await client.call("opened", arguments)
        given: dict[str, Any] = {keys(first)[0]: ACCEPT}
        waiting = [await client.call("opened", arguments, state=first.request_state, responses=given)]
        for _ in range(3):
            waiting.append(await client.call("opened", arguments, state=waiting[-1].request_state))
        again = await client.call("opened", arguments, state=waiting[-2].request_state)
        last = await client.call("opened", arguments, state=again.request_state, responses={"q1": ACCEPT})
        waiting.append(last)
        (tmp_path / "mark").touch()
        while getattr(last, "request_state", None):
            last = await client.call("opened", arguments, state=last.request_state)
    assert not any(each.input_requests for each in [*waiting, again])
    assert waiting[-2].request_state != waiting[-1].request_state
    assert json.loads(said(last))["got"]["action"] == "accept"
    assert seen.count("opened") == 2  # the call, and what it says after the answer


@pytest.mark.parametrize("up", ["rounds", "rounds, in an inbox"])
@pytest.mark.parametrize("policies", [(), (hooks(),)], ids=["without policies", "with policies"])
async def test_a_client_waits_with_several_requests_for_a_server_that_does_so(
    monkeypatch: pytest.MonkeyPatch, up: str, policies: Any
) -> None:
    monkeypatch.setattr(upstream, "MAX_WAIT", 0.0)
    arguments = {"times": 2}
    async with gateway(up, policies=policies) as client:
        first = await client.call("polls", arguments)
        second = await client.call("polls", arguments, state=first.request_state)
        again = await client.call("polls", arguments, state=first.request_state)
        given: dict[str, Any] = {"state": second.request_state, "responses": {"q1": ANN}}
        done = await client.call("polls", arguments, **given)
    assert not first.input_requests
    assert not second.input_requests
    assert again.request_state.rpartition(".")[2] == second.request_state.rpartition(".")[2]
    assert json.loads(said(done)) == {"polls": 2}


async def test_a_url_that_is_required_again_is_awaited_and_its_completion_ends_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(held_call, "MAX_WAIT", 0.0)
    seen: list[str] = []
    arguments = {"mark": str(tmp_path / "mark")}
    async with gateway("push", seen) as client:
        first = await client.call("required_until", arguments)
        given: dict[str, Any] = {keys(first)[0]: ACCEPT}
        waiting = await client.call("required_until", arguments, state=first.request_state, responses=given)
        calls = seen.count("required_until")
        (tmp_path / "mark").touch()
        last = waiting
        while getattr(last, "request_state", None):
            assert not last.input_requests
            last = await client.call("required_until", arguments, state=last.request_state)
    assert calls == 2
    assert json.loads(said(last)) == {"calls": 3}


async def test_without_a_completion_the_user_is_asked_again_for_a_required_url(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(upstream, "COMPLETION_TIMEOUT", 0.05)
    arguments = {"mark": str(tmp_path / "mark")}
    async with gateway("push") as client:
        first = await client.call("required_until", arguments)
        given: dict[str, Any] = {keys(first)[0]: ACCEPT}
        second = await client.call("required_until", arguments, state=first.request_state, responses=given)
    assert keys(second) != keys(first)
    assert [each.params.url for each in second.input_requests.values()] == [visitor.URL]


@each_side
@pytest.mark.parametrize("has_token", [True, False])
async def test_progress_arrives_at_the_present_request_of_the_client(up: str, *, has_token: bool) -> None:
    before: list[float] = []
    after: list[float] = []
    async with gateway(up, has_wire=True) as client:
        first = await client.call("steps", progress=before if has_token else None)
        given = {keys(first)[0]: ANN}
        done = await client.call("steps", state=first.request_state, responses=given, progress=after)
    assert json.loads(said(done))["got"]["content"] == {"name": "Ann"}
    assert (before, after) == ([1.0] if has_token else [], [2.0])


@given(text=some.text(max_size=2 * MAX_STATE) | some.binary(max_size=200).map(lambda data: f"relay3.x.{data!r}"))
def test_no_text_is_a_state_but_those_that_were_signed(text: str) -> None:
    with pytest.raises(RefusedError, match="did not make"):
        StateSigner(b"k" * 32, "visitor").verify(text, "ann")


@given(
    call_id=some.text(some.characters(codec="ascii"), max_size=40),
    leg=some.integers(1, 1_000),
    caller=some.text(max_size=50),
)
def test_a_signed_state_is_read_with_its_key_and_caller_only(call_id: str, leg: int, caller: str) -> None:
    signer = StateSigner(b"k" * 32, "visitor")
    state = StateContent(call_id, leg, "process")
    signed = signer.sign(state, caller, 60)
    assert len(signed) <= MAX_STATE
    assert signer.verify(signed, caller) == state
    for other in (StateSigner(b"l" * 32, "visitor"), StateSigner(b"k" * 32, "other")):
        with pytest.raises(RefusedError, match="did not make"):
            other.verify(signed, caller)
    with pytest.raises(RefusedError, match="another caller"):
        signer.verify(signed, caller + "x")


def test_a_state_expires() -> None:
    clock = Clock()
    signer = StateSigner(None, "visitor", clock)
    signed = signer.sign(StateContent("id", 1), "ann", 60)
    clock.ahead = 61
    with pytest.raises(RefusedError, match="has expired"):
        signer.verify(signed, "ann")


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 32 bytes"):
        Relay("visitor", "https://a.example/", key=b"short")
    assert relay.ANSWER_TIMEOUT < 600
