"""The relay in one process: what goes down, what goes up, and for whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import mcp.types
import pytest
from mcp.server.lowlevel import Server

from mcp_elicit_client import Answer, RequestOptions
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.core.origin import ORIGIN_META_KEY
from mcp_elicit_client.exceptions import CallError
from mcp_elicit_client.policies import Permissions, hooks
from mcp_elicit_client.relay import Relay
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Mode, Request, UrlRequest
from tests.servers import gateway as gateway_server
from tests.servers import visitor
from tests.support import VISITOR, free_port, http_server
from tests.support.gateways import MODES, SIDES, User, connected, said, streams_to, target

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

URL = "https://login.example.com/start"
both_loops = pytest.mark.event_loops("asyncio", "trio")
both_sides = pytest.mark.parametrize(("up", "down"), [(up, down) for up in SIDES for down in SIDES], ids=str)


@asynccontextmanager
async def gateway(
    up: str, down: str, caller: Caller, seen: list[str] | None = None, **options: Any
) -> AsyncIterator[Any]:
    """Connect *caller* through a gateway to the server `visitor`."""
    server = visitor.build((seen if seen is not None else []).append)
    async with (
        Relay("visitor", target(server), mode=MODES[up], **options) as relay,
        connected(relay, down, caller) as client,
    ):
        with anyio.fail_after(30):
            yield client


@both_sides
async def test_a_request_names_its_server_in_its_message_and_its_origin(up: str, down: str) -> None:
    user = User()
    caller = Caller(user, "gateway")
    async with gateway(up, down, caller) as client:
        await caller.call_tool(client, "form")
    (request,) = user.requests
    assert request.message == "[visitor] Who are you?"
    assert request.origin == ("gateway", "visitor")


@both_sides
@pytest.mark.parametrize("modes", [(), ("form",), ("url",), ("form", "url")])
async def test_the_server_sees_the_modes_of_the_client_and_no_others(
    up: str, down: str, modes: tuple[Mode, ...]
) -> None:
    caller = Caller(User(), "gateway", modes=modes)
    async with gateway(up, down, caller) as client:
        declared = json.loads(said(await caller.call_tool(client, "caps")))["elicitation"]
    assert declared == ({mode: {} for mode in modes} or None)


@both_sides
async def test_a_mode_that_the_gateway_does_not_allow_is_not_declared_and_not_relayed(up: str, down: str) -> None:
    user = User()
    caller = Caller(user, "gateway")
    async with gateway(up, down, caller, request_options=RequestOptions(modes=["form"])) as client:
        assert json.loads(said(await caller.call_tool(client, "caps"))) == {"elicitation": {"form": {}}}
        with suppress(Exception):
            await caller.call_tool(client, "url")
    assert user.requests == []


@both_sides
async def test_two_questions_after_each_other_are_both_answered(up: str, down: str) -> None:
    user = User()
    caller = Caller(user, "gateway")
    async with gateway(up, down, caller) as client:
        got = json.loads(said(await caller.call_tool(client, "twice")))["got"]
    assert [each["content"]["name"] for each in got] == ["Ann", "Ann"]
    assert [each.message for each in user.requests] == ["[visitor] First?", "[visitor] Second?"]


@both_sides
async def test_prompts_and_resources_are_relayed(up: str, down: str) -> None:
    caller = Caller(User(), "gateway")
    async with gateway(up, down, caller) as client:
        prompt = await caller.get_prompt(client, "form")
        resource = await caller.read_resource(client, "test://form/")
    content: Any = prompt.messages[0].content
    contents: Any = resource.contents[0]
    assert json.loads(content.text)["got"]["action"] == json.loads(contents.text)["got"]["action"] == "accept"


@both_sides
async def test_an_answer_that_does_not_fit_the_form_never_reaches_the_server(up: str, down: str) -> None:
    """A client that sends whatever it likes."""

    async def callback(_context: Any, _params: Any) -> Any:
        return mcp.types.ElicitResult(action="accept", content={"name": 7})

    seen: list[str] = []
    server = visitor.build(seen.append)
    async with Relay("visitor", target(server), mode=MODES[up]) as relay, raw_client(relay, down, callback) as client:
        try:
            came = said(await client.call_tool("form", {}))
        except Exception as error:
            assert "does not fit its form" in str(error)
            came = "refused"
    assert came in ("refused", '{"got": {"action": "cancel"}}')
    assert (came == "refused") == (down == "rounds")
    assert not any("accept" in line or "7" in line for line in seen)


@asynccontextmanager
async def raw_client(relay: Relay, down: str, callback: Any) -> AsyncIterator[Any]:
    """Connect the SDK's own client to a gateway."""
    from tests.servers.gateway import build

    sdk: Any = mcp
    if supports_multi_round_trip():
        async with sdk.Client(build(relay), mode=MODES[down], elicitation_callback=callback) as client:
            yield client
        return
    async with (
        streams_to(build(relay)) as streams,
        sdk.ClientSession(*streams, elicitation_callback=callback) as client,
    ):
        await client.initialize()
        yield client


