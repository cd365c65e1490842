"""What an inbox needs of a place to keep questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from mcp_elicit_client.exceptions import State

if TYPE_CHECKING:
    from mcp_elicit_client.inbox.waiters import AnswerWaiter, ChangeNotifier

LEASE = 30.0
"""How long a process that gives no sign of life counts as alive, in seconds."""

MAX_HISTORY = 200
"""How many questions that no longer wait are kept for each owner."""

HISTORY_TTL = 7 * 86_400.0
"""How long they are kept, in seconds."""

REMEMBERED = 3_600.0
"""How long it is known of a parked call what became of it, in seconds after it has expired."""

Clock: TypeAlias = Callable[[], float]
"""Seconds since 1970, as `time.time` counts them."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """
    What became of a question.

    Attributes:
        state: Any but waiting.
        who: Who brought it about.
        when: When, in seconds since 1970.
        action: What the answer was; empty without one.
        answer: The answer, sealed; None without one, and once it is delivered.
    """

    state: State
    answered_by: str
    updated_at: float
    action: str = ""
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """
    A question as it is stored.

    Attributes:
        id: Its name.
        owner: Whose it is.
        request: The request, sealed.
        created: When it was asked, in seconds since 1970.
        expires: Until when it can be answered, the same.
        place: Where it stands among all that were asked; the store says.
        changed: Where its last change stands among all changes; the store says.
        settlement: What became of it; None while it waits.
        call: The parked call that it belongs to; empty where a process waits
            for it.
    """

    id: str
    owner: str
    request: str
    created_at: float
    expires_at: float
    sequence: int = 0
    revision: int = 0
    resolution: Resolution | None = None
    call: str = ""


CallState: TypeAlias = Literal["suspended", "resuming", "finished", "expired"]
"""
Where a parked call is: it waits to be resumed; a process is at it, or died
over it; it went on; nobody resumed it in time.
"""


@dataclass(frozen=True, slots=True)
class StoredCall:
    """
    A parked call as it is stored.

    Attributes:
        id: Its name.
        owner: Whose it is.
        body: All that is needed to resume it, sealed; empty once it is over.
        questions: The names of its questions.
        created: When it was parked, in seconds since 1970.
        expires: Until when it can be resumed, the same.
        state: Where it is.
    """

    id: str
    owner: str
    body: str
    request_ids: tuple[str, ...]
    created_at: float
    expires_at: float
    state: CallState = "suspended"


_CALL = "call:"


def lease_owner(call_id: str) -> str:
    """Name a parked call where processes have their names: it keeps its questions alive as they do."""
    return f"{_CALL}{call_id}"


def call_of(keeper: str) -> str:
    """Return the parked call that keeps a question alive; empty if it is a process."""
    return keeper.removeprefix(_CALL) if keeper.startswith(_CALL) else ""


class Store(Protocol):
    """
    Keeps questions, and settles each exactly once.

    A question that has expired, or whose process gives no sign of life, is
    settled as that before anything is told of it.  The questions of a parked
    call need no process, and keep their answers until the call is over or has
    expired.  Whatever goes wrong is an `InboxError`.

    Attributes:
        clock: What time it is.
    """

    clock: Clock

    def open(self, entry_id: str) -> AnswerWaiter:
        """Begin to wait for a question of this process; call it before `put`."""
        ...

    def close(self, entry_id: str) -> None:
        """Wait for it no more."""
        ...

    def change_notifier(self, owner: str) -> AbstractContextManager[ChangeNotifier]:
        """Have a bell that rings when something of *owner*'s may have changed."""
        ...

    async def put(self, record: Record) -> None:
        """Keep a new question of this process, and keep it alive as long as it is waited for."""
        ...

    async def get(self, owner: str, entry_id: str) -> Record | None:
        """Return one question of *owner*; None if there is none."""
        ...

    async def pending(self, owner: str, limit: int, after: int) -> Sequence[Record]:
        """Return the first *limit* questions of *owner* that wait, past the place *after*."""
        ...

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[Record]:
        """Return the last *limit* questions of *owner* that no longer wait, changed before *before*, last first."""
        ...

    async def changes(self, owner: str, since: int) -> Sequence[Record]:
        """Return the questions of *owner* that have changed after *since*, in that order, some at a time."""
        ...

    async def last_revision(self) -> int:
        """Return where the last of all changes stands."""
        ...

    async def resolve(self, owner: str, entry_id: str, settlement: Resolution, token: str) -> State | None:
        """
        Settle a question if it waits, for all to see, exactly once.

        Args:
            owner: Whose it is.
            entry_id: Which.
            settlement: What is to become of it.
            token: Names this attempt, which may be repeated where it is not
                known whether it arrived.

        Returns:
            What it was before: if that is waiting, it is settled now; if it
            is not, nothing was changed.  None if there is none.
        """
        ...

    async def erase_answer(self, entry_id: str) -> None:
        """Forget the answer of a question of this process: it was delivered, or nobody waits for it."""
        ...

    async def suspend(self, call: StoredCall, questions: Sequence[Record], token: str) -> None:
        """
        Keep a call and its questions, all or nothing.

        A call of that name is replaced, and the answers to its questions are
        forgotten: it went on, and asks again.

        Args:
            call: The call.
            questions: What it asks; each names the call.
            token: Names this attempt, as in `settle`.
        """
        ...

    async def suspended(self, owner: str, call_id: str) -> StoredCall | None:
        """Return a call of *owner*, as it is; None if there is none."""
        ...

    async def claim(self, owner: str, call_id: str, token: str) -> CallState | None:
        """
        Begin to resume a parked call, for all to see, exactly once.

        Args:
            owner: Whose it is.
            call_id: Which.
            token: Names this attempt, as in `settle`.

        Returns:
            Where it was before: if that is parked, it is resuming now; if
            not, nothing was changed.  None if there is none.
        """
        ...

    async def release(self, call_id: str, token: str) -> None:
        """Park a call again that was claimed with *token*, if it was: the server has seen nothing of it."""
        ...

    async def finish(self, call_id: str) -> None:
        """Forget a call that was claimed here, and the answers to its questions: the server has seen them."""
        ...

    async def aclose(self) -> None:
        """Let go of files and connections."""
        ...
