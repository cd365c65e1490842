"""
Numbers, dates and times as people in a locale write them, with Babel.

Without the extra ``languages``, without a locale, and where Babel does not
know the locale, numbers have a decimal point, and dates and times have the
format of ISO 8601.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

DateOrder: TypeAlias = Literal["ymd", "dmy", "mdy"]
"""The order of year, month and day in a date of digits."""

LOCAL_TIME_ZONE = "local"
"""The time zone of this computer."""

_GROUPED_FROM = 10_000
"""The smallest number with separators between groups of digits: years and small numbers have none."""

_AMBIGUOUS_WITHOUT_TERRITORY = frozenset({"en"})
"""Languages whose countries differ in the order of day and month."""


class NumberSymbols(NamedTuple):
    """The decimal separator, and the separator between groups of digits."""

    decimal: str = "."
    group: str = ""


@lru_cache(maxsize=64)
def find_locale(tag: str | None) -> Any:
    """Return Babel's locale for a BCP 47 tag; None if Babel does not know it or is not installed."""
    if not tag or find_spec("babel") is None:
        return None
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(tag, sep="-")
    except (UnknownLocaleError, ValueError):
        return None


def number_symbols(tag: str | None) -> NumberSymbols:
    """Return the separators in numbers of the locale *tag*; a point and nothing if it is unknown."""
    locale = find_locale(tag)
    if locale is None:
        return NumberSymbols()
    from babel.numbers import get_decimal_symbol, get_group_symbol

    return NumberSymbols(get_decimal_symbol(locale), get_group_symbol(locale))


@lru_cache(maxsize=64)
def date_order(tag: str | None) -> DateOrder | None:
    """Return the order of dates in the locale *tag*; None if it is unknown, or differs between its countries."""
    locale = find_locale(tag)
    if locale is None or (locale.territory is None and locale.language in _AMBIGUOUS_WITHOUT_TERRITORY):
        return None
    found = "".join(dict.fromkeys(re.findall("[ymd]", locale.date_formats["short"].pattern.lower())))
    orders: dict[str, DateOrder] = {"ymd": "ymd", "dmy": "dmy", "mdy": "mdy"}
    return orders.get(found)


def format_time_left(seconds: int) -> str:
    """
    Return a number of seconds as a clock counts them down, with hours only from one hour on.

    Examples:
        >>> format_time_left(238), format_time_left(7_190)
        ('3:58', '1:59:50')
    """
    minutes, seconds = divmod(max(seconds, 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def format_number(value: float | Decimal, tag: str | None) -> str:
    """
    Return *value* with all of its digits and the decimal separator of the locale *tag*.

    It has no separators between groups of digits, since it may be a year or
    a postal code.
    """
    text = str(value)
    decimal = number_symbols(tag).decimal
    return text if decimal == "." else text.replace(".", decimal)


def format_count(count: int, tag: str | None) -> str:
    """Return a number of things, with separators between groups of digits if it is large."""
    locale = find_locale(tag) if abs(count) >= _GROUPED_FROM else None
    if locale is None:
        return str(count)
    from babel.numbers import format_decimal

    text: str = format_decimal(count, locale=locale)
    return text


def format_date(value: date, tag: str | None) -> str:
    """Return a date, such as ``Dec 24, 2026`` or ``24.12.2026``."""
    locale = find_locale(tag)
    if locale is None:
        return value.isoformat()
    from babel import dates

    text: str = dates.format_date(value, "medium", locale=locale)
    return text


def format_time(value: time, tag: str | None) -> str:
    """Return a time of day without its time zone, and without seconds if they are zero."""
    locale = find_locale(tag)
    has_seconds = bool(value.second or value.microsecond)
    if locale is None or value.microsecond:
        return value.replace(tzinfo=None).isoformat("auto" if has_seconds else "minutes")
    from babel import dates

    text: str = dates.format_time(value.replace(tzinfo=None), "medium" if has_seconds else "short", locale=locale)
    return text


def format_date_time(value: datetime, tag: str | None) -> str:
    """Return a date and time with the distance of its time zone from UTC, such as ``24.12.2026, 19:30 UTC+01:00``."""
    locale = find_locale(tag)
    day, moment = format_date(value.date(), tag), format_time(value.time(), tag)
    if locale is None:
        text = f"{day} {moment}"
    else:
        text = str(locale.datetime_formats["medium"]).replace("{1}", day).replace("{0}", moment).replace("'", "")
    return f"{text}{_zone(value)}"


def _zone(value: datetime | time) -> str:
    if value.utcoffset() is None:
        return ""
    offset = value.isoformat()[-6:]
    return " UTC" if offset == "+00:00" else f" UTC{offset}"


def find_zone(name: str) -> tzinfo | None:
    """
    Return the time zone *name*, an IANA name; None for `LOCAL_TIME_ZONE`.

    Raises:
        ValueError: If it is not known.
    """
    if name == LOCAL_TIME_ZONE:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ZoneInfoNotFoundError) as error:
        raise ValueError(str(error)) from None


def moment_text(moment: datetime, time_zone: str | None) -> str:
    """
    Return *moment* in the time zone *time_zone*: ``19:30:00``; ``18:30:00 UTC`` if it is not known.

    If it is more than a day ahead, the text begins with the date.
    """
    try:
        zone = timezone.utc if time_zone is None else find_zone(time_zone)
    except ValueError:  # such as an offset
        zone = timezone.utc
    shown = moment.astimezone(zone)
    date_text = f"{shown:%Y-%m-%d} " if moment - datetime.now(timezone.utc) > timedelta(days=1) else ""
    return f"{date_text}{shown:%H:%M:%S}{' UTC' if zone is timezone.utc else ''}"


def format_temporal(text: str, kind: str, tag: str | None) -> str:
    """
    Return the value *text* of a field as people write it; unchanged if it cannot be read, or if no locale is known.

    Args:
        text: A valid date, time, or date and time of RFC 3339.
        kind: The format of the field: ``date``, ``time`` or ``date-time``.
        tag: The locale.
    """
    if find_locale(tag) is None:
        return text
    normalized = re.sub("[zZ]$", "+00:00", text)
    try:
        match kind:
            case "date":
                return format_date(date.fromisoformat(normalized), tag)
            case "time":
                moment = time.fromisoformat(normalized)
                return f"{format_time(moment, tag)}{_zone(moment)}"
            case "date-time":
                return format_date_time(datetime.fromisoformat(normalized.replace("t", "T")), tag)
            case _:
                return text
    except ValueError:  # such as a leap second
        return text
