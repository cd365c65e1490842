"""`FieldError`: an error in one field of an answer, with its code and parameters."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, computed_field
from pydantic import Field as Setting
from typing_extensions import assert_never

from mcp_elicit_client.core.deferred import build_models
from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.messages import (
    AMBIGUOUS_OPTION,
    FIELD_ERRORS,
    OPTION_COUNT_ERRORS,
    PATTERN_WITH_SPACES,
    TYPE_ERRORS,
    Message,
    format_message,
)
from mcp_elicit_client.core.validation.formats import FAULTS, FORMATS, FormatFault
from mcp_elicit_client.exceptions import ElicitationError

ErrorCode: TypeAlias = Literal[
    "required",
    "null",
    "type",
    "choice",
    "min_length",
    "max_length",
    "format",
    "ambiguous",
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
    An error in one field of an answer.

    Attributes:
        field: The field's name, as the server spells it; empty if the error
            is about the whole answer.
        code: A stable code; ``docs/reference.md`` lists all.
        params: The parameters of the message: limits, the expected type, the
            format and what is wrong with it.  Never the value, except for
            typed text that is ``ambiguous``: its readings.
        message: An English sentence that tells the user what to enter.
    """

    # `defer_build`: built at the first error, because it would slow down the import.
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    field: str
    code: ErrorCode
    params: dict[str, Any] = Setting(default_factory=dict)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def message(self) -> str:
        """An English sentence that tells the user what to enter."""
        return format_message(error_template(self), self.params)


class AnswerError(ElicitationError, ValueError):
    """
    The answer does not match its request.  It was not sent.

    Attributes:
        errors: The errors in its fields; empty if the answer as a whole is
            wrong.
    """

    def __init__(self, reason: str, errors: tuple[FieldError, ...] = ()) -> None:
        super().__init__(reason)
        self.errors = errors


def error_template(error: FieldError) -> Message:
    """Return the sentence of *error* without its parameters."""
    if error.code == "type":
        return TYPE_ERRORS[error.params["type"]]
    if error.code == "format":
        fault = error.params.get("fault")
        return FAULTS[fault] if fault else FORMATS[error.params["format"]].error
    if error.params.get("spaces"):
        return PATTERN_WITH_SPACES
    if error.params.get("ambiguous"):
        return AMBIGUOUS_OPTION
    if error.params.get("options"):
        return OPTION_COUNT_ERRORS[error.code]
    return FIELD_ERRORS[error.code]


def error_for_keyword(field: Field, keyword: str, *, within: bool) -> FieldError:
    """
    Return the error for a JSON Schema keyword of *field* that is violated.

    Args:
        field: The field.
        keyword: The keyword.
        within: True if one value of a list violates it.
    """
    code, name = _KEYWORDS[keyword]
    if code == "type":
        return type_error(field)
    of = field.item if within and isinstance(field, MultiChoiceField) and field.item is not None else field
    params = {name: getattr(of, code)} if name else {}
    if code in OPTION_COUNT_ERRORS:
        params["options"] = isinstance(field, MultiChoiceField) and bool(field.choices)
    return field_error(field.name, code, **params)


_KEYWORDS: Mapping[str, tuple[ErrorCode, str]] = {
    "type": ("type", ""),
    "enum": ("choice", ""),
    "minLength": ("min_length", "min"),
    "maxLength": ("max_length", "max"),
    "format": ("format", "format"),
    "minimum": ("minimum", "min"),
    "maximum": ("maximum", "max"),
    "exclusiveMinimum": ("exclusive_minimum", "min"),
    "exclusiveMaximum": ("exclusive_maximum", "max"),
    "multipleOf": ("multiple_of", "step"),
    "minItems": ("min_items", "min"),
    "maxItems": ("max_items", "max"),
    "uniqueItems": ("duplicate", ""),
}
"""The code of each keyword and the parameter with its value.  The attribute of the field is named like the code."""


def field_error(name: str, code: ErrorCode, /, **params: object) -> FieldError:
    """Return the error *code* of the field *name*."""
    build_models(FieldError)
    return FieldError(field=name, code=code, params=params)


def format_error(name: str, format_name: str, fault: FormatFault) -> FieldError:
    """Return the error for a text of the field *name* that lacks its format, with what is wrong with it."""
    params = {"fault": fault.code, **fault.params} if fault.code else {}
    return field_error(name, "format", format=format_name, **params)


def type_error(field: Field) -> FieldError:
    """Return the error for a value whose type *field* does not accept."""
    match field:
        case BooleanField():
            expected = "boolean"
        case NumberField():
            expected = "integer" if field.integer else "number"
        case MultiChoiceField():
            expected = "list"
        case TextField() | ChoiceField():
            expected = "text"
        case _:
            assert_never(field)
    return field_error(field.name, "type", type=expected)


def join_errors(errors: Iterable[FieldError]) -> str:
    """Return all errors in one line for developers, each with the name of its field, if it has one."""
    return "; ".join(f"{error.field!r}: {error.message}" if error.field else error.message for error in errors)
