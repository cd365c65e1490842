"""What an inbox needs of a place to keep questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from mcp_elicit_client.inbox.entries import State

if TYPE_CHECKING:
    from mcp_elicit_client.inbox.local import Bell, Mailbox

LEASE = 30.0
"""How long a process that gives no sign of life counts as alive, in seconds."""

HISTORY = 200
"""How many questions that no longer wait are kept for each owner."""

KEEP = 7 * 86_400.0
"""How long they are kept, in seconds."""

Clock: TypeAlias = Callable[[], float]
"""Seconds since 1970, as `time.time` counts them."""


@dataclass(frozen=True, slots=True)
class Settlement:
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
    who: str
    when: float
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
    """

    id: str
    owner: str
    request: str
    created: float
    expires: float
    place: int = 0
    changed: int = 0
    settlement: Settlement | None = None


class Store(Protocol):
    """
    Keeps questions, and settles each exactly once.

    A question that has expired, or whose process gives no sign of life, is
    settled as that before anything is told of it.  Whatever goes wrong is an
    `InboxError`.

    Attributes:
        clock: What time it is.
    """

    clock: Clock

    def open(self, entry_id: str) -> Mailbox:
        """Begin to wait for a question of this process; call it before `put`."""
        ...

    def close(self, entry_id: str) -> None:
        """Wait for it no more."""
        ...

    def bell(self, owner: str) -> AbstractContextManager[Bell]:
        """Have a bell that rings when something of *owner*'s may have changed."""
        ...

    async def put(self, record: Record) -> None:
        """Keep a new question of this process, and keep it alive as long as it is waited for."""
        ...

    async def get(self, owner: str, entry_id: str) -> Record | None:
        """Return one question of *owner*; None if there is none."""
        ...

    async def waiting(self, owner: str, limit: int, after: int) -> Sequence[Record]:
        """Return the first *limit* questions of *owner* that wait, past the place *after*."""
        ...

    async def history(self, owner: str, limit: int, before: int | None) -> Sequence[Record]:
        """Return the last *limit* questions of *owner* that no longer wait, changed before *before*, last first."""
        ...

    async def changes(self, owner: str, since: int) -> Sequence[Record]:
        """Return the questions of *owner* that have changed after *since*, in that order, some at a time."""
        ...

    async def position(self) -> int:
        """Return where the last of all changes stands."""
        ...

    async def settle(self, owner: str, entry_id: str, settlement: Settlement, token: str) -> State | None:
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

    async def wipe(self, entry_id: str) -> None:
        """Forget the answer of a question of this process: it was delivered, or nobody waits for it."""
        ...

    async def aclose(self) -> None:
        """Let go of files and connections."""
        ...
