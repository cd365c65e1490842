"""How often a server may ask: `rate_limit` and `cooldown_after_declines`."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

import anyio.to_thread

from mcp_elicit_client._arguments import check_int, check_seconds, check_sync, check_texts, check_type
from mcp_elicit_client._concurrency import OfEventLoop
from mcp_elicit_client.core.budgets import Sweeper, UserAndServer
from mcp_elicit_client.core.request import user_and_server_of
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy, check_answer_async
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.typing import Answer, Policy, Request

_logger = logging.getLogger("mcp_elicit_client")

NAME = "rate_limit"
COOLDOWN = "cooldown"


def rate_limit(
    rates: Sequence[str] = ("5/minute", "20/hour"), *, server_rates: Sequence[str] = (), storage: str = "memory://"
) -> Policy:
    """
    Limit how many requests each server may show to each user.  Requests above the limit are cancelled.

    Each rate is a moving window, of this process or, with Redis, of all
    processes that share the storage.  If the storage cannot be reached, or
    does not respond within 5 seconds, requests are cancelled.

    Args:
        rates: The rates of each server for each user, in the notation of
            ``limits``.
        server_rates: Further rates of each server, for all users together.
            With them, requests of one user use up what others have left.
        storage: ``memory://``, or a Redis URL (``redis://host:6379``).

    Raises:
        MissingExtraError: If a package for the storage is missing.
        TypeError: If *rates* or *server_rates* is one string, or another
            argument is of the wrong type.
        ValueError: If a rate or the storage is not valid.
    """
    check_texts("rates", rates)
    check_texts("server_rates", server_rates)
    check_type("storage", storage, str)
    if not rates:
        raise ValueError("A rate limit needs at least one rate, such as 5/minute.")
    per_user, per_server = ([each for rate in several for each in _parse(rate)] for several in (rates, server_rates))
    limiter = _InMemory(per_user, per_server) if storage == "memory://" else _Stored(per_user, per_server, storage)

    async def limit(request: Request, ask: NormalizedHandler) -> Answer:
        reason = await limiter.refusal(user_and_server_of(request))
        if reason is not None:
            return Answer.cancel(by="policy", policy=NAME, reason=reason)
        return await ask(request)

    return lambda handler: apply_policy(handler, limit, limits_asking=True)


def cooldown_after_declines(
    *, declines: int = 3, seconds: float = 600, block_after: int = 5, clock: Callable[[], float] = time.monotonic
) -> Policy:
    """
    Cancel the requests of a server to a user for some time after repeated declines, and block it after more.

    Only declines of the user count.  An accept of the user resets the count if
    it is sent.  In a program with many users, declines may be forgotten after
    a day, unless the server is blocked.  Chrome does the same with
    permissions: a week without requests after three dismissals.

    Args:
        declines: The number of consecutive declines that start the cooldown.
        seconds: The duration of the cooldown, in seconds.
        block_after: The number of consecutive declines after which the server
            is blocked as long as the policy lives.
        clock: Returns the time, in seconds.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a number is out of range.
    """
    check_int("declines", declines, 1)
    check_seconds("seconds", seconds)
    check_int("block_after", block_after, 1)
    check_sync("clock", clock)
    counts = _DeclineCounts(declines, seconds, block_after, clock)

    def refuse(request: Request) -> Answer | None:
        reason = counts.refusal(user_and_server_of(request))
        return Answer.cancel(by="policy", policy=COOLDOWN, reason=reason) if reason else None

    async def cool_down(request: Request, ask: NormalizedHandler) -> Answer:
        refusal = refuse(request)
        if refusal is not None:
            return refusal
        answer = await ask(request)
        key = user_and_server_of(request)
        if answer.by not in ("user", "host"):
            return answer
        if answer.action == "accept" and key in counts:
            checked = await check_answer_async(request, answer)
            if checked.action == "accept":
                counts.reset(key)
        elif answer.action == "decline":
            counts.add(key)
        return answer

    return lambda handler: apply_policy(handler, cool_down, limits_asking=True, refuse=refuse)


class _DeclineCount(NamedTuple):
    declines: int
    last_at: float


class _DeclineCounts:
    """The consecutive declines of each user to each server.  Threads may share them."""

    def __init__(self, declines: int, seconds: float, block_after: int, clock: Callable[[], float]) -> None:
        self._declines = declines
        self._seconds = seconds
        self._block_after = block_after
        self._clock = clock
        self._counts: dict[UserAndServer, _DeclineCount] = {}
        self._sweeper = Sweeper()
        self._lock = threading.Lock()

    def __contains__(self, key: UserAndServer) -> bool:
        return key in self._counts

    def refusal(self, key: UserAndServer) -> str:
        """Return why a request is refused; empty if it is not."""
        count = self._counts.get(key)
        if count is None:
            return ""
        if count.declines >= self._block_after:
            return "the user declined too often; the server is blocked"
        is_cooling = count.declines >= self._declines and self._clock() < count.last_at + self._seconds
        return "the user declined repeatedly; the server has to wait" if is_cooling else ""

    def add(self, key: UserAndServer) -> None:
        """Count one decline."""
        now = self._clock()
        with self._lock:
            if key not in self._counts:
                self._sweep(now)
            before = self._counts.get(key)
            self._counts[key] = _DeclineCount(1 if before is None else before.declines + 1, now)

    def reset(self, key: UserAndServer) -> None:
        """Forget the declines."""
        with self._lock:
            self._counts.pop(key, None)

    def _sweep(self, now: float) -> None:
        """If there are many counts, forget old ones of servers that are not blocked."""
        oldest = now - max(self._seconds, _MAX_AGE)
        self._counts = self._sweeper.sweep(
            self._counts, lambda count: count.declines >= self._block_after or count.last_at > oldest
        )


_Key: TypeAlias = UserAndServer | str


class _InMemory:
    """The times of the last requests that were not refused, on a monotonic clock."""

    def __init__(self, per_user: Sequence[Any], per_server: Sequence[Any]) -> None:
        self._per_user = _windows(per_user)
        self._per_server = _windows(per_server)
        self._times: dict[_Key, deque[float]] = {}
        self._sweeper = Sweeper()
        self._lock = threading.Lock()

    async def refusal(self, user_and_server: UserAndServer) -> str | None:
        """Count one request; return a reason if it is refused."""
        with self._lock:
            now = time.monotonic()
            if self._is_full(user_and_server, self._per_user, now):
                return _LIMIT_REACHED
            if self._is_full(user_and_server[1], self._per_server, now):
                return _SERVER_LIMIT_REACHED
            self._count(user_and_server, self._per_user, now)
            self._count(user_and_server[1], self._per_server, now)
            return None

    def _is_full(self, key: _Key, windows: Sequence[tuple[int, int]], now: float) -> bool:
        times = self._times.get(key, ())
        return any(len(times) >= amount and times[-amount] > now - seconds for amount, seconds in windows)

    def _count(self, key: _Key, windows: Sequence[tuple[int, int]], now: float) -> None:
        if not windows:
            return
        if key not in self._times:
            self._sweep(now)
            self._times[key] = deque(maxlen=max(amount for amount, _ in windows))
        self._times[key].append(now)

    def _sweep(self, now: float) -> None:
        """If there are many keys, forget those whose requests are all too old to count."""
        longest = max(seconds for _, seconds in (*self._per_user, *self._per_server))
        self._times = self._sweeper.sweep(self._times, lambda times: times[-1] > now - longest)


def _parse(text: str) -> list[Any]:
    """Return the rates in *text*: one, or several that are separated by semicolons."""
    from limits import parse_many

    with contextlib.suppress(ValueError):
        rates = parse_many(text)
        if all(0 < rate.amount <= _MAX_AMOUNT and rate.get_expiry() <= _MAX_WINDOW for rate in rates):
            return rates
    raise ValueError(
        f"{text!r} is not a rate. "
        f"Write a number from 1 to {_MAX_AMOUNT} and a time of at most 10 years, such as 5/minute."
    )


def _windows(rates: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the amount and the seconds of each rate."""
    return [(rate.amount, rate.get_expiry()) for rate in rates]


