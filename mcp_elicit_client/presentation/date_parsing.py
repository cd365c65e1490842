"""Dates and times as people write them: the readings of a text in the formats of RFC 3339."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone, tzinfo

from mcp_elicit_client.core.validation.formats import FormatFault, is_date, is_date_time, is_time
from mcp_elicit_client.presentation.formatting import LOCAL_TIME_ZONE, find_zone
from mcp_elicit_client.presentation.locale_conventions import Conventions
from mcp_elicit_client.presentation.month_names import MonthNames, month_names
from mcp_elicit_client.presentation.relative_days import relative_days

_MAX_DATE = 60
"""The maximum number of characters of a date."""

# Patterns are compiled at their first use, because they would slow down the import.
_YEAR_FIRST = r"(?a)([0-9]{4})(?P<separator>[-/]|\. ?)([0-9]{1,2})(?P=separator)([0-9]{1,2})\.?"
_YEAR_LAST = r"(?a)([0-9]{1,2})(?P<separator>[-/]|\. ?)([0-9]{1,2})(?P=separator)([0-9]{4})\.?"
_EAST_ASIAN = r"(?:([0-9]{4}) ?[年년] ?)?([0-9]{1,2}) ?[月월] ?([0-9]{1,2}) ?[日日号號일]?"
_NUMBER_OR_WORD = r"(?i)([0-9]{1,4})(?![0-9])(?:st|nd|rd|th|er|\.?[ºª])?|([^\s\d,./-]+)\.?"
_BETWEEN = r"[\s,./-]*"
_WEEKDAY = r"^([^\W\d_]{1,20}(?:-[^\W\d_]{1,20})?)(?:\.?,|[. ])|\(([^\W\d_]{1,20})\.?\)|(?<=[日일]) ?([^\W\d_]{1,9})$"
_DATE_AND_TIME = (
    r"(?P<date>\D{0,30}\d.{4,60}?|\D{2,30}?)(?:[Tt]|,?[ \t]{1,9}(?:(?:at|um|à|a las)[ \t]{1,9})?|(?<=[日일)]))"
    r"(?P<time>[0-9]{1,2}(?:[:.][0-9]|[ \t]?[AaPp](?:\. ?)?[Mm]|[ \t][Uu]hr).{0,100})"
)
_HOURS = r"(?<![0-9])([0-9]{1,2}) ?(?:h(?=[ 0-9]|$)|[時시时点點])(?: ?(?:([0-9]{1,2}) ?[分분]|([0-9]{2})|([半반])))?"
_HALVES = {"午前": "AM", "上午": "AM", "오전": "AM", "午後": "PM", "下午": "PM", "오후": "PM"}
_HALF_FIRST = rf"({'|'.join(_HALVES)}) ?([0-9]{{1,2}})(:[0-9:]{{2,5}})"
_TIME = (
    r"(?a)(?P<hour>[0-9]{1,2})(?:[:.](?P<minute>[0-9]{2})(?P<seconds>:[0-9]{2}(?:\.[0-9]{1,9})?)?)?"
    r"(?:[ \t]?(?P<half>[AaPp])(?:\. ?)?[Mm]\.?(?![A-Za-z/]))?(?P<clock>[ \t][Uu]hr)?"
    r"(?:[ \t]{0,9}(?P<zone>[A-Za-z+\u2212-][A-Za-z0-9_+:/\u2212-]{0,63}))?"
)
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2009\u202f"), " ")
"""The spaces between the parts of formatted dates and times, which users paste."""
_MIN_OFFSET, _MAX_OFFSET = -12, 14
"""The hours from UTC that time zones have.  Thus ``09:00-17:30`` is no time with an offset."""
_OFFSET = r"(?ai)(?:UTC|GMT)?([+-])([0-9]{1,2}):?([0-9]{2})?"


class DateFaultError(Exception):
    """
    A date or a time that is understood but cannot be used.

    Attributes:
        fault: What is wrong with it.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.fault: FormatFault = FormatFault(code)


def check_time_zone(time_zone: str) -> None:
    """
    Check that the times of users can be read in *time_zone*: a name, an offset, or `LOCAL_TIME_ZONE`.

    Raises:
        ValueError: If it is not known.
    """
    try:
        offset = _offsets(time_zone, "2026-01-01 00:00")[0]
    except DateFaultError:
        offset = ""
    if not is_date_time(f"2026-01-01T00:00:00{offset}"):
        raise ValueError(
            f"`time_zone` {time_zone!r} is not known on this computer. Pass an IANA name such as 'Europe/Berlin', or"
            " an offset such as '+01:00'. If the name is correct, install the package tzdata."
        )


