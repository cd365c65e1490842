"""
Validation of an answer against its form.

Keywords are checked by the functions of ``jsonschema``, called one by one on
keywords that are rebuilt from the field, never on the server's schema.  Its
walk through a schema and its ``check_schema`` would be 98 % of the cost
(``benchmarks/validation.py``).
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from typing_extensions import assert_never

from mcp_elicit_client.core.budgets import UserAndServer
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import (
    Field,
    Form,
    NumberField,
    choices_by_key,
    keywords_of,
    list_keywords_of,
    mentions_patterns,
    texts_of,
)
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.schema.bounds import is_multiple
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.core.text import is_unicode, sanitize_text
from mcp_elicit_client.core.validation.field_errors import FieldError, error_for_keyword, field_error, format_error
from mcp_elicit_client.core.validation.formats import FORMATS
from mcp_elicit_client.core.validation.patterns import NO_USER, PatternSteps, match_patterns, run_steps


class ValidationResult(BaseModel):
    """
    The result of a validation.  Its truth value is `valid`.

    Attributes:
        valid: True if the answer may be sent.
        errors: All errors, in the order of the fields.
        unchecked: The patterns that could not be checked, with the reason.
            The server may reject the answer.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    valid: bool
    errors: tuple[FieldError, ...] = ()
    unchecked: tuple[Diagnostic, ...] = ()

    def __bool__(self) -> bool:
        return self.valid


_VALID = ValidationResult(valid=True)


def validate_content(
    form: Form, content: object, limits: Limits = DEFAULT_LIMITS, user_and_server: UserAndServer = NO_USER
) -> ValidationResult:
    """
    Check *content* against *form*, patterns included.

    Patterns are checked in another process, within the budget of
    *user_and_server*.  In a thread that runs an event loop this takes at most
    0.08 s; the remaining patterns are unchecked.
    """
    return run_steps(validation_steps(form, content, limits), user_and_server)


def validation_steps(form: Form, content: object, limits: Limits = DEFAULT_LIMITS) -> PatternSteps[ValidationResult]:
    """Check *content* against *form*, patterns included."""
    validation = validate_without_patterns(form, content, limits)
    if not isinstance(content, Mapping) or not mentions_patterns(form):
        return validation
    wrong = {error.field for error in validation.errors}
    present = drop_nulls(form, content)
    right = {name: each for name, each in present.items() if name not in wrong}
    mismatched, unchecked = yield from match_patterns(form, right)
    if not mismatched and not unchecked:
        return validation
    order = {name: number for number, name in enumerate(form.by_name)}
    errors = sorted((*validation.errors, *mismatched), key=lambda error: order.get(error.field, len(order)))
    return ValidationResult(valid=not errors, errors=tuple(errors), unchecked=unchecked)


def validate_without_patterns(form: Form, content: object, limits: Limits = DEFAULT_LIMITS) -> ValidationResult:
    """
    Check *content* against *form*, except for patterns.

    Unknown keys are errors only if the form rejects them, as for the
    server's own validator.  They are never sent.
    """
    if not isinstance(content, Mapping) or not all(isinstance(name, str) for name in content):
        return ValidationResult(valid=False, errors=(field_error("", "type", type="content"),))
    errors: list[FieldError] = []
    for field in form.fields:
        if field.name in content:
            errors += validate_field(field, content[field.name], limits)
        elif field.required:
            errors.append(field_error(field.name, "required"))
    fields = form.by_name
    if not content.keys() <= fields.keys():
        for name, value in content.items():
            if name not in fields:
                errors += _check_unknown(form, name, value, limits)
    if not errors and _is_too_large(content, limits):
        errors.append(field_error("", "too_large", max=limits.max_answer))
    return ValidationResult(valid=False, errors=tuple(errors)) if errors else _VALID


def validate_value(
    field: Field, value: object, limits: Limits = DEFAULT_LIMITS, user_and_server: UserAndServer = NO_USER
) -> tuple[FieldError, ...]:
    """Check one value of one field, its pattern included."""
    return validate_content(Form(fields=(field,)), {field.name: value}, limits, user_and_server).errors


def validate_field(field: Field, value: object, limits: Limits = DEFAULT_LIMITS) -> Sequence[FieldError]:
    """Check one value of one field, except for its pattern."""
    if value is None and field.nullable and not field.required:
        return ()
    error = _json_error(field.name, value, field, limits)
    if error is not None:
        return (error,)
    violated = _violated_keywords(field, value)
    if not violated:
        return ()
    return [_keyword_error(field, value, keyword, within=within) for keyword, within in dict.fromkeys(violated)]


def _keyword_error(field: Field, value: object, keyword: str, *, within: bool) -> FieldError:
    error = error_for_keyword(field, keyword, within=within)
    if error.code != "format":
        return error
    row = FORMATS[error.params["format"]]
    wrong = next((text for text in texts_of(value) if not row.check(text)), "")
    return format_error(field.name, error.params["format"], row.find_fault(wrong))


def drop_nulls(form: Form, content: Mapping[str, Any]) -> dict[str, Any]:
    """Drop null values of optional fields for which the server allows null.  A missing field means the same."""
    if None not in content.values():
        return dict(content)
    fields = form.by_name
    return {
        name: value
        for name, value in content.items()
        if value is not None or name not in fields or fields[name].required or not fields[name].nullable
    }


