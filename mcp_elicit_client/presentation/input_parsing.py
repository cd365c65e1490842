"""The meaning of typed text: the same in every user interface."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from typing_extensions import assert_never

from mcp_elicit_client.core.budgets import UserAndServer
from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.request import FormRequest
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.core.validation.content import to_json_value, validate_value
from mcp_elicit_client.core.validation.field_errors import AnswerError, FieldError, type_error
from mcp_elicit_client.core.validation.formats import FORMATS, is_date
from mcp_elicit_client.core.validation.patterns import NO_USER
from mcp_elicit_client.presentation.option_names import OptionNames, accepts_option_numbers

__all__ = ["InputContext", "accepts_empty", "accepts_line_breaks", "accepts_option_numbers", "parse_text", "to_text"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class InputContext:
    """
    Facts about the user and the host that decide what typed text means, and who pays for checking it.

    The locale and the time zone have no effect yet: numbers have a decimal
    point, dates begin with the year, and times need a time zone.

    Attributes:
        locale: The user's locale as a BCP 47 tag, such as ``de-AT``, if known.
        time_zone: The user's IANA time zone, such as ``Europe/Berlin``, if known.
        limits: The host's limits of the answer.
        user_and_server: The user and server whose budgets the patterns use.
    """

    locale: str | None = None
    time_zone: str | None = None
    limits: Limits = DEFAULT_LIMITS
    user_and_server: UserAndServer = NO_USER

    @classmethod
    def for_request(cls, request: FormRequest) -> InputContext:
        """Return the context of what the user types to answer *request*."""
        return cls(limits=request.limits, user_and_server=request.user_and_server)


DEFAULT_CONTEXT = InputContext()


def parse_text(field: Field, text: str, context: InputContext = DEFAULT_CONTEXT) -> Any:
    """
    Return the value that *text* means for *field*.

    - Numbers are ASCII digits with a decimal point.  The whole text must be
      a number: ``12abc`` and ``1_000`` are errors.
    - ``yes`` and ``no`` have short forms: ``y``, ``true``, ``on``, ``1``.
    - An option is its label, as it is shown.  It is also its title or its
      value, in any case, or its number in the list, from 1 on, if
      `accepts_option_numbers`.  Text that fits several options is an error.
    - Lists are separated by line breaks, or by commas if there are none.
      Options with commas in their labels may be in double quotes.
    - A date and time may have a space instead of ``T`` and no seconds.  It
      needs a time zone: an offset, ``UTC`` or a name such as
      ``Europe/Berlin``.
    - Spaces around the text are removed, except for text without a format.

    Args:
        field: The field.
        text: The text, as the user typed it.
        context: Facts about the user and the host.

    Returns:
        The value, as it is sent.

    Raises:
        AnswerError: If the text is not valid.  Its ``errors`` say what to
            enter.
    """
    value = parse_without_checks(field, text)
    errors = validate_value(field, value, context.limits, context.user_and_server)
    if errors:
        raise _invalid(errors)
    return to_json_value(field, value)


def to_text(field: Field, value: Any) -> str:
    """Return the text that `parse_text` reads as *value*: for inputs that show a value to be edited."""
    match field:
        case MultiChoiceField():
            options = field.by_key
            texts = [field.label_of(options[json_key(each)]) if field.choices else str(each) for each in value]
            if any("," in each for each in (*texts, *map(field.label_of, field.choices))):
                return "\n".join(texts) if len(texts) > 1 else f"{texts[0]}\n"
            return ", ".join(texts)
        case BooleanField():
            return "yes" if value else "no"
        case ChoiceField():
            return field.label_of(field.by_key[json_key(value)])
        case TextField() | NumberField():
            return str(value)
        case _:
            assert_never(field)


def accepts_empty(field: Field) -> bool:
    """Return True if empty text or an empty list is a valid value of *field*."""
    match field:
        case TextField():
            return not field.min_length and field.format not in FORMATS
        case MultiChoiceField():
            return not field.min_items
        case NumberField() | BooleanField() | ChoiceField():
            return False
        case _:
            assert_never(field)


def accepts_line_breaks(field: Field) -> bool:
    """Return True if typed text for *field* may have several lines."""
    match field:
        case TextField():
            return field.format is None and not field.is_hidden
        case MultiChoiceField():
            return not field.choices
        case NumberField() | BooleanField() | ChoiceField():
            return False
        case _:
            assert_never(field)


def parse_without_checks(field: Field, text: str) -> Any:
    """
    Return the value that *text* means for *field*, without checking the field's limits.

    Raises:
        AnswerError: If the text has no meaning for this kind of field.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    match field:
        case TextField():
            return _parse_text_field(field, text)
        case NumberField():
            return _parse_number(field, text.strip())
        case BooleanField():
            return _parse_boolean(field, text.strip().casefold())
        case ChoiceField():
            return OptionNames(field).select(text).value
        case MultiChoiceField():
            return _parse_list(field, text)
        case _:
            assert_never(field)


def _parse_text_field(field: TextField, text: str) -> str:
    row = FORMATS.get(field.format or "")
    stripped = text.strip() if row is not None and row.strip else text
    match field.format:
        case "date":
            return _parse_date(stripped)
        case "time":
            return _parse_time(stripped, None)
        case "date-time":
            return _parse_date_time(stripped)
        case _:
            return stripped


def _parse_date_time(text: str) -> str:
    match = _DATE_AND_TIME.fullmatch(text)
    date = _parse_date(match[1]) if match else ""
    return f"{date}T{_parse_time(match[2], date)}" if match and is_date(date) else text


def _parse_date(text: str) -> str:
    match = _DATE.fullmatch(text)
    return f"{match[1]}-{match[2]:0>2}-{match[3]:0>2}" if match else text


def _parse_time(text: str, date: str | None) -> str:
    """Return a time with its offset.  A named time zone needs the *date*."""
    match = _TIME.fullmatch(text)
    if match is None:
        return text
    seconds = match["seconds"] or ":00"
    return f"{match['hour']:0>2}:{match['minute']}{seconds}{_parse_zone(match['zone'], date, match)}"


def _parse_zone(zone: str, date: str | None, time: re.Match[str]) -> str:
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


def _parse_number(field: NumberField, text: str) -> int | float:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    raise _invalid([type_error(field)])


def _parse_boolean(field: BooleanField, text: str) -> bool:
    if text in _YES | _NO:
        return text in _YES
    raise _invalid([type_error(field)])


def _parse_list(field: MultiChoiceField, text: str) -> list[Any]:
    if field.choices:
        return [choice.value for choice in OptionNames(field).select_several(text)]
    return [part.strip() for part in text.split("\n" if "\n" in text else ",") if part.strip()]


def _invalid(errors: Sequence[FieldError]) -> AnswerError:
    return AnswerError("; ".join(error.message for error in errors), tuple(errors))
