"""
An agent that can be killed while it waits for its user.

``python examples/langgraph_agent.py agent.db`` calls a tool that asks
something, prints the question as JSON, and reads the answer from standard
input, such as ``{"action": "accept", "content": {...}}``.  Killed meanwhile and
started again, it goes on from the file: the question is there, and its answer
is taken.
"""

import json
import sys
from typing import Any, TypedDict

import anyio
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command as Server
from mcp_elicit_client.calls._connect import connect
from mcp_elicit_client.handlers.langgraph import InterruptHandler, durable, resume_value

SERVER = Server([sys.executable, "-m", "mcp_elicit_client.demo.server"], errlog=sys.stderr)

ask = InterruptHandler()
registry = ElicitationRegistry()
registry.on_elicitation(ask)


class State(TypedDict, total=False):
    tool: str
    told: str


@ask.node
async def call(state: State) -> State:
    caller = Caller(registry, "restaurant")
    async with connect(SERVER, caller) as connection:
        result = await caller.call_tool(durable(connection.client), state["tool"], {})
    return {"told": result.content[0].text}


builder = StateGraph(State)
builder.add_node("call", call)
builder.add_edge(START, "call")
builder.add_edge("call", END)


async def main(path: str) -> None:
    config: Any = {"configurable": {"thread_id": "ann"}}
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        graph = builder.compile(checkpointer=saver)
        if not (await graph.aget_state(config)).next:
            await graph.ainvoke({"tool": "book_table"}, config)
        while waiting := (await graph.aget_state(config)).interrupts:
            question = waiting[0].value
            print(json.dumps(question), flush=True)
            said = json.loads(await anyio.to_thread.run_sync(sys.stdin.readline))
            resume = resume_value(question, said["action"], said.get("content"))
            await graph.ainvoke(Command(resume=resume), config)
        print((await graph.aget_state(config)).values["told"])


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
