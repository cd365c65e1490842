"""`SqliteStore`: requests in a file that the processes of one machine share."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from mcp_elicit_client._arguments import check_seconds, check_type
from mcp_elicit_client.inbox.stores.models import HISTORY_TTL, LEASE_TTL, MAX_HISTORY, check_store_options
from mcp_elicit_client.inbox.stores.sql import SqlStore
from mcp_elicit_client.inbox.stores.sql_worker import SqlWorker
from mcp_elicit_client.inbox.stores.sqlite_connection import SqliteConnection

_LOG_TIMEOUT = 0.02


class SqliteStore(SqlStore):
    """
    Store requests in an SQLite file, for the threads and processes of one machine.

    The file is created with mode 0600.  A file that other users can read or
    write to, a link and a special file are refused.  The file is opened when
    the store is first used.

    Args:
        path: The file.  Its folder must exist, and must not be on a network.
        max_history: The number of closed requests that are kept for each
            owner.
        history_ttl: Seconds for which they are kept.
        lease_ttl: Seconds after which a process that no longer renews its
            lease counts as stopped.
        lock_timeout: Seconds to wait for locks of other processes.
        clock: Returns the current time, in seconds since 1970.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If *path* is a URL, or an option is out of range.
    """

    def __init__(  # noqa: PLR0913 -- all by keyword
        self,
        path: str | Path,
        *,
        max_history: int = MAX_HISTORY,
        history_ttl: float = HISTORY_TTL,
        lease_ttl: float = LEASE_TTL,
        lock_timeout: float = 2.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_type("path", path, str, PathLike)
        if str(path).startswith(("sqlite:", "file:")):
            raise ValueError("`path` must be the path of a file, such as inbox.db, not a URL.")
        check_store_options(clock=clock, max_history=max_history, history_ttl=history_ttl, lease_ttl=lease_ttl)
        check_seconds("lock_timeout", lock_timeout, allow_zero=True)
        # SQLite reports only changes that were made through other connections.
        own = SqliteConnection(Path(path), lock_timeout)
        worker = _SqliteWorker(own, clock=clock, lease_ttl=lease_ttl, max_history=max_history, history_ttl=history_ttl)
        super().__init__(SqliteConnection(Path(path), lock_timeout), worker)


class _SqliteWorker(SqlWorker):
    """Looks for changes whenever the file has changed, and removes erased values from the log beside it."""

    def __init__(self, database: SqliteConnection, **options: Any) -> None:
        super().__init__(database, **options)
        self._file = database
        self._seen: tuple[str, object, int] | None = None
        self._has_erased = False

    def answers_were_erased(self) -> None:
        """Remove erased values from the write-ahead log, as soon as no other process uses the file."""
        self._has_erased = True
        self.start()

    def _finish(self) -> None:
        self._truncate_log()

    def _look(self) -> None:
        with self._file.reading() as session:
            connection = session.connection  # Another connection may count from the same number.
            seen = (self.name, connection, connection.execute("PRAGMA data_version").fetchone()[0])
            if seen != self._seen:
                self._deliver_resolutions(session)
                self.waiters.notify_all()
                self._seen = seen
        self._truncate_log(_LOG_TIMEOUT)

    def _truncate_log(self, lock_timeout: float | None = None) -> None:
        if self._has_erased:
            self._has_erased = False  # before, since a task may erase something meanwhile
            if not self._file.truncate_log(lock_timeout):
                self._has_erased = True

    def _is_needed(self) -> bool:
        return super()._is_needed() or self._has_erased

    def _after_failure(self) -> None:
        self._has_erased = False

    def _close_left(self) -> bool:
        has_closed = super()._close_left()
        self._has_erased = self._has_erased or has_closed
        return has_closed

    def _maintain(self) -> bool:
        has_erased = super()._maintain()
        self._has_erased = self._has_erased or has_erased
        return has_erased
