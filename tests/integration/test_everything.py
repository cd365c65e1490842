"""URLs of a real server of others, over stdio and HTTP: what it saw is what it says."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, Connection, connect
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Request
from tests.calls.test_calls import LEFT, NO, YES, User, think_for_ever
from tests.support import free_port, npm_environment, npm_tool

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

TOOL = "trigger-url-elicitation"
URL = "https://example.com/authorize?state=1"
FIRST = "https://modelcontextprotocol.io"


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def everything_over_http() -> Iterator[tuple[str, Any]]:
    port = free_port()
    command = [npm_tool("mcp-server-everything"), "streamableHttp"]
    environment = {**npm_environment(), "PORT": str(port)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            while b"listening" not in process.stderr.readline().lower():
                assert process.poll() is None
            yield f"http://127.0.0.1:{port}/mcp", process
        finally:
            process.kill()


@asynccontextmanager
async def everything(handler: Any, transport: str) -> AsyncIterator[Connection]:
    registry = ElicitationRegistry()
    registry.on_elicitation(handler)
    caller = Caller(registry, "everything")
    if transport == "http":
        with everything_over_http() as (url, process):
            KILL.append(process)
            async with connect(url, caller, mode="legacy") as connection:
                yield connection
    else:
        with tempfile.TemporaryFile("w+") as errlog:
            command = Command([npm_tool("mcp-server-everything"), "stdio"], errlog, npm_environment())
            async with connect(command, caller, mode="legacy") as connection:
                yield connection


KILL: list[Any] = []


def child_of_ours(command: str) -> int:
    """Find the process that we started and that the SDK does not name."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end meanwhile
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and command in (process / "cmdline").read_text():
                return int(process.name)
    raise AssertionError(command)


async def call(connection: Connection, **arguments: Any) -> str:
    with anyio.fail_after(60):
        result = await connection.call_tool(TOOL, {"message": "Please sign in", "url": URL, **arguments})
    return "".join(part["text"] for part in result["content"])


@pytest.mark.parametrize(
    ("reply", "told"), [(YES, '"action": "accept"'), (NO, '"action": "decline"'), (LEFT, '"action": "cancel"')]
)
async def test_the_server_sees_what_the_user_decided(reply: Any, told: str, transport: str) -> None:
    user = User(reply)
    async with everything(user, transport) as connection:
        assert told in await call(connection)

    assert user.urls == [(URL, 0)]


async def test_a_url_that_is_wanted_first_is_visited_and_the_call_goes_on(transport: str) -> None:
    user = User(YES)
    async with everything(user, transport) as connection:
        assert '"action": "accept"' in await call(connection, errorPath=True)

    assert user.urls == [(FIRST, 0), (URL, 0)]


async def test_a_user_who_leaves_while_waiting_ends_the_call(transport: str) -> None:
    user = User(LEFT)
    async with everything(user, transport) as connection:
        with pytest.raises(UrlElicitationIncompleteError, match="cancelled"):
            await call(connection, errorPath=True)
        # The server still waits for the visit: the same call again asks nothing first.
        user.replies = [YES]
        assert '"action": "accept"' in await call(connection, errorPath=True)

    assert user.urls == [(FIRST, 0), (URL, 0)]


@pytest.mark.parametrize("error_path", [False, True])
async def test_a_server_that_dies_while_the_user_thinks_takes_its_question_with_it(
    error_path: bool, transport: str
) -> None:
    async def kill_and_think(request: Request) -> Any:
        if transport == "http":
            KILL[-1].kill()
        else:
            os.kill(child_of_ours("server-everything"), signal.SIGKILL)
        return await think_for_ever(request)

    if transport == "http" and (error_path or not supports_multi_round_trip()):
        pytest.skip("nothing reports a lost server here: the request stays open")
    user = User(kill_and_think)
    with anyio.fail_after(60), pytest.raises(Exception) as caught:
        async with everything(user, transport) as connection:
            await connection.call_tool(TOOL, {"message": "m", "url": URL, "errorPath": error_path})

    assert not isinstance(caught.value, TimeoutError)
    assert user.withdrawn == len(user.requests) == 1
