"""LangGraph: questions as interrupts, answers as what a graph is resumed with, in whichever process."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypedDict

import anyio
import anyio.lowlevel
import mcp
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Interrupt, Send

from mcp_elicit_client import Answer, ElicitationRegistry, parse_request
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import ConnectMode
from mcp_elicit_client.exceptions import CallError, MissingExtraError, RequestStateRejectedError
from mcp_elicit_client.handlers.langgraph import InterruptHandler, durable, resume_value
from mcp_elicit_client.presentation.catalog import MessageCatalog
from tests.support import ROOT, read_line, until
from tests.support.inprocess import in_process

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.event_loops("asyncio"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="on Python 3.10, LangGraph cannot interrupt async nodes"),
]

ERAS = [pytest.param("legacy", id="pushed"), pytest.param("auto", id="rounds", marks=pytest.mark.rounds)]
CONFIG: Any = {"configurable": {"thread_id": "ann"}}
NAME = {"name": "Ann"}


class State(TypedDict, total=False):
    tool: str
    told: Any


class Graph:
    """A graph of one node that calls one tool of a server in this process."""

    def __init__(self, client: Any, caller: Caller, ask: InterruptHandler) -> None:
        self.runs = 0

        async def call(state: State) -> State:
            self.runs += 1
            result: Any = await caller.call_tool(client, state["tool"], {})
            return {"told": json.loads(result.content[0].text)}

        self.graph = build(ask.node(call))
        self.ask = ask

    async def start(self, tool: str) -> Any:
        return await self._go({"tool": tool})

    async def resume(self, value: Any) -> Any:
        return await self._go(Command(resume=value))

    async def _go(self, what: Any) -> Any:
        """Return the request that interrupts the graph; otherwise the result of the tool."""
        with anyio.fail_after(60):
            state = await self.graph.ainvoke(what, CONFIG)
        return state["__interrupt__"][0].value if "__interrupt__" in state else state["told"]


def build(node: Any, checkpointer: Any = None) -> Any:
    builder = StateGraph(State)
    builder.add_node("call", node)
    builder.add_edge(START, "call")
    builder.add_edge("call", END)
    return builder.compile(checkpointer=checkpointer or InMemorySaver())


@asynccontextmanager
async def graph(
    era: ConnectMode, seen: Callable[[str], None] = lambda _: None, *, remember: bool = False, **options: Any
) -> AsyncIterator[Graph]:
    ask = InterruptHandler(**options)
    registry = ElicitationRegistry()
    registry.on_elicitation(ask)
    caller = Caller(registry, "visitor")
    async with in_process(caller, era, seen) as client:
        yield Graph(durable(client) if remember else client, caller, ask)


# --- a request and its answer


@pytest.mark.parametrize("era", ERAS)
async def test_a_request_interrupts_the_graph_and_its_answer_resumes_it(era: ConnectMode) -> None:
    seen: list[str] = []
    async with graph(era, seen.append) as each:
        question = await each.start("form")
        told = await each.resume(resume_value(question, "accept", NAME))

    assert question["type"] == "elicitation.asked"
    assert question["request"]["message"] == "Who are you?"
    assert question["request"]["server"]["name"] == "visitor"
    assert question["answer_schema"]["required"] == ["name"]
    assert question["problem"] == ""
    assert json.loads(json.dumps(question)) == question
    assert told == {"got": {"action": "accept", "content": NAME}}
    assert len([line for line in seen if line.startswith("form done")]) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_an_interrupt_has_no_deadline_since_its_graph_can_be_resumed_at_any_time(era: ConnectMode) -> None:
    async with graph(era) as each:
        request = (await each.start("form"))["request"]

    assert (request["deadline"], request["max_deadline"]) == (None, None)


@pytest.mark.parametrize("era", ERAS)
async def test_what_happened_before_a_request_is_repeated_when_its_answer_resumes_the_graph(era: ConnectMode) -> None:
    seen: list[str] = []
    async with graph(era, seen.append) as each:
        first = await each.start("twice")
        second = await each.resume(resume_value(first, "accept", NAME))
        told = await each.resume(resume_value(second, "decline"))

    assert [first["request"]["message"], second["request"]["message"]] == ["First?", "Second?"]
    assert told == {"got": [{"action": "accept", "content": NAME}, {"action": "decline"}]}
    assert seen.count("twice") == 3
    assert seen.count("twice done") == 1


@pytest.mark.rounds
async def test_from_2026_07_28_a_durable_call_is_made_once() -> None:
    seen: list[str] = []
    async with graph("auto", seen.append, remember=True) as each:
        first = await each.start("twice")
        second = await each.resume(resume_value(first, "accept", NAME))
        told = await each.resume(resume_value(second, "decline"))

    assert told == {"got": [{"action": "accept", "content": NAME}, {"action": "decline"}]}
    assert each.runs == 3
    assert [line.partition("{")[0].strip() for line in seen] == ["twice", "twice", "twice", "twice done"]
    assert [json.loads(line[5:])["q"]["action"] for line in seen if "{" in line] == ["accept", "decline"]


async def test_until_2025_11_25_durable_calls_are_repeated() -> None:
    seen: list[str] = []
    async with graph("legacy", seen.append, remember=True) as each:
        question = await each.start("form")
        told = await each.resume(resume_value(question, "accept", NAME))

    assert told == {"got": {"action": "accept", "content": NAME}}
    assert (seen.count("form"), seen.count("form done")) == (2, 1)


@pytest.mark.rounds
async def test_a_durable_call_whose_state_the_server_rejects_can_be_made_again_in_the_node() -> None:
    from tests.servers import airline

    before, restarted = airline.build(), airline.build()  # each with its own key
    ask = InterruptHandler()
    caller = Caller(ask, "airline")
    servers = iter([before, restarted, restarted, restarted])

    async def call(_state: State) -> State:
        async with caller.client(next(servers)) as client:
            book: Any = functools.partial(caller.call_tool, durable(client), "book", {"day": "Monday"})
            try:
                result = await book()
            except RequestStateRejectedError:
                result = await book()
        return {"told": result.content[0].text}

    each = build(ask.node(call))
    state = await each.ainvoke({}, CONFIG)
    for content in [{"city": "Bonn"}, {"city": "Bern"}, {"place": "aisle"}]:
        question = state["__interrupt__"][0].value
        state = await each.ainvoke(Command(resume=resume_value(question, "accept", content)), CONFIG)

    assert state["told"] == f"Monday: Bern, aisle, {len(airline.booked)} booked"


@pytest.mark.rounds
async def test_a_stored_result_is_not_used_for_another_call() -> None:
    ask = InterruptHandler()
    caller = Caller(ask, "visitor")
    tools = iter(["form", "echo"])
    async with in_process(caller, "auto") as client:

        async def call(_state: State) -> State:
            await caller.call_tool(durable(client), next(tools), {})
            return {}

        each = build(ask.node(call))
        question = (await each.ainvoke({}, CONFIG))["__interrupt__"][0].value
        with pytest.raises(CallError, match="another call"):
            await each.ainvoke(Command(resume=resume_value(question, "accept", NAME)), CONFIG)


class Named:
    """A session with a server that tells its name."""

    protocol_version = "2026-07-28"

    def __init__(self, name: str) -> None:
        self.server_info = SimpleNamespace(name=name)

    async def call_tool(self, _name: str, _arguments: Any) -> Any:
        content = [{"type": "text", "text": self.server_info.name}]
        return mcp.types.CallToolResult.model_validate({"content": content})


@pytest.mark.rounds
@pytest.mark.parametrize("servers", [[("mail", None), ("files", None)], [("mail", "ann's"), ("mail", "bob's")]])
async def test_a_stored_result_is_not_used_for_another_server(servers: Any) -> None:
    ask = InterruptHandler()
    called = iter(servers)

    async def call(_state: State) -> State:
        reported, server = next(called)
        result = await durable(Named(reported), server).call_tool("who", {})
        await ask(parse_request({"message": "m"}, server="mail", protocol_version="2026-07-28"))
        return {"told": result.content[0].text}

    each = build(ask.node(call))
    question = (await each.ainvoke({}, CONFIG))["__interrupt__"][0].value
    with pytest.raises(CallError, match="another call"):
        await each.ainvoke(Command(resume=resume_value(question, "accept")), CONFIG)


@pytest.mark.rounds
async def test_an_error_of_the_server_is_raised_unchanged() -> None:
    async with graph("auto", remember=True) as each:
        with pytest.raises(getattr(mcp, "MCPError")):  # noqa: B009 -- mcp 1.x has none
            await each.start("malformed")


@pytest.mark.rounds
async def test_requests_of_one_round_are_asked_one_at_a_time() -> None:
    async with graph("auto") as each:
        first = await each.start("two")
        second = await each.resume(resume_value(first, "accept", NAME))
        told = await each.resume(resume_value(second, "cancel"))

    assert [each["request"]["batch_position"] for each in (first, second)] == [
        {"number": 1, "total": 2},
        {"number": 2, "total": 2},
    ]
    assert told == {"got": [{"action": "accept", "content": NAME}, {"action": "cancel"}]}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_url_is_answered_without_content(era: ConnectMode, action: Any) -> None:
    async with graph(era) as each:
        question = await each.start("url")
        told = await each.resume(resume_value(question, action, {"x": "y"}))

    assert question["answer_schema"] is None
    assert question["request"]["target"]["host"] == "login.example.com"
    assert told == {"got": {"action": action}}


async def test_the_server_is_notified_of_the_cancelled_call() -> None:
    seen: list[str] = []
    async with graph("legacy", seen.append) as each:
        await each.start("form")
        await until(lambda: any("ended by" in line for line in seen))

    assert not [line for line in seen if line.startswith("answer accept") or line == "form done"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_serves_the_next_call_after_an_interrupt(era: ConnectMode) -> None:
    async with graph(era) as each:
        await each.start("form")
        assert (await each.start("form"))["problem"] == ""


@pytest.mark.parametrize(
    "messages",
    [
        MessageCatalog.for_language("de"),
        lambda config: MessageCatalog.for_language({"ann": "de"}[config["configurable"]["thread_id"]]),
    ],
)
async def test_interrupts_are_in_the_language_of_the_user(messages: Any) -> None:
    async with graph("legacy", messages=messages) as each:
        first = await each.start("form")
        again = await each.resume(resume_value(first, "accept", {}))

    assert first["message"].splitlines()[0] == "visitor bittet um 1 Antwort"
    assert again["problem"] == "| name\nDieses Feld ist erforderlich."


# --- invalid answers


async def test_a_malformed_resume_value_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with graph("legacy") as each:
        again = await each.start("form")
        for _ in range(3):
            again = await each.resume({**resume_value(again, "accept", NAME), "action": "agree"})
        await each.resume(resume_value(again, "accept", NAME))

    assert [line for line in caplog.messages if "resumed with an invalid value" in line] == [
        "a graph was resumed with an invalid value. Make it with `resume_value`."
    ] * 3


NOT_ITS_ANSWER = "The answer was not for this request. Answer this one."
NO_OBJECT = "The answer must be an object with one member for each field."
NO_VALUE = "| name\nEnter text, a number, yes or no, or a list of texts."
LIES: dict[str, tuple[Callable[[str], Any], str]] = {
    "yes": (lambda _: "yes", NOT_ITS_ANSWER),
    "true": (lambda _: True, NOT_ITS_ANSWER),
    "a-list": (lambda _: [1], NOT_ITS_ANSWER),
    "no-question": (lambda _: {"action": "accept", "content": NAME}, NOT_ITS_ANSWER),
    "another-question": (lambda _: {"question": "0" * 32, "action": "accept", "content": NAME}, NOT_ITS_ANSWER),
    "no-action": (lambda question: {"question": question, "content": NAME}, NOT_ITS_ANSWER),
    "another-action": (lambda question: {"question": question, "action": "yes", "content": NAME}, NOT_ITS_ANSWER),
    "content-is-a-text": (lambda question: accept(question, "Ann"), NO_OBJECT),
    "content-is-a-list": (lambda question: accept(question, ["Ann"]), NO_OBJECT),
    "content-is-nested": (lambda question: accept(question, {"name": {"a": 1}}), NO_VALUE),
    "misfit": (lambda question: accept(question, {"name": 1}), "| name\nEnter text."),
    "nothing": (lambda question: accept(question, None), "| name\nThis field is required."),
}


def accept(question: str, content: Any) -> dict[str, Any]:
    return {"question": question, "action": "accept", "content": content}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("case", LIES.values(), ids=LIES)
async def test_an_invalid_resume_value_repeats_the_request_and_says_why(
    era: ConnectMode, case: tuple[Callable[[str], Any], str]
) -> None:
    lie, problem = case
    async with graph(era) as each:
        first = await each.start("form")
        again = await each.resume(lie(first["question"]))
        told = await each.resume(resume_value(again, "accept", NAME))

    assert again["problem"] == problem
    assert again["question"] == first["question"]
    assert told == {"got": {"action": "accept", "content": NAME}}


@pytest.mark.parametrize("era", ERAS)
async def test_a_changed_request_after_the_interrupt_does_not_get_the_answer(era: ConnectMode) -> None:
    ask = InterruptHandler()
    registry = ElicitationRegistry()
    registry.on_elicitation(ask)
    questions = iter(["Read the file?", "Delete the file?", "Delete the file?"])
    protocol = "2026-07-28" if era == "auto" else "2025-11-25"
    answers: list[Answer] = []

    async def call(_state: State) -> State:
        request = parse_request({"message": next(questions)}, server="files", protocol_version=protocol)
        answers.append(await registry(request))
        return {"told": answers[-1].action}

    each = build(ask.node(call))
    asked = (await each.ainvoke({}, CONFIG))["__interrupt__"][0].value
    again = (await each.ainvoke(Command(resume=resume_value(asked, "accept")), CONFIG))["__interrupt__"][0].value
    told = await each.ainvoke(Command(resume=resume_value(again, "decline")), CONFIG)

    assert again["request"]["message"] == "Delete the file?"
    assert again["problem"] == "The answer was not for this request. Answer this one."
    assert told["told"] == "decline"


@pytest.mark.parametrize("can_block", [True, False])
async def test_a_block_applies_only_if_the_request_allows_it(can_block: bool) -> None:
    ask = InterruptHandler()
    request = parse_request({"message": "Go on?"}, server="mail").model_copy(update={"can_block": can_block})

    async def call(_state: State) -> State:
        return {"told": (await ask(request)).block_server}

    each = build(ask.node(call))
    question = (await each.ainvoke({}, CONFIG))["__interrupt__"][0].value
    told = await each.ainvoke(Command(resume=resume_value(question, "decline", block_server=True)), CONFIG)

    assert told["told"] is can_block


# --- the node of a request


async def test_a_request_outside_of_a_node_is_cancelled() -> None:
    answer = await InterruptHandler()(parse_request({"message": "m"}, server="mail"))

    assert (answer.action, answer.by) == ("cancel", "unattended")


async def test_a_node_does_not_run_outside_of_a_graph() -> None:
    async def call() -> None:
        raise AssertionError

    with pytest.raises(RuntimeError, match=r"does not run in a node of a graph, .* Invoke the graph\."):
        await InterruptHandler().run(call)


def test_a_node_that_is_not_async_is_refused() -> None:
    def node(_state: State) -> State:
        return {}

    with pytest.raises(TypeError, match=r"`node` is not async\. Define the node"):
        InterruptHandler().node(node)  # type: ignore[arg-type]


def test_an_unknown_action_is_refused_before_the_graph_is_resumed() -> None:
    with pytest.raises(ValueError, match="`action` must be accept, decline or cancel, not 'accepted'"):
        resume_value({"question": "0" * 32}, "accepted")  # type: ignore[arg-type]


@pytest.mark.parametrize("question", [Interrupt({"question": "0" * 32}), "0" * 32])
def test_an_interrupt_in_place_of_its_value_is_refused(question: Any) -> None:
    with pytest.raises(TypeError, match=r"`question` must be Mapping, .* such as `interrupt\.value`"):
        resume_value(question, "decline")


async def test_a_call_that_was_already_made_is_refused() -> None:
    async def call() -> None:
        pass

    made = call()
    with pytest.raises(TypeError, match=r"`call` must be a function, .* Pass a function that makes the call"):
        await InterruptHandler().run(made)  # type: ignore[arg-type]
    made.close()


@pytest.mark.parametrize("client", [Caller(InterruptHandler(), "visitor"), None])
def test_something_else_than_a_client_cannot_be_durable(client: Any) -> None:
    with pytest.raises(TypeError, match="`client` must be an object with the method `call_tool`"):
        durable(client)


async def test_an_exception_of_a_node_is_raised_unchanged() -> None:
    async def call(_state: State) -> State:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await build(InterruptHandler().node(call)).ainvoke({}, CONFIG)


@pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])
async def test_a_run_inside_of_a_node_gets_the_requests_of_its_call(protocol: str) -> None:
    ask = InterruptHandler()

    async def call() -> Answer:
        return await ask(parse_request({"message": "?"}, server="mail", protocol_version=protocol))

    async def node(_state: State) -> State:
        return {"told": (await ask.run(call, tool_call_id="7")).action}

    each = build(ask.node(node))
    question = (await each.ainvoke({}, CONFIG))["__interrupt__"][0].value
    assert question["toolCallId"] == "7"
    assert (await each.ainvoke(Command(resume=resume_value(question, "decline")), CONFIG))["told"] == "decline"


class Many(TypedDict, total=False):
    number: int


class Meeting:
    """A point at which two tasks wait for each other."""

    def __init__(self) -> None:
        self.here = 0
        self.both = anyio.Event()

    async def wait(self) -> None:
        self.here += 1
        if self.here == 2:
            self.both.set()
        await self.both.wait()


@pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])
async def test_concurrent_nodes_get_their_own_requests_or_none(protocol: str) -> None:
    ask = InterruptHandler()
    answers: dict[int, Answer] = {}
    before, after = Meeting(), Meeting()

    async def call(state: Many) -> Many:
        number = state["number"]
        await before.wait()
        answers[number] = await ask(parse_request({"message": f"{number}?"}, server="mail", protocol_version=protocol))
        await after.wait()
        return {}

    builder = StateGraph(Many)
    builder.add_node("call", ask.node(call))
    builder.add_conditional_edges(START, lambda _: [Send("call", {"number": 1}), Send("call", {"number": 2})])
    each = builder.compile(checkpointer=InMemorySaver())
    state = await each.ainvoke({}, CONFIG)
    questions = (state or {}).get("__interrupt__", ())
    resume = {
        question.id: resume_value(
            question.value, "accept" if "1?" in question.value["request"]["message"] else "decline"
        )
        for question in questions
    }
    if resume:
        await each.ainvoke(Command(resume=resume), CONFIG)

    if protocol == "2025-11-25":
        assert not resume
        assert {answer.by for answer in answers.values()} == {"unattended"}
    else:
        assert len(resume) == 2
        assert {number: answer.action for number, answer in answers.items()} == {1: "accept", 2: "decline"}


@pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])
async def test_the_runs_of_several_users_get_the_requests_of_their_user(protocol: str) -> None:
    from langgraph.config import get_config

    ask = InterruptHandler(user=lambda config: config["configurable"]["user"])
    before = Meeting()

    async def call(_state: State) -> State:
        user = get_config()["configurable"]["user"]
        await before.wait()
        asked = parse_request({"message": f"{user}?"}, server="mail", user=user, protocol_version=protocol)
        return {"told": (user, (await ask(asked)).action)}

    each = build(ask.node(call))
    told: dict[str, Any] = {}

    async def run(user: str, action: Any) -> None:
        config: Any = {"configurable": {"thread_id": user, "user": user}}
        question = (await each.ainvoke({}, config))["__interrupt__"][0].value
        assert question["request"]["message"] == f"{user}?"
        told[user] = (await each.ainvoke(Command(resume=resume_value(question, action)), config))["told"]

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(run, "ann", "accept")
            group.start_soon(run, "bob", "decline")

    assert told == {"ann": ("ann", "accept"), "bob": ("bob", "decline")}


@pytest.mark.parametrize("shared", [False, True])
async def test_concurrent_runs_get_the_requests_of_their_own_session_or_none(shared: bool) -> None:
    ask = InterruptHandler()
    caller = Caller(ask, "visitor")
    before = Meeting()
    reports: list[dict[str, Any]] = []

    async with in_process(caller, "legacy") as client:

        async def call(state: State) -> State:
            await before.wait()
            if shared:
                result: Any = await caller.call_tool(client, state["tool"], {})
            else:
                async with in_process(caller, "legacy") as own:
                    result = await caller.call_tool(own, state["tool"], {})
            return {"told": json.loads(result.content[0].text)}

        each = build(ask.node(call))

        async def run(tool: str) -> None:
            reports.append(await each.ainvoke({"tool": tool}, {"configurable": {"thread_id": tool}}))

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(run, "form")
                group.start_soon(run, "url")

    if shared:
        assert not any("__interrupt__" in report for report in reports)
    else:
        asked = {report["tool"]: report["__interrupt__"][0].value["request"]["message"] for report in reports}
        assert asked == {"form": "Who are you?", "url": "Please sign in"}


async def test_a_request_of_another_user_does_not_interrupt_a_run() -> None:
    ask = InterruptHandler(user=lambda config: config["configurable"]["user"])

    async def call(_state: State) -> State:
        return {"told": [(await ask(parse_request({"message": "m"}, user=user))).by for user in ("bob", None)]}

    config: Any = {"configurable": {"thread_id": "1", "user": "ann"}}
    state = await build(ask.node(call)).ainvoke({}, config)

    assert state["told"] == ["unattended", "unattended"]


# --- other processes


def agent(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(ROOT / "examples" / "langgraph_agent.py"), str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_killed_agent_continues_in_another_process(tmp_path: Path) -> None:
    asked = []
    for _ in range(2):
        with agent(tmp_path / "agent.db") as process:
            asked.append(json.loads(read_line(process)))
            process.kill()
    fields = asked[0]["request"]["form"]["fields"]
    content = {field["name"]: field["default"] for field in fields if field["default"] is not None}
    with agent(tmp_path / "agent.db") as process:
        out, _ = process.communicate(json.dumps({"action": "accept", "content": {**content, "guests": 5}}) + "\n", 60)

    assert asked[0] == asked[1] == json.loads(out.splitlines()[0])
    assert '"guests": 5' in out.splitlines()[1]
    assert process.returncode == 0


STAGE = """
import os
import sys
from typing import TypedDict

