"""What stores keep: requests with their resolutions, and suspended calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from mcp_elicit_client._arguments import check_int, check_seconds, check_sync
from mcp_elicit_client.exceptions import InboxError, State

LEASE_TTL = 30.0
"""Seconds after which a process that does not renew its lease counts as stopped."""

MAX_HISTORY = 200
"""The number of closed requests that are kept for each owner."""

HISTORY_TTL = 7 * 86_400.0
"""Seconds for which closed requests are kept."""

CALL_STATE_TTL = 3_600.0
"""Seconds for which the final state of a suspended call is kept after the call has expired."""

MAX_CHANGES = 100
"""The number of changes that a store returns at a time."""

Clock: TypeAlias = Callable[[], float]
"""Returns the seconds since 1970, as `time.time` does."""

CallState: TypeAlias = Literal["suspended", "resuming", "finished", "expired"]
"""
The state of a suspended call: it can be resumed; a process resumes it, or
stopped while it did; it was resumed; it was not resumed in time.
"""


def check_store_options(
    *, clock: object, max_history: object, history_ttl: object, lease_ttl: object = LEASE_TTL
) -> None:
    """
    Check the options that stores share.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If an option is out of range.
    """
    check_sync("clock", clock)
    check_int("max_history", max_history)
    check_seconds("history_ttl", history_ttl, allow_zero=True)
    check_seconds("lease_ttl", lease_ttl)


class Resolution(NamedTuple):
    """
    How a request was closed.

    Attributes:
        state: Any state but ``pending``.
        answered_by: Who closed it.
        updated_at: When, in seconds since 1970.
        action: The encoded action of the answer; empty if there is no answer.
        answer: The encoded answer; None if there is no answer, or if it was
            delivered.
    """

    state: State
    answered_by: str
    updated_at: float
    action: str = ""
    answer: str | None = None


class StoredRequest(NamedTuple):
    """
    A request in a store.

    Attributes:
        id: Its ID.
        owner: The user or conversation that may answer it.
        request: The encoded request.
        created_at: When it was stored, in seconds since 1970.
        expires_at: Until when it can be answered, in seconds since 1970.
        sequence: Its position among all stored requests, set by the store.
        revision: The position of its last change among all changes, set by
            the store.
        resolution: How it was closed; None while it is pending.
        call_id: The suspended call that it belongs to; empty if a process
            waits for the answer.
    """

    id: str
    owner: str
    request: str
    created_at: float
    expires_at: float
    sequence: int = 0
    revision: int = 0
    resolution: Resolution | None = None
    call_id: str = ""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> StoredRequest:
        """
        Return the request in *row*, whose keys are the names of the columns.

        Raises:
            InboxError: If *row* does not contain a request.
        """
        try:
            texts = _text(row["id"]), _text(row["owner"]), _text(row["request"])
            times = _seconds(row["created_at"]), _seconds(row["expires_at"])
            positions = int(row["sequence"]), int(row["revision"])
            return cls(*texts, *times, *positions, _resolution(row), call_of(_text(row["lease_owner"])))
        except _UNREADABLE as error:
            raise InboxError("The inbox contains a request that cannot be read.") from error


class StoredCall(NamedTuple):
    """
    A suspended call in a store.

    Attributes:
        id: Its ID.
        owner: The user or conversation that the call belongs to.
        body: What is needed to resume it, encoded; empty once it is finished
            or has expired.
        request_ids: The IDs of its requests.
        created_at: When it was suspended, in seconds since 1970.
        expires_at: Until when it can be resumed, in seconds since 1970.
        state: Its state.
    """

    id: str
    owner: str
    body: str
    request_ids: tuple[str, ...]
    created_at: float
    expires_at: float
    state: CallState = "suspended"

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> StoredCall:
        """
        Return the call in *row*, whose keys are the names of the columns.

        Raises:
            InboxError: If *row* does not contain a call.
        """
        try:
            texts = _text(row["id"]), _text(row["owner"]), _text(row["body"])
            request_ids = tuple(map(str, json.loads(row["request_ids"])))
            times = _seconds(row["created_at"]), _seconds(row["expires_at"])
            return cls(*texts, request_ids, *times, _one_of(get_args(CallState), row["state"]))
        except _UNREADABLE as error:
            raise InboxError("The inbox contains a suspended call that cannot be read.") from error


_UNREADABLE = (KeyError, ValueError, TypeError, OverflowError, OSError)
"""What the functions below raise for a row that another program wrote, or that is damaged."""


def _resolution(row: Mapping[str, Any]) -> Resolution | None:
    """Return how the request in *row* was closed; None if it is pending."""
    state = _one_of(get_args(State), row["state"])
    if state == "pending":
        return None
    answer = row.get("answer")
    return Resolution(
        state,
        _text(row["answered_by"]),
        _seconds(row["updated_at"]),
        _text(row["action"]),
        None if answer is None else _text(answer),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _seconds(value: Any) -> float:
    """Return a time in seconds since 1970 that a `datetime` can express."""
    seconds = float(value)
    datetime.fromtimestamp(seconds, timezone.utc)
    return seconds


def _one_of(states: tuple[Any, ...], value: object) -> Any:
    if value not in states:
        raise ValueError
    return value


_CALL_PREFIX = "call:"


def lease_owner(call_id: str) -> str:
    """Return the name under which a suspended call holds the lease of its requests, as a process does."""
    return f"{_CALL_PREFIX}{call_id}"


def call_of(owner_of_lease: str) -> str:
    """Return the ID of the suspended call that holds a lease; empty if a process holds it."""
    return owner_of_lease.removeprefix(_CALL_PREFIX) if owner_of_lease.startswith(_CALL_PREFIX) else ""
