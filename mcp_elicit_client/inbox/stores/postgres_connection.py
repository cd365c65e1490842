"""Connections to PostgreSQL that the threads of a process share, and the listener for changes by other processes."""

from __future__ import annotations

import contextlib
import os
import re
import select
import threading
import time
from collections.abc import Iterator
from typing import Any

from mcp_elicit_client.exceptions import InboxError, MissingExtraError
from mcp_elicit_client.inbox.stores.sql_session import SqlSession, counter_of, load_sql, load_statements, transaction
from mcp_elicit_client.inbox.stores.threads import MAX_THREADS, stop_if_abandoned

FORMAT = 1
"""The format number of the tables, in the table ``counter``.  Increase it with each change of the schema."""

_OPTIONS = {
    "connect_timeout": 5,
    "fallback_application_name": "mcp-elicit-inbox",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "tcp_user_timeout": 10_000,
}
"""Options of libpq that the URL may replace."""

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")

_STATEMENTS = {name: _PARAMETER.sub(r"%(\1)s", text) for name, text in load_statements().items()}

# A process that hangs during a transaction must not stop the others: the server ends its session.
_SETTINGS = """
SET search_path TO {schema};
SET default_transaction_isolation TO 'read committed';
SET default_transaction_read_only TO off;
SET statement_timeout TO '10s';
SET lock_timeout TO '5s';
SET idle_in_transaction_session_timeout TO '5s'
"""

_BEGIN = "BEGIN; SELECT revision FROM counter FOR UPDATE"

# In what is committed: functions such as to_regclass() look into a cache.
_SCHEMA_EXISTS = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s"
_TABLES_EXIST = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = %s AND tablename = 'counter'"


