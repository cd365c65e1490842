"""Visits that the server says are finished (``notifications/elicitation/complete``)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import anyio

from mcp_elicit_client.core.parse import MAX_ELICITATION_ID

MAX_REMEMBERED = 256
"""How many finished visits are remembered, the latest, in case somebody waits for one later."""

METHOD = "notifications/elicitation/complete"


class CompletionTracker:
    """
    What one server has said to be finished.

    A notification may come before anybody waits for it, or never.  An id that
    nobody ever waits for is a stranger's, and changes nothing.
    """

    def __init__(self) -> None:
        self._finished: OrderedDict[str, None] = OrderedDict()
        self._waiting: dict[str, set[anyio.Event]] = {}

    def notice(self, message: object) -> None:
        """Look at any message of a session: a notification of either SDK, or something else."""
        notification = getattr(message, "root", message)  # mcp 1.x wraps it
        if getattr(notification, "method", None) != METHOD:
            return
        params = getattr(notification, "params", None)
        finished = getattr(params, "elicitation_id", None) or getattr(params, "elicitationId", None)
        if isinstance(finished, str) and len(finished) <= MAX_ELICITATION_ID:
            self.finish(finished)

    def finish(self, elicitation_id: str) -> None:
        """Take a visit for finished."""
        self._finished[elicitation_id] = None
        self._finished.move_to_end(elicitation_id)
        while len(self._finished) > MAX_REMEMBERED:
            self._finished.popitem(last=False)
        for event in self._waiting.get(elicitation_id, ()):
            event.set()

    def forget(self, elicitation_id: str) -> None:
        """Take back that a visit is finished, since the server asks for it again."""
        self._finished.pop(elicitation_id, None)

    def is_finished(self, elicitation_id: str) -> bool:
        """Tell whether a visit is finished."""
        return elicitation_id in self._finished

    async def wait(self, elicitation_id: str) -> None:
        """Wait until a visit is finished."""
        if self.is_finished(elicitation_id):
            return
        event = anyio.Event()
        waiting = self._waiting.setdefault(elicitation_id, set())
        waiting.add(event)
        try:
            await event.wait()
        finally:
            waiting.discard(event)
            if not waiting and self._waiting.get(elicitation_id) is waiting:
                del self._waiting[elicitation_id]


@dataclass(frozen=True, slots=True)
class VisitCompletion:
    """One visit, for the handler that waits for it."""

    completions: CompletionTracker
    elicitation_id: str

    def is_finished(self) -> bool:
        """Tell whether the server has said so."""
        return self.completions.is_finished(self.elicitation_id)

    async def wait(self) -> None:
        """Wait until the server says so; it may never do."""
        await self.completions.wait(self.elicitation_id)
