"""`Budgets`: what users and servers used up, refilled over time."""

from __future__ import annotations

from typing import TypeAlias

_ROUNDING = 1e-9
_FIRST_SWEEP = 1_000

UserAndServer: TypeAlias = tuple[str | None, str]
"""The user, if known, and the name of the server."""


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
        self._used: dict[UserAndServer | str, tuple[float, float]] = {}
        self._sweep_at = _FIRST_SWEEP

    def used(self, user_and_server: UserAndServer, now: float) -> tuple[float, float]:
        """Return the used part of both budgets at *now*: of the server, and of the user.  1 means used up."""
        return self._used_part(user_and_server[1], now), self._used_part(user_and_server, now)

    def is_used_up(self, user_and_server: UserAndServer, now: float) -> bool:
        """Return True if one of the budgets is used up at *now*, on a monotonic clock."""
        return max(self.used(user_and_server, now)) >= 1 - _ROUNDING

    def spend(self, user_and_server: UserAndServer, amount: float, now: float) -> None:
        """Take *amount* from both budgets."""
        for key, budget in ((user_and_server[1], self._per_server), (user_and_server, self._per_user)):
            self._used[key] = (self._used_part(key, now) + amount / budget, now)
        if len(self._used) >= self._sweep_at:
            for key in [*self._used]:
                self._used_part(key, now)
            self._sweep_at = 2 * len(self._used) + _FIRST_SWEEP

    def _used_part(self, key: UserAndServer | str, now: float) -> float:
        part, at = self._used.get(key, (0.0, now))
        left = part - (now - at) / self._refill_time
        if left <= 0:
            self._used.pop(key, None)  # a full budget needs no entry
        return max(left, 0.0)