class PostgresConnections:
    """
    A pool of connections, which are opened when they are needed.

    Args:
        url: The URL of the database, or another connection string of libpq.
        schema: The schema with the tables.  It is created if it is missing.

    Raises:
        MissingExtraError: If the package ``psycopg`` is not installed.
        ValueError: If *url* is no connection string.
    """

    def __init__(self, url: str, schema: str) -> None:
        self._lock = threading.Lock()
        self._idle: list[Any] = []
        self._process_id = 0
        self._is_prepared = False
        try:
            import psycopg
            from psycopg import sql
        except ImportError as error:
            raise MissingExtraError("postgres", "an inbox in PostgreSQL") from error
        self._psycopg: Any = psycopg
        self._failures = (psycopg.Error, OSError)
        try:
            self._options: dict[str, Any] = {**_OPTIONS, **psycopg.conninfo.conninfo_to_dict(url)}
        except psycopg.ProgrammingError:  # whose text may contain the password
            raise ValueError(
                "`url` must be a URL of PostgreSQL, such as postgresql://user:password@host/database,"
                " or another connection string of libpq."
            ) from None
        self._schema = schema
        self._quoted: str = sql.Identifier(schema).as_string(None)

    def __del__(self) -> None:
        """Close the connections: `psycopg` warns of those that were not closed."""
        self.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[SqlSession]:
        """
        Use a connection.  Each statement is a transaction.

        Raises:
            InboxError: If the database cannot be used.
        """
        with self._connected() as connection:
            yield SqlSession(connection, _STATEMENTS)

    @contextlib.contextmanager
    def writing(self) -> Iterator[SqlSession]:
        """
        Use a connection in a transaction, which is rolled back if anything is raised.

        Raises:
            InboxError: If the database cannot be used, or if it is unknown
                whether the transaction was committed.
        """
        with self.reading() as session, transaction(session.connection, _BEGIN, self._failures):
            yield session

    def close(self) -> None:
        """Close the connections that no thread uses.  The next use opens others."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle if self._process_id == os.getpid() else ():
            connection.close()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        stop_if_abandoned()  # while this thread waited for others
        with self.failing_as_inbox_error():
            connection = self._take() or self.open()
            try:
                if not self._is_prepared:
                    self._prepare(connection)
                    self._is_prepared = True
                yield connection
            except self._psycopg.errors.UndefinedTable:  # Someone has dropped the tables.
                self._is_prepared = False
                raise
            finally:
                self._give_back(connection)

    @contextlib.contextmanager
    def failing_as_inbox_error(self) -> Iterator[None]:
        """
        Let errors of the driver be errors of the inbox.

        Raises:
            InboxError: For each error of the driver.
        """
        try:
            yield
        except self._failures as error:
            text = str(error).strip().partition("\n")[0] or type(error).__name__
            raise InboxError(f"The inbox in PostgreSQL cannot be used: {text.rstrip('.')}.") from error

    def _take(self) -> Any:
        """Return a connection that can be used, or None."""
        with self._lock:
            if self._process_id != os.getpid():
                # The parent process owns these connections.  psycopg does not close them here.
                self._process_id, self._idle = os.getpid(), []
            while self._idle:
                connection = self._idle.pop()
                if _is_usable(connection):
                    return connection
                connection.close()
        return None

    def _give_back(self, connection: Any) -> None:
        is_idle = connection.pgconn.transaction_status == self._psycopg.pq.TransactionStatus.IDLE
        with self._lock:
            if is_idle and self._process_id == os.getpid() and len(self._idle) < MAX_THREADS:
                self._idle.append(connection)
                return
        connection.close()

    def open(self, *statements: str) -> Any:
        """Return a new connection in which *statements* were executed; raises the errors of the driver."""
        connection = self._psycopg.connect(**self._options, autocommit=True, row_factory=self._psycopg.rows.dict_row)
        try:
            for each in (_SETTINGS.format(schema=self._quoted), *statements):
                connection.execute(each)
        except BaseException:
            connection.close()
            raise
        return connection

    def listen(self) -> Any:
        """Return a new connection that listens for changes; raises the errors of the driver."""
        with self.reading():
            pass  # creates the schema
        return self.open(f"LISTEN {self._quoted}")

    def _prepare(self, connection: Any) -> None:
        """Create the tables unless they exist, and check their format."""
        if self._format(connection) is None:
            with connection.transaction():
                # Two processes must not create them at once.
                connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"mcp-elicit-inbox {self._schema}"])
                if self._format(connection) is None:
                    if not self._finds(connection, _SCHEMA_EXISTS):
                        connection.execute(f"CREATE SCHEMA {self._quoted}")
                    connection.execute(load_sql("postgres_schema.sql").format(format=FORMAT))
        found = self._format(connection)
        if found != FORMAT:
            raise InboxError(
                f"The inbox in PostgreSQL with the schema {self._schema} has format {found}, but this version of"
                f" mcp-elicit-client needs format {FORMAT}. Use another schema, or the version that created it."
            )

    def _format(self, connection: Any) -> int | None:
        """Return the format of the tables; None if there are no tables."""
        table = f"{self._quoted}.counter"
        if not self._finds(connection, _TABLES_EXIST):
            return None
        return int(counter_of(connection.execute(f"SELECT format FROM {table}"))["format"])  # noqa: S608 -- quoted

    def _finds(self, connection: Any, query: str) -> bool:
        """Return True if *query* about the schema has a result."""
        return connection.execute(query, [self._schema]).fetchone() is not None


def _is_usable(connection: Any) -> bool:
    """Return False if the server has closed an idle connection: it is readable then."""
    if connection.closed:
        return False
    if hasattr(select, "poll"):
        poller = select.poll()
        poller.register(connection.fileno(), select.POLLIN)
        return not poller.poll(0)
    return not select.select([connection.fileno()], [], [], 0)[0]


class Listener:
    """
    Receives the notifications of other processes.  One thread uses it.

    Args:
        connections: Opens the connection.
    """

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections
        self._connection: Any = None
        self._process_id = 0

    @property
    def is_connected(self) -> bool:
        """Return True if notifications arrive.  A forked process does not use the connection of its parent."""
        return self._connection is not None and self._process_id == os.getpid()

    def wait(self, seconds: float) -> set[str]:
        """
        Return the notifications that arrive until at least one has arrived, or *seconds* have passed.

        Raises:
            InboxError: If the database cannot be used.
        """
        with self._connections.failing_as_inbox_error():
            if not self.is_connected:
                self._connection, self._process_id = self._connections.listen(), os.getpid()
            end = time.monotonic() + seconds
            notifications = {each.payload for each in self._connection.notifies(timeout=seconds, stop_after=1)}
            if notifications and time.monotonic() < end:
                notifications |= {each.payload for each in self._connection.notifies(timeout=0)}
            return notifications

    def close(self) -> None:
        """Close the connection."""
        if self.is_connected:
            self._connection.close()
        self._connection = None
