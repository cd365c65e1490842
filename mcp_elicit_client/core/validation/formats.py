"""
Formats of text fields: one row of `FORMATS` for each.

The specification allows ``email``, ``uri``, ``date`` and ``date-time``.
Servers also send the others.
"""

from __future__ import annotations

import calendar
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any, NamedTuple

from mcp_elicit_client.core.messages import Message

# The patterns are compiled, and cached by `re`, when they are first used.
_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_LOCAL = rf"{_ATEXT}+(?:\.{_ATEXT}+)*"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
_LDH = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = rf"(?P<local>{_LOCAL}|{_QUOTED})@(?:(?P<domain>{_LDH}(?:\.{_LDH})*)|\[(?P<literal>[!-Z^-~]+)\])"

_UNRESERVED = r"A-Za-z0-9._~\-"
_SUB_DELIMS = r"!$&'()*+,;="
_PCT = r"%[0-9A-Fa-f]{2}"
_PCHAR = rf"(?:[{_UNRESERVED}{_SUB_DELIMS}:@]|{_PCT})"
_URI = rf"""
    [A-Za-z][A-Za-z0-9+.-]* :
    (?:
        // (?: (?:[{_UNRESERVED}{_SUB_DELIMS}:]|{_PCT})* @ )?
           (?: \[ (?P<ip> [0-9A-Fa-f:.]+ | [vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB_DELIMS}:]+ ) \]
             | (?:[{_UNRESERVED}{_SUB_DELIMS}]|{_PCT})* )
           (?: : [0-9]* )?
           (?: / {_PCHAR}* )*
      | / (?: {_PCHAR}+ (?: / {_PCHAR}* )* )?
      | {_PCHAR}+ (?: / {_PCHAR}* )*
      |
    )
    (?: \? (?:{_PCHAR}|[/?])* )?
    (?: \# (?:{_PCHAR}|[/?])* )?
    """

_DATE = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_DATE_TIME = (
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]"
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<off_hour>[0-9]{2}):(?P<off_minute>[0-9]{2}))"
)
_LEAP_SECOND = 60

# Dates and times as users may write them: they show what is wrong.
_ANY_DATE = r"([0-9]{1,9})-([0-9]{1,2})-([0-9]{1,2})"
_SHORT_YEAR = r"[0-9]{1,2}([-/.]) ?[0-9]{1,2}\1 ?[0-9]{2}\.?"
_ANY_TIME = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?(?![0-9:])\s*(?P<zone>(?:\S.*)?)"
_HOUR_PART = r"(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DURATION = (
    rf"P(?:[0-9]+W|(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)(?:T{_HOUR_PART})?|T{_HOUR_PART})"
)
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_HOSTNAME = rf"{_LDH}(?:\.{_LDH})*"


def is_email(text: str) -> bool:
    """Return True if *text* is a Mailbox of RFC 5321, in ASCII."""
    match = re.fullmatch(_EMAIL, text, re.ASCII)
    if match is None or len(match["local"]) > 64 or len(text) > 254:
        return False
    literal = match["literal"]
    if literal is None:
        return True
    return is_ipv6(literal[5:]) if literal[:5].upper() == "IPV6:" else is_ipv4(literal)


def is_uri(text: str) -> bool:
    """Return True if *text* is a URI of RFC 3986, with its scheme."""
    match = re.fullmatch(_URI, text, re.ASCII | re.VERBOSE)
    if match is None:
        return False
    return not match["ip"] or match["ip"][0] in "vV" or is_ipv6(match["ip"])


