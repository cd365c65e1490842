"""The ASGI side of the local server: access control, and the configuration of uvicorn."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Iterable
from typing import Any

import anyio
import uvicorn
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.exceptions import EntryNotFoundError, InboxError
from mcp_elicit_client.handlers.browser.tab import BrowserTab, redirect_page
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.web.security_middleware import HEADERS

_OWNER = "mcp_elicit_client.owner"
_DESTINATIONS = frozenset({"document", "empty", "image", "script", "style"})


def authenticated_owner(web: Any) -> str | None:
    """Return the owner of the page that sent a request, as `AccessControl` found it; None without access."""
    owner = web.scope.get(_OWNER)
    return owner if isinstance(owner, str) else None


class AccessControl:
    """
    Admits requests with the token of a page, and requests that the page itself sends.

    All other requests get the same 404.

    Args:
        app: The inbox app, which uses `authenticated_owner`.
        inbox: The inbox.
        host: The only host and port that requests may name.
        pages: Returns the current pages.
    """

    def __init__(self, app: ASGIApp, inbox: Inbox, host: str, pages: Callable[[], Iterable[BrowserTab]]) -> None:
        self._app = app
        self._inbox = inbox
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
                reply = await self._enter(scope["method"], headers, first)
            elif headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
                page = self._named("key", first)
        if page is not None and (scope["method"], rest) == ("POST", "left"):
            page.leave()
            reply = Response(status_code=204, headers=HEADERS)
        elif page is not None:
            await self._visit(page, rest, {**scope, "root_path": f"/{first}", _OWNER: page.owner}, receive, send)
            return
        await (reply or PlainTextResponse("Not found", 404, HEADERS))(scope, receive, send)

    def _is_ours(self, method: str, headers: Headers) -> bool:
        """Return True if a request names this server, and comes from its pages if it may change anything."""
        if headers.getlist("host") != [self._host] or headers.get("sec-fetch-dest", "document") not in _DESTINATIONS:
            return False
        if method == "POST":
            return headers.getlist("origin") == [f"http://{self._host}"]
        return method in ("GET", "HEAD")

    async def _enter(self, method: str, headers: Headers, token: str) -> Response | None:
        """Open a page with its token, which works once.  A browser that only prefetches does not use it up."""
        page = self._named("token", token)
        if (
            page is None
            or page.is_entered
            or method != "GET"
            or headers.get("sec-fetch-mode", "navigate") != "navigate"
            or headers.get("sec-fetch-dest", "document") != "document"
            or "sec-purpose" in headers
            or "purpose" in headers
        ):
            return None
        page.enter()
        entries = (await self._inbox.list(page.owner)).entries or (await self._inbox.history(page.owner)).entries
        # Redirect by a page, so that the browser treats the following requests as same-origin.
        return HTMLResponse(redirect_page(f"{page.key}/{entries[0].id if entries else ''}"), headers=HEADERS)

    async def _visit(self, page: BrowserTab, rest: str, scope: Scope, receive: Receive, send: Send) -> None:
        is_stream = rest == "events"

        async def receive_or_close() -> Message:
            return await run_until(self._closing.wait, receive) or {"type": "http.disconnect"}

        page.begin(is_stream=is_stream)
        try:
            await self._app(scope, receive_or_close if is_stream else receive, send)
        finally:
            page.finish(is_stream=is_stream)
        try:
            if (await self._inbox.get(page.owner, rest)).state != "pending":
                page.mark_end_shown()
        except (EntryNotFoundError, InboxError):
            pass

    def _named(self, what: str, secret: str) -> BrowserTab | None:
        found = None
        for page in self._pages():
            if hmac.compare_digest(getattr(page, what).encode(), secret.encode()):
                found = page
        return found


class _QuietProtocol(H11Protocol):
    """Logs no paths, because they contain secrets, and uvicorn's loggers may belong to the host."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False
        self.logger = logging.getLogger("mcp_elicit_client.browser")


def make_server(app: ASGIApp, max_connections: int) -> uvicorn.Server:
    """Return a server of *app* that accepts *max_connections* connections at a time."""
    config = uvicorn.Config(
        app,
        http=_QuietProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=max_connections,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
