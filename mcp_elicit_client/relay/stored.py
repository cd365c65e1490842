"""
`StoredCalls`: calls whose state is stored between two requests of the client.

Any process can continue such a call.  Each leg is taken once: a process notes
in the store that it sends the answers, and then the result.  The same
responses again lead to the same result, and other responses are refused.  If
a process stops before it has noted the result, the same responses are sent
again, as the client itself would without a gateway.
"""

from __future__ import annotations

import functools
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
from pydantic import BaseModel

from mcp_elicit_client.calls.suspending import CallSnapshot, PausedCall
from mcp_elicit_client.core.request import AnyRequest
from mcp_elicit_client.exceptions import ElicitationError, InboxError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.stores.models import StoredCall
from mcp_elicit_client.relay.legs import Leg, Outcome, Step, digest_of, read_responses
from mcp_elicit_client.relay.refusals import RefusedError, error_details, sdk_error, to_sdk_error
from mcp_elicit_client.relay.state import CallState
from mcp_elicit_client.typing import Answer, Request

_logger = logging.getLogger("mcp_elicit_client")

OUTCOME_TTL = 120.0
"""How long the outcome of a call is kept for clients that did not get it, in seconds."""

LEASE = 10.0
"""Seconds after which a process that sends answers, and does not say so again, counts as stopped."""

_POLL_INTERVAL = 0.1
_MAX_REMEMBERED = 64
_CONNECTION_CLOSED = -32000
_OWNER = "relay "

Kind = Literal["tool", "prompt", "resource"]

Proceed = Callable[[CallSnapshot, Mapping[str, Answer]], Awaitable[Any]]
"""
Continues a call with the answers, by the server's keys.  Returns a
`PausedCall`, the `Leg` of a process that holds the call by now, or the result.
"""


class StoredOutcome(BaseModel):
    """
    What came of the last responses, as it is stored.

    Attributes:
        result: The result on the wire.
        error: Code, message and data of an error.
        held: The ID of the call, and of the process that holds it by now.
    """

    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    held: tuple[str, str] | None = None


class LegContent(BaseModel):
    """
    What is asked in a leg, and what is needed to continue its call.

    Attributes:
        questions: The requests as they were sent to the client, by the keys
            of the gateway.
        keys: The server's keys, by the keys of the gateway.
        snapshot: What is needed to continue the call.
    """

    questions: dict[str, AnyRequest]
    keys: dict[str, str]
    snapshot: CallSnapshot


class StoredLeg(BaseModel):
    """
    The state of a call as it is stored.

    Attributes:
        number: The number of the leg.
        ends_at: Until when the call may last, in seconds since 1970.
        responses: The digest of the responses that led here.
        content: The `LegContent` as JSON, which is written once; empty if the
            call has ended.
        sending: The digest of the responses that a process is sending; empty
            if no process does.
        sending_until: Until when this process has the lease.
        outcome: What came of the responses, if the call is not stored for
            further ones.
    """

    number: int
    ends_at: float
    responses: str = ""
    content: str = ""
    sending: str = ""
    sending_until: float = 0.0
    outcome: StoredOutcome | None = None


@dataclass(slots=True)
class _Loaded:
    stored: StoredCall
    body: str
    leg: StoredLeg
    content: LegContent | None

    @property
    def questions(self) -> Mapping[str, Request]:
        return {} if self.content is None else self.content.questions

    def to_leg(self) -> Leg:
        return Leg(self.stored.id, self.leg.number, self.questions)


@dataclass(slots=True, eq=False)
class _Sending:
    """A call whose answers this process is sending.  The lock is held while the lease is renewed."""

    loaded: _Loaded
    lock: anyio.Lock = field(default_factory=functools.partial(anyio.Lock, fast_acquire=True))


