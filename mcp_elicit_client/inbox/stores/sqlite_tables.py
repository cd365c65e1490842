"""The questions in a file of SQLite: what is written, and what is read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from mcp_elicit_client.exceptions import InboxError, State
from mcp_elicit_client.inbox.stores.protocol import (
    REMEMBERED,
    CallState,
    Clock,
    Record,
    Resolution,
    StoredCall,
    call_of,
    lease_owner,
)
from mcp_elicit_client.inbox.stores.sqlite_connection import SqliteConnection

SOME = 100
"""How many changes are told at a time."""

_COLUMNS = "worker, id, owner, request, created, expires, place, changed, state, who, moment, action, answer"
_IS_ALIVE = "EXISTS (SELECT 1 FROM leases WHERE leases.worker = entries.worker AND until > ?)"


class RequestTable:
    """
    The questions in a database.  Whatever goes wrong is an `InboxError`.

    Args:
        database: Where they are.
        history: How many questions that no longer wait are kept for each owner.
        keep: How long they are kept, in seconds.
        lease: How long a process that gives no sign of life counts as alive,
            in seconds.
        clock: What time it is.
        tell: Is told what became of a question whose time or process is over.
    """

    def __init__(  # noqa: PLR0913 -- all by keyword
        self,
        database: SqliteConnection,
        *,
        history: int,
        keep: float,
        lease: float,
        clock: Clock,
        tell: Callable[[str, Resolution], object],
    ) -> None:
        self._database = database
        self._history = history
        self._keep = keep
        self._lease = lease
        self._clock = clock
        self._tell = tell

    def put(self, worker: str, record: Record) -> None:
        """Add a question of *worker*, which counts as alive from now on."""
        with self._database.writing() as connection:
            self._renew(connection, worker)
            self.insert(connection, worker, record)

    @staticmethod
    def insert(connection: sqlite3.Connection, worker: str, record: Record) -> None:
        """Add a question that *worker* keeps alive."""
        about = (record.id, record.owner, worker, record.request, record.created_at, record.expires_at)
        place = _next(connection)
        connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', '', ?, '', NULL, '', 1)",
            (*about, place, place, record.created_at),
        )

    def read(self, where: str, *values: Any) -> list[Record]:
        """Return the questions for which *where* holds."""
        self.sweep()
        with self._database.reading() as connection:
            return select(connection, where, *values)

    def read_changes(self, owner: str, since: int) -> list[Record]:
        """Return the questions of *owner* that have changed after *since*, in that order, some at a time."""
        waiting = self.read("owner = ? AND state = 'pending' AND place > ? ORDER BY place LIMIT ?", owner, since, SOME)
        settled = self.read(
            "owner = ? AND state <> 'pending' AND changed > ? ORDER BY changed LIMIT ?", owner, since, SOME
        )
        return sorted([*waiting, *settled], key=lambda each: each.revision)[:SOME]

    def last_revision(self) -> int:
        """Return where the last of all changes stands."""
        with self._database.reading() as connection:
            return int(connection.execute("SELECT last FROM position").fetchone()[0])

    def resolve(self, owner: str, entry_id: str, settlement: Resolution, token: str) -> State | None:
        """Settle a question if it waits; see `Store.settle`."""
        self.sweep()
        with self._database.writing() as connection:
            now = self._clock()
            done = connection.execute(
                "UPDATE entries SET state = ?, who = ?, moment = ?, action = ?, answer = ?, token = ?, changed = ?"  # noqa: S608
                f" WHERE id = ? AND owner = ? AND state = 'pending' AND expires > ? AND {_IS_ALIVE}",
                (*_values(settlement), token, _next(connection), entry_id, owner, now, now),
            )
            if done.rowcount:
                self._prune(connection, owner)
                return "pending"
            query = "SELECT state FROM entries WHERE id = ? AND owner = ?"
            row = connection.execute(query, (entry_id, owner)).fetchone()
        if row is None:
            return None
        # What still waits has expired since the sweep: the next one settles it.
        return "expired" if row[0] == "pending" else row[0]

    def erase_answer(self, entry_id: str) -> None:
        """Forget the answer of a question."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE entries SET answer = NULL, is_open = 0 WHERE id = ? AND state <> 'pending'", (entry_id,)
            )

    def tidy(self, worker: str | None) -> None:
        """Renew the lease of *worker*, and forget what is old."""
        now = self._clock()
        with self._database.writing() as connection:
            if worker is not None:
                self._renew(connection, worker)
            connection.execute(
                # Nobody waits for these answers any more.
                f"UPDATE entries SET answer = NULL, is_open = 0"  # noqa: S608
                f" WHERE state <> 'pending' AND is_open = 1 AND expires <= ? AND NOT {_IS_ALIVE}",
                (now, now),
            )
            connection.execute(
                "DELETE FROM entries WHERE state <> 'pending' AND is_open = 0 AND moment < ?", (now - self._keep,)
            )
            connection.execute(
                "DELETE FROM leases WHERE until <= ? AND NOT EXISTS"
                " (SELECT 1 FROM entries WHERE entries.worker = leases.worker AND (state = 'pending' OR is_open = 1))",
                (now - self._lease,),
            )

    def _renew(self, connection: sqlite3.Connection, worker: str) -> None:
        connection.execute("REPLACE INTO leases VALUES (?, ?)", (worker, self._clock() + self._lease))

    def _prune(self, connection: sqlite3.Connection, owner: str) -> None:
        connection.execute(
            "DELETE FROM entries WHERE owner = ? AND state <> 'pending' AND is_open = 0 AND changed <= coalesce(("
            "SELECT changed FROM entries WHERE owner = ? AND state <> 'pending'"
            " ORDER BY changed DESC LIMIT 1 OFFSET ?), 0)",
            (owner, owner, self._history),
        )

    def sweep(self) -> None:
        """Settle what has expired or lost its process, and wipe calls that have expired."""
        now = self._clock()
        with self._database.reading() as connection:
            is_stale = connection.execute(
                "SELECT EXISTS (SELECT 1 FROM entries WHERE state = 'pending' AND expires <= ?) OR EXISTS ("
                "SELECT 1 FROM leases JOIN entries ON entries.worker = leases.worker"
                " WHERE until <= ? AND state = 'pending') OR EXISTS ("
                "SELECT 1 FROM calls WHERE expires <= ? AND body <> '') OR EXISTS ("
                "SELECT 1 FROM calls WHERE expires < ?)",
                (now, now, now, now - REMEMBERED),
            ).fetchone()[0]
        if not is_stale:
            return
        with self._database.writing() as connection:
            settlements = _stale(connection, now)
            for entry_id, settlement in settlements.items():
                connection.execute(
                    "UPDATE entries SET state = ?, who = ?, moment = ?, action = ?, answer = ?, changed = ?"
                    " WHERE id = ?",
                    (*_values(settlement), _next(connection), entry_id),
                )
            _end_calls(connection, now)
        for entry_id, settlement in settlements.items():
            self._tell(entry_id, settlement)


