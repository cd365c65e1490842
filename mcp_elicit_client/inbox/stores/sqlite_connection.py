"""A file of SQLite that several threads and processes use."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp_elicit_client.exceptions import InboxError

VERSION = 2

_QUESTIONS = """
CREATE TABLE entries (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    worker TEXT NOT NULL,
    request TEXT NOT NULL,
    created REAL NOT NULL,
    expires REAL NOT NULL,
    place INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    state TEXT NOT NULL,
    who TEXT NOT NULL,
    moment REAL NOT NULL,
    action TEXT NOT NULL,
    answer TEXT,
    token TEXT NOT NULL,
    is_open INTEGER NOT NULL
);
CREATE INDEX waiting ON entries (owner, place) WHERE state = 'pending';
CREATE INDEX held ON entries (worker) WHERE state = 'pending';
CREATE INDEX ends ON entries (expires) WHERE state = 'pending';
CREATE INDEX settled ON entries (owner, changed) WHERE state <> 'pending';
CREATE INDEX undelivered ON entries (worker) WHERE state <> 'pending' AND is_open = 1;
CREATE INDEX ages ON entries (moment) WHERE state <> 'pending';
CREATE TABLE leases (worker TEXT PRIMARY KEY, until REAL NOT NULL);
CREATE TABLE position (last INTEGER NOT NULL);
INSERT INTO position VALUES (0);
"""

_CALLS = """
CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    body TEXT NOT NULL,
    questions TEXT NOT NULL,
    created REAL NOT NULL,
    expires REAL NOT NULL,
    state TEXT NOT NULL,
    token TEXT NOT NULL
);
CREATE INDEX call_bodies ON calls (expires) WHERE body <> '';
CREATE INDEX call_ends ON calls (expires);
"""

_STEPS = (_QUESTIONS, _CALLS)
"""What makes a file of each version one of the next; an empty one has version 0."""


class SqliteConnection:
    """
    One connection, opened when it is used, for one thread at a time.

    Args:
        path: The file.  Its folder must exist.
        patience: How long to wait for other processes, in seconds.
    """

    def __init__(self, path: Path, patience: float) -> None:
        self.path = path
        self._patience = patience
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """
        Use the connection alone.

        Raises:
            InboxError: If the file cannot be used.
        """
        with self._lock:
            try:
                yield self._open()
            except (sqlite3.Error, OSError) as error:
                if not isinstance(error, sqlite3.OperationalError):
                    self._close()
                raise InboxError(f"the inbox {self.path} cannot be used: {error}") from error

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """
        Use the connection and the file alone; all is written, or nothing.

        Raises:
            InboxError: If the file cannot be used.
        """
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file; it is opened again when it is used."""
        with self._lock:
            self._close()

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            self._connection = None  # it is the parent's, and closing it would end the parent's locks
        if self._connection is None:
            self._process = os.getpid()
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        if os.name == "posix" and self.path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise InboxError(f"the inbox {self.path} cannot be used: others may write it")
        connection = sqlite3.connect(
            self.path, timeout=self._patience, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # What is wiped is to be gone from the file too.
        connection.execute("PRAGMA secure_delete = ON")
        self._share(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        if _version(connection) in range(VERSION):
            self._make_tables(connection)
        if _version(connection) != VERSION:
            raise InboxError(f"the inbox {self.path} cannot be used: it is of another version, or no inbox")

    def _share(self, connection: sqlite3.Connection) -> None:
        # While another process does the same, SQLite does not wait by itself.
        end = time.monotonic() + self._patience
        while not _is_shared(connection, is_last=time.monotonic() > end):
            time.sleep(0.01)

    @staticmethod
    def _make_tables(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for step in _STEPS[_version(connection) :]:
                for statement in filter(str.strip, step.split(";")):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._process == os.getpid():
            with contextlib.suppress(sqlite3.Error):
                connection.close()


def _version(connection: sqlite3.Connection) -> Any:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _is_shared(connection: sqlite3.Connection, *, is_last: bool) -> bool:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if is_last or "locked" not in str(error):
            raise
        return False
    return True
