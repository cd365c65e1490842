"""
AG-UI interrupts: how a request is shown as one, and which answer its resume means.

Front ends show `message` and render `responseSchema`; they know nothing of
MCP.  AG-UI has two outcomes, MCP has three actions:

- ``resolved`` accepts a form with its payload.  A form without fields and a
  URL ask for ``approved``: true accepts, false declines.
- ``cancelled`` cancels.
- ``cancelled`` with the metadata ``{"elicitation": {"action": "decline"}}``
  declines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from mcp_elicit_client.core.answer import Action
from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.inbox.records import question_data
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation import Link, Part, ServerText
from mcp_elicit_client.presentation.conversation.introduction import Introduction
from mcp_elicit_client.presentation.conversation.turns import LINES
from mcp_elicit_client.typing import FormRequest, Request, UrlRequest

APPROVED = "approved"
"""The only property of the payload for a URL and for a form without fields.  Front ends show it as two buttons."""

METADATA_KEY = "elicitation"
"""The key of the metadata of interrupts and of their resume entries."""

_GUTTER = "| "

_OPTIONS = ("block_server", "confirmed", "remember")


class Resumed(NamedTuple):
    """
    What the resume entry of an interrupt means.

    Attributes:
        action: The action of the answer.
        content: The values by field name, not validated; None without a form.
        options: What else the answer says: arguments of `Inbox.answer`.
    """

    action: Action
    content: Mapping[str, Any] | None = None
    options: Mapping[str, bool] = {}


ResumeErrorCode: TypeAlias = Literal[
    "UNKNOWN_INTERRUPT", "INCOMPLETE_RESUME", "INVALID_PAYLOAD", "INTERRUPT_EXPIRED", "ALREADY_RESUMED", "RESUME_FAILED"
]
"""The ``code`` of ``RUN_ERROR`` if a resume is refused."""


class ResumeEntryError(ValueError):
    """
    A resume that is refused.  Nothing was answered.  The text quotes nothing of it.

    Attributes:
        code: The ``code`` of ``RUN_ERROR``.
    """

    def __init__(self, message: str, code: ResumeErrorCode = "INVALID_PAYLOAD") -> None:
        super().__init__(message)
        self.code = code


def unknown_interrupt() -> ResumeEntryError:
    """Return the error for a resume that names an interrupt that is not open in its thread."""
    return ResumeEntryError("`resume` names an interrupt that is not open in this thread.", "UNKNOWN_INTERRUPT")


def check_ids(given: Sequence[str], waiting: Collection[str]) -> None:
    """
    Check that a resume answers each open interrupt exactly once, and no other.

    Args:
        given: The IDs in its entries.
        waiting: The IDs of the open interrupts of the thread.

    Raises:
        ResumeEntryError: If it does not.
    """
    if not set(given) <= set(waiting):
        raise unknown_interrupt()
    if len(given) != len(waiting) or len(set(given)) != len(given):
        raise ResumeEntryError("`resume` must have one entry for each open interrupt.", "INCOMPLETE_RESUME")


def public_question(request: Request) -> dict[str, Any]:
    """Return `question_data` without where the server runs and the name of the user: browsers receive it."""
    data = question_data(request)
    data["request"].pop("user", None)
    for name in ("origin", "transport"):
        data["request"]["server"].pop(name, None)
    return data


def interrupt_data(
    request: Request, *, problem: str = "", expires_at: datetime | None = None, catalog: MessageCatalog
) -> dict[str, Any]:
    """
    Return the members of an AG-UI interrupt that show *request*.

    Args:
        request: The request.
        problem: Why the last answer was not accepted; empty if there was
            none.
        expires_at: Until when the request can be answered.
        catalog: The texts.

    Returns:
        ``reason``, ``message`` and ``responseSchema``, and ``expiresAt`` if
        the request expires.
    """
    data = {
        "reason": _reason(request),
        "message": message_text(request, catalog, problem),
        "responseSchema": response_schema(request, catalog),
    }
    return data if expires_at is None else {**data, "expiresAt": expires_at.isoformat()}


def read_resume(request: Request, status: Literal["resolved", "cancelled"], payload: Any, metadata: Any) -> Resumed:
    """
    Return what a resume entry for *request* means.

    Args:
        request: The request that was shown.
        status: The status of the entry.
        payload: Its payload.
        metadata: Its metadata.

    Raises:
        ResumeEntryError: If it is not an answer to *request*.
    """
    extra = metadata.get(METADATA_KEY) if isinstance(metadata, Mapping) else None
    said = extra if isinstance(extra, Mapping) else {}
    options = {name: True for name in _OPTIONS if said.get(name) is True}
    if status != "resolved":
        return Resumed("decline" if said.get("action") == "decline" else "cancel", None, options)
    if isinstance(request, FormRequest) and request.form.fields:
        if not isinstance(payload, Mapping):
            raise ResumeEntryError("The payload must be an object with the values of the form.")
        return Resumed("accept", payload, options)
    approved = payload.get(APPROVED) if isinstance(payload, Mapping) else None
    if not isinstance(approved, bool):
        raise ResumeEntryError(f"The payload must be an object whose property {APPROVED!r} is true or false.")
    if not approved:
        return Resumed("decline", None, options)
    return Resumed("accept", {} if isinstance(request, FormRequest) else None, options)


def message_text(request: Request, catalog: MessageCatalog, problem: str) -> str:
    """
    Return the introduction of a request, with all warnings, as plain text.

    Each line of server text begins with ``|``.  A URL is shown whole.

    Args:
        request: The request.
        catalog: The texts.
        problem: What to show first; may be empty.
    """
    shown = request.model_copy(update={"deadline": None})  # front ends show `expiresAt` in the user's time zone
    lines = [line for part in Introduction(shown, catalog, None, LINES).begin() for line in _lines(part, catalog)]
    if isinstance(request, UrlRequest):
        lines.append(catalog.text(messages.OPEN_YOURSELF))
        lines.append(request.target.url)
    return "\n".join([problem, *lines] if problem else lines)


def response_schema(request: Request, catalog: MessageCatalog) -> dict[str, Any]:
    """Return the JSON Schema of the payload that accepts *request*."""
    if isinstance(request, FormRequest) and request.form.fields:
        return write_schema(request.form)
    return {
        "type": "object",
        "properties": {APPROVED: {"type": "boolean", "title": _approval(request, catalog)}},
        "required": [APPROVED],
    }


def _reason(request: Request) -> str:
    if isinstance(request, UrlRequest):
        return "mcp:url"
    return "input_required" if request.form.fields else "confirmation"


def _approval(request: Request, catalog: MessageCatalog) -> str:
    if not isinstance(request, UrlRequest):
        return catalog.text(messages.CHOICE_LABELS["confirm"])
    choice = messages.URL_CHOICES["done" if request.respond_after == "completion" else "open"]
    return catalog.text(choice, domain=request.target.registrable_domain)


def _lines(part: Part, catalog: MessageCatalog) -> Iterator[str]:
    match part:
        case ServerText(text, label):
            if label:
                yield catalog.text(messages.LABEL, label=label)
            yield from (_GUTTER + line for line in text.split("\n"))
        case Link(target):
            yield _GUTTER + target.as_sent
        case _:
            yield getattr(part, "text", "")
