"""The texts of a request for an editor, which shows one message for each request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_elicit_client.core.form import Form
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import error_text, request_details, server_name, title_line
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.typing import Request, UrlRequest


def request_text(request: Request, catalog: MessageCatalog, problem: str = "") -> str:
    """
    Return the introduction of a request: text of the host, and text of the server after ``|``.

    ACP has no place for the server: the editor knows the agent only.

    Args:
        request: The request.
        catalog: The texts.
        problem: What was wrong with the last answer; may be empty.
    """
    return "\n".join(_lines(request, catalog, problem))


def _lines(request: Request, catalog: MessageCatalog, problem: str) -> Iterator[str]:
    yield title_line(request, catalog)
    if problem:
        yield problem
    for warning in request_warnings(request, catalog):
        yield warning_line(warning, catalog)
    yield catalog.text(messages.LEGEND)
    yield ""
    yield from (f"| {line}" for line in request.message.split("\n"))
    for detail in request_details(request, catalog):
        yield f"| {catalog.text(messages.LABEL, label=detail.label)} {detail.text}"


def problem_text(form: Form, errors: Sequence[FieldError], catalog: MessageCatalog) -> str:
    """Return what is wrong with an answer to *form*."""
    heading = catalog.text(messages.NEEDS_ATTENTION, count=len({each.field for each in errors}))
    return f"{heading}\n{error_text(form, errors, catalog)}"


def finished_text(request: UrlRequest, catalog: MessageCatalog) -> str:
    """Return the question whether the user has finished at the URL; to accept the form means yes."""
    domain = request.target.registrable_domain
    heading = catalog.text(messages.ASKS_TO_CONFIRM, server=server_name(request.server))
    return f"{heading}\n{catalog.text(messages.CONFIRM_WHEN_FINISHED, domain=domain)}"
