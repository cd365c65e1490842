"""Helpers for callbacks: defaults, validation, and the SDK's results."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.answer import Answer, check_answer, invalid_answer, reason_for_log
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import FormRequest, Request, limits_of, user_and_server_of
from mcp_elicit_client.core.validation.content import (
    ValidationResult,
    drop_nulls,
    drop_unknown,
    validate_content,
    validate_without_patterns,
)
from mcp_elicit_client.core.validation.field_errors import AnswerError, join_errors
from mcp_elicit_client.core.validation.patterns import settle_defaults
from mcp_elicit_client.exceptions import RequestError

if TYPE_CHECKING:
    from mcp.types import ElicitResult

_logger = logging.getLogger("mcp_elicit_client")


def get_defaults(params: object) -> dict[str, Any]:
    """
    Return the valid defaults of a form (SEP-1034).

    ``False``, ``0``, ``""`` and ``[]`` are defaults.  A default is used only
    if it is valid: ``""`` is ignored for ``format: email``.

    Args:
        params: The params of an elicitation as a callback gets them, from
            any SDK version; or the dictionary on the wire; or a request.

    Returns:
        The values to send, by field name; only fields that have a default.
        Empty for a URL request.

    Raises:
        RequestError: If *params* cannot be answered.

    Examples:
        >>> get_defaults({"message": "?", "requestedSchema": {"properties": {
        ...     "size": {"type": "integer", "default": 0}, "color": {"type": "string"}}}})
        {'size': 0}
    """
    request = parse_request(params)
    if not isinstance(request, FormRequest):
        return {}
    form, _ = settle_defaults(request.form, user_and_server_of(request))
    return {
        field.name: list(field.default) if isinstance(field.default, tuple) else field.default
        for field in form.fields
        if field.default is not None
    }


def apply_defaults(params: object, partial: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """
    Return *partial* with the defaults of the fields that it lacks.

    Values of *partial* win, also falsy ones.  Nothing is validated: see
    `validate`.

    Raises:
        RequestError: If *params* cannot be answered.
        TypeError: If *partial* is not a mapping.
    """
    check_type("partial", partial, Mapping, type(None))
    return {**get_defaults(params), **(partial or {})}


def validate(params: object, content: object) -> ValidationResult:
    """
    Check *content* against the form that requested it.

    Args:
        params: As in `get_defaults`.
        content: The values by field name.

    Returns:
        All errors at once.  The result is true if *content* may be sent.

    Raises:
        RequestError: If *params* is not a form that can be answered.

    Examples:
        >>> form = {"message": "?", "requestedSchema": {"properties": {"age": {"type": "integer", "minimum": 18}}}}
        >>> [error.code for error in validate(form, {"age": 12}).errors]
        ['minimum']
    """
    request = parse_request(params)
    if not isinstance(request, FormRequest):
        raise RequestError("A URL request has no form. Call this only for requests in form mode.")
    return validate_content(request.form, content, limits_of(request), user_and_server_of(request))


def accept(content: Mapping[str, Any] | None = None, *, request: object = None) -> ElicitResult:
    """
    Return the result of a callback whose user accepted.

    Args:
        content: The values by field name; None for a URL.
        request: The params that the callback got.  Keys that the form did not
            request are omitted, and content that does not fit the form is
            logged and cancelled.  Without it, *content* is sent as it is.

    Raises:
        AnswerError: If *request* is missing and a value cannot be sent.
        RequestError: If *request* cannot be answered.
    """
    if request is not None:
        parsed = parse_request(request)
        return _checked_result(parsed, _accept_requested(parsed, {} if content is None else content))
    if content is None:
        return _result(Answer.accept(by="host"))
    sendable = validate_without_patterns(Form(), content)
    if not sendable:
        raise AnswerError(f"the content cannot be sent: {join_errors(sendable.errors)}", sendable.errors)
    return _result(Answer.accept(content, by="host"))


def decline(reason: str | None = None) -> ElicitResult:  # noqa: ARG001
    """
    Return the result of a callback whose user declined.

    If no one was asked, use `cancel`: servers take a decline for a decision
    of the user.  *reason* documents your code; it is not sent.
    """
    return _result(Answer.decline(by="host"))


def cancel(reason: str | None = None) -> ElicitResult:  # noqa: ARG001
    """
    Return the result of a callback whose user dismissed the request, or was not asked.

    *reason* documents your code; it is not sent.
    """
    return _result(Answer.cancel(by="host"))


reject = decline
"""Another name of `decline`."""


def accept_with_defaults(params: object, partial: Mapping[str, Any] | None = None) -> ElicitResult:
    """
    Return the result of a callback that accepts the defaults of a form.

    The result is a cancel, which is logged, for a URL, for a form whose
    defaults do not complete it, and for a confirmation: only a user can
    confirm.

    Args:
        params: As in `get_defaults`.
        partial: Values that win over the defaults.

    Raises:
        RequestError: If *params* cannot be answered.
    """
    request = parse_request(params)
    return _checked_result(request, default_answer(request, partial))


def default_answer(request: Request, partial: Mapping[str, Any] | None = None) -> Answer:
    """Return the accept of a form with its defaults and *partial*, which wins; or a cancel that says why not."""
    if not isinstance(request, FormRequest):
        return Answer.cancel(by="unattended", reason="only a user can consent to a URL")
    content = drop_nulls(request.form, drop_unknown(request.form, apply_defaults(request, partial)))
    validation = validate_without_patterns(request.form, content, limits_of(request))
    if not validation:
        reason = f"the default values do not complete the form: {join_errors(validation.errors)}"
        return Answer.cancel(by="unattended", reason=reason)
    if not content:
        return Answer.cancel(by="unattended", reason="the form has no defaults: only a user can confirm it")
    sources = {name: "host" if name in (partial or {}) else "default" for name in content}
    return Answer.accept(content, by="default", sources=sources)  # type: ignore[arg-type]


def _accept_requested(request: Request, content: object) -> Answer:
    """Return the accept of those values that *request* asks for; a cancel if they do not fit."""
    if not isinstance(request, FormRequest):
        return Answer.accept(by="host")
    requested = drop_unknown(request.form, content) if isinstance(content, Mapping) else None
    validation = validate_without_patterns(request.form, requested, limits_of(request))
    if not validation:
        return invalid_answer(validation.errors, "the answer does not fit the form")
    return Answer.accept(requested, by="host")


def _checked_result(request: Request, answer: Answer) -> ElicitResult:
    checked = check_answer(request, answer)
    if checked.action == "cancel":
        _logger.warning("a request was cancelled: %s", reason_for_log(checked))
    return _result(checked)


def _result(answer: Answer) -> ElicitResult:
    from mcp.types import ElicitResult

    return ElicitResult.model_validate(answer.to_wire())
