"""
A connection with any server, over whichever SDK is installed.

For our own command line and demo; a host application has its sessions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, TextIO, TypeAlias

from mcp_elicit_client.calls.caller import Caller
from mcp_elicit_client.sdk.callback import supports_multi_round_trip

ConnectMode: TypeAlias = Literal["auto", "legacy"]
"""
How the protocol revision is found: the newest that both sides know, or one of
those in which the server sends its questions by itself (up to 2025-11-25).
"""


@dataclass(frozen=True, slots=True)
class Command:
    """
    A server to be started, spoken to over its standard input and output.

    Attributes:
        argv: The program and its arguments.  No shell is involved.
        errlog: Where its standard error goes: a file with a descriptor.
        env: More environment variables.
    """

    argv: Sequence[str]
    errlog: TextIO
    env: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """A connected server."""

    caller: Caller
    client: Any
    protocol_version: str

    async def list_tools(self) -> list[tuple[str, str]]:
        """List the names and descriptions of the server's tools, as the server wrote them."""
        result = await self.client.list_tools()
        return [(tool.name, tool.description or "") for tool in result.tools]

    async def call_tool(self, name: str, arguments: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """Call a tool as `Caller.call_tool` does, for as long as it takes; return its result as on the wire."""
        result = await self.caller.call_tool(self.client, name, arguments, **{"answer_timeout": None, **options})
        wire: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return wire


@asynccontextmanager
async def connect(
    where: Command | str, caller: Caller, *, mode: ConnectMode = "auto", **options: Any
) -> AsyncIterator[Connection]:
    """
    Connect to a server: a command, or the URL of one that speaks streamable HTTP.

    Args:
        where: The server.
        caller: Who answers what it asks.
        mode: Which protocol revisions to speak.
        options: What else the SDK's ``Client`` or ``ClientSession`` takes.

    Raises:
        Exception: Whatever the SDK raises if there is no server.
    """
    if supports_multi_round_trip():
        transport = where if isinstance(where, str) else _stdio(where)
        async with caller.client(transport, mode=mode, **options) as client:
            yield Connection(caller, client, client.protocol_version)
    else:
        async with (
            _http(where) if isinstance(where, str) else _stdio(where) as streams,
            caller.session(streams[0], streams[1], **options) as session,
        ):
            initialized = await session.initialize()
            yield Connection(caller, session, str(initialized.protocolVersion))


def _stdio(command: Command) -> AbstractAsyncContextManager[Any]:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    program, *arguments = command.argv
    env = None if command.env is None else dict(command.env)
    return stdio_client(StdioServerParameters(command=program, args=arguments, env=env), errlog=command.errlog)


def _http(url: str) -> AbstractAsyncContextManager[Any]:
    from mcp.client.streamable_http import streamable_http_client

    return streamable_http_client(url)
