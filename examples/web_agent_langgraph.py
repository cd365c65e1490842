"""
A LangGraph agent behind an AG-UI endpoint, whose process may be replaced while a request is open.

    pip install 'mcp-elicit-client[langgraph,agui]' ag-ui-langgraph langgraph-checkpoint-sqlite fastapi uvicorn
    python examples/web_agent_langgraph.py agent.db 8000

Connect an AG-UI front end to http://127.0.0.1:8000.  Each run books a table at
the demo server, which asks for the details.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from typing_extensions import TypedDict

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.langgraph import InterruptHandler, durable
from mcp_elicit_client.hosts.ag_ui_langgraph import ElicitingAgentMixin
from mcp_elicit_client.policies import protect_secrets

ask = InterruptHandler()
registry = ElicitationRegistry(policy=protect_secrets())
registry.on_elicitation(ask)
caller = Caller(registry, "restaurant")


class Agent(ElicitingAgentMixin, LangGraphAgent):  # type: ignore[misc,unused-ignore]  # without types
    """An agent that reads the answers of AG-UI front ends."""


class State(TypedDict, total=False):
    result: str


@ask.node
async def book(state: State) -> State:  # noqa: ARG001 -- the graph passes it
    server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])
    async with stdio_client(server) as streams, caller.session(*streams) as session:
        await session.initialize()
        result = await caller.call_tool(durable(session), "book_table", {})
    return {"result": getattr(result.content[0], "text", "")}


def create_app(path: str) -> FastAPI:
    """Return the application.  The state of its graph is in the file *path*."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        builder = StateGraph(State)
        builder.add_node("book", book)
        builder.add_edge(START, "book")
        builder.add_edge("book", END)
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            graph = builder.compile(checkpointer=saver)
            agent = Agent(name="booking", graph=graph, emit_interrupt_outcome=True)
            add_langgraph_fastapi_endpoint(app, agent, "/")
            yield

    return FastAPI(lifespan=lifespan)


if __name__ == "__main__":
    uvicorn.run(create_app(sys.argv[1]), port=int(sys.argv[2]))
