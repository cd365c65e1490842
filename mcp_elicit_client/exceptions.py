"""
What can go wrong, and whose doing it is.

    ElicitationError
    ├── RequestError            the server asked for something that cannot be answered
    │   └── UnsafeURLError      ... or for a URL that must not be opened
    ├── AnswerError             an answer that must not be sent
    ├── CallError               a call that could not be brought to its end
    │   ├── CallTimeoutError    ... since one of its two clocks ran out
    │   ├── VisitRequiredError  ... since the server wants a URL visited, and it was not
    │   ├── ParkedError         ... since it was parked, and cannot be resumed, or not here
    │   └── StaleStateError     ... since the server no longer knows its own state
    ├── PermissionsFileError    a file of permissions that cannot be trusted or read
    ├── MissingExtraError       a part that is not installed
    ├── AuditError              (in ``audit``) a log that cannot be written or trusted
    ├── SignatureError          (in ``handlers.remote``) a message that nobody with the secret sent
    ├── InboxError              (in ``inbox``) a store that cannot be used
    └── RegistrationError       a handler registered where one already is
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    pass

UrlRefusal: TypeAlias = Literal["insecure", "loopback", "ambiguous_host", "port", "private", "scheme", "too_long"]
"""The code of an `UnsafeURLError`."""


State: TypeAlias = Literal["pending", "answered", "withdrawn", "expired", "orphaned"]
"""
The state of a request in an inbox: not answered yet; answered; the server or
the host no longer needs the answer; not answered in time; the process that
asked has stopped.
"""


class ElicitationError(Exception):
    """The root of everything that this package raises on purpose."""


class RequestError(ElicitationError):
    """
    A request that nobody could answer, or that is not a request at all.

    The text is fit to be sent to the server as the message of a ``-32602``
    error: it tells the server nothing that the server did not send, and
    quotes nothing of it raw.

    Attributes:
        field: The name of the field at fault, as the server spells it; None
            if the fault is not in one field.
    """

    def __init__(self, reason: str, *, field: str | None = None) -> None:
        super().__init__(reason)
        self.field = field


class UnsafeUrlError(RequestError):
    """
    A URL that is not opened: its host is in doubt, or out of bounds.

    Attributes:
        url: The URL as the server sent it.  Not fit to be shown raw.
        code: Why, as one stable word; ``docs/reference.md`` says what each means.
    """

    def __init__(self, url: str, code: UrlRefusal, reason: str) -> None:
        super().__init__(reason)
        self.url = url
        self.code = code


class RegistrationError(ElicitationError, ValueError):
    """A second handler for the same place: for consent, the last must not win."""


class PermissionsFileError(ElicitationError):
    """A file of permissions that cannot be read, or that others could have written."""


class MissingExtraError(ElicitationError, ImportError):
    """
    An optional part is used and not installed.

    Attributes:
        extra: The extra of this package that brings it.
    """

    def __init__(self, extra: str, what: str) -> None:
        super().__init__(f"{what} needs more: pip install 'mcp-elicit-client[{extra}]'")
        self.extra = extra


class CallError(ElicitationError):
    """
    A call that asks questions, and could not be brought to its end.

    The text quotes nothing of the server raw.  What the SDK raised, if
    anything, is the ``__cause__``.
    """


class CallTimeoutError(CallError, TimeoutError):
    """
    One of the two clocks of a call ran out.

    Attributes:
        clock: Which: ``timeout`` is the server's, ``patience`` the user's.
        timeout: How long the server had, in seconds; None for ever.
        waited: How long it took, in seconds, while no question was open.
        answer_timeout: How long the user had, in seconds; None for ever.
        thought: How long questions were open, in seconds.
    """

    def __init__(
        self,
        limit: Literal["timeout", "answer_timeout"],
        *,
        timeout: float | None,
        server_seconds: float,
        answer_timeout: float | None,
        user_seconds: float,
    ) -> None:
        late = "the server did not answer in time" if limit == "timeout" else "the user was not done in time"
        super().__init__(
            f"{late}: the server took {server_seconds:.1f} s of {_seconds(timeout)}, "
            f"the user {user_seconds:.1f} s of {_seconds(answer_timeout)}"
        )
        self.limit = limit
        self.timeout = timeout
        self.server_seconds = server_seconds
        self.answer_timeout = answer_timeout
        self.user_seconds = user_seconds


ResumeRefusal: TypeAlias = Literal["unknown", "resuming", "finished", "expired", "server", "protocol"]
"""The code of a `ParkedError`."""

_PARKED: dict[ResumeRefusal, str] = {
    "unknown": "there is no such parked call",
    "resuming": "the parked call is being resumed by somebody else, or whoever did has died over it",
    "finished": "the parked call was resumed already",
    "expired": "the parked call was not resumed in time",
    "server": "the parked call is one of another server",
    "protocol": "this connection speaks a protocol revision in which no call can be resumed",
}


class ResumeError(CallError):
    """
    A parked call that cannot be resumed, or not here.  Nothing was sent.

    Attributes:
        code: Why, as one stable word.  ``unknown`` is what a wrong owner
            finds too; after ``server`` and ``protocol`` the call is as it was.
    """

    def __init__(self, code: ResumeRefusal) -> None:
        super().__init__(_PARKED[code])
        self.code = code


class RequestStateRejectedError(CallError):
    """
    The server refuses the state that it gave out itself: it is too old, or the server was restarted.

    The call has to be made anew.
    """

    def __init__(self) -> None:
        super().__init__("the server no longer knows its own state: the answers came too late, or it was restarted")


def _seconds(limit: float | None) -> str:
    return "any time" if limit is None else f"{limit:.1f} s"


class AuditError(ElicitationError):
    """An audit log that cannot be used: unsafe, unwritable, or of another key."""


class InboxError(ElicitationError):
    """An inbox whose store cannot be used: locked, full, corrupt, unreachable, or of another format or key."""


class EntryNotFoundError(ElicitationError, LookupError):
    """A request that does not exist or has another owner.  Both look the same."""

    def __init__(self) -> None:
        super().__init__("The request was not found.")


class EntryClosedError(ElicitationError):
    """
    A request that is no longer pending.

    Attributes:
        state: Its state.
    """

    def __init__(self, state: State) -> None:
        super().__init__(f"The request is no longer pending: it is {state}.")
        self.state = state
