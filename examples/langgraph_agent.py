"""
An agent that continues after a restart while it waits for its user.

``python examples/langgraph_agent.py agent.db`` calls a tool that sends a
request, prints the request as JSON, and reads the answer from standard input,
such as ``{"action": "accept", "content": {...}}``.  If it is stopped and started
again, it continues from the file: it prints the same request and takes the answer.
"""

import json
import sys
from typing import Any, TypedDict

import anyio
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.langgraph import InterruptHandler, durable, resume_value

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])

ask = InterruptHandler()
registry = ElicitationRegistry()
registry.on_elicitation(ask)


class State(TypedDict, total=False):
    tool: str
    result: str


@ask.node
async def call(state: State) -> State:
    caller = Caller(registry, "restaurant")
    async with stdio_client(SERVER) as (read, write), caller.session(read, write) as session:
        await session.initialize()
        result = await caller.call_tool(durable(session), state["tool"], {})
    return {"result": "".join(each.text for each in result.content if isinstance(each, TextContent))}


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
        while pending := (await graph.aget_state(config)).interrupts:
            request = pending[0].value
            print(json.dumps(request), flush=True)
            reply = json.loads(await anyio.to_thread.run_sync(sys.stdin.readline))
            resume = resume_value(request, reply["action"], reply.get("content"))
            await graph.ainvoke(Command(resume=resume), config)
        print((await graph.aget_state(config)).values["result"])


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