class StoredCalls:
    """
    The stored calls of a relay.

    Args:
        inbox: Where they are stored.
        leg_ttl: How long a leg can be answered, in seconds.
        max_ttl: How long a call may last, in seconds.
    """

    def __init__(self, inbox: Inbox, *, leg_ttl: float, max_ttl: float) -> None:
        self._calls = inbox.calls
        self._leg_ttl = leg_ttl
        self._max_ttl = max_ttl
        self._read: OrderedDict[str, _Loaded] = OrderedDict()
        self._sending: set[_Sending] = set()

    async def start(self, caller: str, paused: PausedCall) -> Leg:
        """Store a call that was made and needs input."""
        content = _content_of(paused, 1)
        leg = StoredLeg(number=1, ends_at=self._now() + self._max_ttl, content=content.model_dump_json())
        body = leg.model_dump_json()
        stored = await self._calls.suspend(_OWNER + caller, body, [], self._ttl(leg))
        return self._remember(_Loaded(stored, body, leg, content)).to_leg()

    async def respond(
        self, caller: str, state: CallState, responses: Mapping[str, Any], *, kind: Kind, proceed: Proceed
    ) -> Step:
        """
        Take the responses to a leg, and return the next one or the outcome.

        Args:
            caller: Who makes the call.
            state: The call, and the leg.
            responses: The responses of the client.
            kind: What is called.
            proceed: Continues the call.

        Raises:
            RefusedError: If the leg was answered already, or a response is
                invalid.
            InboxError: If the store cannot be used.
        """
        call_id, number = state.call_id, state.leg
        loaded = await self._load(caller, call_id)
        digest = digest_of(responses)
        while True:
            leg = loaded.leg
            if number == leg.number - 1 and digest == leg.responses:
                return _to_step(leg.outcome, kind) if leg.outcome is not None else loaded.to_leg()
            if number != leg.number or leg.outcome is not None:
                raise RefusedError("used")
            if not responses:
                return loaded.to_leg()
            if leg.sending and leg.sending != digest:
                raise RefusedError("used")
            if not leg.sending or leg.sending_until < self._now():
                answers = await read_responses(responses, loaded.questions)
                taken = await self._replace(loaded, sending=digest, sending_until=self._now() + LEASE)
                if taken is not None:
                    return await self._send(taken, answers, digest, proceed)
            else:  # another request of the client, or another process, sends the same
                await anyio.sleep(_POLL_INTERVAL)
            loaded = await self._load(caller, call_id)

    async def _send(self, loaded: _Loaded, answers: Mapping[str, Answer], digest: str, proceed: Proceed) -> Step:
        leg, content = loaded.leg, loaded.content
        assert content is not None
        given = {content.keys[key]: answer for key, answer in answers.items()}
        came: Any = None
        failure: Exception | None = None
        sending = _Sending(loaded)
        self._sending.add(sending)
        try:
            came = await proceed(content.snapshot, given)
        except Exception as error:  # noqa: BLE001 -- returned in the outcome
            failure = error
        except BaseException:
            with anyio.move_on_after(1, shield=True):
                await self._replace(await self._stop_renewing(sending), sending="")
            raise
        loaded = await self._stop_renewing(sending)
        if isinstance(came, PausedCall):
            number = leg.number + 1
            content = _content_of(came, number)
            following = StoredLeg(
                number=number, ends_at=leg.ends_at, responses=digest, content=content.model_dump_json()
            )
            await self._store(loaded, following, content, self._ttl(following))
            return Leg(loaded.stored.id, number, content.questions)
        outcome = _store_outcome(came, failure)
        ttl = self._leg_ttl if isinstance(came, Leg) else OUTCOME_TTL
        if outcome is None:  # the server cannot be reached, so the same responses may be sent again
            await self._replace(loaded, sending="")
        else:
            ended = StoredLeg(number=leg.number + 1, ends_at=leg.ends_at, responses=digest, outcome=outcome)
            await self._store(loaded, ended, None, ttl)
        return came if isinstance(came, Leg) else Outcome(came, failure)

    async def renew_leases(self) -> None:
        """Renew the leases of the calls whose answers this process is sending, for ever."""
        while True:
            await anyio.sleep(LEASE / 3)
            async with anyio.create_task_group() as group:
                for each in self._sending:
                    group.start_soon(self._renew, each)

    async def _renew(self, sending: _Sending) -> None:
        with anyio.CancelScope(shield=True):
            async with sending.lock:
                if sending not in self._sending:
                    return
                try:
                    renewed = await self._replace(sending.loaded, sending_until=self._now() + LEASE)
                except Exception as error:  # noqa: BLE001 -- it must not end the other calls of the relay
                    _logger.warning("the lease of a call could not be renewed: %r", error)
                    return
                if renewed is None:
                    self._sending.discard(sending)
                else:
                    sending.loaded = renewed

    async def _stop_renewing(self, sending: _Sending) -> _Loaded:
        """Return what is stored, after the renewal in progress."""
        self._sending.discard(sending)
        async with sending.lock:
            return sending.loaded

    async def _load(self, caller: str, call_id: str) -> _Loaded:
        found = await self._calls.find(_OWNER + caller, call_id)
        if found is None or not found.body:
            raise RefusedError("ended")
        known = self._read.get(call_id)
        if known is not None and known.body == found.body:
            return _Loaded(found.call, known.body, known.leg, known.content)
        try:
            leg = StoredLeg.model_validate_json(found.body)
            content = LegContent.model_validate_json(leg.content) if leg.content else None
        except ValueError:
            raise InboxError("A stored call of the relay cannot be read.") from None
        return _Loaded(found.call, found.body, leg, content)

    async def _replace(self, loaded: _Loaded, **changed: Any) -> _Loaded | None:
        """Change what is stored; return None if another process was first."""
        leg = loaded.leg.model_copy(update=changed)
        return await self._store(loaded, leg, loaded.content, loaded.stored.expires_at - self._now())

    async def _store(self, loaded: _Loaded, leg: StoredLeg, content: LegContent | None, ttl: float) -> _Loaded | None:
        body = leg.model_dump_json()
        stored = await self._calls.update(loaded.stored, body, [], self._now() + ttl)
        return None if stored is None else self._remember(_Loaded(stored, body, leg, content))

    def _remember(self, loaded: _Loaded) -> _Loaded:
        """Spare this process reading what it has written."""
        self._read[loaded.stored.id] = loaded
        self._read.move_to_end(loaded.stored.id)
        if len(self._read) > _MAX_REMEMBERED:
            self._read.popitem(last=False)
        return loaded

    def _ttl(self, leg: StoredLeg) -> float:
        return max(0.0, min(self._leg_ttl, leg.ends_at - self._now()))

    def _now(self) -> float:
        return self._calls.store.clock()


