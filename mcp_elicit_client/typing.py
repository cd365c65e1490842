"""Types for handlers and policies."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from mcp_elicit_client.core.answer import Action, Answer, By, Source
from mcp_elicit_client.core.diagnostics import DiagnosticCode
from mcp_elicit_client.core.form import Field, Value
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.request import (
    BatchPosition,
    Completion,
    FormRequest,
    ProtocolVersion,
    Request,
    RespondAfter,
    UrlRequest,
)
from mcp_elicit_client.core.schema.enums import Scalar
from mcp_elicit_client.core.url.domains import UrlWarning, UrlWarningCode
from mcp_elicit_client.core.validation.field_errors import ErrorCode
from mcp_elicit_client.exceptions import ResumeRefusal, TaskFailure, UrlRefusal

if TYPE_CHECKING:
    from mcp.types import ElicitResult

__all__ = [
    "Action",
    "Answer",
    "BatchPosition",
    "By",
    "Completion",
    "Content",
    "DiagnosticCode",
    "ErrorCode",
    "Field",
    "FormHandler",
    "FormRequest",
    "Handler",
    "Message",
    "Mode",
    "Notice",
    "Policy",
    "Predicate",
    "ProtocolVersion",
    "Request",
    "RespondAfter",
    "ResumeRefusal",
    "Scalar",
    "Source",
    "TaskFailure",
    "UrlHandler",
    "UrlRefusal",
    "UrlRequest",
    "UrlWarning",
    "UrlWarningCode",
    "Value",
]

Mode: TypeAlias = Literal["form", "url"]
"""The mode of a request."""

Content: TypeAlias = Mapping[str, Any]
"""The values of an answer, by field name."""


class Handler(Protocol):
    """
    An async function, or an object with an async ``__call__``, that answers a request.

    An object may also have an async ``notify``.  It is called with a `Notice`
    of each request that a policy declined before the handler was asked, at
    most once a minute for each user and server.

    A handler for one mode only is a `FormHandler` or a `UrlHandler`.

    It may also return a result of the SDK (``ElicitResult``), as the helpers
    `accept`, `decline` and `cancel` do.
    """

    def __call__(self, request: Request, /) -> Coroutine[Any, Any, Answer | ElicitResult]:
        """
        Answer *request*.  There is no time limit.

        If this raises or returns an invalid answer, the result is a cancel.
        """
        ...


class FormHandler(Protocol):
    """A handler for requests in form mode only."""

    def __call__(self, request: FormRequest, /) -> Coroutine[Any, Any, Answer | ElicitResult]:
        """Answer *request*, as a `Handler` does."""
        ...


class UrlHandler(Protocol):
    """A handler for requests in URL mode only."""

    def __call__(self, request: UrlRequest, /) -> Coroutine[Any, Any, Answer | ElicitResult]:
        """Answer *request*, as a `Handler` does."""
        ...


Policy: TypeAlias = Callable[[Handler], Handler]
"""Takes a handler, and returns one that wraps it and may answer in its place."""

Predicate: TypeAlias = Callable[[Request], bool]
"""Returns True if a handler is for a request."""
