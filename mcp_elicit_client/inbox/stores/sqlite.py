"""Questions kept in a file that the processes of one machine share."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread

from mcp_elicit_client.inbox.entries import State
from mcp_elicit_client.inbox.errors import InboxError
from mcp_elicit_client.inbox.heartbeat import Heartbeat
from mcp_elicit_client.inbox.local import Bell, Mailbox, Waiting
from mcp_elicit_client.inbox.stores.base import HISTORY, KEEP, LEASE, Clock, Record, Settlement
from mcp_elicit_client.inbox.stores.database import Database

T = TypeVar("T")

_logger = logging.getLogger("mcp_elicit_client")

LOOK = 0.1
"""How often a process that waits looks for what others have done, in seconds."""

SOME = 100
"""How many changes are told, or stale questions settled, at a time."""

_COLUMNS = "id, owner, request, created, expires, place, changed, state, who, moment, action, answer"
_IS_ALIVE = "EXISTS (SELECT 1 FROM leases WHERE leases.worker = entries.worker AND until > ?)"


class SqliteStore:
    """
    Keeps questions in a file of SQLite; safe in threads and processes of one machine.

    The file is made with mode 0600; one that others may write is refused.
    Nothing is opened before it is used.

    Args:
        path: The file.  Its folder must exist, and not be on a network.
        history: How many questions that no longer wait are kept for each owner.
        keep: How long they are kept, in seconds.
        lease: How long a process that gives no sign of life counts as alive,
            in seconds.
        patience: How long to wait for other processes, in seconds.
        clock: What time it is.
    """

    def __init__(  # noqa: PLR0913 -- all by keyword
        self,
        path: str | Path,
        *,
        history: int = HISTORY,
        keep: float = KEEP,
        lease: float = LEASE,
        patience: float = 2.0,
        clock: Clock = time.time,
    ) -> None:
        self.clock = clock
        self._history = history
        self._keep = keep
        self._lease = lease
        self._patience = patience
        self._waiting = Waiting()
        self._database = Database(Path(path), patience)
        # What is seen of others is seen by a connection that writes nothing but leases.
        self._lookout = Database(Path(path), patience)
        self._heartbeat = Heartbeat(self._beat, self._is_needed, LOOK)
        self._worker = ""
        self._process = 0
        self._seen: Any = None
        self._beat_at = 0.0
        self._has_wiped = self._is_away = False

    def open(self, entry_id: str) -> Mailbox:
        return self._waiting.open(entry_id)

    def close(self, entry_id: str) -> None:
        self._waiting.close(entry_id)

    def bell(self, owner: str) -> AbstractContextManager[Bell]:
        return self._waiting.bell(owner)

    async def put(self, record: Record) -> None:
        await _off_the_loop(self._put, record)
        self._heartbeat.start()

    async def get(self, owner: str, entry_id: str) -> Record | None:
        found = await _off_the_loop(self._read, "id = ? AND owner = ?", entry_id, owner)
        return found[0] if found else None

    async def waiting(self, owner: str, limit: int, after: int) -> Sequence[Record]:
        where = "owner = ? AND state = 'waiting' AND place > ? ORDER BY place LIMIT ?"
        return await _off_the_loop(self._read, where, owner, after, limit)

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[Record]:
        where = "owner = ? AND state <> 'waiting' AND changed < ? AND moment >= ? ORDER BY changed DESC LIMIT ?"
        oldest = self.clock() - self._keep
        return await _off_the_loop(self._read, where, owner, 2**62 if before is None else before, oldest, limit)

    async def changes(self, owner: str, since: int) -> Sequence[Record]:
        self._heartbeat.start()  # whoever watches wants to be woken
        return await _off_the_loop(self._read_changes, owner, since)

    async def position(self) -> int:
        return await _off_the_loop(self._read_position)

    async def settle(self, owner: str, entry_id: str, settlement: Settlement, token: str) -> State | None:
        state = await _off_the_loop(self._settle, owner, entry_id, settlement, token)
        if state == "waiting":
            self._waiting.deliver(entry_id, settlement)
            self._waiting.ring(owner)
        return state

    async def wipe(self, entry_id: str) -> None:
        await _off_the_loop(self._wipe, entry_id)

    async def aclose(self) -> None:
        await _off_the_loop(self._close)

    def _close(self) -> None:
        self._heartbeat.stop()
        if self._has_wiped:
            with contextlib.suppress(InboxError):
                self._write_back(self._patience)
        self._lookout.close()
        self._database.close()

    # --- in threads

    def _name(self) -> str:
        if self._process != os.getpid():
            self._process = os.getpid()
            self._worker = secrets.token_hex(8)
        return self._worker

    def _put(self, record: Record) -> None:
        with self._database.writing() as connection:
            worker = self._name()
            self._renew(connection, worker)
            place = _next(connection)
            connection.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting', '', ?, '', NULL, '', 1)",
                (
                    record.id,
                    record.owner,
                    worker,
                    record.request,
                    record.created,
                    record.expires,
                    place,
                    place,
                    record.created,
                ),
            )
        self._waiting.ring(record.owner)

    def _renew(self, connection: sqlite3.Connection, worker: str) -> None:
        connection.execute("REPLACE INTO leases VALUES (?, ?)", (worker, self.clock() + self._lease))

    def _read(self, where: str, *values: Any) -> list[Record]:
        self._sweep()
        with self._database.reading() as connection:
            return [_record(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM entries WHERE {where}", values)]  # noqa: S608

    def _read_changes(self, owner: str, since: int) -> list[Record]:
        waiting = self._read("owner = ? AND state = 'waiting' AND place > ? ORDER BY place LIMIT ?", owner, since, SOME)
        settled = self._read(
            "owner = ? AND state <> 'waiting' AND changed > ? ORDER BY changed LIMIT ?", owner, since, SOME
        )
        return sorted([*waiting, *settled], key=lambda each: each.changed)[:SOME]

    def _read_position(self) -> int:
        with self._database.reading() as connection:
            return int(connection.execute("SELECT last FROM position").fetchone()[0])

    def _settle(self, owner: str, entry_id: str, settlement: Settlement, token: str) -> State | None:
        self._sweep()
        with self._database.writing() as connection:
            done = connection.execute(
                "UPDATE entries SET state = ?, who = ?, moment = ?, action = ?, answer = ?, token = ?, changed = ?"  # noqa: S608
                f" WHERE id = ? AND owner = ? AND state = 'waiting' AND expires > ? AND {_IS_ALIVE}",
                (*_values(settlement), token, _next(connection), entry_id, owner, self.clock(), self.clock()),
            )
            if done.rowcount:
                self._prune(connection, owner)
                return "waiting"
            row = connection.execute(
                "SELECT state FROM entries WHERE id = ? AND owner = ?", (entry_id, owner)
            ).fetchone()
        if row is None:
            return None
        # It expired between two looks: the next look settles it.
        return "expired" if row[0] == "waiting" else row[0]

    def _prune(self, connection: sqlite3.Connection, owner: str) -> None:
        connection.execute(
            "DELETE FROM entries WHERE owner = ? AND state <> 'waiting' AND is_open = 0 AND changed <= coalesce(("
            "SELECT changed FROM entries WHERE owner = ? AND state <> 'waiting'"
            " ORDER BY changed DESC LIMIT 1 OFFSET ?), 0)",
            (owner, owner, self._history),
        )

    def _wipe(self, entry_id: str) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE entries SET answer = NULL, is_open = 0 WHERE id = ? AND state <> 'waiting'", (entry_id,)
            )
        self._has_wiped = True
        self._heartbeat.start()

    def _sweep(self) -> None:
        """Settle what has expired or lost its process."""
        now = self.clock()
        with self._database.reading() as connection:
            is_stale = connection.execute(
                "SELECT EXISTS (SELECT 1 FROM entries WHERE state = 'waiting' AND expires <= ?) OR EXISTS ("
                "SELECT 1 FROM leases JOIN entries ON entries.worker = leases.worker"
                " WHERE until <= ? AND state = 'waiting')",
                (now, now),
            ).fetchone()[0]
        if not is_stale:
            return
        with self._database.writing() as connection:
            expired = connection.execute(
                "SELECT id, expires FROM entries WHERE state = 'waiting' AND expires <= ?", (now,)
            ).fetchall()
            orphaned = connection.execute(
                "SELECT id, until FROM leases JOIN entries ON entries.worker = leases.worker"
                " WHERE until <= ? AND state = 'waiting' AND expires > ?",
                (now, now),
            ).fetchall()
            settlements = {entry_id: Settlement("expired", "clock", when) for entry_id, when in expired}
            settlements |= {entry_id: Settlement("orphaned", "heartbeat", when) for entry_id, when in orphaned}
            for entry_id, settlement in settlements.items():
                connection.execute(
                    "UPDATE entries SET state = ?, who = ?, moment = ?, action = ?, answer = ?, changed = ?"
                    " WHERE id = ?",
                    (*_values(settlement), _next(connection), entry_id),
                )
        for entry_id, settlement in settlements.items():
            self._waiting.deliver(entry_id, settlement)

    # --- the heartbeat

    def _is_needed(self) -> bool:
        return bool(self._waiting) or self._has_wiped

    def _beat(self) -> None:
        try:
            self._look_out()
        except InboxError as error:
            if not self._is_away:
                _logger.error("nobody hears of the questions that wait: %s", error)  # noqa: TRY400 -- no trace wanted
            self._is_away, self._has_wiped = True, False
        else:
            self._is_away = False

    def _look_out(self) -> None:
        if time.monotonic() >= self._beat_at:
            self._tidy()
            self._beat_at = time.monotonic() + self._lease / 3
        with self._lookout.reading() as connection:
            seen = (self._name(), connection.execute("PRAGMA data_version").fetchone()[0])
            if seen != self._seen:
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM entries WHERE worker = ? AND state <> 'waiting' AND is_open = 1",  # noqa: S608
                    (self._name(),),
                ).fetchall()
                for record in map(_record, rows):
                    assert record.settlement is not None
                    self._waiting.deliver(record.id, record.settlement)
                self._waiting.ring_all()
                self._seen = seen
        if self._has_wiped:
            self._write_back(patience=0.02)

    def _write_back(self, patience: float) -> None:
        """Clear the log beside the file: what was wiped is still in there, until it is written back."""
        with self._lookout.reading() as connection:
            connection.execute(f"PRAGMA busy_timeout = {patience * 1_000:.0f}")
            is_busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            connection.execute(f"PRAGMA busy_timeout = {self._patience * 1_000:.0f}")
        self._has_wiped = bool(is_busy)

    def _tidy(self) -> None:
        """Renew the lease of this process, and forget what is old."""
        now = self.clock()
        with self._lookout.writing() as connection:
            if self._waiting:
                self._renew(connection, self._name())
            connection.execute(
                # Nobody waits for these answers any more.
                f"UPDATE entries SET answer = NULL, is_open = 0"  # noqa: S608
                f" WHERE state <> 'waiting' AND is_open = 1 AND expires <= ? AND NOT {_IS_ALIVE}",
                (now, now),
            )
            connection.execute(
                "DELETE FROM entries WHERE state <> 'waiting' AND is_open = 0 AND moment < ?", (now - self._keep,)
            )
            connection.execute(
                "DELETE FROM leases WHERE until <= ? AND NOT EXISTS"
                " (SELECT 1 FROM entries WHERE entries.worker = leases.worker AND (state = 'waiting' OR is_open = 1))",
                (now - self._lease,),
            )


async def _off_the_loop(function: Callable[..., T], *values: Any) -> T:
    return await anyio.to_thread.run_sync(function, *values)


def _next(connection: sqlite3.Connection) -> int:
    return int(connection.execute("UPDATE position SET last = last + 1 RETURNING last").fetchone()[0])


def _values(settlement: Settlement) -> tuple[Any, ...]:
    return (settlement.state, settlement.who, settlement.when, settlement.action, settlement.answer)


def _record(row: tuple[Any, ...]) -> Record:
    entry_id, owner, request, created, expires, place, changed, *outcome = row
    settlement = None if outcome[0] == "waiting" else Settlement(*outcome)
    return Record(entry_id, owner, request, created, expires, place, changed, settlement)