@asynccontextmanager
async def spoiling(streams: Any) -> AsyncIterator[Any]:
    """Yield *streams* of a client whose answers have a value that the protocol does not allow."""
    ours, theirs = anyio.create_memory_object_stream[Any]()
    async with streams as (reader, writer), ours, theirs, anyio.create_task_group() as group:

        async def forward() -> None:
            async for item in theirs:
                message = getattr(item.message, "root", item.message)  # mcp 1.x wraps it
                if "action" in (getattr(message, "result", None) or {}):
                    message.result = {"action": "accept", "content": {"name": {"hidden": "hunter2"}}}
                await writer.send(item)

        group.start_soon(forward)
        yield reader, ours
        group.cancel_scope.cancel()


@pytest.mark.parametrize("up", SIDES)
async def test_a_malformed_answer_is_a_cancel_and_its_values_are_not_logged(
    up: str, caplog: pytest.LogCaptureFixture
) -> None:
    caller = Caller(User(), "gateway")
    async with Relay("visitor", target(visitor.build(lambda _line: None)), mode=MODES[up]) as relay:
        streams = spoiling(streams_to(gateway_server.build(relay)))
        async with caller.connect(streams, mode="legacy") as client:
            assert json.loads(said(await caller.call_tool(client, "form"))) == {"got": {"action": "cancel"}}
    assert "the client of the gateway returned an invalid result" in caplog.text
    assert "hunter2" not in caplog.text


@both_sides
async def test_a_policy_of_the_gateway_answers_in_place_of_the_client(up: str, down: str) -> None:
    permissions = Permissions()
    permissions.set("block", server="visitor")
    user = User()
    caller = Caller(user, "gateway")
    async with gateway(up, down, caller, policies=[permissions.policy]) as client:
        result = said(await caller.call_tool(client, "form"))
    assert json.loads(result)["got"]["action"] == "cancel"
    assert user.requests == []


@both_sides
async def test_a_url_that_the_gateway_refuses_does_not_go_down(up: str, down: str) -> None:
    user = User()
    caller = Caller(user, "gateway")
    async with gateway(up, down, caller) as client:
        try:
            result = said(await caller.call_tool(client, "url", {"url": "http://10.0.0.1/"}))
        except Exception as error:  # a server-initiated request can be answered with an error
            result = str(error)
    assert user.requests == []
    assert '"accept"' not in result


@both_sides
async def test_a_required_url_that_the_gateway_refuses_fails_the_call(up: str, down: str) -> None:
    user = User()
    caller = Caller(user, "gateway")
    async with gateway(up, down, caller) as client:
        with pytest.raises(Exception, match="not allowed"):
            await caller.call_tool(client, "required", {"urls": ["http://10.0.0.1/"]})
    assert user.requests == []


