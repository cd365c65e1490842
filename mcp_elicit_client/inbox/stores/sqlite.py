"""`SqliteStore`: requests in a file that the processes of one machine share."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import anyio

from mcp_elicit_client.exceptions import State
from mcp_elicit_client.inbox.stores.models import (
    CALL_STATE_TTL,
    HISTORY_TTL,
    LEASE_TTL,
    MAX_CHANGES,
    MAX_HISTORY,
    CallState,
    Clock,
    Resolution,
    StoredCall,
    StoredRequest,
    lease_owner,
)
from mcp_elicit_client.inbox.stores.sqlite_connection import (
    SqliteConnection,
    SqliteWorker,
    close_and_erase,
    execute,
    next_revision,
    resolution_columns,
    run_in_thread,
)
from mcp_elicit_client.inbox.waiters import WaiterRegistry

_MAX_REVISION = 2**62
_LEAVE_TIMEOUT = 0.2


class SqliteStore:
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
    """

    def __init__(  # noqa: PLR0913 -- all by keyword
        self,
        path: str | Path,
        *,
        max_history: int = MAX_HISTORY,
        history_ttl: float = HISTORY_TTL,
        lease_ttl: float = LEASE_TTL,
        lock_timeout: float = 2.0,
        clock: Clock = time.time,
    ) -> None:
        self.clock: Clock = clock
        self.waiters: WaiterRegistry = WaiterRegistry()
        self._max_history = max_history
        self._history_ttl = history_ttl
        self._database = SqliteConnection(Path(path), lock_timeout)
        self._worker = SqliteWorker(
            # SQLite reports only changes that were made through other connections.
            SqliteConnection(Path(path), lock_timeout),
            self.waiters,
            clock=clock,
            lease_ttl=lease_ttl,
            history_ttl=history_ttl,
        )

    async def put(self, request: StoredRequest) -> None:
        await run_in_thread(self._put, request)
        self._worker.start()
        self.waiters.notify(request.owner)

    async def get(self, owner: str, entry_id: str) -> StoredRequest | None:
        found = await self._select("get_request", id=entry_id, owner=owner)
        return found[0] if found else None

    async def pending(self, owner: str, limit: int, after: int) -> Sequence[StoredRequest]:
        return await self._select("list_pending", owner=owner, after=after, limit=limit)

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[StoredRequest]:
        oldest = self.clock() - self._history_ttl
        below = _MAX_REVISION if before is None else before
        return await self._select("list_history", owner=owner, before=below, oldest=oldest, limit=limit)

    async def changes(self, owner: str, since: int) -> Sequence[StoredRequest]:
        self._worker.start()  # to notice changes by other processes
        found: list[StoredRequest] = []
        for statement in ("list_pending", "list_closed"):
            found += await self._select(statement, owner=owner, after=since, limit=MAX_CHANGES)
        return sorted(found, key=lambda each: each.revision)[:MAX_CHANGES]

    async def last_revision(self) -> int:
        return await run_in_thread(self._last_revision)

    async def resolve(self, owner: str, entry_id: str, resolution: Resolution) -> State | None:
        state = await run_in_thread(self._resolve, owner, entry_id, resolution)
        if state == "pending":
            self.waiters.deliver(entry_id, resolution)
            self.waiters.notify(owner)
        return state

    async def extend(self, owner: str, entry_id: str, expires_at: float) -> State | None:
        return await run_in_thread(self._extend, owner, entry_id, expires_at)

    async def leave(self, request: StoredRequest, resolution: Resolution | None) -> None:
        is_done = False
        with anyio.move_on_after(_LEAVE_TIMEOUT, shield=True):
            if await run_in_thread(self._leave, request, resolution):
                self.waiters.notify(request.owner)
            is_done = True
        if is_done:
            self._worker.truncate_log()
        else:  # A locked file must not delay the task, which may be cancelled.
            self._worker.leave(request, resolution)

    async def suspend(self, call: StoredCall, requests: Sequence[StoredRequest]) -> None:
        if await run_in_thread(self._suspend, call, requests):
            self._worker.truncate_log()
        self.waiters.notify(call.owner)

    async def update(self, call: StoredCall, requests: Sequence[StoredRequest], old_body: str) -> bool:
        was_updated = await run_in_thread(self._update, call, requests, old_body)
        self.waiters.notify(call.owner)
        return was_updated

    async def erase_answers(self, call_id: str) -> None:
        await run_in_thread(self._write, "erase_answers_of", {"lease_owner": lease_owner(call_id)})
        self._worker.truncate_log()

    async def get_call(self, owner: str, call_id: str) -> StoredCall | None:
        return await run_in_thread(self._get_call, owner, call_id)

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        return await run_in_thread(self._claim, owner, call_id, token)

    async def release(self, call_id: str, token: str) -> None:
        await run_in_thread(self._write, "release_call", {"id": call_id, "claim_token": token})

    async def finish(self, call_id: str) -> None:
        await run_in_thread(self._finish, call_id)
        self._worker.truncate_log()

    async def save_draft(self, owner: str, key: str, draft: str, expires_at: float) -> None:
        await run_in_thread(self._save_draft, {"owner": owner, "key": key}, draft, expires_at)

    async def get_draft(self, owner: str, key: str) -> str:
        return await run_in_thread(self._get_draft, {"owner": owner, "key": key})

    async def aclose(self) -> None:
        await run_in_thread(self._worker.close)
        await run_in_thread(self._database.close)

    def _put(self, request: StoredRequest) -> None:
        with self._database.writing() as connection:
            self._worker.renew_lease(connection)
            _insert(connection, self._worker.name, request)

    def _leave(self, request: StoredRequest, resolution: Resolution | None) -> bool:
        with self._database.writing() as connection:
            return close_and_erase(connection, request.owner, request.id, resolution)

    async def _select(self, statement: str, **values: Any) -> list[StoredRequest]:
        def select() -> list[StoredRequest]:
            self._close_stale()
            with self._database.reading() as connection:
                return [StoredRequest.from_row(dict(row)) for row in execute(connection, statement, **values)]

        return await run_in_thread(select)

    def _write(self, statement: str, values: dict[str, Any]) -> None:
        with self._database.writing() as connection:
            execute(connection, statement, **values)

    def _last_revision(self) -> int:
        with self._database.reading() as connection:
            return int(execute(connection, "last_revision").fetchone()[0])

    def _resolve(self, owner: str, entry_id: str, resolution: Resolution) -> State | None:
        self._close_stale()
        key = {"id": entry_id, "owner": owner}
        with self._database.writing() as connection:
            values = {
                **resolution_columns(connection, resolution),
                "action": resolution.action,
                "answer": resolution.answer,
            }
            if execute(connection, "resolve_live_request", now=self.clock(), **key, **values).rowcount:
                execute(connection, "limit_history", owner=owner, max_history=self._max_history)
                return "pending"
            return _closed_state(connection, key)

    def _extend(self, owner: str, entry_id: str, expires_at: float) -> State | None:
        self._close_stale()
        key = {"id": entry_id, "owner": owner}
        with self._database.writing() as connection:
            if execute(connection, "extend_request", now=self.clock(), expires_at=expires_at, **key).rowcount:
                return "pending"
            return _closed_state(connection, key)

    def _save_draft(self, key: dict[str, Any], draft: str, expires_at: float) -> None:
        with self._database.writing() as connection:
            execute(connection, "delete_draft", now=self.clock(), **key)
            if draft:
                execute(connection, "save_draft", draft=draft, expires_at=expires_at, **key)

    def _get_draft(self, key: dict[str, Any]) -> str:
        with self._database.reading() as connection:
            row = execute(connection, "get_draft", now=self.clock(), **key).fetchone()
        return "" if row is None else str(row["draft"])

    def _close_stale(self) -> None:
        """Close requests that have expired or lost their process, and erase calls that have expired."""
        now = self.clock()
        forgotten = now - CALL_STATE_TTL
        with self._database.reading() as connection:
            if not execute(connection, "is_stale", now=now, forgotten=forgotten).fetchone()[0]:
                return
        with self._database.writing() as connection:
            expired = execute(connection, "list_expired", now=now)
            closed = {each["id"]: Resolution("expired", "clock", each["updated_at"]) for each in expired}
            orphaned = execute(connection, "list_orphaned", now=now)
            closed |= {each["id"]: Resolution("orphaned", "heartbeat", each["updated_at"]) for each in orphaned}
            for entry_id, resolution in closed.items():
                execute(connection, "resolve_request", id=entry_id, **resolution_columns(connection, resolution))
            execute(connection, "erase_answers_of_expired_calls", now=now)
            execute(connection, "expire_calls", now=now)
            execute(connection, "delete_forgotten_calls", forgotten=forgotten)
        for entry_id, resolution in closed.items():
            self.waiters.deliver(entry_id, resolution)

    def _suspend(self, call: StoredCall, requests: Sequence[StoredRequest]) -> bool:
        """Store a call and its requests; return True if answers were erased."""
        self._close_stale()
        with self._database.writing() as connection:
            erased = execute(connection, "erase_answers_of", lease_owner=lease_owner(call.id)).rowcount
            execute(connection, "save_call", **_call_columns(call), created_at=call.created_at)
            _add_requests(connection, call, requests)
        return erased > 0

    def _update(self, call: StoredCall, requests: Sequence[StoredRequest], old_body: str) -> bool:
        self._close_stale()
        with self._database.writing() as connection:
            values = {**_call_columns(call), "old_body": old_body, "now": self.clock()}
            if not execute(connection, "update_call", **values).rowcount:
                return False
            _add_requests(connection, call, requests)
        return True

    def _get_call(self, owner: str, call_id: str) -> StoredCall | None:
        self._close_stale()
        with self._database.reading() as connection:
            row = execute(connection, "get_call", id=call_id, owner=owner).fetchone()
        return None if row is None else StoredCall.from_row(dict(row))

    def _claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        self._close_stale()
        key = {"id": call_id, "owner": owner}
        with self._database.writing() as connection:
            row = execute(connection, "get_call", **key).fetchone()
            claimed = execute(connection, "claim_call", **key, claim_token=token, now=self.clock()).rowcount
        if row is None:
            return None
        # A call that is still suspended has expired since the check.  The next check says so.
        return "expired" if row["state"] == "suspended" and not claimed else cast("CallState", row["state"])

    def _finish(self, call_id: str) -> None:
        with self._database.writing() as connection:
            execute(connection, "erase_answers_of", lease_owner=lease_owner(call_id))
            execute(connection, "finish_call", id=call_id)
            execute(connection, "end_lease", lease_owner=lease_owner(call_id))


def _closed_state(connection: sqlite3.Connection, key: dict[str, str]) -> State | None:
    """Return the state of a request that could not be changed because it is not pending."""
    row = execute(connection, "get_state", **key).fetchone()
    if row is None:
        return None
    # A request that is still pending has expired since the check.  The next check closes it.
    return "expired" if row["state"] == "pending" else cast("State", row["state"])


def _call_columns(call: StoredCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "owner": call.owner,
        "body": call.body,
        "request_ids": json.dumps(call.request_ids),
        "expires_at": call.expires_at,
    }


def _add_requests(connection: sqlite3.Connection, call: StoredCall, requests: Sequence[StoredRequest]) -> None:
    owner_of_lease = lease_owner(call.id)
    execute(connection, "renew_lease", lease_owner=owner_of_lease, expires_at=call.expires_at)
    for request in requests:
        _insert(connection, owner_of_lease, request)


def _insert(connection: sqlite3.Connection, owner_of_lease: str, request: StoredRequest) -> None:
    execute(
        connection,
        "insert_request",
        id=request.id,
        owner=request.owner,
        lease_owner=owner_of_lease,
        request=request.request,
        created_at=request.created_at,
        expires_at=request.expires_at,
        revision=next_revision(connection),
    )
