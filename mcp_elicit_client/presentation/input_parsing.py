"""The meaning of typed text: the same in every user interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from typing_extensions import assert_never

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.form import (
    BooleanField,
    ChoiceField,
    Field,
    MultiChoiceField,
    NumberField,
    TextField,
    choices_by_key,
)
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.request import FormRequest, limits_of, user_and_server_of
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.core.text import unify_line_breaks
from mcp_elicit_client.core.validation.content import to_json_value, validate_value
from mcp_elicit_client.core.validation.field_errors import (
    AnswerError,
    FieldError,
    field_error,
    format_error,
    type_error,
)
from mcp_elicit_client.core.validation.formats import FORMATS, FormatFault
from mcp_elicit_client.core.validation.patterns import NO_USER
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.formatting import LOCAL_TIME_ZONE
from mcp_elicit_client.presentation.locale_conventions import (
    CANONICAL_LOCALE,
    conventions_of,
    narrow,
)
from mcp_elicit_client.presentation.number_parsing import number_readings, number_text
from mcp_elicit_client.presentation.option_names import OptionNames, has_comma, quote_commas, split_list

__all__ = ["CANONICAL_LOCALE", "InputContext", "parse_text", "to_text"]

_Reading = TypeVar("_Reading")

_LONG_TEXT = 500
"""The maximum number of characters from which on a text may have several lines."""

_LONG_FORMATS = frozenset({"textarea", "multiline", "multi-line", "markdown"})

_YES = frozenset({"y", "yes", "true", "on", "1"})
_NO = frozenset({"n", "no", "false", "off", "0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class InputContext:
    """
    The locale, time zone and language that decide what typed text means, and the budget for checking patterns.

    Attributes:
        locale: The user's locale as a BCP 47 tag, such as ``de-AT``, if
            known.  It decides where a number or a date has two readings;
            ``CANONICAL_LOCALE`` is for texts that a program wrote.
        time_zone: The user's time zone if known: an IANA name such as
            ``Europe/Berlin``, an offset such as ``+01:00``, or
            ``local`` for that of this computer.
        catalog: The texts that the user reads: its words for yes and no may
            be typed.  None for English.
        limits: The host's limits of the answer.
        user_and_server: The user and server whose budgets the patterns use.
    """

    locale: str | None = None
    time_zone: str | None = None
    catalog: MessageCatalog | None = None
    limits: Limits = DEFAULT_LIMITS
    user_and_server: tuple[str | None, str] = NO_USER

    @classmethod
    def for_request(
        cls,
        request: FormRequest,
        *,
        locale: str | None = None,
        time_zone: str | None = None,
        catalog: MessageCatalog | None = None,
    ) -> InputContext:
        """Return the context of what a user with *locale*, *time_zone* and *catalog* types to answer *request*."""
        return cls(
            locale=locale,
            time_zone=time_zone,
            catalog=catalog,
            limits=limits_of(request),
            user_and_server=user_and_server_of(request),
        )


def context_of_this_computer(request: FormRequest, catalog: MessageCatalog) -> InputContext:
    """Return the context of what a user of this computer types to answer *request*: with its time zone."""
    return InputContext.for_request(request, locale=catalog.locale, time_zone=LOCAL_TIME_ZONE, catalog=catalog)


DEFAULT_CONTEXT = InputContext()


def parse_text(field: Field, text: str, context: InputContext = DEFAULT_CONTEXT) -> Any:
    """
    Return the value that *text* means for *field*.

    - Numbers are digits, also Arabic or wide ones, with a decimal point or comma, and with
      separators of thousands.  The whole text must be a number: ``12abc`` and
      ``1_000`` are errors.
    - A number or a date that can be read in one way is read so: ``7,5``,
      ``24.12.2026``.  Of two readings the user's locale decides: ``1.000`` is
      1 or 1000.  Where it does not decide, the error names both.
    - A month may have a name, in the user's language or in English.  Without
      a year, the error names the next and the previous such day.
    - A day may be ``today``, ``tomorrow``, ``yesterday`` or a day of the week,
      in English, German, French, Spanish or Japanese.  Where it may be two
      days, as ``next Friday``, the error names both.
    - A duration may have units, in English or in the user's language:
      ``1 day 12 hours``, ``1.5 h``.
    - ``yes`` and ``no`` have short forms: ``y``, ``true``, ``on``, ``1``.  They may be in the user's language.
    - An option is its label, as it is shown.  It is also its title or its
      value, in any case, or its number in the list, from 1 on, if
      `accepts_option_numbers`.  Text that fits several options is an error.
    - Lists are separated by line breaks, or by commas if there are none: also
      by those of East Asian and Arabic keyboards.
      Values and labels with commas may be in double quotes.
    - A date and time may have a space instead of ``T`` and no seconds, and
      12 hours with ``am`` or ``pm``.  Its time zone is an offset, ``UTC`` or a
      name such as ``Europe/Berlin``; without one it is the user's.
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
        TypeError: If *text* is not a string.
    """
    check_type("text", text, str)
    value = parse_without_checks(field, text, context)
    errors = validate_value(field, value, context.limits, context.user_and_server)
    if errors:
        raise _invalid(errors)
    return to_json_value(field, value)


def to_text(field: Field, value: Any, context: InputContext = DEFAULT_CONTEXT) -> str:
    """Return the text that `parse_text` reads as *value*: for inputs that show a value to be edited."""
    match field:
        case MultiChoiceField():
            options = choices_by_key(field)
            texts = [field.label_of(options[json_key(each)]) if field.choices else str(each) for each in value]
            line = ", ".join(texts if field.choices else map(quote_commas, texts))
            if _is_one_line(field, line, texts):
                return line
            return f"{texts[0]}\n" if len(texts) == 1 else "\n".join(texts)
        case BooleanField():
            return "yes" if value else "no"
        case ChoiceField():
            return field.label_of(choices_by_key(field)[json_key(value)])
        case NumberField():
            return number_text(value, conventions_of(context.locale))
        case TextField():
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
            return is_long_text(field)
        case MultiChoiceField():
            return not field.choices
        case NumberField() | BooleanField() | ChoiceField():
            return False
        case _:
            assert_never(field)


def is_long_text(field: TextField) -> bool:
    """
    Return True if an answer of several lines suits *field*.

    The default value has several lines, the limit of its length is high, or
    the server's format is a hint for long text.
    """
    if field.is_hidden or field.format in FORMATS:
        return False
    has_lines = any(line_break in (field.default or "") for line_break in "\r\n")
    return has_lines or (field.max_length or 0) >= _LONG_TEXT or (field.format or "").casefold() in _LONG_FORMATS


def parse_without_checks(field: Field, text: str, context: InputContext = DEFAULT_CONTEXT) -> Any:
    """
    Return the value that *text* means for *field*, without checking the field's limits.

    Raises:
        AnswerError: If the text has no meaning for this kind of field.
    """
    text = unify_line_breaks(text)
    match field:
        case TextField():
            return _parse_text_field(field, text, context)
        case NumberField():
            return _parse_number(field, text.strip(), context)
        case BooleanField():
            return _parse_boolean(field, narrow(text).strip().casefold(), context.catalog)
        case ChoiceField():
            return OptionNames(field).select(text).value
        case MultiChoiceField():
            return _parse_list(field, text)
        case _:
            assert_never(field)


def _parse_text_field(field: TextField, text: str, context: InputContext) -> str:
    row = FORMATS.get(field.format or "")
    stripped = text.strip() if row is not None and row.strip else text
    match field.format:
        case "date" | "time" | "date-time" | "duration" as name:
            return _parse_temporal(field, name, narrow(stripped), context)
        case _:
            return stripped


def _parse_temporal(field: TextField, name: str, text: str, context: InputContext) -> str:
    # These modules are slow to import, and are needed only once a user has typed a date or a duration.
    from mcp_elicit_client.presentation.date_parsing import (
        DateFaultError,
        date_readings,
        date_time_readings,
        time_readings,
    )
    from mcp_elicit_client.presentation.duration_parsing import duration_readings

    conventions = conventions_of(context.locale)
    try:
        match name:
            case "date":
                readings = date_readings(text, conventions, context.time_zone)
            case "time":
                readings = time_readings(text, context.time_zone)
            case "date-time":
                readings = date_time_readings(text, conventions, context.time_zone)
            case _:
                readings = duration_readings(text, context.locale)
    except DateFaultError as error:
        raise _invalid([format_error(field.name, name, error.fault)]) from None
    return _only(field, readings, readings, format_error(field.name, name, FormatFault()))


def _parse_number(field: NumberField, text: str, context: InputContext) -> int | float:
    conventions = conventions_of(context.locale)
    readings = number_readings(narrow(text), conventions)
    return _only(field, readings, [number_text(each, conventions) for each in readings], type_error(field))


def _only(field: Field, readings: Sequence[_Reading], texts: Sequence[str], otherwise: FieldError) -> _Reading:
    """Return the only one of *readings*; an error with their *texts* if there are several."""
    if len(readings) == 1:
        return readings[0]
    if not readings or field.is_hidden:  # what is hidden is not shown in an error
        raise _invalid([otherwise])
    raise _invalid([field_error(field.name, "ambiguous", first=texts[0], second=texts[1])])


def _parse_boolean(field: BooleanField, text: str, catalog: MessageCatalog | None) -> bool:
    if catalog is not None:
        from mcp_elicit_client.presentation.word_choices import find_yes_or_no  # slow, and only for booleans

        is_yes = find_yes_or_no(text, catalog)
        if is_yes is not None:
            return is_yes
    if text in _YES | _NO:
        return text in _YES
    raise _invalid([type_error(field)])


def _parse_list(field: MultiChoiceField, text: str) -> list[Any]:
    if field.choices:
        return [choice.value for choice in OptionNames(field).select_several(text)]
    parts = text.split("\n") if "\n" in text else split_list(text)
    return [part.strip() for part in parts if part.strip()]


def _is_one_line(field: MultiChoiceField, line: str, texts: Sequence[str]) -> bool:
    """Return True if *line* can only mean *texts*."""
    if field.choices:
        return not any(has_comma(each) for each in (*texts, *map(field.label_of, field.choices)))
    return _parse_list(field, line) == list(texts)


def _invalid(errors: Sequence[FieldError]) -> AnswerError:
    return AnswerError("; ".join(error.message for error in errors), tuple(errors))
