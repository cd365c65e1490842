"""Calls that were parked: their questions wait in an inbox, and no process with them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.inbox.records import RecordCodec, is_id
from mcp_elicit_client.inbox.stores.protocol import CallState, Store, StoredCall
from mcp_elicit_client.typing import Request


@dataclass(frozen=True, slots=True)
class CallStatus:
    """
    A parked call, as far as it is known.

    Attributes:
        call: As it is stored.
        body: What is needed to resume it; empty once it is over.
        answers: What was answered to each of its questions; None to those that still wait.
    """

    call: StoredCall
    body: str
    answers: tuple[Answer | None, ...]


@dataclass(frozen=True, slots=True)
class SuspendedCalls:
    """
    The parked calls of an inbox: for whoever makes calls, not for whoever answers.

    Whatever goes wrong with the store is an `InboxError`.

    Attributes:
        store: Where they are kept.
        scribe: Who writes and reads them.
    """

    store: Store
    codec: RecordCodec

    async def suspend(
        self, owner: str, body: str, requests: Sequence[Request], lifetime: float, call_id: str | None = None
    ) -> StoredCall:
        """
        Keep a call, and put its questions.

        Args:
            owner: Whose call and questions they are.
            body: What is needed to resume it.
            requests: The questions, each with its deadline.
            lifetime: How long the call can be resumed, in seconds.
            call_id: The call that went on and asks again; None for a new one.

        Raises:
            ValueError: If a request cannot be written as JSON.
        """
        now = self.store.clock()
        name = self.codec.new_id() if call_id is None else call_id
        records = [self.codec.record(owner, request, now, lifetime, name) for request in requests]
        sealed = self.codec.seal_call(owner, name, body)
        call = StoredCall(
            name, owner, sealed, tuple(each.id for each in records), created_at=now, expires_at=now + lifetime
        )
        await self.store.suspend(call, records, secrets.token_hex(8))
        return call

    async def find(self, owner: str, call_id: str) -> CallStatus | None:
        """Return a call of *owner* and the answers there are; None if there is none."""
        call = await self.store.suspended(owner, call_id) if is_id(call_id) else None
        if call is None:
            return None
        if not call.body:
            return CallStatus(call, "", ())
        body = self.codec.open_call(call)
        return CallStatus(call, body, tuple([await self._answer(owner, each) for each in call.request_ids]))

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        """Begin to resume a call; see `Store.claim`."""
        return await self.store.claim(owner, call_id, token)

    async def release(self, call_id: str, token: str) -> None:
        """Park a call again that was claimed with *token*."""
        await self.store.release(call_id, token)

    async def finish(self, call_id: str) -> None:
        """Forget a call that was claimed, and the answers to its questions."""
        await self.store.finish(call_id)

    async def _answer(self, owner: str, entry_id: str) -> Answer | None:
        record = await self.store.get(owner, entry_id)
        if record is None:
            return Answer.cancel(by="error", reason="the question is gone")
        return None if record.resolution is None else self.codec.answer_of(record, record.resolution)