def select(connection: sqlite3.Connection, where: str, *values: Any) -> list[Record]:
    """Return the questions for which *where* holds, stale ones as if they waited."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM entries WHERE {where}", values)  # noqa: S608
    return list(map(_record, rows))


def _stale(connection: sqlite3.Connection, now: float) -> dict[str, Resolution]:
    expired = connection.execute("SELECT id, expires FROM entries WHERE state = 'pending' AND expires <= ?", (now,))
    settlements = {entry_id: Resolution("expired", "clock", when) for entry_id, when in expired}
    orphaned = connection.execute(
        "SELECT id, until FROM leases JOIN entries ON entries.worker = leases.worker"
        " WHERE until <= ? AND state = 'pending' AND expires > ?",
        (now, now),
    )
    return settlements | {entry_id: Resolution("orphaned", "heartbeat", when) for entry_id, when in orphaned}


def _end_calls(connection: sqlite3.Connection, now: float) -> None:
    """Wipe the calls that have expired and what was answered to them, and later forget them."""
    connection.execute(
        "UPDATE entries SET answer = NULL, is_open = 0 WHERE state <> 'pending' AND is_open = 1 AND worker IN ("
        "SELECT 'call:' || id FROM calls WHERE expires <= ? AND body <> '')",
        (now,),
    )
    connection.execute(
        "UPDATE calls SET body = '', state = CASE state WHEN 'suspended' THEN 'expired' ELSE state END"
        " WHERE expires <= ? AND body <> ''",
        (now,),
    )
    connection.execute("DELETE FROM calls WHERE expires < ?", (now - REMEMBERED,))


def _next(connection: sqlite3.Connection) -> int:
    connection.execute("UPDATE position SET last = last + 1")
    return int(connection.execute("SELECT last FROM position").fetchone()[0])


def _values(settlement: Resolution) -> tuple[Any, ...]:
    return (settlement.state, settlement.answered_by, settlement.updated_at, settlement.action, settlement.answer)


def _record(row: tuple[Any, ...]) -> Record:
    worker, entry_id, owner, request, created, expires, place, changed, *outcome = row
    settlement = None if outcome[0] == "pending" else Resolution(*outcome)
    return Record(entry_id, owner, request, created, expires, place, changed, settlement, call_of(worker))


class CallTable:
    """
    The parked calls in a database.  Whatever goes wrong is an `InboxError`.

    A call keeps its questions alive by a lease, as a process does, which
    ends when the call expires.

    Args:
        database: Where they are.
        questions: What they ask, in the same database.
        clock: What time it is.
    """

    def __init__(self, database: SqliteConnection, questions: RequestTable, clock: Clock) -> None:
        self._database = database
        self._questions = questions
        self._clock = clock

    def park(self, call: StoredCall, questions: Sequence[Record], token: str) -> bool:
        """Keep a call and its questions, see `Store.park`; tell whether answers were forgotten."""
        self._questions.sweep()
        values = (call.id, call.owner, call.body, json.dumps(call.request_ids), call.created_at, call.expires_at, token)
        with self._database.writing() as connection:
            has_wiped = _forget_answers(connection, call.id)
            connection.execute("REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, 'suspended', ?)", values)
            connection.execute("REPLACE INTO leases VALUES (?, ?)", (lease_owner(call.id), call.expires_at))
            for question in questions:
                self._questions.insert(connection, lease_owner(call.id), question)
        return has_wiped

    def find(self, owner: str, call_id: str) -> StoredCall | None:
        """Return a call of *owner*."""
        self._questions.sweep()
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT id, owner, body, questions, created, expires, state FROM calls WHERE id = ? AND owner = ?",
                (call_id, owner),
            ).fetchone()
        if row is None:
            return None
        call_id, owner, body, questions, created, expires, state = row
        try:
            names, times = tuple(map(str, json.loads(questions))), (float(created), float(expires))
            return StoredCall(call_id, owner, body, names, *times, state)
        except (ValueError, TypeError) as error:
            raise InboxError("the inbox holds what is no parked call") from error

    def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        """Begin to resume a call; see `Store.claim`."""
        self._questions.sweep()
        with self._database.writing() as connection:
            query = "SELECT state FROM calls WHERE id = ? AND owner = ?"
            row = connection.execute(query, (call_id, owner)).fetchone()
            done = connection.execute(
                "UPDATE calls SET state = 'resuming', token = ?"
                " WHERE id = ? AND owner = ? AND state = 'suspended' AND expires > ?",
                (token, call_id, owner, self._clock()),
            )
        # What still is parked has expired since the sweep: the next one says so.
        return "expired" if row and row[0] == "suspended" and not done.rowcount else row and row[0]

    def release(self, call_id: str, token: str) -> None:
        """Park a call again; see `Store.release`."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE calls SET state = 'suspended' WHERE id = ? AND state = 'resuming' AND token = ?",
                (call_id, token),
            )

    def finish(self, call_id: str) -> None:
        """Forget a call and the answers to its questions."""
        with self._database.writing() as connection:
            _forget_answers(connection, call_id)
            connection.execute("UPDATE calls SET state = 'finished', body = '' WHERE id = ?", (call_id,))
            connection.execute("DELETE FROM leases WHERE worker = ?", (lease_owner(call_id),))


def _forget_answers(connection: sqlite3.Connection, call_id: str) -> bool:
    done = connection.execute(
        "UPDATE entries SET answer = NULL, is_open = 0 WHERE worker = ? AND state <> 'pending' AND is_open = 1",
        (lease_owner(call_id),),
    )
    return done.rowcount > 0
