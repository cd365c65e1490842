"""The server itself: uvicorn, with nothing that a host application could notice."""

from __future__ import annotations

import logging
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol


class _QuietProtocol(H11Protocol):
    """Logs no paths: they are secrets here, and uvicorn's own loggers may be the host's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False
        self.logger = logging.getLogger("mcp_elicit_client.browser")


def server_of(app: ASGIApp, connections: int) -> uvicorn.Server:
    """
    Build the server of *app*.

    Args:
        app: What it serves.
        connections: How many there may be at a time.
    """
    config = uvicorn.Config(
        app,
        http=_QuietProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=connections,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
