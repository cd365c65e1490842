"""
Does an answer fit its form?  All errors at once, in words for people.

The validator is ``jsonschema``, on a schema that was rebuilt from the form:
it never sees the server's own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core.choices import scalar_key
from mcp_elicit_client.core.formats import CHECKS
from mcp_elicit_client.core.forms import ChoiceField, Field, Form, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.numbers import is_multiple
from mcp_elicit_client.core.problems import Problem
from mcp_elicit_client.core.text import is_unicode, printable

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class FieldError(BaseModel):
    """
    What is wrong with one field of an answer.

    Attributes:
        field: The field's name, as the server spells it; empty if it is about
            the answer as a whole.
        code: One stable word (listed in ``docs/reference.md``).
        message: A sentence for the person who answers.  It does not hold the
            value, and is safe to show.
    """

    model_config = ConfigDict(frozen=True)

    field: str
    code: str
    message: str


class Validation(BaseModel):
    """
    Whether an answer fits its form.  Its truth is `valid`.

    Attributes:
        valid: Whether it may be sent.
        errors: Everything that is wrong, in the order of the fields.
        unchecked: Rules that were not checked here, so that only the server
            knows: patterns.
    """

    model_config = ConfigDict(frozen=True)

    valid: bool
    errors: tuple[FieldError, ...] = ()
    unchecked: tuple[Problem, ...] = ()

    def __bool__(self) -> bool:
        return self.valid


def check_content(form: Form, content: object, limits: Limits = DEFAULT_LIMITS) -> Validation:
    """
    Check *content* against *form*.  Nothing is changed.

    Keys that the form does not have pass unless the form is closed, as
    every server's validator sees it; they are never sent.
    """
    if not isinstance(content, Mapping) or not all(isinstance(name, str) for name in content):
        return Validation(valid=False, errors=(FieldError(field="", code="type", message="Must be a set of fields."),))
    fields = form.by_name
    wrong = {
        name: error for name, value in content.items() if (error := _unsendable(name, value, fields.get(name), limits))
    }
    if not wrong and len(json.dumps(dict(content), ensure_ascii=False)) > limits.answer:
        message = f"All in all longer than {limits.answer} characters."
        return Validation(valid=False, errors=(FieldError(field="", code="too_large", message=message),))
    wrong.update((name, _error(name, "left_out")) for name in form.left_out if name in content and name not in wrong)

    rest = {name: value for name, value in content.items() if name not in wrong}
    errors = [*wrong.values(), *(error for error in _errors(form, rest) if error.field not in wrong)]
    place = {name: index for index, name in enumerate(fields)}
    errors.sort(key=lambda error: place.get(error.field, len(place)))
    return Validation(valid=not errors, errors=tuple(errors), unchecked=tuple(_unchecked(form, content)))


def check_defaults(form: Form, defaults: Mapping[str, object]) -> tuple[dict[str, Any], tuple[FieldError, ...]]:
    """Divide *defaults* into those that fit their fields, ready to be sent, and what is wrong with the others."""
    errors = tuple(error for error in check_content(form, defaults).errors if error.code != "required")
    wrong = {error.field for error in errors}
    if "" in wrong:
        return {}, tuple(error.model_copy(update={"field": name}) for name in defaults for error in errors)
    good = {name: sendable(form.by_name[name], value) for name, value in defaults.items() if name not in wrong}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in good.items()}, errors


def check_value(field: Field, value: object, limits: Limits = DEFAULT_LIMITS) -> tuple[FieldError, ...]:
    """Check one value of one field."""
    return check_content(Form(fields=(field,)), {field.name: value}, limits).errors


def sendable(field: Field, value: Any) -> Any:
    """
    Spell a valid value as it is sent: 1.0 of an integer is 1, a tuple a list.

    An option is spelled as the server spells it.
    """
    if isinstance(field, ChoiceField):
        return next(choice.value for choice in field.choices if scalar_key(choice.value) == scalar_key(value))
    if isinstance(field, NumberField) and field.integer:
        return int(value)
    return list(value) if isinstance(value, (list, tuple)) else value


def _unsendable(name: str, value: object, field: Field | None, limits: Limits) -> FieldError | None:
    """Find what no answer can carry, whatever the form."""
    if not is_unicode(name):
        return _error(printable(name, multiline=False), "not_unicode")
    match value:
        case None:
            return _error(name, "null")
        case bool():
            return None
        case int():
            return None if abs(value) <= limits.integer else _error(name, "unsafe_integer")
        case float():
            if not math.isfinite(value):
                return _error(name, "not_finite")
            sent_as_integer = isinstance(field, NumberField) and field.integer
            return _error(name, "unsafe_integer") if sent_as_integer and abs(value) > limits.integer else None
        case str():
            return None if is_unicode(value) else _error(name, "not_unicode")
        case list() | tuple():
            if not all(isinstance(each, str) for each in value):
                return _error(name, "type", kind="a list of texts")
            return None if all(is_unicode(each) for each in value) else _error(name, "not_unicode")
        case _:
            return _error(name, "type", kind="a text, a number, yes or no, or a list of texts")


def _errors(form: Form, content: Mapping[str, object]) -> Iterator[FieldError]:
    seen = set()
    for error in _validator(form).iter_errors(content):
        name = str(error.absolute_path[0]) if error.absolute_path else ""
        found = _describe(form.by_name.get(name), name, str(error.validator), within=len(error.absolute_path) > 1)
        if found not in seen:
            seen.add(found)
            yield found


def _describe(field: Field | None, name: str, keyword: str, *, within: bool) -> FieldError:
    """Put an error of the validator into words; *within*: it is about one value of a list."""
    code = _CODES[keyword]
    if code == "type":
        return _error(name, code, kind="a text" if within else _kind_in_words(field))
    if within and isinstance(field, MultiChoiceField) and field.item is not None:
        field = field.item
    return _error(name, code, **({} if field is None else _limits_of(field)))


_CODES = {
    "required": "required",
    "additionalProperties": "unknown_field",
    "type": "type",
    "enum": "choice",
    "minLength": "min_length",
    "maxLength": "max_length",
    "format": "format",
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
    "multipleOf": "multiple_of",
    "minItems": "min_items",
    "maxItems": "max_items",
    "uniqueItems": "duplicate",
}

MESSAGES: Mapping[str, str] = {
    "required": "An answer is required.",
    "null": "An answer is required; leave the field out instead of sending nothing.",
    "type": "Must be {kind}.",
    "choice": "Must be one of the options.",
    "min_length": "Must have at least {min_length} characters.",
    "max_length": "Must have at most {max_length} characters.",
    "format": "Must be {format}.",
    "minimum": "Must be {minimum} or more.",
    "maximum": "Must be {maximum} or less.",
    "exclusive_minimum": "Must be more than {exclusive_minimum}.",
    "exclusive_maximum": "Must be less than {exclusive_maximum}.",
    "multiple_of": "Must be a multiple of {multiple_of}.",
    "min_items": "Must have at least {min_items} values.",
    "max_items": "Must have at most {max_items} values.",
    "duplicate": "Must not have the same value twice.",
    "not_finite": "Must be a finite number.",
    "unsafe_integer": "Must be smaller: servers cannot read a whole number that large exactly.",
    "not_unicode": "Must be valid Unicode text.",
    "unknown_field": "Was not asked for.",
    "left_out": "Cannot be answered here.",
    "too_large": "All in all too long.",
}
"""The sentence of each error code; what is in braces is filled in from the field."""

FORMATS_IN_WORDS: Mapping[str, str] = {
    "email": "an e-mail address, such as name@example.com",
    "uri": "an address with its scheme, such as https://example.com/",
    "date": "a date such as 2026-11-20",
    "date-time": "a date and time with its zone, such as 2026-11-20T14:30:00+01:00 or ...Z",
}
"""What to call each format that is checked."""


def _error(name: str, code: str, /, **words: object) -> FieldError:
    return FieldError(field=name, code=code, message=MESSAGES[code].format_map(words))


def _limits_of(field: Field) -> dict[str, object]:
    words = field.model_dump(exclude={"choices", "item", "default"})
    if isinstance(field, TextField) and field.format is not None:
        words["format"] = FORMATS_IN_WORDS.get(field.format, field.format)
    return words


def describe_type(field: Field) -> str:
    """Say in a sentence what kind of value *field* takes."""
    return MESSAGES["type"].format(kind=_kind_in_words(field))


def _kind_in_words(field: Field | None) -> str:
    match field:
        case TextField():
            return "a text"
        case NumberField(integer=True):
            return "a whole number"
        case NumberField():
            return "a number"
        case MultiChoiceField():
            return "a list"
        case _:
            return "yes or no"


def _unchecked(form: Form, content: Mapping[str, object]) -> Iterator[Problem]:
    for field in form.fields:
        text = field.item if isinstance(field, MultiChoiceField) else field
        if isinstance(text, TextField) and text.pattern is not None and field.name in content:
            yield Problem(
                code="pattern_not_checked", message="its pattern is checked by the server only", field=field.name
            )


def _validator(form: Form) -> Validator:
    schema = form.json_schema()
    for field in form.fields:
        rules = schema["properties"][field.name]
        if isinstance(field, (ChoiceField, MultiChoiceField)) and field.choices:
            holder = rules if isinstance(field, ChoiceField) else rules["items"]
            holder["enum"] = frozenset(scalar_key(value) for value in holder["enum"])
        rules.pop("pattern", None)
        if isinstance(field, MultiChoiceField):
            rules["items"].pop("pattern", None)
    validator: Validator = _validator_class()(schema, format_checker=_format_checker())
    return validator


@cache
def _validator_class() -> Any:
    # jsonschema costs a tenth of "import mcp": only where an answer is checked.
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def in_options(_validator: Any, options: Any, instance: Any, _schema: Any) -> Iterator[Any]:
        if isinstance(instance, (list, tuple)) or scalar_key(instance) not in options:
            yield ValidationError("not an option")

    def multiple_of(validator: Any, step: Any, instance: Any, _schema: Any) -> Iterator[Any]:
        if validator.is_type(instance, "number") and not is_multiple(instance, step):
            yield ValidationError("not a multiple")

    def required(_validator: Any, names: Any, instance: Any, _schema: Any) -> Iterator[Any]:
        for name in names:
            if name not in instance:
                yield ValidationError("missing", path=[name])

    def no_other_properties(_validator: Any, _allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
        for name in instance:
            if name not in schema["properties"]:
                yield ValidationError("not asked for", path=[name])

    def is_array(_checker: Any, instance: Any) -> bool:
        return isinstance(instance, (list, tuple))

    return extend(
        Draft202012Validator,
        validators={
            "enum": in_options,
            "multipleOf": multiple_of,
            "required": required,
            "additionalProperties": no_other_properties,
        },
        type_checker=Draft202012Validator.TYPE_CHECKER.redefine("array", is_array),
    )


@cache
def _format_checker() -> Any:
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, check in CHECKS.items():
        checker.checks(name)(lambda value, check=check: not isinstance(value, str) or check(value))
    return checker
