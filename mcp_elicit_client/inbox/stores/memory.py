"""`MemoryStore`: requests in the memory of one process."""

from __future__ import annotations

import heapq
import threading
import time
from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice, takewhile

from mcp_elicit_client.exceptions import State
from mcp_elicit_client.inbox.stores.models import (
    CALL_STATE_TTL,
    HISTORY_TTL,
    MAX_CHANGES,
    MAX_HISTORY,
    CallState,
    Clock,
    Resolution,
    StoredCall,
    StoredRequest,
    check_store_options,
)
from mcp_elicit_client.inbox.waiters import WaiterRegistry

_MAX_HISTORY_SIZE = 10_000_000
"""The characters of the closed requests that are kept for each owner."""


class _OwnedRequests:
    """The requests of one owner: pending ones by sequence, closed ones by revision, each with its ID."""

    __slots__ = ("closed", "pending")

    def __init__(self) -> None:
        self.pending: list[tuple[int, str]] = []
        self.closed: list[tuple[int, str]] = []


class MemoryStore:
    """
    Store requests in memory, for the threads of one process.

    Args:
        max_history: The number of closed requests that are kept for each
            owner: fewer if they take more than 10 MB.
        history_ttl: Seconds for which they are kept.
        clock: Returns the current time, in seconds since 1970.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If an option is out of range.
    """

    def __init__(
        self,
        *,
        max_history: int = MAX_HISTORY,
        history_ttl: float = HISTORY_TTL,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_store_options(clock=clock, max_history=max_history, history_ttl=history_ttl)
        self.clock: Clock = clock
        self.waiters: WaiterRegistry = WaiterRegistry()
        self._max_history = max_history
        self._history_ttl = history_ttl
        self._lock = threading.RLock()
        self._requests: dict[str, StoredRequest] = {}
        self._owners: dict[str, _OwnedRequests] = {}
        self._request_expiry: list[tuple[float, str]] = []
        self._last_closed_at: OrderedDict[str, float] = OrderedDict()
        self._calls: dict[str, StoredCall] = {}
        self._call_expiry: list[tuple[float, str]] = []
        self._claim_tokens: dict[str, str] = {}
        self._drafts: dict[tuple[str, str], tuple[float, str]] = {}
        self._revision = 0

    async def put(self, request: StoredRequest) -> None:
        with self._lock:
            self._add(request)
        self.waiters.notify(request.owner)

    async def get(self, owner: str, entry_id: str) -> StoredRequest | None:
        with self._lock:
            self._close_stale()
            return self._find(owner, entry_id)

    async def pending(self, owner: str, limit: int, after: int) -> Sequence[StoredRequest]:
        with self._lock:
            self._close_stale()
            return list(islice(self._following(self._owned(owner).pending, after), limit))

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[StoredRequest]:
        with self._lock:
            self._close_stale()
            closed = self._limit_history(owner)
            end = len(closed) if before is None else bisect_left(closed, (before, ""))
            return [self._requests[entry_id] for _, entry_id in reversed(closed[max(end - limit, 0) : end])]

    async def changes(self, owner: str, since: int) -> Sequence[StoredRequest]:
        with self._lock:
            self._close_stale()
            owned = self._owned(owner)
            following = (self._following(owned.pending, since), self._following(owned.closed, since))
            return list(islice(heapq.merge(*following, key=lambda each: each.revision), MAX_CHANGES))

    async def last_revision(self) -> int:
        return self._revision

    async def resolve(self, owner: str, entry_id: str, resolution: Resolution) -> State | None:
        with self._lock:
            self._close_stale()
            request = self._find(owner, entry_id)
            if request is None:
                return None
            if request.resolution is not None:
                return request.resolution.state
            self._close(request, resolution)
            return "pending"

    async def extend(self, owner: str, entry_id: str, expires_at: float) -> State | None:
        with self._lock:
            self._close_stale()
            request = self._find(owner, entry_id)
            if request is None:
                return None
            if request.resolution is None and expires_at > request.expires_at:
                self._requests[entry_id] = request._replace(expires_at=expires_at)
                heapq.heappush(self._request_expiry, (expires_at, entry_id))
            return "pending" if request.resolution is None else request.resolution.state

    async def leave(self, request: StoredRequest, resolution: Resolution | None) -> None:
        with self._lock:
            found = self._find(request.owner, request.id)
            if resolution is not None and found is not None and found.resolution is None:
                self._close(found, resolution)
            self._erase_answer(request.id)

    async def suspend(self, call: StoredCall, requests: Sequence[StoredRequest]) -> None:
        with self._lock:
            self._close_stale()
            self._erase_answers_of(call.id)
            self._save_call(call, requests)
        self.waiters.notify(call.owner)

    async def update(self, call: StoredCall, requests: Sequence[StoredRequest], old_body: str) -> bool:
        with self._lock:
            self._close_stale()
            found = self._calls.get(call.id)
            if found is None or (found.owner, found.state, found.body) != (call.owner, "suspended", old_body):
                return False
            self._save_call(call, requests)
        self.waiters.notify(call.owner)
        return True

    async def erase_answers(self, call_id: str) -> None:
        with self._lock:
            self._erase_answers_of(call_id)

    async def get_call(self, owner: str, call_id: str) -> StoredCall | None:
        with self._lock:
            self._close_stale()
            call = self._calls.get(call_id)
            return call if call is not None and call.owner == owner else None

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        with self._lock:
            self._close_stale()
            call = self._calls.get(call_id)
            if call is None or call.owner != owner:
                return None
            if call.state == "suspended":
                self._calls[call_id] = call._replace(state="resuming")
                self._claim_tokens[call_id] = token
            return call.state

    async def release(self, call_id: str, token: str) -> None:
        with self._lock:
            call = self._calls.get(call_id)
            if call is not None and call.state == "resuming" and self._claim_tokens[call_id] == token:
                self._calls[call_id] = call._replace(state="suspended" if call.body else "expired")

    async def finish(self, call_id: str) -> None:
        with self._lock:
            call = self._calls.get(call_id)
            if call is not None:
                self._calls[call_id] = call._replace(state="finished", body="")
                self._close_pending_of(call, Resolution("withdrawn", "client", self.clock()))
                self._erase_answers_of(call_id)
                self._limit_history(call.owner)

    async def save_draft(self, owner: str, key: str, draft: str, expires_at: float) -> None:
        with self._lock:
            self._drafts.pop((owner, key), None)
            if draft:
                self._drafts[owner, key] = (expires_at, draft)
            now = self.clock()
            for each in [each for each, (end, _) in self._drafts.items() if end <= now]:
                del self._drafts[each]

    async def get_draft(self, owner: str, key: str) -> str:
        with self._lock:
            expires_at, draft = self._drafts.get((owner, key), (0.0, ""))
            return draft if expires_at > self.clock() else ""

    def forget(self, owner: str) -> None:
        """Delete the closed requests and the drafts of *owner*."""
        with self._lock:
            for each in [each for each in self._drafts if each[0] == owner]:
                del self._drafts[each]
            owned = self._owned(owner)
            for _, entry_id in owned.closed:
                del self._requests[entry_id]
            owned.closed.clear()
            self._limit_history(owner)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    def _save_call(self, call: StoredCall, requests: Sequence[StoredRequest]) -> None:
        self._calls[call.id] = call
        heapq.heappush(self._call_expiry, (call.expires_at, call.id))
        for request in requests:
            self._add(request)

    def _add(self, request: StoredRequest) -> None:
        revision = self._next_revision()
        self._requests[request.id] = request._replace(sequence=revision, revision=revision)
        self._owners.setdefault(request.owner, _OwnedRequests()).pending.append((revision, request.id))
        heapq.heappush(self._request_expiry, (request.expires_at, request.id))

    def _erase_answer(self, entry_id: str) -> None:
        request = self._requests.get(entry_id)
        if request is not None and request.resolution is not None:
            self._requests[entry_id] = request._replace(resolution=request.resolution._replace(answer=None))

    def _erase_answers_of(self, call_id: str) -> None:
        call = self._calls.get(call_id)
        for _, entry_id in self._owned(call.owner).closed if call is not None else ():
            if self._requests[entry_id].call_id == call_id:
                self._erase_answer(entry_id)

    def _close_pending_of(self, call: StoredCall, resolution: Resolution) -> None:
        for request in [*self._following(self._owned(call.owner).pending, 0)]:
            if request.call_id == call.id:
                self._close(request, resolution)

    def _next_revision(self) -> int:
        self._revision += 1
        return self._revision

    def _owned(self, owner: str) -> _OwnedRequests:
        return self._owners.get(owner) or _OwnedRequests()

    def _find(self, owner: str, entry_id: str) -> StoredRequest | None:
        request = self._requests.get(entry_id)
        return request if request is not None and request.owner == owner else None

    def _following(self, positions: list[tuple[int, str]], after: int) -> Iterator[StoredRequest]:
        for index in range(bisect_left(positions, (after + 1, "")), len(positions)):
            yield self._requests[positions[index][1]]

    def _close(self, request: StoredRequest, resolution: Resolution) -> None:
        revision = self._next_revision()
        self._requests[request.id] = request._replace(revision=revision, resolution=resolution)
        owned = self._owners[request.owner]
        del owned.pending[bisect_left(owned.pending, (request.sequence, request.id))]
        insort(owned.closed, (revision, request.id))
        self._last_closed_at[request.owner] = self.clock()
        self._last_closed_at.move_to_end(request.owner)
        self._limit_history(request.owner)
        self.waiters.deliver(request.id, resolution)
        self.waiters.notify(request.owner)

    def _close_stale(self) -> None:
        """Close requests that have expired, erase calls that have expired, and delete old history of all owners."""
        now = self.clock()
        while self._request_expiry and self._request_expiry[0][0] <= now:
            _, entry_id = heapq.heappop(self._request_expiry)
            request = self._requests.get(entry_id)
            if request is not None and request.resolution is None and request.expires_at <= now:
                self._close(request, Resolution("expired", "clock", request.expires_at))
        while self._call_expiry and self._call_expiry[0][0] <= now:
            _, call_id = heapq.heappop(self._call_expiry)
            self._expire_call(call_id, now)
        for owner in [*takewhile(self._has_only_old_history, self._last_closed_at)]:
            del self._last_closed_at[owner]
            if self._limit_history(owner):  # A suspended call needs an answer.
                self._last_closed_at[owner] = now

    def _expire_call(self, call_id: str, now: float) -> None:
        """Erase the contents of a call that has expired; later forget its state as well."""
        call = self._calls.get(call_id)
        if call is None or call.expires_at > now:  # It was suspended again.
            return
        self._close_pending_of(call, Resolution("orphaned", "heartbeat", call.expires_at))
        self._erase_answers_of(call_id)
        if call.expires_at + CALL_STATE_TTL <= now:
            del self._calls[call_id]
            self._claim_tokens.pop(call_id, None)
            return
        state: CallState = "expired" if call.state == "suspended" else call.state
        self._calls[call_id] = call._replace(state=state, body="")
        self._limit_history(call.owner)
        heapq.heappush(self._call_expiry, (call.expires_at + CALL_STATE_TTL, call_id))

    def _limit_history(self, owner: str) -> list[tuple[int, str]]:
        """Delete closed requests that are too old or too many; return the others."""
        owned = self._owned(owner)
        closed = owned.closed
        oldest = self.clock() - self._history_ttl
        too_old = bisect_right(closed, oldest, key=lambda each: self._closed_at(each[1]))
        sizes = accumulate(len(self._requests[entry_id].request) for _, entry_id in reversed(closed))
        too_large = sum(size > _MAX_HISTORY_SIZE for size in islice(sizes, 1, None))  # not the latest one
        excess = max(len(closed) - self._max_history, too_old, too_large, 0)
        kept = [each for each in closed[:excess] if self._is_needed(each[1])]
        for each in closed[:excess]:
            if each not in kept:
                del self._requests[each[1]]
        closed[:excess] = kept
        if not owned.pending and not closed:
            self._owners.pop(owner, None)
            self._last_closed_at.pop(owner, None)
        return closed

    def _has_only_old_history(self, owner: str) -> bool:
        return self._last_closed_at[owner] + self._history_ttl <= self.clock()

    def _is_needed(self, entry_id: str) -> bool:
        """Return True if a suspended call still needs the answer to a request."""
        call = self._calls.get(self._requests[entry_id].call_id)
        return call is not None and bool(call.body)

    def _closed_at(self, entry_id: str) -> float:
        resolution = self._requests[entry_id].resolution
        return resolution.updated_at if resolution is not None else 0.0
