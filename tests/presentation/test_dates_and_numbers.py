"""Dates, times and numbers as people write them: one documented reading, or an error that names several."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import babel.dates
import pytest
from babel.localedata import locale_identifiers
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_elicit_client import AnswerError, NumberField, TextField, validate
from mcp_elicit_client.core.form import Field
from mcp_elicit_client.core.validation.formats import is_date, is_date_time
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.descriptions import sent_note
from mcp_elicit_client.presentation.form_input import OMITTED, read_field
from mcp_elicit_client.presentation.formatting import LOCAL_TIME_ZONE, format_date
from mcp_elicit_client.presentation.input_parsing import CANONICAL_LOCALE, InputContext, parse_text, to_text
from mcp_elicit_client.presentation.languages import to_tag
from tests.support import form_params, table

pytest.importorskip("babel", reason="the extra languages is not installed")

NUMBER = NumberField(name="n", title="N")
HIDDEN = NumberField(name="n", title="N", sensitive=True)
TAGS = sorted(filter(None, {to_tag(each) for each in locale_identifiers()}))
LOCALES: list[str | None] = [None, CANONICAL_LOCALE, *TAGS]


def field_for(format_name: str) -> Field:
    return NUMBER if format_name == "number" else TextField(name="t", title="T", format=format_name)


def context_of(row: dict[str, Any]) -> InputContext:
    return InputContext(locale=row.get("locale"), time_zone=row.get("time_zone"))


@pytest.mark.parametrize("row", table("dates_and_numbers"), ids=lambda row: " ".join(map(str, row.values())))
def test_a_date_or_number_is_read_as_its_row_says(row: dict[str, Any]) -> None:
    field, context = field_for(row["format"]), context_of(row)
    if "error" in row:
        with pytest.raises(AnswerError) as caught:
            parse_text(field, row["text"], context)
        assert str(caught.value) == row["error"]
    else:
        value = parse_text(field, row["text"], context)
        assert (value, type(value)) == (row["value"], type(row["value"]))


AMBIGUOUS = [row for row in table("dates_and_numbers") if " or " in row.get("error", "").partition("such as")[0]]


@pytest.mark.parametrize("row", AMBIGUOUS, ids=lambda row: " ".join(map(str, row.values())))
def test_both_readings_that_an_error_names_are_accepted(row: dict[str, Any]) -> None:
    field, context = field_for(row["format"]), context_of(row)
    readings = re.findall(r"Enter (.+) or (.+)\.$", row["error"])[0]

    values = [parse_text(field, reading, context) for reading in readings]

    assert values[0] != values[1]


@pytest.mark.parametrize(
    ("text", "days", "locale"),
    [
        ("today", 0, None),
        ("Tomorrow", 1, "de-DE"),
        ("yesterday", -1, None),
        ("übermorgen", 2, "de-DE"),
        ("aujourd\u2019hui", 0, "fr-FR"),
        ("mañana", 1, "es-ES"),
        ("明日", 1, "ja-JP"),
    ],
)
@pytest.mark.parametrize("time_zone", ["+14:00", "-12:00", "Pacific/Kiritimati", "local", "Z"])
def test_a_day_beside_today_is_one_in_the_time_zone_of_the_user(
    text: str, days: int, locale: str | None, time_zone: str
) -> None:
    hours = {"+14:00": 14, "Pacific/Kiritimati": 14, "-12:00": -12}.get(time_zone)
    zone = None if time_zone == "local" else timezone(timedelta(hours=hours or 0))
    before = datetime.now(zone).date()

    value = parse_text(field_for("date"), text, InputContext(locale=locale, time_zone=time_zone))

    after = datetime.now(zone).date()
    assert value in {(day + timedelta(days=days)).isoformat() for day in (before, after)}


@pytest.mark.parametrize(
    ("text", "locale", "days"),
    [
        ("next {}", "en-US", (3, 10)),
        ("{}", "en-US", (3, -4)),
        ("on {}", "en-US", (3, -4)),
        ("nächsten {}", "de-DE", (3, 10)),
        ("{} prochain", "fr-FR", (3, 10)),
        ("próximo {}", "es-ES", (3, 10)),
        ("次の{}", "ja-JP", (3, 10)),
    ],
)
def test_both_days_that_a_weekday_may_be_are_named(text: str, locale: str, days: tuple[int, int]) -> None:
    today = date.today()  # noqa: DTZ011 -- that of this computer
    name = babel.dates.format_date(today + timedelta(days=3), "EEEE", locale=locale.replace("-", "_"))
    first, second = (today + timedelta(days=each) for each in days)

    with pytest.raises(AnswerError) as caught:
        parse_text(field_for("date"), text.format(name), InputContext(locale=locale, time_zone=LOCAL_TIME_ZONE))

    assert caught.value.errors[0].params == {"first": first.isoformat(), "second": second.isoformat()}


def test_a_weekday_of_this_week_or_the_last_one_is_read_with_a_time() -> None:
    today = date.today()  # noqa: DTZ011 -- that of this computer
    weekday = f"{today + timedelta(days=2):%A}"
    context = InputContext(time_zone=LOCAL_TIME_ZONE)

    assert parse_text(field_for("date"), f"this {weekday}", context) == (today + timedelta(days=2)).isoformat()
    assert parse_text(field_for("date"), f"last {weekday}", context) == (today - timedelta(days=5)).isoformat()
    moment = parse_text(field_for("date-time"), f"this {weekday} 14:30", InputContext(time_zone="+01:00"))
    assert moment.endswith("T14:30:00+01:00")


def test_the_readings_of_hidden_text_are_not_shown() -> None:
    with pytest.raises(AnswerError, match=r"^Enter a number, such as 7\.5\.$"):
        parse_text(HIDDEN, "1.000")


def test_an_error_of_a_value_names_its_fault() -> None:
    request = form_params({"properties": {"on": {"type": "string", "format": "date"}}})
    texts = ["2026-13-45", "2026-02-30", "24.12.2026", "24.12.26", "foo"]

    assert [validate(request, {"on": text}).errors[0].message for text in texts] == [
        "Enter a month from 1 to 12.",
        "Enter a day from 1 to 28.",
        "Enter a date as YYYY-MM-DD.",
        "Enter the year with four digits.",
        "Enter a date as YYYY-MM-DD.",
    ]


# --- What is sent is a documented reading


def documented(text: str, middle: tuple[int, ...] = (2, 3)) -> set[float]:
    """Return what the documentation says that *text* may mean, by another way than the parser."""
    readings = set()
    for decimal in ".,":
        for group in ["", *"., '\u2019\u00a0\u2009\u202f"]:
            whole, _, fraction = text.lstrip("+-").partition(decimal)
            parts = whole.split(group) if group and group != decimal else [whole]
            grouped = len(parts) == 1 or (
                len(parts[0]) in (1, 2, 3)
                and parts[0][0] != "0"
                and all(len(part) in middle for part in parts[1:-1])
                and len(parts[-1]) == 3
            )
            digits = "".join(parts)
            if grouped and re.fullmatch("[0-9]*", digits + fraction) and digits + fraction:
                readings.add(float(f"{digits or '0'}.{fraction or '0'}") * (-1 if text[0] == "-" else 1))
    return readings


TYPED_NUMBERS = st.from_regex(r"[-+]?[0-9]{0,4}([., '\u202f][0-9]{1,4}){0,3}", fullmatch=True)


@given(TYPED_NUMBERS, st.sampled_from(LOCALES))
def test_a_number_that_is_sent_is_one_of_its_documented_readings(text: str, locale: str | None) -> None:
    state = read_field(NUMBER, text, InputContext(locale=locale))

    assert not state.is_set or state.value in documented(text.strip())


@given(TYPED_NUMBERS)
def test_without_a_locale_only_a_number_with_one_reading_is_sent(text: str) -> None:
    state = read_field(NUMBER, text)

    assert not state.is_set or {state.value} == documented(text.strip(), middle=(3,))


@given(
    st.integers(1, 99), st.integers(1, 99), st.integers(1000, 9999), st.sampled_from("./-"), st.sampled_from(LOCALES)
)
def test_a_date_that_is_sent_has_the_digits_that_were_typed(
    first: int, second: int, year: int, separator: str, locale: str | None
) -> None:
    typed = f"{first}{separator}{second:02}{separator}{year}"
    readings = {f"{year}-{second:02}-{first:02}", f"{year}-{first:02}-{second:02}"}
    possible = {each for each in readings if is_date(each)}

    state = read_field(field_for("date"), typed, InputContext(locale=locale))

    assert not state.is_set or state.value in possible
    assert state.is_set or len(possible) != 1
    if locale is None:
        assert state.is_set == (len(possible) == 1)


# --- Names of months


@pytest.mark.parametrize(
    ("typed", "locale"), [("24 Nov", None), ("Nov 24", "en-US"), ("24. November", "de"), ("11月24日", "ja")]
)
def test_a_day_without_a_year_is_refused_with_the_next_and_the_previous_one(typed: str, locale: str | None) -> None:
    state = read_field(field_for("date"), typed, InputContext(locale=locale))

    assert not state.is_set
    first, second = (date.fromisoformat(state.errors[0].params[name]) for name in ("first", "second"))
    assert (first.month, first.day) == (second.month, second.day) == (11, 24)
    assert second < date.today() <= first  # noqa: DTZ011
    assert first.year - second.year == 1


def test_a_leap_day_without_a_year_is_refused_with_days_that_exist() -> None:
    (error,) = read_field(field_for("date"), "29 February").errors

    assert all(is_date(error.params[name]) for name in ("first", "second"))


@given(
    st.dates(date(1970, 1, 1)),
    st.sampled_from(["en-US", "en-GB", "de-AT", "fr-CA", "es-MX", "ja-JP", "zh-TW", "ko", "ru"]),
)
def test_a_date_is_read_as_the_pages_and_forms_show_it(day: date, locale: str) -> None:
    context = InputContext(locale=locale)

    assert parse_text(field_for("date"), format_date(day, locale), context) == day.isoformat()
    for style in ("medium", "long", "full"):
        shown = babel.dates.format_date(day, style, locale=locale.replace("-", "_"))
        assert parse_text(field_for("date"), shown, context) == day.isoformat()


@given(
    st.text(max_size=80) | st.from_regex(r"[0-9 .,-]{0,9}[a-zäö]{0,9}[0-9 .,T:-]{0,20}", fullmatch=True),
    st.sampled_from([None, "de", "fi", "fr", "ja", "lt"]),
)
def test_only_a_valid_date_is_ever_sent(typed: str, locale: str | None) -> None:
    state = read_field(field_for("date"), typed, InputContext(locale=locale))

    assert not state.is_set or is_date(state.value)


ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC", "+05:45", LOCAL_TIME_ZONE]


@given(st.datetimes(), st.sampled_from(ZONES))
def test_a_time_without_a_zone_is_sent_as_a_time_in_the_zone_of_the_user(moment: datetime, zone: str) -> None:
    typed = moment.isoformat(" ", "minutes")

    state = read_field(field_for("date-time"), typed, InputContext(time_zone=zone))

    if state.is_set:
        sent = datetime.fromisoformat(state.value.replace("Z", "+00:00"))
        assert sent.replace(tzinfo=None) == datetime.fromisoformat(typed)
        assert sent.astimezone(_zone(zone)).replace(tzinfo=None) == datetime.fromisoformat(typed)
        assert sent_note(field_for("date-time"), typed, state.value, ENGLISH).startswith("Your time zone: ")
    else:
        ours = [_offset(datetime.fromisoformat(typed).replace(fold=fold), zone) for fold in (0, 1)]
        assert ours[0] != ours[1] or ours[0].seconds % 60


def _zone(name: str) -> Any:
    """Return the time zone; None for that of the system."""
    if name == "+05:45":
        return timezone(timedelta(hours=5, minutes=45))
    return ZoneInfo(name) if name != LOCAL_TIME_ZONE else None


def _offset(naive: datetime, name: str) -> timedelta:
    zone = _zone(name)
    return (naive.astimezone() if zone is None else naive.replace(tzinfo=zone)).utcoffset() or timedelta()


@given(
    st.one_of(st.integers(-(2**53) + 1, 2**53 - 1), st.floats(allow_nan=False, allow_infinity=False)),
    st.sampled_from(LOCALES),
)
@example(1.001e100, None)  # in digits: a thousand and one, or about one
@example(-1.234e-07, None)
def test_a_number_that_is_shown_for_editing_is_read_back(value: float, locale: str | None) -> None:
    context = InputContext(locale=locale)

    assert parse_text(NUMBER, to_text(NUMBER, value, context), context) == value


@given(st.decimals(-(10**9), 10**9, places=3), st.sampled_from(TAGS))
def test_a_number_in_the_format_of_a_locale_is_read_back_or_refused(value: Any, locale: str) -> None:
    from babel.numbers import format_decimal

    text = format_decimal(value, format="#,##0.###", locale=locale.replace("-", "_"))

    state = read_field(NUMBER, text, InputContext(locale=locale))

    assert not state.is_set or state.value == float(value)
    if re.fullmatch("[0-9]+([.,][0-9]+)?", text):
        assert state.is_set


@given(st.text(max_size=40), st.sampled_from(["date", "time", "date-time"]), st.sampled_from(["", *ZONES]))
def test_no_text_of_a_date_raises_anything_but_an_answer_error(text: str, format_name: str, zone: str) -> None:
    state = read_field(field_for(format_name), text, InputContext(time_zone=zone or None))

    assert not state.is_set or format_name != "date-time" or is_date_time(state.value)


# --- What a person sees


@pytest.mark.parametrize(
    ("field", "typed", "value", "note"),
    [
        (NUMBER, "7,5", 7.5, "Sent as 7.5"),
        (NUMBER, "7.5", 7.5, ""),
        (NUMBER, "1.000", 1000, "Sent as 1000"),
        (HIDDEN, "7,5", 7.5, ""),
        (NUMBER, "x", OMITTED, ""),
        (field_for("date"), "24.12.2026", "2026-12-24", "Sent as 2026-12-24"),
        (field_for("email"), " a@b.example ", "a@b.example", ""),
        (TextField(name="t", title="T"), " x ", " x ", ""),
        (
            field_for("date-time"),
            "2026-12-24 19:30",
            "2026-12-24T19:30:00+01:00",
            "Your time zone: +01:00. Sent as 2026-12-24T19:30:00+01:00",
        ),
        (field_for("date-time"), "2026-12-24 19:30 Z", "2026-12-24T19:30:00Z", "Sent as 2026-12-24T19:30:00Z"),
    ],
)
def test_a_note_says_what_is_sent_where_it_differs_from_what_was_typed(
    field: Field, typed: str, value: Any, note: str
) -> None:
    assert sent_note(field, typed, value, ENGLISH) == note
