"""
`HeldCall`: a call that runs in this process between two requests of the client.

Server-initiated requests need an open call.  A client with multi-round-trip
requests, however, makes one request for each leg.  So the call runs in a task
of the relay, and the requests of the client wait for its next leg.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel

from mcp_elicit_client.calls.methods import CallSpec, ProgressCallback
from mcp_elicit_client.core.request import Completion
from mcp_elicit_client.relay.legs import CallOutcome, Leg, Step, digest_of, read_responses
from mcp_elicit_client.relay.refusals import RefusedError
from mcp_elicit_client.typing import Answer, Request, UrlRequest

_COLLECTING_TURNS = 3
"""How many turns of the event loop further requests have to become part of the same leg."""

MAX_WAIT = 45.0
"""How long a request of the client waits while it is not asked, in seconds: less than common timeouts."""


@dataclass(slots=True, eq=False)
class _Question:
    request: Request
    answer: Answer | None = None
    answered: anyio.Event = field(default_factory=anyio.Event)


class HeldCall:
    """
    One call.

    Args:
        caller: Who makes the call.
        spec: What is called.
        process: The ID of this process.
        leg_ttl: How long a leg can be answered, in seconds.
        max_ttl: How long the call is held, in seconds.

    Attributes:
        id: The ID of the call.
        scope: The scope in which the call runs.  It is cancelled if the client
            does not respond to a leg in time.
        ends_at: Until when the call is held, in the time of `time.monotonic`.
        was_asked: The client was asked, so it may come back.
    """

    def __init__(self, caller: str, spec: CallSpec, process: str, *, leg_ttl: float, max_ttl: float) -> None:
        self.id: str = secrets.token_urlsafe(16)
        self.caller = caller
        self.spec = spec
        self.scope: anyio.CancelScope = anyio.CancelScope()
        self.ends_at: float = time.monotonic() + max_ttl
        self.was_asked: bool = False
        self._process = process
        self._leg_ttl = leg_ttl
        self._keys = 0
        self._open: dict[str, _Question] = {}
        self._number = 1
        self._leg: Leg | None = None
        self._responses = ""  # the digest of those that led to this leg
        self._outcome: CallOutcome | None = None
        self._changed: anyio.Event | None = None  # exists while requests wait for a change
        self._waiting = 0
        self._pauses = 0
        self._opened: list[Completion] = []
        self._progress: ProgressCallback | None = None

    # --- for the call

    async def ask(self, request: Request) -> Answer:
        """Ask the client in the next leg, and wait for its answer."""
        self._keys += 1
        key, question = f"q{self._keys}", _Question(request)
        self._open[key] = question
        self._wake()
        try:
            await question.answered.wait()
        finally:
            del self._open[key]
        assert question.answer is not None
        if question.answer.action == "accept" and isinstance(request, UrlRequest):
            self._follow(request)
        return question.answer

    def _follow(self, request: UrlRequest) -> None:
        """Have the client wait for the user, who is at the URL of *request* until the server reports completion."""
        if request.respond_after == "consent" and request.completion is not None:
            self._opened.append(request.completion)
            self._wake()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Have the client wait for the user in this block, with several requests if it takes long."""
        self._pauses += 1
        self._wake()
        try:
            yield
        finally:
            self._pauses -= 1

    async def report_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Forward the progress to the request of the client that waits now, if there is one."""
        if self._progress is not None:
            await self._progress(progress, total, message)

    def finish(self, outcome: CallOutcome) -> None:
        """End the call with *outcome*."""
        if self._outcome is None:
            self._outcome = outcome
            self._wake()

    # --- for the requests of the client

    async def respond(self, number: int, responses: Mapping[str, Any], progress: ProgressCallback | None) -> Step:
        """
        Take the responses to leg *number*, and return the next one, or the outcome.

        The same leg is returned again if a response is missing, and the next
        leg is returned again for the same responses: the result before may
        have been lost.

        Args:
            number: The number of the leg.
            responses: The responses of the client.
            progress: Forwards the progress to this request of the client.

        Raises:
            RefusedError: If the leg was answered already, or a response is
                invalid.
        """
        if number == self._number and self._leg is not None:
            if not responses.keys() >= self._leg.questions.keys():
                return self._leg
            answers = await read_responses(responses, self._leg.questions)
        digest = digest_of(responses)
        if number == self._number and self._leg is not None:  # also after checking
            self._take(answers, digest)
        elif number != self._number - 1 or digest != self._responses:
            raise RefusedError("used")
        return await self.wait(progress)

    def _take(self, answers: Mapping[str, Answer], digest: str) -> None:
        self._number, self._leg, self._responses = self._number + 1, None, digest
        self.scope.deadline = math.inf
        for key, answer in answers.items():
            question = self._open.get(key)
            if question is not None:  # otherwise it was withdrawn meanwhile
                question.answer = answer
                question.answered.set()

    async def wait(self, progress: ProgressCallback | None) -> Step:
        """Return the next leg, or the outcome.  If the client withdraws its request, the call is cancelled."""
        number, patient_until = self._number, time.monotonic() + MAX_WAIT
        self._waiting += 1
        self._progress = progress
        try:
            while True:
                if self._number != number:
                    raise RefusedError("used")
                if self._leg is not None:
                    return self._leg
                if self._is_asking():
                    await self._collect(number)
                elif self._outcome is not None:
                    return self._outcome
                elif self._is_user_away() and patient_until <= time.monotonic():
                    self._show(number, {})
                else:
                    await self._wait_for_change(patient_until)
        except anyio.get_cancelled_exc_class():
            if self._waiting == 1:  # no repeated request waits for the same
                self.scope.cancel()
            raise
        finally:
            self._waiting -= 1
            if self._progress is progress:
                self._progress = None

    async def _wait_for_change(self, patient_until: float) -> None:
        if self._changed is None:
            self._changed = anyio.Event()
        if not self._is_user_away():
            await self._changed.wait()
        else:
            with anyio.move_on_after(patient_until - time.monotonic()):
                await self._changed.wait()

    def _is_asking(self) -> bool:
        return any(question.answer is None for question in self._open.values())

    def _is_user_away(self) -> bool:
        """Return True while the user is at a URL, as far as the server reports it."""
        return self._pauses > 0 or any(not each.is_finished() for each in self._opened)

    async def _collect(self, number: int) -> None:
        """Make the open requests a leg; those that follow at once belong to it."""
        for _ in range(_COLLECTING_TURNS):
            await anyio.lowlevel.checkpoint()
        pending = {key: each.request for key, each in self._open.items() if each.answer is None}
        origin = next((each.origin for each in pending.values()), ())
        questions = {key: each for key, each in pending.items() if each.origin == origin}  # one result has one origin
        if questions and self._leg is None and self._number == number:
            self._show(number, questions)

    def _show(self, number: int, questions: Mapping[str, Request]) -> None:
        """Make *questions* the leg.  Without questions, the client only makes its next request."""
        self._leg = Leg(self.id, number, questions, self._process)
        self.was_asked = True
        self.scope.deadline = anyio.current_time() + self._leg_ttl

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None
