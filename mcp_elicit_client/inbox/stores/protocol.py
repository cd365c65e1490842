"""The protocols that a store implements: `RequestStore`, `CallStore` and `DraftStore`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mcp_elicit_client.exceptions import State
from mcp_elicit_client.inbox.stores.models import CallState, Clock, Resolution, StoredCall, StoredRequest
from mcp_elicit_client.inbox.waiters import WaiterRegistry


class RequestStore(Protocol):
    """
    Stores requests and closes each exactly once.

    A request that has expired, or whose process no longer renews its lease,
    is closed before the store returns anything about it.  Every method
    raises `InboxError` if the store cannot be used.

    Attributes:
        clock: Returns the current time.
    """

    clock: Clock

    @property
    def waiters(self) -> WaiterRegistry:
        """The tasks of this process that wait for answers or changes, in the running event loop if that matters."""
        ...

    async def put(self, request: StoredRequest) -> None:
        """Store a new request of this process, and renew its lease as long as a task waits for the answer."""
        ...

    async def get(self, owner: str, entry_id: str) -> StoredRequest | None:
        """Return one request of *owner*; None if there is no such request."""
        ...

    async def pending(self, owner: str, limit: int, after: int) -> Sequence[StoredRequest]:
        """Return the first *limit* pending requests of *owner* with a sequence above *after*."""
        ...

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[StoredRequest]:
        """Return the last *limit* closed requests of *owner* with a revision below *before*, latest first."""
        ...

    async def changes(self, owner: str, since: int) -> Sequence[StoredRequest]:
        """Return the next requests of *owner* with a revision above *since*, in the order of their revisions."""
        ...

    async def last_revision(self) -> int:
        """Return the revision of the last change."""
        ...

    async def resolve(self, owner: str, entry_id: str, resolution: Resolution) -> State | None:
        """
        Close a pending request, exactly once for all processes.

        Args:
            owner: The owner of the request.
            entry_id: The ID of the request.
            resolution: How to close it.

        Returns:
            The state before: if that is ``pending``, the request is closed
            now, otherwise nothing was changed.  None if there is no such
            request.
        """
        ...

    async def extend(self, owner: str, entry_id: str, expires_at: float) -> State | None:
        """
        Let a pending request expire at *expires_at*; it never expires earlier than before.

        Returns:
            The state of the request: if that is not ``pending``, nothing was
            changed.  None if there is no such request.
        """
        ...

    async def leave(self, request: StoredRequest, resolution: Resolution | None) -> None:
        """
        Leave a request that no task of this process waits for any more: erase its answer.

        The task may be cancelled, so this finishes nevertheless, but soon.
        What has to wait for other processes is done later.

        Args:
            request: The request.
            resolution: How to close it, unless it is closed; None if the
                answer was delivered.
        """
        ...

    async def aclose(self) -> None:
        """Close files and connections."""
        ...


class CallStore(Protocol):
    """
    Stores suspended calls and lets one process at a time resume each.

    The requests of a suspended call need no process.  Their answers are kept
    until the call is finished or has expired.  Every method raises
    `InboxError` if the store cannot be used.
    """

    async def suspend(self, call: StoredCall, requests: Sequence[StoredRequest]) -> None:
        """
        Store a call and its requests, all or nothing.

        A stored call with the same ID is replaced, and the answers to its
        requests are erased.

        Args:
            call: The call.
            requests: Its requests; each has the ID of the call.
        """
        ...

    async def update(self, call: StoredCall, requests: Sequence[StoredRequest], old_body: str) -> bool:
        """
        Replace a suspended call and add requests to it, all or nothing.  Answers are kept.

        Args:
            call: The call.
            requests: Its new requests; each has the ID of the call.
            old_body: The body that the call must still have.

        Returns:
            False if another process was first, or the call is no longer
            suspended.  Nothing was changed then.
        """
        ...

    async def erase_answers(self, call_id: str) -> None:
        """Erase the answers to the requests of a call: the server has them, and the call stays suspended."""
        ...

    async def get_call(self, owner: str, call_id: str) -> StoredCall | None:
        """Return a call of *owner*; None if there is no such call."""
        ...

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        """
        Claim a suspended call in order to resume it, exactly once for all processes.

        Args:
            owner: The owner of the call.
            call_id: The ID of the call.
            token: Identifies the claim.

        Returns:
            The state before: if that is ``suspended``, the call is claimed
            now, otherwise nothing was changed.  None if there is no such
            call.
        """
        ...

    async def release(self, call_id: str, token: str) -> None:
        """Suspend a call again that was claimed with *token*, unless it has expired: nothing was sent to the server."""
        ...

    async def finish(self, call_id: str) -> None:
        """Erase a claimed call and the answers to its requests, which the server has; withdraw those still pending."""
        ...


class DraftStore(Protocol):
    """
    Stores drafts: what a user has entered so far.

    Every method raises `InboxError` if the store cannot be used.
    """

    async def save_draft(self, owner: str, key: str, draft: str, expires_at: float) -> None:
        """Store a draft of *owner* under *key* until *expires_at*; an empty one deletes it."""
        ...

    async def get_draft(self, owner: str, key: str) -> str:
        """Return the draft of *owner* under *key*; empty without a draft."""
        ...


class Store(RequestStore, CallStore, DraftStore, Protocol):
    """A place for requests, suspended calls and drafts."""
