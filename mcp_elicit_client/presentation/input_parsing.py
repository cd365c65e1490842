"""From what a person typed to the value of a field."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.validation.content import to_json_value, validate_value
from mcp_elicit_client.core.validation.field_errors import AnswerError, FieldError, field_error, type_error
from mcp_elicit_client.core.validation.formats import is_date

_INTEGER = re.compile(r"[+-]?[0-9]{1,300}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,4})?", re.ASCII)
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})", re.ASCII)
_DATE_AND_TIME = re.compile(r"([0-9-]{1,20})[ Tt]+(.{1,100})", re.ASCII)
_TIME = re.compile(
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?P<seconds>:[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r" ?(?P<zone>[A-Za-z0-9_+:/-]{1,64})",
    re.ASCII,
)
_OFFSET = re.compile(r"([+-])([0-9]{1,2}):?([0-9]{2})?", re.ASCII)

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
    seconds, but never its zone: an offset, ``UTC`` or a name such as
    ``Europe/Berlin``.

    Returns:
        The value, as it is sent.

    Raises:
        AnswerError: If it does not fit.  Its ``errors`` say why, each in a
            sentence for the person.
    """
    value = _read(field, text)
    errors = validate_value(field, value, limits)
    if errors:
        raise AnswerError("; ".join(error.message for error in errors), errors)
    return to_json_value(field, value)


def accepts_option_numbers(field: ChoiceField | MultiChoiceField) -> bool:
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
    match field.format:
        case "email" | "uri" | "uuid" | "ipv4" | "ipv6" | "hostname" | "duration":
            return text.strip()
        case "date":
            return _read_date(text.strip())
        case "time":
            return _read_time(text.strip(), None)
        case "date-time":
            moment = _DATE_AND_TIME.fullmatch(text.strip())
            date = _read_date(moment[1]) if moment else ""
            return f"{date}T{_read_time(moment[2], date)}" if moment and is_date(date) else text.strip()
        case _:
            return text


def _read_date(text: str) -> str:
    match = _DATE.fullmatch(text)
    return f"{match[1]}-{match[2]:0>2}-{match[3]:0>2}" if match else text


def _read_time(text: str, date: str | None) -> str:
    """Read a time with its zone; the zone may be a name if the *date* is known."""
    match = _TIME.fullmatch(text)
    if match is None:
        return text
    seconds = match["seconds"] or ":00"
    return f"{match['hour']:0>2}:{match['minute']}{seconds}{_read_zone(match['zone'], date, match)}"


def _read_zone(zone: str, date: str | None, time: re.Match[str]) -> str:
    if zone.upper() in ("Z", "UTC", "GMT"):
        return "Z"
    if offset := _OFFSET.fullmatch(zone):
        return f"{offset[1]}{offset[2]:0>2}:{offset[3] or '00'}"
    try:
        moment = datetime.fromisoformat(f"{date} {time['hour']:0>2}:{time['minute']}").replace(tzinfo=ZoneInfo(zone))
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return zone
    spelled = f"{moment:%z}"
    return f"{spelled[:3]}:{spelled[3:5]}"


def _read_number(field: NumberField, text: str) -> int | float:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    raise _refuse(type_error(field))


def _read_boolean(field: BooleanField, text: str) -> bool:
    if text in _YES | _NO:
        return text in _YES
    raise _refuse(type_error(field))


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
    if accepts_option_numbers(field) and _INTEGER.fullmatch(typed) and 1 <= int(typed) <= len(field.choices):
        return field.choices[int(typed) - 1].value
    raise _refuse(field_error(field.name, "choice"))


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


def _refuse(error: FieldError) -> AnswerError:
    return AnswerError(error.message, (error,))
