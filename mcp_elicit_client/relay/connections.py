"""
`ConnectionPool`: the connections of a relay to its upstream server.

A connection belongs to one client and to the modes that this client declares,
because capabilities are declared once for a connection.  At most one call at a
time uses it, so that each server-initiated request belongs to a known call.
Calls with multi-round-trip requests continue on the connection on which they
were paused, also at the same time as other calls.
"""

from __future__ import annotations

import copy
import functools
import logging
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from types import TracebackType
from typing import Any, TypeAlias

import anyio
import anyio.abc

from mcp_elicit_client._concurrency import call_sync_inside
from mcp_elicit_client.calls.active_call import CallTimeouts
from mcp_elicit_client.calls.methods import unwrap_session
from mcp_elicit_client.calls.server_errors import error_code
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS, ProtocolVersion
from mcp_elicit_client.exceptions import CallError, HandshakeRequiredError
from mcp_elicit_client.relay.downstream import Downstream
from mcp_elicit_client.relay.refusals import RefusedError, RelayClosedError
from mcp_elicit_client.relay.upstream import UpstreamCaller
from mcp_elicit_client.sdk.callback import uses_multi_round_trip
from mcp_elicit_client.typing import Answer, Mode, Request

_logger = logging.getLogger("mcp_elicit_client")

MAX_LISTENERS = 64
"""The maximum number of URL elicitations of one connection whose completion is awaited."""

_MAX_KEPT = 4_096
"""The maximum number of waiting calls whose connections are kept open."""

_PING_TIMEOUT = 5.0
"""The maximum time of a server to show that it still knows a connection, in seconds."""

_MIN_INTERVAL = 0.1
"""The minimum interval between two looks for unused connections, in seconds."""

AskClient: TypeAlias = Callable[[Request], Awaitable[Answer]]
"""Asks the client whose call uses a connection."""

MakeCaller: TypeAlias = Callable[["UpstreamConnection", frozenset[Mode], str | None], UpstreamCaller]
"""Makes the caller of a connection, for the modes and the user of the client."""


class UpstreamConnection:
    """
    A connection to the upstream server.

    Attributes:
        ask: Asks the client whose call uses this connection; None if there is
            no call.
        asked_in: The protocol version in which this client is asked.
        caller: Makes the calls.
        client: The SDK's client or session.
        has_rounds: The server uses multi-round-trip requests.
        key: The client and its modes, which alone use it.
        base: The connection that this one shares; the same object if it is
            used alone.
        listeners: The number of tasks that wait for notifications.
        idle_since: When the last call ended, by `time.monotonic`.
        is_doubtful: The last call ended with an error of the server, which
            may no longer know this connection.
    """

    def __init__(self) -> None:
        self.ask: AskClient | None = None
        self.asked_in: ProtocolVersion = PROTOCOL_VERSIONS[-1]
        self.caller: UpstreamCaller
        self.client: Any = None
        self.has_rounds: bool = False
        self.key: tuple[Hashable, frozenset[Mode]]
        self.base: UpstreamConnection = self
        self.listeners: int = 0
        self.idle_since: float = math.inf
        self.is_doubtful: bool = False
        self._closing = anyio.Event()
        self._disconnected: Any = None  # the event of the session, if it has one

    @property
    def is_usable(self) -> bool:
        """True if a call can be made."""
        is_connected = self._disconnected is None or not self._disconnected.is_set()
        return is_connected and not self._closing.is_set()

    async def is_alive(self) -> bool:
        """Return True if a call can be made, also after an error: a restarted server has lost its sessions."""
        if self.is_usable and self.is_doubtful and not self.has_rounds:  # others have neither session nor ping
            try:
                with anyio.fail_after(_PING_TIMEOUT):
                    await unwrap_session(self.client).send_ping()
            except BaseException as error:
                self.close()
                if not isinstance(error, Exception):
                    raise
        return self.is_usable

    def share(self) -> UpstreamConnection:
        """Return this connection for one more call at the same time, which needs another caller."""
        shared = copy.copy(self)
        shared.ask = None
        return shared

    def close(self) -> None:
        """Have the connection closed by the task that opened it."""
        self._closing.set()

    async def run(self, target: Any, mode: str, *, task_status: anyio.abc.TaskStatus[Exception | None]) -> None:
        """Open the connection, report its failure or None, and hold it until it is closed."""
        is_open = False
        try:
            async with self.caller.connect(target, mode=mode) as self.client:
                is_open = True
                session = unwrap_session(self.client)
                self.has_rounds = uses_multi_round_trip(session)
                self._disconnected = getattr(session, "disconnected", None)
                task_status.started(None)
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001 -- reported to the task that opens it
            if not is_open:
                task_status.started(error)
            else:
                _logger.warning("a connection to server %r broke: %r", self.caller.server.name, error)
        finally:
            self._closing.set()


