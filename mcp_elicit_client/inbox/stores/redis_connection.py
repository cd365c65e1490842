"""One process's connection to Redis: what it asks, what it hears, its sign of life."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
from typing import Any

from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.stores.protocol import Clock, Record, Resolution
from mcp_elicit_client.inbox.stores.redis_scripts import BEAT, PUT, WIPE
from mcp_elicit_client.inbox.waiters import WaiterRegistry

_logger = logging.getLogger("mcp_elicit_client")

LOOK = 0.5
"""How often what was not heard is read, in seconds; with it goes the sign of life."""

_PATIENCE = 5.0
_BATCH = 100
_CONNECTIONS = 16


class RedisConnection:
    """
    What one event loop has to do with Redis.

    Args:
        url: Where Redis is.
        prefix: What the names of all keys begin with.
        worker: What this process is called there.
        lease: How long it counts as alive without a sign of life, in seconds.
        keep: How long settled questions are kept, in milliseconds.
        clock: What time it is.

    Attributes:
        waiting: Who waits here.
        worker: What this process is called.
    """

    def __init__(self, url: str, prefix: str, worker: str, lease: float, keep: int, clock: Clock) -> None:  # noqa: PLR0913, PLR0917
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.exceptions import NoScriptError, RedisError

        self.waiting: WaiterRegistry = WaiterRegistry()
        self.worker = worker
        times = dict.fromkeys(("timeout", "socket_timeout", "socket_connect_timeout"), _PATIENCE)
        pool = BlockingConnectionPool.from_url(url, max_connections=_CONNECTIONS, decode_responses=True, **times)
        self._redis: Any = Redis.from_pool(pool)
        self._failures = (RedisError, OSError, asyncio.TimeoutError)
        self._no_script = NoScriptError
        self._prefix = prefix
        self._lease = lease
        self._keep = keep
        self._clock = clock
        self._records: dict[str, Record] = {}
        self._wipes: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_away = False

    async def run(self, script: str, *values: object) -> Any:
        """
        Run a script.

        Raises:
            InboxError: If Redis cannot be reached, or refuses.
        """
        try:
            try:
                return await self._redis.evalsha(_digest(script), 1, self._prefix, *values)
            except self._no_script:
                return await self._redis.eval(script, 1, self._prefix, *values)
        except self._failures as error:
            raise InboxError(f"the inbox in Redis cannot be used: {type(error).__name__}") from error

    async def run_command(self, *command: object) -> Any:
        """Run a command; raises as `run`."""
        try:
            return await self._redis.execute_command(*command)
        except self._failures as error:
            raise InboxError(f"the inbox in Redis cannot be used: {type(error).__name__}") from error

    async def put(self, record: Record) -> None:
        """Keep a question, again where Redis has lost it; raises as `run`."""
        now = self._clock()
        left = max(round((record.expires_at - now) * 1_000), 0) + self._keep
        about = (record.id, record.owner, self.worker, record.request, record.created_at, record.expires_at)
        await self.run(PUT, *about, now + self._lease, left)
        if record.id in self.waiting:
            self._records[record.id] = record

    def forget(self, entry_id: str) -> None:
        """Put a question never again."""
        self._records.pop(entry_id, None)

    def wipes(self, entry_id: str) -> bool:
        """Tell whether the answer of a question is being forgotten."""
        return entry_id in self._wipes

    def listen(self) -> None:
        """Begin to listen, unless that is going on; it ends when nobody waits any more."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._listen())

    async def aclose(self) -> None:
        """Let go of the connections."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        with contextlib.suppress(InboxError):
            await self._wipe()
        await self._redis.aclose()

    async def _listen(self) -> None:
        while self.waiting or self._wipes:
            if not await self._hear_until_it_breaks():
                await asyncio.sleep(LOOK)

    async def _hear_until_it_breaks(self) -> bool:
        try:
            async with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
                await self._hear(channel)
        except (InboxError, *self._failures) as error:
            if not self._is_away:
                _logger.warning("the inbox in Redis is away; questions wait: %s", type(error).__name__)
            self._is_away = True
            return False
        return True

    async def _hear(self, channel: Any) -> None:
        loop = asyncio.get_running_loop()
        look_at = 0.0
        while self.waiting or self._wipes:
            await self._subscribe(channel)
            if loop.time() >= look_at:
                await self._look()
                self._is_away = False
                look_at = loop.time() + LOOK
            message = await channel.get_message(timeout=0 if self._wipes else look_at - loop.time())
            if message is not None:
                self._take(message["channel"], message["data"])
                await asyncio.sleep(0)  # whoever waits goes first
            if self._wipes and (message is None or len(self._wipes) >= _BATCH):
                await self._wipe()

    async def _subscribe(self, channel: Any) -> None:
        wanted = {f"{self._prefix}:worker:{self.worker}"}
        wanted |= {f"{self._prefix}:owner:{owner}" for owner in self.waiting.owners}
        known = set(channel.channels)
        if wanted - known:
            await channel.subscribe(*(wanted - known))
        if known - wanted:
            await channel.unsubscribe(*(known - wanted))

    async def _look(self) -> None:
        """Give a sign of life, and read what was not heard."""
        is_known, *outcomes = await self.run(BEAT, self.worker, self._clock() + self._lease)
        if not is_known:
            for record in tuple(self._records.values()):
                await self.put(record)
        for outcome in outcomes:
            self._deliver(outcome)
        self.waiting.notify_all()

    def _take(self, channel: str, data: str) -> None:
        kind, _, name = channel[len(self._prefix) + 1 :].partition(":")
        if kind == "owner":
            self.waiting.notify(name)
        else:
            self._deliver(data)

    def _deliver(self, outcome: str) -> None:
        entry_id, state, who, moment, action, answer = json.loads(outcome)
        self.waiting.deliver(entry_id, Resolution(state, who, float(moment), action, answer or None))
        self.forget(entry_id)
        self._wipes.add(entry_id)

    async def _wipe(self) -> None:
        wipes = tuple(self._wipes)
        if wipes:
            await self.run(WIPE, self.worker, *wipes)
            self._wipes.difference_update(wipes)


def _digest(script: str) -> str:
    return hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