@both_loops
async def test_a_completed_url_is_reported_with_the_id_of_the_gateway() -> None:
    """The server reports it after the call that required the URL has ended."""
    finished = anyio.Event()

    async def wait_for_completion(request: Request) -> Answer:
        assert isinstance(request, UrlRequest)
        assert request.completion is not None
        finished.set()
        await request.completion.wait()
        return Answer.accept(by="user")

    user = User(wait_for_completion)
    caller = Caller(user, "gateway")
    async with gateway("push", "push", caller) as client, anyio.create_task_group() as group:

        async def finish() -> None:
            await finished.wait()
            await caller.call_tool(client, "finish", {"elicitation_id": "e0"})

        group.start_soon(finish)
        result = await caller.call_tool(client, "required", {"urls": [URL]})
        assert json.loads(said(result)) == {"calls": 2}
    (request,) = user.requests
    assert isinstance(request, UrlRequest)
    assert request.elicitation_id is not None
    assert request.elicitation_id.startswith("relay-")


async def test_a_question_of_a_pushing_server_goes_down_with_an_id_of_the_gateway() -> None:
    user = User()
    caller = Caller(user, "gateway")
    async with gateway("push", "push", caller) as client:
        await caller.call_tool(client, "url")
    (request,) = user.requests
    assert isinstance(request, UrlRequest)
    assert request.elicitation_id != "e1"


@pytest.mark.parametrize("up", SIDES)
async def test_a_client_that_declines_a_required_url_gets_no_second_call(up: str) -> None:
    async def decline(_request: Request) -> Answer:
        return Answer.decline(by="user")

    seen: list[str] = []
    caller = Caller(decline, "gateway")
    async with gateway(up, "push", caller, seen) as client:
        with pytest.raises(UrlElicitationIncompleteError):
            await caller.call_tool(client, "required", {"urls": [URL]})
    assert seen.count("required") == 1


async def test_users_never_share_a_connection_and_calls_at_the_same_time_neither() -> None:
    opened: list[str | None] = []
    server = visitor.build(lambda _line: None)

    def upstream(user: str | None) -> Any:
        opened.append(user)
        return server if supports_multi_round_trip() else streams_to(server)

    user = "ann"
    both_asked, waiting = anyio.Event(), 0

    async def answer(request: Request) -> Answer:
        nonlocal waiting
        waiting += 1
        if waiting == 2:
            both_asked.set()
        await both_asked.wait()
        return Answer.accept({"name": "x"}, by="user")

    caller = Caller(answer, "gateway")
    async with (
        Relay("visitor", upstream, mode="legacy", user=lambda _context: user) as relay,
        connected(relay, "push", caller) as client,
    ):
        for user in ("ann", "bob", "ann"):  # noqa: B007 -- read by the relay
            await caller.call_tool(client, "echo", {})
        assert opened == ["ann", "bob"]
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(caller.call_tool, client, "form")
                group.start_soon(caller.call_tool, client, "form")
    assert opened == ["ann", "bob", "ann"]


@both_loops
@pytest.mark.parametrize("down", SIDES)
async def test_a_request_of_a_cancelled_call_is_not_made_in_the_next_one(down: str, tmp_path: Path) -> None:
    """The server ignores the cancellation, and asks later."""
    seen: list[str] = []
    user, server = User(), visitor.build(seen.append)
    caller, cancelled = Caller(user, "gateway"), anyio.CancelScope()
    asks, ends = tmp_path / "asks", tmp_path / "ends"

    async def call_and_cancel() -> None:
        with cancelled:
            await caller.call_tool(client, "stubborn", {"mark": str(asks)})

    async def until_seen(line: str) -> None:
        while not any(each.startswith(line) for each in seen):
            await anyio.sleep(0.01)

    with anyio.fail_after(30):
        async with (
            Relay("visitor", lambda _user: streams_to(server), mode="legacy") as relay,
            connected(relay, down, caller) as client,
        ):
            async with anyio.create_task_group() as group:
                group.start_soon(call_and_cancel)
                await until_seen("waiting")
                cancelled.cancel()
            while relay._connections._leased:
                await anyio.sleep(0.01)
            async with anyio.create_task_group() as group:
                group.start_soon(caller.call_tool, client, "slow", {"mark": str(ends)})
                await until_seen("slow")
                asks.touch()
                await until_seen("stubborn ")
                ends.touch()
    assert user.requests == []


