"""The two clocks of a call: the server's, and the user's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import anyio

from mcp_elicit_client.exceptions import CallTimeoutError


class CallTimeouts:
    """
    Two budgets of seconds, of which one runs at a time.

    The user's runs while a question of the call is open, the server's while
    none is.  Thinking is no slowness of the server, and the server's slowness
    takes nothing from the user.

    Args:
        timeout: How long the server may take, in seconds; None for ever.
        answer_timeout: How long the user may take, in seconds; None for ever.
    """

    def __init__(self, timeout: float | None, answer_timeout: float | None) -> None:
        self.timeout = timeout
        self.answer_timeout = answer_timeout
        self._waited = 0.0
        self._thought = 0.0
        self._open = 0
        self._since = 0.0
        self._scope = anyio.CancelScope()

    @contextmanager
    def running(self) -> Iterator[None]:
        """
        Count from here on.

        Raises:
            CallTimeoutError: If the server's time is over.
        """
        self._since = anyio.current_time()
        self._set_deadline()
        with self._scope:
            yield
        if self._scope.cancelled_caught:
            raise self.expired("timeout")

    @contextmanager
    def paused_for_user(self) -> Iterator[None]:
        """Stop the server's clock while a question is open."""
        self._count(+1)
        try:
            yield
        finally:
            self._count(-1)

    @property
    def user_deadline(self) -> float:
        """When the user's time is over if the open question stays open, on the event loop's clock."""
        thought = self._thought + (anyio.current_time() - self._since if self._open else 0)
        return math.inf if self.answer_timeout is None else anyio.current_time() + self.answer_timeout - thought

    def expired(self, limit: Literal["timeout", "answer_timeout"]) -> CallTimeoutError:
        """Report that *clock* ran out."""
        self._count(0)
        return CallTimeoutError(
            limit,
            timeout=self.timeout,
            server_seconds=self._waited,
            answer_timeout=self.answer_timeout,
            user_seconds=self._thought,
        )

    def _count(self, change: int) -> None:
        now = anyio.current_time()
        if self._open:
            self._thought += now - self._since
        else:
            self._waited += now - self._since
        self._since = now
        self._open += change
        self._set_deadline()

    def _set_deadline(self) -> None:
        stopped = self._open or self.timeout is None
        self._scope.deadline = math.inf if stopped else self._since + self.timeout - self._waited  # type: ignore[operator]
