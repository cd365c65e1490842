"""
The exceptions of this package.

    ElicitationError
    ├── RequestError                       a request that cannot be answered
    │   └── UnsafeUrlError                 a URL that must not be opened
    ├── AnswerError                        an answer that is not valid
    ├── CallError                          a call that could not be completed
    │   ├── CallTimeoutError               a timeout of the server or the user has passed
    │   ├── UrlElicitationIncompleteError  a required URL elicitation was not completed
    │   ├── ResumeError                    a suspended call cannot be resumed
    │   ├── HandshakeRequiredError         the server cannot ask over this connection
    │   ├── RequestStateRejectedError      the server rejected its own state
    │   ├── TaskError                      a task of the server that has no result
    │   └── CapabilityRequiredError        the server requires a capability that is not declared
    ├── RegistrationError                  a handler that cannot be registered
    ├── PermissionsFileError               a permissions file that cannot be used
    ├── MissingExtraError                  an extra that is not installed
    ├── AuditError                         an audit log that cannot be used
    ├── SignatureError                     (in ``handlers.webhook``) a webhook message with an invalid signature
    ├── InboxError                         an inbox whose store cannot be used
    ├── EntryNotFoundError                 a request that does not exist
    └── EntryClosedError                   a request that is no longer pending
"""

from __future__ import annotations

from typing import Literal, TypeAlias

UrlRefusal: TypeAlias = Literal["insecure", "loopback", "ambiguous_host", "port", "private", "scheme", "too_long"]
"""The code of an `UnsafeUrlError`."""

State: TypeAlias = Literal["pending", "answered", "withdrawn", "expired", "orphaned"]
"""
The state of a request in an inbox.

``pending``: not answered yet.  ``answered``: a user answered.  ``withdrawn``:
the server or the host no longer needs the answer.  ``expired``: not answered
in time.  ``orphaned``: the process that asked has stopped.
"""


REPORT = "Report it to the author of the server."
"""The advice in errors that only the server can fix."""


class ElicitationError(Exception):
    """The base class of the exceptions of this package."""


class RequestError(ElicitationError):
    """
    The request is invalid or exceeds a limit, so it cannot be answered.

    The text can be sent to the server as the message of a ``-32602`` error.
    It contains nothing that the server did not send, and no raw text of the
    server.

    Attributes:
        field: The name of the invalid field, as the server spells it; None
            if the error is not in one field.
    """

    def __init__(self, reason: str, *, field: str | None = None) -> None:
        super().__init__(reason)
        self.field = field


