"""LangChain's ``langchain.mcp`` (beta): interrupt the graph for a request, and resume it with the answer."""

import asyncio
import sys

from fastmcp.client.transports import StdioTransport
from langchain.mcp import MCPAdapter
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.langchain_mcp import answer_interrupt, is_elicitation

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))


async def main() -> None:
    async with MCPAdapter(StdioTransport(sys.executable, ["-m", "mcp_elicit_client.demo.server"])) as adapter:
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode(await adapter.list_tools()))
        graph.add_edge(START, "tools")
        app = graph.compile(checkpointer=InMemorySaver())

        thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
        call = AIMessage("", tool_calls=[{"name": "book_table", "args": {}, "id": "1"}])
        state = await app.ainvoke({"messages": [call]}, thread)
        while interrupts := state.get("__interrupt__"):
            assert is_elicitation(interrupts[0].value)  # other interrupts are the application's own
            answers = await answer_interrupt(registry, interrupts[0].value, server="restaurant")
            state = await app.ainvoke(Command(resume={interrupts[0].id: answers}), thread)
        print(state["messages"][-1].content)


if __name__ == "__main__":
    asyncio.run(main())
