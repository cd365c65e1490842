"""Who may come in to the pages, and from where."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from typing import Any

import anyio
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.exceptions import EntryNotFoundError, InboxError
from mcp_elicit_client.handlers.browser.tab import BrowserTab
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.web.security_middleware import HEADERS

_OWNER = "mcp_elicit_client.owner"
_OF_A_PAGE = frozenset({"document", "empty", "image", "script", "style"})

_ENTRY = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={place}">
<title>A question</title>
<p><a href="{place}">Go on to the question</a></p>
</html>
"""


def authenticated_owner(web: Any) -> str | None:
    """Tell whose page a request is from, if the `Door` let it in."""
    owner = web.scope.get(_OWNER)
    return owner if isinstance(owner, str) else None


class AccessControl:
    """
    Lets in whoever comes with a page's token or from the page itself; to all others there is nothing.

    Everything is refused with the same 404.

    Args:
        app: The inbox app; it takes owners from `owner_of`.
        inbox: The questions.
        host: The only host and port by which it may be reached.
        pages: The pages that there are just now.
    """

    def __init__(self, app: ASGIApp, inbox: Inbox, host: str, pages: Callable[[], Iterable[BrowserTab]]) -> None:
        self._app = app
        self._inbox = inbox
        self._host = host
        self._pages = pages
        self._closing = anyio.Event()

    def close(self) -> None:
        """End the streams of events."""
        self._closing.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
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
        """Tell whether it came to this very server, from a page of its own if it is to change anything."""
        if headers.getlist("host") != [self._host] or headers.get("sec-fetch-dest", "document") not in _OF_A_PAGE:
            return False
        if method == "POST":
            return headers.getlist("origin") == [f"http://{self._host}"]
        return method in ("GET", "HEAD")

    async def _enter(self, method: str, headers: Headers, token: str) -> Response | None:
        """Open a page by its token, which is spent; a browser that only looks ahead does not spend it."""
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
        # A page of ours leads on, so that the browser counts what follows as our own.
        place = f"{page.key}/{entries[0].id if entries else ''}"
        return HTMLResponse(_ENTRY.format(place=place), headers=HEADERS)

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
                page.tell()
        except (EntryNotFoundError, InboxError):
            pass

    def _named(self, what: str, secret: str) -> BrowserTab | None:
        found = None
        for page in self._pages():
            if hmac.compare_digest(getattr(page, what).encode(), secret.encode()):
                found = page
        return found