class _Stored:
    """The requests of all processes that share a storage, on the clock of the computer."""

    def __init__(self, per_user: Sequence[Any], per_server: Sequence[Any], storage: str) -> None:
        from limits.errors import ConfigurationError
        from limits.storage import storage_from_string
        from limits.strategies import MovingWindowRateLimiter

        self._per_user = sorted(per_user)  # the shortest window first
        self._per_server = sorted(per_server)
        timeouts = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), _STORAGE_TIMEOUT)
        scheme = storage.partition("://")[0]
        options = timeouts if scheme.startswith(("redis", "valkey")) else {}
        try:
            self._limiter: Any = MovingWindowRateLimiter(storage_from_string(storage, **options))
        except ConfigurationError as error:
            if scheme.startswith("redis") and find_spec("redis") is None:
                raise MissingExtraError("redis", "a rate limit in Redis") from error
            raise ValueError(_NOT_A_STORAGE) from None
        except ValueError:  # it may quote a part of a password
            raise ValueError(_NOT_A_STORAGE) from None
        self._full_until: dict[_Key, float] = {}
        self._sweeper = Sweeper()
        self._is_unavailable = False
        self._tried_until = 0.0
        """While the storage is unavailable: until when one request tries it, and others are refused."""

    async def refusal(self, user_and_server: UserAndServer) -> str | None:
        """Count one request; return a reason if it is refused."""
        # One request of each user and server at a time in each event loop: once
        # one is refused, the rest of a flood is refused without the storage.
        locks, key = _locks.get(), (self, user_and_server)
        lock = locks.setdefault(key, anyio.Lock())
        try:
            async with lock:
                if reason := self._refusal_without_storage(user_and_server):
                    return reason
                return await anyio.to_thread.run_sync(self._take_or_fail, user_and_server, limiter=_threads.get())
        finally:
            if not lock.statistics().tasks_waiting and not lock.locked():
                locks.pop(key, None)

    def _refusal_without_storage(self, user_and_server: UserAndServer) -> str | None:
        now = time.monotonic()
        if self._full_until.get(user_and_server, 0) > now:
            return _LIMIT_REACHED
        return _SERVER_LIMIT_REACHED if self._full_until.get(user_and_server[1], 0) > now else None

    def _remember_full(self, key: _Key, now: float, seconds: float) -> None:
        self._full_until = self._sweeper.sweep(self._full_until, lambda until: until > now)
        self._full_until[key] = now + seconds

    def _take_or_fail(self, user_and_server: UserAndServer) -> str | None:
        is_trying = self._is_unavailable
        if is_trying:
            now = time.monotonic()
            if now < self._tried_until:
                return _UNAVAILABLE
            self._tried_until = now + _STORAGE_TIMEOUT
        try:
            refusal = self._take(user_and_server)
        except Exception as error:  # noqa: BLE001 -- any error of the storage
            if not self._is_unavailable:
                kind = type(error).__name__
                _logger.error("the storage of the rate limit is unavailable, requests are cancelled: %s", kind)  # noqa: TRY400
            self._is_unavailable = True
            return _UNAVAILABLE
        finally:
            if is_trying:
                self._tried_until = 0.0
        if self._is_unavailable:
            _logger.warning("the storage of the rate limit is available again")
        self._is_unavailable = False
        return refusal

    def _take(self, user_and_server: UserAndServer) -> str | None:
        user, server = user_and_server
        quoted = quote(server, safe="")
        own = quoted if user is None else f"{quoted}/{quote(user, safe='')}"
        windows: list[tuple[Any, str, _Key, str]] = [
            *((rate, own, user_and_server, _LIMIT_REACHED) for rate in self._per_user),
            *((rate, f"//{quoted}", server, _SERVER_LIMIT_REACHED) for rate in self._per_server),
        ]
        for rate, name, key, reason in windows:
            if not self._limiter.test(rate, NAME, name):
                left = self._limiter.get_window_stats(rate, NAME, name).reset_time - time.time()
                self._remember_full(key, time.monotonic(), min(left, rate.get_expiry()))
                return reason
        # Another process may have used the last slot since the check.  Refuse this request.
        taken = [self._limiter.hit(rate, NAME, name) for rate, name, _, _ in windows]
        return None if all(taken) else _LIMIT_REACHED


