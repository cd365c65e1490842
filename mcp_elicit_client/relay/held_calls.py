"""`HeldCalls`: the calls that one process of a relay holds between two requests of its clients."""

from __future__ import annotations

import secrets
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import anyio
import anyio.abc

from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.relay.connections import Lease, UpstreamConnection
from mcp_elicit_client.relay.downstream import Downstream
from mcp_elicit_client.relay.held_call import HeldCall
from mcp_elicit_client.relay.legs import CallOutcome, check_same_call
from mcp_elicit_client.relay.refusals import RefusedError, RelayClosedError
from mcp_elicit_client.relay.stored_calls import OUTCOME_TTL

MAX_CALL = 3_600.0
"""How long a call may last in total, in seconds, if its client is asked with multi-round-trip requests."""

MAX_ENDED = 64
"""How many ended calls of one client are kept, for requests that are repeated because a response was lost."""

Work: TypeAlias = Callable[[UpstreamConnection, HeldCall], Awaitable[Any]]
"""Makes a held call over a connection, and returns its result."""


class HeldCalls:
    """
    The held calls of a relay.

    Args:
        leg_ttl: How long a leg can be answered, in seconds.
    """

    def __init__(self, *, leg_ttl: float) -> None:
        self._group: anyio.abc.TaskGroup | None = None
        self._leg_ttl = leg_ttl
        self._process = secrets.token_urlsafe(9)
        self._calls: dict[str, HeldCall] = {}
        self._ended: defaultdict[str, deque[tuple[float, str]]] = defaultdict(deque)

    def open(self, group: anyio.abc.TaskGroup) -> None:
        """Allow calls, which run in *group*."""
        self._group = group

    def close(self, error: RelayClosedError) -> None:
        """End all calls with *error*, and forget them.  Their tasks end with their group."""
        self._group = None
        for call in self._calls.values():
            call.finish(CallOutcome(error=error))
        self._calls.clear()

    def start(self, downstream: Downstream, spec: CallSpec, lease: Lease, work: Work) -> HeldCall:
        """
        Make the call *spec* in a separate task, to which *lease* is passed on.

        Raises:
            RelayClosedError: If the relay was closed.
        """
        if self._group is None:
            raise RelayClosedError
        call = HeldCall(downstream.caller, spec, self._process, leg_ttl=self._leg_ttl, max_ttl=MAX_CALL)
        self._calls[call.id] = call
        self._group.start_soon(self._run, call, repr(downstream.key), lease, work)
        lease.pass_on()
        return call

    def find(self, call_id: str, process: str, spec: CallSpec) -> HeldCall:
        """
        Return a call.

        Raises:
            RefusedError: If another process holds it, it has ended, or it is
                not the call *spec*.
        """
        if process != self._process:
            raise RefusedError("process")
        call = self._calls.get(call_id)
        if call is None:
            raise RefusedError("ended")
        check_same_call(call.spec, spec)
        return call

    async def _run(self, call: HeldCall, client: str, lease: Lease, work: Work) -> None:
        try:
            with call.scope:
                try:
                    async with lease as connection:
                        connection.ask = call.ask
                        call.finish(CallOutcome(await work(connection, call)))
                except Exception as error:  # noqa: BLE001 -- raised for the client, in its request
                    call.finish(CallOutcome(error=error))
        finally:
            call.finish(CallOutcome(error=RefusedError("ended")))
            if call.was_asked:
                self._keep_ended(call.id, self._ended[client])
            else:
                self._calls.pop(call.id, None)

    def _keep_ended(self, call_id: str, ended: deque[tuple[float, str]]) -> None:
        ended.append((time.monotonic(), call_id))
        if len(ended) > MAX_ENDED:
            self._calls.pop(ended.popleft()[1], None)

    async def clean_up(self) -> None:
        """For ever, cancel calls that last too long, and forget ended ones once their clients had time to come back."""
        while True:
            await anyio.sleep(OUTCOME_TTL / 4)
            now = time.monotonic()
            for call in self._calls.values():
                if call.ends_at <= now:
                    call.scope.cancel()
            for client, ended in list(self._ended.items()):
                while ended and ended[0][0] <= now - OUTCOME_TTL:
                    self._calls.pop(ended.popleft()[1], None)
                if not ended:
                    del self._ended[client]
