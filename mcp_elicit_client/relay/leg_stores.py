"""
`LegStore`: where the legs of stored calls are kept between two requests of the client.

`MemoryLegs` keeps them in this process, and `InboxLegs` as JSON in the store of
an inbox, which other processes share.
"""

from __future__ import annotations

import heapq
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

from pydantic import TypeAdapter

from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.calls.suspending import MAX_SNAPSHOT, CallSnapshot
from mcp_elicit_client.core.request import AnyRequest
from mcp_elicit_client.exceptions import REPORT, CallError, InboxError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.stores.models import StoredCall
from mcp_elicit_client.inbox.suspended_calls import calls_of

MAX_IN_MEMORY = 256
"""How many calls of one user wait in the memory of a process."""

MAX_SIZE_IN_MEMORY = 67_108_864
"""How large the waiting calls of one user are in total, as characters of JSON."""

_MAX_REMEMBERED = 64
_MAX_SIZE_REMEMBERED = 65_536
_OWNER = "relay "


@dataclass(frozen=True, slots=True)
class LegContent:
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


@dataclass(frozen=True, slots=True)
class StoredOutcome:
    """
    The outcome of the last responses, as it is stored.

    Attributes:
        call_spec: What was called.
        result: The result as JSON.  One text takes less memory than many objects.
        error: Code, message and data of an error.
        held: The ID of the call, and of the process that holds it by now.
    """

    call_spec: CallSpec
    result: str | None = None
    error: dict[str, Any] | None = None
    held: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class LegRecord:
    """
    The state of a call.

    Attributes:
        number: The number of the leg.
        ends_at: Until when the call may last, in seconds since 1970.
        responses: The digest of the responses that led here.
        content: What is asked; None if the call is not stored for further
            responses.
        sending: The digest of the responses that a process is sending; empty
            if no process does.
        sending_until: Until when this process has the lease.
        outcome: The outcome of the responses, in place of the content.
    """

    number: int
    ends_at: float
    responses: str = ""
    content: LegContent | None = None
    sending: str = ""
    sending_until: float = 0.0
    outcome: StoredOutcome | None = None


@dataclass(frozen=True, slots=True)
class KeptLeg:
    """
    A leg as it is kept.

    Attributes:
        id: The ID of the call.
        caller: Who makes the call.
        leg: The leg.
        expires_at: Until when it is kept, in seconds since 1970.
    """

    id: str
    caller: str
    leg: LegRecord
    expires_at: float


class LegStore(Protocol):
    """
    Keeps the legs of calls.

    Attributes:
        clock: Returns the seconds since 1970.
    """

    clock: Callable[[], float]

    async def add(self, caller: str, leg: LegRecord, expires_at: float) -> KeptLeg:
        """Keep the first leg of a call of *caller*."""
        ...

    async def find(self, caller: str, call_id: str) -> KeptLeg | None:
        """Return the leg of a call; None if *caller* has no such call, or it has expired."""
        ...

    async def replace(self, kept: KeptLeg, leg: LegRecord, expires_at: float) -> KeptLeg | None:
        """Keep *leg* in place of *kept*; return None if that was replaced before, or has expired."""
        ...


