"""What was filled in on a page, as the content of an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, Form, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.inbox.web import datetime_fields as moments

FormData: TypeAlias = Mapping[str, Sequence[str]]
"""What a page sent: the values of each control."""

LEFT_OUT = "-"
"""The value of the option to leave a field out."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,30}", re.ASCII)


def content_of(form: Form, filled: FormData) -> dict[str, Any]:
    """Read what was filled in; what was left empty is left out."""
    return {
        field.name: value
        for at, field in enumerate(form.fields)
        for value in _values(field, with_zone(field, f"f{at}", filled))
    }


def zone_of(name: str) -> str:
    """Return what the zone beside the control *name* is called."""
    return f"{name}-zone"


def with_zone(field: Field, name: str, filled: FormData) -> Sequence[str]:
    """Return the values of the control *name*, a time put together with its zone."""
    texts = filled.get(name, ())
    if not texts or not moments.control_type(field):
        return texts
    return [moments.join(texts[0], next(iter(filled.get(zone_of(name), ())), ""))]


def _values(field: Field, texts: Sequence[str]) -> Iterator[Any]:
    """Return the one value of *field*, or none."""
    match field:
        case MultiChoiceField(choices=()):
            lines = [line for text in texts for line in text.splitlines() if line.strip()]
            if lines or field.required:
                yield lines
        case MultiChoiceField():
            if texts or field.required:
                yield [_choice(field, text) for text in texts]
        case _:
            text = texts[0] if texts else ""
            if text and not (text == LEFT_OUT and not isinstance(field, (TextField, NumberField))):
                yield _value(field, text)


def _value(field: Field, text: str) -> Any:
    match field:
        case ChoiceField():
            return _choice(field, text)
        case BooleanField():
            return {"yes": True, "no": False}.get(text, text)
        case NumberField():
            return _number(text.strip())
        case _:
            return text.replace("\r\n", "\n")


def _choice(field: ChoiceField | MultiChoiceField, text: str) -> Any:
    # What is no option of ours stays a text that is no option of the server's.
    at = int(text) if _WHOLE.fullmatch(text) else -1
    return field.choices[at].value if 0 <= at < len(field.choices) else f"\N{REPLACEMENT CHARACTER}{text}"


def _number(text: str) -> int | float | str:
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