class Lease:
    """The block in which a call of *downstream* uses a connection of *pool*, or several such blocks: see `pass_on`."""

    __slots__ = ("_connection", "_downstream", "_is_passed_on", "_pool", "_preferred")

    def __init__(
        self, pool: ConnectionPool, downstream: Downstream, preferred: UpstreamConnection | None = None
    ) -> None:
        self._pool = pool
        self._downstream = downstream
        self._preferred = preferred
        self._connection: UpstreamConnection
        self._is_passed_on = False

    async def __aenter__(self) -> UpstreamConnection:
        if not self._is_passed_on:
            self._connection = await self._pool.take(self._downstream, self._preferred)
        self._is_passed_on = False
        return self._connection

    def pass_on(self) -> None:
        """Keep the connection at the end of this block for the next one, which must begin."""
        self._is_passed_on = True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_passed_on:
            self._pool.give_back(self._connection, self._downstream, error)


class ConnectionPool:
    """
    The connections of one relay.

    Args:
        target: Where the server is, as `Caller.connect` takes it, or a
            function that returns that for the user of a call.
        make_caller: Makes the caller of a new connection.
        mode: As for `Caller.connect`.
        idle_timeout: Seconds after which an unused connection is closed.
        max_calls: The maximum number of calls of one client at a time.
        timeouts: Returns what limits the time in which the server is
            connected.
    """

    def __init__(  # noqa: PLR0913 -- those of a relay, by keyword
        self,
        target: Any,
        make_caller: MakeCaller,
        *,
        mode: str,
        idle_timeout: float,
        max_calls: int,
        timeouts: Callable[[], CallTimeouts],
    ) -> None:
        self._target = target
        self._make_caller = make_caller
        self._mode = mode
        self._idle_timeout = idle_timeout
        self._max_calls = max_calls
        self._timeouts = timeouts
        self._idle: dict[tuple[Hashable, frozenset[Mode]], list[UpstreamConnection]] = {}
        self._of_calls: dict[str, tuple[UpstreamConnection, float]] = {}
        """The connections of calls that wait for their clients, and until when."""
        self._in_use: Counter[Hashable] = Counter()
        self._connected: set[Hashable] = set()
        """The clients whose connections to the gateway are open."""
        self._connecting: set[CallTimeouts] = set()
        self._leased: set[UpstreamConnection] = set()
        self._group: anyio.abc.TaskGroup | None = None

    def open(self, group: anyio.abc.TaskGroup) -> None:
        """Allow connections, whose tasks run in *group*."""
        self._group = group

    def close(self, error: RelayClosedError) -> None:
        """End the calls in progress with *error*.  The tasks of the connections end with their group."""
        self._group = None
        for timeouts in self._connecting:
            timeouts.fail(error)
        for connection in self._leased:
            connection.caller.fail_calls(error)

    def keep(self, connection: UpstreamConnection, call_id: str, seconds: float) -> None:
        """Keep *connection* open, for `connection_of`, while a call waits for its client for at most *seconds*."""
        self._of_calls[call_id] = (connection.base, time.monotonic() + seconds)
        if len(self._of_calls) > _MAX_KEPT:
            del self._of_calls[next(iter(self._of_calls))]

    def release(self, call_id: str) -> None:
        """End what `keep` began."""
        self._of_calls.pop(call_id, None)

    def connection_of(self, call_id: str) -> UpstreamConnection | None:
        """Return the connection on which a call was paused: a server may accept its state only there."""
        connection, _ = self._of_calls.get(call_id, (None, 0.0))
        return connection

    def lease(self, downstream: Downstream, preferred: UpstreamConnection | None = None) -> Lease:
        """
        Return a block that uses a connection for *downstream*, alone.

        With *preferred*, it uses this connection if it can still be used by
        this client, at the same time as other calls if need be: only
        multi-round-trip requests allow that.

        It raises, when it begins:

        - `RefusedError`, if the client has too many calls in progress;
        - `CallError`, if the server cannot be reached, or not in time, or the
          relay was closed.
        """
        return Lease(self, downstream, preferred)

    async def take(self, downstream: Downstream, preferred: UpstreamConnection | None = None) -> UpstreamConnection:
        """Return a connection for *downstream*, which `give_back` takes: see `lease`."""
        if self._in_use[downstream.key] >= self._max_calls:
            raise RefusedError("too_many_calls")
        self._in_use[downstream.key] += 1
        self._watch(downstream)
        try:
            connection = await self._open_for(downstream, preferred) or await self._connect(downstream)
        except BaseException:
            self._count_ended(downstream)
            raise
        connection.asked_in = downstream.protocol_version
        self._leased.add(connection)
        return connection

    def give_back(self, connection: UpstreamConnection, downstream: Downstream, error: BaseException | None) -> None:
        """Keep *connection* for the next call of *downstream*; *error* is the one with which the last call ended."""
        if isinstance(error, HandshakeRequiredError):
            self._mode = "legacy"
        is_answer = error_code(error) is not None
        if error is not None and not is_answer and _must_close(connection, error):
            connection.close()
        self._leased.discard(connection)
        connection.ask = None
        connection.is_doubtful = is_answer
        if not connection.is_usable or not self._may_return(downstream):
            connection.close()
        elif connection.base is connection:  # otherwise another call has it
            connection.idle_since = time.monotonic()
            self._idle.setdefault(connection.key, []).append(connection)
        self._count_ended(downstream)

    def _count_ended(self, downstream: Downstream) -> None:
        self._in_use[downstream.key] -= 1
        if not self._in_use[downstream.key]:
            del self._in_use[downstream.key]

    async def close_idle(self) -> None:
        """Close unused connections, for ever."""
        while True:
            await anyio.sleep(max(self._idle_timeout / 4, _MIN_INTERVAL))
            now = time.monotonic()
            self._of_calls = {key: each for key, each in self._of_calls.items() if each[1] > now}
            needed = {each for each, _ in self._of_calls.values()} | {each.base for each in self._leased}
            oldest = now - self._idle_timeout
            for key, connections in [*self._idle.items()]:
                for each in [*connections]:
                    if not each.is_usable or (each.idle_since < oldest and not each.listeners and each not in needed):
                        connections.remove(each)
                        each.close()
                if not connections:
                    del self._idle[key]

    def _watch(self, downstream: Downstream) -> None:
        """Have the idle connections of a client closed when it disconnects: no other client uses them."""
        if not downstream.has_rounds and downstream.key not in self._connected:
            self._connected.add(downstream.key)
            downstream.on_disconnect(functools.partial(self._forget, downstream.key))

    def _forget(self, client: Hashable) -> None:
        self._connected.discard(client)
        for key in [each for each in self._idle if each[0] == client]:
            for connection in self._idle.pop(key):
                connection.close()

    def _may_return(self, downstream: Downstream) -> bool:
        return downstream.has_rounds or downstream.key in self._connected

    async def _open_for(
        self, downstream: Downstream, preferred: UpstreamConnection | None
    ) -> UpstreamConnection | None:
        key = (downstream.key, downstream.modes)
        connections = self._idle.get(key, [])
        if preferred is not None and preferred.has_rounds and preferred.is_usable and preferred.key == key:
            if preferred in connections:
                connections.remove(preferred)
                return preferred
            shared = preferred.share()
            shared.caller = self._make_caller(shared, downstream.modes, downstream.user)
            return shared
        # After `HandshakeRequiredError`, those with the later version only serve calls that wait for their clients.
        while fitting := [each for each in connections if not (each.has_rounds and self._mode == "legacy")]:
            connection = fitting[-1]
            connections.remove(connection)
            if await connection.is_alive():
                return connection
            connection.close()
        return None

    async def _connect(self, downstream: Downstream) -> UpstreamConnection:
        if self._group is None:
            raise RelayClosedError
        connection = UpstreamConnection()
        connection.key = (downstream.key, downstream.modes)
        connection.caller = self._make_caller(connection, downstream.modes, downstream.user)
        target = self._target
        if callable(target):
            target = call_sync_inside(functools.partial(target, downstream.user))
        timeouts = self._timeouts()
        self._connecting.add(timeouts)
        try:
            with timeouts:
                failure = await self._group.start(connection.run, target, self._mode)
        except BaseException:
            connection.close()
            raise
        finally:
            self._connecting.discard(timeouts)
        if failure is not None:
            name = connection.caller.server.name
            _logger.error("the gateway cannot connect to server %r: %r", name, failure)
            raise CallError(
                f"The gateway cannot connect to the server {name!r}. Check its URL or command."
            ) from failure
        if self._group is None:  # closed meanwhile
            raise RelayClosedError
        return connection


def _must_close(connection: UpstreamConnection, error: BaseException) -> bool:
    """
    Return True if no call can use *connection* after one that ended with *error*, and not with an answer.

    The server may ignore the cancellation, and its requests would arrive
    during the next call.  With multi-round-trip requests there are none, and
    other calls may wait for their clients on the same connection.
    """
    return not connection.has_rounds and not isinstance(error, UrlElicitationIncompleteError)
