"""`GatewayHandler`: asks the client whose call led to a request, inside of the gateway's policies."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar

from mcp_elicit_client.core.budgets import Admission
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS, ProtocolVersion
from mcp_elicit_client.dispatch import NormalizedHandler, chain_policies, register_handler
from mcp_elicit_client.relay.connections import UpstreamConnection
from mcp_elicit_client.relay.wire import only_relayable
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
        client = register_handler(_ask_client)
        self._handler = chain_policies([*policies, only_relayable(_asked_in)], client)
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


def _asked_in() -> ProtocolVersion:
    connection = _asked_client.get()
    return PROTOCOL_VERSIONS[-1] if connection is None else connection.asked_in
