"""ACP over the standard input and output of real processes: MCP server, agent, client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest
from mcp_elicit_client.hosts.acp import answer_agent, elicitation_capabilities
from mcp_elicit_client.typing import Handler, Request
from tests.support import ROOT, table
from tests.support.acp import SESSION

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio"), pytest.mark.slow]

ACTIONS = ("accept", "decline", "cancel")
URL = {"mode": "url", "message": "Sign in", "url": "https://example.com", "elicitationId": "e1"}
ENUMS = [row for row in table("enums") if row["choices"] and "surrogates" not in row["name"]]
"""All spellings of options; JSON over a pipe has no lone surrogates."""

OF_ACP = [row for row in ENUMS if row["name"] in ("untitled single", "titled single", "untitled multi", "titled multi")]
"""The spellings of ACP, which the classes of its package accept."""


def form_with(schema: dict[str, Any]) -> dict[str, Any]:
    return {"message": "Which?", "requestedSchema": {"type": "object", "properties": {"f": schema}, "required": ["f"]}}


def last_value(row: dict[str, Any]) -> Any:
    value = row["choices"][-1]["value"]
    return [value] if row["schema"].get("type") == "array" else value


class Client:
    """A client that answers with a handler, and reads what the agent reports."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.reported: list[Any] = []

    def on_connect(self, connection: Any) -> None:
        answer_agent(connection, self._handler, agent="assistant")

    async def session_update(self, update: Any, **_: Any) -> None:
        self.reported.append(json.loads(update.content.text))


class PlainClient:
    """A client that uses only the classes of ``agent-client-protocol``."""

    def __init__(self) -> None:
        self.reported: list[Any] = []
        self.asked: list[Any] = []
        self.completed: list[str] = []
        self.action = "accept"

    async def session_update(self, update: Any, **_: Any) -> None:
        self.reported.append(json.loads(update.content.text))

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.asked.append((message, mode))
        schema = getattr(mode, "requested_schema", None)
        if self.action != "accept" or schema is None:
            return {"action": self.action}
        return {"action": "accept", "content": {name: _last(each) for name, each in schema.properties.items()}}

    async def complete_elicitation(self, elicitation_id: str, **_: Any) -> None:
        self.completed.append(elicitation_id)


def _last(schema: Any) -> Any:
    if schema.type == "array":
        items = schema.items
        return [items.enum[-1] if getattr(items, "enum", None) else items.any_of[-1].const]
    return schema.enum[-1] if schema.enum else schema.one_of[-1].const


class Chain:
    """A client, its agent, and the MCP server of the agent."""

    def __init__(self, connection: Any, process: Any, client: Any) -> None:
        self.connection = connection
        self.process = process
        self._client = client

    async def ask(self, via: str, params: dict[str, Any], **more: Any) -> Any:
        """Return what the one who asks was answered."""
        import acp

        text = json.dumps({"via": via, "params": params, **more})
        with anyio.fail_after(60):
            await self.connection.prompt(session_id=SESSION, prompt=[acp.text_block(text)])
        return self._client.reported.pop()


@asynccontextmanager
async def chain(client: Any, declared: Any, **options: Any) -> AsyncIterator[Chain]:
    import acp
    from acp.schema import ClientCapabilities

    command = [sys.executable, "-m", "tests.servers.acp_agent"]
    spawned = acp.spawn_agent_process(
        client, *command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, transport_kwargs={"stderr": None}, **options
    )
    with anyio.fail_after(280):
        async with spawned as (connection, process):
            await connection.initialize(
                protocol_version=1, client_capabilities=ClientCapabilities(elicitation=declared)
            )
            await connection.new_session(cwd=str(ROOT))
            yield Chain(connection, process, client)


class User:
    """Selects the last option of each field, and acts as the test says."""

    def __init__(self) -> None:
        self.action: Any = "accept"
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Answer:
        self.asked.append(request)
        if self.action != "accept" or not isinstance(request, FormRequest):
            return Answer(action=self.action, by="user")
        values: dict[str, Any] = {}
        for each in request.form.fields:
            value = each.choices[-1].value  # type: ignore[union-attr]
            values[each.name] = [value] if each.kind == "multichoice" else value
        return Answer.accept(values, by="user")


