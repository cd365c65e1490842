"""`SqlWorker`: the lease of this process in an SQL database, and the thread that renews it and waits for changes."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable

from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.stores.models import Clock, Resolution, StoredRequest
from mcp_elicit_client.inbox.stores.outages import Outages
from mcp_elicit_client.inbox.stores.sql_session import Database, SqlSession
from mcp_elicit_client.inbox.waiters import WaiterRegistry

_logger = logging.getLogger("mcp_elicit_client")

POLL_INTERVAL = 0.1
"""Seconds between two looks for changes by other processes."""

_MAX_LEFT = 500
"""The number of requests that one transaction closes because tasks left them."""


class SqlWorker:
    """
    The lease of this process, and a thread that runs while a task waits.

    A thread renews the lease in whichever event loop the tasks wait, and
    while that loop is busy.

    Args:
        database: The database.  Nothing else uses this object.
        clock: Returns the current time.
        lease_ttl: Seconds for which a lease is valid.
        max_history: The number of closed requests that are kept for each
            owner.
        history_ttl: Seconds for which they are kept.

    Attributes:
        clock: As above.
        history_ttl: As above.
        outages: Notes when this process could not use the database.
        waiters: The tasks that wait.
    """

    def __init__(
        self, database: Database, *, clock: Clock, lease_ttl: float, max_history: int, history_ttl: float
    ) -> None:
        self.waiters: WaiterRegistry = WaiterRegistry()
        self._stopped = threading.Event()
        self._database = database
        self.clock: Clock = clock
        self._lease_ttl = lease_ttl
        self._max_history = max_history
        self.history_ttl: float = history_ttl
        self.outages: Outages = Outages(clock, lease_ttl)
        self._name = ""
        self._process_id = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closing = False
        self._maintain_at = self._maintain_by = 0.0
        self._failing: set[str] = set()
        self._left: list[tuple[StoredRequest, Resolution | None]] = []

    @property
    def name(self) -> str:
        """The name under which this process holds its lease.  A forked process has another one."""
        if self._process_id != os.getpid():
            self._process_id = os.getpid()
            self._name = secrets.token_hex(8)
        return self._name

    def renew_lease(self, session: SqlSession) -> None:
        """Renew the lease of this process."""
        session.execute("renew_lease", lease_owner=self.name, expires_at=self.clock() + self._lease_ttl)

    def limit_history(self, session: SqlSession, *owners: str) -> None:
        """Delete the closed requests of *owners* above the limit, except answers that are still needed."""
        for owner in owners:
            session.execute("limit_history", owner=owner, max_history=self._max_history)

    def start(self) -> None:
        """Start the thread, unless it runs."""
        with self._lock:
            if self._is_closing:  # This would clear the event that ends the thread.
                return
            if self._thread is None or not self._thread.is_alive():
                self._stopped.clear()
                self._thread = threading.Thread(target=self._run, name="mcp-elicit-inbox", daemon=True)
                self._thread.start()

    def leave(self, request: StoredRequest, resolution: Resolution | None) -> None:
        """Close a request that no task waits for, unless it is closed, and erase its answer, as soon as possible."""
        with self._lock:
            self._left.append((request, resolution))
        self.start()

    def answers_were_erased(self) -> None:
        """Have the database remove what was erased, if it does not do so by itself."""

    def close(self) -> None:
        """Stop the thread and close the connection.  If tasks still wait, start again for their answers."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._is_closing = True
            self._stopped.set()
        if thread is not None:
            thread.join()
        with contextlib.suppress(InboxError):
            while self._close_left():
                pass
            self._finish()
        self._database.close()
        self._is_closing = False
        if self.waiters:
            self.start()

    def _wait(self) -> bool:
        """Wait until it is time to look for changes.  Return True if the thread is to end."""
        return self._stopped.wait(POLL_INTERVAL)

    def _look(self) -> None:
        """Look for changes by other processes."""
        raise NotImplementedError

    def _finish(self) -> None:
        """Do what remains before the connection is closed."""

    def _end(self) -> None:
        """Release what only the thread uses."""

    def _is_needed(self) -> bool:
        return bool(self.waiters or self._left)

    def _run(self) -> None:
        while not self._run_once():
            with self._lock:
                if not self._is_needed():
                    self._end()
                    self._thread = None
                    return
        self._end()

    def _run_once(self) -> bool:
        """Wait for changes, and look for them.  Return True if the thread is to end."""
        try:
            if self._wait():
                return True
            self._failing.discard("wait")
        except InboxError as error:
            self._note_failure("wait", error)
            self._after_failure()
            return self._stopped.is_set()
        # What cannot be written must not delay what can be read, and what cannot be read must not end the lease.
        has_looked = self._attempt("look", self._look)
        is_maintained = True
        # By both clocks: the lease ends by the one that goes on while the computer sleeps, and that users set.
        if time.monotonic() >= self._maintain_at or self.clock() >= self._maintain_by:
            now = self.clock()
            is_maintained = self._attempt("maintain", self._maintain)
            # After a failure from the end of the attempt: until the next one, there is time to look.
            now, seconds = (now, self._lease_ttl / 3) if is_maintained else (self.clock(), self._lease_ttl / 15)
            self._maintain_at, self._maintain_by = time.monotonic() + seconds, now + seconds
        # last, so that what cannot be closed does not stop the others
        has_closed = is_maintained and self._attempt("close", self._close_left)
        if not has_looked or (is_maintained and not has_closed):
            self._after_failure()
        return self._stopped.is_set()

    def _attempt(self, name: str, step: Callable[[], object]) -> bool:
        """Run a step.  Return True if it succeeded."""
        try:
            step()
        except InboxError as error:
            self._note_failure(name, error)
            return False
        self._failing.discard(name)
        return True

    def _note_failure(self, name: str, error: InboxError) -> None:
        """Note that a step failed.  Only the first failure is logged, until all steps have succeeded again."""
        if not self._failing:
            _logger.error("Changes in the inbox may not be noticed. %s", error)
        self._failing.add(name)

    def _after_failure(self) -> None:
        """Prepare for the next attempt."""

    def _deliver_resolutions(self, session: SqlSession) -> None:
        """Wake the tasks whose requests were closed."""
        unreadable: InboxError | None = None
        for row in session.execute("list_undelivered", lease_owner=self.name):
            try:
                request = StoredRequest.from_row(dict(row))
            except InboxError as error:  # It must not stop the others.
                unreadable = error
                continue
            if request.resolution is not None:
                self.waiters.deliver(request.id, request.resolution)
        if unreadable is not None:
            raise unreadable

    def _close_left(self) -> bool:
        """Close and erase some of the requests that tasks left.  Return True if there were any."""
        with self._lock:
            # An answer that was given at the last moment is in the database until it is erased.
            oldest = self.clock() - self._lease_ttl
            self._left = [each for each in self._left if each[0].expires_at > oldest]
            left = tuple(self._left[:_MAX_LEFT])  # Tasks may leave further requests meanwhile.
        if not left:
            return False
        with self._database.writing() as session:
            for request, resolution in left:
                session.close_and_erase(request.owner, request.id, resolution)
        with self._lock:
            self._left = self._left[len(left) :]
        return True

    def _maintain(self) -> bool:
        """Renew the lease if a task waits, and delete what is old.  Return True if there was something to delete."""
        now = self.clock()
        if self.waiters:
            self._renew_own_lease()
        with self._database.writing() as session:
            owners = session.owners("owners_of_abandoned_answers", now=now)
            erased = session.execute("erase_abandoned_answers", now=now).rowcount
            self.limit_history(session, *owners)
            erased += session.execute("delete_old_history", oldest=now - self.history_ttl).rowcount
            session.execute("delete_unused_leases", before=now - self._lease_ttl)
        return bool(erased > 0)

    def _renew_own_lease(self) -> None:
        with self._database.writing() as session:
            self.renew_lease(session)
