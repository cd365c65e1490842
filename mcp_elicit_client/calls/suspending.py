"""Calls that are put aside while their questions wait: for a host whose processes come and go."""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import anyio
from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.calls.active_call import ActiveCall, CallHistory, StoredAnswersFor
from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.request import AnyRequest
from mcp_elicit_client.exceptions import CallError, InboxError, ResumeError
from mcp_elicit_client.inbox.stores.models import CallState, StoredCall
from mcp_elicit_client.inbox.suspended_calls import CallStatus
from mcp_elicit_client.typing import Request

if TYPE_CHECKING:
    from mcp_elicit_client.inbox.inbox import Inbox

RESUME_TIMEOUT = 590.0
"""How long a parked call can be resumed, in seconds: less than the 600 s of the Python SDK's server."""

MAX_RESUME_TIMEOUT = 366 * 86_400.0
"""The longest lifetime of a parked call, in seconds."""

ANSWER_SHARE = 0.9
"""In which part of that its questions can be answered; the rest is for whoever resumes it."""


@dataclass(frozen=True, slots=True)
class SuspendOptions:
    """
    Where calls are parked, and whose they are.

    Attributes:
        inbox: Where their questions wait, and what is needed to resume them.
        owner: Whose they are: a user, a conversation.  Whoever resumes a call
            has to know it, from elsewhere than the request that names the call.
        lifetime: How long a call can be resumed, in seconds, from each time
            that it comes back with questions: less than its server takes its
            state back, which no server says.  Its questions can be answered
            for nine tenths of it, or until a policy closes them.

    Raises:
        ValueError: If there is no owner, no time, or more than a year.
    """

    inbox: Inbox
    owner: str
    resume_timeout: float = RESUME_TIMEOUT

    def __post_init__(self) -> None:
        owner: object = self.owner
        if not isinstance(owner, str) or not owner:
            raise ValueError("a parked call needs an owner")
        if not 0 < self.resume_timeout <= MAX_RESUME_TIMEOUT:
            raise ValueError("a parked call needs a lifetime of more than 0 seconds, and at most a year")


class SuspendedCall(BaseModel):
    """
    A call that waits for answers, and no process with it.

    Attributes:
        id: What `Caller.resume` takes; the same until the call is over.
        questions: The ids of its questions in the inbox.
        waiting: Those that nobody has answered yet.
        expires: Until when it can be resumed, in UTC.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    id: str
    request_ids: tuple[str, ...]
    pending_ids: tuple[str, ...]
    expires_at: datetime


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

    def __init__(
        self, parking: SuspendOptions, call: ActiveCall, called: CallSpec, server: str, claim: Claim | None = None
    ) -> None:
        self._parking = parking
        self._call = call
        self._called = called
        self._server = server
        self._claim = claim
        self._noted: dict[str, tuple[Request, Request]] = {}

    def defer(self, key: str) -> StoredAnswersFor:
        """Return what stores the request *key* instead of asking the user."""
        return lambda request: _DeferredRequest(functools.partial(self._store, key, request))

    def _store(self, key: str, request: Request, shown: Request) -> None:
        self._noted[key] = (request, shown)

    async def suspend(
        self, answers: Mapping[str, Answer], others: Mapping[str, Any], state: str | None
    ) -> SuspendedCall | None:
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
            held = await parking.inbox.calls.suspend(
                parking.owner, memo.write(), questions, parking.resume_timeout, known
            )
        except ValueError as error:
            raise CallError("the call cannot be parked: a question cannot be written as JSON") from error
        if self._claim is not None:
            self._claim.was_suspended = True
        return suspended_call(held, held.request_ids)

    def _closing(self, request: Request) -> Request:
        """Give a question the time until which it can be answered."""
        parking = self._parking
        end = datetime.fromtimestamp(
            parking.inbox.calls.store.clock() + ANSWER_SHARE * parking.resume_timeout, timezone.utc
        )
        deadline = end if request.deadline is None else min(end, request.deadline)
        return request.model_copy(update={"deadline": deadline})


@dataclass(frozen=True, slots=True)
class _DeferredRequest:
    """Stores a request while its call is suspended."""

    store: Callable[[Request], None]
    is_resuming: bool = False

    async def answer(self, request: Request, /) -> Answer:
        self.store(request)
        return Answer.cancel(by="pending", reason="the request is stored in an inbox")


@dataclass(frozen=True, slots=True)
class _GivenAnswer:
    """The answer that was given while the call was suspended."""

    given: Answer | None
    is_resuming: bool = True

    async def answer(self, _request: Request, /) -> Answer:
        return self.given or Answer.cancel(by="unattended", reason="the request was not answered")


def answered(loaded: LoadedCall, key: str) -> StoredAnswersFor:
    """Return the answer that was given to the request *key* while the call was suspended."""
    return lambda _request: _GivenAnswer(loaded.answers[key])


def _wire(request: Any) -> Any:
    return request.model_dump(mode="json", by_alias=True, exclude_none=True)


_logger = logging.getLogger("mcp_elicit_client")

MAX_BODY = 8_388_608
"""How much may be written down of one call, in characters: its arguments, its questions, the server's state."""

