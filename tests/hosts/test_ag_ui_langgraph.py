"""LangGraph's AG-UI endpoint: a front end that knows nothing of MCP answers the requests of a graph."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from mcp_elicit_client import ElicitationRegistry, Server
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.langgraph import InterruptHandler, durable
from tests.support import skip_or_fail
from tests.support.agui import FrontEnd, agent_process, cancelled, resolved
from tests.support.inprocess import in_process

try:
    from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
except ImportError:
    skip_or_fail("ag-ui-langgraph is not installed")
from fastapi import FastAPI

from mcp_elicit_client.hosts.ag_ui_langgraph import ElicitingAgentMixin

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.event_loops("asyncio"),
    # ag-ui-langgraph reads the schema of a graph in a way that LangGraph no longer recommends.
    pytest.mark.filterwarnings("ignore::langgraph.warnings.LangGraphDeprecatedSinceV10"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="on Python 3.10, LangGraph cannot interrupt async nodes"),
]

NAME = {"name": "Ann"}
ORIGIN = "/opt/mail/bin/server --token-file /etc/mail"


class Agent(ElicitingAgentMixin, LangGraphAgent):  # type: ignore[misc,unused-ignore]  # without types
    pass


class State(TypedDict, total=False):
    told: Any
    other: Any


@asynccontextmanager
async def endpoint(
    tool: str = "form",
    seen: Callable[[str], None] = lambda _: None,
    agent_class: type[Any] = Agent,
    *,
    with_other: bool = False,
) -> AsyncIterator[FrontEnd]:
    """Serve a graph whose node calls *tool*, and that may have another interrupt at the same time."""
    ask = InterruptHandler()
    registry = ElicitationRegistry()
    registry.on_elicitation(ask)
    caller = Caller(registry, Server(name="visitor", origin=ORIGIN), user="ann@example.com")
    async with in_process(caller, "auto", seen) as client:

        @ask.node
        async def call(state: State) -> State:
            result: Any = await caller.call_tool(durable(client), tool, {})
            return {"told": json.loads(result.content[0].text)}

        async def other(state: State) -> State:
            return {"other": interrupt({"question": "Which color?"})}

        builder = StateGraph(State)
        builder.add_node("call", call)
        builder.add_edge(START, "call")
        builder.add_edge("call", END)
        if with_other:
            builder.add_node("other", other)
            builder.add_edge(START, "other")
            builder.add_edge("other", END)
        agent = agent_class(
            name="agent", graph=builder.compile(checkpointer=InMemorySaver()), emit_interrupt_outcome=True
        )
        app = FastAPI()
        add_langgraph_fastapi_endpoint(app, agent, "/")
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agent") as http:
            yield FrontEnd(http)


def told(run: Any) -> Any:
    return [each["snapshot"] for each in run.events if each["type"] == "STATE_SNAPSHOT"][-1]["told"]


async def test_a_front_end_that_knows_only_ag_ui_shows_and_answers_a_form() -> None:
    seen: list[str] = []
    async with endpoint(seen=seen.append) as front:
        asked = await front.run(text="hello")
        answered = await front.run(resolved(asked.interrupt, NAME))

    assert asked.interrupt["reason"] == "input_required"
    assert asked.interrupt["message"].splitlines()[:2] == ["visitor asks for 1 answer", "| Who are you?"]
    assert asked.interrupt["responseSchema"]["properties"]["name"] == {"type": "string", "title": "name"}
    assert asked.interrupt["responseSchema"]["required"] == ["name"]
    assert "expiresAt" not in asked.interrupt
    assert told(answered) == {"got": {"action": "accept", "content": NAME}}
    assert answered.interrupts == []
    assert len([line for line in seen if line.startswith("form done")]) == 1


@pytest.mark.parametrize(
    ("said", "action"), [({}, "cancel"), ({"action": "decline"}, "decline"), ({"action": "accept"}, "cancel")]
)
async def test_a_cancelled_interrupt_ends_the_request(said: dict[str, Any], action: str) -> None:
    async with endpoint() as front:
        asked = await front.run(text="hello")
        answered = await front.run(cancelled(asked.interrupt, **said))

    assert told(answered) == {"got": {"action": action}}


@pytest.mark.parametrize(("approved", "action"), [(True, "accept"), (False, "decline")])
async def test_a_url_is_shown_whole_and_approved_or_declined(approved: bool, action: str) -> None:
    async with endpoint("url") as front:
        asked = await front.run(text="hello")
        answered = await front.run(resolved(asked.interrupt, {"approved": approved}))

    assert asked.interrupt["reason"] == "mcp:url"
    assert "\n| https://login.example.com/start\n" in asked.interrupt["message"]
    assert asked.interrupt["responseSchema"]["required"] == ["approved"]
    assert told(answered) == {"got": {"action": action}}


async def test_the_browser_learns_nothing_about_where_the_server_runs() -> None:
    async with endpoint() as front:
        asked = await front.run(text="hello")

    assert ORIGIN not in json.dumps(asked.events)
    assert "ann@example.com" not in json.dumps(asked.events)


async def test_an_answer_that_does_not_fit_the_form_is_asked_again_with_the_problem() -> None:
    async with endpoint() as front:
        asked = await front.run(text="hello")
        again = await front.run(resolved(asked.interrupt, {"name": 3}))
        answered = await front.run(resolved(again.interrupt, NAME))

    problem = "| name\nEnter text."
    assert again.interrupt["message"].startswith(f"{problem}\n")
    assert again.interrupt["metadata"]["langgraph"]["raw"]["problem"] == problem
    assert told(answered) == {"got": {"action": "accept", "content": NAME}}


async def test_a_resume_must_name_every_open_interrupt_and_no_other() -> None:
    seen: list[str] = []
    async with endpoint(seen=seen.append, with_other=True) as front:
        asked = await front.run(text="hello")
        form, other = sorted(asked.interrupts, key=lambda each: each["reason"] != "input_required")
        unknown = await front.run(resolved({"id": "nope"}, NAME), resolved(other, "red"))
        partial = await front.run(resolved(form, NAME))
        twice = await front.run(resolved(form, NAME), resolved(form, NAME), resolved(other, "red"))
        empty = await front.run(resolved(form), resolved(other, "red"))
        answered = await front.run(resolved(form, NAME), resolved(other, "red"))
        replayed = await front.run(resolved(form, NAME), resolved(other, "red"))

    assert [unknown.error, partial.error, twice.error] == [
        "UNKNOWN_INTERRUPT",
        "INCOMPLETE_RESUME",
        "INCOMPLETE_RESUME",
    ]
    assert empty.error == "INVALID_PAYLOAD"
    assert told(answered) == {"got": {"action": "accept", "content": NAME}}
    assert replayed.error == "UNKNOWN_INTERRUPT"
    assert len([line for line in seen if line.startswith("form done")]) == 1


async def test_interrupts_of_other_nodes_are_resumed_as_without_the_adapter() -> None:
    async with endpoint("echo", with_other=True) as front:
        asked = await front.run(text="hello")
        answered = await front.run(resolved(asked.interrupt, "red"))

    assert [each["snapshot"] for each in answered.events if each["type"] == "STATE_SNAPSHOT"][-1]["other"] == "red"


async def test_without_the_adapter_an_unnamed_answer_is_refused_and_a_cancel_ends_the_request() -> None:
    async with endpoint(agent_class=LangGraphAgent) as front:
        asked = await front.run(text="hello")
        refused = await front.run(resolved(asked.interrupt, NAME))
        answered = await front.run(cancelled(refused.interrupt))

    assert refused.interrupt["message"].startswith("The answer was not for this request.")
    assert told(answered) == {"got": {"action": "cancel"}}


@pytest.mark.slow
async def test_the_process_is_replaced_between_interrupt_and_resume(tmp_path: Path) -> None:
    async with httpx.AsyncClient() as http:
        with agent_process("web_agent_langgraph", tmp_path / "agent.db") as url:
            asked = await FrontEnd(http, url).run(text="Book a table")
        form = asked.interrupt["responseSchema"]["properties"]
        defaults = {name: each["default"] for name, each in form.items() if "default" in each}
        with agent_process("web_agent_langgraph", tmp_path / "agent.db") as url:
            answered = await FrontEnd(http, url).run(resolved(asked.interrupt, {**defaults, "guests": 5}))

    results = [each["snapshot"] for each in answered.events if each["type"] == "STATE_SNAPSHOT"]
    assert '"guests": 5' in results[-1]["result"]
    assert form["guests"]["title"] == "Guests"


def test_an_agent_before_the_mixin_is_refused() -> None:
    with pytest.raises(TypeError, match="Write the mixin first"):
        type("Agent", (LangGraphAgent, ElicitingAgentMixin), {})
