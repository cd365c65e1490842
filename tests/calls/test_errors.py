"""Errors of calls: they arrive as they were raised, say what to do, and none is one of pydantic."""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, cast, get_args

import anyio
import mcp
import pytest
from mcp import types
from pydantic import ValidationError

from mcp_elicit_client import Answer, CallError, CallTimeoutError, HandshakeRequiredError, ResumeError
from mcp_elicit_client._concurrency import single_error
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, _stdio
from mcp_elicit_client.exceptions import REPORT, ResumeRefusal
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Request
from tests.servers.raw import SCHEMA, Era
from tests.servers.visitor import build
from tests.support.inprocess import in_process
from tests.support.plain import plain
from tests.support.raw import ERAS, raw_server

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

SDK: Any = mcp


async def ann(_request: Request) -> Answer:
    return Answer.accept({"text": "Ann", "name": "Ann"}, by="user")


class OwnError(Exception):
    """An error of the host application."""


def connect(caller: Caller, where: Command | str, era: Era, **options: Any) -> AbstractAsyncContextManager[Any]:
    return caller.connect(where if isinstance(where, str) else _stdio(where), mode=era, **options)


async def times_out(caller: Caller, client: Any) -> None:
    await caller.call_tool(client, "slow", {}, timeout=0.01)


async def is_invalid(caller: Caller, client: Any) -> None:
    await caller.call_tool(client, "invalid", {})


async def is_the_hosts(_caller: Caller, _client: Any) -> None:
    raise OwnError


async def is_the_sdks(_caller: Caller, client: Any) -> None:
    await client.get_prompt("unknown", {})


ERRORS: dict[str, tuple[Callable[[Caller, Any], Awaitable[None]], Any]] = {
    "a timeout": (times_out, CallTimeoutError),
    "an invalid result": (is_invalid, CallError),
    "an error of the host": (is_the_hosts, OwnError),
    "an error of the SDK": (is_the_sdks, getattr(SDK, "MCPError", None) or SDK.McpError),
}


