"""Questions kept in Redis, for the processes of several machines."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import cast

from mcp_elicit_client._concurrency import is_trio
from mcp_elicit_client.exceptions import InboxError, MissingExtraError, State
from mcp_elicit_client.inbox.stores.protocol import (
    HISTORY_TTL,
    LEASE,
    MAX_HISTORY,
    REMEMBERED,
    CallState,
    Clock,
    Record,
    Resolution,
    StoredCall,
    call_of,
)
from mcp_elicit_client.inbox.stores.redis_connection import RedisConnection
from mcp_elicit_client.inbox.stores.redis_scripts import (
    CLAIM,
    FIND,
    FINISH,
    PARK,
    PARKED,
    READ,
    RELEASE,
    RESUME,
    SWEEP,
    WIPE,
)
from mcp_elicit_client.inbox.waiters import AnswerWaiter, ChangeNotifier

PREFIX = "{mcp-elicit-inbox}"
"""What the names of all keys begin with; in braces, so that a cluster keeps them together."""

SOME = 100
"""How many changes are told at a time."""


class RedisStore:
    """
    Keeps questions in Redis, for asyncio.

    What became of a question is published, and read again every half second
    too, so that nothing is lost when a connection breaks.  Questions that
    Redis has lost, as one does that restarts and keeps nothing, are put
    again by the processes that wait for them.

    Whose clocks differ by more than a few seconds cannot share it.

    Args:
        url: Where Redis is, such as ``redis://localhost:6379``.
        prefix: What the names of all keys begin with.
        history: How many questions that no longer wait are kept for each owner.
        keep: How long they are kept, in seconds.
        lease: How long a process that gives no sign of life counts as alive,
            in seconds.
        clock: What time it is.

    Raises:
        MissingExtraError: If the package ``redis`` is not installed.
    """

    def __init__(  # noqa: PLR0913 -- all by keyword
        self,
        url: str,
        *,
        prefix: str = PREFIX,
        max_history: int = MAX_HISTORY,
        history_ttl: float = HISTORY_TTL,
        lease: float = LEASE,
        clock: Clock = time.time,
    ) -> None:
        try:
            import redis.asyncio  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("redis", "an inbox in Redis") from error
        self.clock = clock
        self._url = url
        self._prefix = prefix
        self._bounds = (max_history, round(history_ttl * 1_000))
        self._lease = lease
        self._links: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, RedisConnection] = weakref.WeakKeyDictionary()

    def open(self, entry_id: str) -> AnswerWaiter:
        return self._link().waiting.open(entry_id)

    def close(self, entry_id: str) -> None:
        link = self._link()
        link.waiting.close(entry_id)
        link.forget(entry_id)

    def change_notifier(self, owner: str) -> AbstractContextManager[ChangeNotifier]:
        return self._link().waiting.change_notifier(owner)

    async def put(self, record: Record) -> None:
        link = self._link()
        link.listen()
        await link.put(record)

    async def get(self, owner: str, entry_id: str) -> Record | None:
        row = await self._link().run(FIND, entry_id, owner, self.clock(), *self._bounds)
        return _record(row) if row else None

    async def pending(self, owner: str, limit: int, after: int) -> Sequence[Record]:
        await self._sweep()
        return await self._read(f":waiting:{owner}", f"({after}", "+inf", limit)

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[Record]:
        await self._sweep()
        to = "+inf" if before is None else f"({before}"
        return await self._read(f":settled:{owner}", "-inf", to, limit, "last first")

    async def changes(self, owner: str, since: int) -> Sequence[Record]:
        self._link().listen()
        await self._sweep()
        waiting = await self._read(f":waiting:{owner}", f"({since}", "+inf", SOME)
        settled = await self._read(f":settled:{owner}", f"({since}", "+inf", SOME)
        return sorted([*waiting, *settled], key=lambda each: each.revision)[:SOME]

    async def last_revision(self) -> int:
        return int(await self._link().run_command("GET", f"{self._prefix}:position") or 0)

    async def resolve(self, owner: str, entry_id: str, settlement: Resolution, token: str) -> State | None:
        about = (
            settlement.state,
            settlement.answered_by,
            settlement.updated_at,
            settlement.action,
            settlement.answer or "",
        )
        state = await self._link().run(CLAIM, entry_id, owner, self.clock(), *self._bounds, token, *about)
        return cast("State | None", state)

    async def erase_answer(self, entry_id: str) -> None:
        link = self._link()
        if not link.wipes(entry_id):
            await link.run(WIPE, link.worker, entry_id)

    async def suspend(self, call: StoredCall, questions: Sequence[Record], token: str) -> None:
        _, keep = self._bounds
        known = round(REMEMBERED * 1_000)
        about = (call.id, call.owner, call.body, json.dumps(call.request_ids), call.created_at, call.expires_at)
        each = [
            (one.id, one.request, one.created_at, one.expires_at, self._left(one.expires_at) + keep)
            for one in questions
        ]
        await self._link().run(PARK, *about, self._left(call.expires_at), known, token, *chain.from_iterable(each))

    async def suspended(self, owner: str, call_id: str) -> StoredCall | None:
        row = await self._link().run(PARKED, call_id, owner, self.clock())
        return _call(row) if row else None

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        return cast("CallState | None", await self._link().run(RESUME, call_id, owner, self.clock(), token))

    async def release(self, call_id: str, token: str) -> None:
        await self._link().run(RELEASE, call_id, token)

    async def finish(self, call_id: str) -> None:
        await self._link().run(FINISH, call_id)

    async def aclose(self) -> None:
        link = self._links.pop(asyncio.get_running_loop(), None)
        if link is not None:
            await link.aclose()

    async def _sweep(self) -> None:
        await self._link().run(SWEEP, self.clock(), *self._bounds)

    async def _read(self, key: str, *part: object) -> list[Record]:
        rows = await self._link().run(READ, key, *part, *(() if len(part) == 4 else ("first first",)))
        return [_record(row) for row in rows]

    def _left(self, until: float) -> int:
        return max(round((until - self.clock()) * 1_000), 0)

    def _link(self) -> RedisConnection:
        if is_trio():
            raise InboxError("an inbox in Redis needs asyncio")
        loop = asyncio.get_running_loop()
        link = self._links.get(loop)
        if link is None:
            link = RedisConnection(
                self._url, self._prefix, secrets.token_hex(8), self._lease, self._bounds[1], self.clock
            )
            self._links[loop] = link
        return link


def _record(names_and_values: list[str]) -> Record:
    row = dict(zip(names_and_values[::2], names_and_values[1::2], strict=True))
    try:
        settlement = None
        if row["state"] != "pending":
            moment = float(row["moment"])
            settlement = Resolution(row["state"], row["who"], moment, row["action"], row.get("answer"))  # type: ignore[arg-type]
        return Record(
            row["id"],
            row["owner"],
            row["request"],
            float(row["created"]),
            float(row["expires"]),
            int(row["place"]),
            int(row["changed"]),
            settlement,
            call_of(row["worker"]),
        )
    except (KeyError, ValueError) as error:
        raise InboxError("the inbox holds what is no question") from error


def _call(names_and_values: list[str]) -> StoredCall:
    row = dict(zip(names_and_values[::2], names_and_values[1::2], strict=True))
    try:
        questions = tuple(map(str, json.loads(row["questions"])))
        times = (float(row["created"]), float(row["expires"]))
        return StoredCall(row["id"], row["owner"], row["body"], questions, *times, cast("CallState", row["state"]))
    except (KeyError, ValueError, TypeError) as error:
        raise InboxError("the inbox holds what is no parked call") from error