def _content_of(paused: PausedCall, number: int) -> LegContent:
    """Return the content of leg *number*, which asks for the answers that a call waits for."""
    keys = {f"q{number}.{position}": key for position, key in enumerate(paused.shown, 1)}
    questions = {own: paused.shown[key] for own, key in keys.items()}
    return LegContent(questions=questions, keys=keys, snapshot=paused.snapshot)


def _store_outcome(result: Any, failure: Exception | None) -> StoredOutcome | None:
    if isinstance(failure, ElicitationError):
        failure = to_sdk_error(failure)
    if failure is not None:
        details = error_details(failure)
        is_final = details is not None and details["code"] != _CONNECTION_CLOSED
        return StoredOutcome(error=details) if is_final else None
    if isinstance(result, Leg):
        return StoredOutcome(held=(result.call_id, result.process))
    return StoredOutcome(result=result.model_dump(mode="json", by_alias=True, exclude_none=True))


def _to_step(outcome: StoredOutcome, kind: Kind) -> Step:
    import mcp.types

    if outcome.held is not None:
        call_id, process = outcome.held
        return Leg(call_id, 1, {}, process)
    if outcome.error is not None:
        return Outcome(error=sdk_error(**outcome.error))
    names = {"tool": "CallToolResult", "prompt": "GetPromptResult", "resource": "ReadResourceResult"}
    return Outcome(getattr(mcp.types, names[kind]).model_validate(outcome.result))
