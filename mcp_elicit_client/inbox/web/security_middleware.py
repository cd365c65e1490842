"""`SecurityMiddleware`: checks the origin and length of HTTP requests, and adds security headers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_elicit_client.core.limits import DEFAULT_LIMITS
from mcp_elicit_client.core.text import sanitize_text

_logger = logging.getLogger("mcp_elicit_client")

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

# As Starlette keeps them.
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_RAW_NAMES = frozenset(name for name, _ in _RAW_HEADERS)

_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST",
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}


MAX_BODY_BYTES: int = 16 * DEFAULT_LIMITS.max_answer
"""The maximum length of a request body, in bytes.  A character takes up to 12 bytes in a form, and in JSON."""

_MAX_DIGITS = 18
"""The digits of ``Content-Length`` that are read: Python refuses to read thousands."""

_TOO_LONG = HTTPException(413, "The body is too long.")


class BodyTooLongError(Exception):
    """Raised when a body exceeds the limit."""


class SecurityMiddleware:
    """
    Refuses requests of other sites and long bodies, and adds the headers.

    Args:
        app: The protected app.
        origins: The origins that may send forms besides the app's own.
        refuse: Returns the response for a body that is too long.
        allowed_origins: The origins whose pages may show requests and answer
            them, with a token in the ``Authorization`` header.  Cookies never
            count for them.
    """

    def __init__(
        self,
        app: ASGIApp,
        origins: Collection[str],
        refuse: Callable[[Request, HTTPException], Awaitable[Response]],
        allowed_origins: Collection[str] = (),
    ) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._allowed_origins = frozenset(allowed_origins)
        self._refuse = refuse
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        headers = Headers(scope=scope)
        other_origin = self._other_origin(headers)
        is_static = _is_static(scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [each for each in message["headers"] if each[0] not in _RAW_NAMES]
                message["headers"] = others + _RAW_HEADERS
                self._allow(MutableHeaders(scope=message), other_origin, is_static=is_static)
            await send(message)

        refusal: Response | None = None
        if other_origin and scope["method"] == "OPTIONS":
            refusal = Response(status_code=204, headers=_PREFLIGHT)
        elif other_origin and "authorization" not in headers and not is_static:
            refusal = PlainTextResponse("Pages of other origins need a token.", 401)
        elif not other_origin and scope["method"] not in ("GET", "HEAD") and not self._is_own(headers):
            self._warn(headers)
            refusal = PlainTextResponse("Requests from other sites are refused.", 403)
        elif _length(headers) > MAX_BODY_BYTES:
            refusal = await self._refuse(Request(scope), _TOO_LONG)
        try:
            await (refusal or self._app)(scope, self._limited(receive), guarded)
        except BodyTooLongError:
            await (await self._refuse(Request(scope), _TOO_LONG))(scope, receive, guarded)

    def _other_origin(self, headers: Headers) -> str:
        """Return the allowed origin whose page sent a request; empty for all other requests."""
        origin = headers.get("origin", "")
        is_other = headers.get("sec-fetch-site", "cross-site") != "same-origin"
        return origin if origin in self._allowed_origins and is_other else ""

    def _allow(self, headers: MutableHeaders, other_origin: str, *, is_static: bool) -> None:
        """Let the pages of allowed origins read a response, and load the script."""
        if not self._allowed_origins:
            return
        headers.add_vary_header("Origin")
        if other_origin:
            # Without Access-Control-Allow-Credentials, browsers send no cookies.
            headers["Access-Control-Allow-Origin"] = other_origin
        if is_static:
            headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            headers["Access-Control-Allow-Origin"] = "*"

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
            return site == "same-origin" or media_type(headers) == "application/json"
        host = origin.partition("://")[2].partition("/")[0]
        return len(headers.getlist("host")) == 1 and host == headers["host"]

    def _warn(self, headers: Headers) -> None:
        """Log once that a page of this app was refused, because a proxy changed the ``Host`` header."""
        if headers.get("sec-fetch-site") == "same-origin" and not self._has_warned:
            self._has_warned = True
            origin, host = (sanitize_text(headers.get(name, ""), multiline=False) for name in ("origin", "host"))
            message = "A page at %s was refused, since the Host header is %s. If a proxy changes it, pass origins=[%r]."
            _logger.warning(message, origin, host, origin)

    @staticmethod
    def _limited(receive: Receive) -> Receive:
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MAX_BODY_BYTES:
                raise BodyTooLongError
            return message

        return limited


def media_type(headers: Headers) -> str:
    """Return the content type in *headers*, in lower case and without parameters; may be empty."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_static(scope: Scope) -> bool:
    """Return True for the script and the style, which are the same for everyone."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    return bool(path.startswith("/static/"))


def _length(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length[:_MAX_DIGITS]) if length.isascii() and length.isdigit() else 0
