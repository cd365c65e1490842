"""Which handler answers which request."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.core.url.inspect import DEFAULT_URL_RULES, UrlRules
from mcp_elicit_client.dispatch import RequestOptions, normalize_answer
from mcp_elicit_client.exceptions import RegistrationError
from mcp_elicit_client.sdk.callback import ElicitationCallback, elicitation_callback
from mcp_elicit_client.typing import Handler, Mode, Policy, Predicate, Request

_logger = logging.getLogger("mcp_elicit_client")

H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, slots=True)
class Route:
    """
    The requests that a handler is for; None stands for any.

    Attributes:
        mode: Form or url.
        server: What the host application calls the server.
        when: A predicate of the request.
    """

    mode: Mode | None = None
    server: str | None = None
    when: Predicate | None = None

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """How specific it is: first by server, then by predicate, then by mode."""
        return (self.server is not None, self.when is not None, self.mode is not None)

    def matches(self, request: Request) -> bool:
        """Tell whether *request* belongs here."""
        return (
            self.mode in (None, request.mode)
            and self.server in (None, request.server.name)
            and (self.when is None or bool(self.when(request)))
        )


class ElicitationRegistry:
    """
    Chooses among handlers, and is one itself.

    The most specific handler answers: one registered for the server before
    one for any, then one with a predicate before one without, then one for
    the mode before one for any.  Among predicates of the same rank the one
    registered first is asked first.

    Args:
        limits: How much of a server's request is read and shown.
        url_rules: Which hosts beyond public https may be visited.
        policy: What stands before every handler, e.g. ``recommended()``.
        report_outcome: Whether servers are told, in the result's ``_meta``,
            who decided.

    Attributes:
        request_options: How requests are read.
    """

    def __init__(
        self,
        *,
        limits: Limits = DEFAULT_LIMITS,
        url_rules: UrlRules = DEFAULT_URL_RULES,
        policy: Policy | None = None,
        report_outcome: bool = False,
    ) -> None:
        self.request_options: RequestOptions = RequestOptions(
            limits=limits, url_rules=url_rules, report_outcome=report_outcome
        )
        self._ask: Handler = self._choose if policy is None else policy(self._choose)
        self._handlers: dict[Route, Handler] = {}

    @overload
    def on_elicitation(self, handler: H, /) -> H: ...

    @overload
    def on_elicitation(
        self, /, *, mode: Mode | None = None, server: str | None = None, when: Predicate | None = None
    ) -> Callable[[H], H]: ...

    def on_elicitation(
        self,
        handler: H | None = None,
        /,
        *,
        mode: Mode | None = None,
        server: str | None = None,
        when: Predicate | None = None,
    ) -> H | Callable[[H], H]:
        """
        Register a handler; use it as a decorator, or call it with a handler.

        Args:
            handler: The handler, where it is for every request.
            mode: Only for this mode.
            server: Only for the server that the host application calls this.
            when: Only where this is true of the request.  If it raises, the
                request is cancelled.

        Returns:
            The handler itself, so that it can still be called and tested.

        Raises:
            RegistrationError: If there already is a handler for this place.
            ValueError: If *mode* is no mode.
        """
        if mode not in (None, "form", "url"):
            raise ValueError(f'mode must be "form" or "url", not {mode!r}')
        place = Route(mode, server, when)

        def register(handler: H) -> H:
            if place in self._handlers:
                raise RegistrationError(f"there already is a handler for {place}; a registry has one for each place")
            self._handlers[place] = handler
            return handler

        return register if handler is None else register(handler)

    @property
    def modes(self) -> frozenset[Mode]:
        """The modes that some handler answers."""
        every: frozenset[Mode] = frozenset({"form", "url"})
        wired: set[Mode] = set()
        for place in self._handlers:
            wired |= every if place.mode is None else {place.mode}
        return frozenset(wired)

    def handler_for(self, request: Request) -> Handler | None:
        """Return the most specific handler for *request*; None if there is none."""
        ranked = sorted(self._handlers, key=lambda place: place.rank, reverse=True)
        return next((self._handlers[place] for place in ranked if place.matches(request)), None)

    async def __call__(self, request: Request, /) -> Answer:
        """
        Answer with the most specific handler, if the policy lets it.

        Without one nobody was asked, and the answer is cancel.
        """
        return normalize_answer(await self._ask(request))

    async def _choose(self, request: Request, /) -> Answer:
        handler: Any = self.handler_for(request)
        if request.stand_in is not None and (request.resumed or handler is not None):
            handler = request.stand_in
        if handler is None:
            _logger.warning("no handler for a %s request of server %r", request.mode, request.server.name)
            return Answer.cancel(by="unattended", reason="no handler is registered for this request")
        return normalize_answer(await handler(request))

    def callback(self, server: Server | str) -> ElicitationCallback:
        """
        Make the ``elicitation_callback`` of a session with *server*.

        For ``ClientSession`` and ``Client`` of mcp 1.x and 2.x, and for every
        library that takes a callback of their shape.

        Args:
            server: What the host application calls the server.  It is what
                the user is shown, so make one callback per server.
        """
        return elicitation_callback(self, server=server, request_options=self.request_options)

    def __iter__(self) -> Iterator[Route]:
        return iter(self._handlers)

    def __len__(self) -> int:
        return len(self._handlers)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {len(self)} handlers>"
