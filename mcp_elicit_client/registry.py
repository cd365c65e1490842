"""`ElicitationRegistry`: which handler answers which request."""

from __future__ import annotations

import functools
import inspect
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, overload

from mcp_elicit_client._arguments import check_sync, describe
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.budgets import Admission
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.core.url.inspect import DEFAULT_URL_RULES, UrlRules
from mcp_elicit_client.dispatch import (
    NormalizedHandler,
    chain_policies,
    enforce_options,
    no_handler,
    register_handler,
)
from mcp_elicit_client.exceptions import RegistrationError
from mcp_elicit_client.notices import Notifier
from mcp_elicit_client.request_options import RequestOptions, check_inner_options
from mcp_elicit_client.sdk.callback import ElicitationCallback, UserSource, elicitation_callback
from mcp_elicit_client.typing import (
    FormHandler,
    FormRequest,
    Handler,
    Mode,
    Policy,
    Predicate,
    Request,
    UrlHandler,
    UrlRequest,
)

_logger = logging.getLogger("mcp_elicit_client")

H = TypeVar("H", bound=Handler)
F = TypeVar("F", bound=FormHandler)
U = TypeVar("U", bound=UrlHandler)

_NOT_PASSED = object()


class _Decorator(Protocol):
    """Registers a handler that answers every request."""

    def __call__(self, handler: H, /) -> H: ...


class _FormDecorator(Protocol):
    """Registers a handler that answers at least forms."""

    def __call__(self, handler: F, /) -> F: ...


class _UrlDecorator(Protocol):
    """Registers a handler that answers at least URLs."""

    def __call__(self, handler: U, /) -> U: ...


@dataclass(frozen=True, slots=True)
class Route:
    """
    The requests that a handler answers; None matches any.

    Attributes:
        mode: The mode, ``form`` or ``url``.
        server: The name that the host application gave the server.
        when: A predicate of the request.
    """

    mode: Mode | None = None
    server: str | None = None
    when: Predicate | None = None

    def __hash__(self) -> int:
        return hash((self.mode, self.server))  # a predicate may have no hash, as dataclasses do

    def __str__(self) -> str:
        parts = [
            f"{name}={value!r}" for name in ("mode", "server", "when") if (value := getattr(self, name)) is not None
        ]
        return ", ".join(parts) or "all requests"


def _rank(route: Route) -> tuple[bool, bool, bool]:
    """Return how specific *route* is: server first, then predicate, then mode."""
    return (route.server is not None, route.when is not None, route.mode is not None)


def _matches(route: Route, request: Request) -> bool:
    return (
        route.mode in (None, request.mode)
        and route.server in (None, request.server.name)
        and (route.when is None or _is_met(route.when, request))
    )


def _is_met(when: Predicate, request: Request) -> bool:
    result: object = when(request)
    if inspect.isawaitable(result):  # it is true, whatever its result would be
        raise TypeError(f"{describe(when)} returned an awaitable. A predicate must not be async.")
    return bool(result)


