"""`inbox_app`: the ASGI app of an inbox."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_elicit_client._arguments import check_function, check_sync, check_texts, check_type
from mcp_elicit_client.core.url.inspect import DEFAULT_PORTS
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.presentation.catalog import MessageCatalog, catalog_of_accept_language

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request as WebRequest
    from starlette.responses import Response

    from mcp_elicit_client.policies import RememberedAnswers

_Endpoint: TypeAlias = "Callable[[WebRequest], Awaitable[Response]]"
"""Handles an HTTP request to one path."""


# Compiled at its first use, because it would slow down the import.
_ORIGIN = r"[a-z][a-z0-9+.-]*://[^/?#\sA-Z]+"


def inbox_app(  # noqa: PLR0913 -- all by keyword
    inbox: Inbox,
    authenticate: Callable[[Any], str | Awaitable[str | None] | None],
    *,
    origins: Collection[str] = (),
    allowed_origins: Collection[str] = (),
    single_request: bool = False,
    remembered: RememberedAnswers | None = None,
    messages: Callable[[Any], MessageCatalog] | MessageCatalog | None = None,
) -> Starlette:
    """
    Return an app that shows the requests of the signed-in user and accepts answers.

    It can be mounted in FastAPI or in any other ASGI application.

    =====================  ======================================================
    ``GET /``              the pending requests
    ``GET /history``       the closed requests, without values
    ``GET /{id}``          one request
    ``POST /{id}``         an answer, or a request for more time
    ``GET /events``        new and closed requests, as server-sent events
    ``GET /remembered``    the remembered answers of the user, with *remembered*
    ``POST /remembered``   forget one of them, or all
    ``GET /openapi.json``  the OpenAPI description of these endpoints
    =====================  ======================================================

    ``static/mcp-elicitation.js`` defines the element ``<mcp-elicitation>``,
    which shows requests inside other pages.

    Browsers get pages, which work without JavaScript.  Other clients get
    JSON.

    Args:
        inbox: The inbox.
        authenticate: Takes the Starlette request and returns the owner, as
            `InboxHandler` names it; None if no user is signed in.  It may be
            async.  There is no default, because everyone it accepts may
            answer.
        origins: Other origins that may send forms, such as
            ``https://app.example``, if a proxy hides the host name that the
            browser uses.
        allowed_origins: Other origins whose pages may show requests with the
            element ``<mcp-elicitation>``, such as ``https://app.example``.
            They send a token in the ``Authorization`` header, which
            `authenticate` must check; cookies are never sent.
        single_request: True if each owner has one request on one page.  Pages
            then have no links to lists, and report that they are closed with
            ``POST left``, which the host handles in front of this app.
        remembered: The remembered answers that users can list and revoke
            here: those of requests whose user (`Request.user`) is the owner.
        messages: The texts of the pages, or a function that takes the
            Starlette request and returns them; None for the language in the
            ``Accept-Language`` header.

    Raises:
        MissingExtraError: If starlette or jinja2 is not installed.
        TypeError: If an argument is of the wrong type.
        ValueError: If an origin is not written as browsers send it.
    """
    check_type("inbox", inbox, Inbox, hint="Pass Inbox(store).")
    check_function("authenticate", authenticate, "web")
    _check_origins("origins", origins)
    _check_origins("allowed_origins", allowed_origins)
    check_type("single_request", single_request, bool)
    if not isinstance(messages, (MessageCatalog, NoneType)):
        check_sync("messages", messages, "web", hint="For one language, pass MessageCatalog.for_language('de').")
    try:
        import jinja2  # noqa: F401 -- only to see that it is installed
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.requests import Request
        from starlette.routing import Mount
        from starlette.staticfiles import StaticFiles
    except ImportError as error:
        raise MissingExtraError("browser", "an inbox in the browser") from error
    from mcp_elicit_client.inbox.web.endpoints import Endpoints, PathRoute
    from mcp_elicit_client.inbox.web.pages import Pages
    from mcp_elicit_client.inbox.web.security_middleware import SecurityMiddleware

    def pages_for(web: Request) -> Pages:
        if messages is None:
            catalog = catalog_of_accept_language(web.headers.get("accept-language", ""))
        else:
            catalog = messages if isinstance(messages, MessageCatalog) else messages(web)
        return Pages(catalog, single_request=single_request, lists_remembered=remembered is not None)

    endpoints = Endpoints(inbox, authenticate, pages_for, lists_remembered=remembered is not None)
    more_routes: list[PathRoute] = []
    if remembered is not None:
        from mcp_elicit_client.inbox.web.remembered import RememberedEndpoint
        from mcp_elicit_client.policies import RememberedAnswers

        check_type("remembered", remembered, RememberedAnswers)
        endpoint = RememberedEndpoint(remembered, endpoints.owner, pages_for)
        more_routes = [PathRoute("/remembered", _get_or_post(endpoint.show, endpoint.revoke), methods=["GET", "POST"])]
    app = Starlette(
        routes=[
            PathRoute("/", endpoints.pending),
            PathRoute("/history", endpoints.history),
            PathRoute("/events", endpoints.events),
            PathRoute("/openapi.json", endpoints.openapi),
            *more_routes,
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
            PathRoute("/{id}", _get_or_post(endpoints.show, endpoints.answer), methods=["GET", "POST"]),
        ],
        middleware=[
            Middleware(
                SecurityMiddleware,
                origins=origins,
                refuse=endpoints.refuse,
                allowed_origins=allowed_origins,
            )
        ],
        exception_handlers=endpoints.exception_handlers,
    )
    app.router.redirect_slashes = False  # Redirects would name a scheme and a host that a proxy may hide.
    return app


def _check_origins(name: str, origins: Collection[str]) -> None:
    check_texts(name, origins)
    for origin in origins:
        if not _is_sent_by_browsers(origin):
            text = (
                f"`{name}` must contain origins as browsers send them, such as 'https://app.example', not {origin!r}."
            )
            raise ValueError(f"{text} Use lower case, and omit paths and the default port.")


def _is_sent_by_browsers(origin: str) -> bool:
    default_port = DEFAULT_PORTS.get(origin.partition("://")[0])
    has_default_port = default_port is not None and origin.endswith(f":{default_port}")
    return re.fullmatch(_ORIGIN, origin) is not None and origin.isascii() and not has_default_port


def _get_or_post(get: _Endpoint, post: _Endpoint) -> _Endpoint:
    async def endpoint(web: WebRequest) -> Response:
        return await (post if web.method == "POST" else get)(web)

    return endpoint
