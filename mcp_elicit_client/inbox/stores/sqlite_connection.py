"""A connection to an SQLite file that threads and processes share, and the lease of a process that uses it."""

from __future__ import annotations

import contextlib
import importlib.resources
import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from mcp_elicit_client._files import UnsafeFileError, check_file
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.stores.models import Clock, Resolution, StoredRequest
from mcp_elicit_client.inbox.waiters import WaiterRegistry

T = TypeVar("T")

_logger = logging.getLogger("mcp_elicit_client")

FORMAT = 2
"""The format number of the file, in its ``user_version``.  Increase it with each change of the schema."""

POLL_INTERVAL = 0.1
"""Seconds between two looks for changes by other processes."""

_MAX_THREADS = 8
_RETRY_INTERVAL = 0.01
_LOG_TIMEOUT = 0.02


def _load_statements() -> dict[str, str]:
    """Return the statements of ``sqlite.sql`` by name."""
    text = (importlib.resources.files(__package__) / "sqlite.sql").read_text(encoding="utf-8")
    named = (section.partition("\n") for section in text.split("-- name: ")[1:])
    return {name: statement.strip() for name, _, statement in named}


_STATEMENTS = _load_statements()


def execute(connection: sqlite3.Connection, statement: str, **values: Any) -> sqlite3.Cursor:
    """Execute the statement of ``sqlite.sql`` with the name *statement*."""
    return connection.execute(_STATEMENTS[statement], values)


_is_abandoned: ContextVar[threading.Event | None] = ContextVar("is_abandoned", default=None)


async def run_in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """
    Run *function* in a thread.  If this is cancelled, it returns at once.

    The thread then ends by itself, and what it has not yet committed is
    rolled back.
    """
    is_abandoned = threading.Event()

    def run() -> T:
        _is_abandoned.set(is_abandoned)  # in the thread's copy of the context
        return function(*arguments)

    try:
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=_limiter())
    except BaseException:
        is_abandoned.set()
        raise


def stop_if_abandoned() -> None:
    """
    End the work of a thread whose task was cancelled.

    Raises:
        InboxError: If the task was cancelled.
    """
    is_abandoned = _is_abandoned.get()
    if is_abandoned is not None and is_abandoned.is_set():
        raise InboxError("The task was cancelled.")


_limiters: RunVar[anyio.CapacityLimiter] = RunVar("mcp_elicit_client.inbox.limiter")


def _limiter() -> anyio.CapacityLimiter:
    """Return the limiter of the running event loop.  The host's own threads stay free."""
    try:
        return _limiters.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_MAX_THREADS)
        _limiters.set(limiter)
        return limiter


class SqliteConnection:
    """
    A connection that is opened when it is first used.  One thread at a time uses it.

    Args:
        path: The file.  Its folder must exist.
        lock_timeout: Seconds to wait for locks of other processes.
    """

    def __init__(self, path: Path, lock_timeout: float) -> None:
        self.path = path
        self._lock_timeout = lock_timeout
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process_id = 0

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """
        Use the connection.

        Raises:
            InboxError: If the file cannot be used.
        """
        with self._lock:
            stop_if_abandoned()  # while this thread waited for others
            try:
                yield self._open()
            except (sqlite3.Error, OSError) as error:
                if not isinstance(error, sqlite3.OperationalError):
                    self._close()
                raise InboxError(f"The inbox {self.path} cannot be used: {error}.") from error

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """
        Use the connection in a write transaction, which is rolled back if anything is raised.

        Raises:
            InboxError: If the file cannot be used.
        """
        with self.reading() as connection, _transaction(connection):
            yield connection

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
        with self.reading() as connection:
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
        if self._connection is None:
            self._process_id = os.getpid()
            self._connection = self._connect()
        return self._connection

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
            self.path, timeout=self._lock_timeout, isolation_level=None, check_same_thread=False, cached_statements=64
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
            with contextlib.suppress(sqlite3.Error):
                connection.close()


def _files_of(path: Path) -> list[Path]:
    """Return the paths of the file and of those that SQLite writes beside it."""
    return [path, *(path.with_name(f"{path.name}-{name}") for name in ("wal", "shm", "journal"))]


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        stop_if_abandoned()
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


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
    with _transaction(connection):
        if not _is_empty(connection):  # Another process created them since the check.
            return
        for statement in filter(str.strip, _STATEMENTS["schema"].split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def close_and_erase(connection: sqlite3.Connection, owner: str, entry_id: str, resolution: Resolution | None) -> bool:
    """Close a request, unless it is closed, and erase its answer.  Return True if it was closed by this."""
    is_closed = False
    if resolution is not None:
        row = execute(connection, "get_state", id=entry_id, owner=owner).fetchone()
        is_closed = row is not None and row["state"] == "pending"
        if is_closed:
            execute(connection, "resolve_request", id=entry_id, **resolution_columns(connection, resolution))
    execute(connection, "erase_answer", id=entry_id)
    return is_closed


def resolution_columns(connection: sqlite3.Connection, resolution: Resolution) -> dict[str, Any]:
    """Return the columns that each closed request has."""
    return {
        "state": resolution.state,
        "answered_by": resolution.answered_by,
        "updated_at": resolution.updated_at,
        "revision": next_revision(connection),
    }


def next_revision(connection: sqlite3.Connection) -> int:
    """Return the number of the next change."""
    execute(connection, "next_revision")
    return int(execute(connection, "last_revision").fetchone()[0])


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
        self._left: list[tuple[StoredRequest, Resolution | None]] = []

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

    def leave(self, request: StoredRequest, resolution: Resolution | None) -> None:
        """Close a request that no task waits for, unless it is closed, and erase its answer, as soon as possible."""
        with self._lock:
            self._left.append((request, resolution))
        self.start()

    def close(self) -> None:
        """Stop the thread and close its connection."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._stopped.set()
        if thread is not None:
            thread.join()
        with contextlib.suppress(InboxError):
            self._close_left()
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
                if not (self._waiters or self._has_erased or self._left):
                    self._thread = None
                    return

    def _close_left(self) -> None:
        with self._lock:
            left = self._left = [each for each in self._left if each[0].expires_at > self._clock()]
        if not left:
            return
        with self._database.writing() as connection:
            for request, resolution in left:
                close_and_erase(connection, request.owner, request.id, resolution)
        with self._lock:
            self._left = self._left[len(left) :]
        self._has_erased = True

    def _poll(self) -> None:
        self._close_left()
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
