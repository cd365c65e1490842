"""What the server suggests, as far as it fits the form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_elicit_client.core.answer import Answer, check_answer
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import FormRequest
from mcp_elicit_client.core.validation.content import (
    ValidationResult,
    drop_invalid_defaults,
    validate_content,
    validate_without_patterns,
)
from mcp_elicit_client.core.validation.field_errors import AnswerError, join_errors
from mcp_elicit_client.exceptions import RequestError

if TYPE_CHECKING:
    from mcp.types import ElicitResult


def get_defaults(params: object) -> dict[str, Any]:
    """
    Collect the defaults of a form (SEP-1034), of every kind of field.

    ``False``, ``0``, ``""`` and ``[]`` are defaults.  A default that does
    not fit its own field is none.

    Args:
        params: The params of an elicitation as a callback gets them, from
            any version of the SDK; or their wire dictionary; or a request.

    Returns:
        The value to send, by field name; only fields that have a default.
        Empty for a URL request.

    Raises:
        RequestError: If *params* is no request that could be answered.

    Examples:
        >>> get_defaults({"message": "?", "requestedSchema": {"properties": {
        ...     "size": {"type": "integer", "default": 0}, "colour": {"type": "string"}}}})
        {'size': 0}
    """
    request = parse_request(params)
    if not isinstance(request, FormRequest):
        return {}
    return {
        field.name: list(field.default) if isinstance(field.default, tuple) else field.default
        for field in drop_invalid_defaults(request).form.fields
        if field.default is not None
    }


def apply_defaults(params: object, partial: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """
    Fill the gaps of *partial* with the form's defaults.

    What *partial* holds wins, also where it is falsy.  Neither argument is
    changed, and nothing is checked: see `validate`.

    Raises:
        RequestError: If *params* is no request that could be answered.
    """
    return {**get_defaults(params), **(partial or {})}


def default_content(params: object, partial: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """
    Answer a form with its defaults and *partial*, which wins.

    Raises:
        AnswerError: If it is a URL request, to which only a person can
            agree; if a required field has neither a value nor a valid
            default; or if *partial* does not fit.
        RequestError: If *params* is no request that could be answered.
    """
    request = parse_request(params)
    if not isinstance(request, FormRequest):
        raise AnswerError("a URL cannot be accepted by default: a person must agree to open it")
    content = apply_defaults(request, partial)
    validation = validate_content(request.form, content)
    if not validation:
        raise AnswerError(
            f"the form's defaults are no answer to it: {join_errors(validation.errors)}", validation.errors
        )
    return content


def validate(params: object, content: object) -> ValidationResult:
    """
    Check *content* against the form that asked for it.

    Args:
        params: As in `get_defaults`.
        content: The answer, by field name.

    Returns:
        Every error at once.  It is true exactly if *content* may be sent.

    Raises:
        RequestError: If *params* is no form that could be answered.

    Examples:
        >>> form = {"message": "?", "requestedSchema": {"properties": {"age": {"type": "integer", "minimum": 18}}}}
        >>> [error.code for error in validate(form, {"age": 12}).errors]
        ['minimum']
    """
    request = parse_request(params)
    if not isinstance(request, FormRequest):
        raise RequestError("a URL request has no form to validate against")
    return validate_content(request.form, content)


def accept(content: Mapping[str, Any] | None = None) -> ElicitResult:
    """
    Build the result of a callback that says yes.

    Args:
        content: The values by field name; None to a URL.  Texts, numbers,
            booleans and lists of texts; never None.

    Raises:
        AnswerError: If a value is of no kind that an answer can carry.
    """
    if content is None:
        return _result(Answer.accept(by="host"))
    checked = validate_without_patterns(Form(), content)
    if not checked:
        raise AnswerError(f"no answer can carry this: {join_errors(checked.errors)}", checked.errors)
    return _result(Answer.accept(content, by="host"))


def decline(reason: str | None = None) -> ElicitResult:  # noqa: ARG001
    """
    Build the result of a callback whose user said no.

    If nobody was asked, use `cancel`: servers take a decline for a person's
    decision.  *reason* is for the reader of your code; the protocol has no
    place for it, and it is not sent.
    """
    return _result(Answer.decline(by="host"))


def cancel(reason: str | None = None) -> ElicitResult:  # noqa: ARG001
    """
    Build the result of a callback whose user dismissed the question, or was never asked.

    *reason* is for the reader of your code; it is not sent.
    """
    return _result(Answer.cancel(by="host"))


reject = decline
"""Another name of `decline`."""


def accept_with_defaults(params: object, partial: Mapping[str, Any] | None = None) -> ElicitResult:
    """
    Build the result of a callback that accepts what the server suggests.

    Args:
        params: As in `get_defaults`.
        partial: Values that win over the defaults.

    Raises:
        AnswerError: If it is a URL request, if a required field has neither
            a value nor a valid default, or if *partial* does not fit.
        RequestError: If *params* is no request that could be answered.
    """
    request = parse_request(params)
    content = default_content(request, partial)
    return _result(check_answer(request, Answer.accept(content, by="default")))


def _result(answer: Answer) -> ElicitResult:
    from mcp.types import ElicitResult

    return ElicitResult.model_validate(answer.to_wire())
