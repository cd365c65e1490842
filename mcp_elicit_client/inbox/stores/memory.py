"""Questions kept in this process, and gone with it."""

from __future__ import annotations

import heapq
import threading
import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from mcp_elicit_client.inbox.entries import State
from mcp_elicit_client.inbox.local import WaitsHere
from mcp_elicit_client.inbox.stores.base import HISTORY, KEEP, Clock, Record, Settlement

SOME = 100
"""How many changes are told at a time."""


@dataclass(slots=True)
class _Owned:
    waiting: list[tuple[int, str]] = field(default_factory=list)
    settled: list[tuple[int, str]] = field(default_factory=list)


class MemoryStore(WaitsHere):
    """
    Keeps questions in memory; safe in threads.

    Args:
        history: How many questions that no longer wait are kept for each owner.
        keep: How long they are kept, in seconds.
        clock: What time it is.
    """

    def __init__(self, *, history: int = HISTORY, keep: float = KEEP, clock: Clock = time.time) -> None:
        self.clock = clock
        self._history = history
        self._keep = keep
        self._lock = threading.RLock()
        super().__init__()
        self._records: dict[str, Record] = {}
        self._owners: dict[str, _Owned] = {}
        self._ends: list[tuple[float, str]] = []
        self._position = 0

    async def put(self, record: Record) -> None:
        with self._lock:
            place = self._next()
            self._records[record.id] = replace(record, place=place, changed=place)
            self._owners.setdefault(record.owner, _Owned()).waiting.append((place, record.id))
            heapq.heappush(self._ends, (record.expires, record.id))
        self._waiting.ring(record.owner)

    async def get(self, owner: str, entry_id: str) -> Record | None:
        with self._lock:
            self._sweep()
            return self._find(owner, entry_id)

    async def waiting(self, owner: str, limit: int, after: int) -> Sequence[Record]:
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
                self._after(owned.waiting, since), self._after(owned.settled, since), key=lambda each: each.changed
            )
            return list(islice(found, SOME))

    async def position(self) -> int:
        return self._position

    async def settle(self, owner: str, entry_id: str, settlement: Settlement, token: str) -> State | None:  # noqa: ARG002
        with self._lock:
            self._sweep()
            record = self._find(owner, entry_id)
            if record is None:
                return None
            if record.settlement is not None:
                return record.settlement.state
            self._settle(record, settlement)
            return "waiting"

    async def wipe(self, entry_id: str) -> None:
        with self._lock:
            record = self._records.get(entry_id)
            if record is not None and record.settlement is not None:
                self._records[entry_id] = replace(record, settlement=replace(record.settlement, answer=None))

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

    def _settle(self, record: Record, settlement: Settlement) -> None:
        changed = self._next()
        self._records[record.id] = replace(record, changed=changed, settlement=settlement)
        owned = self._owners[record.owner]
        del owned.waiting[bisect_left(owned.waiting, (record.place, record.id))]
        insort(owned.settled, (changed, record.id))
        self._prune(record.owner)
        self._waiting.deliver(record.id, settlement)
        self._waiting.ring(record.owner)

    def _sweep(self) -> None:
        """Settle what has expired; forget the ends of what was settled before."""
        now = self.clock()
        while self._ends and self._ends[0][0] <= now:
            when, entry_id = heapq.heappop(self._ends)
            record = self._records.get(entry_id)
            if record is not None and record.settlement is None:
                self._settle(record, Settlement("expired", "clock", when))

    def _prune(self, owner: str) -> list[tuple[int, str]]:
        """Forget what is too old or too much; return what is left."""
        owned = self._of(owner)
        settled = owned.settled
        oldest = self.clock() - self._keep
        too_many = len(settled) - self._history
        stale = bisect_right(settled, oldest, key=lambda each: self._when(each[1]))
        gone = max(too_many, stale, 0)
        for _, entry_id in settled[:gone]:
            del self._records[entry_id]
        del settled[:gone]
        if not owned.waiting and not settled:
            self._owners.pop(owner, None)
        return settled

    def _when(self, entry_id: str) -> float:
        settlement = self._records[entry_id].settlement
        return settlement.when if settlement is not None else 0.0
