"""
An agent in the terminal: it calls the tools of a server, and asks you when the server has a question.

``python examples/cli_agent.py`` talks to the demo server;
``python examples/cli_agent.py COMMAND ...`` talks to yours.
"""

import os
import sys

import anyio
import anyio.to_thread
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import Tool

from mcp_elicit_client import ElicitationRegistry, sanitize_text
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.policies import recommended

COMMAND = [sys.executable, "-m", "mcp_elicit_client.demo.server"]

registry = ElicitationRegistry(policy=recommended())
registry.on_elicitation(TerminalHandler())


def choose(task: str, tools: list[Tool]) -> Tool | None:
    """Return the tool for *task*.  Replace this function with a call of your model."""
    words = set(task.lower().split())
    scores = [len(words & set(f"{tool.name} {tool.description}".lower().replace("_", " ").split())) for tool in tools]
    return tools[scores.index(max(scores))] if any(scores) else None


async def read(prompt: str) -> str:
    """Read a line, without blocking the event loop."""
    try:
        return await anyio.to_thread.run_sync(input, prompt, abandon_on_cancel=True)
    except EOFError:
        return ""


async def main(command: list[str]) -> None:
    caller = Caller(registry, "restaurant")  # the name that you see in requests
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(server) as streams, caller.session(*streams) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        while task := await read("\nYou (Enter to leave): "):
            tool = choose(task, tools)
            if tool is None:
                print("Agent: I have no tool for this. I have:", *(sanitize_text(each.name) for each in tools))
                continue
            try:
                result = await caller.call_tool(session, tool.name, {})
            except Exception as error:  # noqa: BLE001 -- of the connection, the server or the call
                print(f"Agent: the call failed: {sanitize_text(str(error))}")
            else:
                text = "\n".join(part.text for part in result.content if part.type == "text")
                print(f"Agent: {sanitize_text(text)}")


if __name__ == "__main__":
    try:
        anyio.run(main, sys.argv[1:] or COMMAND)
    except KeyboardInterrupt:
        os._exit(130)  # the thread that reads a line would wait for Enter
