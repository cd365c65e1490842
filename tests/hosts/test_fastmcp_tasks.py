"""
Tasks of a FastMCP server with fastmcp-tasks, through each kind of client.

``ELICIT_FASTMCP_TASKS`` names another Python in which fastmcp-tasks is installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions, TaskHandle
from mcp_elicit_client.hosts.fastmcp import client as fastmcp_client
from mcp_elicit_client.inbox import Inbox, InboxHandler, SqliteStore
from tests.support import ROOT, skip_or_fail
from tests.support.taskers import User, accepted, told

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.rounds,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.event_loops("asyncio"),
]

SERVER = str(ROOT / "tests" / "servers" / "fastmcp_tasker.py")
BOTH = ["Name for a?", "Name for b?"]


def program() -> str:
    """Return the Python that runs the server."""
    other = os.environ.get("ELICIT_FASTMCP_TASKS")
    if other is None and importlib.util.find_spec("fastmcp_tasks") is None:
        skip_or_fail("fastmcp-tasks is not installed; see noxfile.py")
    return other or sys.executable


@pytest.fixture
def server() -> Any:
    from mcp import StdioServerParameters

    return StdioServerParameters(command=program(), args=[SERVER])


@pytest.fixture
def user() -> User:
    """A user who takes longer than the timeout of the server."""

    async def thinks() -> None:
        await anyio.sleep(1)

    user = User()
    user.thinks = thinks
    return user


async def test_a_slow_user_is_asked_each_question_once(server: Any, user: User) -> None:
    caller = Caller(user, "restaurant")
    with anyio.fail_after(60):
        async with caller.client(server) as client:
            assert isinstance(await caller.call_tool(client, "book", {}, wait=False), TaskHandle)
            # The server works in less than this, and the user takes longer.
            result = await caller.call_tool(client, "book", {}, timeout=1.9)
    assert (told(result), sorted(user.asked)) == (accepted("a", "b"), BOTH)


async def test_clients_of_fastmcp_finish_tasks(user: User) -> None:
    if importlib.util.find_spec("fastmcp") is None:
        skip_or_fail("fastmcp is not installed; see noxfile.py")
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    caller = Caller(user, "restaurant")
    transport = StdioTransport(program(), [SERVER], keep_alive=False)
    with anyio.fail_after(60):
        async with fastmcp_client(caller, transport) as client:
            assert (await client.call_tool("book", {}, timeout=5)).structured_content == accepted("a", "b")
            assert told(await caller.call_tool(client, "book", {}, timeout=1.9)) == accepted("a", "b")
        plain = Client(StdioTransport(program(), [SERVER], keep_alive=False), extensions=caller.extensions)
        async with plain as client:
            assert told(await caller.call_tool(client, "book", {}, timeout=1.9)) == accepted("a", "b")
    assert sorted(user.asked) == sorted(BOTH * 3)


async def test_the_extension_of_fastmcp_may_be_there_as_well(user: User) -> None:
    if importlib.util.find_spec("fastmcp_tasks") is None:
        skip_or_fail("fastmcp-tasks is not installed; see noxfile.py")
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    importlib.import_module("fastmcp_tasks")  # from here on, every client of FastMCP declares tasks itself
    caller = Caller(user, "restaurant")
    for client in (
        Client(StdioTransport(program(), [SERVER], keep_alive=False)),
        fastmcp_client(caller, StdioTransport(program(), [SERVER], keep_alive=False)),
    ):
        with anyio.fail_after(60):
            async with client:
                assert told(await caller.call_tool(client, "book", {}, timeout=1.9)) == accepted("a", "b")
    assert sorted(user.asked) == sorted(BOTH * 2)


async def test_a_task_is_suspended_and_resumed(server: Any, tmp_path: Path) -> None:
    inbox = Inbox(SqliteStore(tmp_path / "inbox.db"))
    registry, options = ElicitationRegistry(), SuspendOptions(inbox)
    registry.on_elicitation(InboxHandler(inbox))
    caller = Caller(registry, "restaurant", user="ann")
    with anyio.fail_after(60):
        # The tasks of this server are in its memory, so the connection stays.
        async with caller.client(server) as client:
            suspended = await caller.call_tool(client, "book", {}, suspend=options)
            assert isinstance(suspended, SuspendedCall)
            for entry in (await inbox.list("ann")).entries:
                await inbox.answer("ann", entry.id, "accept", {"name": "Ann"})
            result = await caller.resume(suspended.id, client, options)
            assert told(result) == told(await caller.resume(suspended.id, client, options)) == accepted("a", "b")
    await inbox.aclose()
