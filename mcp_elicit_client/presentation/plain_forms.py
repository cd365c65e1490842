"""
`PlainForm`: a form as other programs show it, which know fewer keywords than MCP servers use.

Such programs select options by their texts, have no input for a list of texts
and ignore keywords that they do not know.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

from typing_extensions import assert_never

from mcp_elicit_client.core.form import (
    BooleanField,
    ChoiceField,
    Field,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
    choices_by_key,
)
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.schema.enums import Choice, Scalar
from mcp_elicit_client.core.validation.field_errors import AnswerError
from mcp_elicit_client.core.validation.formats import STANDARD_FORMATS
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import describe_field, option_labels
from mcp_elicit_client.presentation.input_parsing import accepts_empty, parse_without_checks, to_text

_Options = TypeVar("_Options", ChoiceField, MultiChoiceField)
_Plain = TypeVar("_Plain", TextField, NumberField)

_MAX_LENGTH = 2**32 - 1
"""The longest length that programs in other languages can read."""


class PlainForm:
    """
    A form for another program, and the way back from its content.

    Options are texts.  A list of texts is one text.  What the program ignores
    is in the descriptions, in the words of the host.

    Args:
        form: The form.  Its defaults are settled.
        catalog: The texts.
        limits: The limits with which the form was read.

    Attributes:
        form: The form for the other program.  Its `unsupported_fields` are
            the optional fields that it cannot express: those whose text must
            be hidden, and options that share their texts.
        inexpressible: The names of the required fields that it cannot
            express.
    """

    def __init__(self, form: Form, catalog: MessageCatalog, limits: Limits = DEFAULT_LIMITS) -> None:
        self._original = form
        self._catalog = catalog
        self._limits = limits
        fields = tuple(self._field(each) for each in form.fields if _is_expressible(each))
        missing = [each for each in form.fields if not _is_expressible(each)]
        unsupported = (*form.unsupported_fields, *(each.name for each in missing if not each.required))
        self.form: Form = form.model_copy(update={"fields": fields, "unsupported_fields": unsupported})
        self.inexpressible: tuple[str, ...] = tuple(each.name for each in missing if each.required)

    def content(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """
        Return the content of an answer for the original form, not checked.

        Optional fields that are null, or empty although the field accepts no
        empty value, are omitted.
        """
        fields = self._original.by_name
        restored = {name: _restore(fields.get(name), value) for name, value in content.items()}
        return {name: value for name, value in restored.items() if not _is_omitted(fields.get(name), value)}

    def with_defaults(self, content: Mapping[str, Any]) -> Form:
        """Return `form` with the values in *content*, which the program sent, as its only default values."""
        fields = (
            each.model_copy(update={"default": _as_default(content[each.name]) if each.name in content else None})
            for each in self.form.fields
        )
        return self.form.model_copy(update={"fields": tuple(fields)})

    def _field(self, field: Field) -> Field:
        match field:
            case ChoiceField():
                return _with_text_options(self._with_labels(field))
            case MultiChoiceField(choices=()):
                return self._list_as_text(field)
            case MultiChoiceField():
                return self._with_labels(field)
            case TextField():
                return self._text(field)
            case NumberField():
                needs_hint = field.multiple_of is not None or (not field.integer and _has_open_bound(field))
                return self._with_hint(_number(field, self._limits), field, needed=needs_hint)
            case BooleanField():
                return field
            case _:
                assert_never(field)

    def _with_labels(self, field: _Options) -> _Options:
        """Return *field* with the labels of its options as titles: each looks different, and none is blank."""
        labels = option_labels(field, self._catalog)
        pairs = zip(field.choices, labels, strict=True)
        choices = [Choice(value=choice.value, title=label) for choice, label in pairs]
        return field.model_copy(update={"choices": tuple(choices)})

    def _text(self, field: TextField) -> TextField:
        changes: dict[str, Any] = {
            "min_length": None if (field.min_length or 0) > _MAX_LENGTH else field.min_length,
            "max_length": None if (field.max_length or 0) > _MAX_LENGTH else field.max_length,
        }
        if field.pattern_skipped:  # no program can check it
            changes |= {"pattern": None, "pattern_skipped": ""}
        is_known = field.format in (None, *STANDARD_FORMATS)  # other programs ignore the others
        return self._with_hint(field.model_copy(update=changes), field, needed=not is_known)

    def _list_as_text(self, field: MultiChoiceField) -> TextField:
        default = None if field.default is None else to_text(field, field.default)
        text = TextField(
            name=field.name,
            title=field.title,
            description=field.description,
            required=field.required,
            nullable=field.nullable,
            default=default,
        )
        return self._with_hint(text, field, needed=True)

    def _with_hint(self, plain: _Plain, field: Field, *, needed: bool) -> _Plain:
        """Return *plain* with a description that also says what *field* accepts."""
        if not needed:
            return plain
        described = describe_field(field, self._catalog)
        hint = ", ".join(filter(None, (described.accepts, described.example)))
        lines = (plain.description, f"({hint})")
        return plain.model_copy(update={"description": "\n".join(filter(None, lines))})


def _is_expressible(field: Field) -> bool:
    if field.is_hidden:
        return False
    if isinstance(field, ChoiceField):
        return max(Counter(_option_text(each.value) for each in field.choices).values(), default=2) == 1
    return True


def _option_text(value: Scalar) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _with_text_options(field: ChoiceField) -> ChoiceField:
    if all(isinstance(each.value, str) for each in field.choices):
        return field
    choices = tuple(Choice(value=_option_text(each.value), title=each.title) for each in field.choices)
    default = None if field.default is None else _option_text(field.default)
    return field.model_copy(update={"choices": choices, "default": default})


def _has_open_bound(field: NumberField) -> bool:
    return field.exclusive_minimum is not None or field.exclusive_maximum is not None


def _number(field: NumberField, limits: Limits) -> NumberField:
    """Return *field* with bounds that are integers and included, if it is for integers."""
    if not field.integer:
        return field
    least = [each for each in (field.minimum, _after(field.exclusive_minimum)) if each is not None]
    most = [each for each in (field.maximum, _before(field.exclusive_maximum)) if each is not None]
    bounds = {
        "minimum": max(math.ceil(max(least)), -limits.max_integer) if least else None,
        "maximum": min(math.floor(min(most)), limits.max_integer) if most else None,
    }
    return field.model_copy(update={**bounds, "exclusive_minimum": None, "exclusive_maximum": None})


def _after(bound: float | None) -> int | None:
    return None if bound is None else math.floor(bound) + 1


def _before(bound: float | None) -> int | None:
    return None if bound is None else math.ceil(bound) - 1


def _restore(field: Field | None, value: Any) -> Any:
    if isinstance(field, ChoiceField) and isinstance(value, str):
        return next((each.value for each in field.choices if _option_text(each.value) == value), value)
    if isinstance(field, MultiChoiceField) and not field.choices and isinstance(value, str):
        if field.default is not None and value == to_text(field, field.default):
            return list(field.default)
        try:
            return parse_without_checks(field, value)
        except AnswerError:
            return value  # the check of the answer says what is wrong
    return value


def _is_omitted(field: Field | None, value: Any) -> bool:
    if field is None or field.required:
        return False
    if value is None:
        return True
    is_option = isinstance(field, ChoiceField) and ("string", "") in choices_by_key(field)
    return value in ("", []) and not is_option and not accepts_empty(field)


def _as_default(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
