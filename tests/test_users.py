"""The user of a request: every way in passes it on, and each user has their own requests."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import importlib.util
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.to_thread
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry, Server, parse_request
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.exceptions import ResumeError
from mcp_elicit_client.hosts import (
    _session_proxy,
    agent_framework,
    agno,
    autogen,
    claude_agent,
    copilot,
    fast_agent,
    fastmcp,
    google_adk,
    langchain,
    langchain_mcp,
    llama_index,
    mcp_agent,
    mcp_use,
    openai_codex,
    pydantic_ai,
    semantic_kernel,
    strands,
)
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore
from mcp_elicit_client.sdk.callback import SdkDispatcher, UserSource, elicitation_callback
from mcp_elicit_client.typing import Request
from tests.support import form_params, skip_or_fail
from tests.support.inboxes import pending
from tests.support.inprocess import in_process

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

NAMED = {"name": "Ann"}
PARAMS: Any = {"mode": "form", **form_params({"properties": {"name": {"type": "string"}}, "required": ["name"]})}
INVALID_USERS = ["", "u" * 257, 7, b"ann", "\ud800"]

Way = Callable[[ElicitationRegistry, Any], Awaitable[object]]


def recording(seen: list[str | None]) -> ElicitationRegistry:
    """Return a registry that accepts, and notes the user of each request."""
    registry = ElicitationRegistry()

    @registry.on_elicitation
    async def _accept(request: Request, /) -> Answer:
        seen.append(request.user)
        return Answer.accept(NAMED, by="user")

    return registry


# --- each way in, with a user


async def _callback(registry: ElicitationRegistry, user: Any) -> object:
    return await registry.callback("mail", user=user)(None, PARAMS)


async def _elicitation_callback(registry: ElicitationRegistry, user: Any) -> object:
    return await elicitation_callback(registry, server="mail", user=user)(None, PARAMS)


async def _parsed(registry: ElicitationRegistry, user: Any) -> object:
    return await registry(parse_request(PARAMS, user=user))


async def _dispatcher(registry: ElicitationRegistry, user: Any) -> object:
    return await Dispatcher(registry).answer(PARAMS, server=Server(name="mail"), user=user)


async def _caller_callback(registry: ElicitationRegistry, user: Any) -> object:
    return await Caller(registry, "mail", user=user).callback(None, PARAMS)


async def _caller_handler(registry: ElicitationRegistry, user: Any) -> object:
    return await elicitation_callback(Caller(registry, "mail", user=user).handler, server="mail")(None, PARAMS)


async def _caller(registry: ElicitationRegistry, user: Any, mode: Any = "legacy", **options: Any) -> object:
    caller = Caller(registry, "mail", user=user)
    async with in_process(caller, mode) as client:
        return await caller.call_tool(client, "form", **options)


async def _call(registry: ElicitationRegistry, user: Any, mode: Any = "legacy") -> object:
    caller = Caller(registry, "mail", user="another user")
    async with in_process(caller, mode) as client:
        return await caller.call_tool(client, "form", user=user)


async def _caller_rounds(registry: ElicitationRegistry, user: Any) -> object:
    return await _caller(registry, user, "auto")


async def _call_rounds(registry: ElicitationRegistry, user: Any) -> object:
    return await _call(registry, user, "auto")


def _wrapped(wrap: Callable[..., Any]) -> Way:
    async def way(registry: ElicitationRegistry, user: Any) -> object:
        caller = Caller(registry, "mail")
        async with in_process(caller, "legacy") as client:
            return await wrap(caller, client, user=user).call_tool("form")

    return way


async def _langchain(registry: ElicitationRegistry, user: Any) -> object:
    context: Any = SimpleNamespace(server_name="mail", tool_name="send")
    return await langchain._on_elicitation(SdkDispatcher(registry, user=user))(None, PARAMS, context)


async def _langchain_mcp(registry: ElicitationRegistry, user: Any) -> object:
    asked = {"key": "a", "mode": "form", "message": "m", "requested_schema": PARAMS["requestedSchema"]}
    value = {"type": "mcp_elicitation", "tool_name": "send", "requests": [asked]}
    return await langchain_mcp.answer_interrupt(registry, value, server="mail", user=user)


async def _mcp_agent(registry: ElicitationRegistry, user: Any) -> object:
    return await mcp_agent.elicitation_callback(registry, user=user)(PARAMS)


async def _mcp_use(registry: ElicitationRegistry, user: Any) -> object:
    async def create_session(_server_name: str, _auto_initialize: bool) -> Any:
        return await client.elicitation_callback(None, PARAMS)

    client: Any = SimpleNamespace(create_session=create_session)
    return await mcp_use.with_handler(client, registry, user=user).create_session("mail")


async def _claude_agent(registry: ElicitationRegistry, user: Any) -> object:
    async def write(message: str) -> None:
        sent.append(message)

    sent: list[str] = []
    query: Any = SimpleNamespace(_handle_control_request=write, transport=SimpleNamespace(write=write))
    client: Any = SimpleNamespace(_query=query)
    claude_agent.answer_elicitations(client, registry, user=user)
    asked = {"mode": "form", "message": "m", "requested_schema": PARAMS["requestedSchema"], "mcp_server_name": "mail"}
    await query._handle_control_request({"request_id": "1", "request": {"subtype": "elicitation", **asked}})
    return sent


async def _copilot(registry: ElicitationRegistry, user: Any) -> object:
    return await copilot.elicitation_handler(registry, user=user)({**PARAMS, "elicitationSource": "mail"})


async def _openai_codex(registry: ElicitationRegistry, user: Any) -> object:
    def refuse(_method: str, _params: dict[str, Any] | None) -> dict[str, Any]:
        raise AssertionError

    handle = openai_codex.approval_handler(registry, refuse, user=user)
    return await anyio.to_thread.run_sync(handle, "mcpServer/elicitation/request", {**PARAMS, "serverName": "mail"})


def _sdk(adapter: Callable[..., Any]) -> Way:
    async def way(registry: ElicitationRegistry, user: Any) -> object:
        return await adapter(registry, server="mail", user=user)(None, PARAMS)

    return way


def _of_fastmcp(adapter: Callable[..., Any]) -> Way:
    async def way(registry: ElicitationRegistry, user: Any) -> object:
        if importlib.util.find_spec("fastmcp") is None:
            skip_or_fail("fastmcp is not installed; see noxfile.py")
        return await adapter(registry, server="mail", user=user)("m", None, PARAMS, None)

    return way


WAYS: dict[str, Way] = {
    "registry.callback": _callback,
    "elicitation_callback": _elicitation_callback,
    "parse_request": _parsed,
    "Caller.callback": _caller_callback,
    "Caller.handler": _caller_handler,
    "Caller, server-initiated": _caller,
    "Caller.call_tool, server-initiated": _call,
    "hosts._session_proxy": _wrapped(_session_proxy.wrap_session),
    "hosts.agent_framework": _wrapped(agent_framework.wrap_client),
    "hosts.agno": _wrapped(agno.wrap_session),
    "hosts.autogen": _wrapped(autogen.wrap_session),
    "hosts.llama_index": _wrapped(llama_index.wrap_client),
    "hosts.semantic_kernel": _wrapped(semantic_kernel.wrap_session),
    "hosts.langchain": _langchain,
    "hosts.langchain_mcp": _langchain_mcp,
    "hosts.mcp_agent": _mcp_agent,
    "hosts.mcp_use": _mcp_use,
    "hosts.mcp_use, callback": _sdk(mcp_use.elicitation_callback),
    "hosts.claude_agent": _claude_agent,
    "hosts.copilot": _copilot,
    "hosts.openai_codex": _openai_codex,
    "hosts.fast_agent": _sdk(fast_agent.elicitation_handler),
    "hosts.google_adk": _sdk(google_adk.elicitation_callback),
    "hosts.strands": _sdk(strands.elicitation_callback),
    "hosts.pydantic_ai 1.x": _sdk(pydantic_ai.elicitation_callback),
    "hosts.pydantic_ai": _of_fastmcp(pydantic_ai.elicitation_handler),
    "hosts.fastmcp": _of_fastmcp(fastmcp.elicitation_handler),
}
MORE_WAYS: dict[str, Way] = {"Dispatcher": _dispatcher}
ROUNDS: dict[str, Way] = {
    "Caller, multi-round-trip": _caller_rounds,
    "Caller.call_tool, multi-round-trip": _call_rounds,
}
IN_ROUNDS = [pytest.param(way, marks=pytest.mark.rounds, id=name) for name, way in ROUNDS.items()]


@pytest.mark.parametrize("way", [pytest.param(way, id=name) for name, way in (WAYS | MORE_WAYS).items()] + IN_ROUNDS)
@pytest.mark.parametrize("user", ["ann", "\u00e5" * 256])
async def test_the_handler_sees_the_user_of_each_way_in(way: Way, user: str) -> None:
    seen: list[str | None] = []

    await way(recording(seen), user)

    assert seen == [user]


@pytest.mark.parametrize("way", [pytest.param(way, id=name) for name, way in WAYS.items()] + IN_ROUNDS)
@pytest.mark.parametrize("user", INVALID_USERS, ids=repr)
async def test_an_invalid_user_is_an_error_of_the_host_and_nothing_is_asked(way: Way, user: Any) -> None:
    seen: list[str | None] = []

    with pytest.raises(
        ValueError, match=r"^`user` must be (a string or None|valid Unicode)|^`user` must have 1 to 256"
    ):
        with anyio.fail_after(60):
            await _leaf(way(recording(seen), user))

    assert seen == []


async def _leaf(call: Awaitable[object]) -> object:
    """Raise the only error of a connection without the task groups around it."""
    try:
        return await call
    except Exception as error:
        while len(getattr(error, "exceptions", ())) == 1:
            error = error.exceptions[0]  # type: ignore[attr-defined]
        raise error from None


@pytest.mark.parametrize("user", INVALID_USERS, ids=repr)
async def test_an_adapter_that_passes_an_invalid_user_gets_a_cancel(user: Any) -> None:
    seen: list[str | None] = []

    answer: Any = await _dispatcher(recording(seen), user)

    assert (answer.action, answer.by, seen) == ("cancel", "error", [])


def test_each_adapter_is_in_the_table() -> None:
    from tests.support import ROOT

    modules = {path.stem for path in (ROOT / "mcp_elicit_client" / "hosts").glob("[a-z]*.py")}
    tested = {name.split(",")[0].split()[0].removeprefix("hosts.") for name in WAYS}

    # These need their libraries.
    assert modules - tested == {"acp", "ag2", "ag_ui", "ag_ui_langgraph", "openai_agents"}


@pytest.mark.parametrize("way", [_callback, _langchain, _mcp_agent, _sdk(strands.elicitation_callback)])
async def test_a_function_names_the_user_of_each_request(way: Way) -> None:
    current = contextvars.ContextVar[str]("current")
    seen: list[str | None] = []
    registry = recording(seen)

    for name in ("ann", "bob"):
        current.set(name)
        await way(registry, current.get)

    assert seen == ["ann", "bob"]


@pytest.mark.parametrize(
    "returned", [*INVALID_USERS, LookupError("nobody is signed in"), asyncio.CancelledError()], ids=repr
)
async def test_a_request_whose_user_cannot_be_found_is_cancelled(returned: Any) -> None:
    def user() -> Any:
        if isinstance(returned, BaseException):
            raise returned
        return returned

    seen: list[str | None] = []
    source: UserSource = user

    result: Any = await recording(seen).callback("mail", user=source)(None, PARAMS)

    assert (result.action, seen) == ("cancel", [])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_without_a_user_there_is_one_person(way: Way) -> None:
    seen: list[str | None] = []

    await way(recording(seen), None)

    assert seen == (["another user"] if way is _call else [None])


# --- several users at the same time


async def test_one_registry_asks_two_users_at_the_same_time() -> None:
    inbox = Inbox(MemoryStore())
    registry = ElicitationRegistry()
    registry.on_elicitation(InboxHandler(inbox))
    results: dict[str, Any] = {}

    async def ask(user: str) -> None:
        results[user] = await registry.callback("mail", user=user)(None, PARAMS)

    async with anyio.create_task_group() as group:
        group.start_soon(ask, "ann")
        group.start_soon(ask, "bob")
        (anns,), (bobs,) = await pending(inbox, "ann"), await pending(inbox, "bob")
        await inbox.answer("bob", bobs.id, "accept", {"name": "Bob"})
        await inbox.answer("ann", anns.id, "decline")

    assert (results["ann"].action, results["bob"].content) == ("decline", {"name": "Bob"})


async def test_a_session_without_a_user_gets_nothing_into_an_inbox_of_several() -> None:
    inbox = Inbox(MemoryStore())
    registry = ElicitationRegistry()
    registry.on_elicitation(InboxHandler(inbox))

    result: Any = await registry.callback("mail")(None, PARAMS)

    assert result.action == "cancel"


async def test_a_request_during_the_calls_of_two_users_in_one_session_is_not_assigned_to_either() -> None:
    seen: list[str | None] = []
    both_open = anyio.Event()
    caller = Caller(recording(seen), "mail")
    callback = caller.callback

    async def call(session: Any, user: str) -> None:
        await caller.call_tool(session, "anything", user=user)

    class Session:
        """A server that keeps each call open."""

        def __init__(self) -> None:
            self.calls = 0

        async def call_tool(self, *_arguments: Any, **_options: Any) -> Any:
            self.calls += 1
            if self.calls == 2:
                both_open.set()
            await anyio.sleep_forever()

    session = Session()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(call, session, "ann")
            group.start_soon(call, session, "bob")
            await both_open.wait()
            result: Any = await callback(None, PARAMS)
            group.cancel_scope.cancel()

    assert (result.action, seen) == ("cancel", [])


@pytest.mark.parametrize(("user", "asked"), [("bob", "bob"), (None, None)])
async def test_a_request_belongs_to_a_call_over_its_own_session(
    user: str | None, asked: str | None, tmp_path: Path
) -> None:
    begun = anyio.Event()
    users: list[str | None] = []
    caller = Caller(recording(users), "mail")
    async with (
        in_process(caller, "legacy", lambda _line: begun.set()) as of_ann,
        in_process(caller, "legacy") as other,
    ):
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                call_of_ann = functools.partial(caller.call_tool, user="ann")
                group.start_soon(call_of_ann, of_ann, "slow", {"mark": str(tmp_path / "mark")})
                await begun.wait()
                if user is None:  # a call that is not made by the caller
                    result = await other.call_tool("form", {})
                else:
                    result = await caller.call_tool(other, "form", {}, user=user)
                group.cancel_scope.cancel()

    assert json.loads(result.content[0].text)["got"] == {"action": "accept", "content": NAMED}
    assert users == [asked]


async def test_a_call_of_another_caller_over_the_session_has_its_own_user_and_timeouts() -> None:
    users: list[str | None] = []

    async def hesitate(request: Request) -> Answer:
        users.append(request.user)
        await anyio.sleep_forever()
        return Answer.cancel(by="host")

    connected, other = Caller(hesitate, "mail", user="ann"), Caller(recording([]), "mail", user="bob")
    async with in_process(connected, "legacy") as client:
        with anyio.fail_after(60):
            result: Any = await other.call_tool(client, "form", {}, answer_timeout=0.01)

    assert json.loads(result.content[0].text)["got"] == {"action": "cancel"}
    assert users == ["bob"]


async def test_a_request_for_another_user_than_that_of_the_active_call_is_not_assigned_to_either() -> None:
    seen: list[str | None] = []
    caller = Caller(recording(seen), "mail", user="ann")
    others = elicitation_callback(caller.handler, server="mail", user="bob")

    class Session:
        """A server that sends a request by another way during a call."""

        async def call_tool(self, *_arguments: Any, **_options: Any) -> Any:
            return await others(None, PARAMS)

    session: Any = Session()
    result: Any = await caller.call_tool(session, "anything")

    assert (result.action, seen) == ("cancel", [])


# --- suspended calls


@pytest.mark.rounds
async def test_a_suspended_call_is_stored_with_its_user_and_resumed_for_them() -> None:
    inbox = Inbox(MemoryStore())
    seen: list[str | None] = []
    registry = recording(seen)
    caller, suspend = Caller(registry, "mail"), SuspendOptions(inbox)
    async with in_process(caller, "auto") as client:
        suspended = await caller.call_tool(client, "form", user="ann", suspend=suspend)
        assert isinstance(suspended, SuspendedCall)
        (entry,) = (await inbox.list("ann")).entries
        assert (entry.owner, entry.request["user"]) == ("ann", "ann")
        await inbox.answer("ann", entry.id, "accept", NAMED)
        with pytest.raises(ResumeError, match="has no suspended call"):
            await caller.resume(suspended.id, client, suspend, user="bob")
        with pytest.raises(ValueError, match="without a user"):
            await caller.resume(suspended.id, client, suspend)
        result: Any = await caller.resume(suspended.id, client, suspend, user="ann")

    assert json.loads(result.content[0].text)["got"]["content"] == NAMED
    assert seen == []


@pytest.mark.rounds
async def test_a_call_of_a_conversation_is_resumed_for_its_user_only() -> None:
    inbox = Inbox(MemoryStore())
    caller = Caller(InboxHandler(inbox), "mail")
    options = SuspendOptions(inbox, owner="conversation")
    async with in_process(caller, "auto") as client:
        suspended: Any = await caller.call_tool(client, "form", {}, user="ann", suspend=options)
        await inbox.answer("conversation", suspended.pending_ids[0], "accept", NAMED)
        for user in ("bob", None):
            with pytest.raises(ResumeError) as caught:
                await caller.resume(suspended.id, client, options, user=user)
            assert caught.value.code == "unknown"
        result: Any = await caller.resume(suspended.id, client, options, user="ann")

    assert json.loads(result.content[0].text)["got"]["content"] == NAMED


@pytest.mark.rounds
async def test_the_default_user_resumes_calls_that_were_stored_for_them_by_name() -> None:
    inbox = Inbox(MemoryStore())
    caller = Caller(InboxHandler(inbox), "mail")
    options = SuspendOptions(inbox, default_user="ann")
    async with in_process(caller, "auto") as client:
        suspended: Any = await caller.call_tool(client, "form", {}, user="ann", suspend=options)
        await inbox.answer("ann", suspended.pending_ids[0], "accept", NAMED)
        result: Any = await caller.resume(suspended.id, client, options)

    assert json.loads(result.content[0].text)["got"]["content"] == NAMED


@pytest.mark.rounds
async def test_a_call_without_a_user_is_not_suspended_in_an_inbox_of_several() -> None:
    caller = Caller(recording([]), "mail")
    async with in_process(caller, "auto") as client:
        with pytest.raises(ValueError, match="A call without a user cannot be suspended"):
            await caller.call_tool(client, "form", suspend=SuspendOptions(Inbox(MemoryStore())))
