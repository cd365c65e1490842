"""The ASGI app over an inbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.inbox.inbox import Inbox

if TYPE_CHECKING:
    from starlette.applications import Starlette

Authenticate: TypeAlias = "Callable[[Any], str | Awaitable[str | None] | None]"
"""Tells from a Starlette request who is signed in; None if nobody is."""

BODY = 65_536
"""The longest body that is read, in bytes."""


def inbox_app(
    inbox: Inbox, authenticate: Authenticate, *, origins: Collection[str] = (), single_request: bool = False
) -> Starlette:
    """
    Build an app that shows the questions of whoever is signed in, and takes answers.

    It can be mounted in FastAPI, or in any ASGI host.

    =====================  ======================================================
    ``GET /``              the questions that wait
    ``GET /history``       those that no longer do, without values
    ``GET /{id}``          one question
    ``POST /{id}``         an answer
    ``GET /events``        what comes and changes, as server-sent events
    ``GET /openapi.json``  the description of all this
    =====================  ======================================================

    Browsers get pages, which work without JavaScript; everybody else JSON.

    Args:
        inbox: The questions.
        authenticate: Takes the request, and returns the owner, as the
            `InboxHandler` names them; or None, and nothing is shown.  It may
            be async.  There is no default: whoever is let in may answer.
        origins: From where else forms may be sent (``https://app.example``),
            where a proxy hides the host that the browser knows.
        single_request: Whether every owner has one question and one page: nothing
            leads to lists, and a page that is closed says so by a ``POST`` to
            ``left`` beside it, which stands in front of this app.

    Raises:
        MissingExtraError: If starlette or jinja2 is not installed.
    """
    try:
        import jinja2  # noqa: F401 -- looked for here, used by the pages
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.routing import Mount, Route
        from starlette.staticfiles import StaticFiles
    except ImportError as error:
        raise MissingExtraError("browser", "an inbox in the browser") from error
    from mcp_elicit_client.inbox.web.endpoints import Endpoints
    from mcp_elicit_client.inbox.web.security_middleware import SecurityMiddleware

    serve = Endpoints(inbox, authenticate, single_request=single_request)
    return Starlette(
        routes=[
            Route("/", serve.waiting),
            Route("/history", serve.history),
            Route("/events", serve.events),
            Route("/openapi.json", serve.openapi),
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
            Route("/{id}", serve.show, methods=["GET"]),
            Route("/{id}", serve.answer, methods=["POST"]),
        ],
        middleware=[Middleware(SecurityMiddleware, origins=origins, limit=BODY)],
        exception_handlers=serve.exceptions,
    )
