"""
Streamable HTTP with mcp 2.x that outlives a server that is away for a while.

In the SDK's transport, a request that cannot be sent or whose response breaks
off, for example because the server is restarted, ends the session and the host
application's task group.  Here it is answered with status 503 and an error of
JSON-RPC, so that only that request fails.  A task is polled while a request is
open: its form must not be lost.  The answer to a server-initiated request is
sent again, because the server's call waits for it.
"""

from __future__ import annotations

import functools
import importlib
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from pydantic_core import from_json

from mcp_elicit_client.sdk.callback import supports_multi_round_trip

_logger = logging.getLogger("mcp_elicit_client")

CONNECTION_LOST = "ConnectionLostError"
"""The ``data.reason`` of the error if the server cannot be reached, or a gateway cannot reach it."""

_TIMEOUT, _READ_TIMEOUT = 30.0, 300.0
"""The SDK's timeouts, in seconds."""

WAS_SENT = "sent"
"""The member of ``data`` that is false if the server did not take the request, and cannot have done anything."""

_OF_PROXIES = frozenset({502, 503})
"""
The statuses with which a proxy says that the server behind it cannot be
reached.  The server may have received the request before.
"""

_OF_REFUSALS = frozenset({401, 429})
"""The statuses with which a request is refused before it is read, so that it can be repeated."""


_OF_MOMENTS = _OF_PROXIES | {429}
"""The statuses after which the answer to a server-initiated request is sent again: its call waits for it."""

_REPEAT_TIMEOUT = 30.0
"""How long such an answer is sent again, in seconds."""

_FIRST_PAUSE, _MAX_PAUSE = 0.1, 2.0
"""The pauses between these attempts, in seconds.  They double each time."""


@asynccontextmanager
async def http_transport(url: str, headers: Mapping[str, str] | None = None) -> AsyncIterator[Any]:
    """Connect to *url* as ``streamable_http_client`` does, with *headers* in each request."""
    from mcp.client.streamable_http import streamable_http_client

    timeout = _httpx().Timeout(_TIMEOUT, read=_READ_TIMEOUT)
    # Before mcp 1.30 and 2.2, the client follows redirects, also to other origins: they must not get the headers.
    follows = not headers
    async with (
        _client_class()(timeout=timeout, headers=dict(headers or {}), follow_redirects=follows) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


def _httpx() -> Any:
    return importlib.import_module("httpx2" if supports_multi_round_trip() else "httpx")


@functools.cache
def _client_class() -> Any:
    httpx: Any = _httpx()

    class PersistentClient(httpx.AsyncClient):  # type: ignore[misc,unused-ignore]
        """An HTTP client that answers requests itself if the server cannot be reached any more."""

        _has_connected = False

        async def send(self, request: Any, **options: Any) -> Any:
            response = await self._send(request, **options)
            if not response.is_error or not _is_answer(request):
                return response
            pause = _FIRST_PAUSE
            with anyio.move_on_after(_REPEAT_TIMEOUT):
                while response.status_code in _OF_MOMENTS:
                    await anyio.sleep(pause)
                    pause = min(2 * pause, _MAX_PAUSE)
                    response = await self._send(request, **options)
            if response.is_error:
                status = response.status_code
                _logger.warning("the answer to a request was refused with HTTP status %d: its call may wait", status)
            return response

        async def _send(self, request: Any, **options: Any) -> Any:
            try:
                response = await super().send(request, **options)
                if response.headers.get("content-type", "").startswith("application/json"):
                    await response.aread()  # The SDK reads streams of events as long as they last.
            except httpx.TransportError as error:
                if not self._has_connected:
                    raise
                _logger.debug("the server cannot be reached: %s", type(error).__name__)
                is_unsent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
                return httpx.Response(503, request=request, json=_error(503, was_sent=not is_unsent))
            status = response.status_code
            if self._has_connected and status in _OF_PROXIES | _OF_REFUSALS and not _is_from_server(response):
                await response.aclose()
                was_sent = status in _OF_PROXIES and "retry-after" not in response.headers
                return httpx.Response(status, request=request, json=_error(status, was_sent=was_sent))
            self._has_connected = True
            return response

    return PersistentClient


def _is_answer(request: Any) -> bool:
    """Return True if *request* is the response to a server-initiated request: the server takes it once."""
    try:
        message = from_json(request.content)
    except ValueError:
        return False
    return isinstance(message, dict) and "method" not in message and "id" in message


def _is_from_server(response: Any) -> bool:
    """Return True if *response* is one of JSON-RPC.  Proxies answer with other JSON."""
    return bool(response.is_closed) and b'"jsonrpc"' in response.content


def _error(status: int, *, was_sent: bool) -> dict[str, Any]:
    data: dict[str, Any] = {} if was_sent else {WAS_SENT: False}
    if status in _OF_PROXIES:
        code, message = -32000, "The server cannot be reached."
        data["reason"] = CONNECTION_LOST
    else:
        code, message = -32603, f"The server refused the request with HTTP status {status}."
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message, "data": data}}
