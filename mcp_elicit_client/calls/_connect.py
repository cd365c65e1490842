"""
Connections to servers with the installed SDK, for the command line and the demo.

Host applications make their own sessions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, TextIO, TypeAlias

from mcp_elicit_client.calls.caller import Caller
from mcp_elicit_client.calls.methods import list_tools, model_to_wire, unwrap_session

ConnectMode: TypeAlias = Literal["auto", "legacy"]
"""
How the protocol version is negotiated: the newest that both sides support, or
one with server-initiated requests (up to 2025-11-25).
"""


@dataclass(frozen=True, slots=True)
class Command:
    """
    A server process, connected over its standard input and output.

    Attributes:
        argv: The program and its arguments.  No shell is used.
        errlog: A file with a descriptor, for its standard error.
        env: Additional environment variables.
        directory: The working directory; None for that of this process.
    """

    argv: Sequence[str]
    errlog: TextIO
    env: Mapping[str, str] | None = None
    directory: str | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection to a server."""

    caller: Caller
    client: Any
    protocol_version: str

    async def list_tools(self) -> list[tuple[str, str]]:
        """Return the names and descriptions of the tools.  They are not sanitized."""
        tools = await list_tools(unwrap_session(self.client))
        return [(tool.name, tool.description or "") for tool in tools]

    async def call_tool(self, name: str, arguments: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """Call a tool as `Caller.call_tool` does, without a timeout for the user.  Return the result as on the wire."""
        options = {"answer_timeout": None, **options}
        return model_to_wire(await self.caller.call_tool(self.client, name, arguments, **options))


@asynccontextmanager
async def connect(
    target: Command | AbstractAsyncContextManager[Any] | str,
    caller: Caller,
    *,
    mode: ConnectMode = "auto",
    **options: Any,
) -> AsyncIterator[Connection]:
    """
    Connect to a server.

    Args:
        target: A command, a transport of the SDK, or the URL of a server with
            streamable HTTP.
        caller: The caller, which answers the server's requests.
        mode: How the protocol version is negotiated.
        options: Other arguments of the SDK's ``Client`` or ``ClientSession``.

    Raises:
        Exception: The SDK's error, if the connection fails.
    """
    transport = _stdio(target) if isinstance(target, Command) else target
    async with caller.connect(transport, mode=mode, **options) as client:
        yield Connection(caller, client, str(client.protocol_version))


def _stdio(command: Command) -> AbstractAsyncContextManager[Any]:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    program, *arguments = command.argv
    env = None if command.env is None else dict(command.env)
    return stdio_client(
        StdioServerParameters(command=program, args=arguments, env=env, cwd=command.directory), errlog=command.errlog
    )
