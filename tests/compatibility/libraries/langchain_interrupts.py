"""langchain.mcp: interrupts of a graph, answered by our handler."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastmcp.client.transports import StdioTransport
from langchain.mcp import MCPAdapter
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from mcp_elicit_client.hosts.langchain_mcp import answer_interrupt
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers


class State(TypedDict):
    tool: str
    told: str


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    graphs: dict[str, Any] = {}
    thread = itertools.count()
    async with AsyncExitStack() as stack:
        for name, (command, *args) in servers.items():
            adapter = await stack.enter_async_context(MCPAdapter(StdioTransport(command, args)))
            graphs[name] = graph_of({tool.name: tool for tool in await adapter.list_tools()})

        async def call(server: str, tool: str) -> str:
            config = {"configurable": {"thread_id": str(next(thread))}}
            state = await graphs[server].ainvoke({"tool": tool, "told": ""}, config)
            while "__interrupt__" in state:
                answers = await answer_interrupt(handler, state["__interrupt__"][0].value, server=server)
                state = await graphs[server].ainvoke(Command(resume=answers), config)
            return str(state["told"])

        yield call


def graph_of(tools: dict[str, Any]) -> Any:
    async def use(state: State) -> dict[str, str]:
        return {"told": str(await tools[state["tool"]].ainvoke({}))}

    graph = StateGraph(State)
    graph.add_node("use", use)
    graph.add_edge(START, "use")
    graph.add_edge("use", END)
    return graph.compile(checkpointer=InMemorySaver())