class UnsafeUrlError(RequestError):
    """
    The URL is refused: its host is ambiguous or not allowed.

    Attributes:
        code: A stable code; ``docs/reference.md`` lists all.
    """

    def __init__(self, code: UrlRefusal, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class RegistrationError(ElicitationError, ValueError):
    """A handler cannot be registered: the route is taken, it contains the registry, or its options have no effect."""


class PermissionsFileError(ElicitationError):
    """A permissions file cannot be used: it is unreadable, malformed, or writable by other users."""


class MissingExtraError(ElicitationError, ImportError):
    """
    An extra that a part of the package requires is not installed.

    Attributes:
        extra: The extra to install.
    """

    def __init__(self, extra: str, what: str) -> None:
        super().__init__(
            f"The extra {extra!r} is required for {what}. Install it: pip install 'mcp-elicit-client[{extra}]'"
        )
        self.extra = extra


class CallError(ElicitationError):
    """
    A call could not be completed.

    The text contains nothing that the server wrote, unless it is sanitized.
    The error of the SDK, if there is one, is the ``__cause__``.
    """


class CallTimeoutError(CallError, TimeoutError):
    """
    One of the two timeouts of a call has passed.

    Attributes:
        limit: ``timeout`` is the server's limit, ``answer_timeout`` the user's.
        timeout: The maximum time of the server, in seconds; None for no limit.
        server_seconds: The time while no request was open, in seconds.
        answer_timeout: The maximum time of the user, in seconds; None for no
            limit.
        user_seconds: The time while requests were open, in seconds.
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
        who = "server" if limit == "timeout" else "user"
        super().__init__(
            f"The {who} did not answer in time: the server took {_seconds(server_seconds)} ({_limit(timeout)}), "
            f"the user {_seconds(user_seconds)} ({_limit(answer_timeout)}). Increase `{limit}`, or call again later."
        )
        self.limit = limit
        self.timeout = timeout
        self.server_seconds = server_seconds
        self.answer_timeout = answer_timeout
        self.user_seconds = user_seconds


ResumeRefusal: TypeAlias = Literal["unknown", "resuming", "finished", "expired", "server", "protocol", "unreachable"]
"""The code of a `ResumeError`."""

_RESUME_REFUSALS: dict[ResumeRefusal, str] = {
    "unknown": "This user has no suspended call with this ID. Check the ID and the user.",
    "resuming": (
        "Another process is resuming this call, or stopped while it did. In the latter case the call is lost: "
        "make it again."
    ),
    "finished": "This call was resumed already. Make the call again if its result is needed.",
    "expired": "This call was not resumed in time. Make the call again.",
    "server": "This call belongs to another server. Resume it with the Caller of that server.",
    "protocol": "Calls cannot be resumed over this connection. Connect with protocol version 2026-07-28 or later.",
    "unreachable": (
        "The server cannot be reached, or refuses calls for now. The answers are kept: resume the call later."
    ),
}


class ResumeError(CallError):
    """
    A suspended call cannot be resumed, or not by this caller.  Nothing was sent.

    Attributes:
        code: The cause.  A wrong user also gets ``unknown``.  After
            ``server``, ``protocol`` and ``unreachable`` the call is
            unchanged.
    """

    def __init__(self, code: ResumeRefusal) -> None:
        super().__init__(_RESUME_REFUSALS[code])
        self.code = code


class RequestStateRejectedError(CallError):
    """The server rejected its own ``requestState``.  Make the call again."""

    def __init__(self) -> None:
        super().__init__(
            "The server rejected its `requestState`: it has expired, or the server was restarted. Make the call again."
        )


TaskFailure: TypeAlias = Literal["expired", "cancelled", "interrupted", "limit", "invalid", "undeclared", "unsupported"]
"""The code of a `TaskError`."""

_TASK_FAILURES: dict[TaskFailure, str] = {
    "expired": "The server no longer has this task: it has expired, or the server was restarted. Make the call again.",
    "cancelled": "The task was cancelled. Make the call again if you still need its result.",
    "interrupted": "The server cannot be reached, but the task may still be running. Connect again, then resume it.",
    "limit": "The task was cancelled because the server exceeded a limit: {detail}.",
    "invalid": "The server's response about a task is invalid: {detail}. " + REPORT,
    "undeclared": "The server created a task, but this client does not declare tasks. "
    "Connect with `Caller.connect`, or pass `extensions=caller.extensions` to your own client.",
    "unsupported": "The server or the connection does not support tasks. "
    "Tasks need protocol version 2026-07-28 or later, and mcp 2.3 or later.",
}


class TaskError(CallError):
    """
    A task of the server has no result, or not yet.

    Attributes:
        code: The cause.  After ``interrupted`` the task can be resumed.
        task_id: The server's ID of the task, for `Caller.resume_task`; None
            if it has no valid one.  It may grant access to the task, so it is
            not part of the text.
    """

    def __init__(self, code: TaskFailure, detail: str = "", *, task_id: str | None = None) -> None:
        super().__init__(_TASK_FAILURES[code].format(detail=detail))
        self.code = code
        self.task_id = task_id


class CapabilityRequiredError(CallError):
    """
    The server requires capabilities that this client did not declare (``-32021``).

    Attributes:
        required: The capabilities, such as ``elicitation`` or
            ``extensions``, as the protocol names them.
    """

    def __init__(self, required: tuple[str, ...] = ()) -> None:
        names = f": {', '.join(required)}" if required else ""
        super().__init__(
            f"The server requires capabilities that this client does not declare{names}. "
            "Connect with `Caller.client`, or declare them in your own client."
        )
        self.required = required


class HandshakeRequiredError(CallError):
    """
    The server cannot ask over this connection: it uses server-initiated requests.

    Protocol versions from 2026-07-28 on do not have them.  The call is not
    repeated, because the tool has run until its request.  Connect with
    ``mode="legacy"``, or again with `Caller.connect`, and call again.
    """

    def __init__(self) -> None:
        super().__init__(
            "The server asks with `elicitation/create`, which does not exist in the protocol version of this "
            "connection (2026-07-28 or later). Connect with mode='legacy', and call again."
        )


def _limit(seconds: float | None) -> str:
    return "no limit" if seconds is None else f"limit {_seconds(seconds)}"


def _seconds(seconds: float) -> str:
    """Return *seconds* with one decimal, or to the millisecond if it is less than 1."""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{round(seconds, 3):g} s"


class AuditError(ElicitationError):
    """An audit log cannot be used: it is unsafe, not writable, or written with another key."""


class InboxError(ElicitationError):
    """The store of an inbox cannot be used: it is locked, full, corrupt, unreachable, or of another format or key."""


class EntryNotFoundError(ElicitationError, LookupError):
    """The request does not exist, or it has another owner.  Callers cannot tell which."""

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
