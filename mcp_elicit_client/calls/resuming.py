"""Resume suspended calls: load them from their store, and claim them for one process."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mcp_elicit_client.calls.suspending import (
    CallSnapshot,
    Claim,
    SuspendedCall,
    TaskSnapshot,
    read_snapshot,
    suspended_call,
)
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.exceptions import InboxError, ResumeError
from mcp_elicit_client.inbox.stores.models import CallState, StoredCall
from mcp_elicit_client.inbox.suspended_calls import SuspendedCalls
from mcp_elicit_client.typing import Request


@dataclass(frozen=True, slots=True)
class LoadedCall:
    """
    A suspended call or task that was loaded from its store.

    Attributes:
        stored: The call as it is stored.
        suspended: The public part.
        snapshot: What was stored: a `TaskSnapshot` if it is a task.
        answers: The answers that were given, by the server's keys; None where
            an answer is pending.
    """

    stored: StoredCall
    suspended: SuspendedCall
    snapshot: CallSnapshot | TaskSnapshot
    answers: Mapping[str, Answer | None]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """
    The answer that was given to one request while its call was suspended.

    Attributes:
        given: The answer; None if it is still pending.
        is_resuming: See `StoredAnswers`.
    """

    given: Answer | None
    is_resuming: bool = True

    async def answer(self, _request: Request, /) -> Answer:
        """Return the answer, or a cancel."""
        return self.given or Answer.cancel(by="unattended", reason="the request was not answered")


async def load_call(  # noqa: PLR0913 -- whose call it is, and what is expected of it
    calls: SuspendedCalls,
    owner: str,
    call_id: str,
    server: str,
    state: CallState = "suspended",
    *,
    user: str | None,
) -> LoadedCall:
    """
    Load a suspended call.

    Args:
        calls: Where it is stored.
        owner: Its owner in the inbox.
        call_id: Its ID.
        server: The name that the host application gave the server.
        state: The expected state: ``resuming`` if this process has claimed
            the call.
        user: Who resumes it; None if there is only one user.

    Raises:
        ResumeError: If the call does not exist, cannot be resumed, or belongs
            to another user or server.
        InboxError: If the inbox cannot be used or read.
    """
    found = await calls.find(owner, call_id)
    if found is None:
        raise ResumeError("unknown")
    if found.call.state != state:
        raise _refusal(found.call.state)
    if not found.body:
        raise ResumeError("expired")
    try:
        snapshot = read_snapshot(found.body)
        answers = dict(zip(snapshot.requests, found.answers, strict=True))
        by_id = zip(found.call.request_ids, found.answers, strict=True)
        suspended = suspended_call(found.call, (each for each, answer in by_id if answer is None))
    except (ValueError, OverflowError):
        raise InboxError(NOT_A_CALL) from None
    if snapshot.user not in (user, None):
        raise ResumeError("unknown")
    if snapshot.server != server:
        raise ResumeError("server")
    return LoadedCall(found.call, suspended, snapshot, answers)


NOT_A_CALL = "The stored call cannot be read. Call the tool again."


def _refusal(state: CallState | None) -> ResumeError | InboxError:
    if state in ("resuming", "finished", "expired"):
        return ResumeError(state)
    return ResumeError("unknown") if state is None else InboxError(NOT_A_CALL)


@asynccontextmanager
async def claim_call(calls: SuspendedCalls, owner: str, call_id: str) -> AsyncIterator[Claim]:
    """
    Claim a suspended call in this block.

    Load the call again after claiming it, since another process may have
    resumed and suspended it meanwhile.  At the end, the call is deleted with
    the answers to its requests.  If nothing was sent, or the block raises
    `ResumeError`, it is released instead.

    Raises:
        ResumeError: If another process was first, or the call has expired.
        InboxError: If the inbox cannot be used.
    """
    claim = Claim(call_id)
    token = secrets.token_hex(8)
    try:
        state = await calls.store.claim(owner, call_id, token)
        if state != "suspended":
            raise _refusal(state)
        yield claim
    except ResumeError:
        claim.was_sent = False
        raise
    finally:
        if not claim.was_sent:
            await calls.release(call_id, token)
        elif not claim.was_suspended:
            await calls.erase(call_id)