class ElicitationRegistry(NormalizedHandler):
    """
    Selects the handler for each request.  A registry is a handler itself.

    The most specific route wins: server first, then predicate, then mode.
    Among equally specific predicates the first registered wins.  The limits
    and URL rules apply however the registry is wrapped in policies.  If it is
    registered in another registry, the stricter ones of both apply.  Handlers
    may be registered at any time, in any thread.

    Args:
        limits: Maximum sizes and counts.
        url_rules: URLs that are allowed beyond public https.
        policy: The policy before every handler, such as ``recommended()``.
        report_outcome: Tell servers, in the result's ``_meta``, who decided.

    Attributes:
        request_options: The limits and URL rules.
    """

    # Without other attributes: to set `policy` would have no effect.
    __slots__ = ("__weakref__", "_handlers", "_lock", "_ranked", "request_options")

    def __init__(
        self,
        *,
        limits: Limits = DEFAULT_LIMITS,
        url_rules: UrlRules = DEFAULT_URL_RULES,
        policy: Policy | None = None,
        report_outcome: bool = False,
    ) -> None:
        options = RequestOptions(limits=limits, url_rules=url_rules, report_outcome=report_outcome)
        select = NormalizedHandler(self._select, options, Admission(), Notifier(self._notify_selected))
        ask = chain_policies([] if policy is None else [policy], select)
        super().__init__(enforce_options(options, ask), options, ask.admission, ask.notifier)
        self.request_options: RequestOptions = options
        self._handlers: dict[Route, NormalizedHandler] = {}
        self._ranked: list[Route] = []
        self._lock = threading.Lock()

    @overload
    def on_elicitation(  # type: ignore[overload-overlap]  # both return the handler
        self,
        handler: F,
        /,
        *,
        mode: Literal["form"],
        server: str | None = None,
        when: Callable[[FormRequest], bool] | None = None,
    ) -> F: ...

    @overload
    def on_elicitation(  # type: ignore[overload-overlap]  # both return the handler
        self,
        handler: U,
        /,
        *,
        mode: Literal["url"],
        server: str | None = None,
        when: Callable[[UrlRequest], bool] | None = None,
    ) -> U: ...

    @overload
    def on_elicitation(
        self, handler: H, /, *, mode: Mode | None = None, server: str | None = None, when: Predicate | None = None
    ) -> H: ...

    @overload
    def on_elicitation(
        self, /, *, mode: Literal["form"], server: str | None = None, when: Callable[[FormRequest], bool] | None = None
    ) -> _FormDecorator: ...

    @overload
    def on_elicitation(
        self, /, *, mode: Literal["url"], server: str | None = None, when: Callable[[UrlRequest], bool] | None = None
    ) -> _UrlDecorator: ...

    @overload
    def on_elicitation(
        self, /, *, mode: Mode | None = None, server: str | None = None, when: Predicate | None = None
    ) -> _Decorator: ...

    def on_elicitation(
        self,
        handler: Any = _NOT_PASSED,
        /,
        *,
        mode: Mode | None = None,
        server: str | None = None,
        when: Any = None,
    ) -> Any:
        """
        Register a handler, as a decorator or as a function.

        Args:
            handler: The handler.
            mode: Only requests in this mode.
            server: Only requests from the server with this name.
            when: Only requests for which this returns True.  If it raises,
                or returns an awaitable, the request is cancelled.

        Returns:
            The handler.

        Raises:
            RegistrationError: If a handler is already registered for the
                route, or if the handler contains this registry, or one whose
                options would have no effect here.
            TypeError: If the handler, *server* or *when* is of the wrong
                type, such as a handler that is not async.
            ValueError: If *mode* is not a mode, or *server* is blank.
        """
        if mode not in (None, "form", "url"):
            raise ValueError(f'`mode` must be "form" or "url", not {mode!r}.')
        if server is not None and not isinstance(server, str):
            raise TypeError(f"`server` must be the name of a server, not {type(server).__name__}.")
        if server is not None and not server.strip():
            raise ValueError("The server name is empty. Omit `server` to register for every server.")
        if when is not None:
            check_sync("when", when, "request")
        register = functools.partial(self._register, Route(mode, server, when))
        return register if handler is _NOT_PASSED else register(handler)

    def _register(self, route: Route, handler: H) -> H:
        normalized = register_handler(handler)
        try:
            if normalized.held_options is not None:
                check_inner_options(self.request_options, normalized.held_options)
        except ValueError as error:
            raise RegistrationError(str(error)) from None
        with self._lock:
            if route in self._handlers:
                raise RegistrationError(
                    f"A handler is already registered for {route}. "
                    "Add a `when=` predicate, or register only one of them."
                )
            # A new mapping: another thread may read the old one.
            before, self._handlers = self._handlers, {**self._handlers, route: normalized}
            try:
                normalized.modes  # noqa: B018 -- asks all registries inside
            except RecursionError:
                self._handlers = before
                raise RegistrationError(
                    "The handler contains this registry, so requests would be passed on without end. "
                    "Register only the handlers inside of it."
                ) from None
            self._ranked = sorted(self._handlers, key=_rank, reverse=True)
        return handler

    @property
    def modes(self) -> frozenset[Mode]:
        """The modes for which a handler is registered."""
        answered: set[Mode] = set()
        for route, handler in self._handlers.items():
            answered |= handler.modes if route.mode is None else handler.modes & {route.mode}
        return frozenset(answered)

    def _handler_for(self, request: Request) -> NormalizedHandler | None:
        """Return the handler with the most specific route for *request*; None if no route matches."""
        for route in self._ranked:
            if _matches(route, request):
                return self._handlers[route]
        return None

    async def _select(self, request: Request, /) -> Answer:
        handler = self._handler_for(request)
        if handler is None:
            _logger.warning(
                "no handler for a %s request of server %r. Register one with `on_elicitation`.",
                request.mode,
                request.server.name,
            )
            return await no_handler(request)
        return await handler(request)

    async def _notify_selected(self, notice: Notice, /) -> None:
        handler = self._handler_for(notice.request)
        if handler is not None:
            await handler.notifier.notify(notice)

    def callback(self, server: Server | str, *, user: UserSource = None) -> ElicitationCallback:
        """
        Return the ``elicitation_callback`` for a session with *server*.

        It works with ``ClientSession`` and ``Client`` of mcp 1.x and 2.x, and
        with every library that takes a callback of that shape.

        Args:
            server: The name that your users see.  Use one callback for each
                server.
            user: The user that the session belongs to, 1 to 256 characters,
                or a function that returns it for each request; None if there
                is only one user.  Use one session for each user and server.

        Raises:
            TypeError: If *server* is not a name, or *user* an async function.
            ValueError: If the server name is blank, or *user* empty or too long.
        """
        return elicitation_callback(self, server=server, user=user, request_options=self.request_options)

    def __iter__(self) -> Iterator[Route]:
        return iter(self._handlers)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {len(self._handlers)} handlers>"
