"""Budgets of users and servers, and `Admission`: limits on requests that apply before they are read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from typing_extensions import Self

from mcp_elicit_client.core.form import option_count
from mcp_elicit_client.core.request import FormRequest, Request

MAX_OPEN = 50
"""The maximum number of open requests of one server for one user."""

MAX_OPEN_OF_SERVER = 1_000
"""The maximum number of open requests of one server for all users."""

MAX_OPEN_OPTIONS = 50_000
"""
The maximum number of options in all open requests of one server for one user,
except for a single request, which may have more.  Many objects in memory make
every garbage collection slow.
"""

MAX_REQUESTS = 5_000
"""The maximum number of requests of one server for one user within `REFILL_TIME`."""

MAX_READING_TIME = 0.5
"""The processor time for reading the requests of one server for one user within `REFILL_TIME`, in seconds."""

REFILL_TIME = 5.0
"""The time in which these budgets are refilled, in seconds."""

OPEN_WITHOUT_DELAY = 8
"""The number of open requests of one server for one user that are read at once."""

DELAY = 0.001
"""
The time for which a request waits for each open or refused one above
`OPEN_WITHOUT_DELAY`, and a refusal at least, in seconds.  If a flood kept the
event loop busy without a pause, threads would get hardly any time: pattern
checks for other servers took up to 43 s.
"""

MAX_DELAY = 1.0
"""The longest time for which a request waits, in seconds, so that refused ones do not fill the memory."""

_USERS_OF_SERVER = 20
"""The budgets of a server for all users are larger by this factor."""

_LOG_INTERVAL = 60.0
_ROUNDING = 1e-5
_FIRST_SWEEP = 1_000

UserAndServer: TypeAlias = tuple[str | None, str]
"""The user, if known, and the name of the server."""

K = TypeVar("K")
V = TypeVar("V")


class Sweeper:
    """Forgets entries that are no longer needed, each time that their number has doubled."""

    def __init__(self) -> None:
        self._at = _FIRST_SWEEP

    def sweep(self, entries: dict[K, V], is_needed: Callable[[V], bool]) -> dict[K, V]:
        """Return *entries*; if there are many more than after the last sweep, without those that are not needed."""
        if len(entries) < self._at:
            return entries
        needed = {key: value for key, value in entries.items() if is_needed(value)}
        self._at = 2 * len(needed) + _FIRST_SWEEP
        return needed


class Budgets:
    """
    A budget for each pair of user and server, and a larger one for each server.

    Args:
        per_user: The budget of one server for one user, in any unit.
        per_server: The budget of one server for all users.
        refill_time: The time in which an empty budget is refilled, in seconds.
    """

    def __init__(self, *, per_user: float, per_server: float, refill_time: float) -> None:
        self._per_user = per_user
        self._per_server = per_server
        self._refill_time = refill_time
        self._full_at: dict[UserAndServer | str, float] = {}
        """When each budget is full again, on the clock of the caller.  A full one needs no entry."""
        self._sweeper = Sweeper()

    def used(self, user_and_server: UserAndServer, now: float) -> tuple[float, float]:
        """Return the used part of both budgets at *now*: of the server, and of the user.  1 means used up."""
        return self._used_part(user_and_server[1], now), self._used_part(user_and_server, now)

    def is_used_up(self, user_and_server: UserAndServer, now: float) -> bool:
        """Return True if one of the budgets is used up at *now*, on a monotonic clock."""
        full_at = max(self._full_at.get(user_and_server, now), self._full_at.get(user_and_server[1], now))
        return full_at - now >= self._refill_time * (1 - _ROUNDING)

    def spend(self, user_and_server: UserAndServer, amount: float, now: float) -> None:
        """Take *amount* from both budgets."""
        for key, budget in ((user_and_server[1], self._per_server), (user_and_server, self._per_user)):
            self._full_at[key] = max(self._full_at.get(key, now), now) + amount / budget * self._refill_time
        self._full_at = self._sweeper.sweep(self._full_at, lambda full_at: full_at > now)

    def _used_part(self, key: UserAndServer | str, now: float) -> float:
        left = self._full_at.get(key, now) - now
        if left > 0:
            return left / self._refill_time
        self._full_at.pop(key, None)
        return 0.0


class Admission:
    """
    The open requests of each user and server, and what reading them has cost.

    Threads may share it.
    """

    def __init__(self) -> None:
        self._open: dict[UserAndServer | str, int] = {}
        self._refused: dict[UserAndServer | str, int] = {}
        self._options: dict[UserAndServer | str, int] = {}
        self._requests = _budgets(MAX_REQUESTS)
        self._reading = _budgets(MAX_READING_TIME)
        self._lock = threading.Lock()
        self._logged: dict[tuple[str, str], float] = {}
        self._sweeper = Sweeper()

    def admit(self, user_and_server: UserAndServer) -> Admitted:
        """Count a request as open, or as refused, until the end of the ``with`` block with the result."""
        with self._lock:
            now = time.monotonic()
            refusal = self._refusal(user_and_server, now)
            delay = self._delay(user_and_server, is_refused=bool(refusal))
            if refusal:
                self._count(self._refused, user_and_server, +1)
            else:
                self._requests.spend(user_and_server, 1, now)
                self._count(self._open, user_and_server, +1)
        return Admitted(self, user_and_server, refusal, delay)

    def leave(self, user_and_server: UserAndServer, options: int, *, is_refused: bool) -> None:
        """Count a request, and its *options*, no longer."""
        with self._lock:
            self._count(self._refused if is_refused else self._open, user_and_server, -1)
            if options:
                self._count(self._options, user_and_server, -options)

    def hold_options(self, user_and_server: UserAndServer, count: int) -> bool:
        """Count the options of a request as open; return False if there are too many."""
        limits = ((user_and_server, MAX_OPEN_OPTIONS), (user_and_server[1], MAX_OPEN_OPTIONS * _USERS_OF_SERVER))
        with self._lock:
            for key, limit in limits:
                before = self._options.get(key, 0)
                if before and before + count > limit:
                    return False
            self._count(self._options, user_and_server, count)
            return True

    def should_log(self, server: str, reason: str) -> bool:
        """Return True once a minute for each server and reason."""
        with self._lock:
            now = time.monotonic()
            is_due = now >= self._logged.get((server, reason), float("-inf")) + _LOG_INTERVAL
            if is_due:
                self._logged = self._sweeper.sweep(self._logged, lambda logged_at: now < logged_at + _LOG_INTERVAL)
                self._logged[server, reason] = now
            return is_due

    def count_reading(self, user_and_server: UserAndServer, seconds: float) -> None:
        """Count *seconds* of processor time as reading."""
        with self._lock:
            self._reading.spend(user_and_server, seconds, time.monotonic())

    @contextmanager
    def measure_reading(self, user_and_server: UserAndServer) -> Iterator[None]:
        """Count the processor time of the body as reading."""
        begin = time.thread_time()
        try:
            yield
        finally:
            self.count_reading(user_and_server, time.thread_time() - begin)

    @staticmethod
    def _count(counts: dict[UserAndServer | str, int], user_and_server: UserAndServer, change: int) -> None:
        for key in (user_and_server, user_and_server[1]):
            count = counts.pop(key, 0) + change
            if count:
                counts[key] = count

    def _refusal(self, user_and_server: UserAndServer, now: float) -> str:
        open_ = self._open
        if open_.get(user_and_server, 0) >= MAX_OPEN or open_.get(user_and_server[1], 0) >= MAX_OPEN_OF_SERVER:
            return "the server has too many open requests"
        if self._requests.is_used_up(user_and_server, now):
            return "the server sends requests too fast"
        if self._reading.is_used_up(user_and_server, now):
            return "the requests of this server take too much time to read"
        return ""

    def _delay(self, user_and_server: UserAndServer, *, is_refused: bool) -> float:
        if not (self._open or is_refused):  # most requests
            return 0.0
        of_user, of_server = (
            self._open.get(key, 0) + self._refused.get(key, 0) for key in (user_and_server, user_and_server[1])
        )
        further = max(of_user, of_server / _USERS_OF_SERVER) + 1 - OPEN_WITHOUT_DELAY
        return min(DELAY * max(further, int(is_refused), 0), MAX_DELAY)


class Admitted:
    """
    A request that is counted as open or refused until the end of the ``with`` block.

    Args:
        admission: The open requests.
        user_and_server: The user and the server of the request.
        refusal: Why the request is refused, or ``""``.
        delay: The time to wait before it is read or refused, in seconds.
    """

    def __init__(self, admission: Admission, user_and_server: UserAndServer, refusal: str, delay: float) -> None:
        self._admission = admission
        self._user_and_server = user_and_server
        self._options = 0
        self.refusal: str = refusal
        self.delay: float = delay

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._admission.leave(self._user_and_server, self._options, is_refused=bool(self.refusal))

    def hold(self, request: Request) -> str:
        """Count the options of *request* as open.  Return why the request is refused, or ``""``."""
        count = option_count(request.form) if isinstance(request, FormRequest) else 0
        if not count:
            return ""
        if not self._admission.hold_options(self._user_and_server, count):
            return "the server has too many options in its open requests"
        self._options += count
        return ""


def _budgets(per_user: float) -> Budgets:
    return Budgets(per_user=per_user, per_server=per_user * _USERS_OF_SERVER, refill_time=REFILL_TIME)