@both_loops
async def test_the_connections_of_a_client_are_closed_when_it_disconnects() -> None:
    server = visitor.build(lambda _line: None)
    opened: list[anyio.Event] = []

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        opened.append(anyio.Event())
        closed = opened[-1]
        try:
            async with streams_to(server) as streams:
                yield streams
        finally:
            closed.set()

    first, second = Caller(User(), "gateway"), Caller(User(), "gateway")
    async with Relay("visitor", lambda _user: transport(), mode="legacy") as relay:
        async with connected(relay, "push", second) as client:
            await second.call_tool(client, "echo", {})
            async with connected(relay, "push", first) as other:
                await first.call_tool(other, "echo", {})
                await first.call_tool(other, "echo", {})
                assert [each.is_set() for each in opened] == [False, False]
            with anyio.fail_after(30):
                await opened[1].wait()
            await second.call_tool(client, "echo", {})
            assert [each.is_set() for each in opened] == [False, True]
        with anyio.fail_after(30):
            await opened[0].wait()


@pytest.mark.parametrize("down", SIDES)
async def test_a_server_that_was_restarted_is_connected_to_again(down: str) -> None:
    """The first call fails, since the server no longer knows the session."""
    port, caller = str(free_port()), Caller(User(), "gateway")
    async with AsyncExitStack() as stack:
        with http_server(VISITOR, {"ELICIT_PORT": port}) as url:
            relay = await stack.enter_async_context(Relay("visitor", url, mode="legacy"))
            client = await stack.enter_async_context(connected(relay, down, caller))
            await caller.call_tool(client, "form")
        with http_server(VISITOR, {"ELICIT_PORT": port}), anyio.fail_after(30):
            with pytest.raises(Exception, match="Session"):
                await caller.call_tool(client, "form")
            result = await caller.call_tool(client, "form")
            assert json.loads(said(result))["got"]["action"] == "accept"


async def test_a_relay_that_keeps_no_unused_connection_waits_between_its_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    intervals: list[float] = []

    async def sleep(seconds: float) -> None:
        intervals.append(seconds)
        await anyio.sleep_forever()

    monkeypatch.setattr("mcp_elicit_client.relay.connections.anyio.sleep", sleep)
    async with Relay("visitor", target(visitor.build(lambda _line: None)), idle_timeout=0):
        await anyio.wait_all_tasks_blocked()

    assert intervals
    assert min(intervals) > 0


async def test_a_client_cannot_make_any_number_of_calls_at_a_time() -> None:
    asked = anyio.Event()

    async def wait(_request: Request) -> Answer:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    caller = Caller(wait, "gateway")
    async with gateway("push", "push", caller, max_calls=1) as client, anyio.create_task_group() as group:
        group.start_soon(caller.call_tool, client, "form")
        await asked.wait()
        with pytest.raises(Exception, match="too many calls in progress"):
            await caller.call_tool(client, "echo", {})
        group.cancel_scope.cancel()


async def test_a_message_with_the_name_of_its_server_keeps_one() -> None:
    user = User()
    caller = Caller(user, "gateway")
    async with asking("push", {"message": "[visitor] [visitor] [bank] Pay"}, caller) as client:
        await caller.call_tool(client, "ask")
    assert user.requests[0].message == "[visitor] [bank] Pay"


@asynccontextmanager
async def asking(down: str, params: dict[str, Any], caller: Caller) -> AsyncIterator[Any]:
    """Connect *caller* through a gateway to a server that asks with *params*."""
    wire = {"mode": "form", "requestedSchema": {"type": "object", "properties": {}}, **params}
    async with Relay("visitor", target(asker(wire)), mode="legacy") as relay, connected(relay, down, caller) as client:
        with anyio.fail_after(30):
            yield client