class MemoryLegs:
    """
    Keeps legs in this process: of each caller, those of the latest calls within the limits.

    The limits are `MAX_IN_MEMORY` and `MAX_SIZE_IN_MEMORY`.  `add` and
    `replace` raise `CallError` as those of `InboxLegs` do.

    Args:
        clock: Returns the seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock: Callable[[], float] = clock
        self._legs: dict[str, KeptLeg] = {}
        self._sizes: dict[str, dict[str, int]] = {}
        """The size of each call of each caller, by its ID, the oldest first."""
        self._expiry: list[tuple[float, str]] = []

    async def add(self, caller: str, leg: LegRecord, expires_at: float) -> KeptLeg:
        self._forget_expired()
        return self._keep(KeptLeg(secrets.token_urlsafe(16), caller, leg, expires_at), _size_of(leg))

    async def find(self, caller: str, call_id: str) -> KeptLeg | None:
        self._forget_expired()
        kept = self._legs.get(call_id)
        return kept if kept is not None and kept.caller == caller else None

    async def replace(self, kept: KeptLeg, leg: LegRecord, expires_at: float) -> KeptLeg | None:
        self._forget_expired()
        if self._legs.get(kept.id) is not kept:
            return None
        size = self._sizes[kept.caller][kept.id] if leg.content is kept.leg.content else _size_of(leg)
        return self._keep(KeptLeg(kept.id, kept.caller, leg, expires_at), size)

    def _keep(self, kept: KeptLeg, size: int) -> KeptLeg:
        self._legs[kept.id] = kept
        sizes = self._sizes.setdefault(kept.caller, {})
        sizes[kept.id] = size
        while len(sizes) > MAX_IN_MEMORY or (len(sizes) > 1 and sum(sizes.values()) > MAX_SIZE_IN_MEMORY):
            self._forget(next(each for each in sizes if each != kept.id))
        heapq.heappush(self._expiry, (kept.expires_at, kept.id))
        return kept

    def _forget_expired(self) -> None:
        now = self.clock()
        while self._expiry and self._expiry[0][0] <= now:
            _, call_id = heapq.heappop(self._expiry)
            kept = self._legs.get(call_id)
            if kept is not None and kept.expires_at <= now:
                self._forget(call_id)

    def _forget(self, call_id: str) -> None:
        caller = self._legs.pop(call_id).caller
        sizes = self._sizes[caller]
        del sizes[call_id]
        if not sizes:
            del self._sizes[caller]


@dataclass(frozen=True, slots=True)
class _InInbox(KeptLeg):
    """A leg in an inbox: the call as it is stored, its body, and the content as JSON."""

    call: StoredCall
    body: str
    content: str


class InboxLegs:
    """
    Keeps legs in an inbox.  Every method raises `InboxError` if its store cannot be used.

    What is asked in a leg is limited, since other users share the store: if
    it is too large, `add` and `replace` raise `CallError`.

    Args:
        inbox: The inbox.
    """

    def __init__(self, inbox: Inbox) -> None:
        self._calls = calls_of(inbox)
        self.clock: Callable[[], float] = self._calls.store.clock
        self._known: OrderedDict[str, _InInbox] = OrderedDict()

    async def add(self, caller: str, leg: LegRecord, expires_at: float) -> KeptLeg:
        content = _write_content(leg)
        body = _write(leg, content)
        ttl = max(0.0, expires_at - self.clock())
        call = await self._calls.suspend(_OWNER + caller, body, [], ttl)
        return self._remember(_InInbox(call.id, caller, leg, call.expires_at, call, body, content))

    async def find(self, caller: str, call_id: str) -> KeptLeg | None:
        found = await self._calls.find(_OWNER + caller, call_id)
        if found is None or not found.body:
            return None
        known = self._known.get(call_id)
        if known is not None and known.body == found.body:
            return replace(known, call=found.call, expires_at=found.call.expires_at)
        leg, content = _read(found.body)
        return _InInbox(call_id, caller, leg, found.call.expires_at, found.call, found.body, content)

    async def replace(self, kept: KeptLeg, leg: LegRecord, expires_at: float) -> KeptLeg | None:
        assert isinstance(kept, _InInbox)
        content = kept.content if leg.content is kept.leg.content else _write_content(leg)
        body = _write(leg, content)
        call = await self._calls.update(kept.call, body, [], expires_at)
        if call is None:
            return None
        return self._remember(_InInbox(kept.id, kept.caller, leg, expires_at, call, body, content))

    def _remember(self, kept: _InInbox) -> _InInbox:
        """Spare this process reading what it has written, unless that is large."""
        if len(kept.body) > _MAX_SIZE_REMEMBERED:
            self._known.pop(kept.id, None)
            return kept
        self._known[kept.id] = kept
        self._known.move_to_end(kept.id)
        if len(self._known) > _MAX_REMEMBERED:
            self._known.popitem(last=False)
        return kept


def _write_content(leg: LegRecord) -> str:
    content = "" if leg.content is None else _content().dump_json(leg.content).decode()
    if len(content) > 2 * MAX_SNAPSHOT:  # the requests are stored as they were sent and as they are shown
        raise CallError(f"The requests of the server take more than {MAX_SNAPSHOT} characters. {REPORT}")
    return content


def _size_of(leg: LegRecord) -> int:
    result = "" if leg.outcome is None else leg.outcome.result or ""
    return len(_write_content(leg)) + len(result)


def _write(leg: LegRecord, content: str) -> str:
    """Return *leg* as a line of JSON, and its content in the next one: it is written once."""
    return f"{_record().dump_json(replace(leg, content=None)).decode()}\n{content}"


def _read(body: str) -> tuple[LegRecord, str]:
    """Return the leg in *body*, and its content as JSON."""
    record, _, content = body.partition("\n")
    try:
        leg = _record().validate_json(record)
        return replace(leg, content=_content().validate_json(content) if content else None), content
    except ValueError:
        raise InboxError("A stored call of the relay cannot be read.") from None


@cache
def _record() -> TypeAdapter[LegRecord]:
    return TypeAdapter(LegRecord)


@cache
def _content() -> TypeAdapter[LegContent]:
    return TypeAdapter(LegContent)
