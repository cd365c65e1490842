"""FastMCP's client, whichever major fits the installed SDK."""

from __future__ import annotations

import importlib.util
import json
import os
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp_elicit_client import Answer, ElicitationRegistry
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.hosts.fastmcp import client, clients_from_config, elicitation_handler
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from tests.calls.test_calls import NAMED, NO, OTHER, URL, YES, User
from tests.support import ROOT, VISITOR, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore"), pytest.mark.event_loops("asyncio")]

MODES = ["legacy", "auto"] if supports_multi_round_trip() else [None]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {} if request.param is None else {"mode": request.param}


@asynccontextmanager
async def fastmcp_client(caller: Caller, seen: Path, **options: Any) -> AsyncIterator[Any]:
    if importlib.util.find_spec("fastmcp") is None:
        skip_or_fail("fastmcp is not installed; see noxfile.py")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

    environment = {"PYTHONPATH": str(ROOT), "ELICIT_SEEN": str(seen), "PATH": os.environ["PATH"]}
    transport = StdioTransport(VISITOR[0], VISITOR[1:], env=environment, keep_alive=False)
    client = Client(
        transport,
        elicitation_handler=elicitation_handler(caller.handler, server="mail"),
        message_handler=caller.message_handler(),
        **options,
    )
    async with client:
        yield client


async def call(caller: Caller, client: Any, tool: str, arguments: dict[str, Any] | None = None) -> Any:
    result: Any = await caller.call_tool(client, tool, arguments, timeout=20)
    return json.loads(result.content[0].text)


@pytest.mark.parametrize(
    ("reply", "got"),
    [
        (NAMED, {"action": "accept", "content": {"name": "Ann"}}),
        (NO, {"action": "decline"}),
        (Answer.cancel(by="user"), {"action": "cancel"}),
        (Answer.accept({"name": 5}, by="user"), {"action": "cancel"}),
    ],
)
async def test_the_server_gets_exactly_the_answer(
    reply: Answer, got: dict[str, Any], mode: dict[str, Any], tmp_path: Path
) -> None:
    caller = Caller(User(reply), "mail")
    async with fastmcp_client(caller, tmp_path / "seen", **mode) as client:
        assert await call(caller, client, "form") == {"got": got}
        # Also where FastMCP itself makes the call, and drives what comes back.
        assert json.loads((await client.call_tool_mcp("form", {})).content[0].text) == {"got": got}


async def test_an_exception_of_a_handler_is_a_cancel_and_stays_private(mode: dict[str, Any], tmp_path: Path) -> None:
    async def fail(_request: Any) -> Answer:
        raise RuntimeError("/home/ann/.config/token")

    caller = Caller(fail, "mail")
    async with fastmcp_client(caller, tmp_path / "seen", **mode) as client:
        assert json.loads((await client.call_tool_mcp("form", {})).content[0].text) == {"got": {"action": "cancel"}}


async def test_required_urls_are_opened_and_completions_reported(mode: dict[str, Any], tmp_path: Path) -> None:
    async def wait(request: Any) -> Answer:
        await request.completion.wait()
        return YES

    user = User(wait if mode.get("mode") != "auto" else YES)
    caller = Caller(user, "mail")
    complete = {} if mode.get("mode") == "auto" else {"complete": "early"}
    async with fastmcp_client(caller, tmp_path / "seen", **mode) as client:
        assert await call(caller, client, "required", {"urls": [URL, OTHER], **complete}) == {"calls": 2}

    assert user.urls == [(URL, 0), (OTHER, 0)]


@pytest.mark.rounds
async def test_a_call_with_a_fastmcp_client_is_suspended_and_resumed(tmp_path: Path) -> None:
    parking = SuspendOptions(Inbox(MemoryStore()), "ann")
    caller = Caller(InboxHandler(parking.inbox, "ann"), "mail")
    async with fastmcp_client(caller, tmp_path / "seen", mode="auto") as client:
        parked = await caller.call_tool(client, "form", suspend=parking)
        assert isinstance(parked, SuspendedCall)
        await parking.inbox.answer("ann", parked.pending_ids[0], "accept", {"name": "Ann"})
        result: Any = await caller.resume(parked.id, client, parking)

    assert json.loads(result.content[0].text) == {"got": {"action": "accept", "content": {"name": "Ann"}}}


async def test_a_required_url_that_is_not_opened_ends_the_call(mode: dict[str, Any], tmp_path: Path) -> None:
    caller = Caller(User(NO), "mail")
    async with fastmcp_client(caller, tmp_path / "seen", **mode) as client:
        with pytest.raises(UrlElicitationIncompleteError):
            await call(caller, client, "required", {"urls": [URL]})


@pytest.mark.parametrize("config", [{"mcpServers": {"mail": {"command": 5}}}, {"mcpServers": 5}, {"mcpServers": None}])
async def test_an_invalid_configuration_is_an_error(config: dict[str, Any]) -> None:
    if importlib.util.find_spec("fastmcp") is None:
        skip_or_fail("fastmcp is not installed; see noxfile.py")
    with pytest.raises(ValueError, match=r"mcpServers|validation error"):
        clients_from_config(User(YES), config)


async def test_a_client_can_be_copied_and_passes_messages_to_the_host(mode: dict[str, Any], tmp_path: Path) -> None:
    if importlib.util.find_spec("fastmcp") is None:
        skip_or_fail("fastmcp is not installed; see noxfile.py")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fastmcp.client.transports import StdioTransport

    heard: list[Any] = []

    async def hear(message: Any) -> None:
        heard.append(message)

    user = User(NAMED if mode.get("mode") == "auto" else YES)
    environment = {"PYTHONPATH": str(ROOT), "ELICIT_SEEN": str(tmp_path / "seen"), "PATH": os.environ["PATH"]}
    transport = StdioTransport(VISITOR[0], VISITOR[1:], env=environment, keep_alive=False)
    made = client(Caller(user, "mail"), transport, message_handler=hear, **mode)
    tool, arguments = ("form", {}) if mode.get("mode") == "auto" else ("url", {"early": True})
    async with made.new() as copy:
        got = json.loads((await copy.call_tool(tool, arguments, timeout=20)).content[0].text)["got"]

    assert got["action"] == "accept"
    assert [request.server.name for request in user.requests] == ["mail"]
    assert bool(heard) == (tool == "url")


async def test_the_handler_gets_the_server_name_and_no_unsafe_urls() -> None:
    if importlib.util.find_spec("fastmcp") is None:
        skip_or_fail("fastmcp is not installed; see noxfile.py")
    registry = ElicitationRegistry()
    user = User(YES)
    registry.on_elicitation(user)
    handle: Any = elicitation_handler(registry, server="mail")

    bad = {"mode": "url", "message": "m", "url": "javascript:alert(1)", "elicitationId": "e"}
    assert (await handle("m", None, bad, None)).action == "cancel"
    assert (await handle("m", None, {**bad, "url": URL}, None)).action == "accept"
    assert [request.server.name for request in user.requests] == ["mail"]