_Locks: TypeAlias = dict[tuple[_Stored, UserAndServer], anyio.Lock]

_locks: OfEventLoop[_Locks] = OfEventLoop("mcp_elicit_client.policies.rate_limit.locks", dict)
"""The locks of the event loop.  A task of another one could not be woken by them."""

_threads = OfEventLoop("mcp_elicit_client.policies.rate_limit.threads", lambda: anyio.CapacityLimiter(_MAX_THREADS))
"""The limit of threads that wait for a storage: others are left to the host application."""

_MAX_THREADS = 8
"""The maximum number of threads that wait for a storage in one event loop.  One that hangs occupies all of them."""

_STORAGE_TIMEOUT = 5.0
"""The maximum time for Redis to accept a connection or to respond, in seconds.  redis before 8 has no limit."""

_NOT_A_STORAGE = "`storage` must be memory:// or a URL of Redis, such as redis://localhost:6379."

_MAX_AMOUNT = 1_000_000
"""The largest number of requests in a window.  The time of each is kept."""

_MAX_WINDOW = 10 * 31_536_000
"""The longest window, in seconds: ten years."""

_MAX_AGE = 86_400.0
"""Seconds for which a decline counts at least: a day."""

_LIMIT_REACHED = "the server reached its rate limit"
_UNAVAILABLE = "the storage of the rate limit is unavailable"
_SERVER_LIMIT_REACHED = "the server reached its rate limit for all users"
