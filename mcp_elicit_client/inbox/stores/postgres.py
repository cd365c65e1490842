"""`PostgresStore`: requests in PostgreSQL, for the processes of several machines."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any, ClassVar

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.inbox.stores.models import HISTORY_TTL, LEASE_TTL, MAX_HISTORY, check_store_options
from mcp_elicit_client.inbox.stores.postgres_connection import Listener, PostgresConnections
from mcp_elicit_client.inbox.stores.sql import SqlStore
from mcp_elicit_client.inbox.stores.sql_worker import POLL_INTERVAL, SqlWorker

SCHEMA = "mcp_elicit_inbox"
"""The default schema."""

_LOOK_INTERVAL = 0.5


class PostgresStore(SqlStore):
    """
    Store requests in PostgreSQL 12 or newer, for asyncio and trio.

    The tables are created when the store is first used, in a separate
    schema.  Changes are announced with ``NOTIFY``, and looked for every half
    second, so that none is lost when a connection breaks.  If a proxy such as
    PgBouncer is between, it must pool sessions, not transactions.

    The clocks of all machines must agree to a few seconds.

    Args:
        url: The URL of the database, such as
            ``postgresql://user:password@host/database``, or another
            connection string of libpq.
        schema: The schema with the tables.  The user needs the permission to
            create it, unless it exists with its tables.
        max_history: The number of closed requests that are kept for each
            owner.
        history_ttl: Seconds for which they are kept.
        lease_ttl: Seconds after which a process that no longer renews its
            lease counts as stopped.
        clock: Returns the current time, in seconds since 1970.

    Raises:
        MissingExtraError: If the package ``psycopg`` is not installed.
        TypeError: If an option is of the wrong type.
        ValueError: If *url* is no connection string, or an option is out of
            range.
    """

    _leave_timeout: ClassVar[float] = 1.0
    _timeout: ClassVar[float | None] = 15.0

    def __init__(  # noqa: PLR0913 -- all by keyword
        self,
        url: str,
        *,
        schema: str = SCHEMA,
        max_history: int = MAX_HISTORY,
        history_ttl: float = HISTORY_TTL,
        lease_ttl: float = LEASE_TTL,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_type("url", url, str)
        check_type("schema", schema, str)
        check_store_options(clock=clock, max_history=max_history, history_ttl=history_ttl, lease_ttl=lease_ttl)
        connections = PostgresConnections(url, schema)
        worker = _PostgresWorker(
            connections, clock=clock, lease_ttl=lease_ttl, max_history=max_history, history_ttl=history_ttl
        )
        super().__init__(connections, worker)


class _PostgresWorker(SqlWorker):
    """Looks for changes when it is notified of them, and every half second."""

    def __init__(self, connections: PostgresConnections, **options: Any) -> None:
        super().__init__(connections, **options)
        self._listener = Listener(connections)
        self._notifications: set[str] = set()
        self._look_at = 0.0

    def _wait(self) -> bool:
        if self._stopped.is_set():
            return True
        # After a connection was lost, notifications may be lost.
        self._look_at = self._look_at if self._listener.is_connected else 0.0
        self._notifications = self._listener.wait(POLL_INTERVAL if self._look_at else 0)
        return self._stopped.is_set()

    def _look(self) -> None:
        is_due = time.monotonic() >= self._look_at
        if is_due or f"w{self.name}" in self._notifications:
            with self._database.reading() as session:
                self._deliver_resolutions(session)
        for owner in self.waiters.watched_owners:
            if is_due or f"o{hashlib.sha256(owner.encode()).hexdigest()}" in self._notifications:
                self.waiters.notify(owner)
        if is_due:
            self._look_at = time.monotonic() + _LOOK_INTERVAL

    def _renew_own_lease(self) -> None:
        # Without the lock of other changes: a lease must not end because another process is slow.
        with self._database.reading() as session:
            self.renew_lease(session)

    def _after_failure(self) -> None:
        self._listener.close()
        self._look_at = 0.0
        self._stopped.wait(_LOOK_INTERVAL)

    def _end(self) -> None:
        self._listener.close()
