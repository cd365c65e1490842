"""
Does an answer fit its form?  All errors at once, in words for people.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import ChoiceField, Field, Form, NumberField, text_constraints
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.request import FormRequest
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.core.text import is_unicode, sanitize_text
from mcp_elicit_client.core.validation.field_errors import FieldError, error_for_keyword, field_error
from mcp_elicit_client.core.validation.keywords import violated_keywords
from mcp_elicit_client.core.validation.patterns import PatternResult, TimeBudget, warm_up


class ValidationResult(BaseModel):
    """
    Whether an answer fits its form.  Its truth is `valid`.

    Attributes:
        valid: Whether it may be sent.
        errors: Everything that is wrong, in the order of the fields.
        unchecked: Patterns that were not checked here, so that only the
            server knows, and why.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    valid: bool
    errors: tuple[FieldError, ...] = ()
    unchecked: tuple[Diagnostic, ...] = ()

    def __bool__(self) -> bool:
        return self.valid


def validate_without_patterns(form: Form, content: object, limits: Limits = DEFAULT_LIMITS) -> ValidationResult:
    """
    Check *content* against *form*, patterns aside.  Nothing is changed.

    Keys that the form does not have pass unless the form is closed, as
    every server's validator sees it; they are never sent.
    """
    if not isinstance(content, Mapping) or not all(isinstance(name, str) for name in content):
        return ValidationResult(valid=False, errors=(field_error("", "type", kind="a set of fields"),))
    errors: list[FieldError] = []
    for field in form.fields:
        if field.name in content:
            errors += validate_field(field, content[field.name], limits)
        elif field.required:
            errors.append(field_error(field.name, "required"))
    fields = form.by_name
    for name, value in content.items():
        if name not in fields:
            errors += _check_other(form, name, value, limits)
    if not errors and _is_too_large(content, limits):
        errors.append(field_error("", "too_large", answer=limits.max_answer))
    return ValidationResult(valid=not errors, errors=tuple(errors))


def validate_field(field: Field, value: object, limits: Limits = DEFAULT_LIMITS) -> Sequence[FieldError]:
    """Check one value of one field, its pattern aside."""
    if value is None and field.nullable and not field.required:
        return ()
    error = _unsendable(field.name, value, field, limits)
    if error is not None:
        return (error,)
    broken = violated_keywords(field, value)
    return (
        [error_for_keyword(field, keyword, within=within) for keyword, within in dict.fromkeys(broken)]
        if broken
        else ()
    )


def _check_other(form: Form, name: str, value: object, limits: Limits) -> Iterator[FieldError]:
    error = _unsendable(name, value, None, limits)
    if not is_unicode(name):
        yield field_error(sanitize_text(name, multiline=False), "not_unicode")
    elif error is not None:
        yield error
    elif name in form.unsupported_fields:
        yield field_error(name, "unsupported_field")
    elif form.rejects_unknown_fields:
        yield field_error(name, "unknown_field")


def _is_too_large(content: Mapping[str, Any], limits: Limits) -> bool:
    # JSON spells a character in six at most; only an answer that might be too large is spelled out.
    texts = [*content, *(each for value in content.values() for each in texts_of(value))]
    roughly = sum(map(len, texts)) * 6 + 32 * (len(content) + len(texts))
    return roughly > limits.max_answer and len(json.dumps(dict(content), ensure_ascii=False)) > limits.max_answer


def texts_of(value: object) -> Iterable[str]:
    """Return the texts in a value of an answer."""
    return (value,) if isinstance(value, str) else value if isinstance(value, (list, tuple)) else ()


def drop_nulls(form: Form, content: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is null where the server allows that, and a missing answer too: it says the same."""
    fields = form.by_name
    return {
        name: value
        for name, value in content.items()
        if value is not None or name not in fields or fields[name].required or not fields[name].nullable
    }


def to_json_value(field: Field, value: Any) -> Any:
    """
    Spell a valid value as it is sent: 1.0 of an integer is 1, a tuple a list.

    An option is spelled as the server spells it.
    """
    if isinstance(field, ChoiceField):
        return field.by_key[json_key(value)].value
    if isinstance(field, NumberField) and field.integer:
        return int(value)
    return list(value) if isinstance(value, (list, tuple)) else value


def _unsendable(name: str, value: object, field: Field | None, limits: Limits) -> FieldError | None:
    """Find what no answer can carry, whatever the form."""
    if isinstance(value, str):
        return None if is_unicode(value) else field_error(name, "not_unicode")
    match value:
        case None:
            return field_error(name, "null")
        case bool():
            return None
        case int():
            return None if abs(value) <= limits.max_integer else field_error(name, "unsafe_integer")
        case float():
            if not math.isfinite(value):
                return field_error(name, "not_finite")
            sent_as_integer = isinstance(field, NumberField) and field.integer
            return field_error(name, "unsafe_integer") if sent_as_integer and abs(value) > limits.max_integer else None
        case list() | tuple():
            if not all(isinstance(each, str) for each in value):
                return field_error(name, "type", kind="a list of texts")
            return None if all(is_unicode(each) for each in value) else field_error(name, "not_unicode")
        case _:
            return field_error(name, "type", kind="a text, a number, yes or no, or a list of texts")


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
