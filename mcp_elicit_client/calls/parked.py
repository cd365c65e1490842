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

from mcp_elicit_client.calls.call import Memory
from mcp_elicit_client.calls.parking import Parked, Parking
from mcp_elicit_client.calls.verbs import Called
from mcp_elicit_client.core.answers import Answer
from mcp_elicit_client.core.requests import AnyRequest
from mcp_elicit_client.exceptions import CallError, ParkedError
from mcp_elicit_client.inbox.errors import InboxError
from mcp_elicit_client.inbox.parked import Found
from mcp_elicit_client.inbox.stores.base import CallState, HeldCall

_logger = logging.getLogger("mcp_elicit_client")

MAX_BODY = 8_388_608
"""How much may be written down of one call, in characters: its arguments, its questions, the server's state."""

_GOODBYE = 5.0


class Memo(BaseModel):
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
    called: Called
    state: str | None
    memory: Memory
    questions: dict[str, AnyRequest]
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
class Resumable:
    """
    A parked call that was looked at.

    Attributes:
        parked: What the host application sees of it.
        memo: What is needed to resume it.
        answers: What was answered, by the server's keys; None where nobody has yet.
    """

    parked: Parked
    memo: Memo
    answers: Mapping[str, Answer | None]


def parked_of(call: HeldCall, waiting: tuple[str, ...]) -> Parked:
    """Return what the host application sees of a call."""
    expires = datetime.fromtimestamp(call.expires, timezone.utc)
    return Parked(id=call.id, questions=call.questions, waiting=waiting, expires=expires)


async def look(parking: Parking, call_id: str, server: str, state: CallState = "parked") -> Resumable:
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
        raise ParkedError("unknown")
    if found.call.state != state:
        raise _refusal(found.call.state)
    if not found.body:
        raise ParkedError("expired")
    try:
        memo = Memo.model_validate_json(found.body)
        answers = dict(zip(memo.questions, found.answers, strict=True))
        parked = parked_of(found.call, tuple(_waiting(found)))
    except (ValueError, OverflowError):
        raise InboxError("the inbox holds what is no parked call") from None
    if memo.server != server:
        raise ParkedError("server")
    return Resumable(parked, memo, answers)


def _refusal(state: CallState | None) -> ParkedError | InboxError:
    if state in ("resuming", "over", "expired"):
        return ParkedError(state)
    return ParkedError("unknown") if state is None else InboxError("the inbox holds what is no parked call")


def _waiting(found: Found) -> Iterator[str]:
    return (each for each, answer in zip(found.call.questions, found.answers, strict=True) if answer is None)


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
        self.was_parked = False


@asynccontextmanager
async def claimed(parking: Parking, call_id: str) -> AsyncIterator[Claim]:
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
        if state != "parked":
            raise _refusal(state)
        yield claim
    finally:
        with anyio.move_on_after(_GOODBYE, shield=True):
            try:
                if not claim.was_sent:
                    await calls.release(call_id, token)
                elif not claim.was_parked:
                    await calls.finish(call_id)
            except InboxError as error:
                _logger.warning("a parked call could not be put away: %s", error)
