"""A process that uses an SQLite inbox: its name, its lease, and a thread that notices changes by other processes."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import sqlite3
import threading
import time

from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.stores.models import Clock, StoredRequest
from mcp_elicit_client.inbox.stores.sqlite_connection import SqliteConnection, execute
from mcp_elicit_client.inbox.waiters import WaiterRegistry

_logger = logging.getLogger("mcp_elicit_client")

POLL_INTERVAL = 0.1
"""Seconds between two looks for changes by other processes."""

_LOG_TIMEOUT = 0.02


class SqliteWorker:
    """
    The lease of this process, and a thread that runs while a task waits.

    A thread renews the lease in whichever event loop the tasks wait, and
    while that loop is busy.

    Args:
        database: A connection that nothing else uses.
        waiters: The tasks that wait.
        clock: Returns the current time.
        lease_ttl: Seconds for which a lease is valid.
        history_ttl: Seconds for which closed requests are kept.
    """

    def __init__(
        self, database: SqliteConnection, waiters: WaiterRegistry, *, clock: Clock, lease_ttl: float, history_ttl: float
    ) -> None:
        self._database = database
        self._waiters = waiters
        self._clock = clock
        self._lease_ttl = lease_ttl
        self._history_ttl = history_ttl
        self._name = ""
        self._process_id = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._seen: tuple[str, int] | None = None
        self._maintain_at = 0.0
        self._has_erased = False
        self._has_failed = False

    @property
    def name(self) -> str:
        """The name under which this process holds its lease.  A forked process has another one."""
        if self._process_id != os.getpid():
            self._process_id = os.getpid()
            self._name = secrets.token_hex(8)
        return self._name

    def renew_lease(self, connection: sqlite3.Connection) -> None:
        """Renew the lease of this process."""
        execute(connection, "renew_lease", lease_owner=self.name, expires_at=self._clock() + self._lease_ttl)

    def start(self) -> None:
        """Start the thread, unless it runs."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._stopped.clear()
                self._thread = threading.Thread(target=self._run, name="mcp-elicit-inbox", daemon=True)
                self._thread.start()

    def truncate_log(self) -> None:
        """Remove erased values from the write-ahead log, as soon as no other process uses the file."""
        self._has_erased = True
        self.start()

    def close(self) -> None:
        """Stop the thread and close its connection."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._stopped.set()
        if thread is not None:
            thread.join()
        if self._has_erased:
            with contextlib.suppress(InboxError):
                self._has_erased = not self._database.truncate_log()
        self._database.close()

    def _run(self) -> None:
        while not self._stopped.wait(POLL_INTERVAL):
            try:
                self._poll()
                self._has_failed = False
            except InboxError as error:
                if not self._has_failed:
                    _logger.error("Changes in the inbox are not noticed. %s", error)  # noqa: TRY400 -- no trace needed
                self._has_failed, self._has_erased = True, False
            with self._lock:
                if not (self._waiters or self._has_erased):
                    self._thread = None
                    return

    def _poll(self) -> None:
        if time.monotonic() >= self._maintain_at:
            self._maintain()
            self._maintain_at = time.monotonic() + self._lease_ttl / 3
        with self._database.reading() as connection:
            seen = (self.name, connection.execute("PRAGMA data_version").fetchone()[0])
            if seen != self._seen:
                for row in execute(connection, "list_undelivered", lease_owner=self.name):
                    request = StoredRequest.from_row(dict(row))
                    if request.resolution is not None:
                        self._waiters.deliver(request.id, request.resolution)
                self._waiters.notify_all()
                self._seen = seen
        if self._has_erased:
            self._has_erased = not self._database.truncate_log(_LOG_TIMEOUT)

    def _maintain(self) -> None:
        """Renew the lease if a task waits, and delete what is old."""
        now = self._clock()
        with self._database.writing() as connection:
            if self._waiters:
                self.renew_lease(connection)
            execute(connection, "erase_abandoned_answers", now=now)
            execute(connection, "delete_old_history", oldest=now - self._history_ttl)
            execute(connection, "delete_unused_leases", before=now - self._lease_ttl)
