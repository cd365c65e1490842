"""The HTTP server of the pages: uvicorn without its own log.  Imported when the first page is shown."""

from __future__ import annotations

import logging
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol


class _QuietProtocol(H11Protocol):
    """Writes no access log: the paths are secret, and uvicorn's loggers may belong to the host."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False
        self.logger = logging.getLogger("mcp_elicit_client.browser")


def server_of(app: ASGIApp, connections: int) -> uvicorn.Server:
    """
    Return the server of *app*.

    Args:
        app: The application.
        connections: The maximum number of connections at a time.
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