_GOODBYE = 5.0


class CallSnapshot(BaseModel):
    """
    All that is needed to resume a call.

    Attributes:
        version: Of this form.
        server: What the host application calls the server.
        called: What is called.
        state: The server's state, untouched.
        memory: What is remembered of the call.
        questions: What a person is asked, as it came through the door, by the
            server's keys, in the order of their ids.
        answers: What was decided without a person, by the server's keys.
        others: What the server asks of the host application itself, as on the
            wire, by the server's keys.
    """

    version: Literal[1] = 1
    server: str
    call_spec: CallSpec
    state: str | None
    history: CallHistory
    requests: dict[str, AnyRequest]
    answers: dict[str, Answer]
    others: dict[str, Any]

    def write(self) -> str:
        """
        Write it as JSON.

        Raises:
            CallError: If that cannot be done, or is too long.
        """
        try:
            text = self.model_dump_json()
        except (ValueError, RecursionError) as error:
            raise CallError("the call cannot be parked: it cannot be written as JSON") from error
        if len(text) > MAX_BODY:
            raise CallError(f"the call cannot be parked: it takes more than {MAX_BODY} characters")
        return text


@dataclass(frozen=True, slots=True)
class LoadedCall:
    """
    A parked call that was looked at.

    Attributes:
        parked: What the host application sees of it.
        memo: What is needed to resume it.
        answers: What was answered, by the server's keys; None where nobody has yet.
    """

    suspended: SuspendedCall
    snapshot: CallSnapshot
    answers: Mapping[str, Answer | None]


def suspended_call(call: StoredCall, waiting: tuple[str, ...]) -> SuspendedCall:
    """Return what the host application sees of a call."""
    expires = datetime.fromtimestamp(call.expires_at, timezone.utc)
    return SuspendedCall(id=call.id, request_ids=call.request_ids, pending_ids=waiting, expires_at=expires)


async def load_call(parking: SuspendOptions, call_id: str, server: str, state: CallState = "suspended") -> LoadedCall:
    """
    Look at a parked call.

    Args:
        parking: Where it is, and whose.
        call_id: Its id.
        server: What the host application calls the server.
        state: Where the call has to be: ``resuming`` if it is claimed here.

    Raises:
        ParkedError: If there is none, it cannot be resumed any more, or it is
            not one of *server*.
        InboxError: If the inbox cannot be used or read.
    """
    found = await parking.inbox.calls.find(parking.owner, call_id)
    if found is None:
        raise ResumeError("unknown")
    if found.call.state != state:
        raise _refusal(found.call.state)
    if not found.body:
        raise ResumeError("expired")
    try:
        memo = CallSnapshot.model_validate_json(found.body)
        answers = dict(zip(memo.requests, found.answers, strict=True))
        parked = suspended_call(found.call, tuple(_waiting(found)))
    except (ValueError, OverflowError):
        raise InboxError("the inbox holds what is no parked call") from None
    if memo.server != server:
        raise ResumeError("server")
    return LoadedCall(parked, memo, answers)


def _refusal(state: CallState | None) -> ResumeError | InboxError:
    if state in ("resuming", "finished", "expired"):
        return ResumeError(state)
    return ResumeError("unknown") if state is None else InboxError("the inbox holds what is no parked call")


def _waiting(found: CallStatus) -> Iterator[str]:
    return (each for each, answer in zip(found.call.request_ids, found.answers, strict=True) if answer is None)


class Claim:
    """
    A parked call that this process resumes, and no other.

    Attributes:
        id: Its id.
        was_sent: Whether the server may have seen anything of it.
        was_parked: Whether it came back with questions, and is parked again.
    """

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.was_sent = False
        self.was_suspended = False


@asynccontextmanager
async def claim_call(parking: SuspendOptions, call_id: str) -> AsyncIterator[Claim]:
    """
    Resume a call here and nowhere else.

    What was seen of it before may be over: it may have gone on elsewhere,
    and be parked again.  At the end it is forgotten, with the answers to its questions; unless
    nothing of it was sent, then it is parked as before.

    Raises:
        ParkedError: If somebody else was first, or its time is over.
        InboxError: If the inbox cannot be used.
    """
    calls = parking.inbox.calls
    claim = Claim(call_id)
    token = secrets.token_hex(8)
    try:
        state = await calls.claim(parking.owner, call_id, token)
        if state != "suspended":
            raise _refusal(state)
        yield claim
    finally:
        with anyio.move_on_after(_GOODBYE, shield=True):
            try:
                if not claim.was_sent:
                    await calls.release(call_id, token)
                elif not claim.was_suspended:
                    await calls.finish(call_id)
            except InboxError as error:
                _logger.warning("a parked call could not be put away: %s", error)
