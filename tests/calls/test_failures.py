"""What a plain callback of the SDK survives, a `Caller` survives: a matrix of failures while a question is open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import mcp.types
import pytest

from mcp_elicit_client import Answer, FormRequest
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, connect
from mcp_elicit_client.sdk.http_transport import http_transport
from mcp_elicit_client.typing import Request
from tests.servers.raw import Era, RawHttpServer
from tests.support import until
from tests.support.plain import plain
from tests.support.raw import ERAS, raw_server

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

TYPED = "typed by the user"
Event = Callable[[RawHttpServer], Awaitable[None]]


async def nothing(_server: Any) -> None: ...


async def restart(server: RawHttpServer) -> None:
    await anyio.to_thread.run_sync(server.stop)
    server.start()


async def drop(server: RawHttpServer) -> None:
    server.drop()


async def refuse_for_a_moment(server: RawHttpServer) -> None:
    server.status = 503
    await anyio.lowlevel.checkpoint()
    server.status = None


@dataclass(frozen=True)
class Failure:
    """
    Something that happens while a question is open.

    Attributes:
        tool: The tool that asks.
        event: What happens to the server over HTTP.
        expected: What the tool returns.
        eras: The eras in which it can happen.
        transports: Where it can happen.
    """

    tool: str = "ask"
    event: Event = nothing
    expected: str = TYPED
    eras: tuple[Era, ...] = ("legacy", "2026-07-28")
    transports: tuple[str, ...] = ("stdio", "http")


FAILURES = {
    "server restart": Failure(event=restart, transports=("http",)),
    "dropped connection": Failure(event=drop, transports=("http",)),
    "503": Failure(event=refuse_for_a_moment, transports=("http",)),
    "slow server": Failure("slow"),
    "synchronous server": Failure(transports=("stdio",)),
    "synchronous server over HTTP": Failure(transports=("http",), eras=("2026-07-28",)),
    "cancelled request": Failure("withdrawn", eras=("legacy",)),
    "two questions at once": Failure("two", expected=f"{TYPED} {TYPED}"),
    "ping while open": Failure("pinged", eras=("legacy",)),
}
MATRIX = [
    pytest.param(name, era, transport, id=f"{name}-{era}-{transport}")
    for name, failure in FAILURES.items()
    for era in ERAS
    for transport in failure.transports
    if era in failure.eras
]


@asynccontextmanager
async def connected(
    kind: str, where: Command | str, era: Era, think: Callable[[], Awaitable[None]]
) -> AsyncIterator[Any]:
    """Connect with a plain callback, or with a `Caller`, whose user thinks and then types."""
    mode: Any = era

    async def callback(context: Any, params: Any) -> Any:
        await think()
        return mcp.types.ElicitResult(action="accept", content={"text": TYPED})

    async def handler(_request: Request) -> Answer:
        await think()
        return Answer.accept({"text": TYPED}, by="user")

    if kind == "plain":
        async with plain(where, callback, mode=mode) as connection:
            yield connection
    else:
        async with connect(where, Caller(handler, "raw"), mode=mode) as called:
            yield called


async def outcome(kind: str, failure: Failure, era: Era, transport: str, *, synchronous: bool = False) -> str:
    """Return the text of the result; the session is used again afterwards."""
    with raw_server(era, transport, synchronous=synchronous) as (where, server):

        async def think() -> None:
            await failure.event(server)

        async with connected(kind, where, era, think) as connection:
            result = await connection.call_tool(failure.tool, {})
            await connection.client.list_tools()
    return str(result["content"][0]["text"])


@pytest.mark.parametrize("kind", ["plain", "caller"])
@pytest.mark.parametrize(("name", "era", "transport"), MATRIX)
async def test_the_typed_text_arrives_and_the_session_lives(name: str, era: Era, transport: str, kind: str) -> None:
    failure = FAILURES[name]
    with anyio.fail_after(60):
        assert await outcome(kind, failure, era, transport, synchronous="synchronous" in name) == failure.expected


@pytest.mark.parametrize("kind", ["plain", "caller"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_call_that_the_host_cancels_leaves_the_session_usable(transport: str, kind: str) -> None:
    is_open = anyio.Event()

    async def think() -> None:
        if not is_open.is_set():
            is_open.set()
            await anyio.sleep_forever()

    era = ERAS[-1]
    with raw_server(era, transport) as (where, _), anyio.fail_after(60):
        async with connected(kind, where, era, think) as connection:
            async with anyio.create_task_group() as group:
                group.start_soon(connection.call_tool, "ask", {})
                await is_open.wait()
                group.cancel_scope.cancel()
            if era != "legacy" or (transport == "http" and kind == "caller"):  # others wait for the answer
                result = await connection.call_tool("ask", {})
                assert result["content"][0]["text"] == TYPED


@pytest.mark.rounds
async def test_a_server_that_refuses_the_connection_for_the_answer_ends_the_call_but_not_the_session() -> None:
    """With a plain callback, it ends the session.  The call is not repeated: only the host may decide that."""
    with raw_server("2026-07-28", "http") as (where, server), anyio.fail_after(60):

        async def think() -> None:
            await anyio.to_thread.run_sync(server.stop)

        async with connected("caller", where, "2026-07-28", think) as connection:
            with pytest.raises(Exception, match=r".") as caught:
                await connection.call_tool("ask", {})
            server.start()
            await connection.client.list_tools()

    assert not isinstance(caught.value, TimeoutError)
    assert not hasattr(caught.value, "exceptions")


@pytest.mark.rounds
@pytest.mark.parametrize("status", [429, 502, 503])
async def test_the_answer_to_a_server_initiated_request_is_sent_until_a_proxy_reaches_the_server(status: int) -> None:
    """The call would wait for it for ever."""
    with raw_server("legacy", "http") as (where, server), anyio.fail_after(60):

        async def think() -> None:
            server.status = status

        async def recover() -> None:
            while server.methods.count("answer") < 2:
                await anyio.sleep(0.01)
            server.status = None

        async with connected("caller", where, "legacy", think) as connection, anyio.create_task_group() as group:
            group.start_soon(recover)
            result = await connection.call_tool("ask", {})

    assert result["content"][0]["text"] == TYPED
    assert server.methods.count("answer") >= 3


@pytest.mark.rounds
@pytest.mark.parametrize("status", [404, 413])
async def test_the_log_says_that_the_server_refused_an_answer(status: int, caplog: pytest.LogCaptureFixture) -> None:
    """The server may wait for the answer, and the user believes that it was sent."""
    with raw_server("legacy", "http") as (where, server), anyio.fail_after(60):

        async def think() -> None:
            server.status = status

        async with connected("caller", where, "legacy", think) as connection, anyio.create_task_group() as group:
            group.start_soon(connection.call_tool, "ask", {})
            await until(lambda: "may wait" in caplog.text)
            group.cancel_scope.cancel()

    assert f"the answer to a request was refused with HTTP status {status}" in caplog.text
    assert server.methods.count("answer") == 1


@pytest.mark.rounds
@pytest.mark.parametrize("era", ERAS)
async def test_a_response_that_breaks_off_fails_its_request_but_not_the_session(era: Era) -> None:
    """
    With a plain callback, it ends the session; with mcp 1.x, the request waits for its timeout.

    A server that is restarted may stop while it sends a response.
    """
    with raw_server(era, "http") as (where, server), anyio.fail_after(60):
        async with connected("caller", where, era, anyio.lowlevel.checkpoint) as connection:
            await connection.client.list_tools()
            server.breaks_off = True
            with pytest.raises(Exception, match=r".") as caught:
                await connection.client.list_tools()
            server.breaks_off = False
            result = await connection.call_tool("ask", {})

    assert result["content"][0]["text"] == TYPED
    assert not isinstance(caught.value, TimeoutError)


@pytest.mark.parametrize("era", ERAS)
async def test_a_redirect_to_another_path_of_the_server_is_followed(era: Era) -> None:
    """As the SDK does: web frameworks redirect ``/mcp`` to ``/mcp/``."""

    async def answer(_request: Request) -> Answer:
        return Answer.accept({"text": TYPED}, by="user")

    with raw_server(era, "http") as (_, server), anyio.fail_after(60):
        moved = http_transport(server.url.replace("/mcp", "/moved"), {})
        async with connect(moved, Caller(answer, "raw")) as connection:
            result = await connection.call_tool("ask", {})

    assert result["content"][0]["text"] == TYPED


@pytest.mark.event_loops("asyncio", "trio")
async def test_a_request_with_the_id_of_an_open_one_replaces_it() -> None:
    """The SDK can withdraw only the later one, and the server takes one answer."""
    asked: list[str] = []
    is_withdrawn = anyio.Event()

    async def answer(request: Request) -> Answer:
        asked.append(request.message)
        if request.message == "What?":
            try:
                await anyio.sleep_forever()
            finally:
                is_withdrawn.set()
        if "What?" in asked:
            await is_withdrawn.wait()
        return Answer.accept({"text": TYPED}, by="user")

    with raw_server("legacy", "stdio") as (where, _), anyio.fail_after(60):
        async with connect(where, Caller(answer, "raw"), mode="legacy") as connection:
            result = await connection.call_tool("reused", {})

    assert asked in (["What?", "What else?"], ["What else?"])  # trio may begin with the task of the later one
    assert result["content"][0]["text"] == TYPED


MESSAGE_ONLY: list[dict[str, Any]] = [
    {},
    {"mode": "form"},
    {"requestedSchema": None},
    {"requestedSchema": {}},
    {"requestedSchema": {"type": "object"}},
    {"requestedSchema": {"properties": {}}},
    {"requestedSchema": {"type": "object", "properties": None, "required": None}},
]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_request_that_consists_of_a_message_only_reaches_the_user(era: Era, transport: str) -> None:
    requests: list[Request] = []

    async def confirm(request: Request) -> Answer:
        requests.append(request)
        return Answer.accept({}, by="user")

    mode: Any = era
    with raw_server(era, transport) as (where, _), anyio.fail_after(60):
        async with connect(where, Caller(confirm, "raw"), mode=mode) as connection:
            for shape in MESSAGE_ONLY:
                result = await connection.call_tool("ask", {"params": {"message": "Deploy?", **shape}})
                assert result["content"][0]["text"] == "accept", shape

    assert [(each.message, isinstance(each, FormRequest) and each.form.fields) for each in requests] == [
        ("Deploy?", ())
    ] * len(MESSAGE_ONLY)
