"""`SuspendedCalls`: calls that are stored while their requests are pending."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, NamedTuple

import anyio

from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.records import RecordCodec, is_id
from mcp_elicit_client.inbox.stores.models import StoredCall, StoredRequest
from mcp_elicit_client.inbox.stores.protocol import Store
from mcp_elicit_client.typing import Request

CLOSE_TIMEOUT = 5.0
"""The maximum time for giving a call back to the store, or erasing it, in seconds."""

_logger = logging.getLogger("mcp_elicit_client")


class CallStatus(NamedTuple):
    """
    A suspended call and its answers so far.

    Attributes:
        call: The call as it is stored.
        body: What is needed to resume it; empty once it is finished or has
            expired.
        answers: The answer to each of its requests; None while it is pending.
    """

    call: StoredCall
    body: str
    answers: tuple[Answer | None, ...]


@dataclass(frozen=True, slots=True)
class SuspendedCalls:
    """
    The suspended calls of an inbox, for the code that makes calls.

    Every method raises `InboxError` if the store cannot be used.

    Attributes:
        store: The store of the inbox, for what needs no encoding.
        codec: Encodes and decodes what the store keeps.
    """

    store: Store
    codec: RecordCodec

    async def suspend(
        self, owner: str, body: str, requests: Sequence[Request], resume_timeout: float, call_id: str | None = None
    ) -> StoredCall:
        """
        Store a call and its requests.  If that fails or is cancelled, nothing stays pending: no one gets the ID.

        Args:
            owner: The user or conversation that they belong to.
            body: What is needed to resume the call.
            requests: The requests, each with its deadline.
            resume_timeout: Seconds for which the call can be resumed.
            call_id: The ID of the call if it was suspended before; None for a
                new one.

        Raises:
            ValueError: If a request cannot be written as JSON.
        """
        now = self.store.clock()
        used_id = self.codec.new_id() if call_id is None else call_id
        stored = self._encode(owner, requests, used_id, now + resume_timeout)
        request_ids = tuple(request.id for request in stored)
        call = StoredCall(
            used_id,
            owner,
            self.codec.encode_call(owner, used_id, body, request_ids),
            request_ids,
            created_at=now,
            expires_at=now + resume_timeout,
        )
        try:
            await self.store.suspend(call, stored)
        except BaseException:  # It may have been stored.
            await self.erase(used_id)
            raise
        return call

    async def erase(self, call_id: str) -> None:
        """Erase a call that no one will resume, and withdraw its requests, even if this task is cancelled."""
        await _quietly(self.store.finish(call_id))

    async def release(self, call_id: str, token: str) -> None:
        """Suspend a call again that was claimed with *token*, even if this task is cancelled: nothing was sent."""
        await _quietly(self.store.release(call_id, token))

    async def update(
        self, call: StoredCall, body: str, requests: Sequence[Request], expires_at: float
    ) -> StoredCall | None:
        """
        Replace the body of a suspended call and add requests to it.

        Args:
            call: The call as it is stored.
            body: What is needed to resume it.
            requests: The new requests, each with its deadline.
            expires_at: Until when the call can be resumed.

        Returns:
            The call as it is stored now; None if another process was first.

        Raises:
            ValueError: If a request cannot be written as JSON.
        """
        stored = self._encode(call.owner, requests, call.id, expires_at)
        request_ids = (*call.request_ids, *(request.id for request in stored))
        text = self.codec.encode_call(call.owner, call.id, body, request_ids)
        changed = call._replace(body=text, request_ids=request_ids, expires_at=expires_at)
        return changed if await self.store.update(changed, stored, call.body) else None

    async def find(self, owner: str, call_id: str) -> CallStatus | None:
        """Return a call of *owner* and its answers so far; None if there is no such call."""
        call = await self.store.get_call(owner, call_id) if is_id(call_id) else None
        if call is None:
            return None
        if not call.body:
            return CallStatus(call, "", ())
        body = self.codec.decode_call(call)
        return CallStatus(call, body, tuple([await self._answer(owner, each) for each in call.request_ids]))

    def _encode(self, owner: str, requests: Sequence[Request], call_id: str, expires_at: float) -> list[StoredRequest]:
        """Encode *requests* with deadlines that the user cannot extend: the call expires with them."""
        now, latest = self.store.clock(), datetime.fromtimestamp(expires_at, timezone.utc)
        limited = (
            request.model_copy(update={"deadline": request.deadline or latest, "max_deadline": None})
            for request in requests
        )
        return [self.codec.new_request(owner, request, now, call_id) for request in limited]

    async def _answer(self, owner: str, entry_id: str) -> Answer | None:
        stored = await self.store.get(owner, entry_id)
        if stored is None:
            return Answer.cancel(by="error", reason="the request is no longer stored")
        return None if stored.resolution is None else self.codec.decode_answer(stored, stored.resolution)


def calls_of(inbox: Inbox) -> SuspendedCalls:
    """Return the suspended calls whose requests are pending in *inbox*: see `calls.SuspendOptions`."""
    return SuspendedCalls(inbox._store, inbox._codec)  # noqa: SLF001 -- host applications have no use for them


async def _quietly(closing: Coroutine[Any, Any, None]) -> None:
    """Await *closing*, even if this task is cancelled.  If that fails or takes long, the call expires."""
    with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
        try:
            await closing
        except InboxError as error:
            _logger.warning("a suspended call could not be given back to its store: %s", error)
