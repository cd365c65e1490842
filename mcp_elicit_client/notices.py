"""`Notifier`: tells users of requests that a policy declined before they were asked."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio

from mcp_elicit_client._concurrency import not_cancelled_inside, start_in_background
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.budgets import UserAndServer
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.request import Request, user_and_server_of
from mcp_elicit_client.exceptions import RequestError

INTERVAL = 60.0
"""The minimum time between two notices about one server for one user, in seconds."""

NOTICE_TIMEOUT = 300.0
"""The time after which a notice that could not be shown is dropped, in seconds."""

_MAX_REMEMBERED = 1_024
_DECIDED_BY_USERS = frozenset({"permissions", "remembered"})
"""Policies that repeat a decision of the user, who needs no notice."""

Notify: TypeAlias = Callable[[Notice], Awaitable[object]]
"""The method ``notify`` of a handler."""

_logger = logging.getLogger("mcp_elicit_client")


class Notifier:
    """
    Calls ``notify`` of a handler, at most once a minute for each user and server.

    Threads may share it.

    Args:
        notify: The method of the handler; None if it has none.
        clock: Returns the time in seconds.

    Attributes:
        on_refused: Called with the reason, as a `RequestError`, when a request
            is refused before a policy or handler gets it.
    """

    def __init__(self, notify: Notify | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._notify = notify
        self._clock = clock
        self._lock = threading.Lock()
        self._notified: dict[UserAndServer, float] = {}
        self.on_refused: Callable[[RequestError], object] = lambda _error: None

    async def notify(self, notice: Notice) -> None:
        """Show *notice*, if the handler can."""
        if self._notify is not None:
            await self._notify(notice)

    async def show(self, notice: Notice) -> None:
        """Show *notice*, if the handler can.  Failures are only logged."""
        try:
            with anyio.move_on_after(NOTICE_TIMEOUT):
                await not_cancelled_inside(self.notify(notice))
        except Exception:
            _logger.exception("a notice about server %r could not be shown", notice.request.server.name)

    def start(self, request: Request, answer: Answer) -> bool:
        """
        Begin to show that a policy declined *request*, which no handler was asked, unless the user knows that.

        It is shown in the background: the server does not wait for it.

        Returns:
            True if a notice will be shown.
        """
        if (
            self._notify is None
            or (answer.by, answer.action) != ("policy", "decline")
            or not answer.policy
            or answer.policy in _DECIDED_BY_USERS
            or not self._is_due(user_and_server_of(request))
        ):
            return False
        notice = Notice.model_construct(request=request, policy=answer.policy, reason=answer.reason)
        start_in_background(functools.partial(self.show, notice))
        return True

    def _is_due(self, key: UserAndServer) -> bool:
        with self._lock:
            now = self._clock()
            if now < self._notified.get(key, float("-inf")) + INTERVAL:
                return False
            if len(self._notified) >= _MAX_REMEMBERED:
                self._notified = {each: at for each, at in self._notified.items() if now < at + INTERVAL}
            if len(self._notified) >= _MAX_REMEMBERED:
                return False
            self._notified[key] = now
            return True
