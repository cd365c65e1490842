"""`SqlStore`: what the stores in SQLite and PostgreSQL share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar, TypeVar, cast

import anyio

from mcp_elicit_client.exceptions import InboxError, State
from mcp_elicit_client.inbox.stores.models import (
    CALL_STATE_TTL,
    MAX_CHANGES,
    CallState,
    Clock,
    Resolution,
    StoredCall,
    StoredRequest,
    lease_owner,
)
from mcp_elicit_client.inbox.stores.sql_session import Database, SqlSession
from mcp_elicit_client.inbox.stores.sql_worker import SqlWorker
from mcp_elicit_client.inbox.stores.threads import run_in_thread, stop_if_abandoned
from mcp_elicit_client.inbox.waiters import WaiterRegistry

T = TypeVar("T")

_MAX_REVISION = 2**62

_MAX_CLOSED = 500
"""The number of requests of each kind that one transaction closes."""


class SqlStore:
    """
    A store in an SQL database, whose statements run in threads.

    Args:
        database: The database.
        worker: The lease and the thread.
    """

    _leave_timeout: ClassVar[float] = 0.2
    """Seconds to wait for the database when a task is cancelled."""

    _timeout: ClassVar[float | None] = None
    """The maximum seconds of an operation; None for no limit."""

    def __init__(self, database: Database, worker: SqlWorker) -> None:
        self.clock: Clock = worker.clock
        self.waiters: WaiterRegistry = worker.waiters
        self._database = database
        self._worker = worker

    async def put(self, request: StoredRequest) -> None:
        await self._run(self._put, request)
        self._worker.start()
        self.waiters.notify(request.owner)

    async def get(self, owner: str, entry_id: str) -> StoredRequest | None:
        found = await self._select("get_request", id=entry_id, owner=owner)
        return found[0] if found else None

    async def pending(self, owner: str, limit: int, after: int) -> Sequence[StoredRequest]:
        return await self._select("list_pending", owner=owner, after=after, limit=limit)

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[StoredRequest]:
        oldest = self.clock() - self._worker.history_ttl
        below = _MAX_REVISION if before is None else before
        return await self._select("list_history", owner=owner, before=below, oldest=oldest, limit=limit)

    async def changes(self, owner: str, since: int) -> Sequence[StoredRequest]:
        self._worker.start()  # to notice changes by other processes
        return await self._select("list_changes", owner=owner, after=since, limit=MAX_CHANGES)

    async def last_revision(self) -> int:
        return await self._run(self._last_revision)

    async def resolve(self, owner: str, entry_id: str, resolution: Resolution) -> State | None:
        state = await self._run(self._resolve, owner, entry_id, resolution)
        if state == "pending":
            self.waiters.deliver(entry_id, resolution)
            self.waiters.notify(owner)
        return state

    async def extend(self, owner: str, entry_id: str, expires_at: float) -> State | None:
        return await self._run(self._extend, owner, entry_id, expires_at)

    async def leave(self, request: StoredRequest, resolution: Resolution | None) -> None:
        is_done = False
        with anyio.move_on_after(self._leave_timeout, shield=True), suppress(InboxError):
            if await self._run(self._leave, request, resolution):
                self.waiters.notify(request.owner)
            is_done = True
        if is_done:
            self._worker.answers_were_erased()
        else:  # A database that is locked or restarts must not delay the task, which may be cancelled.
            self._worker.leave(request, resolution)

    async def suspend(self, call: StoredCall, requests: Sequence[StoredRequest]) -> None:
        if await self._run(self._suspend, call, requests):
            self._worker.answers_were_erased()
        self.waiters.notify(call.owner)

    async def update(self, call: StoredCall, requests: Sequence[StoredRequest], old_body: str) -> bool:
        was_updated = await self._run(self._update, call, requests, old_body)
        self.waiters.notify(call.owner)
        return was_updated

    async def erase_answers(self, call_id: str) -> None:
        await self._run(self._write, "erase_answers_of", {"lease_owner": lease_owner(call_id)})
        self._worker.answers_were_erased()

    async def get_call(self, owner: str, call_id: str) -> StoredCall | None:
        return await self._run(self._get_call, owner, call_id)

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        return await self._run(self._claim, owner, call_id, token)

    async def release(self, call_id: str, token: str) -> None:
        await self._run(self._write, "release_call", {"id": call_id, "claim_token": token})

    async def finish(self, call_id: str) -> None:
        await self._run(self._finish, call_id)
        self._worker.answers_were_erased()

    async def save_draft(self, owner: str, key: str, draft: str, expires_at: float) -> None:
        if await self._run(self._save_draft, {"owner": owner, "key": key}, draft, expires_at):
            self._worker.answers_were_erased()

    async def get_draft(self, owner: str, key: str) -> str:
        return await self._run(self._get_draft, {"owner": owner, "key": key})

    async def aclose(self) -> None:
        await self._run(self._worker.close)
        await self._run(self._database.close)

    async def _run(self, function: Callable[..., T], *arguments: Any) -> T:
        try:
            with anyio.fail_after(self._timeout):
                return await run_in_thread(function, *arguments)
        except TimeoutError:
            raise InboxError(f"The inbox cannot be used: no reply within {self._timeout} s.") from None

    def _put(self, request: StoredRequest) -> None:
        with self._database.writing() as session:
            self._worker.renew_lease(session)
            _insert(session, self._worker.name, request)

    def _leave(self, request: StoredRequest, resolution: Resolution | None) -> bool:
        with self._database.writing() as session:
            is_closed = session.close_and_erase(request.owner, request.id, resolution)
            self._worker.limit_history(session, request.owner)
            return is_closed

    async def _select(self, statement: str, **values: Any) -> list[StoredRequest]:
        def select() -> list[StoredRequest]:
            self._close_stale()
            with self._database.reading() as session:
                return [StoredRequest.from_row(dict(row)) for row in session.execute(statement, **values)]

        return await self._run(select)

    def _write(self, statement: str, values: dict[str, Any]) -> None:
        with self._database.writing() as session:
            session.execute(statement, **values)

    def _last_revision(self) -> int:
        with self._database.reading() as session:
            return session.last_revision()

    def _resolve(self, owner: str, entry_id: str, resolution: Resolution) -> State | None:
        self._close_stale()
        key = {"id": entry_id, "owner": owner}
        with self._database.writing() as session:
            values = {**session.resolution_columns(resolution), "answer": resolution.answer}
            times = {"now": self.clock(), "leases_end": self._worker.outages.leases_end_at}
            if session.execute("resolve_live_request", **times, **key, **values).rowcount:
                self._worker.limit_history(session, owner)
                return "pending"
            return _closed_state(session, key)

    def _extend(self, owner: str, entry_id: str, expires_at: float) -> State | None:
        self._close_stale()
        key = {"id": entry_id, "owner": owner}
        with self._database.writing() as session:
            if session.execute("extend_request", now=self.clock(), expires_at=expires_at, **key).rowcount:
                return "pending"
            return _closed_state(session, key)

    def _save_draft(self, key: dict[str, Any], draft: str, expires_at: float) -> bool:
        """Store a draft, or delete it; return True if one was deleted."""
        with self._database.writing() as session:
            deleted = session.execute("delete_draft", **key).rowcount
            if draft:
                session.execute("save_draft", draft=draft, expires_at=expires_at, **key)
        return not draft and deleted > 0

    def _get_draft(self, key: dict[str, Any]) -> str:
        with self._database.reading() as session:
            row = session.execute("get_draft", now=self.clock(), **key).fetchone()
        return "" if row is None else str(row["draft"])

    def _close_stale(self) -> None:
        """Close requests that have expired or lost their process, and erase calls and drafts that have expired."""
        times = {"now": self.clock(), "leases_end": self._worker.outages.leases_end_at}
        try:
            while self._has_stale(times):
                self._close_some_stale(times)
        except InboxError:
            stop_if_abandoned()  # A cancelled task says nothing about the database.
            self._worker.outages.note()
            raise

    def _has_stale(self, times: dict[str, float]) -> bool:
        with self._database.reading() as session:
            forgotten = times["now"] - CALL_STATE_TTL
            return bool(session.execute("is_stale", forgotten=forgotten, **times).fetchone()["is_stale"])

    def _close_some_stale(self, times: dict[str, float]) -> None:
        """Do a part of `_close_stale` in one transaction: thousands may expire at once, and others wait for it."""
        now = times["now"]
        with self._database.writing() as session:
            if self.waiters:
                # This process lives, even if the computer slept, or its clock was set, for longer than a lease.
                self._worker.renew_lease(session)
            expired = session.execute("list_expired", now=now, limit=_MAX_CLOSED)
            closed = {each["id"]: Resolution("expired", "clock", each["updated_at"]) for each in expired}
            orphaned = session.execute("list_orphaned", limit=_MAX_CLOSED, **times)
            closed |= {each["id"]: Resolution("orphaned", "heartbeat", each["updated_at"]) for each in orphaned}
            session.close_all(closed)
            session.execute("erase_answers_of_expired_calls", now=now)
            self._worker.limit_history(session, *session.owners("owners_of_expired_calls", now=now))
            erased = session.execute("expire_calls", now=now).rowcount
            erased += session.execute("delete_expired_drafts", now=now).rowcount
            session.execute("delete_forgotten_calls", forgotten=now - CALL_STATE_TTL)
        for entry_id, resolution in closed.items():
            self.waiters.deliver(entry_id, resolution)
        if erased > 0:
            self._worker.answers_were_erased()

    def _suspend(self, call: StoredCall, requests: Sequence[StoredRequest]) -> bool:
        """Store a call and its requests; return True if answers were erased."""
        self._close_stale()
        with self._database.writing() as session:
            erased = session.execute("erase_answers_of", lease_owner=lease_owner(call.id)).rowcount
            session.execute("save_call", **_call_columns(call), created_at=call.created_at)
            _add_requests(session, call, requests)
        return bool(erased > 0)

    def _update(self, call: StoredCall, requests: Sequence[StoredRequest], old_body: str) -> bool:
        self._close_stale()
        with self._database.writing() as session:
            values = {**_call_columns(call), "old_body": old_body, "now": self.clock()}
            if not session.execute("update_call", **values).rowcount:
                return False
            _add_requests(session, call, requests)
        return True

    def _get_call(self, owner: str, call_id: str) -> StoredCall | None:
        self._close_stale()
        with self._database.reading() as session:
            row = session.execute("get_call", id=call_id, owner=owner).fetchone()
        return None if row is None else StoredCall.from_row(dict(row))

    def _claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        self._close_stale()
        key = {"id": call_id, "owner": owner}
        with self._database.writing() as session:
            row = session.execute("get_call", **key).fetchone()
            claimed = session.execute("claim_call", **key, claim_token=token, now=self.clock()).rowcount
        if row is None:
            return None
        # A call that is still suspended has expired since the check.  The next check says so.
        return "expired" if row["state"] == "suspended" and not claimed else cast("CallState", row["state"])

    def _finish(self, call_id: str) -> None:
        of_call = {"lease_owner": lease_owner(call_id)}
        withdrawn = Resolution("withdrawn", "client", self.clock())
        with self._database.writing() as session:
            session.close_all({each["id"]: withdrawn for each in session.execute("list_leased", **of_call)})
            session.execute("erase_answers_of", **of_call)
            session.execute("finish_call", id=call_id)
            self._worker.limit_history(session, *session.owners("owner_of_call", id=call_id))
            session.execute("end_lease", **of_call)


def _closed_state(session: SqlSession, key: dict[str, str]) -> State | None:
    """Return the state of a request that could not be changed because it is not pending."""
    row = session.execute("get_state", **key).fetchone()
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


def _add_requests(session: SqlSession, call: StoredCall, requests: Sequence[StoredRequest]) -> None:
    owner_of_lease = lease_owner(call.id)
    if call.request_ids:  # Otherwise no one would delete the lease.
        session.execute("renew_lease", lease_owner=owner_of_lease, expires_at=call.expires_at)
    for request in requests:
        _insert(session, owner_of_lease, request)


def _insert(session: SqlSession, owner_of_lease: str, request: StoredRequest) -> None:
    session.execute(
        "insert_request",
        id=request.id,
        owner=request.owner,
        lease_owner=owner_of_lease,
        request=request.request,
        created_at=request.created_at,
        expires_at=request.expires_at,
        revision=session.next_revision(),
    )
