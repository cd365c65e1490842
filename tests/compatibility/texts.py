"""What the libraries' modules share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Handler, Request


def text_of(result: Any) -> str:
    """Return all text of a result of the SDK."""
    return texts(result.content)


def texts(parts: Iterable[Any]) -> str:
    return "".join(getattr(part, "text", "") for part in parts)


@asynccontextmanager
async def own_session(caller: Caller, command: Sequence[str]) -> AsyncIterator[Any]:
    """Connect with a session, or with mcp 2.x a client, of *caller*."""
    transport = stdio_client(StdioServerParameters(command=command[0], args=list(command[1:])))
    if supports_multi_round_trip():
        async with caller.client(transport) as client:
            yield client
    else:
        async with transport as (reader, writer), caller.session(reader, writer) as session:
            await session.initialize()
            yield session


def own_loop_only(handler: Handler) -> Handler:
    """Wrap *handler* so that it fails in any other loop, or thread, than the present."""
    loop = asyncio.get_running_loop()

    async def ask(request: Request, /) -> Any:
        if asyncio.get_running_loop() is not loop:
            raise RuntimeError("asked in another loop")
        return await handler(request)

    return ask
