"""
The whole check of an answer, patterns included.

It may wait for another process: in a thread that runs an event loop at most
0.08 s, after which a pattern counts as not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.core.errors import FieldError, field_error
from mcp_elicit_client.core.forms import Field, Form, text_constraints
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.patterns import TimeBudget, PatternResult, warm_up
from mcp_elicit_client.core.problems import Diagnostic
from mcp_elicit_client.core.requests import FormRequest
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation import ValidationResult, validate_without_patterns, texts_of, drop_nulls

_SHOWN = 80


def validate_content(form: Form, content: object, limits: Limits = DEFAULT_LIMITS) -> ValidationResult:
    """Check *content* against *form*, patterns included.  Nothing is changed."""
    validation = validate_without_patterns(form, content, limits)
    if not isinstance(content, Mapping) or not form.mentions_patterns:
        return validation
    wrong = {error.field for error in validation.errors}
    present = drop_nulls(form, content)
    mismatched, unchecked = _match(form, {name: value for name, value in present.items() if name not in wrong})
    if not mismatched and not unchecked:
        return validation
    place = {name: at for at, name in enumerate(form.by_name)}
    errors = sorted((*validation.errors, *mismatched), key=lambda error: place.get(error.field, len(place)))
    return ValidationResult(valid=not errors, errors=tuple(errors), unchecked=unchecked)


def validate_value(field: Field, value: object, limits: Limits = DEFAULT_LIMITS) -> tuple[FieldError, ...]:
    """Check one value of one field, its pattern included."""
    return validate_content(Form(fields=(field,)), {field.name: value}, limits).errors


def drop_invalid_defaults(request: FormRequest) -> FormRequest:
    """
    Drop and note the defaults that do not match their patterns, as parsing does with all other limits.

    Where there are patterns, the worker is started, to be there when the answer is.
    """
    form = request.form
    if not form.has_patterns:
        return request
    warm_up()
    defaults = {field.name: field.default for field in form.fields if field.default is not None}
    mismatched, _ = _match(form, defaults)
    wrong = {error.field for error in mismatched}
    if not wrong:
        return request
    fields = tuple(
        field.model_copy(update={"default": None}) if field.name in wrong else field for field in form.fields
    )
    notes = tuple(
        Diagnostic(code="default_dropped", message=f"its default does not fit it: {error.message}", field=error.field)
        for error in mismatched
    )
    return request.model_copy(
        update={"form": form.model_copy(update={"fields": fields}), "diagnostics": (*request.diagnostics, *notes)}
    )


def _match(form: Form, content: Mapping[str, Any]) -> tuple[tuple[FieldError, ...], tuple[Diagnostic, ...]]:
    budget = TimeBudget()
    mismatched: list[FieldError] = []
    unchecked: list[Diagnostic] = []
    for field in form.fields:
        text = text_constraints(field)
        if text is None or field.name not in content:
            continue
        if text.pattern_skipped:
            unchecked.append(_unchecked(field, text.pattern_skipped))
        if text.pattern is None:
            continue
        outcomes = {budget.check(text.pattern, each) for each in texts_of(content[field.name])}
        if PatternResult.NO_MATCH in outcomes:
            shown = sanitize_text(text.pattern, limit=_SHOWN, multiline=False)
            mismatched.append(field_error(field.name, "pattern", pattern=shown))
        unchecked += (_unchecked(field, outcome.value) for outcome in outcomes if not outcome.checked)
    return tuple(mismatched), tuple(unchecked)


def _unchecked(field: Field, reason: str) -> Diagnostic:
    return Diagnostic(code="pattern_not_checked", message=reason, field=field.name)
