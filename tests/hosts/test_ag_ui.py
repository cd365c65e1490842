"""AG-UI runs over suspended calls: a front end that knows nothing of MCP answers, in whichever process."""

from __future__ import annotations

import importlib.util
import json
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from trio.testing import MockClock

from mcp_elicit_client import Answer, ElicitationRegistry, Server
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.inbox import Inbox, MemoryStore
from mcp_elicit_client.policies import hooks
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.typing import Policy
from tests.support import skip_or_fail
from tests.support.agui import FrontEnd, Run, agent_process, cancelled, resolved, tool_calls, user_message
from tests.support.inboxes import Clock
from tests.support.inprocess import in_process

try:
    from ag_ui.core import (
        RunAgentInput,
        RunFinishedEvent,
        TextMessageContentEvent,
        ToolCallEndEvent,
        ToolCallStartEvent,
    )
    from ag_ui.encoder import EventEncoder
except ImportError:
    skip_or_fail("ag-ui-protocol is not installed")
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from mcp_elicit_client.hosts._ag_ui_thread import Thread
from mcp_elicit_client.hosts.ag_ui import InterruptBridge, ThreadCalls, result_text

pytestmark = [pytest.mark.anyio, pytest.mark.rounds, pytest.mark.event_loops("asyncio")]

NAME = {"name": "Ann"}
ORIGIN = "/opt/mail/bin/server --token-file /etc/mail"
SECRET = "correct horse battery"


@dataclass
class Endpoint:
    """An AG-UI endpoint whose agent calls tools of a server in this process, and says what they returned."""

    tools: list[str]
    inbox: Inbox
    legacy: bool = False
    policy: Policy | None = None
    seen: list[str] = field(default_factory=list)
    errors: list[str | None] = field(default_factory=list)
    runs: int = 0

    def __post_init__(self) -> None:
        registry = ElicitationRegistry(policy=self.policy)
        registry.on_elicitation(HeadlessHandler())
        self.caller = caller = Caller(registry, Server(name="visitor", origin=ORIGIN))
        mode: Any = "legacy" if self.legacy else "auto"
        self.bridge = InterruptBridge(
            SuspendOptions(self.inbox), {caller: lambda: in_process(caller, mode, self.seen.append)}
        )

    async def agent(self, run_input: RunAgentInput, calls: ThreadCalls) -> AsyncIterator[Any]:
        self.runs += 1
        self.errors += [each.error for each in run_input.messages if each.role == "tool"]
        told = {each.tool_call_id: each.content for each in run_input.messages if each.role == "tool"}
        if not told:
            for number, tool in enumerate(self.tools):
                call_id = f"tool-{number}"
                yield ToolCallStartEvent(tool_call_id=call_id, tool_call_name=tool)
                yield ToolCallEndEvent(tool_call_id=call_id)
                if tool == "raises":
                    raise RuntimeError(SECRET)
                result = await calls.call_tool(self.caller, tool, {}, tool_call_id=call_id)
                if not isinstance(result, SuspendedCall):
                    told[call_id] = result.content[0].text
        if len(told) == len(self.tools):
            yield TextMessageContentEvent(message_id=uuid.uuid4().hex, delta=json.dumps(told))
        yield RunFinishedEvent(thread_id=run_input.thread_id, run_id=run_input.run_id)

    @asynccontextmanager
    async def front_end(self) -> AsyncIterator[FrontEnd]:
        app = FastAPI()

        async def run(run_input: RunAgentInput, request: Request) -> StreamingResponse:
            encoder = EventEncoder()
            catalog = MessageCatalog.for_language(request.headers.get("x-language", "en"))
            user = request.headers.get("x-user", "ann")
            events = self.bridge.run(run_input, self.agent, user=user, messages=catalog)
            lines = (encoder.encode(event) async for event in events)
            return StreamingResponse(lines, media_type=encoder.get_content_type())

        app.add_api_route("/", run, methods=["POST"], response_model=None)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agent") as http:
            yield FrontEnd(http)

    def done(self, tool: str) -> int:
        return len([line for line in self.seen if line.startswith(f"{tool} done")])


@pytest.fixture
def inbox() -> Inbox:
    return Inbox(MemoryStore())


@asynccontextmanager
async def asking(inbox: Inbox, *tools: str) -> AsyncIterator[tuple[FrontEnd, Run]]:
    """Yield the front end of an agent that calls *tools*, and its first run."""
    async with Endpoint([*tools], inbox).front_end() as front:
        yield front, await front.run(text="hello")


