"""
What can go wrong, and whose doing it is.

::

    ElicitationError
    ├── RequestError            the server asked for something that cannot be answered
    │   └── UnsafeURLError      ... or for a URL that must not be opened
    ├── AnswerError             an answer that must not be sent
    └── RegistrationError       a handler registered where one already is
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from mcp_elicit_client.core.errors import FieldError


UrlRefusal: TypeAlias = Literal["insecure", "loopback", "not_plain", "port", "private", "scheme", "too_long"]
"""The code of an `UnsafeURLError`."""


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


class UnsafeURLError(RequestError):
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


class AnswerError(ElicitationError, ValueError):
    """
    An answer that does not fit its request, caught before it was sent.

    Attributes:
        errors: What is wrong, field by field.  Empty if it is not about one
            field.
    """

    def __init__(self, reason: str, errors: tuple[FieldError, ...] = ()) -> None:
        super().__init__(reason)
        self.errors = errors


class RegistrationError(ElicitationError, ValueError):
    """A second handler for the same place: for consent, the last must not win."""
