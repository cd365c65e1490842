"""
A gateway: one server for your clients, in front of other servers that ask users for input.

``python examples/gateway.py`` serves over standard input and output;
``python examples/gateway.py 8000`` over HTTP on that port.  It needs mcp 2.
"""

import sys
from contextlib import AsyncExitStack, suppress
from typing import Any

import anyio
import uvicorn
from mcp import StdioServerParameters, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from mcp_elicit_client.policies import Permissions, compose, rate_limit
from mcp_elicit_client.relay import Relay

# The servers behind the gateway, with the names that users see: a command, or a URL.
SERVERS = {"restaurant": StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])}
POLICY = compose(Permissions().policy, rate_limit(["30/minute"]))

relays = {name: Relay(name, server, policies=[POLICY]) for name, server in SERVERS.items()}


async def list_tools(context: Any, _params: Any) -> types.ListToolsResult:
    """List the tools of all servers; the name of a tool begins with that of its server."""
    tools = []
    for name, relay in relays.items():
        async with relay.connection(context) as client:
            listed = await client.list_tools()
        tools += [tool.model_copy(update={"name": f"{name}.{tool.name}"}) for tool in listed.tools]
    return types.ListToolsResult(tools=tools)


async def call_tool(context: Any, params: Any) -> Any:
    """Call a tool.  Its server may ask the user of the client for input, in either way."""
    name, _, tool = params.name.partition(".")
    if name not in relays:
        text = types.TextContent(type="text", text="unknown tool")
        return types.CallToolResult.model_validate({"content": [text], "isError": True})
    return await relays[name].call_tool(context, params, name=tool)


async def main(port: int | None) -> None:
    """Serve until the client or the operator ends it."""
    handlers: dict[str, Any] = {"on_list_tools": list_tools, "on_call_tool": call_tool}
    server: Any = Server("gateway", **handlers)
    async with AsyncExitStack() as stack:
        for relay in relays.values():
            await stack.enter_async_context(relay)
        if port is None:
            reader, writer = await stack.enter_async_context(stdio_server())
            await server.run(reader, writer, server.create_initialization_options())
        else:
            await uvicorn.Server(uvicorn.Config(server.streamable_http_app(), port=port)).serve()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else None)
