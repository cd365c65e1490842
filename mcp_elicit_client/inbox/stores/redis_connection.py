"""The connection of one event loop to Redis: it runs commands, listens for changes and renews the lease."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.resources
import json
import logging
import secrets
from itertools import islice
from typing import Any

from mcp_elicit_client._arguments import YEAR
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.stores.models import Clock, Resolution, StoredRequest
from mcp_elicit_client.inbox.stores.outages import Outages
from mcp_elicit_client.inbox.waiters import WaiterRegistry

_logger = logging.getLogger("mcp_elicit_client")

POLL_INTERVAL = 0.5
"""Seconds between two lease renewals, which also read what was published while no one listened."""

_TIMEOUT = 5.0
_MAX_TTL = 100 * YEAR
"""Redis refuses times that are much longer."""
_MAX_HISTORY = 10**9
"""Lua writes numbers of more than 14 digits so that Redis does not read them."""
_BATCH = 100
_MAX_CHECKED = 500
"""The number of requests of which one lease renewal checks that Redis has them."""
_MAX_CONNECTIONS = 16


def _load_script() -> tuple[str, str]:
    """Return the script with all commands, and its SHA-1 digest."""
    script = (importlib.resources.files(__package__) / "redis.lua").read_text(encoding="utf-8")
    return script, hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()


_SCRIPT, _SCRIPT_DIGEST = _load_script()


class RedisConnection:
    """
    A pool of connections and a listener, for one event loop.

    Args:
        url: The URL of Redis.
        prefix: The beginning of all keys.
        clock: Returns the current time.
        lease_ttl: Seconds for which a lease is valid.
        max_history: The number of closed requests that are kept for each
            owner.
        history_ttl: Seconds for which they are kept.

    Attributes:
        waiters: The tasks of the event loop that wait.
    """

    def __init__(  # noqa: PLR0913 -- all by keyword
        self, url: str, prefix: str, *, clock: Clock, lease_ttl: float, max_history: int, history_ttl: float
    ) -> None:
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.exceptions import ConnectionError as RedisConnectionError
        from redis.exceptions import NoScriptError, RedisError

        self.waiters: WaiterRegistry = WaiterRegistry()
        timeouts = dict.fromkeys(("timeout", "socket_timeout", "socket_connect_timeout"), _TIMEOUT)
        pool = BlockingConnectionPool.from_url(url, max_connections=_MAX_CONNECTIONS, decode_responses=True, **timeouts)
        self._redis: Any = Redis.from_pool(pool)
        self._failures = (RedisError, OSError, asyncio.TimeoutError)
        self._connection_error = RedisConnectionError
        self._no_script_error = NoScriptError
        self._prefix = prefix
        self._worker = secrets.token_hex(8)
        self._clock = clock
        self._lease_ttl = lease_ttl
        self._outages = Outages(clock, lease_ttl)
        self._limits = (min(max_history, _MAX_HISTORY), round(min(history_ttl, _MAX_TTL) * 1_000))
        self._requests: dict[str, StoredRequest] = {}
        self._to_erase: set[str] = set()
        self._left: dict[str, tuple[StoredRequest, Resolution | None]] = {}
        self._listener: asyncio.Task[None] | None = None
        self._has_failed = False
        self._is_closing = False

    async def run(self, command: str, *arguments: object) -> Any:
        """
        Run a command of ``redis.lua``.

        Raises:
            InboxError: If Redis cannot be reached, refuses, or holds data of
                another format.
        """
        times = (self._clock(), self._outages.leases_end_at)
        about = (1, self._prefix, *times, *self._limits, command, *arguments)
        try:
            try:
                return await self._redis.evalsha(_SCRIPT_DIGEST, *about)
            except self._no_script_error:
                return await self._redis.eval(_SCRIPT, *about)
        except self._failures as error:
            self._outages.note()
            raise self._inbox_error(error) from error

    async def put(self, request: StoredRequest) -> None:
        """Store a request, and again if Redis loses it while a task waits; raises as `run`."""
        about = (request.id, request.owner, request.request, request.created_at, request.expires_at)
        await self.run("put", self._worker, self._lease_end(), *about)
        if request.id in self.waiters:
            self._requests[request.id] = request

    async def resolve(self, owner: str, entry_id: str, resolution: Resolution) -> Any:
        """Close a request, as `RequestStore.resolve`; raises as `run`."""
        about = (resolution.state, resolution.answered_by, resolution.updated_at, resolution.action)
        return await self.run("resolve", entry_id, owner, *about, resolution.answer or "")

    async def leave(self, request: StoredRequest, resolution: Resolution | None) -> None:
        """
        Close a request that no task waits for, unless it is closed, and erase its answer.

        If that fails, the listener tries again until a lease after the request expired.

        Raises:
            InboxError: As `run`.
        """
        self._left[request.id] = (request, resolution)
        if resolution is not None:
            await self.resolve(request.owner, request.id, resolution)
        if not self.erases(request.id):
            await self.run("erase_answers", self._worker, request.id)
        self._left.pop(request.id, None)

    def erases(self, entry_id: str) -> bool:
        """Return True if the listener is about to erase the answer to a request."""
        return entry_id in self._to_erase

    def listen(self) -> None:
        """Start the listener if it is needed, unless it runs.  It ends when no task waits any more."""
        if self._is_needed and (self._listener is None or self._listener.done()):
            self._listener = asyncio.get_running_loop().create_task(self._listen())

    async def aclose(self) -> None:
        """Close the connections.  If tasks still wait, listen again for their answers."""
        self._is_closing = True  # redis-py may suppress the cancellation while it closes a connection
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
        with contextlib.suppress(InboxError):
            await self._leave_again()
            await self._erase_answers()
        await self._redis.aclose()
        self._is_closing = False
        if self.waiters:
            self.listen()

    @property
    def _is_needed(self) -> bool:
        return not self._is_closing and bool(self.waiters or self._to_erase or self._left)

    def _lease_end(self) -> float:
        return self._clock() + self._lease_ttl

    async def _listen(self) -> None:
        while self._is_needed:
            if not await self._listen_until_failure():
                await asyncio.sleep(POLL_INTERVAL)

    async def _listen_until_failure(self) -> bool:
        """Listen as long as it is needed; return False if the connection failed."""
        try:
            async with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
                await self._listen_on(channel)
        except (InboxError, *self._failures) as error:
            if not self._has_failed:
                _logger.warning("Requests in the inbox stay pending. %s", self._inbox_error(error))
            self._has_failed = True
            return False
        return True

    async def _listen_on(self, channel: Any) -> None:
        loop = asyncio.get_running_loop()
        poll_at = 0.0
        while self._is_needed:
            await self._subscribe(channel)
            if loop.time() >= poll_at:
                await self._poll()
                self._has_failed = False
                poll_at = loop.time() + POLL_INTERVAL
            message = await channel.get_message(timeout=0 if self._to_erase else poll_at - loop.time())
            if message is not None:
                self._receive(message["channel"], message["data"])
                await asyncio.sleep(0)  # The task that waits runs first.
            if self._to_erase and (message is None or len(self._to_erase) >= _BATCH):
                await self._erase_answers()

    async def _subscribe(self, channel: Any) -> None:
        wanted = {f"{self._prefix}:resolutions:{self._worker}"}
        wanted |= {f"{self._prefix}:changes:{owner}" for owner in self.waiters.watched_owners}
        known = set(channel.channels)
        if wanted - known:
            await channel.subscribe(*(wanted - known))
        if known - wanted:
            await channel.unsubscribe(*(known - wanted))

    async def _poll(self) -> None:
        """Renew the lease, receive the resolutions that were not heard, and store again what Redis has lost."""
        arguments = (self._worker, self._lease_end(), *self._next_waiting())
        lost, resolutions = await self.run("renew_lease", *arguments)
        for resolution in resolutions:
            self._deliver(resolution)
        for entry_id in lost:  # Redis restarted without its data, or with older data.
            if entry_id in self.waiters:
                await self.put(self._requests[entry_id])
        await self._leave_again()
        self.waiters.notify_all()

    def _next_waiting(self) -> list[str]:
        """Return the IDs of some requests that tasks wait for, and the next time those of others."""
        self._requests = {entry_id: each for entry_id, each in self._requests.items() if entry_id in self.waiters}
        found = list(islice(self._requests, _MAX_CHECKED))
        for entry_id in found:
            self._requests[entry_id] = self._requests.pop(entry_id)
        return found

    async def _leave_again(self) -> None:
        for request, resolution in tuple(self._left.values()):
            if request.expires_at <= self._clock() - self._lease_ttl:
                self._left.pop(request.id, None)
            elif request.id in self._left:
                await self.leave(request, resolution)

    def _receive(self, channel: str, data: str) -> None:
        kind, _, name = channel.removeprefix(f"{self._prefix}:").partition(":")
        if kind == "changes":
            self.waiters.notify(name)
        else:
            self._deliver(data)

    def _deliver(self, text: str) -> None:
        found = json.loads(text)
        entry_id = found.pop("id")
        found |= {"updated_at": float(found["updated_at"]), "answer": found["answer"] or None}
        self.waiters.deliver(entry_id, Resolution(**found))
        self._requests.pop(entry_id, None)
        self._to_erase.add(entry_id)

    def _inbox_error(self, error: Exception) -> InboxError:
        if isinstance(error, InboxError):
            return error
        kind, *numbers = str(error).split()[:3] or [""]
        if kind == "FORMAT":  # an error of redis.lua
            found, needed = numbers
            return InboxError(
                f"The inbox in Redis with the prefix {self._prefix} has format {found}, but this version of"
                f" mcp-elicit-client needs format {needed}. Use another prefix, or the version that created it."
            )
        hint = " Check its URL, and that it is running." if isinstance(error, self._connection_error) else ""
        return InboxError(f"The inbox in Redis cannot be used: {type(error).__name__}.{hint}")

    async def _erase_answers(self) -> None:
        while self._to_erase:
            batch = tuple(self._to_erase)[:_BATCH]
            await self.run("erase_answers", self._worker, *batch)
            self._to_erase.difference_update(batch)
