"""`SecurityMiddleware`: checks the origin and length of HTTP requests, and adds security headers."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # With no-referrer, browsers would also hide the origin of the forms of these pages.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class BodyTooLongError(Exception):
    """Raised when a body exceeds the limit."""


class SecurityMiddleware:
    """
    Refuses requests of other sites and long bodies, and adds the headers.

    Args:
        app: The protected app.
        origins: The origins that may send forms besides the app's own.
        limit: The maximum length of a body, in bytes.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str], limit: int) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        refusal: PlainTextResponse | None = None
        if scope["method"] not in ("GET", "HEAD") and not self._is_own(headers):
            refusal = PlainTextResponse("Requests from other sites are refused.", 403)
        elif _length(headers) > self._limit:
            refusal = PlainTextResponse("The body is too long.", 413)
        try:
            await (refusal or self._app)(scope, self._limited(receive), guarded)
        except BodyTooLongError:
            await PlainTextResponse("The body is too long.", 413)(scope, receive, guarded)

    def _is_own(self, headers: Headers) -> bool:
        """Return True if a page of this app or a client other than a browser sent this request."""
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site")
        if origin in self._origins:
            return True
        if site not in (None, "same-origin", "none"):
            return False
        if origin is None or (origin == "null" and site == "same-origin"):
            # Browsers name the origin of every form.  Requests without one must be JSON, which no form can send.
            return site == "same-origin" or headers.get("content-type", "").partition(";")[0] == "application/json"
        return len(headers.getlist("host")) == 1 and urlsplit(origin).netloc == headers["host"]

    def _limited(self, receive: Receive) -> Receive:
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limit:
                raise BodyTooLongError
            return message

        return limited


def _length(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() else 0
