"""The parked calls in a file of SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from mcp_elicit_client.inbox.errors import InboxError
from mcp_elicit_client.inbox.stores.base import CallState, Clock, StoredCall, Record, lease_owner
from mcp_elicit_client.inbox.stores.database import SqliteConnection
from mcp_elicit_client.inbox.stores.table import RequestTable


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
                "UPDATE calls SET state = 'suspended' WHERE id = ? AND state = 'resuming' AND token = ?", (call_id, token)
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
