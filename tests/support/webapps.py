"""ASGI apps on a real port."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    import uvicorn


async def _serve(server: uvicorn.Server, listening: socket.socket) -> None:
    """Serve until the server is told to exit: if it is cancelled, the event loop keeps its socket."""
    with anyio.CancelScope(shield=True):
        await server.serve([listening])


@asynccontextmanager
async def serving(app: Any, name: str = "127.0.0.1", **options: Any) -> AsyncIterator[str]:
    """Serve *app* on a free port, and provide its origin with the host *name*."""
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(
            app, log_level="error", timeout_graceful_shutdown=0, timeout_keep_alive=60, **{"ws": "none", **options}
        )
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        async with anyio.create_task_group() as group:
            group.start_soon(_serve, server, listening)
            try:
                yield f"http://{name}:{listening.getsockname()[1]}"
            finally:
                server.should_exit = True
