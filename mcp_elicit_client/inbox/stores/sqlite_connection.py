"""A connection to an SQLite file that threads and processes share."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from mcp_elicit_client._concurrency import ForkSafeLock
from mcp_elicit_client._files import UnsafeFileError, check_file
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.stores.sql_session import SqlSession, load_sql, load_statements, transaction
from mcp_elicit_client.inbox.stores.threads import stop_if_abandoned

FORMAT = 2
"""The format number of the file, in its ``user_version``.  Increase it with each change of the schema."""

_RETRY_INTERVAL = 0.01
_BEGIN = "BEGIN IMMEDIATE"
_FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""What `sqlite3` raises: also the second one, if an error quotes what it found in a damaged file."""

_STATEMENTS = load_statements()


class SqliteConnection:
    """
    A connection that is opened when it is first used.  One thread at a time uses it.

    Args:
        path: The file.  Its folder must exist.
        lock_timeout: Seconds to wait for locks of other processes.
    """

    def __init__(self, path: Path, lock_timeout: float) -> None:
        self.path: Path = path.absolute()
        self._lock_timeout = lock_timeout
        self._lock = ForkSafeLock()
        self._connection: sqlite3.Connection | None = None
        self._process_id = 0
        self._opened_file: tuple[int, int] | None = None

    def __del__(self) -> None:
        """Close the file: since Python 3.13, `sqlite3` warns of connections that were not closed."""
        self._close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[SqlSession]:
        """
        Use the connection.

        Raises:
            InboxError: If the file cannot be used.
        """
        with self._lock:
            stop_if_abandoned()  # while this thread waited for others
            try:
                yield SqlSession(self._open(), _STATEMENTS)
            except (*_FAILURES, OSError) as error:
                if not isinstance(error, sqlite3.OperationalError):
                    self._close()
                raise InboxError(
                    f"The inbox {self.path} cannot be used{_reason_of(error, self.path.parent)}"
                ) from error

    @contextlib.contextmanager
    def writing(self) -> Iterator[SqlSession]:
        """
        Use the connection in a write transaction, which is rolled back if anything is raised.

        Raises:
            InboxError: If the file cannot be used.
        """
        with self.reading() as session, transaction(session.connection, _BEGIN, _FAILURES):
            yield session

    def truncate_log(self, lock_timeout: float | None = None) -> bool:
        """
        Remove erased values from the write-ahead log beside the file.

        Args:
            lock_timeout: Seconds to wait for locks of other processes; None
                for those of the connection.

        Returns:
            True if that is done; False if another process uses the file.

        Raises:
            InboxError: If the file cannot be used.
        """
        with self.reading() as session:
            connection = session.connection
            _set_lock_timeout(connection, self._lock_timeout if lock_timeout is None else lock_timeout)
            is_busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            _set_lock_timeout(connection, self._lock_timeout)
        return not is_busy

    def close(self) -> None:
        """Close the file.  The next use opens it again."""
        with self._lock:
            self._close()

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process_id != os.getpid():
            # The parent process owns this connection.  Closing it here would release the parent's locks.
            self._connection = None
        if self._connection is not None and self._file_id() != self._opened_file:
            self._close()  # The file was deleted or replaced: other processes no longer see this one.
        if self._connection is None:
            self._process_id = os.getpid()
            self._connection = self._connect()
            self._opened_file = self._file_id()
        return self._connection

    def _file_id(self) -> tuple[int, int] | None:
        """Return what identifies the file that has the path now; None if there is no file."""
        try:
            found = os.lstat(self.path)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _connect(self) -> sqlite3.Connection:
        try:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            for path in _files_of(self.path):
                # To open and close the file would release the locks of other connections of this process.
                with contextlib.suppress(FileNotFoundError):
                    check_file(path, os.lstat(path), private=True)
        except UnsafeFileError as error:
            raise InboxError(f"The inbox cannot be used. {error}") from None
        connection = sqlite3.connect(
            self.path,
            timeout=self._lock_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.row_factory = sqlite3.Row
        self._check_format(connection)
        # Erased answers must not stay in the file.
        connection.execute("PRAGMA secure_delete = ON")
        # SQLite does not wait by itself while another process changes the journal mode.
        end = time.monotonic() + self._lock_timeout
        while not _enable_write_ahead_log(connection, is_last_attempt=time.monotonic() > end):
            stop_if_abandoned()
            time.sleep(_RETRY_INTERVAL)
        connection.execute("PRAGMA synchronous = NORMAL")
        if _is_empty(connection):
            _create_tables(connection)

    def _check_format(self, connection: sqlite3.Connection) -> None:
        # In this order, since another process may create the tables between the two queries.
        is_empty = _is_empty(connection)
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found == FORMAT or (found == 0 and is_empty):
            return
        raise InboxError(
            f"The file {self.path} has format {found}, but this version of mcp-elicit-client needs an inbox"
            f" of format {FORMAT}. Use another file, or the version that created this one."
        )

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._process_id == os.getpid():
            with contextlib.suppress(*_FAILURES):
                connection.close()


def _reason_of(error: Exception, folder: Path) -> str:
    """Return the end of the sentence that says that the file cannot be used, and what to do."""
    if isinstance(error, FileNotFoundError):
        return f". Create the folder {folder}."
    if isinstance(error, UnicodeDecodeError):
        return f": it is damaged. {_RESTORE}"
    if type(error) is sqlite3.DatabaseError:  # It is damaged, or not a database.  Python 3.10 may give no text.
        return f": {str(error) or 'it is damaged'}. {_RESTORE}"
    return f": {error}."


_RESTORE = "Restore the file, or move it to another place."


def _files_of(path: Path) -> list[Path]:
    """Return the paths of the file and of those that SQLite writes beside it."""
    return [path, *(path.with_name(f"{path.name}-{name}") for name in ("wal", "shm", "journal"))]


def _enable_write_ahead_log(connection: sqlite3.Connection, *, is_last_attempt: bool) -> bool:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if is_last_attempt or "locked" not in str(error):
            raise
        return False
    return True


def _set_lock_timeout(connection: sqlite3.Connection, seconds: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {seconds * 1_000:.0f}")


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT EXISTS (SELECT 1 FROM sqlite_master)").fetchone()[0]


def _create_tables(connection: sqlite3.Connection) -> None:
    with transaction(connection, _BEGIN, _FAILURES):
        if not _is_empty(connection):  # Another process created them since the check.
            return
        for statement in filter(str.strip, load_sql("sqlite_schema.sql").split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
