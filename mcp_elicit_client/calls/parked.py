"""A parked call, written down and read again."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

import anyio
from pydantic import BaseModel

from mcp_elicit_client.calls.call import CallHistory
from mcp_elicit_client.calls.parking import SuspendedCall, SuspendOptions
from mcp_elicit_client.calls.verbs import CallSpec
from mcp_elicit_client.core.answers import Answer
from mcp_elicit_client.core.requests import AnyRequest
from mcp_elicit_client.exceptions import CallError, ResumeError
from mcp_elicit_client.inbox.errors import InboxError
from mcp_elicit_client.inbox.parked import CallStatus
from mcp_elicit_client.inbox.stores.base import CallState, StoredCall

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
