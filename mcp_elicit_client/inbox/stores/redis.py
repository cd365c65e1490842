"""`RedisStore`: requests in Redis, for the processes of several machines."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, cast

import anyio

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client._concurrency import is_trio
from mcp_elicit_client.exceptions import InboxError, MissingExtraError, State
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
    check_store_options,
)
from mcp_elicit_client.inbox.stores.redis_connection import RedisConnection
from mcp_elicit_client.inbox.waiters import WaiterRegistry

_LEAVE_TIMEOUT = 5.0
_MIN_CONNECTIONS = 2

PREFIX = "{mcp-elicit-inbox}"
"""The beginning of all keys.  The braces keep them on one node of a cluster."""


class RedisStore:
    """
    Store requests in Redis, for asyncio.

    Resolutions are published, and read again every half second, so that none
    is lost when a connection breaks.  If Redis restarts without its data, or
    with older data, the processes that wait store their requests again.

    The clocks of all machines must agree to a few seconds.

    Args:
        url: The URL of Redis, such as ``redis://localhost:6379``.  Each event
            loop opens up to 16 connections, or ``?max_connections=``.
        prefix: The beginning of all keys.
        max_history: The number of closed requests that are kept for each
            owner.
        history_ttl: Seconds for which they are kept.
        lease_ttl: Seconds after which a process that no longer renews its
            lease counts as stopped.
        clock: Returns the current time, in seconds since 1970.

    Raises:
        MissingExtraError: If the package ``redis`` is not installed.
        TypeError: If an option is of the wrong type.
        ValueError: If *url* is not a URL of Redis, or an option is out of
            range.
    """

    def __init__(  # noqa: PLR0913 -- all by keyword
        self,
        url: str,
        *,
        prefix: str = PREFIX,
        max_history: int = MAX_HISTORY,
        history_ttl: float = HISTORY_TTL,
        lease_ttl: float = LEASE_TTL,
        clock: Callable[[], float] = time.time,
    ) -> None:
        try:
            from redis.asyncio import ConnectionPool
            from redis.exceptions import RedisError
        except ImportError as error:
            raise MissingExtraError("redis", "an inbox in Redis") from error
        check_type("url", url, str)
        try:
            pool = ConnectionPool.from_url(url)
            pool.make_connection()  # type: ignore[no-untyped-call]  # it is not opened
        except (RedisError, TypeError, ValueError):  # also if an option after the question mark is unknown
            raise ValueError(
                "`url` must be a URL of Redis, such as redis://localhost:6379, with known options."
            ) from None
        if pool.max_connections < _MIN_CONNECTIONS:
            raise ValueError(f"`max_connections` in `url` must be at least {_MIN_CONNECTIONS}: one waits for messages.")
        check_type("prefix", prefix, str)
        check_store_options(clock=clock, max_history=max_history, history_ttl=history_ttl, lease_ttl=lease_ttl)
        self.clock: Clock = clock
        self._url = url
        self._prefix = prefix
        self._options: dict[str, Any] = {
            "clock": clock,
            "lease_ttl": lease_ttl,
            "max_history": max_history,
            "history_ttl": history_ttl,
        }
        self._connections: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, RedisConnection] = (
            weakref.WeakKeyDictionary()
        )

    @property
    def waiters(self) -> WaiterRegistry:
        return self._connection.waiters

    async def put(self, request: StoredRequest) -> None:
        connection = self._connection
        connection.listen()
        await connection.put(request)

    async def get(self, owner: str, entry_id: str) -> StoredRequest | None:
        row = await self._connection.run("get", entry_id, owner)
        return StoredRequest.from_row(_mapping(row)) if row else None

    async def pending(self, owner: str, limit: int, after: int) -> Sequence[StoredRequest]:
        return _requests(await self._connection.run("pending", owner, after, limit))

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[StoredRequest]:
        return _requests(await self._connection.run("history", owner, "" if before is None else before, limit))

    async def changes(self, owner: str, since: int) -> Sequence[StoredRequest]:
        connection = self._connection
        connection.listen()
        found = _requests(await connection.run("changes", owner, since, MAX_CHANGES))
        return sorted(found, key=lambda each: each.revision)[:MAX_CHANGES]

    async def last_revision(self) -> int:
        return int(await self._connection.run("last_revision"))

    async def resolve(self, owner: str, entry_id: str, resolution: Resolution) -> State | None:
        return cast("State | None", await self._connection.resolve(owner, entry_id, resolution))

    async def extend(self, owner: str, entry_id: str, expires_at: float) -> State | None:
        return cast("State | None", await self._connection.run("extend", entry_id, owner, expires_at))

    async def leave(self, request: StoredRequest, resolution: Resolution | None) -> None:
        connection = self._connection
        try:
            if resolution is not None or not connection.erases(request.id):
                with anyio.move_on_after(_LEAVE_TIMEOUT, shield=True), suppress(InboxError):
                    await connection.leave(request, resolution)
        finally:
            connection.listen()

    async def suspend(self, call: StoredCall, requests: Sequence[StoredRequest]) -> None:
        await self._connection.run("suspend", *_call_arguments(call, requests))

    async def update(self, call: StoredCall, requests: Sequence[StoredRequest], old_body: str) -> bool:
        return bool(await self._connection.run("update_call", old_body, *_call_arguments(call, requests)))

    async def erase_answers(self, call_id: str) -> None:
        await self._connection.run("erase_call_answers", call_id)

    async def get_call(self, owner: str, call_id: str) -> StoredCall | None:
        row = await self._connection.run("get_call", call_id, owner)
        return StoredCall.from_row(_mapping(row)) if row else None

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        return cast("CallState | None", await self._connection.run("claim", call_id, owner, token))

    async def release(self, call_id: str, token: str) -> None:
        await self._connection.run("release", call_id, token)

    async def finish(self, call_id: str) -> None:
        await self._connection.run("finish", call_id)

    async def save_draft(self, owner: str, key: str, draft: str, expires_at: float) -> None:
        await self._connection.run("save_draft", _draft_name(owner, key), draft, expires_at)

    async def get_draft(self, owner: str, key: str) -> str:
        return str(await self._connection.run("get_draft", _draft_name(owner, key)))

    async def aclose(self) -> None:
        loop = asyncio.get_running_loop()
        connection = self._connections.get(loop)
        if connection is not None:
            await connection.aclose()
            if not connection.waiters:
                self._connections.pop(loop, None)

    @property
    def _connection(self) -> RedisConnection:
        """The connection of the running event loop."""
        if is_trio():
            raise InboxError("An inbox in Redis requires asyncio. With trio, use SqliteStore or PostgresStore.")
        loop = asyncio.get_running_loop()
        connection = self._connections.get(loop)
        if connection is None:
            connection = RedisConnection(self._url, self._prefix, **self._options)
            self._connections[loop] = connection
        return connection


def _call_arguments(call: StoredCall, requests: Sequence[StoredRequest]) -> list[Any]:
    state_ttl = round(CALL_STATE_TTL * 1_000)
    about = (call.id, call.owner, json.dumps(call.request_ids), call.created_at, call.expires_at, call.body)
    each = [(request.id, request.request, request.created_at, request.expires_at) for request in requests]
    return [state_ttl, *about, *chain.from_iterable(each)]


def _draft_name(owner: str, key: str) -> str:
    return hashlib.sha256(json.dumps([owner, key]).encode()).hexdigest()


def _requests(rows: Sequence[list[str]]) -> list[StoredRequest]:
    return [StoredRequest.from_row(_mapping(row)) for row in rows]


def _mapping(names_and_values: list[str]) -> dict[str, str]:
    return dict(zip(names_and_values[::2], names_and_values[1::2], strict=True))