def date_readings(text: str, conventions: Conventions, time_zone: str | None = None) -> tuple[str, ...]:
    """
    Return the dates that *text* may mean, as ``2026-12-24``.

    The year has four digits.  If it stands last, the month is a number and
    the order of day and month is not the user's, both orders are readings.
    So they are in dates with dots where the month is first.
    A month may have a name, in the user's language or in English: ``24 Dec
    2026``, ``Dec 24, 2026``.  Without a year, the next and the previous such
    day are readings.  A weekday may stand before the date or, in East Asian
    languages, after it.  ``tomorrow`` is read if *time_zone* is known, and
    both days that ``next Friday`` may be are readings.  Text that cannot be a
    date is returned as it is.

    Raises:
        DateFaultError: If the year has two digits, or the weekday is wrong.
    """
    names = month_names(conventions.locale)
    if not any(map(str.isdigit, text)) and (days := relative_days(text, names, _today(time_zone))):
        return days
    readings = _readings(text, conventions)
    if any(map(is_date, readings)):
        return readings
    for match in re.finditer(_WEEKDAY, text):
        weekday = names.find_weekday(next(filter(None, match.groups())))
        if weekday is not None:
            days = _readings(f"{text[: match.start()]}{text[match.end() :]}".strip(), conventions)
            return _on_weekday(days, weekday)
    return readings


def _on_weekday(days: tuple[str, ...], weekday: int) -> tuple[str, ...]:
    """Return those of *days* that are on *weekday*; *days* if none of them exists."""
    # The year 0, which Python lacks, has the weekdays of 2000.
    dates = {day: date(int(day[:4]) or 2000, int(day[5:7]), int(day[8:])) for day in days if is_date(day)}
    fitting = tuple(day for day, found in dates.items() if found.weekday() == weekday)
    if dates and not fitting:
        raise DateFaultError("weekday")
    return fitting or days


def _readings(text: str, conventions: Conventions) -> tuple[str, ...]:
    if match := re.fullmatch(_YEAR_FIRST, text):
        return (_iso(match[1], match[3], match[4]),)
    if match := re.fullmatch(_YEAR_LAST, text):
        return _in_either_order(match[1], match[3], match[4], match["separator"], conventions)
    if match := re.fullmatch(_EAST_ASIAN, text):
        return (_iso(*match.groups()),) if match[1] else _without_year(int(match[2]), match[3])
    return _with_month_name(text, month_names(conventions.locale)) or (text,)


def _in_either_order(first: str, second: str, year: str, separator: str, conventions: Conventions) -> tuple[str, ...]:
    readings = [_iso(year, second, first), _iso(year, first, second)]
    if conventions.date_order == "mdy":
        readings.reverse()
    # With dots, most write the day first, also where the month is first elsewhere.
    is_usual = conventions.date_order == "dmy" or (conventions.date_order == "mdy" and not separator.startswith("."))
    if is_usual and is_date(readings[0]):
        return (readings[0],)
    # Without a valid reading, the error is about the order in which the month at least exists.
    with_month = [each for each in readings if 1 <= int(each[5:7]) <= 12]
    return tuple(dict.fromkeys(filter(is_date, readings))) or (*with_month, *readings)[:1]


def _with_month_name(text: str, names: MonthNames) -> tuple[str, ...]:
    """Return the readings of a date with the name of its month; empty if *text* is something else."""
    tokens = _tokens(text)
    words = [token for token in tokens if not token.isdigit() and not names.is_filler(token)]
    numbers = [token for token in tokens if token.isdigit()]
    months = names.find(words[0]) if len(words) == 1 else ()
    if not months:
        return ()
    match sorted(numbers, key=len):
        case [day] if len(day) <= 2:
            return tuple(reading for month in months for reading in _without_year(month, day))
        case [day, year] if len(day) <= 2 and len(year) == 4:
            return tuple(_iso(year, str(month), day) for month in months)
        case [_, _]:
            raise DateFaultError("year")
        case _:
            return ()


def _tokens(text: str) -> list[str]:
    """Return the numbers and words of *text*; empty if it contains something else."""
    number_or_word, separators = re.compile(_NUMBER_OR_WORD), re.compile(_BETWEEN)
    tokens, position = [], 0
    while len(text) <= _MAX_DATE and (match := number_or_word.match(text, position)):
        tokens.append(match[1] or match[2])
        between = separators.match(text, match.end())
        position = between.end() if between else match.end()
    return tokens if position == len(text) else []


def _without_year(month: int, day: str) -> tuple[str, ...]:
    """Return the next and the previous day of this name: nothing tells which one is meant."""
    today = date.today()  # noqa: DTZ011 -- any day of about now
    days = [_iso(str(year), str(month), day) for year in range(today.year - 8, today.year + 9)]
    valid = [each for each in days if is_date(each)]
    following = [each for each in valid if each >= today.isoformat()][:1]
    previous = [each for each in valid if each < today.isoformat()][-1:]
    return (*following, *previous) or (days[-1],)


def _today(time_zone: str | None) -> date | None:
    """Return the date in *time_zone*; None without one."""
    if not time_zone:
        return None
    offset = _offsets(time_zone, "")[0].replace("Z", "+00:00")
    zone = datetime.fromisoformat(f"2000-01-01T00:00:00{offset}").tzinfo if offset else _find_zone(time_zone)
    return datetime.now(timezone.utc).astimezone(zone).date()


