"""The ASGI side of the local server: access control, and the configuration of uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hmac
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import anyio
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.handlers.browser.tab import BrowserTab, redirect_page
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.stores.protocol import RequestStore
from mcp_elicit_client.inbox.web import inbox_app
from mcp_elicit_client.inbox.web.security_middleware import HEADERS
from mcp_elicit_client.presentation.catalog import MessageCatalog, catalog_of_accept_language

_OWNER = "mcp_elicit_client.owner"
_MESSAGES = "mcp_elicit_client.messages"
MAX_UNKNOWN = 256
"""The maximum number of connections that have not shown a token."""

MAX_HEADER_BYTES = 1024 * 1024
"""
The maximum length of the headers of a request.

Browsers send the cookies of all servers on 127.0.0.1 to every port: up to 180
of 4 KiB.
"""

UNKNOWN_TIMEOUT = 5.0
"""Seconds after which a connection that has not shown a token is closed."""

quiet_logger: logging.Logger = logging.getLogger("mcp_elicit_client.browser")
quiet_logger.addHandler(logging.NullHandler())
quiet_logger.propagate = False

_DESTINATIONS = frozenset({"document", "empty", "iframe", "image", "script", "style"})


def authenticated_owner(web: Any) -> str | None:
    """Return the owner of the page that sent a request, as `AccessControl` found it; None without access."""
    owner = web.scope.get(_OWNER)
    return owner if isinstance(owner, str) else None


def chosen_messages(web: Any) -> MessageCatalog:
    """Return the texts of the page that sent a request; by default in the language of the browser."""
    return web.scope.get(_MESSAGES) or catalog_of_accept_language(web.headers.get("accept-language", ""))


@functools.lru_cache(maxsize=1)
def pages_app(inbox: Inbox) -> ASGIApp:
    """Return the app that shows the requests of *inbox*: the same one for all servers, since it takes time to make."""
    return inbox_app(inbox, authenticated_owner, single_request=True, messages=chosen_messages)


class AccessControl:
    """
    Admits requests with the token of a page, and requests that the page itself sends.

    All other requests get the same 404.

    Args:
        app: The inbox app, which uses `authenticated_owner`.
        store: The store with the requests of the pages.
        host: The only host and port that requests may name.
        pages: Returns the current pages.

    Attributes:
        connections: The connections that have not shown a token.
    """

    def __init__(self, app: ASGIApp, store: RequestStore, host: str, pages: Callable[[], Iterable[BrowserTab]]) -> None:
        self.connections: Connections = Connections()
        self._app = app
        self._store = store
        self._host = host
        self._pages = pages
        self._closing = anyio.Event()

    def close(self) -> None:
        """End the event streams."""
        self._closing.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        first, slash, rest = scope["path"].removeprefix("/").partition("/")
        reply: Response | None = None
        page: BrowserTab | None = None
        if self._is_ours(scope["method"], headers):
            if not slash:
                reply = self._enter(scope["method"], headers, first)
            elif headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
                page = self._named("key", first)
        if page is not None and headers.get("sec-fetch-dest") == "iframe" and not page.frame_ancestors:
            page = None
        if page is not None or reply is not None:
            self.connections.admit(scope.get("client"))
        if page is not None and (scope["method"], rest) == ("POST", "left"):
            page.leave(has_reported=True)
            reply = Response(status_code=204, headers=HEADERS)
        elif page is not None:
            await self._visit(
                page,
                rest,
                {**scope, "root_path": f"/{first}", _OWNER: page.owner, _MESSAGES: page.messages},
                receive,
                _framed(page, send),
            )
            return
        await (reply or PlainTextResponse("Not found", 404, HEADERS))(scope, receive, send)

    def _is_ours(self, method: str, headers: Headers) -> bool:
        """Return True if a request names this server, and comes from its pages if it may change anything."""
        if headers.getlist("host") != [self._host] or headers.get("sec-fetch-dest", "document") not in _DESTINATIONS:
            return False
        if method == "POST":
            return headers.getlist("origin") == [f"http://{self._host}"]
        return method in ("GET", "HEAD")

    def _enter(self, method: str, headers: Headers, token: str) -> Response | None:
        """Open a page with its token, which works once.  A browser that only prefetches does not use it up."""
        page = self._named("token", token)
        is_navigation = method == "GET" and headers.get("sec-fetch-mode", "navigate") == "navigate"
        is_prefetch = "sec-purpose" in headers or "purpose" in headers
        if page is None or page.is_entered or not is_navigation or is_prefetch or not _may_enter(page, headers):
            return None
        page.enter()
        # Redirect by a page, so that the browser treats the following requests as same-origin.
        catalog = page.messages or catalog_of_accept_language(headers.get("accept-language", ""))
        return HTMLResponse(redirect_page(f"{page.key}/{page.entry_id}", catalog), headers=_headers(page))

    async def _visit(self, page: BrowserTab, rest: str, scope: Scope, receive: Receive, send: Send) -> None:
        is_stream = rest == "events"

        async def receive_or_close() -> Message:
            return await run_until(self._closing.wait, receive) or {"type": "http.disconnect"}

        page.begin(is_stream=is_stream)
        try:
            await self._app(scope, receive_or_close if is_stream else receive, send)
        finally:
            page.finish(is_stream=is_stream)
        if scope["method"] != "GET":  # The page is redirected, and shows the end afterwards.
            return
        stored = await self._store.get(page.owner, rest)
        if stored is not None and stored.resolution is not None:
            page.mark_end_shown()

    def _named(self, what: str, secret: str) -> BrowserTab | None:
        found = None
        for page in self._pages():
            if hmac.compare_digest(getattr(page, what).encode(), secret.encode()):
                found = page
        return found


def _may_enter(page: BrowserTab, headers: Headers) -> bool:
    """Return True if the browser opens a page in a tab, or in a frame of an origin that may show it."""
    destination = headers.get("sec-fetch-dest", "document")
    if destination != "iframe":
        return destination == "document"
    scheme, separator, rest = headers.get("referer", "").partition("://")
    return scheme + separator + rest.partition("/")[0] in page.frame_ancestors


def _headers(page: BrowserTab) -> dict[str, str]:
    """Return the security headers of a page, which let the origins that it names show it in a frame."""
    if not page.frame_ancestors:
        return HEADERS
    policy = HEADERS["Content-Security-Policy"]
    ancestors = f"frame-ancestors {' '.join(page.frame_ancestors)}"
    allowed = {**HEADERS, "Content-Security-Policy": policy.replace("frame-ancestors 'none'", ancestors)}
    del allowed["X-Frame-Options"]  # It cannot name an origin.
    return allowed


def _framed(page: BrowserTab, send: Send) -> Send:
    """Return a function that sends the responses of a page with its headers."""
    if not page.frame_ancestors:
        return send

    async def framed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            del headers["X-Frame-Options"]
            headers.update(_headers(page))
        await send(message)

    return framed


class Connections:
    """
    The connections that have not shown a token.

    They are closed soon, and the oldest one is closed if there are too many,
    so that they cannot keep a page from connecting.
    """

    def __init__(self) -> None:
        self._unknown: dict[Any, LimitedProtocol] = {}

    def add(self, connection: LimitedProtocol) -> None:
        """Note a new connection."""
        self._unknown[connection.client] = connection
        if len(self._unknown) > MAX_UNKNOWN:
            self.remove(next(iter(self._unknown.values()))).abort()

    def remove(self, connection: LimitedProtocol) -> LimitedProtocol:
        """Note that a connection has ended."""
        if self._unknown.get(connection.client) is connection:
            del self._unknown[connection.client]
        return connection

    def admit(self, client: Any) -> None:
        """Note that the connection of *client* has shown a token."""
        self._unknown.pop(client and tuple(client), None)

    def is_unknown(self, connection: LimitedProtocol) -> bool:
        """Return True if a connection has not shown a token."""
        return self._unknown.get(connection.client) is connection


class LimitedProtocol(H11Protocol):
    """
    A connection.

    Nothing is logged where the host application sees it: uvicorn's loggers
    may belong to the host, and paths contain secrets.
    """

    def __init__(self, *args: Any, connections: Connections, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False
        self.logger: logging.Logger = quiet_logger
        self._connections = connections

    def connection_made(self, transport: Any) -> None:
        """Begin, and end soon unless a token is shown."""
        super().connection_made(transport)
        self._connections.add(self)
        self.loop.call_later(UNKNOWN_TIMEOUT, self._end_unless_known)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end."""
        self._connections.remove(self)
        super().connection_lost(exc)

    def abort(self) -> None:
        """End the connection at once."""
        self.transport.abort()

    def _end_unless_known(self) -> None:
        if self._connections.is_unknown(self):
            self.abort()


@contextlib.contextmanager
def quiet_uvicorn() -> Iterator[None]:
    """Hide the log records of the server in this thread.  Other servers of the host application log as before."""
    own_thread = threading.get_ident()

    def is_of_host(record: logging.LogRecord) -> bool:
        return record.thread != own_thread

    asyncio.get_running_loop().set_exception_handler(lambda _, context: quiet_logger.error("%s", context["message"]))
    loggers = [logging.getLogger(name) for name in ("uvicorn", "uvicorn.error", "asyncio")]
    for logger in loggers:
        logger.addFilter(is_of_host)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_of_host)


def make_server(app: ASGIApp, connections: Connections) -> uvicorn.Server:
    """Return a server of *app*."""
    config = uvicorn.Config(
        app,
        http=cast("Any", functools.partial(LimitedProtocol, connections=connections)),
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        backlog=MAX_UNKNOWN // 2,  # the connections that are accepted before others are served
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
