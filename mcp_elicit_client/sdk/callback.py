"""The official SDK: ``ClientSession``, ``Client`` and ``ClientSessionGroup`` of mcp 1.x and 2.x."""

from __future__ import annotations

import functools
import importlib
import logging
from collections.abc import Callable, Mapping
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from mcp_elicit_client._arguments import check_sync
from mcp_elicit_client._concurrency import call_sync_inside
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION, MAX_CLAIM, Server, check_user
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from mcp.types import ElicitRequestParams, ElicitResult, ErrorData

__all__ = ["ElicitationCallback", "UserSource", "elicitation_callback"]

_logger = logging.getLogger("mcp_elicit_client")

UserSource: TypeAlias = str | Callable[[], str | None] | None
"""
The user that requests are for, or a function that returns it for each
request; None if there is only one user.
"""

_receiving: ContextVar[object] = ContextVar("receiving", default=None)
"""The session over which the request in progress arrived, if it is known."""

calling: ContextVar[Context | None] = ContextVar("calling", default=None)
"""The context in which the call was made that led to the server-initiated request in progress, if it is known."""


def receiving_session() -> object:
    """Return the session over which the request in progress arrived; None if it is not known."""
    return _receiving.get()


def may_arrive_over(session: object) -> bool:
    """Return False if the request in progress arrived over another session of the SDK than *session*."""
    import mcp

    receiving = _receiving.get()
    are_known = isinstance(receiving, mcp.ClientSession) and isinstance(session, mcp.ClientSession)
    return receiving is session or not are_known


@functools.cache
def supports_multi_round_trip() -> bool:
    """Return True if the installed SDK supports multi-round-trip requests (2026-07-28)."""
    return hasattr(importlib.import_module("mcp"), "Client")


def uses_multi_round_trip(session: object) -> bool:
    """Return True if *session* has multi-round-trip requests in place of server-initiated ones."""
    version = getattr(session, "protocol_version", None)
    return isinstance(version, str) and version >= FIRST_MULTI_ROUND_TRIP_VERSION


class ElicitationCallback(Protocol):
    """What ``ClientSession`` and ``Client`` take as ``elicitation_callback``, in both majors."""

    async def __call__(self, context: Any, params: ElicitRequestParams | Mapping[str, Any]) -> ElicitResult | ErrorData:
        """Answer *params*, the SDK's or a dictionary."""
        ...


class SdkDispatcher(Dispatcher):
    """
    A `Dispatcher` for libraries that pass the SDK's params and context.

    Args:
        handler: The handler that answers.
        request_options: As for `Dispatcher`.
        user: The user that requests are for.  If a function raises or
            returns something else, the request is cancelled.

    Raises:
        TypeError: As for `Dispatcher`; or if *user* is an async function.
        ValueError: As for `Dispatcher`; or if *user* does not have 1 to 256
            characters.
    """

    def __init__(
        self, handler: Handler, request_options: RequestOptions | None = None, user: UserSource = None
    ) -> None:
        super().__init__(handler, request_options)
        if callable(user):
            check_sync("user", user)
        self._user = user if callable(user) else check_user(user)

    async def answer_in(self, context: object, params: object, *, server: Server, **details: Any) -> Answer:
        """
        Answer *params* as `Dispatcher.answer` does.

        *context* is what the SDK passes to a callback, or any object that has
        a ``session``.  *details* replace those of *context*.
        """
        session = getattr(context, "session", None)
        token = _receiving.set(session)
        try:
            if "user" not in details:
                details["user"] = check_user(call_sync_inside(self._user)) if callable(self._user) else self._user
        except Exception:
            _logger.exception("the user of a request of server %r is unknown", server.name)
            return Answer.cancel(by="error", reason="the user of the request is unknown")
        else:
            claimed = _with_claimed_name(server, session)
            return await self.answer(params, server=claimed, **{**context_details(context), **details})
        finally:
            _receiving.reset(token)

    async def result(
        self, context: object, params: object, *, server: Server, **details: Any
    ) -> ElicitResult | ErrorData:
        """Return what a callback of the SDK returns: it always fits the protocol version."""
        import mcp.types

        try:
            answer = await self.answer_in(context, params, server=server, **details)
        except RequestError as error:
            if (context_details(context)["protocol_version"] or "") >= FIRST_MULTI_ROUND_TRIP_VERSION:
                return mcp.types.ElicitResult(action="cancel")
            return mcp.types.ErrorData(code=mcp.types.INVALID_PARAMS, message=str(error))
        return mcp.types.ElicitResult.model_validate(self.to_wire(answer))

    async def result_without_errors(
        self, context: object, params: object, *, server: Server, **details: Any
    ) -> dict[str, Any]:
        """Return the result as JSON, for libraries that take no error: what cannot be answered is cancelled."""
        try:
            answer = await self.answer_in(context, params, server=server, **details)
        except RequestError:
            return {"action": "cancel"}
        return self.to_wire(answer)


def elicitation_callback(
    handler: Handler,
    *,
    server: Server | str,
    user: UserSource = None,
    request_options: RequestOptions | None = None,
) -> ElicitationCallback:
    """
    Return the ``elicitation_callback`` of a client session.

    It works with mcp 1.x and 2.x, and with server-initiated and
    multi-round-trip requests.  It raises only if it is cancelled, does not
    reveal errors to the server, and always returns a result that the
    protocol allows.  If a request cannot be answered, the result is the error
    ``-32602``, or a cancel where the protocol version does not allow errors.

    Args:
        handler: The handler: a registry, `Caller.handler`, or any other.
        server: The name that your users see.  Use one callback for each
            server, also in a ``ClientSessionGroup``.
        user: The user that requests are for, 1 to 256 characters, or a
            function that returns it for each request; None if there is only
            one user.  A function is called where the SDK receives a request:
            context variables have the values of the task that connected.
        request_options: Limits, URL rules and modes; None for those of the
            registry.

    Raises:
        TypeError: If *handler* is not a handler, *server* not a name, or
            *user* an async function.
        ValueError: If the server name is blank, *user* is empty or too long,
            or options of the registry would have no effect.
    """
    known = Server.from_name(server)
    dispatcher = SdkDispatcher(handler, request_options, user)

    async def callback(context: Any, params: ElicitRequestParams | Mapping[str, Any]) -> ElicitResult | ErrorData:
        return await dispatcher.result(context, params, server=known)

    return callback


def _with_claimed_name(server: Server, session: object) -> Server:
    claimed = getattr(getattr(session, "server_info", None), "name", None)
    if server.claimed_name is not None or not isinstance(claimed, str):
        return server
    return _claiming(server, claimed[: MAX_CLAIM + 1])


@functools.lru_cache(maxsize=256)
def _claiming(server: Server, claimed: str) -> Server:
    return Server.model_validate({**dict(server), "claimed_name": claimed})


def context_details(context: object) -> dict[str, Any]:
    """Return the protocol version and the request ID in the context of a callback."""
    protocol = getattr(getattr(context, "session", None), "protocol_version", None)
    request_id = getattr(context, "request_id", None)
    return {
        "protocol_version": protocol if isinstance(protocol, str) else None,
        "request_id": request_id if isinstance(request_id, (str, int)) else None,
    }
