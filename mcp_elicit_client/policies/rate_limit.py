"""How often a server may ask."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import anyio.to_thread

from mcp_elicit_client.dispatch import normalize_answer
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.typing import Answer, Handler, Policy, Request

_logger = logging.getLogger("mcp_elicit_client")

NAME = "rate_limit"


def rate_limit(rates: Sequence[str] = ("5/minute", "20/hour"), *, storage: str = "memory://") -> Policy:
    """
    Ask only so often for one server; cancel the rest.

    Every rate is a moving window, of this process or, with Redis, of all that
    share its storage.  Where the storage cannot be reached, nothing is asked.
    A server is who the host application says it is.

    Args:
        rates: What is allowed to each server, as ``limits`` writes it.
        storage: ``memory://``, or where Redis is (``redis://host:6379``).

    Raises:
        MissingExtraError: If the storage needs a package that is missing.
        ValueError: If a rate or the storage makes no sense.
    """
    limiter = _Limiter(rates, storage)

    def policy(handler: Handler) -> Handler:
        async def limited(request: Request, /) -> Answer:
            reason = None if request.resumed else await limiter.refusal(request.server.name)
            if reason is not None:
                return Answer.cancel(by="policy", policy=NAME, reason=reason)
            return normalize_answer(await handler(request))

        return limited

    return policy


class _Limiter:
    def __init__(self, rates: Sequence[str], storage: str) -> None:
        from limits import parse
        from limits.errors import ConfigurationError
        from limits.storage import storage_from_string
        from limits.strategies import MovingWindowRateLimiter

        self._rates = sorted(map(parse, rates))  # the shortest window first
        if not self._rates:
            raise ValueError("a rate limit needs a rate, such as 5/minute")
        try:
            self._limiter: Any = MovingWindowRateLimiter(storage_from_string(storage))
        except ConfigurationError as error:
            if storage.startswith("redis"):
                raise MissingExtraError("redis", "a rate limit in Redis") from error
            raise ValueError(f"no rate limit can be kept in {storage!r}: {error}") from None
        self._is_local = storage.startswith("memory")
        self._full_until: dict[str, float] = {}
        self._turns: dict[str, anyio.Lock] = {}
        self._is_away = False

    async def refusal(self, server: str) -> str | None:
        """Take one turn of *server*; or say why there is none."""
        if self._is_local:
            return self._take(server)
        # One look at a time for each server: a flood waits for the first that is
        # refused, and the others need not look.
        async with self._turns.setdefault(server, anyio.Lock()):
            if self._is_full(server):
                return _TOO_OFTEN
            return await anyio.to_thread.run_sync(self._take_or_fail, server)

    def _is_full(self, server: str) -> bool:
        return self._full_until.get(server, 0) > time.time()

    def _take_or_fail(self, server: str) -> str | None:
        try:
            refusal = self._take(server)
        except Exception as error:  # noqa: BLE001 -- whatever the storage raises: it cannot be asked
            if not self._is_away:
                kind = type(error).__name__
                _logger.error("the storage of the rate limit is away, nothing is asked: %s", kind)  # noqa: TRY400
            self._is_away = True
            return "the rate limit cannot be looked up"
        if self._is_away:
            _logger.warning("the storage of the rate limit is back")
        self._is_away = False
        return refusal

    def _take(self, server: str) -> str | None:
        if self._is_full(server):
            return _TOO_OFTEN
        first, *others = self._rates
        for rate in others:
            if not self._limiter.test(rate, NAME, server):
                return self._refuse(rate, server)
        if not self._limiter.hit(first, NAME, server):
            return self._refuse(first, server)
        # Another process may have been faster; then this question is one too many.
        taken = [self._limiter.hit(rate, NAME, server) for rate in others]
        return None if all(taken) else _TOO_OFTEN

    def _refuse(self, rate: Any, server: str) -> str:
        self._full_until[server] = self._limiter.get_window_stats(rate, NAME, server).reset_time
        return _TOO_OFTEN


_TOO_OFTEN = "the server asks too often"
