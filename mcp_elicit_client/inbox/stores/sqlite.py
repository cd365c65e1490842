"""Questions kept in a file that the processes of one machine share."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread

from mcp_elicit_client.exceptions import InboxError, State
from mcp_elicit_client.inbox.heartbeat import Heartbeat
from mcp_elicit_client.inbox.stores.protocol import (
    HISTORY_TTL,
    LEASE,
    MAX_HISTORY,
    CallState,
    Clock,
    Record,
    Resolution,
    StoredCall,
)
from mcp_elicit_client.inbox.stores.sqlite_connection import SqliteConnection
from mcp_elicit_client.inbox.stores.sqlite_tables import CallTable, RequestTable, select
from mcp_elicit_client.inbox.waiters import LocalWaiters

T = TypeVar("T")

_logger = logging.getLogger("mcp_elicit_client")

LOOK = 0.1
"""How often a process that waits looks for what others have done, in seconds."""


class SqliteStore(LocalWaiters):
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
        max_history: int = MAX_HISTORY,
        history_ttl: float = HISTORY_TTL,
        lease: float = LEASE,
        lock_timeout: float = 2.0,
        clock: Clock = time.time,
    ) -> None:
        self.clock = clock
        self._keep = history_ttl
        self._lease = lease
        self._patience = lock_timeout
        super().__init__()
        self._database = SqliteConnection(Path(path), lock_timeout)
        self._table = RequestTable(
            self._database, history=max_history, keep=history_ttl, lease=lease, clock=clock, tell=self._waiting.deliver
        )
        self._calls = CallTable(self._database, self._table, clock)
        # Only a connection of its own tells that any other has written.
        self._lookout = SqliteConnection(Path(path), lock_timeout)
        self._heartbeat = Heartbeat(self._beat, self._is_needed, LOOK)
        self._worker = ""
        self._process = 0
        self._seen: Any = None
        self._beat_at = 0.0
        self._has_wiped = self._is_away = False

    async def put(self, record: Record) -> None:
        await _off_the_loop(self._table.put, self._name(), record)
        self._heartbeat.start()
        self._waiting.notify(record.owner)

    async def get(self, owner: str, entry_id: str) -> Record | None:
        found = await _off_the_loop(self._table.read, "id = ? AND owner = ?", entry_id, owner)
        return found[0] if found else None

    async def pending(self, owner: str, limit: int, after: int) -> Sequence[Record]:
        where = "owner = ? AND state = 'pending' AND place > ? ORDER BY place LIMIT ?"
        return await _off_the_loop(self._table.read, where, owner, after, limit)

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[Record]:
        where = "owner = ? AND state <> 'pending' AND changed < ? AND moment >= ? ORDER BY changed DESC LIMIT ?"
        oldest = self.clock() - self._keep
        return await _off_the_loop(self._table.read, where, owner, 2**62 if before is None else before, oldest, limit)

    async def changes(self, owner: str, since: int) -> Sequence[Record]:
        self._heartbeat.start()  # whoever watches wants to be woken
        return await _off_the_loop(self._table.read_changes, owner, since)

    async def last_revision(self) -> int:
        return await _off_the_loop(self._table.last_revision)

    async def resolve(self, owner: str, entry_id: str, settlement: Resolution, token: str) -> State | None:
        state = await _off_the_loop(self._table.resolve, owner, entry_id, settlement, token)
        if state == "pending":
            self._waiting.deliver(entry_id, settlement)
            self._waiting.notify(owner)
        return state

    async def erase_answer(self, entry_id: str) -> None:
        await _off_the_loop(self._wipe, self._table.erase_answer, entry_id)

    async def suspend(self, call: StoredCall, questions: Sequence[Record], token: str) -> None:
        if await _off_the_loop(self._calls.park, call, questions, token):
            self._clear_the_log()
        self._waiting.notify(call.owner)

    async def suspended(self, owner: str, call_id: str) -> StoredCall | None:
        return await _off_the_loop(self._calls.find, owner, call_id)

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        return await _off_the_loop(self._calls.claim, owner, call_id, token)

    async def release(self, call_id: str, token: str) -> None:
        await _off_the_loop(self._calls.release, call_id, token)

    async def finish(self, call_id: str) -> None:
        await _off_the_loop(self._wipe, self._calls.finish, call_id)

    async def aclose(self) -> None:
        await _off_the_loop(self._close)

    def _close(self) -> None:
        self._heartbeat.stop()
        if self._has_wiped:
            with contextlib.suppress(InboxError):
                self._write_back(self._patience)
        self._lookout.close()
        self._database.close()

    def _name(self) -> str:
        if self._process != os.getpid():
            self._process = os.getpid()
            self._worker = secrets.token_hex(8)
        return self._worker

    def _wipe(self, wipe: Callable[[str], None], name: str) -> None:
        wipe(name)
        self._clear_the_log()

    def _clear_the_log(self) -> None:
        self._has_wiped = True
        self._heartbeat.start()

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
            self._table.tidy(self._name() if self._waiting else None)
            self._beat_at = time.monotonic() + self._lease / 3
        with self._lookout.reading() as connection:
            seen = (self._name(), connection.execute("PRAGMA data_version").fetchone()[0])
            if seen != self._seen:
                for record in select(connection, "worker = ? AND state <> 'pending' AND is_open = 1", self._name()):
                    assert record.resolution is not None
                    self._waiting.deliver(record.id, record.resolution)
                self._waiting.notify_all()
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


async def _off_the_loop(function: Callable[..., T], *values: Any) -> T:
    return await anyio.to_thread.run_sync(function, *values)
