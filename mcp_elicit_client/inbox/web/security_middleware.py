"""What stands before every request: from where it comes, how long it is, what browsers may do with the reply."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Not no-referrer: browsers then hide the origin of our own forms too.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class TooLongError(Exception):
    """A body that is longer than is read."""


class SecurityMiddleware:
    """
    Refuses what other sites send, and what is too long; adds the headers.

    Args:
        app: What stands behind it.
        origins: From where forms may be sent besides the app's own host.
        limit: The longest body, in bytes.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str], limit: int) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
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
            refusal = PlainTextResponse("sent by another site", 403)
        elif _length(headers) > self._limit:
            refusal = PlainTextResponse("too long", 413)
        try:
            await (refusal or self._app)(scope, self._limited(receive), guarded)
        except TooLongError:
            await PlainTextResponse("too long", 413)(scope, receive, guarded)

    def _is_own(self, headers: Headers) -> bool:
        """Tell whether a page of ours sent this, or no browser at all."""
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site")
        if origin in self._origins:
            return True
        if site not in (None, "same-origin", "none"):
            return False
        if origin is None or (origin == "null" and site == "same-origin"):
            # Every browser names the origin of a form; what names none must be JSON, which no form can send.
            return site == "same-origin" or headers.get("content-type", "").partition(";")[0] == "application/json"
        return len(headers.getlist("host")) == 1 and urlsplit(origin).netloc == headers["host"]

    def _limited(self, receive: Receive) -> Receive:
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limit:
                raise TooLongError
            return message

        return limited


def _length(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() else 0