@pytest.mark.parametrize(("fail", "expected"), ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("era", ERAS)
async def test_an_error_is_caught_around_the_connection(
    era: Era, transport: str, fail: Callable[[Caller, Any], Awaitable[None]], expected: type[Exception]
) -> None:
    caller = Caller(ann, "raw")
    with raw_server(era, transport) as (where, _), anyio.fail_after(60):
        with pytest.raises(expected) as caught:
            async with connect(caller, where, era) as client:
                await fail(caller, client)
        async with connect(caller, where, era) as client:
            await client.list_tools()

    assert type(caught.value) is expected


@pytest.mark.event_loops("asyncio", "trio")
async def test_an_error_is_caught_around_a_client_or_session() -> None:
    caller = Caller(ann, "mail")
    for mode in ("legacy", "auto") if supports_multi_round_trip() else ():
        with pytest.raises(CallTimeoutError):
            async with caller.client(build(lambda _line: None), mode=mode) as client:
                await caller.call_tool(client, "silent", timeout=0.05)
    sender, receiver = anyio.create_memory_object_stream[Any](0)
    async with sender, receiver:
        with pytest.raises(OwnError):
            async with caller.session(receiver, sender):
                raise OwnError


async def test_a_connection_that_is_refused_is_one_error() -> None:
    with raw_server("legacy", "http") as (where, server):
        await anyio.to_thread.run_sync(server.stop)
        with pytest.raises(Exception) as caught, anyio.fail_after(60):
            async with connect(Caller(ann, "raw"), where, "legacy"):
                pass
        server.start()

    assert not hasattr(caught.value, "exceptions")


class GroupError(Exception):
    """A group, also where Python has none."""

    def __init__(self, *exceptions: BaseException) -> None:
        super().__init__("group")
        self.exceptions = exceptions


def test_a_group_stands_for_its_only_error_or_for_the_one_that_was_raised_into_it() -> None:
    raised, other, stop = OwnError(), ValueError(), KeyboardInterrupt()

    assert single_error(raised, None) is raised
    assert single_error(GroupError(GroupError(other)), None) is other
    assert single_error(GroupError(GroupError(other), raised), raised) is raised
    assert single_error(GroupError(other, OwnError()), raised) is raised
    assert single_error(other, raised) is raised
    assert single_error(stop, raised) is stop
    for group, into in ((GroupError(other, OwnError()), None), (GroupError(raised, stop), raised)):
        assert single_error(group, into) is group


# --- errors of pydantic


@pytest.mark.parametrize("era", ERAS)
async def test_an_invalid_result_is_a_call_error(era: Era) -> None:
    caller = Caller(ann, "raw")
    with raw_server(era, "stdio") as (where, _), anyio.fail_after(60):
        async with connect(caller, where, era) as client:
            with pytest.raises(CallError, match="Report it to the author of the server") as caught:
                await caller.call_tool(client, "invalid", {})

    assert isinstance(caught.value.__cause__, ValidationError)
    assert "Caller.connect" not in str(caught.value)


@pytest.mark.rounds
async def test_a_session_of_the_sdk_that_refuses_a_request_without_a_form_is_a_call_error_with_advice() -> None:
    caller = Caller(ann, "raw")
    mode: Any = "2026-07-28"
    with raw_server("2026-07-28", "stdio") as (where, _), anyio.fail_after(60):
        async with plain(where, caller.callback, mode=mode) as connection:
            with pytest.raises(CallError, match=r"if you connect with `Caller.connect`"):
                await caller.call_tool(connection.client, "ask", {"params": {"message": "Deploy?"}})


WRONG: dict[str, tuple[Any, Any, str]] = {
    "no name": (None, {}, "The name of a call must be a string, not NoneType"),
    "a list": ("echo", ["a"], "The arguments of a call must be a mapping, not list"),
    "a number as name": ("echo", {1: "a"}, "The names of arguments and in `meta` must be strings"),
}


@pytest.mark.event_loops("asyncio", "trio")
@pytest.mark.parametrize(("name", "arguments", "text"), WRONG.values(), ids=WRONG)
async def test_wrong_arguments_of_a_call_are_named(name: Any, arguments: Any, text: str) -> None:
    caller = Caller(ann, "mail")
    async with in_process(caller, "legacy") as client:
        with pytest.raises(TypeError, match=text):
            await caller.call_tool(client, name, arguments)


@pytest.mark.event_loops("asyncio", "trio")
async def test_a_missing_uri_of_a_resource_is_named() -> None:
    caller, uri = Caller(ann, "mail"), cast("str", None)
    async with in_process(caller, "legacy") as client:
        with pytest.raises(TypeError, match="The name of a call must be a string, not NoneType"):
            await caller.read_resource(client, uri)


@pytest.mark.parametrize("option", ["elicitation_callback", "modes"])
def test_an_option_of_the_sdk_that_the_caller_sets_is_refused(option: str) -> None:
    options: dict[str, Any] = {option: None}
    for connecting in (Caller(ann, "mail").connect, Caller(ann, "mail").client):
        with pytest.raises(TypeError, match=f"The Caller sets `{option}`. Omit it"):
            connecting("https://mail.example.com/mcp", **options)


@pytest.mark.event_loops("asyncio", "trio")
async def test_what_a_prompt_does_not_take_is_named_and_no_fault_of_the_server() -> None:
    caller, number, meta = Caller(ann, "mail"), cast("dict[str, str]", {"pages": 5}), cast("dict[str, Any]", {5: 1})
    async with in_process(caller, "legacy") as client:
        with pytest.raises(TypeError, match="The arguments of a prompt must be strings"):
            await caller.get_prompt(client, "summary", number)
        with pytest.raises(TypeError, match="The names of arguments and in `meta` must be strings"):
            await caller.get_prompt(client, "summary", meta=meta)


@pytest.mark.event_loops("asyncio", "trio")
@pytest.mark.parametrize("name", ["progressToken", "progress_token"])
async def test_a_progress_token_that_is_none_is_named_and_no_fault_of_the_server(name: str) -> None:
    caller = Caller(ann, "mail")
    async with in_process(caller, "legacy") as client:
        for call in (caller.call_tool, caller.get_prompt):
            with pytest.raises(TypeError, match=rf'`meta\["{name}"\]` must be str or int, not list'):
                await call(client, "echo", meta={name: [1]})


CYCLE: dict[str, Any] = {}
CYCLE["again"] = CYCLE
NOT_JSON = {"an object": object(), "a lone surrogate": "\ud83d", "bytes": b"\xff", "a cycle": CYCLE}


@pytest.mark.event_loops("asyncio", "trio")
@pytest.mark.parametrize("value", NOT_JSON.values(), ids=NOT_JSON)
async def test_a_value_that_json_does_not_allow_is_refused_before_it_ends_the_session(value: Any) -> None:
    caller = Caller(ann, "mail")
    async with in_process(caller, "legacy") as client:
        with pytest.raises(TypeError, match="JSON does not allow a value in the name, the arguments or `meta`"):
            await caller.call_tool(client, "echo", {"a": [value]})
        with pytest.raises(TypeError, match="JSON does not allow"):
            await caller.read_resource(client, "mail://inbox", meta={"a": value})


@pytest.mark.event_loops("asyncio", "trio")
async def test_a_name_or_the_argument_of_a_prompt_with_a_lone_surrogate_is_refused() -> None:
    caller = Caller(ann, "mail")
    async with in_process(caller, "legacy") as client:
        for call in (caller.call_tool, caller.get_prompt):
            with pytest.raises(TypeError, match="JSON does not allow"):
                await call(client, "\ud83d")
        with pytest.raises(TypeError, match="JSON does not allow"):
            await caller.get_prompt(client, "summary", {"pages": "\ud83d"})


@pytest.mark.rounds
@pytest.mark.event_loops("asyncio", "trio")
async def test_a_response_of_the_host_that_json_does_not_allow_is_refused_before_it_ends_the_session() -> None:
    async def list_roots(_context: Any) -> Any:
        return types.ListRootsResult.model_validate({"roots": [{"uri": "file:///home", "name": "\ud83d"}]})

    caller = Caller(ann, "mail")
    async with in_process(caller, "auto", list_roots_callback=list_roots) as client:
        with pytest.raises(TypeError, match="JSON does not allow a value in the response of your callback"):
            await caller.call_tool(client, "mixed")


# --- what to do


@pytest.mark.parametrize("code", get_args(ResumeRefusal))
def test_a_refusal_to_resume_says_what_to_do(code: ResumeRefusal) -> None:
    assert str(ResumeError(code)).count(". ") + str(ResumeError(code)).count(": ") >= 1


def test_advice_is_a_sentence() -> None:
    assert REPORT.endswith(".")


# --- negotiation


@pytest.mark.rounds
@pytest.mark.event_loops("asyncio", "trio")
async def test_a_server_that_cannot_ask_over_the_connection_says_so_and_the_next_connection_can() -> None:
    caller = Caller(ann, "mail")
    server = build(lambda _line: None)
    async with caller.connect(server) as client:
        with pytest.raises(HandshakeRequiredError, match="Connect with mode='legacy'") as caught:
            await caller.call_tool(client, "push")
        assert client.protocol_version == "2026-07-28"
    async with caller.connect(server) as client:
        assert client.protocol_version == "2025-11-25"
        result: Any = await caller.call_tool(client, "push")
    async with caller.connect(server, mode="2026-07-28") as client:
        assert client.protocol_version == "2026-07-28"

    assert isinstance(caught.value.__cause__, SDK.MCPError)
    assert json.loads(result.content[0].text)["got"]["content"] == {"name": "Ann"}


async def test_a_result_that_asks_over_a_connection_with_the_handshake_is_an_error_that_says_what_to_do() -> None:
    caller = Caller(ann, "raw")
    with raw_server("legacy", "stdio") as (where, _), anyio.fail_after(60):
        async with connect(caller, where, "legacy") as client:
            with pytest.raises(CallError, match="2026-07-28 or later") as caught:
                await caller.call_tool(client, "rounds", {})

    assert caught.value.__cause__ is not None


@pytest.mark.rounds
async def test_a_tool_that_only_returns_requests_says_which_connection_it_requires() -> None:
    types: Any = importlib.import_module("mcp.types")
    server: Any = importlib.import_module("mcp.server.mcpserver").MCPServer("mail")
    request = {"method": "elicitation/create", "params": {"mode": "form", "message": "Who?", "requestedSchema": SCHEMA}}

    async def ask(ctx: Any) -> Any:
        if ctx.input_responses is None:
            return types.InputRequiredResult.model_validate({"inputRequests": {"q": request}, "requestState": "s"})
        return "Hello"

    ask.__annotations__["ctx"] = importlib.import_module("mcp.server.mcpserver").Context
    server.tool()(ask)
    caller = Caller(ann, "mail")
    async with caller.connect(server, mode="legacy") as client:
        with pytest.raises(CallError, match="Connect with the protocol version 2026-07-28 or later"):
            await caller.call_tool(client, "ask", {})
    async with caller.connect(server) as client:
        result: Any = await caller.call_tool(client, "ask", {})

    assert result.content[0].text == "Hello"


@pytest.mark.rounds
async def test_a_server_of_fastmcp_that_cannot_ask_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    fastmcp = pytest.importorskip("fastmcp")
    server = fastmcp.FastMCP("mail")

    async def push(ctx: Any) -> str:
        await ctx.elicit("Who are you?", response_type=str)
        return "asked"

    push.__annotations__["ctx"] = fastmcp.Context
    server.tool(push)
    caller = Caller(ann, "mail")
    with caplog.at_level(logging.WARNING, "mcp_elicit_client"):
        async with fastmcp.Client(server) as client:
            result: Any = await caller.call_tool(client, "push")

    assert result.is_error  # the result is that of the server
    assert "Connect with mode='legacy'" in caplog.text