def expected(action: str, content: Any = None) -> dict[str, Any]:
    return {"action": action, **({"content": {"f": content}} if action == "accept" and content is not None else {})}


async def check_all(ask: Callable[..., Any], way: str, act: Callable[[str], None]) -> None:
    """Ask for every spelling of options and for a URL; answer each with every action."""
    for action in ACTIONS:
        act(action)
        for row in ENUMS:
            answer = await ask(way, form_with(row["schema"]))
            assert answer == expected(action, last_value(row)), (row["name"], action)
        answer = await ask(way, URL)
        assert answer == {"action": action}


async def test_every_spelling_and_action_arrives_from_the_server_and_from_the_agent() -> None:
    user = User()
    client = Client(user)
    async with chain(client, elicitation_capabilities(user)) as it:
        await check_all(it.ask, "server", lambda action: setattr(user, "action", action))
        titles = {each.title for asked in user.asked if isinstance(asked, FormRequest) for each in choices_of(asked)}
        assert {"Small", "Medium", "One", "yes"} <= titles
        assert {asked.server.name for asked in user.asked} == {"assistant"}
        assert all(asked.message.startswith("asker ") for asked in user.asked)
        assert {asked.target.url for asked in user.asked if asked.mode == "url"} == {"https://example.com"}
        await check_all(it.ask, "raw", lambda action: setattr(user, "action", action))
        user.action = "accept"
        for row in OF_ACP:
            assert await it.ask("package", form_with(row["schema"])) == expected("accept", last_value(row))
        for action in ACTIONS:
            user.action = action
            assert await it.ask("package", URL) == {"action": action}


def choices_of(request: FormRequest) -> list[Any]:
    return [choice for field in request.form.fields for choice in getattr(field, "choices", ())]


async def test_every_spelling_and_action_arrives_from_an_editor_with_the_classes_of_the_package() -> None:
    client = PlainClient()
    declared = elicitation_capabilities(User())
    async with chain(client, declared, use_unstable_protocol=True) as it:
        await check_all(it.ask, "server", lambda action: setattr(client, "action", action))

    urls = [mode.elicitation_id for _, mode in client.asked if hasattr(mode, "url")]
    assert len(urls) == len(ACTIONS)
    assert set(client.completed) <= set(urls)


async def test_a_mode_that_the_editor_did_not_declare_is_refused_on_both_sides() -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(mode="form")(User())
    async with chain(Client(registry), elicitation_capabilities(registry)) as it:
        by_agent = await it.ask("package", URL)
        by_server = await it.ask("server", URL)

    assert by_agent == {"error": -32602}
    assert by_server.get("action") != "accept"


async def test_requests_end_with_the_turn_the_time_and_the_agent() -> None:
    is_open, withdrawn = anyio.Event(), anyio.Event()

    async def never(_request: Request) -> Answer:
        is_open.set()
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn.set()
        raise AssertionError

    async with chain(Client(never), elicitation_capabilities(never)) as it:
        form = form_with({"type": "string"})
        assert await it.ask("server", form, answer_timeout=0.2) == {"action": "cancel"}
        await withdrawn.wait()
        for end in ("turn", "agent"):
            is_open, withdrawn = anyio.Event(), anyio.Event()
            asking = asyncio.ensure_future(it.ask("server", form))
            await is_open.wait()
            if end == "turn":
                await it.connection.cancel(session_id=SESSION)
                assert await asking == {"action": "cancel"}
            else:
                it.process.kill()
                with pytest.raises(ConnectionError):
                    await asking
            await withdrawn.wait()


def test_the_client_of_the_examples_answers_the_agent_of_the_examples() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "acp_client.py")],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=environment,
    )

    assert '"guests": 2' in run.stdout
