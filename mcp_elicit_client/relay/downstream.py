"""`Downstream`: the client of the gateway that makes a call, and how it is asked with `elicitation/create`."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import secrets
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import anyio

from mcp_elicit_client.calls.methods import ProgressCallback
from mcp_elicit_client.core.request import MAX_USER, PROTOCOL_VERSIONS, ProtocolVersion
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.request_options import MODES
from mcp_elicit_client.sdk.callback import supports_multi_round_trip, uses_multi_round_trip
from mcp_elicit_client.typing import Mode

_logger = logging.getLogger("mcp_elicit_client")

_NEWEST_HANDSHAKE: ProtocolVersion = "2025-11-25"
_NOTIFY_TIMEOUT = 1.0
"""The maximum time for withdrawing a request, in seconds."""

_numbers = itertools.count()
_connections: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""A number for each connection of a client, which is never used again."""


def authenticated_user(context: Any) -> str | None:  # noqa: ARG001 -- the type of `Relay.user`
    """
    Return the user of the request in progress, as the SDK's authentication of HTTP requests verified it.

    The user is the client, issuer and subject of the access token, as far as
    the token verifier reports them, or a digest of them if they are long.
    None without authentication.
    """
    from mcp.server.auth.middleware.auth_context import get_access_token

    token: Any = get_access_token()
    if token is None:
        return None
    claims = getattr(token, "claims", None) or {}
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    user = json.dumps([token.client_id, issuer, getattr(token, "subject", None)], separators=(",", ":"))
    return user if len(user) <= MAX_USER else hashlib.sha256(user.encode()).hexdigest()


class Downstream(NamedTuple):
    """
    The client that makes a call.

    Attributes:
        session: The SDK's session with the client.
        request_id: The ID of its request.
        user: The user, as the host application knows it.
        key: Identifies the client: two requests with the same key may share
            a connection to the upstream server.
        has_rounds: The client is asked with multi-round-trip requests.
        modes: The modes that it declares.
        protocol_version: The protocol version in which it is asked.
    """

    session: Any
    request_id: Any
    user: str | None
    key: Hashable
    has_rounds: bool
    modes: frozenset[Mode]
    protocol_version: ProtocolVersion

    @property
    def caller(self) -> str:
        """Identifies who may continue a call, in every process."""
        return "" if self.user is None else self.user

    def on_disconnect(self, callback: Callable[[], object]) -> None:
        """Call *callback* when the connection of a client that has one is closed."""
        connection = _connection_of(self.session)
        stack = getattr(connection, "exit_stack", None) or getattr(connection, "_exit_stack", None)  # mcp 2.x, 1.x
        if stack is not None:
            stack.callback(callback)

    async def elicit(self, params: dict[str, Any]) -> Any:
        """
        Ask the client, and return the SDK's ``ElicitResult``.  If this is cancelled, the request is withdrawn.

        Raises:
            Exception: The SDK's error, if the client returns one.
        """
        from mcp import types
        from mcp.shared.message import ServerMessageMetadata

        request: Any = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": params})
        metadata = ServerMessageMetadata(related_request_id=self.request_id)
        if supports_multi_round_trip():
            return await self.session.send_request(request, types.ElicitResult, metadata=metadata)
        elicitation = getattr(self.session, "_request_id", None)
        wrapped: Any = types.ServerRequest
        try:
            return await self.session.send_request(wrapped(request), types.ElicitResult, metadata=metadata)
        except anyio.get_cancelled_exc_class():
            await self._withdraw(elicitation)
            raise

    async def complete(self, elicitation_id: str, *, is_calling: bool) -> None:
        """Report that a URL elicitation is complete; *is_calling* says that the request is still in progress."""
        related = self.request_id if is_calling else None
        await self.session.send_elicit_complete(elicitation_id, related_request_id=related)

    async def _withdraw(self, elicitation: Any) -> None:
        """Withdraw a request, which servers of mcp 1.x do not do by themselves."""
        from mcp import types

        notice = types.CancelledNotification.model_validate(
            {"method": "notifications/cancelled", "params": {"requestId": elicitation}}
        )
        with anyio.move_on_after(_NOTIFY_TIMEOUT, shield=True):
            try:
                wrapped: Any = types.ServerNotification
                await self.session.send_notification(wrapped(notice), related_request_id=self.request_id)
            except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                _logger.debug("a request could not be withdrawn: the client has disconnected")


def read_downstream(context: Any, user: str | None) -> Downstream:
    """Return the client that sent the request of *context*, the object that the SDK passes to handlers."""
    session = context.session
    has_rounds = uses_multi_round_trip(session)
    connection = None if has_rounds else _number_of(_connection_of(session))
    return Downstream(
        session,
        context.request_id,
        user,
        (user, connection),
        has_rounds,
        _declared_modes(session),
        _version(session),
    )


def read_progress(context: Any) -> ProgressCallback | None:
    """Return what forwards the progress of a call to its client, if the client wants to know it."""
    meta = getattr(context, "meta", None)
    if isinstance(meta, Mapping):
        token = meta.get("progress_token", meta.get("progressToken"))
    else:
        token = getattr(meta, "progressToken", None)
    if token is None:
        return None

    async def forward(progress: float, total: float | None, message: str | None) -> None:
        shown = None if message is None else sanitize_text(message)
        if supports_multi_round_trip():
            await context.session.report_progress(progress, total, shown)
        else:
            await context.session.send_progress_notification(token, progress, total, shown, context.request_id)

    return forward


def new_elicitation_id() -> str:
    """Return an ID for a URL elicitation of the gateway."""
    return f"relay-{secrets.token_urlsafe(12)}"


def _connection_of(session: Any) -> Any:
    return getattr(session, "_connection", session)


def _number_of(connection: Any) -> int:
    number = _connections.get(connection)
    if number is None:
        number = _connections[connection] = next(_numbers)
    return number


def _declared_modes(session: Any) -> frozenset[Mode]:
    capabilities = getattr(session, "client_capabilities", None)
    if capabilities is None:
        capabilities = getattr(getattr(session, "client_params", None), "capabilities", None)
    elicitation = getattr(capabilities, "elicitation", None)
    if elicitation is None:
        return frozenset()
    declared = frozenset(mode for mode in MODES if getattr(elicitation, mode, None) is not None)
    return declared or frozenset({"form"})


def _version(session: Any) -> ProtocolVersion:
    version = getattr(session, "protocol_version", None)
    if version is None:
        params = getattr(session, "client_params", None)
        version = getattr(params, "protocolVersion", None)
    return cast("ProtocolVersion", version) if version in PROTOCOL_VERSIONS else _NEWEST_HANDSHAKE
