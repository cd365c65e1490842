"""
`StoredCalls`: calls whose state is stored between two requests of the client.

Any process can continue such a call.  Each leg is taken once: a process notes
in the store that it sends the answers, and then the result.  The same
responses again lead to the same result, and other responses are refused.  If
a process stops before it has noted the result, the same responses are sent
again, as the client itself would without a gateway.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio

from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.calls.server_errors import sdk_error
from mcp_elicit_client.calls.suspending import CallSnapshot, PausedCall
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.request import with_stored_limits
from mcp_elicit_client.exceptions import CallError, InboxError
from mcp_elicit_client.relay.leg_stores import KeptLeg, LegContent, LegRecord, LegStore, StoredOutcome
from mcp_elicit_client.relay.legs import CallOutcome, Leg, Step, check_same_call, digest_of, read_responses
from mcp_elicit_client.relay.refusals import (
    ConnectionLostError,
    RefusedError,
    RelayClosedError,
    error_details,
    to_sdk_error,
)
from mcp_elicit_client.relay.state import StateContent
from mcp_elicit_client.typing import Answer

_logger = logging.getLogger("mcp_elicit_client")

OUTCOME_TTL = 120.0
"""How long the outcome of a call is kept for clients that did not get it, in seconds."""

LEASE = 10.0
"""Seconds after which a process that sends answers, and does not say so again, counts as stopped."""

_POLL_INTERVAL = 0.1

Proceed = Callable[[CallSnapshot, Mapping[str, Answer], Callable[[], None]], Awaitable[Any]]
"""
Continues a call with the answers, by the server's keys.  The last argument is
called before anything is sent.  Returns a `PausedCall`, the `Leg` of a process
that holds the call by now, or the result.
"""


@dataclass(slots=True, eq=False)
class _Sending:
    """
    A call whose answers this process is sending.

    Attributes:
        kept: What is stored.
        was_sent: The server may have received the answers.
        renewal: Is set after the renewal of the lease that is in progress, if
            one is.
        renewed: What a renewal has tried to store, as long as it is not known
            whether it succeeded.
    """

    kept: KeptLeg
    was_sent: bool = False
    renewal: anyio.Event | None = None
    renewed: LegRecord | None = None

    def mark_sent(self) -> None:
        """Note that the server may receive the answers from now on."""
        self.was_sent = True


class StoredCalls:
    """
    The stored calls of a relay.

    Args:
        store: Where they are stored.
        leg_ttl: How long a leg can be answered, in seconds.
        max_ttl: How long a call may last, in seconds.
        limits: The limits for answers, also to requests that another process
            has read.
    """

    def __init__(self, store: LegStore, *, leg_ttl: float, max_ttl: float, limits: Limits) -> None:
        self._store = store
        self._limits = limits
        self._leg_ttl = leg_ttl
        self._max_ttl = max_ttl
        self._sending: set[_Sending] = set()

    async def start(self, caller: str, paused: PausedCall) -> Leg:
        """Store a call that was made and needs input."""
        leg = LegRecord(number=1, ends_at=self._store.clock() + self._max_ttl, content=_content_of(paused, 1))
        return _to_leg(await self._store.add(caller, leg, self._expiry(leg)))

    async def respond(
        self, caller: str, state: StateContent, responses: Mapping[str, Any], *, spec: CallSpec, proceed: Proceed
    ) -> Step:
        """
        Take the responses to a leg, and return the next one or the outcome.

        Args:
            caller: Who makes the call.
            state: The call, and the leg.
            responses: The responses of the client.
            spec: What is called.
            proceed: Continues the call.

        Raises:
            RefusedError: If it is another call, the leg was answered already,
                or a response is invalid.
            InboxError: If the store cannot be used.
        """
        number, digest = state.leg, digest_of(responses)
        while True:
            kept = await self._store.find(caller, state.call_id)
            if kept is None:
                raise RefusedError("ended")
            leg = kept.leg
            check_same_call(_spec_of(leg), spec)
            if number == leg.number - 1 and digest == leg.responses:
                return _to_step(leg.outcome) if leg.outcome is not None else _to_leg(kept)
            if number != leg.number or leg.content is None:
                raise RefusedError("used")
            if not responses.keys() >= leg.content.questions.keys():
                return _to_leg(kept)
            if leg.sending and leg.sending != digest:
                raise RefusedError("used")
            if not leg.sending or leg.sending_until < self._store.clock():
                questions = leg.content.questions
                answers = await read_responses(
                    responses, {key: with_stored_limits(each, self._limits) for key, each in questions.items()}
                )
                taken = await self._replace(kept, self._with_lease(leg, digest))
                step = None if taken is None else await self._send(taken, leg.content, answers, proceed)
                if step is not None:
                    return step
            else:  # another request of the client, or another process, sends the same
                await anyio.sleep(_POLL_INTERVAL)

    async def _send(
        self, kept: KeptLeg, content: LegContent, answers: Mapping[str, Answer], proceed: Proceed
    ) -> Step | None:
        """
        Send the answers to the leg that this process has taken.

        Returns:
            The next leg, or the outcome; None if the server requires input
            and another process has taken the leg meanwhile, whose server may
            require other input.
        """
        given = {content.keys[key]: answer for key, answer in answers.items()}
        result: Any = None
        failure: Exception | None = None
        sending = _Sending(kept)
        self._sending.add(sending)
        try:
            result = await proceed(content.snapshot, given, sending.mark_sent)
        except BaseException as error:
            if not isinstance(error, Exception) or isinstance(error, RelayClosedError):
                with anyio.move_on_after(1, shield=True):
                    await self._release(await self._stop_renewing(sending))
                raise
            failure = error  # returned in the outcome
        kept = await self._stop_renewing(sending)
        number, ends_at, responses = kept.leg.number + 1, kept.leg.ends_at, kept.leg.sending
        if isinstance(result, PausedCall):
            content = _content_of(result, number)
            following = LegRecord(number, ends_at, responses, content)
            try:
                stored = await self._store.replace(kept, following, self._expiry(following))
            except CallError as error:
                failure = error
            else:
                return None if stored is None else _to_leg(stored)
        outcome = _store_outcome(content.snapshot.call_spec, result, failure) if sending.was_sent else None
        if outcome is None:  # the server cannot be reached, so the same responses may be sent again
            await self._release(kept)
        else:
            ended = LegRecord(number, ends_at, responses, outcome=outcome)
            ttl = self._leg_ttl if isinstance(result, Leg) else OUTCOME_TTL
            try:
                await self._store.replace(kept, ended, self._store.clock() + ttl)
            except InboxError as error:  # The server has done what was asked: its result must not be lost.
                _logger.warning("the outcome of a call could not be stored: %s", error)
        return result if isinstance(result, Leg) else CallOutcome(result, failure)

    async def renew_leases(self) -> None:
        """Renew the leases of the calls whose answers this process is sending, for ever."""
        while True:
            await anyio.sleep(LEASE / 3)
            async with anyio.create_task_group() as group:
                for each in self._sending:
                    group.start_soon(self._renew, each)

    async def _renew(self, sending: _Sending) -> None:
        if sending not in self._sending:
            return
        sending.renewal = renewal = anyio.Event()
        try:
            with anyio.fail_after(LEASE, shield=True):
                await self._confirm_renewal(sending)
                sending.renewed = self._with_lease(sending.kept.leg, sending.kept.leg.sending)
                stored = await self._replace(sending.kept, sending.renewed)
            sending.renewed = None
            if stored is None:
                self._sending.discard(sending)
            else:
                sending.kept = stored
        except Exception as error:  # noqa: BLE001 -- it must not end the other calls of the relay
            _logger.warning("the lease of a call could not be renewed: %r", error)
        finally:
            sending.renewal = None
            renewal.set()

    async def _stop_renewing(self, sending: _Sending) -> KeptLeg:
        """Return what is stored, after the renewal in progress."""
        self._sending.discard(sending)
        if sending.renewal is not None:
            await sending.renewal.wait()
        try:
            await self._confirm_renewal(sending)
        except InboxError as error:
            _logger.warning("the lease of a call could not be read: %s", error)
        return sending.kept

    async def _confirm_renewal(self, sending: _Sending) -> None:
        """Find out whether a renewal has succeeded whose response from the store was lost."""
        renewed = sending.renewed
        if renewed is not None:
            found = await self._store.find(sending.kept.caller, sending.kept.id)
            if found is not None and found.leg.sending_until == renewed.sending_until:
                sending.kept = found
            sending.renewed = None

    def _with_lease(self, leg: LegRecord, sending: str) -> LegRecord:
        """Return *leg* if this process sends the responses with the digest *sending*, and has the lease from now on."""
        return replace(leg, sending=sending, sending_until=self._store.clock() + LEASE)

    async def _replace(self, kept: KeptLeg, leased: LegRecord) -> KeptLeg | None:
        """Store *leased*, at least during its lease; return None if another process was first."""
        return await self._store.replace(kept, leased, max(kept.expires_at, leased.sending_until))

    async def _release(self, kept: KeptLeg) -> None:
        """Give the lease back: the responses may be sent again.  If that fails, they may be once it has ended."""
        try:
            await self._store.replace(kept, replace(kept.leg, sending=""), kept.expires_at)
        except InboxError as error:
            _logger.warning("a call could not be given back to its store: %s", error)

    def _expiry(self, leg: LegRecord) -> float:
        """Return until when *leg* can be answered, if it is stored now."""
        return min(self._store.clock() + self._leg_ttl, leg.ends_at)


def _content_of(paused: PausedCall, number: int) -> LegContent:
    """Return the content of leg *number*, which asks for the answers that a call waits for."""
    keys = {f"q{number}.{position}": key for position, key in enumerate(paused.shown, 1)}
    questions = {own: paused.shown[key] for own, key in keys.items()}
    return LegContent(questions=questions, keys=keys, snapshot=paused.snapshot)


def _spec_of(leg: LegRecord) -> CallSpec:
    if leg.content is not None:
        return leg.content.snapshot.call_spec
    assert leg.outcome is not None
    return leg.outcome.call_spec


def _to_leg(kept: KeptLeg) -> Leg:
    content = kept.leg.content
    return Leg(kept.id, kept.leg.number, {} if content is None else content.questions)


def _store_outcome(spec: CallSpec, result: Any, failure: Exception | None) -> StoredOutcome | None:
    if isinstance(failure, ConnectionLostError):
        return None
    if failure is None and isinstance(result, Leg):
        return StoredOutcome(call_spec=spec, held=(result.call_id, result.process))
    if failure is None:
        try:
            return StoredOutcome(call_spec=spec, result=result.model_dump_json(by_alias=True, exclude_none=True))
        except ValueError as error:  # it is not Unicode
            failure = error
    # The server has the answers, whatever the exception is: they are not sent again.
    return StoredOutcome(call_spec=spec, error=error_details(failure) or error_details(to_sdk_error(failure)))


def _to_step(outcome: StoredOutcome) -> Step:
    import mcp.types

    if outcome.held is not None:
        call_id, process = outcome.held
        return Leg(call_id, 1, {}, process)
    if outcome.error is not None:
        return CallOutcome(error=sdk_error(**outcome.error))
    names = {"tool": "CallToolResult", "prompt": "GetPromptResult", "resource": "ReadResourceResult"}
    return CallOutcome(getattr(mcp.types, names[outcome.call_spec.kind]).model_validate_json(outcome.result or ""))
