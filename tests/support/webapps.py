"""ASGI apps on a real port."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio


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
            group.start_soon(server.serve, [listening])
            yield f"http://{name}:{listening.getsockname()[1]}"
            server.should_exit = True
