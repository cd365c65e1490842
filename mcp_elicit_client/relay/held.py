"""
`HeldCall`: a call that runs in this process between two requests of the client.

Server-initiated requests need an open call.  A client with multi-round-trip
requests, however, makes one request for each leg.  So the call runs in a task
of the relay, and the requests of the client wait for its next leg.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel

from mcp_elicit_client.relay.legs import Leg, Outcome, Step, digest_of, read_responses
from mcp_elicit_client.relay.refusals import RefusedError
from mcp_elicit_client.typing import Answer, Request

_COLLECTING_TURNS = 8
"""How many turns of the event loop further requests have to become part of the same leg."""


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
        process: The ID of this process.
        leg_ttl: How long a leg can be answered, in seconds.
        max_ttl: How long the call is held, in seconds.

    Attributes:
        id: The ID of the call.
        scope: The scope in which the call runs.
        was_asked: The client was asked, so it may come back.
    """

    def __init__(self, caller: str, process: str, *, leg_ttl: float, max_ttl: float) -> None:
        self.id: str = secrets.token_urlsafe(16)
        self.caller = caller
        self.scope: anyio.CancelScope = anyio.CancelScope()
        self.was_asked: bool = False
        self._process = process
        self._leg_ttl = leg_ttl
        self._ends_at = anyio.current_time() + max_ttl
        self._keys = 0
        self._open: dict[str, _Question] = {}
        self._number = 1
        self._leg: Leg | None = None
        self._responses = ""  # the digest of those that led to this leg
        self._outcome: Outcome | None = None
        self._changed = anyio.Event()
        self._waiting = 0
        self.scope.deadline = self._ends_at

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
        return question.answer

    def finish(self, outcome: Outcome) -> None:
        """End the call with *outcome*."""
        if self._outcome is None:
            self._outcome = outcome
            self._wake()

    # --- for the requests of the client

    async def first(self) -> Step:
        """Return the first leg, or the outcome.  If the client withdraws its request, the call is cancelled."""
        return await self._wait()

    async def respond(self, number: int, responses: Mapping[str, Any]) -> Step:
        """
        Take the responses to leg *number*, and return the next one, or the outcome.

        The same leg is returned again without responses, and the next leg is
        returned again for the same responses: the result before may have been
        lost.

        Raises:
            RefusedError: If the leg was answered already, or a response is
                invalid.
        """
        if number == self._number and self._leg is not None:
            if not responses:
                return self._leg
            answers = await read_responses(responses, self._leg.questions)
        digest = digest_of(responses)
        if number == self._number and self._leg is not None:  # also after checking
            self._take(answers, digest)
        elif number != self._number - 1 or digest != self._responses:
            raise RefusedError("used")
        return await self._wait()

    def _take(self, answers: Mapping[str, Answer], digest: str) -> None:
        self._number, self._leg, self._responses = self._number + 1, None, digest
        self.scope.deadline = self._ends_at
        for key, answer in answers.items():
            question = self._open.get(key)
            if question is not None:  # otherwise it was withdrawn meanwhile
                question.answer = answer
                question.answered.set()

    async def _wait(self) -> Step:
        number = self._number
        self._waiting += 1
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
                else:
                    await self._changed.wait()
        except anyio.get_cancelled_exc_class():
            if self._waiting == 1:  # no repeated request waits for the same
                self.scope.cancel()
            raise
        finally:
            self._waiting -= 1

    def _is_asking(self) -> bool:
        return any(question.answer is None for question in self._open.values())

    async def _collect(self, number: int) -> None:
        """Make the open requests a leg; those that follow at once belong to it."""
        for _ in range(_COLLECTING_TURNS):
            await anyio.lowlevel.checkpoint()
        pending = {key: each.request for key, each in self._open.items() if each.answer is None}
        origin = next((each.origin for each in pending.values()), ())
        questions = {key: each for key, each in pending.items() if each.origin == origin}  # one result has one origin
        if questions and self._leg is None and self._number == number:
            self._leg = Leg(self.id, number, questions, self._process)
            self.was_asked = True
            self.scope.deadline = min(self._ends_at, anyio.current_time() + self._leg_ttl)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
