"""What to say about a field and its value, in one line."""

from __future__ import annotations

from typing import Any

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.schema.enums import json_equal
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation.input_parsing import accepts_option_numbers

_VALUE = 200
_FORMATS = {
    "email": "e-mail address",
    "uri": "address such as https://example.com/",
    "date": "date such as 2026-11-20",
    "date-time": "date and time with zone, such as 2026-11-20 14:30 +01:00",
    "password": "text, not shown while you type",
}


def expectation(field: Field) -> str:
    """Say what to type, e.g. ``whole number from 0 to 150``."""
    match field:
        case TextField():
            return _text(field)
        case NumberField():
            return _number(field)
        case BooleanField():
            return "yes or no"
        case ChoiceField():
            return f"one of {len(field.choices)} options, by {_by(field)}"
        case MultiChoiceField(choices=()):
            item = _text(field.item) if field.item else "text"
            return f"list of values separated by commas, each: {item}{_count(field)}"
        case MultiChoiceField():
            return f"any of {len(field.choices)} options, by {_by(field)}, separated by commas{_count(field)}"


def spell(field: Field, value: Any) -> str:
    """Show the value of a field, safely, in one line."""
    match field, value:
        case _ if field.is_hidden:
            return "(not shown)"
        case _, bool() if not isinstance(field, ChoiceField):
            return "yes" if value else "no"
        case ChoiceField(), _:
            return next(field.label_of(choice) for choice in field.choices if json_equal(choice.value, value))
        case MultiChoiceField(), _:
            names = {choice.value: field.label_of(choice) for choice in field.choices}
            shown = (names.get(each) or sanitize_text(each, limit=_VALUE, multiline=False) for each in value)
            return ", ".join(shown) or "(none)"
        case _:
            return sanitize_text(str(value), limit=_VALUE, multiline=False) or "(empty text)"


def _text(field: TextField) -> str:
    kind = _FORMATS.get(field.format or "", f"text ({field.format})" if field.format else "text")
    return kind + _between(field.min_length, field.max_length, "characters")


def _by(field: ChoiceField | MultiChoiceField) -> str:
    return "number or name" if accepts_option_numbers(field) else "name"


def _count(field: MultiChoiceField) -> str:
    return _between(field.min_items, field.max_items, "values")


def _between(least: int | None, most: int | None, what: str) -> str:
    if least and most is not None:
        return f", {least} to {most} {what}" if least != most else f", exactly {least} {what}"
    if least:
        return f", at least {least} {what}"
    return f", at most {most} {what}" if most is not None else ""


def _number(field: NumberField) -> str:
    words = ["whole number" if field.integer else "number"]
    if field.minimum is not None and field.maximum is not None:
        words.append(f"from {field.minimum} to {field.maximum}")
    elif field.minimum is not None:
        words.append(f"from {field.minimum} on")
    elif field.maximum is not None:
        words.append(f"up to {field.maximum}")
    if field.exclusive_minimum is not None:
        words.append(f"above {field.exclusive_minimum}")
    if field.exclusive_maximum is not None:
        words.append(f"below {field.exclusive_maximum}")
    if field.multiple_of is not None:
        words.append(f"in steps of {field.multiple_of}")
    return " ".join(words)