OF_FASTMCP = "elicitation via server-initiated requests is unavailable on 2026-07-28 connections."


def asker(wire: dict[str, Any], *, error_text: str | None = "error: {}") -> Any:
    """Make a server whose tool asks with *wire*, as it is, and returns the answer, or an error with *error_text*."""
    from mcp.shared.message import ServerMessageMetadata

    types: Any = mcp.types

    async def ask(session: Any, request_id: Any) -> Any:
        request = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": wire})
        wrapped = request if supports_multi_round_trip() else types.ServerRequest(request)
        try:
            answer = await session.send_request(
                wrapped, types.ElicitResult, metadata=ServerMessageMetadata(related_request_id=request_id)
            )
            text = answer.action
        except Exception as error:
            if error_text is None:
                raise
            text = error_text.format(error)
        content = [{"type": "text", "text": text}]
        return types.CallToolResult.model_validate({"content": content, "isError": text == OF_FASTMCP})

    server_class: Any = Server
    if supports_multi_round_trip():

        async def call_tool(context: Any, _params: Any) -> Any:
            return await ask(context.session, context.request_id)

        async def list_tools(_context: Any, _params: Any) -> Any:
            return types.ListToolsResult(tools=[])

        return server_class("asker", on_call_tool=call_tool, on_list_tools=list_tools)
    server: Any = Server("asker")

    async def handle(_request: Any) -> Any:
        return types.ServerResult(await ask(server.request_context.session, server.request_context.request_id))

    async def list_tools_of_1(_request: Any) -> Any:
        return types.ServerResult(types.ListToolsResult(tools=[]))

    server.request_handlers[types.CallToolRequest] = handle
    server.request_handlers[types.ListToolsRequest] = list_tools_of_1
    return server


@pytest.mark.skipif(not supports_multi_round_trip(), reason="needs protocol version 2026-07-28")
@pytest.mark.parametrize("down", SIDES)
@pytest.mark.parametrize("error_text", [None, OF_FASTMCP])
async def test_a_server_that_needs_the_handshake_is_connected_to_again(down: str, error_text: str | None) -> None:
    """The client cannot change the gateway's connection, so the error does not ask for it."""
    user = User()
    caller = Caller(user, "gateway")
    wire = {"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": {}}}
    server = target(asker(wire, error_text=error_text))
    async with Relay("visitor", server) as relay, connected(relay, down, caller) as client:
        with pytest.raises(Exception, match="Make the call again") as caught:
            await caller.call_tool(client, "ask")
        assert "mode=" not in str(caught.value)
        assert said(await caller.call_tool(client, "ask")) == "accept"


@pytest.mark.skipif(not supports_multi_round_trip(), reason="needs protocol version 2026-07-28")
@pytest.mark.parametrize("down", SIDES)
async def test_unused_connections_are_not_used_after_the_server_needed_the_handshake(down: str, tmp_path: Path) -> None:
    seen: list[str] = []
    caller, mark = Caller(User(), "gateway"), tmp_path / "mark"
    async with gateway("rounds", down, caller, seen) as client:
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(caller.call_tool, client, "slow", {"mark": str(mark)})
            while seen.count("slow") < 2:
                await anyio.sleep(0.01)
            mark.touch()
        with pytest.raises(Exception, match="Make the call again"):
            await caller.call_tool(client, "push")
        assert "accept" in said(await caller.call_tool(client, "push"))


@pytest.mark.parametrize("down", SIDES)
@pytest.mark.parametrize(("names", "is_relayed"), [(3, True), (4, False), (9, False)])
async def test_a_chain_of_more_than_five_names_is_refused(down: str, names: int, *, is_relayed: bool) -> None:
    """The name of the gateway at the client, and that of the server at the gateway, are two of them."""
    user = User()
    caller = Caller(user, "gateway")
    chain = [f"server {number}" for number in range(names)]
    async with asking(down, {"message": "m", "_meta": {ORIGIN_META_KEY: chain}}, caller) as client:
        came = said(await caller.call_tool(client, "ask"))
    assert [each.origin for each in user.requests] == [("gateway", "visitor", *chain)] * is_relayed
    assert (came == "accept") == is_relayed


