"""What fits a field, in words of ours."""

from __future__ import annotations

from mcp_elicit_client.core.form import BooleanField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation.formats import FORMATS
from mcp_elicit_client.inbox.web import datetime_fields as moments


def hint_of(field: Field) -> str:
    """Say what fits *field*, and whether the server suggests something."""
    words: list[str] = []
    if moments.control_type(field):
        words.append("With its zone: how far it is from UTC.")
    elif isinstance(field, TextField) and (row := FORMATS.get(field.format or "")):
        words.append(row.error.text)
    if isinstance(field, BooleanField) and field.default is not None:
        words.append(f"The server suggests {'yes' if field.default else 'no'}.")
    if isinstance(field, NumberField):
        words += _between(field.minimum, field.maximum, "")
        words += [] if field.exclusive_minimum is None else [f"More than {field.exclusive_minimum}."]
        words += [] if field.exclusive_maximum is None else [f"Less than {field.exclusive_maximum}."]
        words += [] if field.multiple_of is None else [f"A multiple of {field.multiple_of}."]
    if isinstance(field, TextField):
        words += _between(field.min_length, field.max_length, " characters")
    if isinstance(field, MultiChoiceField):
        words += ["One on each line."] if not field.choices else []
        how_many = _between(field.min_items, field.max_items, "" if field.choices else " values")
        words += [f"Choose {each}" if field.choices else each for each in how_many]
    if isinstance(field, TextField) and field.pattern:
        words.append(f"Must match {sanitize_text(field.pattern, limit=80, multiline=False)}")
    if not isinstance(field, BooleanField) and field.default is not None:
        words.append("Suggested by the server.")
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}" for sentence in words)


def _between(least: float | None, greatest: float | None, unit: str) -> list[str]:
    if least is not None and greatest is not None:
        return [f"from {least} to {greatest}{unit}."]
    if least is not None:
        return [f"at least {least}{unit}."]
    return [] if greatest is None else [f"at most {greatest}{unit}."]
