"""
A gateway with relays to one server, over standard input and output, or with ``--http`` on a free port, which it prints.

``ELICIT_UPSTREAM`` is the URL of the server, or its command as JSON.
``ELICIT_RELAYS`` is a JSON object: the options of each relay, by the prefix of
its tools, with another ``upstream`` if they have one.  ``ELICIT_KEY`` and
``ELICIT_STORE`` (the URL of a Redis or PostgreSQL) are those of all relays.
``ELICIT_LEASE`` is the time after which another process sends an answer again.
The header ``x-user`` names the user.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
import mcp.types
from mcp.server.lowlevel import Server

from mcp_elicit_client.inbox import Inbox, RedisStore
from mcp_elicit_client.relay import Relay, stored_calls
from tests.servers.serving import MCP_2, serve_http, serve_stdio, wants_http


class Gateway:
    """Finds the relay of a call by the prefix of its name."""

    def __init__(self, relays: Mapping[str, Relay]) -> None:
        self.relays = relays

    async def call_tool(self, context: Any, params: Any) -> Any:
        prefix, _, name = params.name.rpartition(".")
        return await self.relays[prefix].call_tool(context, params, name=name)

    async def get_prompt(self, context: Any, params: Any) -> Any:
        prefix, _, name = params.name.rpartition(".")
        return await self.relays[prefix].get_prompt(context, params, name=name)

    async def read_resource(self, context: Any, params: Any) -> Any:
        return await next(iter(self.relays.values())).read_resource(context, params)

    async def list_tools(self, context: Any, _params: Any) -> Any:
        async with next(iter(self.relays.values())).connection(context) as client:
            return await client.list_tools()


def build(relays: Mapping[str, Relay] | Relay) -> Any:
    """Make the server of a gateway."""
    gateway = Gateway({"": relays} if isinstance(relays, Relay) else relays)
    return build_for_mcp_2(gateway) if MCP_2 else build_for_mcp_1(gateway)


def build_for_mcp_2(gateway: Gateway) -> Any:
    server_class: Any = Server
    return server_class(
        "gateway",
        on_list_tools=gateway.list_tools,
        on_call_tool=gateway.call_tool,
        on_get_prompt=gateway.get_prompt,
        on_read_resource=gateway.read_resource,
    )


def build_for_mcp_1(gateway: Gateway) -> Any:
    server: Any = Server("gateway")
    types: Any = mcp.types

    def handle(method: Any) -> Any:
        async def handler(request: Any) -> Any:
            return types.ServerResult(await method(server.request_context, request.params))

        return handler

    server.request_handlers[types.CallToolRequest] = handle(gateway.call_tool)
    server.request_handlers[types.GetPromptRequest] = handle(gateway.get_prompt)
    server.request_handlers[types.ReadResourceRequest] = handle(gateway.read_resource)
    server.request_handlers[types.ListToolsRequest] = handle(gateway.list_tools)
    return server


def upstream() -> Any:
    from mcp.client.stdio import StdioServerParameters

    target = os.environ["ELICIT_UPSTREAM"]
    if not target.startswith("["):
        return target
    program, *arguments = json.loads(target)
    return StdioServerParameters(command=program, args=arguments, env=dict(os.environ))


def open_store(url: str) -> Any:
    if url.startswith("postgres"):
        from mcp_elicit_client.inbox import PostgresStore

        return PostgresStore(url)
    return RedisStore(url)


def user_of(context: Any) -> str | None:
    """Return the user that the request claims to be from; real gateways verify that."""
    headers = getattr(context.request, "headers", None)
    return None if headers is None else headers.get("x-user")


def make_relays() -> dict[str, Relay]:
    environ = os.environ
    key, store = environ.get("ELICIT_KEY", "").encode() or None, environ.get("ELICIT_STORE")
    inbox = None if store is None else Inbox(open_store(store), key)
    stored_calls.LEASE = float(environ.get("ELICIT_LEASE", stored_calls.LEASE))
    described: dict[str, dict[str, Any]] = json.loads(environ.get("ELICIT_RELAYS", '{"": {}}'))
    target = upstream()
    return {
        prefix: Relay("visitor", options.pop("upstream", target), key=key, inbox=inbox, user=user_of, **options)
        for prefix, options in described.items()
    }


async def main() -> None:
    relays = make_relays()
    async with AsyncExitStack() as stack:
        for relay in relays.values():
            await stack.enter_async_context(relay)
        server = build(relays)
        await (serve_http(server) if wants_http() else serve_stdio(server))


if __name__ == "__main__":
    anyio.run(main)