@pytest.mark.parametrize("down", SIDES)
async def test_a_request_that_the_protocol_cannot_express_is_cancelled(down: str) -> None:
    user = User()
    caller = Caller(user, "gateway")
    schema = {"type": "object", "properties": {"a": {"enum": [1, "b"]}}}
    async with asking(down, {"message": "m", "requestedSchema": schema}, caller) as client:
        assert said(await caller.call_tool(client, "ask")) == "cancel"
    assert user.requests == []


@both_sides
async def test_an_error_of_the_server_arrives_as_it_is(up: str, down: str) -> None:
    caller = Caller(User(), "gateway")
    async with gateway(up, down, caller) as client:
        with pytest.raises(Exception) as caught:
            await caller.call_tool(client, "malformed", {"data": {"elicitations": []}})
    assert isinstance(caught.value, CallError) or getattr(caught.value, "error", None) is not None


async def test_a_relay_that_is_not_open_says_so_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    relay = Relay("visitor", target(visitor.build()))
    caller = Caller(User(), "gateway")
    async with connected(relay, "push", caller) as client:
        with pytest.raises(Exception, match="The gateway failed"):
            await caller.call_tool(client, "echo", {})
    assert "The relay is not open" in caplog.text


def raise_cancelled(_context: object) -> Any:
    raise asyncio.CancelledError


def fail(_argument: object) -> Any:
    raise RuntimeError("a secret of the gateway")


async def test_a_relay_that_is_open_cannot_be_opened_again() -> None:
    """The lifespan of a server that runs for each of its clients does that."""
    caller = Caller(User(), "gateway")
    async with (
        Relay("visitor", target(visitor.build(lambda _line: None))) as relay,
        connected(relay, "push", caller) as client,
    ):
        with pytest.raises(RuntimeError, match="is open already"):
            await relay.__aenter__()
        assert json.loads(said(await caller.call_tool(client, "form")))["got"]["action"] == "accept"


@both_loops
async def test_an_error_in_the_block_of_a_relay_leaves_it_as_it_was_raised() -> None:
    with pytest.raises(ValueError, match="of the host"):
        async with Relay("visitor", target(visitor.build(lambda _line: None))):
            raise ValueError("of the host")


@both_loops
async def test_a_block_of_a_relay_can_be_cancelled() -> None:
    with anyio.CancelScope() as scope:
        async with Relay("visitor", target(visitor.build(lambda _line: None))):
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught


async def test_an_empty_name_goes_to_the_server_as_it_is() -> None:
    """The client called the tool ``restaurant.`` of a gateway that removes the prefix."""
    seen: list[str] = []
    caller = Caller(User(), "gateway")
    async with (
        Relay("visitor", target(visitor.build(seen.append))) as relay,
        connected({"restaurant": relay}, "push", caller) as client,
    ):
        with suppress(Exception):  # no tool has this name
            await caller.call_tool(client, "restaurant.", {})
    assert seen[0] == ""