import anyio
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command as Server, connect
from mcp_elicit_client.handlers.langgraph import InterruptHandler, durable, resume_value

path, era, stage = sys.argv[1:]
ask = InterruptHandler()
registry = ElicitationRegistry()
registry.on_elicitation(ask)


class State(TypedDict, total=False):
    told: str


@ask.node
async def call(state: State) -> State:
    server = Server([sys.executable, "-m", "tests.servers.visitor"], errlog=sys.stderr, env=dict(os.environ))
    caller = Caller(registry, "visitor")
    async with connect(server, caller, mode=era) as connection:
        result = await caller.call_tool(durable(connection.client), "form", {})
        return {"told": result.content[0].text}


async def main():
    builder = StateGraph(State)
    builder.add_node("call", call)
    builder.add_edge(START, "call")
    builder.add_edge("call", END)
    config = {"configurable": {"thread_id": "ann"}}
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        graph = builder.compile(checkpointer=saver)
        if stage == "ask":
            print((await graph.ainvoke({}, config))["__interrupt__"][0].value["request"]["message"], flush=True)
            os._exit(9)
        question = (await graph.aget_state(config)).interrupts[0].value
        resume = Command(resume=resume_value(question, "accept", {"name": "Ann"}))
        print((await graph.ainvoke(resume, config))["told"])