def is_date(text: str) -> bool:
    """Return True if *text* is a full-date of RFC 3339: ``2026-11-20``."""
    match = re.fullmatch(_DATE, text, re.ASCII)
    if match is None:
        return False
    year, month, day = (int(part) for part in match.groups())
    try:
        # RFC 3339 allows the year 0, which was a leap year.  Python does not.
        date(year or 2000, month, day)
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """
    Return True if *text* is a date-time of RFC 3339: ``2026-11-20T14:30:00+01:00``.

    A second 60 is allowed only where leap seconds occur: at 23:59:60 UTC.
    """
    match = re.fullmatch(_DATE_TIME, text, re.ASCII)
    if match is None or not is_date(match["date"]):
        return False
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"])
    off_hour, off_minute = int(match["off_hour"] or 0), int(match["off_minute"] or 0)
    if hour > 23 or minute > 59 or second > _LEAP_SECOND or off_hour > 23 or off_minute > 59:
        return False
    if second < _LEAP_SECOND:
        return True
    offset = timedelta(hours=off_hour, minutes=off_minute) * (-1 if match["sign"] == "-" else 1)
    utc = datetime(2000, 6, 15, hour, minute, tzinfo=timezone.utc) - offset
    return (utc.hour, utc.minute) == (23, 59)


def is_time(text: str) -> bool:
    """Return True if *text* is a full-time of RFC 3339: ``14:30:00Z``."""
    return is_date_time(f"2000-06-15T{text}")


class FormatFault(NamedTuple):
    """
    What is wrong with a date or a time.

    Attributes:
        code: A key of `FAULTS`; empty if nothing more is known than that the
            format is wrong.
        params: The parameters of its message.
    """

    code: str = ""
    params: Mapping[str, Any] = {}


FAULTS: Mapping[str, Message] = {
    "year": Message("Enter the year with four digits."),
    "month": Message("Enter a month from 1 to 12."),
    "day": Message("Enter a day from 1 to {max}."),
    "weekday": Message("The day of the week does not match the date."),
    "no_time": Message("Add a time, such as 14:30."),
    "hour": Message("Enter a time from 00:00 to 23:59."),
    "zone": Message("Add a time zone, such as +01:00."),
    "unknown_zone": Message("This time zone is unknown. Enter its distance from UTC, such as +01:00."),
    "skipped": Message("The clocks are put forward at this time. Enter another time."),
}
"""The message for each fault of a date or a time."""

_UNKNOWN_FAULT = FormatFault()


def date_fault(text: str) -> FormatFault:
    """Return what is wrong with the date *text*."""
    match = re.fullmatch(_ANY_DATE, text, re.ASCII)
    if match is None:
        return FormatFault("year") if re.fullmatch(_SHORT_YEAR, text, re.ASCII) else _UNKNOWN_FAULT
    year, month, day = (int(part) for part in match.groups())
    if len(match[1]) != len("2026"):
        return FormatFault("year")
    if not 1 <= month <= 12:
        return FormatFault("month")
    days = calendar.monthrange(year or 2000, month)[1]
    return _UNKNOWN_FAULT if 1 <= day <= days else FormatFault("day", {"max": days})


def time_fault(text: str) -> FormatFault:
    """Return what is wrong with the time *text*."""
    match = re.fullmatch(_ANY_TIME, text, re.ASCII)
    if match is None:
        return _UNKNOWN_FAULT
    if int(match[1]) > 23 or int(match[2]) > 59 or int(match[3] or 0) > 59:
        return FormatFault("hour")
    if not match["zone"]:
        return FormatFault("zone")
    is_zone = re.fullmatch(r"[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]", match["zone"], re.ASCII)
    return _UNKNOWN_FAULT if is_zone else FormatFault("unknown_zone")


def date_time_fault(text: str) -> FormatFault:
    """Return what is wrong with the date and time *text*: with its date first."""
    date_part, time_part = [*re.split(r"[Tt ]+", text, maxsplit=1), ""][:2]
    fault = date_fault(date_part)
    if fault.code or not is_date(date_part):
        return fault
    return time_fault(time_part) if time_part else FormatFault("no_time")


def is_duration(text: str) -> bool:
    """Return True if *text* is a duration of RFC 3339, appendix A: ``P1DT12H``."""
    return re.fullmatch(_DURATION, text, re.ASCII) is not None