@pytest.mark.parametrize("down", SIDES)
@pytest.mark.parametrize("options", [{"user": fail}, {"upstream": fail}, {"user": lambda _context: "x" * 999}])
async def test_a_client_does_not_get_the_text_of_an_exception_of_its_gateway(
    down: str, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caller = Caller(User(), "gateway")
    async with (
        Relay("visitor", **{"upstream": target(visitor.build()), **options}) as relay,
        connected(relay, down, caller) as client,
    ):
        for request in (caller.call_tool(client, "echo", {}), getattr(client, "session", client).list_tools()):
            with pytest.raises(Exception, match="The gateway failed") as caught:
                await request
            assert getattr(caught.value, "error").code == -32603  # noqa: B009 -- the name of both SDKs
    assert "a secret" in caplog.text or "999" in caplog.text


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("down", SIDES)
@pytest.mark.parametrize("function", ["user", "upstream"])
async def test_a_function_of_the_gateway_that_raises_a_cancellation_fails_the_call(down: str, function: str) -> None:
    caller = Caller(User(), "gateway")
    options: dict[str, Any] = {"upstream": target(visitor.build()), function: raise_cancelled}
    async with Relay("visitor", **options) as relay, connected(relay, down, caller) as client:
        with anyio.fail_after(10), pytest.raises(Exception, match="The gateway failed"):
            await caller.call_tool(client, "echo", {})


@both_loops
@both_sides
async def test_a_call_in_progress_ends_with_an_error_when_its_relay_is_closed(
    up: str, down: str, tmp_path: Path
) -> None:
    seen: list[str] = []
    relay = Relay("visitor", target(visitor.build(seen.append)), mode=MODES[up])
    caller = Caller(User(), "gateway")
    with anyio.fail_after(30):
        async with connected(relay, down, caller) as client, anyio.create_task_group() as group:

            async def call() -> None:
                with pytest.raises(Exception, match="closed"):
                    await caller.call_tool(client, "slow", {"mark": str(tmp_path / "mark")})

            async with relay:
                group.start_soon(call)
                while "slow" not in seen:
                    await anyio.sleep(0.01)


async def test_a_server_that_cannot_be_reached_fails_the_call_only(caplog: pytest.LogCaptureFixture) -> None:
    caller = Caller(User(), "gateway")
    async with (
        Relay("files", "http://127.0.0.1:9/mcp") as relay,
        connected(relay, "push", caller) as client,
    ):
        for _ in range(2):
            with pytest.raises(Exception, match="cannot connect to the server 'files'"):
                await caller.call_tool(client, "echo", {})
    assert "cannot connect to server 'files': ConnectError" in caplog.text


@asynccontextmanager
async def silence(connected: anyio.Event | None = None) -> AsyncIterator[Any]:
    import mcp.shared.memory

    memory: Any = mcp.shared.memory
    async with memory.create_client_server_memory_streams() as (ours, _theirs):
        if connected is not None:
            connected.set()
        yield ours


@both_loops
@pytest.mark.parametrize("down", SIDES)
async def test_a_call_whose_relay_is_closed_while_it_connects_ends_with_an_error(down: str) -> None:
    connecting = anyio.Event()
    relay = Relay("visitor", lambda _user: silence(connecting))
    caller = Caller(User(), "gateway")
    with anyio.fail_after(30):
        async with connected(relay, down, caller) as client, anyio.create_task_group() as group:

            async def call() -> None:
                with pytest.raises(Exception, match="closed its connections"):
                    await caller.call_tool(client, "echo", {})

            async with relay:
                group.start_soon(call)
                await connecting.wait()


@pytest.mark.parametrize("down", SIDES)
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_server_that_accepts_a_connection_and_says_nothing_times_out(down: str, mode: str) -> None:
    caller = Caller(User(), "gateway")
    async with (
        Relay("visitor", lambda _user: silence(), mode=mode, timeout=0.1) as relay,
        connected(relay, down, caller) as client,
    ):
        with anyio.fail_after(30), pytest.raises(Exception, match="The server did not answer in time"):
            await caller.call_tool(client, "echo", {})


@both_sides
async def test_the_policies_of_the_gateway_see_the_answer_of_the_user(up: str, down: str) -> None:
    seen: list[Answer] = []

    async def after(_request: Request, answer: Answer) -> None:
        seen.append(answer)

    caller = Caller(User(), "gateway")
    async with gateway(up, down, caller, policies=[hooks(after=after)]) as client:
        await caller.call_tool(client, "form")
    assert [(each.action, each.by, each.content) for each in seen][-1] == ("accept", "user", {"name": "Ann"})
