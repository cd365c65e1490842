"""The two timeouts of a call: the server's and the user's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import anyio

from mcp_elicit_client.exceptions import CallTimeoutError


class CallTimeouts:
    """
    Two timeouts, of which one runs at a time.

    The user's runs while a request of the call is open, the server's
    otherwise.  The time of one is never counted as that of the other.

    Args:
        timeout: The maximum time of the server, in seconds; None for no
            limit.
        answer_timeout: The maximum time of the user, in seconds; None for no
            limit.
    """

    def __init__(self, timeout: float | None, answer_timeout: float | None) -> None:
        self.timeout = timeout
        self.answer_timeout = answer_timeout
        self._server_seconds = 0.0
        self._user_seconds = 0.0
        self._open_requests = 0
        self._counted_at = 0.0
        self._scope = anyio.CancelScope()

    @contextmanager
    def running(self) -> Iterator[None]:
        """
        Count the time in this block.

        Raises:
            CallTimeoutError: If the server's timeout has passed.
        """
        self._counted_at = anyio.current_time()
        self._set_deadline()
        with self._scope:
            yield
        if self._scope.cancelled_caught:
            raise self.expired("timeout")

    @contextmanager
    def paused_for_user(self) -> Iterator[None]:
        """Pause the server's timeout, and count the time of the user, while a request is open."""
        self._count(+1)
        try:
            yield
        finally:
            self._count(-1)

    @property
    def user_deadline(self) -> float:
        """When the user's timeout passes if the request stays open, on the event loop's clock."""
        if self.answer_timeout is None:
            return math.inf
        now = anyio.current_time()
        used = self._user_seconds + (now - self._counted_at if self._open_requests else 0)
        return now + self.answer_timeout - used

    def expired(self, limit: Literal["timeout", "answer_timeout"]) -> CallTimeoutError:
        """Return the error for the *limit* that has passed."""
        self._count(0)
        return CallTimeoutError(
            limit,
            timeout=self.timeout,
            server_seconds=self._server_seconds,
            answer_timeout=self.answer_timeout,
            user_seconds=self._user_seconds,
        )

    def _count(self, change: int) -> None:
        now = anyio.current_time()
        if self._open_requests:
            self._user_seconds += now - self._counted_at
        else:
            self._server_seconds += now - self._counted_at
        self._counted_at = now
        self._open_requests += change
        self._set_deadline()

    def _set_deadline(self) -> None:
        if self.timeout is None or self._open_requests:
            self._scope.deadline = math.inf
        else:
            self._scope.deadline = self._counted_at + self.timeout - self._server_seconds
