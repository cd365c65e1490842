"""URL elicitations that the server reports as complete (``notifications/elicitation/complete``)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import anyio

from mcp_elicit_client.core.parse import MAX_ELICITATION_ID

MAX_REMEMBERED = 256
"""The number of completed elicitations that are remembered, the latest ones, for handlers that wait later."""

METHOD = "notifications/elicitation/complete"


class CompletionTracker:
    """
    The elicitations that one server reported as complete.

    A notification may arrive before a handler waits for it, or never.  An
    unknown ID changes nothing.
    """

    def __init__(self) -> None:
        self._completed: OrderedDict[str, None] = OrderedDict()
        self._waiting: dict[str, set[anyio.Event]] = {}

    def on_message(self, message: object) -> None:
        """Take any message of a session, and read the notifications of both SDKs."""
        notification = getattr(message, "root", message)  # mcp 1.x wraps it
        if getattr(notification, "method", None) != METHOD:
            return
        params = getattr(notification, "params", None)
        elicitation_id = getattr(params, "elicitation_id", None) or getattr(params, "elicitationId", None)
        if isinstance(elicitation_id, str) and len(elicitation_id) <= MAX_ELICITATION_ID:
            self.complete(elicitation_id)

    def complete(self, elicitation_id: str) -> None:
        """Remember that an elicitation is complete."""
        self._completed[elicitation_id] = None
        self._completed.move_to_end(elicitation_id)
        while len(self._completed) > MAX_REMEMBERED:
            self._completed.popitem(last=False)
        for event in self._waiting.get(elicitation_id, ()):
            event.set()

    def forget(self, elicitation_id: str) -> None:
        """Forget that an elicitation is complete, because the server asks for it again."""
        self._completed.pop(elicitation_id, None)

    def is_complete(self, elicitation_id: str) -> bool:
        """Return True if the server reported that an elicitation is complete."""
        return elicitation_id in self._completed

    async def wait(self, elicitation_id: str) -> None:
        """Wait until an elicitation is complete."""
        if self.is_complete(elicitation_id):
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
class UrlCompletion:
    """The `Completion` of one URL elicitation."""

    tracker: CompletionTracker
    elicitation_id: str

    def is_finished(self) -> bool:
        """Return True if the server reported completion."""
        return self.tracker.is_complete(self.elicitation_id)

    async def wait(self) -> None:
        """Wait until the server reports completion.  It may never do so."""
        await self.tracker.wait(self.elicitation_id)