def said(run: Any) -> Any:
    return {call: json.loads(text) for call, text in json.loads(run.one("TEXT_MESSAGE_CONTENT")["delta"]).items()}


async def test_a_request_ends_the_run_and_the_next_run_brings_the_answer(inbox: Inbox) -> None:
    endpoint = Endpoint(["form"], inbox)
    async with endpoint.front_end() as front:
        asked = await front.run(text="hello")
        answered = await front.run(resolved(asked.interrupt, NAME))

    assert asked.interrupt["reason"] == "input_required"
    assert asked.interrupt["toolCallId"] == "tool-0"
    assert asked.interrupt["message"].splitlines()[:2] == ["visitor asks for 1 answer", "| Who are you?"]
    assert asked.interrupt["responseSchema"]["required"] == ["name"]
    assert asked.interrupt["expiresAt"].endswith("+00:00")
    assert ORIGIN not in json.dumps(asked.events)
    assert answered.types == ["RUN_STARTED", "TOOL_CALL_RESULT", "TEXT_MESSAGE_CONTENT", "RUN_FINISHED"]
    assert answered.one("TOOL_CALL_RESULT")["toolCallId"] == "tool-0"
    assert said(answered) == {"tool-0": {"got": {"action": "accept", "content": NAME}}}
    assert endpoint.done("form") == 1


@pytest.mark.parametrize(
    ("tool", "entry", "got"),
    [
        ("form", cancelled, {"action": "cancel"}),
        ("form", lambda it: cancelled(it, action="decline"), {"action": "decline"}),
        ("form", lambda it: cancelled(it, action="accept"), {"action": "cancel"}),
        ("url", lambda it: resolved(it, {"approved": True}), {"action": "accept"}),
        ("url", lambda it: resolved(it, {"approved": False}), {"action": "decline"}),
        ("url", cancelled, {"action": "cancel"}),
    ],
)
async def test_each_action_has_its_resume_entry(inbox: Inbox, tool: str, entry: Any, got: Any) -> None:
    async with asking(inbox, tool) as (front, asked):
        answered = await front.run(entry(asked.interrupt))

    assert said(answered) == {"tool-0": {"got": got}}


async def test_all_open_interrupts_of_a_round_are_answered_in_one_resume(inbox: Inbox) -> None:
    async with asking(inbox, "two", "form") as (front, asked):
        first, second, third = asked.interrupts
        partial = await front.run(resolved(first, NAME), resolved(third, NAME))
        twice = await front.run(resolved(first, NAME), resolved(first, NAME), resolved(second, NAME))
        unknown = await front.run(*(resolved(each, NAME) for each in (first, second, {"id": "nope"})))
        answered = await front.run(resolved(first, NAME), cancelled(second), resolved(third, NAME))

    accepted = {"action": "accept", "content": NAME}
    assert [each["toolCallId"] for each in asked.interrupts] == ["tool-0", "tool-0", "tool-1"]
    assert [partial.error, twice.error, unknown.error] == [
        "INCOMPLETE_RESUME",
        "INCOMPLETE_RESUME",
        "UNKNOWN_INTERRUPT",
    ]
    assert said(answered) == {"tool-0": {"got": [accepted, {"action": "cancel"}]}, "tool-1": {"got": accepted}}


