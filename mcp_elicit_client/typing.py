"""The vocabulary of handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from mcp_elicit_client.core.answer import Action, Answer, By, Source
from mcp_elicit_client.core.diagnostics import DiagnosticCode
from mcp_elicit_client.core.form import Field, Value
from mcp_elicit_client.core.messages import Message, Translate
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
from mcp_elicit_client.core.secrets.data_loader import SecretFinding
from mcp_elicit_client.core.url.domains import UrlWarning
from mcp_elicit_client.core.validation.field_errors import ErrorCode

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
    "FormRequest",
    "Handler",
    "Message",
    "Mode",
    "Policy",
    "Predicate",
    "ProtocolVersion",
    "Request",
    "RespondAfter",
    "Scalar",
    "SecretFinding",
    "Source",
    "Translate",
    "UrlRequest",
    "UrlWarning",
    "Value",
]

Mode: TypeAlias = Literal["form", "url"]
"""How a server asks."""

Content: TypeAlias = Mapping[str, Any]
"""The values of an answer, by field name."""


class Handler(Protocol):
    """
    Anything that answers a request: an ``async def``, or an object with an async ``__call__``.

    A result of the SDK (``ElicitResult``) is taken for an `Answer` too, so
    that the helpers `accept`, `decline` and `cancel` serve in handlers.
    """

    async def __call__(self, request: Any, /) -> Answer | ElicitResult:
        """
        Answer *request*, however long the user takes.

        Whatever is returned that is no answer, and whatever is raised, is a
        cancel: silence is never consent.
        """
        ...


Policy: TypeAlias = Callable[[Handler], Handler]
"""Takes a handler, returns one that asks it only if a rule allows."""

Predicate: TypeAlias = Callable[[Request], bool]
"""Whether a handler is for a request."""
