"""`GatewayHandler`: asks the client whose call led to a request, inside of the gateway's policies."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar

from mcp_elicit_client.core.budgets import Admission
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS
from mcp_elicit_client.dispatch import NormalizedHandler, chain_policies, register_handler
from mcp_elicit_client.relay.connections import UpstreamConnection
from mcp_elicit_client.relay.wire import refuse_unrelayable
from mcp_elicit_client.stored_answers import is_resuming
from mcp_elicit_client.typing import Answer, Policy, Request

_asked_client: ContextVar[UpstreamConnection | None] = ContextVar("asked_client", default=None)
"""The connection on which the request in progress was made."""


class GatewayHandler:
    """
    The handler of a relay.

    Args:
        policies: The policies of the gateway, the outermost first.

    Attributes:
        has_policies: There are such policies.

    Raises:
        TypeError: If a policy is not a policy.
    """

    def __init__(self, policies: Sequence[Policy]) -> None:
        self.has_policies: bool = len(policies) > 0
        self._handler = chain_policies(policies, _only_relayable(register_handler(_ask_client)))
        self._admission = self._handler.admission or Admission()

    def of(self, connection: UpstreamConnection) -> NormalizedHandler:
        """Return the handler for the requests that arrive on *connection*."""

        async def ask(request: Request) -> Answer:
            token = _asked_client.set(connection)
            try:
                return await self._handler(request)
            finally:
                _asked_client.reset(token)

        return NormalizedHandler(ask, self._handler.held_options, self._admission, self._handler.notifier)


async def _ask_client(request: Request) -> Answer:
    """Ask the client whose call led to *request*: the handler inside of all policies."""
    connection = _asked_client.get()
    if connection is None or connection.ask is None:
        return Answer.cancel(by="unattended", reason="the request belongs to no call of a client")
    return await connection.ask(request)


def _only_relayable(handler: NormalizedHandler) -> NormalizedHandler:
    """Return *handler* so that it cancels requests that the client could not read, unless it has answered them."""

    async def ask(request: Request, /) -> Answer:
        connection = _asked_client.get()
        version = PROTOCOL_VERSIONS[-1] if connection is None else connection.asked_in
        refusal = None if is_resuming() else refuse_unrelayable(request, version)
        return await handler(request) if refusal is None else refusal

    return handler.wrapped_in(ask)
