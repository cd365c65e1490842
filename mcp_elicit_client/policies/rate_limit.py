"""How often a server may ask: `rate_limit` and `cooldown_after_declines`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio.to_thread

from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.typing import Answer, Policy, Request

_logger = logging.getLogger("mcp_elicit_client")

NAME = "rate_limit"
COOLDOWN = "cooldown"


def rate_limit(rates: Sequence[str] = ("5/minute", "20/hour"), *, storage: str = "memory://") -> Policy:
    """
    Limit how many requests each server may show.  Requests above the limit are cancelled.

    Each rate is a moving window, of this process or, with Redis, of all
    processes that share the storage.  If the storage cannot be reached,
    requests are cancelled.

    Args:
        rates: The rates of each server, in the notation of ``limits``.
        storage: ``memory://``, or a Redis URL (``redis://host:6379``).

    Raises:
        MissingExtraError: If a package for the storage is missing.
        ValueError: If a rate or the storage is not valid.
    """
    limiter = _Limiter(rates, storage)

    async def limit(request: Request, ask: NormalizedHandler) -> Answer:
        reason = await limiter.refusal(request.server.name)
        if reason is not None:
            return Answer.cancel(by="policy", policy=NAME, reason=reason)
        return await ask(request)

    return lambda handler: apply_policy(handler, limit, limits_asking=True)


def cooldown_after_declines(
    *, declines: int = 3, seconds: float = 600, block_after: int = 5, clock: Callable[[], float] = time.monotonic
) -> Policy:
    """
    Cancel the requests of a server for some time after repeated declines, and block it after more.

    Only declines of a user count; an accept resets the count.  Chrome does
    the same with permissions: a week without requests after three dismissals.

    Args:
        declines: The number of consecutive declines that start the cooldown.
        seconds: The duration of the cooldown, in seconds.
        block_after: The number of consecutive declines after which the server
            is blocked as long as the policy lives.
        clock: Returns the time, in seconds.
    """
    servers: dict[str, _DeclineCount] = {}

    async def cool_down(request: Request, ask: NormalizedHandler) -> Answer:
        count = servers.setdefault(request.server.name, _DeclineCount())
        refusal = count.refusal(clock(), block_after)
        if refusal:
            return Answer.cancel(by="policy", policy=COOLDOWN, reason=refusal)
        answer = await ask(request)
        if answer.action == "accept":
            count.declines = 0
        elif answer.action == "decline" and answer.by in ("user", "host"):
            count.declines += 1
            if count.declines >= declines:
                count.ends_at = clock() + seconds
        return answer

    return lambda handler: apply_policy(handler, cool_down, limits_asking=True)


@dataclass
class _DeclineCount:
    declines: int = 0
    ends_at: float = float("-inf")

    def refusal(self, now: float, block_after: int) -> str:
        if self.declines >= block_after:
            return "the user declined too often; the server is blocked"
        return "the user declined repeatedly; the server has to wait" if now < self.ends_at else ""


class _Limiter:
    def __init__(self, rates: Sequence[str], storage: str) -> None:
        from limits import parse
        from limits.errors import ConfigurationError
        from limits.storage import storage_from_string
        from limits.strategies import MovingWindowRateLimiter

        self._rates = sorted(map(parse, rates))  # the shortest window first
        if not self._rates:
            raise ValueError("A rate limit needs at least one rate, such as 5/minute.")
        try:
            self._limiter: Any = MovingWindowRateLimiter(storage_from_string(storage))
        except ConfigurationError as error:
            if storage.startswith("redis"):
                raise MissingExtraError("redis", "a rate limit in Redis") from error
            raise ValueError(f"{storage!r} is not a storage for rate limits: {error}") from None
        self._is_local = storage.startswith("memory")
        self._full_until: dict[str, float] = {}
        self._locks: dict[str, anyio.Lock] = {}
        self._is_unavailable = False

    async def refusal(self, server: str) -> str | None:
        """Count one request of *server*; return a reason if it is refused."""
        if self._is_local:
            return self._take(server)
        # One request of each server at a time: once one is refused, the rest of a
        # flood is refused without the storage.
        async with self._locks.setdefault(server, anyio.Lock()):
            if self._is_full(server):
                return _LIMIT_REACHED
            return await anyio.to_thread.run_sync(self._take_or_fail, server)

    def _is_full(self, server: str) -> bool:
        return self._full_until.get(server, 0) > time.time()

    def _take_or_fail(self, server: str) -> str | None:
        try:
            refusal = self._take(server)
        except Exception as error:  # noqa: BLE001 -- any error of the storage
            if not self._is_unavailable:
                kind = type(error).__name__
                _logger.error("the storage of the rate limit is unavailable, requests are cancelled: %s", kind)  # noqa: TRY400
            self._is_unavailable = True
            return "the storage of the rate limit is unavailable"
        if self._is_unavailable:
            _logger.warning("the storage of the rate limit is available again")
        self._is_unavailable = False
        return refusal

    def _take(self, server: str) -> str | None:
        if self._is_full(server):
            return _LIMIT_REACHED
        first, *others = self._rates
        for rate in others:
            if not self._limiter.test(rate, NAME, server):
                return self._refuse(rate, server)
        if not self._limiter.hit(first, NAME, server):
            return self._refuse(first, server)
        # Another process may have used the last slot since the check.  Refuse this request.
        taken = [self._limiter.hit(rate, NAME, server) for rate in others]
        return None if all(taken) else _LIMIT_REACHED

    def _refuse(self, rate: Any, server: str) -> str:
        self._full_until[server] = self._limiter.get_window_stats(rate, NAME, server).reset_time
        return _LIMIT_REACHED


_LIMIT_REACHED = "the server reached its rate limit"
