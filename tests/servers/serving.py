"""Serve a low-level server of either SDK: over standard input and output, or HTTP on a free port."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio
import mcp
import uvicorn
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount

MCP_2 = hasattr(mcp, "Client")


async def serve_stdio(server: Any) -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def http_app(server: Any) -> Any:
    if MCP_2:
        return server.streamable_http_app()
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    manager = StreamableHTTPSessionManager(server)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return Starlette(routes=[Mount("/mcp", manager.handle_request)], lifespan=lifespan)


def authorized(app: Any) -> Any:
    """Return *app*, which refuses requests without the header that ``ELICIT_AUTHORIZATION`` contains."""
    wanted = os.environ.get("ELICIT_AUTHORIZATION")

    async def check(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization", b"").decode() != wanted:
            await Response(status_code=401)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return app if wanted is None else check


def wants_http() -> bool:
    return "--http" in sys.argv


def listen(port: int = 0) -> socket.socket:
    """Listen on *port*, or a free one, as uvicorn does: small responses are sent at once."""
    listener = socket.create_server(("127.0.0.1", port))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def serve_http(server: Any) -> None:
    """Serve over HTTP, as `serve_app` does."""
    await serve_app(http_app(server))


async def serve_app(app: Any) -> None:
    """Serve *app* on the port that ``ELICIT_PORT`` names, or a free one, and print it."""
    listener = listen(int(os.environ.get("ELICIT_PORT", "0")))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(authorized(app), log_level="error", timeout_keep_alive=60)
    await uvicorn.Server(config).serve(sockets=[listener])


def serve(server: Any) -> None:
    """Serve over HTTP with ``--http``; else over standard input and output."""
    anyio.run(serve_http if wants_http() else serve_stdio, server)