def to_json_value(field: Field, value: Any) -> Any:
    """
    Return a valid value as it is sent.

    An integer ``1.0`` becomes 1, a tuple becomes a list, and an option is
    spelled as the server spells it.
    """
    # Compared by `kind`: several times faster than `isinstance`.
    if field.kind == "choice":
        return choices_by_key(field)[json_key(value)].value
    if field.kind == "number":
        return int(value) if field.integer else value
    if field.kind == "multichoice":
        return list(value)
    if field.kind == "text" or field.kind == "boolean":  # noqa: PLR1714 -- narrows the type
        return value
    assert_never(field)


def _check_unknown(form: Form, name: str, value: object, limits: Limits) -> Iterator[FieldError]:
    error = _json_error(name, value, None, limits)
    if not is_unicode(name):
        yield field_error(sanitize_text(name, multiline=False), "not_unicode")
    elif error is not None:
        yield error
    elif name in form.unsupported_fields:
        yield field_error(name, "unsupported_field")
    elif form.rejects_unknown_fields:
        yield field_error(name, "unknown_field")


def _is_too_large(content: Mapping[str, Any], limits: Limits) -> bool:
    # JSON writes a character with six at most.  The exact size is computed only if the answer may be too large.
    estimate = 6 * len("".join(content)) + 64 * len(content)
    for value in content.values():
        if isinstance(value, str):
            estimate += 6 * len(value)
        elif isinstance(value, (list, tuple)):
            estimate += 6 * len("".join(value)) + 32 * len(value)
    return estimate > limits.max_answer and len(json.dumps(dict(content), ensure_ascii=False)) > limits.max_answer


def _json_error(name: str, value: object, field: Field | None, limits: Limits) -> FieldError | None:
    """Return the error of a value that no answer may contain."""
    if isinstance(value, str):
        return None if value.isascii() or is_unicode(value) else field_error(name, "not_unicode")
    match value:
        case None:
            return field_error(name, "null")
        case bool():
            return None
        case int():
            return _integer_error(name, value, limits)
        case float():
            if not math.isfinite(value):
                return field_error(name, "not_finite")
            is_integer = isinstance(field, NumberField) and field.integer
            return _integer_error(name, value, limits) if is_integer else None
        case list() | tuple():
            if not all(isinstance(each, str) for each in value):
                return field_error(name, "type", type="texts")
            return None if all(is_unicode(each) for each in value) else field_error(name, "not_unicode")
        case _:
            return field_error(name, "type", type="value")


def _integer_error(name: str, value: float, limits: Limits) -> FieldError | None:
    return None if abs(value) <= limits.max_integer else field_error(name, "unsafe_integer", max=limits.max_integer)


def _violated_keywords(field: Field, value: Any) -> list[tuple[str, bool]]:
    """Return the keywords of *field* that *value* violates; True marks those that one value of a list violates."""
    if field.kind == "choice":
        return [] if _is_option(choices_by_key(field), value) else [("enum", False)]
    if field.kind == "multichoice":
        violated = [(keyword, False) for keyword in _violated(list_keywords_of(field), value)]
        if isinstance(value, (list, tuple)):
            options = {"type": "string", "enum": choices_by_key(field)}
            of_items = options if field.choices else keywords_of(field)["items"]
            violated += [(keyword, True) for each in value for keyword in _violated(of_items, each)]
        return violated
    if field.kind == "text" or field.kind == "number" or field.kind == "boolean":  # noqa: PLR1714 -- narrows the type
        return [(keyword, False) for keyword in _violated(keywords_of(field), value)]
    assert_never(field)


def _violated(keywords: Mapping[str, Any], value: Any) -> list[str]:
    validator, checks = _jsonschema()
    violated: list[str] = []
    for keyword, argument in keywords.items():
        is_satisfied = _OWN_CHECKS.get(keyword)
        if is_satisfied is not None:
            if not is_satisfied(argument, value):
                violated.append(keyword)
        elif keyword in checks:
            for _ in checks[keyword](validator, argument, value, keywords) or ():
                violated.append(keyword)
                break
    return violated


class _Validator:
    """The part of a ``jsonschema`` validator that its keyword functions use."""

    def __init__(self, format_checker: Any) -> None:
        self.format_checker = format_checker

    @staticmethod
    def is_type(value: object, name: str) -> bool:
        return _has_type(name, value)


def _has_type(name: str, value: object) -> bool:
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "array": (list, tuple),
    "boolean": bool,
    "number": (int, float),
    "integer": int,
}


@cache
def _jsonschema() -> tuple[_Validator, Mapping[str, Callable[..., Any]]]:
    # Imported at first use: jsonschema takes a tenth of the time of "import mcp".
    from jsonschema import Draft202012Validator, FormatChecker

    formats = FormatChecker(formats=())
    for name, row in FORMATS.items():
        formats.checks(name)(lambda value, check=row.check: not isinstance(value, str) or check(value))
    checks = Draft202012Validator.VALIDATORS
    elsewhere = ("items", "pattern", "properties", "required", "additionalProperties")
    return _Validator(formats), {keyword: check for keyword, check in checks.items() if keyword not in elsewhere}


def _is_option(options: Any, value: object) -> bool:
    # *options* is a mapping by json_key: a lookup by hash instead of a search.
    return not isinstance(value, (list, tuple)) and json_key(value) in options


def _is_step(step: float, value: Any) -> bool:
    # Decimal: 0.3 is a multiple of 0.1.
    return not _has_type("number", value) or is_multiple(value, step)


_OWN_CHECKS: Mapping[str, Callable[[Any, Any], bool]] = {"type": _has_type, "enum": _is_option, "multipleOf": _is_step}
"""The keywords that are not checked by the functions of ``jsonschema``: return True if a value satisfies them."""
