"""What the user of a callback under test is to do, and how the tester makes them do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

UserActionName: TypeAlias = Literal["accept", "decline", "cancel", "absent", "fail", "hang"]
"""
What a user does: sends the form or consents, says no, closes the question, is
not there at all, has an interface that fails, or thinks for ever.
"""

FAILURE_TEXT = "the interface broke at /home/ann/.secrets"
"""The text of the exception with which an interface fails whose user is to ``break`` it."""


class UnsupportedActionError(Exception):
    """The interface under test has no way for its user to do this; the text says why."""


@dataclass
class UserAction:
    """
    What the user is to do with the next question.

    Attributes:
        deed: What to do.
        content: The values to give, by field name, as JSON: what the user
            means, also where it does not fit.  Fields that are not in it stay
            untouched.
        params: The question, as it is on the wire.
        after: How long the user thinks first, in seconds.
        seen: What the user was shown, as far as the tester tells it.
    """

    action: UserActionName
    content: Mapping[str, Any]
    params: Mapping[str, Any]
    after: float = 0.0
    seen: list[str] = field(default_factory=list)

    def saw(self, text: str) -> None:
        """Tell the kit that the user is shown *text*; what is printed it sees by itself."""
        self.seen.append(text)


UserHook: TypeAlias = Callable[[UserAction], "Iterable[str | bytes] | None"]
"""
Arranges that the user fulfils a wish.  It is called before the question is
asked.  It returns the lines that the user types at standard input, or None
where it has arranged everything by itself.

Raises:
    NoWayError: If the interface has no way to do it.
"""
