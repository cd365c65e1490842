"""
The whole check of an answer, patterns included.

It may wait for another process: in a thread that runs an event loop at most
0.08 s, after which a pattern counts as not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.core.errors import FieldError, field_error
from mcp_elicit_client.core.forms import Field, Form, text_of
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.patterns import Budget, Outcome, warm_up
from mcp_elicit_client.core.problems import Problem
from mcp_elicit_client.core.requests import FormRequest
from mcp_elicit_client.core.text import printable
from mcp_elicit_client.core.validation import Validation, check_content, texts_of, without_nulls

_SHOWN = 80


def check(form: Form, content: object, limits: Limits = DEFAULT_LIMITS) -> Validation:
    """Check *content* against *form*, patterns included.  Nothing is changed."""
    validation = check_content(form, content, limits)
    if not isinstance(content, Mapping) or not form.mentions_patterns:
        return validation
    wrong = {error.field for error in validation.errors}
    present = without_nulls(form, content)
    mismatched, unchecked = _match(form, {name: value for name, value in present.items() if name not in wrong})
    if not mismatched and not unchecked:
        return validation
    place = {name: at for at, name in enumerate(form.by_name)}
    errors = sorted((*validation.errors, *mismatched), key=lambda error: place.get(error.field, len(place)))
    return Validation(valid=not errors, errors=tuple(errors), unchecked=unchecked)


def check_value(field: Field, value: object, limits: Limits = DEFAULT_LIMITS) -> tuple[FieldError, ...]:
    """Check one value of one field, its pattern included."""
    return check(Form(fields=(field,)), {field.name: value}, limits).errors


def settle_defaults(request: FormRequest) -> FormRequest:
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
        Problem(code="default_dropped", message=f"its default does not fit it: {error.message}", field=error.field)
        for error in mismatched
    )
    return request.model_copy(
        update={"form": form.model_copy(update={"fields": fields}), "problems": (*request.problems, *notes)}
    )


def _match(form: Form, content: Mapping[str, Any]) -> tuple[tuple[FieldError, ...], tuple[Problem, ...]]:
    budget = Budget()
    mismatched: list[FieldError] = []
    unchecked: list[Problem] = []
    for field in form.fields:
        text = text_of(field)
        if text is None or field.name not in content:
            continue
        if text.pattern_skipped:
            unchecked.append(_unchecked(field, text.pattern_skipped))
        if text.pattern is None:
            continue
        outcomes = {budget.check(text.pattern, each) for each in texts_of(content[field.name])}
        if Outcome.NO_MATCH in outcomes:
            shown = printable(text.pattern, limit=_SHOWN, multiline=False)
            mismatched.append(field_error(field.name, "pattern", pattern=shown))
        unchecked += (_unchecked(field, outcome.value) for outcome in outcomes if not outcome.checked)
    return tuple(mismatched), tuple(unchecked)


def _unchecked(field: Field, reason: str) -> Problem:
    return Problem(code="pattern_not_checked", message=reason, field=field.name)
