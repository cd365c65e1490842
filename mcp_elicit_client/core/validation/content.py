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
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict
from typing_extensions import assert_never

from mcp_elicit_client._arguments import is_number
from mcp_elicit_client.core.budgets import UserAndServer
from mcp_elicit_client.core.deferred import build_models
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import (
    Field,
    Form,
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

    # `defer_build`: built at the first error, because it would slow down the import.
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    valid: bool
    errors: tuple[FieldError, ...] = ()
    unchecked: tuple[Diagnostic, ...] = ()

    def __bool__(self) -> bool:
        return self.valid


class _Rules(NamedTuple):
    """
    What the values of a field must satisfy.

    Reading attributes of a pydantic model again and again takes longer than
    most checks.

    Attributes:
        keywords: The JSON Schema keywords for the value, except for its pattern.
        item_keywords: Those for each value of a list.
    """

    name: str
    required: bool
    accepts_null: bool
    is_integer: bool
    keywords: Mapping[str, Any]
    item_keywords: Mapping[str, Any]


VALID: ValidationResult = ValidationResult.model_construct(valid=True)
"""The result without errors."""


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
    return validation_result(errors, unchecked)


def validate_without_patterns(form: Form, content: object, limits: Limits = DEFAULT_LIMITS) -> ValidationResult:
    """
    Check *content* against *form*, except for patterns.

    Unknown keys are errors only if the form rejects them, as for the
    server's own validator.  They are never sent.
    """
    if not isinstance(content, Mapping):
        return validation_result([field_error("", "type", type="content")])
    fields = form.by_name
    has_known_keys = content.keys() <= fields.keys()
    if not (has_known_keys or all(isinstance(name, str) for name in content)):
        return validation_result([field_error("", "type", type="content")])
    errors: list[FieldError] = []
    for field, rules in _fields_with_rules(form):
        if rules.name in content:
            errors += _validate_value(field, rules, content[rules.name], limits)
        elif rules.required:
            errors.append(field_error(rules.name, "required"))
    if not has_known_keys:
        for name, value in content.items():
            if name not in fields:
                errors += _check_unknown(form, name, value, limits)
    if not errors and is_too_large(content, limits):
        errors.append(field_error("", "too_large", max=limits.max_answer))
    return validation_result(errors) if errors else VALID


def validation_result(errors: Sequence[FieldError], unchecked: tuple[Diagnostic, ...] = ()) -> ValidationResult:
    """Return the result with *errors* and *unchecked* patterns."""
    build_models(ValidationResult)
    return ValidationResult(valid=not errors, errors=tuple(errors), unchecked=unchecked)


def validate_value(
    field: Field, value: object, limits: Limits = DEFAULT_LIMITS, user_and_server: UserAndServer = NO_USER
) -> tuple[FieldError, ...]:
    """Check one value of one field, its pattern included."""
    return validate_content(Form(fields=(field,)), {field.name: value}, limits, user_and_server).errors


def validate_field(field: Field, value: object, limits: Limits = DEFAULT_LIMITS) -> Sequence[FieldError]:
    """Check one value of one field, except for its pattern."""
    return _validate_value(field, _rules_of(field), value, limits)


def _validate_value(field: Field, rules: _Rules, value: object, limits: Limits) -> Sequence[FieldError]:
    if value is None and rules.accepts_null:
        return ()
    error = _json_error(rules.name, value, limits, is_integer=rules.is_integer)
    if error is not None:
        return (error,)
    violated = _violated(rules.keywords, value)
    within: Sequence[str] = ()
    if rules.item_keywords and isinstance(value, (list, tuple)):
        within = [keyword for each in value for keyword in _violated(rules.item_keywords, each)]
    if not (violated or within):
        return ()
    return [
        *(_keyword_error(field, value, keyword, within=False) for keyword in violated),
        *(_keyword_error(field, value, keyword, within=True) for keyword in dict.fromkeys(within)),
    ]


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


def drop_unknown(form: Form, content: Mapping[str, Any]) -> dict[str, Any]:
    """Drop values that *form* does not request: they are never sent."""
    fields = form.by_name
    return {name: value for name, value in content.items() if name in fields}


def to_json_value(field: Field, value: Any) -> Any:
    """
    Return a valid value as it is sent.

    An integer ``1.0`` becomes 1, a tuple becomes a list, and an option is
    spelled as the server spells it.
    """
    # Compared by `kind`: several times faster than `isinstance`.
    if field.kind == "text" or field.kind == "boolean":  # noqa: PLR1714 -- narrows the type
        return value
    if field.kind == "number":
        return int(value) if field.integer else value
    if field.kind == "choice":
        return choices_by_key(field)[json_key(value)].value
    if field.kind == "multichoice":
        return list(value)
    assert_never(field)


def _check_unknown(form: Form, name: str, value: object, limits: Limits) -> Iterator[FieldError]:
    error = _json_error(name, value, limits)
    if not is_unicode(name):
        yield field_error(sanitize_text(name, multiline=False), "not_unicode")
    elif error is not None:
        yield error
    elif name in form.unsupported_fields:
        yield field_error(name, "unsupported_field")
    elif form.rejects_unknown_fields:
        yield field_error(name, "unknown_field")


def is_too_large(content: Mapping[str, Any], limits: Limits) -> bool:
    """Return True if *content* is longer than an answer may be."""
    # JSON writes a character with six at most.  The exact size is computed only if the answer may be too large.
    may_be = 6 * len(repr(content)) > limits.max_answer
    return may_be and len(json.dumps(dict(content), ensure_ascii=False)) > limits.max_answer


def _json_error(name: str, value: object, limits: Limits, *, is_integer: bool = False) -> FieldError | None:
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
            return _integer_error(name, value, limits) if is_integer else None
        case list() | tuple():
            if not all(isinstance(each, str) for each in value):
                return field_error(name, "type", type="texts")
            return None if all(is_unicode(each) for each in value) else field_error(name, "not_unicode")
        case _:
            return field_error(name, "type", type="value")


def _integer_error(name: str, value: float, limits: Limits) -> FieldError | None:
    return None if abs(value) <= limits.max_integer else field_error(name, "unsafe_integer", max=limits.max_integer)


def _fields_with_rules(form: Form) -> tuple[tuple[Field, _Rules], ...]:
    # Kept with the form, as by `cached_property`.
    kept = vars(form)
    rules: tuple[tuple[Field, _Rules], ...] | None = kept.get("_rules")
    if rules is None:
        kept["_rules"] = rules = tuple((field, _rules_of(field)) for field in form.fields)
    return rules


def _rules_of(field: Field) -> _Rules:
    kept = field.__dict__  # `vars` takes twice as long
    rules: _Rules | None = kept.get("_rules")
    if rules is None:
        required = kept["required"]
        accepts_null = kept["nullable"] and not required
        is_integer = kept.get("integer", False)
        keywords, item_keywords = _keywords_to_check(field)
        kept["_rules"] = rules = _Rules(kept["name"], required, accepts_null, is_integer, keywords, item_keywords)
    return rules


def _keywords_to_check(field: Field) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the keywords for the value, and those for each value of a list.  Options are indexed."""
    if field.kind == "text" or field.kind == "number" or field.kind == "boolean":  # noqa: PLR1714 -- narrows the type
        return _without_pattern(keywords_of(field)), {}
    if field.kind == "choice":
        return {"enum": choices_by_key(field)}, {}
    if field.kind == "multichoice":
        options = {"type": "string", "enum": choices_by_key(field)}
        return list_keywords_of(field), options if field.choices else _without_pattern(keywords_of(field)["items"])
    assert_never(field)


def _without_pattern(keywords: Mapping[str, Any]) -> Mapping[str, Any]:
    if "pattern" not in keywords:
        return keywords
    return {keyword: argument for keyword, argument in keywords.items() if keyword != "pattern"}


def _violated(keywords: Mapping[str, Any], value: object) -> list[str]:
    violated: list[str] = []
    for keyword, argument in keywords.items():
        check = _CHECKS.get(keyword) or _jsonschema_check(keyword)
        if not check(argument, value):
            violated.append(keyword)
            if keyword == "type":  # the others are about this type
                break
    return violated


@cache
def _jsonschema_check(keyword: str) -> Callable[[Any, Any], bool]:
    # Imported at first use: jsonschema takes a tenth of the time of "import mcp".
    from jsonschema import Draft202012Validator

    find_errors = Draft202012Validator.VALIDATORS[keyword]
    return lambda argument, value: next(iter(find_errors(_Validator, argument, value, {})), None) is None


def _is_option(options: Mapping[tuple[str, object], object], value: object) -> bool:
    # A lookup by hash instead of a search.
    return not isinstance(value, (list, tuple)) and json_key(value) in options


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return value.is_integer() if isinstance(value, float) else isinstance(value, int) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[object], bool]] = {
    "string": _is_text,
    "array": _is_list,
    "boolean": _is_boolean,
    "number": is_number,
    "integer": _is_integer,
}


class _Validator:
    """The part of a ``jsonschema`` validator that its keyword functions use.  The type was checked before."""

    @staticmethod
    def is_type(_value: object, _name: str) -> bool:
        return True


_CHECKS: Mapping[str, Callable[[Any, Any], bool]] = {
    "type": lambda name, value: _TYPES[name](value),
    "enum": _is_option,
    "format": lambda name, value: FORMATS[name].check(value),
    "multipleOf": lambda step, value: is_multiple(value, step),  # decimal: 0.3 is a multiple of 0.1
}
"""For each keyword that jsonschema does not check: returns True if a value satisfies its argument."""
