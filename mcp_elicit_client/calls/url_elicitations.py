"""URL elicitations during calls: required ones (error ``-32042``), and those that the server reports as complete."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_elicit_client._concurrency import Waker
from mcp_elicit_client.calls.active_call import ActiveCall, AskParams
from mcp_elicit_client.calls.methods import RoundInput
from mcp_elicit_client.calls.server_errors import error_code, error_data
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.core.parse import MAX_ELICITATION_ID
from mcp_elicit_client.core.request import BatchPosition
from mcp_elicit_client.exceptions import REPORT, CallError, RequestError
from mcp_elicit_client.typing import Answer

URL_ELICITATION_REQUIRED = -32042
MAX_URLS = 10
"""The maximum number of URLs in one error."""

MAX_REMEMBERED = 256
"""The number of completed elicitations that are remembered, the latest ones, for handlers that wait later."""

_COMPLETE = "notifications/elicitation/complete"


@dataclass(frozen=True, slots=True)
class UrlRequired:
    """
    The server requires URL elicitations before the call.

    Attributes:
        elicitations: The params of one request for each URL, as on the wire.
        error: The error of the SDK.
        given: The input of the round that ended with it.
    """

    elicitations: Sequence[Mapping[str, Any]]
    error: Exception
    given: RoundInput


def parse_url_required(error: Exception, given: RoundInput) -> UrlRequired | None:
    """
    Read the URLs that *error*, raised by the SDK in the round with the input *given*, requires.

    Returns:
        The URLs, each once; None if it is another error.

    Raises:
        CallError: If the list of URLs is missing, too long or malformed.
    """
    if error_code(error) != URL_ELICITATION_REQUIRED:
        return None
    listed = error_data(error).get("elicitations")
    if not isinstance(listed, list) or not listed:
        raise CallError(f"The server requires URL elicitations, but does not list them. {REPORT}") from error
    if len(listed) > MAX_URLS:
        raise CallError(
            f"The server requires {len(listed)} URL elicitations; at most {MAX_URLS} are allowed. {REPORT}"
        ) from error
    if not all(isinstance(each, Mapping) and each.get("mode") == "url" for each in listed):
        raise CallError(f"The server requires URL elicitations, but lists something else. {REPORT}") from error
    by_url: dict[str, Mapping[str, Any]] = {}
    for each in listed:
        by_url.setdefault(str(each.get("url")), each)
    return UrlRequired(tuple(by_url.values()), error, given)


def raise_if_call_must_be_repeated(error: Exception) -> None:
    """
    Raise the error for ``-32042`` of a resumed task: its call is unknown, so it cannot be made again here.

    Raises:
        UrlElicitationIncompleteError: If the server requires URL elicitations.
    """
    if error_code(error) == URL_ELICITATION_REQUIRED:
        raise UrlElicitationIncompleteError(
            "The task failed because the server requires URL elicitations. "
            "Call the tool again with `wait=True`, so that the user is asked to open the URLs.",
            (),
        ) from error


async def complete_urls(call: ActiveCall, ask: AskParams, required: UrlRequired) -> None:
    """
    Ask the user to open each URL.  Return when all elicitations are complete.

    Raises:
        UrlElicitationIncompleteError: If one is not completed.
        CallTimeoutError: If the user's timeout passes first.
    """
    answers: list[Answer] = []
    for number, params in enumerate(required.elicitations, 1):
        position = BatchPosition(number=number, total=len(required.elicitations))
        try:
            answer = await ask(params, batch_position=position, respond_after="completion")
        except RequestError as unsafe:
            raise UrlElicitationIncompleteError(
                f"The server requires a URL elicitation that is not allowed: {unsafe}. {REPORT}", tuple(answers)
            ) from required.error
        answers.append(answer)
        if answer.by == "timeout" and call.timeouts.is_user_late:
            raise call.timeouts.expired("answer_timeout") from required.error
        if answer.action != "accept":
            raise UrlElicitationIncompleteError(
                f"The server requires a URL elicitation that was not completed: {_cause(answer)}. "
                "Call again if the user wants to open the URL.",
                tuple(answers),
            ) from required.error


def _cause(answer: Answer) -> str:
    if answer.by == "user":
        return "the user declined" if answer.action == "decline" else "the user cancelled"
    return answer.reason or "the user did not consent"


class CompletionTracker:
    """
    The elicitations that one server reported as complete.

    A notification may arrive before a handler waits for it, or never, and in
    another thread.  An unknown ID changes nothing.
    """

    def __init__(self) -> None:
        self._completed: OrderedDict[str, float] = OrderedDict()
        self._waiting: set[tuple[str, Waker]] = set()

    def on_message(self, message: object) -> None:
        """Take any message of a session, and read the notifications of both SDKs."""
        notification = getattr(message, "root", message)  # mcp 1.x wraps it
        if getattr(notification, "method", None) != _COMPLETE:
            return
        params = getattr(notification, "params", None)
        elicitation_id = getattr(params, "elicitation_id", None) or getattr(params, "elicitationId", None)
        if isinstance(elicitation_id, str) and len(elicitation_id) <= MAX_ELICITATION_ID:
            self.complete(elicitation_id)

    def complete(self, elicitation_id: str) -> None:
        """Remember that an elicitation is complete."""
        self._completed[elicitation_id] = time.perf_counter()
        self._completed.move_to_end(elicitation_id)
        while len(self._completed) > MAX_REMEMBERED:
            self._completed.popitem(last=False)
        for awaited_id, waker in [*self._waiting]:
            if awaited_id == elicitation_id:
                waker.wake()

    def forget(self, elicitation_id: str) -> None:
        """Forget that an elicitation is complete, because the server asks for it again."""
        self._completed.pop(elicitation_id, None)

    def is_complete(self, elicitation_id: str, since: float = -math.inf) -> bool:
        """Return True if the server has reported an elicitation as complete *since* a time of ``time.perf_counter``."""
        return elicitation_id in self._completed and self._completed[elicitation_id] >= since

    async def wait(self, elicitation_id: str, since: float = -math.inf) -> None:
        """Wait until `is_complete`."""
        waiting = (elicitation_id, Waker())
        self._waiting.add(waiting)
        try:
            if not self.is_complete(elicitation_id, since):
                await waiting[1].wait()
        finally:
            self._waiting.discard(waiting)


@dataclass(frozen=True, slots=True)
class UrlCompletion:
    """
    The `Completion` of one URL elicitation.

    Attributes:
        tracker: The elicitations that the server reported as complete.
        elicitation_id: Its ID.
        since: Since when a report counts, on ``time.perf_counter``: servers
            may use an ID again.
    """

    tracker: CompletionTracker
    elicitation_id: str
    since: float = -math.inf

    def is_finished(self) -> bool:
        """Return True if the server reported completion."""
        return self.tracker.is_complete(self.elicitation_id, self.since)

    async def wait(self) -> None:
        """Wait until the server reports completion.  It may never do so."""
        await self.tracker.wait(self.elicitation_id, self.since)
