"""Questions kept in this process, and gone with it."""

from __future__ import annotations

import heapq
import threading
import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from mcp_elicit_client.exceptions import State
from mcp_elicit_client.inbox.stores.protocol import (
    HISTORY_TTL,
    MAX_HISTORY,
    REMEMBERED,
    CallState,
    Clock,
    Record,
    Resolution,
    StoredCall,
)
from mcp_elicit_client.inbox.waiters import LocalWaiters

SOME = 100
"""How many changes are told at a time."""


@dataclass(slots=True)
class _Owned:
    waiting: list[tuple[int, str]] = field(default_factory=list)
    settled: list[tuple[int, str]] = field(default_factory=list)


class MemoryStore(LocalWaiters):
    """
    Keeps questions in memory; safe in threads.

    Args:
        history: How many questions that no longer wait are kept for each owner.
        keep: How long they are kept, in seconds.
        clock: What time it is.
    """

    def __init__(
        self, *, max_history: int = MAX_HISTORY, history_ttl: float = HISTORY_TTL, clock: Clock = time.time
    ) -> None:
        self.clock = clock
        self._history = max_history
        self._keep = history_ttl
        self._lock = threading.RLock()
        super().__init__()
        self._records: dict[str, Record] = {}
        self._owners: dict[str, _Owned] = {}
        self._ends: list[tuple[float, str]] = []
        self._calls: dict[str, StoredCall] = {}
        self._call_ends: list[tuple[float, str]] = []
        self._claims: dict[str, str] = {}
        self._position = 0

    async def put(self, record: Record) -> None:
        with self._lock:
            self._add(record)
        self._waiting.notify(record.owner)

    async def get(self, owner: str, entry_id: str) -> Record | None:
        with self._lock:
            self._sweep()
            return self._find(owner, entry_id)

    async def pending(self, owner: str, limit: int, after: int) -> Sequence[Record]:
        with self._lock:
            self._sweep()
            return list(islice(self._after(self._of(owner).waiting, after), limit))

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[Record]:
        with self._lock:
            self._sweep()
            settled = self._prune(owner)
            end = len(settled) if before is None else bisect_left(settled, (before, ""))
            return [self._records[entry_id] for _, entry_id in reversed(settled[max(end - limit, 0) : end])]

    async def changes(self, owner: str, since: int) -> Sequence[Record]:
        with self._lock:
            self._sweep()
            owned = self._of(owner)
            found = heapq.merge(
                self._after(owned.waiting, since), self._after(owned.settled, since), key=lambda each: each.revision
            )
            return list(islice(found, SOME))

    async def last_revision(self) -> int:
        return self._position

    async def resolve(self, owner: str, entry_id: str, settlement: Resolution, token: str) -> State | None:  # noqa: ARG002
        with self._lock:
            self._sweep()
            record = self._find(owner, entry_id)
            if record is None:
                return None
            if record.resolution is not None:
                return record.resolution.state
            self._settle(record, settlement)
            return "pending"

    async def erase_answer(self, entry_id: str) -> None:
        with self._lock:
            self._wipe(entry_id)

    async def suspend(self, call: StoredCall, questions: Sequence[Record], token: str) -> None:  # noqa: ARG002
        with self._lock:
            self._sweep()
            self._forget_answers(call.id)
            self._calls[call.id] = call
            heapq.heappush(self._call_ends, (call.expires_at, call.id))
            for question in questions:
                self._add(question)
        self._waiting.notify(call.owner)

    async def suspended(self, owner: str, call_id: str) -> StoredCall | None:
        with self._lock:
            self._sweep()
            call = self._calls.get(call_id)
            return call if call is not None and call.owner == owner else None

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        with self._lock:
            self._sweep()
            call = self._calls.get(call_id)
            if call is None or call.owner != owner:
                return None
            if call.state == "suspended":
                self._calls[call_id] = replace(call, state="resuming")
                self._claims[call_id] = token
            return call.state

    async def release(self, call_id: str, token: str) -> None:
        with self._lock:
            call = self._calls.get(call_id)
            if call is not None and call.state == "resuming" and self._claims[call_id] == token:
                self._calls[call_id] = replace(call, state="suspended")

    async def finish(self, call_id: str) -> None:
        with self._lock:
            call = self._calls.get(call_id)
            if call is not None:
                self._forget_answers(call_id)
                self._calls[call_id] = replace(call, state="finished", body="")

    def forget(self, owner: str) -> None:
        """Keep nothing of what *owner* was asked and no longer waits."""
        with self._lock:
            owned = self._of(owner)
            for _, entry_id in owned.settled:
                del self._records[entry_id]
            owned.settled.clear()
            self._prune(owner)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _add(self, record: Record) -> None:
        place = self._next()
        self._records[record.id] = replace(record, sequence=place, revision=place)
        self._owners.setdefault(record.owner, _Owned()).waiting.append((place, record.id))
        heapq.heappush(self._ends, (record.expires_at, record.id))

    def _wipe(self, entry_id: str) -> None:
        record = self._records.get(entry_id)
        if record is not None and record.resolution is not None:
            self._records[entry_id] = replace(record, resolution=replace(record.resolution, answer=None))

    def _forget_answers(self, call_id: str) -> None:
        call = self._calls.get(call_id)
        for entry_id in call.request_ids if call is not None else ():
            self._wipe(entry_id)

    def _next(self) -> int:
        self._position += 1
        return self._position

    def _of(self, owner: str) -> _Owned:
        return self._owners.get(owner) or _Owned()

    def _find(self, owner: str, entry_id: str) -> Record | None:
        record = self._records.get(entry_id)
        return record if record is not None and record.owner == owner else None

    def _after(self, places: list[tuple[int, str]], after: int) -> Iterator[Record]:
        for at in range(bisect_left(places, (after + 1, "")), len(places)):
            yield self._records[places[at][1]]

    def _settle(self, record: Record, settlement: Resolution) -> None:
        changed = self._next()
        self._records[record.id] = replace(record, revision=changed, resolution=settlement)
        owned = self._owners[record.owner]
        del owned.waiting[bisect_left(owned.waiting, (record.sequence, record.id))]
        insort(owned.settled, (changed, record.id))
        self._prune(record.owner)
        self._waiting.deliver(record.id, settlement)
        self._waiting.notify(record.owner)

    def _sweep(self) -> None:
        """Settle what has expired; forget the ends of what was settled before."""
        now = self.clock()
        while self._ends and self._ends[0][0] <= now:
            when, entry_id = heapq.heappop(self._ends)
            record = self._records.get(entry_id)
            if record is not None and record.resolution is None:
                self._settle(record, Resolution("expired", "clock", when))
        while self._call_ends and self._call_ends[0][0] <= now:
            _, call_id = heapq.heappop(self._call_ends)
            self._end(call_id, now)

    def _end(self, call_id: str, now: float) -> None:
        """Forget a call that has expired: what it holds at once, that there was one later."""
        call = self._calls.get(call_id)
        if call is None or call.expires_at > now:  # it went on, and asks again
            return
        if call.expires_at + REMEMBERED <= now:
            del self._calls[call_id]
            self._claims.pop(call_id, None)
            return
        self._forget_answers(call_id)
        state: CallState = "expired" if call.state == "suspended" else call.state
        self._calls[call_id] = replace(call, state=state, body="")
        heapq.heappush(self._call_ends, (call.expires_at + REMEMBERED, call_id))

    def _prune(self, owner: str) -> list[tuple[int, str]]:
        """Forget what is too old or too much; return what is left."""
        owned = self._of(owner)
        settled = owned.settled
        oldest = self.clock() - self._keep
        too_many = len(settled) - self._history
        stale = bisect_right(settled, oldest, key=lambda each: self._when(each[1]))
        gone = max(too_many, stale, 0)
        left = [each for each in settled[:gone] if self._is_needed(each[1])]
        for each in settled[:gone]:
            if each not in left:
                del self._records[each[1]]
        settled[:gone] = left
        if not owned.waiting and not settled:
            self._owners.pop(owner, None)
        return settled

    def _is_needed(self, entry_id: str) -> bool:
        """Tell whether a parked call still needs the answer to a question."""
        call = self._calls.get(self._records[entry_id].call)
        return call is not None and bool(call.body)

    def _when(self, entry_id: str) -> float:
        settlement = self._records[entry_id].resolution
        return settlement.updated_at if settlement is not None else 0.0