anyio.run(main)
"""


@pytest.mark.parametrize("era", ERAS)
def test_a_request_of_one_process_is_answered_in_another(
    era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    monkeypatch.setenv("ELICIT_SEEN", str(seen))
    command = [sys.executable, "-c", STAGE, str(tmp_path / "graph.db"), era]
    asked = subprocess.run([*command, "ask"], cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    told = subprocess.run([*command, "answer"], cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=60, check=True)

    assert (asked.returncode, asked.stdout) == (9, "Who are you?\n")
    assert json.loads(told.stdout) == {"got": {"action": "accept", "content": NAME}}
    lines = seen.read_text().splitlines()
    assert lines.count("form") == (1 if era == "auto" else 2)
    assert lines.count("form done") == 1


def test_a_synchronous_graph_is_interrupted_and_resumed(tmp_path: Path) -> None:
    ask = InterruptHandler()
    caller = Caller(ask, "visitor")

    async def call() -> str:
        async with in_process(caller, "legacy") as client:
            result: Any = await caller.call_tool(client, "form", {})
            return str(result.content[0].text)

    def node(_state: State) -> State:
        return {"told": anyio.run(ask.run, call)}

    with SqliteSaver.from_conn_string(str(tmp_path / "graph.db")) as saver:
        question = build(node, saver).invoke({}, CONFIG)["__interrupt__"][0].value
    with SqliteSaver.from_conn_string(str(tmp_path / "graph.db")) as saver:
        told = build(node, saver).invoke(Command(resume=resume_value(question, "accept", NAME)), CONFIG)

    assert json.loads(told["told"]) == {"got": {"action": "accept", "content": NAME}}


# --- dependencies


def test_without_langgraph_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langgraph.types", None)

    with pytest.raises(MissingExtraError, match=r"mcp-elicit-client\[langgraph\]"):
        InterruptHandler()


def test_langgraph_is_not_loaded_before_it_is_used() -> None:
    code = (
        "import sys, mcp_elicit_client.handlers.langgraph; print([m for m in sys.modules if m.startswith('langgraph')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert run.stdout == "[]\n"
