"""Calls that are put aside while their questions wait: for a host whose processes come and go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from mcp_elicit_client.inbox.inbox import Inbox

RESUME_TIMEOUT = 590.0
"""How long a parked call can be resumed, in seconds: less than the 600 s of the Python SDK's server."""

MAX_RESUME_TIMEOUT = 366 * 86_400.0
"""The longest lifetime of a parked call, in seconds."""

ANSWER_SHARE = 0.9
"""In which part of that its questions can be answered; the rest is for whoever resumes it."""


@dataclass(frozen=True, slots=True)
class SuspendOptions:
    """
    Where calls are parked, and whose they are.

    Attributes:
        inbox: Where their questions wait, and what is needed to resume them.
        owner: Whose they are: a user, a conversation.  Whoever resumes a call
            has to know it, from elsewhere than the request that names the call.
        lifetime: How long a call can be resumed, in seconds, from each time
            that it comes back with questions: less than its server takes its
            state back, which no server says.  Its questions can be answered
            for nine tenths of it, or until a policy closes them.

    Raises:
        ValueError: If there is no owner, no time, or more than a year.
    """

    inbox: Inbox
    owner: str
    resume_timeout: float = RESUME_TIMEOUT

    def __post_init__(self) -> None:
        owner: object = self.owner
        if not isinstance(owner, str) or not owner:
            raise ValueError("a parked call needs an owner")
        if not 0 < self.resume_timeout <= MAX_RESUME_TIMEOUT:
            raise ValueError("a parked call needs a lifetime of more than 0 seconds, and at most a year")


class SuspendedCall(BaseModel):
    """
    A call that waits for answers, and no process with it.

    Attributes:
        id: What `Caller.resume` takes; the same until the call is over.
        questions: The ids of its questions in the inbox.
        waiting: Those that nobody has answered yet.
        expires: Until when it can be resumed, in UTC.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    id: str
    request_ids: tuple[str, ...]
    pending_ids: tuple[str, ...]
    expires_at: datetime
