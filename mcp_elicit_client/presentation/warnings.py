"""Warnings and notes about requests and answers: one list, which every user interface shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_elicit_client.core.diagnostics import Diagnostic, DiagnosticCode
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.typing import FormRequest, Request, Source, UrlRequest

_MAX_TEXT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestWarning:
    """
    A warning about a request or an answer, or a note of less weight.

    Attributes:
        code: The code of the diagnostic or of the URL warning.
        text: The sentence for the user, without the word "Warning".  It
            contains no text of the server except for domains.
        is_note: True for information that needs no caution.
    """

    code: str
    text: str
    is_note: bool = False


DIAGNOSTIC_WARNINGS: Mapping[DiagnosticCode, Message] = {
    "impersonation": messages.IMPERSONATION,
    "sensitive_data": messages.SENSITIVE_REQUEST,
}
"""The diagnostics that are warnings."""

DIAGNOSTIC_NOTES: Mapping[DiagnosticCode, Message] = {
    "truncated": messages.TRUNCATED,
    "options_dropped": messages.OPTIONS_DROPPED,
    "pattern_not_checked": messages.NOT_CHECKED,
    "rule_not_checked": messages.NOT_CHECKED,
}
"""The diagnostics that are notes.  The others are for developers."""


def request_warnings(request: Request, catalog: MessageCatalog) -> tuple[RequestWarning, ...]:
    """
    Return all warnings and notes about *request*, warnings first.

    They are about impersonation, sensitive data and the URL, and about texts,
    options, fields and rules that are not supported.
    """
    found = dict.fromkeys(_request_warnings(request, catalog))
    return tuple(sorted(found, key=lambda each: each.is_note))


def _request_warnings(request: Request, catalog: MessageCatalog) -> Iterator[RequestWarning]:
    for diagnostic in request.diagnostics:
        if diagnostic.code in DIAGNOSTIC_WARNINGS:
            yield RequestWarning(code=diagnostic.code, text=_warning_text(diagnostic, catalog))
    if isinstance(request, UrlRequest):
        for warning in request.target.warnings:
            yield RequestWarning(code=warning.code, text=catalog.warning(warning))
    elif request.form.unsupported_fields:
        text = catalog.text(messages.UNSUPPORTED_FIELDS, count=len(request.form.unsupported_fields))
        yield RequestWarning(code="unsupported_field", text=text, is_note=True)
    yield from _notes(request.diagnostics, catalog)


def _warning_text(diagnostic: Diagnostic, catalog: MessageCatalog) -> str:
    # Policies write English sentences with more detail than the messages that can be translated.
    if catalog.language == "en":
        return sanitize_text(diagnostic.message, limit=_MAX_TEXT, multiline=False)
    return catalog.text(DIAGNOSTIC_WARNINGS[diagnostic.code])


def _notes(diagnostics: Sequence[Diagnostic], catalog: MessageCatalog) -> Iterator[RequestWarning]:
    """Yield one note for each different sentence."""
    codes = {DIAGNOSTIC_NOTES[each.code]: each.code for each in diagnostics if each.code in DIAGNOSTIC_NOTES}
    for message, code in codes.items():
        yield RequestWarning(code=code, text=catalog.text(message), is_note=True)


def answer_warnings(
    form: Form,
    content: Mapping[str, Any],
    sources: Mapping[str, Source],
    catalog: MessageCatalog,
    unchecked: Sequence[Diagnostic] = (),
) -> tuple[RequestWarning, ...]:
    """
    Return a warning for each kind of sensitive data that the user typed, and a note about patterns.

    An answer with warnings is sent only after the user confirmed it
    (`Answer.confirmed`).  Notes need no confirmation.

    Args:
        form: The form.
        content: The values by field name.
        sources: The origin of each value.
        catalog: The texts.
        unchecked: The patterns that could not be checked
            (`ValidationResult.unchecked`).
    """
    from mcp_elicit_client.core.secrets.in_answer import typed_secrets

    kinds = dict.fromkeys(finding.kind for finding in typed_secrets(form, content, sources))
    warnings = [
        RequestWarning(code="sensitive_data", text=catalog.text(messages.SENSITIVE_ANSWERS[kind])) for kind in kinds
    ]
    return (*warnings, *_notes(unchecked, catalog))


def warnings_to_confirm(
    request: Request, content: Mapping[str, Any] | None, catalog: MessageCatalog
) -> tuple[RequestWarning, ...]:
    """Return the warnings that the user must confirm before *request* is accepted with *content*, all of it typed."""
    found = request_warnings(request, catalog)
    if isinstance(request, FormRequest) and content:
        found += answer_warnings(request.form, content, dict.fromkeys(content, "user"), catalog)
    return tuple(each for each in found if not each.is_note)


def must_confirm(warnings: Sequence[RequestWarning]) -> bool:
    """Return True if an answer with *warnings* needs a confirmation by the user."""
    return not all(warning.is_note for warning in warnings)


def warning_line(warning: RequestWarning, catalog: MessageCatalog) -> str:
    """Return the text of *warning* with the word "Warning", if it is not a note."""
    return warning.text if warning.is_note else catalog.text(messages.WARNING, message=warning.text)
