"""What the server suggests, as far as it fits the form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.core.errors import join_errors
from mcp_elicit_client.core.matching import validate_content, drop_invalid_defaults
from mcp_elicit_client.core.requests import FormRequest, parse_request
from mcp_elicit_client.core.validation import ValidationResult
from mcp_elicit_client.exceptions import AnswerError, RequestError


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
