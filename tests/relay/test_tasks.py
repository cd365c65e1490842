"""Tasks of upstream servers: the relay drives them, and its client gets the result of the tool."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.relay import Relay
from mcp_elicit_client.typing import Handler, Request
from tests.servers.tasker import Tasker, ask, build, question
from tests.support.gateways import MODES, User, connected
from tests.support.taskers import URL_REQUIRED, accepted, plan, told

pytestmark = [pytest.mark.anyio, pytest.mark.rounds, pytest.mark.event_loops("asyncio")]

each_client = pytest.mark.parametrize("down", ["push", "rounds"])


@asynccontextmanager
async def gateway(tasker: Tasker, down: str, handler: Handler, **options: Any) -> AsyncIterator[tuple[Caller, Any]]:
    """Connect through a gateway to the server `tasker`; the client does not know of tasks."""
    caller = Caller(handler, "gateway")
    async with (
        Relay("mail", build(tasker), mode=MODES["rounds"], **options) as relay,
        connected(relay, down, caller) as client,
    ):
        with anyio.fail_after(30):
            yield caller, client


@each_client
async def test_the_requests_of_a_task_are_relayed_and_its_result_is_that_of_the_call(down: str, tasker: Tasker) -> None:
    user = User()
    async with gateway(tasker, down, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan({"work": 1}, ask("a"), {"work": 1}, ask("b")))
    assert told(result) == accepted("a", "b")
    assert [each.message for each in user.requests] == ["[mail] Name for a?", "[mail] Name for b?"]


@each_client
async def test_a_task_without_requests_returns_its_result(down: str, tasker: Tasker) -> None:
    user = User()
    async with gateway(tasker, down, user) as (caller, client):
        result = await caller.call_tool(client, "run", plan({"work": 2}))
    assert told(result) == {}
    assert user.requests == []


@each_client
async def test_a_task_that_fails_is_an_error_of_the_call(down: str, tasker: Tasker) -> None:
    failed = {"end": {"status": "failed", "error": {"code": -32000, "message": "no"}}}
    async with gateway(tasker, down, User()) as (caller, client):
        with pytest.raises(Exception, match="no"):
            await caller.call_tool(client, "run", plan({"work": 1}, failed))


@each_client
async def test_a_task_that_fails_because_of_required_urls_is_made_again_after_the_visit(
    down: str, tasker: Tasker
) -> None:
    tasker.plans = [[{"end": URL_REQUIRED}], [ask("a")]]
    user = User()
    async with gateway(tasker, down, user) as (caller, client):
        result = await caller.call_tool(client, "run")

    assert told(result) == accepted("a")
    assert [request.mode for request in user.requests] == ["url", "form"]


async def test_a_task_is_cancelled_with_the_call_of_the_client(tasker: Tasker, seen: list[str]) -> None:
    async with gateway(tasker, "push", User()) as (caller, client), anyio.create_task_group() as group:
        group.start_soon(caller.call_tool, client, "run", plan({"work": 1_000_000}))
        while not any(line.startswith("get") for line in seen):
            await anyio.sleep(0.005)
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            while not any(line.startswith("cancel") for line in seen):
                await anyio.sleep(0.005)


async def test_a_task_is_cancelled_when_its_client_does_not_come_back(tasker: Tasker, seen: list[str]) -> None:
    async with gateway(tasker, "rounds", User(), answer_timeout=0.5) as (_caller, client):
        await client.session.call_tool("run", plan(ask("a")), allow_input_required=True)
        while not any(line.startswith("cancel") for line in seen):
            await anyio.sleep(0.005)


@each_client
async def test_a_task_whose_call_fails_is_cancelled(down: str, tasker: Tasker, seen: list[str]) -> None:
    async def decline(_request: Request) -> Answer:
        return Answer.decline(by="user")

    nagging = [{"ask": {str(number): question("Name?")}} for number in range(10)]
    async with gateway(tasker, down, User(decline)) as (caller, client):
        with pytest.raises(Exception, match="keeps asking"):
            await caller.call_tool(client, "run", plan(*nagging))
    assert seen.count("cancel") == 1


async def test_a_call_that_becomes_a_task_counts_once(tasker: Tasker, seen: list[str]) -> None:
    user = User()
    async with gateway(tasker, "rounds", user, max_calls=1) as (caller, client):
        result = await caller.call_tool(client, "run", plan({"work": 1}, ask("a")))
    assert told(result) == accepted("a")
    assert not any(line.startswith("cancel") for line in seen)


async def test_a_call_whose_task_was_created_is_not_refused_for_too_many_calls(tasker: Tasker, seen: list[str]) -> None:
    results: list[Any] = []
    refusals: list[Exception] = []

    async def call_often(client: Any) -> None:
        for _ in range(10):
            try:
                results.append(await client.session.call_tool("run", plan({"work": 1})))
            except Exception as error:
                refusals.append(error)

    async with gateway(tasker, "rounds", User(), max_calls=2) as (_caller, client), anyio.create_task_group() as group:
        for _ in range(12):
            group.start_soon(call_often, client)
    assert len(results) == sum(line.startswith("created") for line in seen)
    assert len(results) + len(refusals) == 120
