"""From what a person typed to the value of a field."""

from __future__ import annotations

import re
from typing import Any

from mcp_elicit_client.core.errors import ErrorCode, FieldError, describe_type
from mcp_elicit_client.core.forms import (
    BooleanField,
    ChoiceField,
    Field,
    MultiChoiceField,
    NumberField,
    TextField,
)
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.matching import check_value
from mcp_elicit_client.core.validation import sendable
from mcp_elicit_client.exceptions import AnswerError

_INTEGER = re.compile(r"[+-]?[0-9]{1,300}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,4})?", re.ASCII)
_DATE_SPACE_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ Tt](\d\d:\d\d)(:\d\d(?:\.\d+)?)? ?([Zz]|[+-]\d\d:?\d\d)", re.ASCII)

_YES = frozenset({"y", "yes", "true", "on", "1"})
_NO = frozenset({"n", "no", "false", "off", "0"})


def parse_text(field: Field, text: str, limits: Limits = DEFAULT_LIMITS) -> Any:
    """
    Read *text*, as a person types it, as a value of *field*.

    Numbers are read whole or not at all ("12abc" is no 12).  ``yes`` and
    ``no`` have short forms.  An option is named by its title or its value,
    in any case where that is not ambiguous, or by its place in the list,
    from 1 on, where no option is itself a number.  Lists are separated by
    commas.  A date and time may have a space for its ``T`` and lack its
    seconds, but never its zone.

    Returns:
        The value, as it is sent.

    Raises:
        AnswerError: If it does not fit.  Its ``errors`` say why, each in a
            sentence for the person.
    """
    value = _read(field, text)
    errors = check_value(field, value, limits)
    if errors:
        raise AnswerError("; ".join(error.message for error in errors), errors)
    return sendable(field, value)


def is_numbered(field: ChoiceField | MultiChoiceField) -> bool:
    """Tell whether options may be named by their place: none of them is itself a number."""
    return not any(
        _INTEGER.fullmatch(name.strip()) for choice in field.choices for name in (choice.title, str(choice.value))
    )


def _read(field: Field, text: str) -> Any:
    match field:
        case TextField():
            return _read_text(field, text)
        case NumberField():
            return _read_number(field, text.strip())
        case BooleanField():
            return _read_boolean(field, text.strip().casefold())
        case ChoiceField():
            return _read_choice(field, text)
        case MultiChoiceField():
            return _read_list(field, text)


def _read_text(field: TextField, text: str) -> str:
    if field.format in ("email", "uri", "date"):
        return text.strip()
    if field.format == "date-time" and (match := _DATE_SPACE_TIME.fullmatch(text.strip())):
        date, minutes, seconds, zone = match.groups()
        zone = zone if ":" in zone or len(zone) == 1 else f"{zone[:3]}:{zone[3:]}"
        return f"{date}T{minutes}{seconds or ':00'}{zone.upper()}"
    return text


def _read_number(field: NumberField, text: str) -> int | float:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    raise _refuse(field, "type", describe_type(field))


def _read_boolean(field: BooleanField, text: str) -> bool:
    if text in _YES | _NO:
        return text in _YES
    raise _refuse(field, "type", describe_type(field))


def _read_choice(field: ChoiceField | MultiChoiceField, text: str) -> Any:
    typed = text.strip()
    for exact in (text, typed):
        for choice in field.choices:
            if exact in (str(choice.value), choice.title, field.label_of(choice)):
                return choice.value
    folded = typed.casefold()
    alike = [choice for choice in field.choices if folded in (choice.title.casefold(), str(choice.value).casefold())]
    if len(alike) == 1:
        return alike[0].value
    if is_numbered(field) and _INTEGER.fullmatch(typed) and 1 <= int(typed) <= len(field.choices):
        return field.choices[int(typed) - 1].value
    raise _refuse(field, "choice", "Must be one of the options.")


def _read_list(field: MultiChoiceField, text: str) -> list[Any]:
    if not text.strip():
        return []
    if not field.choices:
        return [part.strip() for part in text.split(",")]
    try:
        return [_read_choice(field, text)]  # one option, even if its name has a comma
    except AnswerError:
        values = [_read_choice(field, part) for part in text.split(",") if part.strip()]
    return list(dict.fromkeys(values))


def _refuse(field: Field, code: ErrorCode, message: str) -> AnswerError:
    return AnswerError(message, (FieldError(field=field.name, code=code, message=message),))