async def test_further_rounds_of_a_call_are_further_interrupts(inbox: Inbox) -> None:
    endpoint = Endpoint(["twice"], inbox)
    async with endpoint.front_end() as front:
        first = await front.run(text="hello")
        second = await front.run(resolved(first.interrupt, NAME))
        replayed = await front.run(resolved(first.interrupt, NAME))
        answered = await front.run(resolved(second.interrupt, NAME))

    assert "| Second?" in second.interrupt["message"]
    assert second.types == ["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    assert replayed.interrupt == second.interrupt
    assert replayed.interrupt["toolCallId"] == "tool-0"
    assert len(said(answered)["tool-0"]["got"]) == 2
    assert endpoint.runs == 2


async def test_a_replayed_resume_calls_nothing_again(inbox: Inbox) -> None:
    endpoint = Endpoint(["form"], inbox)
    async with endpoint.front_end() as front:
        asked = await front.run(text="hello")
        await front.run(resolved(asked.interrupt, NAME))
        replayed = await front.run(resolved(asked.interrupt, NAME))
        changed = await front.run(cancelled(asked.interrupt))

    assert replayed.types == ["RUN_STARTED", "RUN_FINISHED"]
    assert replayed.interrupts == []
    assert changed.error == "ALREADY_RESUMED"
    assert (endpoint.done("form"), endpoint.runs) == (1, 2)


async def test_an_answer_whose_run_was_lost_is_sent_when_it_is_repeated(inbox: Inbox) -> None:
    async with asking(inbox, "form") as (front, asked):
        (entry,) = await _all_entries(inbox, front)
        await inbox.answer(entry.owner, entry.id, "accept", NAME)  # and the process ends before it resumes the call
        answered = await front.run(resolved(asked.interrupt, NAME))

    assert said(answered) == {"tool-0": {"got": {"action": "accept", "content": NAME}}}


async def test_a_call_of_a_server_that_was_removed_is_resumed_once_it_is_back(
    inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint = Endpoint(["form"], inbox)
    bridge, without = endpoint.bridge, InterruptBridge(SuspendOptions(inbox), {})
    async with endpoint.front_end() as front:
        asked = await front.run(text="hello")
        endpoint.bridge = without
        refused = await front.run(resolved(asked.interrupt, NAME))
        endpoint.bridge = bridge
        answered = await front.run(resolved(asked.interrupt, NAME))

    assert refused.error == "RESUME_FAILED"
    assert "`connections` has no caller for it" in caplog.text
    assert said(answered) == {"tool-0": {"got": {"action": "accept", "content": NAME}}}


@pytest.mark.parametrize(
    ("tool", "error"), [("form", None), ("refuse", '{"error": "fully booked"}'), ("fail", "The call failed.")]
)
async def test_a_resumed_call_that_failed_is_an_error_for_the_agent(inbox: Inbox, tool: str, error: str | None) -> None:
    endpoint = Endpoint([tool], inbox)
    async with endpoint.front_end() as front:
        asked = await front.run(text="hello")
        answered = await front.run(resolved(asked.interrupt, NAME))

    assert endpoint.errors == [error]
    assert error is None or answered.one("TOOL_CALL_RESULT")["content"] == error


@pytest.mark.parametrize("anyio_backend", [("trio", {"clock": MockClock(autojump_threshold=0.01)})])
async def test_a_user_who_does_not_come_back_from_a_url_is_an_error_for_the_agent(inbox: Inbox) -> None:
    endpoint = Endpoint(["signs_in"], inbox)
    async with endpoint.front_end() as front:
        asked = await front.run(text="hello")
        await front.run(resolved(asked.interrupt, {"approved": True}))

    assert endpoint.errors == ["The user did not finish in time. Call the tool again if the user wants to go on."]


@pytest.mark.parametrize("anyio_backend", [("trio", {"clock": MockClock(autojump_threshold=0.01)})])
async def test_a_call_that_only_waits_after_the_consent_of_a_policy_fails(inbox: Inbox) -> None:
    async def consent(_request: Any) -> Answer:
        return Answer.accept(by="policy")

    endpoint = Endpoint(["signs_in"], inbox, policy=hooks(before=consent))
    async with endpoint.front_end() as front:
        failed = await front.run(text="hello")

    assert failed.error is not None


async def _all_entries(inbox: Inbox, front: FrontEnd, user: str = "ann") -> Any:
    from mcp_elicit_client.hosts._ag_ui_thread import Thread

    return await Thread(SuspendOptions(inbox), user, front.thread).open_entries()


async def test_while_interrupts_are_open_another_message_repeats_them(inbox: Inbox) -> None:
    endpoint = Endpoint(["form"], inbox)
    async with endpoint.front_end() as front:
        asked = await front.run(text="hello")
        again = await front.run(text="what?")

    assert again.interrupt == asked.interrupt
    assert endpoint.runs == 1


async def test_interrupts_and_errors_are_in_the_language_of_the_user(inbox: Inbox) -> None:
    endpoint = Endpoint(["form"], inbox)
    async with endpoint.front_end() as english:
        front = replace(english, headers=(("x-language", "de"),))
        asked = await front.run(text="hello")
        refused = await front.run(resolved(asked.interrupt, {}))

    assert asked.interrupt["message"].splitlines()[0] == "visitor bittet um 1 Antwort"
    assert refused.one("RUN_ERROR")["message"] == "| name\nDieses Feld ist erforderlich."


@pytest.mark.parametrize("payload", [None, "Ann", [], {"name": 3, "x": SECRET}, {}])
async def test_an_invalid_payload_answers_nothing_and_is_not_quoted(inbox: Inbox, payload: Any) -> None:
    async with asking(inbox, "form") as (front, asked):
        refused = await front.run(resolved(asked.interrupt, payload))
        answered = await front.run(resolved(asked.interrupt, NAME))

    assert refused.error == "INVALID_PAYLOAD"
    assert SECRET not in json.dumps(refused.events)
    assert said(answered) == {"tool-0": {"got": {"action": "accept", "content": NAME}}}


@pytest.mark.parametrize("payload", [None, {}, {"approved": "yes"}, {"approved": 1}, True])
async def test_only_true_approves(inbox: Inbox, payload: Any) -> None:
    async with asking(inbox, "url") as (front, asked):
        refused = await front.run(resolved(asked.interrupt, payload))

    assert refused.error == "INVALID_PAYLOAD"


async def test_another_user_or_thread_can_neither_see_nor_answer(inbox: Inbox) -> None:
    async with asking(inbox, "form") as (front, asked):
        bob = replace(front, headers=(("x-user", "bob"),))
        other = replace(front, thread="thread-2")
        refused = [await each.run(resolved(asked.interrupt, NAME)) for each in (bob, other)]
        fresh = await bob.run(text="hello")

    assert [each.error for each in refused] == ["UNKNOWN_INTERRUPT"] * 2
    assert fresh.interrupt["id"] != asked.interrupt["id"]


async def test_an_expired_interrupt_is_refused_and_the_thread_continues() -> None:
    clock = Clock()
    endpoint = Endpoint(["form"], Inbox(MemoryStore(clock=clock)))
    async with endpoint.front_end() as front:
        asked = await front.run(text="hello")
        clock.ahead = 600
        late = await front.run(resolved(asked.interrupt, NAME))
        again = await front.run(text="hello")

    assert late.error == "INTERRUPT_EXPIRED"
    assert again.interrupt["id"] != asked.interrupt["id"]


async def test_a_request_for_hidden_text_is_cancelled_and_never_sent_to_the_front_end(inbox: Inbox) -> None:
    async with asking(inbox, "password") as (front, asked):
        answered = await front.run(resolved(asked.interrupt, NAME))

    assert asked.interrupt["message"].splitlines()[1] == "| Who are you?"
    assert "Your password" not in json.dumps(asked.events)
    assert said(answered)["tool-0"]["got"] == {
        "a": {"action": "accept", "content": NAME},
        "b": {"action": "cancel"},
    }


async def test_a_request_for_hidden_text_is_not_shown_after_its_run_was_lost(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lose(*_: Any) -> Any:
        raise RuntimeError("the process was stopped")

    endpoint = Endpoint(["password"], inbox)
    async with endpoint.front_end() as front:
        with monkeypatch.context() as patched:
            patched.setattr(Thread, "settle", lose)
            assert (await front.run(text="hello")).error == "RUN_FAILED"
        asked = await front.run(text="hello again")

    assert asked.interrupt["message"].splitlines()[1] == "| Who are you?"
    assert "Your password" not in json.dumps(asked.events)


async def test_exceptions_of_the_agent_are_not_quoted(inbox: Inbox) -> None:
    endpoint = Endpoint(["raises"], inbox)
    async with endpoint.front_end() as front:
        run = await front.run(text="hello")

    assert run.error == "RUN_FAILED"
    assert SECRET not in json.dumps(run.events)


async def test_a_run_that_its_reader_leaves_ends_the_agent_at_once_in_the_same_task(inbox: Inbox) -> None:
    tasks: list[Any] = []

    async def agent(_run_input: RunAgentInput, _calls: ThreadCalls) -> AsyncIterator[Any]:
        with anyio.CancelScope():  # can be left only in the task that entered it
            try:
                yield TextMessageContentEvent(message_id="m1", delta="hello")
            finally:
                tasks.append(anyio.get_current_task())

    run_input = RunAgentInput(
        thread_id="t", run_id="r", state={}, messages=[], tools=[], context=[], forwarded_props={}
    )
    run: Any = Endpoint([], inbox).bridge.run(run_input, agent, user="ann")
    async for event in run:
        if event.type == "TEXT_MESSAGE_CONTENT":
            break
    await run.aclose()

    assert tasks == [anyio.get_current_task()]


async def test_servers_that_cannot_be_suspended_get_a_cancel_at_once(inbox: Inbox) -> None:
    endpoint = Endpoint(["form"], inbox, legacy=True)
    async with endpoint.front_end() as front:
        run = await front.run(text="hello")

    assert run.interrupts == []
    assert said(run) == {"tool-0": {"got": {"action": "cancel"}}}


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 11), reason="Pydantic AI 2 needs Python 3.11")
async def test_the_process_of_a_framework_is_replaced_between_interrupt_and_resume(tmp_path: Path) -> None:
    if importlib.util.find_spec("pydantic_ai") is None:
        skip_or_fail("pydantic-ai-slim is not installed")
    question = user_message("Book a table")
    async with httpx.AsyncClient() as http:
        with agent_process("web_agent_pydantic_ai", tmp_path / "inbox.db") as url:
            asked = await FrontEnd(http, url).run(history=[question])
        form = asked.interrupt["responseSchema"]["properties"]
        defaults = {name: each["default"] for name, each in form.items() if "default" in each}
        answer = resolved(asked.interrupt, {**defaults, "guests": 5})
        with agent_process("web_agent_pydantic_ai", tmp_path / "inbox.db") as url:
            front = FrontEnd(http, url)
            answered = await front.run(answer, history=[question, tool_calls(asked)])
            replayed = await front.run(answer, history=[question, tool_calls(asked)])

    text = "".join(each["delta"] for each in answered.events if each["type"] == "TEXT_MESSAGE_CONTENT")
    assert asked.interrupt["toolCallId"] == tool_calls(asked)["toolCalls"][0]["id"]
    assert "guests" in answered.one("TOOL_CALL_RESULT")["content"]
    assert "guests" in text  # the model has got the result
    assert "TOOL_CALL_START" not in answered.types
    assert replayed.types == ["RUN_STARTED", "RUN_FINISHED"]


def test_two_servers_of_a_bridge_cannot_have_the_same_name(inbox: Inbox) -> None:
    first, second = (Endpoint([], inbox).caller for _ in range(2))

    with pytest.raises(ValueError, match="same server name"):
        InterruptBridge(SuspendOptions(inbox), dict.fromkeys((first, second), lambda: first.connect("x")))


def test_wrong_arguments_of_a_bridge_are_refused_when_it_is_created(inbox: Inbox) -> None:
    caller = Endpoint([], inbox).caller
    suspend: Any = SuspendOptions(inbox)
    wrong: list[tuple[Any, Any, str]] = [
        (inbox, {caller: lambda: caller.connect("x")}, "`suspend` must be SuspendOptions, not Inbox"),
        (suspend, caller, "`connections` must be Mapping, not Caller. Pass {caller: "),
        (suspend, {"visitor": lambda: caller.connect("x")}, "`connections` must be Caller, not str. Pass {caller: "),
        (suspend, {caller: "http://127.0.0.1/mcp"}, "`connections` must be a function"),
    ]
    for options, connections, error in wrong:
        with pytest.raises(TypeError, match=error):
            InterruptBridge(options, connections)


async def test_wrong_arguments_of_a_run_are_errors_of_the_host(inbox: Inbox) -> None:
    endpoint, run_input = Endpoint([], inbox), Any

    async def without_events(_run_input: Any, _calls: Any) -> None:
        pass

    wrong: list[tuple[Any, Any, str]] = [
        (None, "ann", "`agent` must be a function"),
        (without_events, "ann", "`agent` must not be async"),
        (endpoint.agent, None, "`user` must be str, not NoneType"),
    ]
    for agent, user, error in wrong:
        with pytest.raises(TypeError, match=error):
            await anext(endpoint.bridge.run(run_input, agent, user=user))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`messages` must be MessageCatalog, not str"):
        await anext(endpoint.bridge.run(run_input, endpoint.agent, user="ann", messages="de"))  # type: ignore[arg-type]


def test_a_suspended_call_is_no_text_for_the_model() -> None:
    suspended = SuspendedCall(id="1", request_ids=(), pending_ids=(), expires_at=datetime.now(timezone.utc))
    with pytest.raises(TypeError, match=r"not SuspendedCall\. After a SuspendedCall, end the run"):
        result_text(suspended)


async def test_a_call_with_a_caller_that_the_bridge_does_not_have_names_the_fix(inbox: Inbox) -> None:
    endpoint, other = Endpoint(["form"], inbox), Endpoint(["form"], inbox)
    calls = ThreadCalls(endpoint.bridge._connections, SuspendOptions(inbox), "ann", "thread-1")

    with pytest.raises(ValueError, match="Add it to `connections`"):
        await calls.call_tool(other.caller, "form", {}, tool_call_id="tool-0")


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ag_ui.core", None)
    monkeypatch.delitem(sys.modules, "mcp_elicit_client.hosts.ag_ui")

    with pytest.raises(MissingExtraError, match=r"mcp-elicit-client\[agui\]"):
        importlib.import_module("mcp_elicit_client.hosts.ag_ui")