def is_uuid(text: str) -> bool:
    """Return True if *text* is a UUID of RFC 9562, in digits and hyphens."""
    return re.fullmatch(_UUID, text, re.ASCII) is not None


def is_ipv4(text: str) -> bool:
    """Return True if *text* is an IPv4 address of four decimal numbers."""
    return _is_address(ipaddress.IPv4Address, text)


def is_ipv6(text: str) -> bool:
    """Return True if *text* is an IPv6 address without a zone."""
    return "%" not in text and _is_address(ipaddress.IPv6Address, text)


def is_hostname(text: str) -> bool:
    """Return True if *text* is a host name of RFC 1123."""
    return len(text) <= 253 and re.fullmatch(_HOSTNAME, text, re.ASCII) is not None


def _is_address(kind: Callable[[str], object], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


class Format(NamedTuple):
    """
    One format.

    Attributes:
        check: Returns True if a text has the format.
        error: The message that tells the user what to enter.
        name: The name of the format, for descriptions of a field.
        example: A valid text.
        html_input: The type of the HTML input.
        find_fault: Returns what is wrong with a text that lacks the format.
        strip: True if spaces around a typed text are removed.
    """

    check: Callable[[str], bool]
    error: Message
    name: Message
    example: str
    html_input: str
    find_fault: Callable[[str], FormatFault] = lambda _: _UNKNOWN_FAULT
    strip: bool = True


STANDARD_FORMATS = ("email", "uri", "date", "date-time")
"""The formats that the specification allows."""

FORMATS: Mapping[str, Format] = {
    "email": Format(
        is_email,
        error=Message("Enter an email address, such as name@example.com."),
        name=Message("email address"),
        example="name@example.com",
        html_input="email",
    ),
    "uri": Format(
        is_uri,
        error=Message("Enter a URL, such as https://example.com/."),
        name=Message("URL"),
        example="https://example.com/",
        html_input="url",
    ),
    "date": Format(
        is_date,
        error=Message("Enter a date as YYYY-MM-DD."),
        name=Message("date (YYYY-MM-DD)"),
        example="2026-11-20",
        html_input="date",
        find_fault=date_fault,
    ),
    "date-time": Format(
        is_date_time,
        error=Message("Enter a date and time, such as 2026-11-20 14:30."),
        name=Message("date and time"),
        example="2026-11-20T14:30:00+01:00",
        html_input="datetime-local",
        find_fault=date_time_fault,
    ),
    "time": Format(
        is_time,
        error=Message("Enter a time, such as 14:30 +01:00."),
        name=Message("time"),
        example="14:30:00+01:00",
        html_input="time",
        find_fault=time_fault,
    ),
    "duration": Format(
        is_duration,
        error=Message("Enter a duration, such as P1D (1 day) or PT30M (30 minutes)."),
        name=Message("duration"),
        example="P1DT12H",
        html_input="text",
    ),
    "uuid": Format(
        is_uuid,
        error=Message("Enter a UUID, such as 123e4567-e89b-12d3-a456-426614174000."),
        name=Message("UUID"),
        example="123e4567-e89b-12d3-a456-426614174000",
        html_input="text",
    ),
    "ipv4": Format(
        is_ipv4,
        error=Message("Enter an IPv4 address, such as 192.0.2.1."),
        name=Message("IPv4 address"),
        example="192.0.2.1",
        html_input="text",
    ),
    "ipv6": Format(
        is_ipv6,
        error=Message("Enter an IPv6 address, such as 2001:db8::1."),
        name=Message("IPv6 address"),
        example="2001:db8::1",
        html_input="text",
    ),
    "hostname": Format(
        is_hostname,
        error=Message("Enter a host name, such as www.example.com."),
        name=Message("host name"),
        example="www.example.com",
        html_input="text",
    ),
}
"""The formats that are checked, one row for each.  Any other format is a hint for user interfaces."""