def time_readings(text: str, time_zone: str | None) -> tuple[str, ...]:
    """
    Return the times that *text* may mean, as ``19:30:00+01:00``.

    A time has no date.  If the offset of its zone changes within this year,
    both are readings.
    """
    year = date.today().year  # noqa: DTZ011 -- any day of about now
    times = [_join_time(text, time_zone, f"{year}-{day}") for day in ("01-01", "07-01")]
    readings = tuple(dict.fromkeys(found for each in times for found in each))
    return tuple(filter(is_time, readings)) or readings[:1]


def date_time_readings(text: str, conventions: Conventions, time_zone: str | None) -> tuple[str, ...]:
    """
    Return the moments that *text* may mean, as ``2026-12-24T19:30:00+01:00``.

    Without a zone in the text, *time_zone* is used.  An hour that occurs
    twice, since the clocks are put back, has two readings.

    Raises:
        DateFaultError: If the zone is unknown, or the clocks skip the time.
    """
    match = re.fullmatch(_DATE_AND_TIME, _with_colons(text))
    if match is None:
        return date_readings(text, conventions, time_zone)
    days = date_readings(match["date"], conventions, time_zone)
    readings = [f"{day}T{time}" for day in days for time in _join_time(match["time"], time_zone, day)]
    return tuple(filter(is_date_time, readings)) or tuple(readings[:1])


def names_time_zone(text: str) -> bool:
    """Return True if the date and time *text* says in which time zone it is."""
    text = _with_colons(text)
    match = re.fullmatch(_DATE_AND_TIME, text)
    time = re.fullmatch(_TIME, match["time"] if match else text)
    return time is not None and time["zone"] not in (None, LOCAL_TIME_ZONE)


def _with_colons(text: str) -> str:
    """Return *text* with its times as ``19:30`` or ``7:30 PM``, not ``19h30`` or ``午後7時30分``, and plain spaces."""

    def join(match: re.Match[str]) -> str:
        minutes = "30" if match[4] else match[2] or match[3] or "00"
        return f"{match[1]}:{minutes:0>2}"

    def move_half(match: re.Match[str]) -> str:
        # Noon and midnight are also called 0 o'clock of their half.
        return f" {int(match[2]) or 12}{match[3]} {_HALVES[match[1]]}"

    return re.sub(_HALF_FIRST, move_half, re.sub(_HOURS, join, text.translate(_SPACES))).strip()


def _iso(year: str, month: str, day: str) -> str:
    return f"{year}-{month:0>2}-{day:0>2}"


def _join_time(text: str, time_zone: str | None, day: str) -> tuple[str, ...]:
    """Return the times with offset that *text* may mean on *day*."""
    match = re.fullmatch(_TIME, _with_colons(text))
    if match is None or not (match["minute"] or match["half"] or match["clock"]):
        return (text,)
    hour = int(match["hour"])
    if match["half"]:
        if not 1 <= hour <= 12:
            raise DateFaultError("hour")
        hour = hour % 12 + (12 if match["half"] in "Pp" else 0)
    minutes = f"{hour:02}:{match['minute'] or '00'}"
    # Typed, `LOCAL_TIME_ZONE` is no zone: the user need not be at this computer.
    zone = time_zone if match["zone"] in (None, LOCAL_TIME_ZONE) else match["zone"]
    offsets = _offsets(zone, f"{day} {minutes}")
    return tuple(f"{minutes}{match['seconds'] or ':00'}{offset}" for offset in offsets)


def _offsets(zone: str | None, moment: str) -> tuple[str, ...]:
    """Return the offsets from UTC that *zone* has at *moment*: one, or two if the clocks are put back."""
    if not zone:
        return ("",)
    zone = zone.replace("\u2212", "-")
    if zone.upper() in ("Z", "UTC", "GMT"):
        return ("Z",)
    if offset := re.fullmatch(_OFFSET, zone):
        if not _MIN_OFFSET <= int(f"{offset[1]}{offset[2]}") <= _MAX_OFFSET:
            raise DateFaultError("unknown_zone")
        return (f"{offset[1]}{offset[2]:0>2}:{offset[3] or '00'}",)
    try:
        naive = datetime.fromisoformat(moment)
    except ValueError:  # what is wrong with the date or the time is found later
        return ("",)
    first, second = (_offset(naive.replace(fold=fold), _find_zone(zone)) for fold in (0, 1))
    if first == second:
        return (first,)
    if _minutes(first) < _minutes(second):
        raise DateFaultError("skipped")
    return (first, second)


def _find_zone(zone: str) -> tzinfo | None:
    """Return the time zone *zone*; None for that of this computer."""
    try:
        return find_zone(zone)
    except ValueError:
        raise DateFaultError("unknown_zone") from None


def _offset(naive: datetime, zone: tzinfo | None) -> str:
    try:
        moment = naive.astimezone() if zone is None else naive.replace(tzinfo=zone)
        spelled = f"{moment:%z}"
    except (OverflowError, OSError, ValueError):  # too far from now
        raise DateFaultError("zone") from None
    if len(spelled) != len("+0100"):  # an offset with seconds cannot be sent
        raise DateFaultError("zone")
    return f"{spelled[:3]}:{spelled[3:]}"


def _minutes(offset: str) -> int:
    return int(f"{offset[0]}1") * (int(offset[1:3]) * 60 + int(offset[4:]))
