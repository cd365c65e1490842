"""What is wrong with an answer, in words for the person who gave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core.form import Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.exceptions import ElicitationError

ErrorCode: TypeAlias = Literal[
    "required",
    "null",
    "type",
    "choice",
    "min_length",
    "max_length",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusive_minimum",
    "exclusive_maximum",
    "multiple_of",
    "min_items",
    "max_items",
    "duplicate",
    "not_finite",
    "unsafe_integer",
    "not_unicode",
    "unknown_field",
    "unsupported_field",
    "too_large",
]
"""The code of a `FieldError`."""


class FieldError(BaseModel):
    """
    What is wrong with one field of an answer.

    Attributes:
        field: The field's name, as the server spells it; empty if it is about
            the answer as a whole.
        code: One stable word; ``docs/reference.md`` says what each means.
        message: A sentence for the person who answers.  It does not hold the
            value, and is safe to show.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    field: str
    code: ErrorCode
    message: str


class AnswerError(ElicitationError, ValueError):
    """
    An answer that does not fit its request, caught before it was sent.

    Attributes:
        errors: What is wrong, field by field.  Empty if it is not about one
            field.
    """

    def __init__(self, reason: str, errors: tuple[FieldError, ...] = ()) -> None:
        super().__init__(reason)
        self.errors = errors


def error_for_keyword(field: Field, keyword: str, *, within: bool) -> FieldError:
    """Put a broken rule into words; *within*: it is about one value of a list."""
    code = _CODES[keyword]
    if code == "type":
        return field_error(field.name, code, kind=_kind_in_words(field))
    of = field.item if within and isinstance(field, MultiChoiceField) and field.item is not None else field
    return field_error(field.name, code, **_limits_of(of))


_CODES: Mapping[str, ErrorCode] = {
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

MESSAGES: Mapping[ErrorCode, str] = {
    "required": "An answer is required.",
    "null": "An answer is required; leave the field out instead of sending nothing.",
    "type": "Must be {kind}.",
    "choice": "Must be one of the options.",
    "min_length": "Must have at least {min_length} characters.",
    "max_length": "Must have at most {max_length} characters.",
    "format": "Must be {format}.",
    "pattern": "Must match the pattern {pattern}",
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
    "unsupported_field": "Cannot be answered here.",
    "too_large": "All in all longer than {answer} characters.",
}
"""The sentence of each error code; what is in braces is filled in from the field."""

FORMATS_IN_WORDS: Mapping[str, str] = {
    "email": "an e-mail address, such as name@example.com",
    "uri": "an address with its scheme, such as https://example.com/",
    "date": "a date such as 2026-11-20",
    "date-time": "a date and time with its zone, such as 2026-11-20T14:30:00+01:00 or ...Z",
    "time": "a time with its zone, such as 14:30:00+01:00 or 14:30:00Z",
    "duration": "a duration, such as P1D (a day) or PT30M (30 minutes)",
    "uuid": "a UUID, such as 123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "an IPv4 address, such as 192.0.2.1",
    "ipv6": "an IPv6 address, such as 2001:db8::1",
    "hostname": "a host name, such as www.example.com",
}
"""What to call each format that is checked."""


def field_error(name: str, code: ErrorCode, /, **words: object) -> FieldError:
    return FieldError(field=name, code=code, message=MESSAGES[code].format_map(words))


def join_errors(errors: Iterable[FieldError]) -> str:
    """Put errors into one line for a developer, each with the name of its field."""
    return "; ".join(f"{error.field!r}: {error.message}" for error in errors)


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
