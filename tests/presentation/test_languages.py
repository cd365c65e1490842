"""The language of a user, and numbers, dates and times in their locale."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from mcp_elicit_client import parse_request
from mcp_elicit_client.core.validation.field_errors import field_error
from mcp_elicit_client.handlers.browser.access_control import chosen_messages
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.inbox import Inbox, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from mcp_elicit_client.presentation import formatting, messages
from mcp_elicit_client.presentation.catalog import MessageCatalog, available_languages
from mcp_elicit_client.presentation.descriptions import describe_field, format_value
from mcp_elicit_client.presentation.languages import from_accept_language, from_environment, to_tag
from tests.support import form_params, form_request, needs_babel
from tests.support.console import ScriptedConsole

HAVE = ("en", "de", "fr", "ja")
PAGE = {"accept": "text/html"}


# --- The environment


@pytest.mark.parametrize(
    ("environ", "language", "locale"),
    [
        ({}, "", None),
        ({"LANG": "C.UTF-8"}, "C.UTF-8", None),
        ({"LANG": "de_AT.UTF-8"}, "de_AT.UTF-8", "de-AT"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, "C", None),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "fr_FR"}, "fr_FR", "en-US"),
        ({"LANG": "en_US.UTF-8", "LC_NUMERIC": "de_DE", "LC_TIME": "de_DE"}, "en_US.UTF-8", "de-DE"),
        ({"LANG": "en_US.UTF-8", "LC_NUMERIC": "de_DE"}, "en_US.UTF-8", None),
        ({"LANG": "it_IT.UTF-8", "LANGUAGE": "it:fr_CA:de"}, "fr_CA", "it-IT"),
        ({"LANG": "C", "LANGUAGE": "de"}, "C", None),
        ({"LANG": "", "LC_ALL": "", "LC_MESSAGES": "de"}, "de", None),
    ],
)
def test_the_environment_names_the_language_and_the_locale(
    environ: dict[str, str], language: str, locale: str | None
) -> None:
    assert from_environment(HAVE, environ) == (language, locale)


@needs_babel
@pytest.mark.anyio
async def test_the_terminal_uses_the_language_of_the_environment_unless_it_has_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    request = parse_request(form_params({"properties": {"n": {"type": "number"}}}), server="mail")
    german, english = ScriptedConsole(["/cancel"]), ScriptedConsole(["/cancel"])

    await TerminalHandler(console=german)(request)
    await TerminalHandler(console=english, messages=MessageCatalog())(request)

    assert "mail bittet um 1 Antwort" in german.shown
    assert "mail asks for 1 answer" in english.shown


# --- The browser


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", ""),
        ("*", ""),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de-AT"),
        ("it-IT,it;q=0.9,ja;q=0.5,en;q=0.1", "ja"),
        ("fr;q=0.3, DE-ch;q=0.4", "de-CH"),
        ("de;q=0, en", "en"),
        ("pt-BR, it", "pt-BR"),
        ("de;q=nonsense, fr;q=0.1", "fr"),
        ("../../etc, <script>, de\0, fr", "fr"),
        ("x" * 100_000, ""),
    ],
)
def test_the_header_of_a_browser_names_the_language(header: str, language: str) -> None:
    assert from_accept_language(header, HAVE) == language


@given(st.text(max_size=60))
def test_any_header_names_a_tag_or_nothing(header: str) -> None:
    language = from_accept_language(header, HAVE)

    assert language == "" or to_tag(language) == language


@needs_babel
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("header", "chosen", "language", "heading"),
    [
        ("de-AT, en;q=0.5", None, "de", "Anfragen"),
        ("xx", None, "en", "Requests"),
        ("", None, "en", "Requests"),
        ("de", MessageCatalog(), "en", "Requests"),
        ("en", lambda web: MessageCatalog.for_language(web.headers["x-profile"]), "de", "Anfragen"),
        ("de", lambda _: MessageCatalog(overrides={"Requests": "Questions"}), "en", "Questions"),
    ],
)
async def test_pages_are_in_the_language_that_the_host_or_the_browser_chose(
    header: str, chosen: Any, language: str, heading: str
) -> None:
    app = inbox_app(Inbox(MemoryStore()), lambda _: "ann", messages=chosen)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://app.example", headers=PAGE)

    shown = (await client.get("/", headers={"accept-language": header, "x-profile": "de-CH"})).text

    assert f'<html lang="{language}">' in shown
    assert f"<h1>{heading}</h1>" in shown


@needs_babel
def test_the_page_of_the_browser_handler_has_the_messages_of_its_handler_or_the_language_of_the_browser() -> None:
    def web(chosen: MessageCatalog | None) -> Request:
        headers = [(b"accept-language", b"de")]
        return Request({"type": "http", "headers": headers, "mcp_elicit_client.messages": chosen})

    assert chosen_messages(web(None)).language == "de"
    assert chosen_messages(web(MessageCatalog())).language == "en"


def test_catalogs_that_show_the_same_are_equal() -> None:
    assert MessageCatalog.for_language("de") == MessageCatalog.for_language("de")
    assert len({MessageCatalog.for_language("de"), MessageCatalog.for_language("de")}) == 1
    assert MessageCatalog.for_language("de") != MessageCatalog.for_language("de-AT")
    assert MessageCatalog() != MessageCatalog(overrides={"Send": "Submit"})


@needs_babel
@pytest.mark.parametrize("language", available_languages())
def test_the_example_of_a_number_has_the_separator_of_its_language(language: str) -> None:
    sentence = MessageCatalog.for_language(language).error(field_error("n", "type", type="number"))
    assert formatting.format_number(7.5, language) in sentence


def test_english_is_available_without_a_translation() -> None:
    assert available_languages()[0] == "en"


# --- Numbers, dates and times


@needs_babel
@pytest.mark.parametrize(
    ("tag", "number", "count", "day", "moment"),
    [
        (None, "7.5", "12000", "2026-12-04", "2026-12-04T19:30:00+01:00"),
        ("xx", "7.5", "12000", "2026-12-04", "2026-12-04T19:30:00+01:00"),
        ("en-US", "7.5", "12,000", "Dec 4, 2026", "Dec 4, 2026, 7:30\u202fPM UTC+01:00"),
        ("en-GB", "7.5", "12,000", "4 Dec 2026", "4 Dec 2026, 19:30 UTC+01:00"),
        ("de", "7,5", "12.000", "04.12.2026", "04.12.2026, 19:30 UTC+01:00"),
        ("de-CH", "7.5", "12'000", "04.12.2026", "04.12.2026, 19:30 UTC+01:00"),
        ("fr", "7,5", "12\u202f000", "4 déc. 2026", "4 déc. 2026, 19:30 UTC+01:00"),
        ("ja", "7.5", "12,000", "2026/12/04", "2026/12/04 19:30 UTC+01:00"),
    ],
)
def test_numbers_dates_and_times_have_the_format_of_the_locale(
    tag: str | None, number: str, count: str, day: str, moment: str
) -> None:
    form = form_request(
        form_params(
            {
                "properties": {
                    "n": {"type": "number"},
                    "d": {"type": "string", "format": "date"},
                    "t": {"type": "string", "format": "date-time"},
                }
            }
        )
    ).form
    catalog = MessageCatalog(locale=tag)
    values = {"n": 7.5, "d": "2026-12-04", "t": "2026-12-04T19:30:00+01:00"}

    shown = [format_value(form.by_name[name], value, catalog) for name, value in values.items()]

    assert shown == [number, day, moment]
    counted = catalog.text(messages.OPTIONS, count=12_000).replace("\u2019", "'")  # versions of Babel differ
    assert counted == f"select from {count} options"
    assert catalog.text(messages.NUMBER_MORE_THAN, min=7.5) == f"more than {number}"
    assert catalog.error(field_error("n", "minimum", min=7.5)) == f"Enter {number} or more."


@needs_babel
@pytest.mark.parametrize("value", [0.1 + 0.2, 1e300, -1e-300, 123456789012345678, 2026, 0.000001])
def test_a_locale_drops_no_digit_and_adds_no_separator(value: float) -> None:
    assert formatting.format_number(value, "de") == str(value).replace(".", ",")


@needs_babel
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2026-12-31T23:59:60Z", "date-time"),
        ("23:59:60Z", "time"),
        ("2026-02-30", "date"),
        ("19:30", "uuid"),
        ("", "date"),
    ],
)
def test_what_python_cannot_read_is_shown_as_it_is(text: str, kind: str) -> None:
    assert formatting.format_temporal(text, kind, "de") == text


@needs_babel
@pytest.mark.parametrize(
    ("text", "shown"),
    [("19:30:00Z", "19:30 UTC"), ("19:30:05+01:00", "19:30:05 UTC+01:00"), ("00:00:00-05:30", "00:00 UTC-05:30")],
)
def test_a_time_is_shown_with_its_zone(text: str, shown: str) -> None:
    assert formatting.format_temporal(text, "time", "de") == shown


@needs_babel
@pytest.mark.parametrize(
    ("tag", "order", "symbols"),
    [
        (None, None, (".", "")),
        ("en", None, (".", ",")),
        ("en-US", "mdy", (".", ",")),
        ("en-GB", "dmy", (".", ",")),
        ("de", "dmy", (",", ".")),
        ("ja", "ymd", (".", ",")),
        ("fr-CA", "ymd", (",", "\xa0")),
        ("sv-SE", "ymd", (",", "\xa0")),
    ],
)
def test_a_locale_decides_the_order_of_dates_and_the_separators_of_numbers(
    tag: str | None, order: str | None, symbols: tuple[str, str]
) -> None:
    assert formatting.date_order(tag) == order
    assert formatting.number_symbols(tag) == symbols


def test_without_babel_numbers_and_dates_have_the_formats_of_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formatting, "find_spec", lambda _: None)
    formatting.find_locale.cache_clear()
    try:
        assert formatting.format_number(7.5, "de") == "7.5"
        assert formatting.format_count(12_000, "de") == "12000"
        assert formatting.format_date_time(datetime(2026, 12, 4, 9, 5, tzinfo=timezone.utc), "de") == (
            "2026-12-04 09:05 UTC"
        )
    finally:
        formatting.find_locale.cache_clear()


@needs_babel
def test_without_a_locale_babel_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "babel", None)
    field = form_request(form_params({"properties": {"n": {"type": "number", "minimum": 1}}})).form.fields[0]

    assert describe_field(field, MessageCatalog()).accepts == "number, 1 or more"
