"""What can go wrong with an inbox."""

from __future__ import annotations

from mcp_elicit_client.exceptions import ElicitationError
from mcp_elicit_client.inbox.entries import State


class InboxError(ElicitationError):
    """A store that cannot be used: locked, full, corrupt, away, or sealed with another key."""


class EntryNotFoundError(ElicitationError, LookupError):
    """No such question, or one of another owner: which of the two is not told."""

    def __init__(self) -> None:
        super().__init__("there is no such question")


class EntryClosedError(ElicitationError):
    """
    A question that no longer waits.

    Attributes:
        state: What became of it.
    """

    def __init__(self, state: State) -> None:
        super().__init__(f"the question no longer waits: it is {state}")
        self.state = state
