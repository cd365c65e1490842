"""Where the questions of one call are parked."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from mcp_elicit_client.calls.call import ActiveCall, WrapHandler
from mcp_elicit_client.calls.parked import Claim, CallSnapshot, LoadedCall, suspended_call
from mcp_elicit_client.calls.parking import ANSWER_SHARE, SuspendedCall, SuspendOptions
from mcp_elicit_client.calls.verbs import CallSpec
from mcp_elicit_client.exceptions import CallError
from mcp_elicit_client.typing import Answer, Handler, Request


class CallSuspender:
    """
    Parks one call, round by round.

    A question goes through the host's policies as any other.  Where a person
    would be asked, it is noted; the answer so far is a cancel by ``parked``,
    and whatever a policy makes of that counts instead.

    Args:
        parking: Where, and whose it is.
        call: The call.
        called: What is called.
        server: What the host application calls the server.
        claim: Where it was parked before, this process's claim to it.
    """

    def __init__(self, parking: SuspendOptions, call: ActiveCall, called: CallSpec, server: str, claim: Claim | None = None) -> None:
        self._parking = parking
        self._call = call
        self._called = called
        self._server = server
        self._claim = claim
        self._noted: dict[str, tuple[Request, Request]] = {}

    def defer(self, key: str) -> WrapHandler:
        """Make the handler that notes a question in place of asking somebody."""

        def through(handler: Handler) -> Handler:
            async def ask(request: Request, /) -> Any:
                return await handler(request.with_stand_in(functools.partial(self._note, key, request)))

            return ask

        return through

    async def _note(self, key: str, request: Request, shown: Request) -> Answer:
        self._noted[key] = (request, shown)
        return Answer.cancel(by="pending", reason="the question waits in an inbox, and no process with it")

    async def suspend(self, answers: Mapping[str, Answer], others: Mapping[str, Any], state: str | None) -> SuspendedCall | None:
        """
        Park the call, if it has questions that wait.

        Args:
            answers: The answers so far, by the server's keys.
            others: What the server asks of the host application itself.
            state: The server's state.

        Returns:
            What was parked; None if there is nothing to wait for.

        Raises:
            CallError: If the call cannot be written down.
            InboxError: If the inbox cannot be used.  It is not known whether
                the call is kept there, so nothing may be sent any more.
        """
        noted, self._noted = self._noted, {}
        waiting = {key: noted[key] for key, answer in answers.items() if answer.by == "pending" and key in noted}
        if not waiting:
            return None
        memo = CallSnapshot(
            server=self._server,
            call_spec=self._called,
            state=state,
            history=self._call.history,
            requests={key: asked for key, (asked, _) in waiting.items()},
            answers={key: answer for key, answer in answers.items() if key not in waiting},
            others={key: _wire(request) for key, request in others.items()},
        )
        parking = self._parking
        questions = [self._closing(shown) for _, shown in waiting.values()]
        known = self._claim.id if self._claim is not None else None
        try:
            held = await parking.inbox.calls.suspend(parking.owner, memo.write(), questions, parking.resume_timeout, known)
        except ValueError as error:
            raise CallError("the call cannot be parked: a question cannot be written as JSON") from error
        if self._claim is not None:
            self._claim.was_suspended = True
        return suspended_call(held, held.request_ids)

    def _closing(self, request: Request) -> Request:
        """Give a question the time until which it can be answered."""
        parking = self._parking
        end = datetime.fromtimestamp(parking.inbox.calls.store.clock() + ANSWER_SHARE * parking.resume_timeout, timezone.utc)
        deadline = end if request.deadline is None else min(end, request.deadline)
        return request.model_copy(update={"deadline": deadline})


def answered(resumable: LoadedCall, key: str) -> WrapHandler:
    """Make the handler that hands over what a person has answered while the call was parked."""

    async def hand_over(_request: Request) -> Answer:
        return resumable.answers[key] or Answer.cancel(by="unattended", reason="nobody has answered")

    def through(handler: Handler) -> Handler:
        async def ask(request: Request, /) -> Any:
            return await handler(request.with_stand_in(hand_over))

        return ask

    return through


def _wire(request: Any) -> Any:
    return request.model_dump(mode="json", by_alias=True, exclude_none=True)
