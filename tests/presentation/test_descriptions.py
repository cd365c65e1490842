"""Words for requests, fields, values and warnings."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from mcp_elicit_client import Server, parse_request
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Field
from mcp_elicit_client.core.request import BatchPosition
from mcp_elicit_client.core.secrets.findings import SecretKind
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.descriptions import (
    describe_field,
    format_value,
    option_labels,
    request_details,
    title_line,
)
from mcp_elicit_client.presentation.form_input import OMITTED
from mcp_elicit_client.presentation.warnings import RequestWarning, answer_warnings, request_warnings
from mcp_elicit_client.typing import FormRequest, Request
from tests.support import cases, form_params, form_request

URL = {"mode": "url", "message": "m", "url": "https://login.xn--pple-43d.com/a", "elicitationId": "e"}
EVIL = "\x1b[2J\u202e\nx\r"
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def form(properties: dict[str, Any], **options: Any) -> FormRequest:
    return form_request(form_params({"properties": properties}), **{"server": "mail", **options})


def one_field(schema: dict[str, Any]) -> Field:
    return form({"f": schema}).form.fields[0]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("Ann ", '"Ann "'),
        ("\tAnn", '" Ann"'),
        ("   ", '"   "'),
        ("Ann Lee", "Ann Lee"),
        ("Ann\n", "Ann\n"),
        ("", "(empty)"),
    ],
)
def test_spaces_at_the_ends_of_an_answer_are_seen(value: str, shown: str) -> None:
    assert format_value(one_field({"type": "string"}), value, ENGLISH, multiline=True) == shown


@pytest.mark.parametrize("row", cases("fields"))
def test_a_field_is_described_by_what_it_accepts(row: dict[str, Any]) -> None:
    described = describe_field(one_field(row["schema"]), ENGLISH)

    assert described.accepts == row["accepts"]
    assert described.suggested == row["suggested"]
    assert described.example == row["example"]
    assert described.pattern == row.get("pattern", "")
    assert (described.input_kind, described.html_input) == (row["input_kind"], row["html_input"])


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "x" * 2_001),
        ({"type": "array", "items": {"type": "string"}}, ["x" * 2_001]),
    ],
)
def test_a_long_value_says_how_many_characters_are_not_shown(schema: dict[str, Any], value: Any) -> None:
    field = one_field(schema)

    assert format_value(field, value, ENGLISH) == f"{'x' * 2_000}… (1 more character is not shown)"
    assert format_value(field, value, ENGLISH, limit=None) == "x" * 2_001


BLANK_OPTIONS: dict[str, Any] = {
    "oneOf": [{"const": "", "title": " "}, {"const": " "}, {"const": "  ", "title": ""}, {"const": "a"}]
}


@pytest.mark.parametrize(("language", "empty"), [("en", "(empty)"), ("de", "(leer)")])
def test_options_with_blank_labels_are_told_apart(language: str, empty: str) -> None:
    catalog = MessageCatalog.for_language(language)
    for schema in (BLANK_OPTIONS, {"type": "array", "items": BLANK_OPTIONS}):
        labels = option_labels(one_field(schema), catalog)
        assert labels == [empty, '" "', '"  "', "a"]
    assert format_value(one_field(BLANK_OPTIONS), "", catalog) == empty
    assert format_value(one_field({"type": "array", "items": BLANK_OPTIONS}), ["", "a"], catalog) == f"{empty}, a"


def test_server_words_in_a_description_are_sanitized() -> None:
    schema = {
        "type": "string",
        "title": EVIL,
        "description": EVIL,
        "default": EVIL,
        "pattern": "\x1b|.",
        "format": EVIL,
    }
    described = describe_field(form({EVIL: schema}).form.fields[0], ENGLISH)

    texts = [described.label, described.help, described.suggested, described.pattern, described.name, described.accepts]
    assert not [text for text in texts if "\x1b" in text or "\u202e" in text]
    assert described.accepts == "text"


def test_a_sensitive_field_has_a_warning_and_shows_no_value() -> None:
    field = one_field({"type": "string"}).model_copy(update={"sensitive": True})

    assert describe_field(field, ENGLISH).warning == "Do not enter passwords, keys or card numbers here."
    assert format_value(field, "hunter2", ENGLISH) == "(hidden)"


def test_a_value_that_is_not_provided_is_described_for_every_kind_of_field() -> None:
    for row in cases("fields"):
        assert format_value(one_field(row.values[0]["schema"]), OMITTED, ENGLISH) == "(not provided)"


@pytest.mark.parametrize(
    ("request_", "title"),
    [
        (form({}), "mail asks you to confirm"),
        (form({"a": {"type": "string"}}), "mail asks for 1 answer"),
        (form({"a": {"type": "string"}, "b": {"type": "string"}}), "mail asks for 2 answers"),
        (parse_request(URL, server="mail"), "mail asks you to open xn--pple-43d.com"),
        (
            parse_request(URL, server="mail").model_copy(update={"previous_visits": 1}),
            "mail reports that you have not finished at xn--pple-43d.com",
        ),
        (form({}, batch_position=BatchPosition(number=1, total=1)), "mail asks you to confirm"),
        (form({}, batch_position=BatchPosition(number=2, total=3)), "mail asks you to confirm (2 of 3)"),
        (form({}, server=EVIL), "\\u{1b}[2J\\u{202e} x\\u{d} asks you to confirm"),
    ],
)
def test_the_title_says_who_asks_for_what(request_: Request, title: str) -> None:
    assert title_line(request_, ENGLISH) == title


def test_the_tool_and_the_reported_name_are_details() -> None:
    request = form({}, server=Server(name="mail", claimed_name="Your Bank"), tool=EVIL)

    assert title_line(request, ENGLISH) == "mail asks you to confirm"
    assert [(label, text) for label, text in request_details(request, ENGLISH)] == [
        ("Tool", "\\u{1b}[2J\\u{202e} x\\u{d}"),
        ("Name reported by the server", "Your Bank"),
    ]
    assert request_details(form({}, server=Server(name="mail", claimed_name="mail")), ENGLISH) == ()


def test_all_warnings_of_a_request_are_in_one_list() -> None:
    request = form({"a": {"type": "object"}, "b": {"type": "object"}})
    found = [
        Diagnostic(code="impersonation", message="The name resembles another one."),
        Diagnostic(code="sensitive_data", message="This field asks for a password.", field="a"),
        Diagnostic(code="sensitive_data", message="This field asks for a password.", field="b"),
    ]
    request = request.model_copy(update={"diagnostics": (*request.diagnostics, *found)})

    warnings = request_warnings(request, ENGLISH)

    assert [(each.code, each.text, each.is_note) for each in warnings] == [
        ("impersonation", "The name resembles another one.", False),
        ("sensitive_data", "This field asks for a password.", False),
        ("unsupported_field", "2 unsupported optional fields were skipped.", True),
    ]
    assert [each.code for each in request_warnings(parse_request(URL), ENGLISH)] == ["punycode", "mixed_scripts"]


def test_warnings_are_in_the_language_of_the_catalog() -> None:
    catalog = MessageCatalog(overrides={messages.IMPERSONATION.text: "Vorsicht"})
    catalog.language = "xx"
    request = form({}).model_copy(update={"diagnostics": (Diagnostic(code="impersonation", message="English"),)})

    assert [each.text for each in request_warnings(request, catalog)] == ["Vorsicht"]


def test_each_kind_of_sensitive_data_has_its_warning() -> None:
    assert set(messages.SENSITIVE_ANSWERS) == set(get_args(SecretKind))


def test_only_sensitive_data_that_the_user_typed_is_warned_about() -> None:
    asked = form({"a": {"type": "string"}, "p": {"type": "string", "format": "password"}}).form

    assert answer_warnings(asked, {"a": KEY}, {"a": "user"}, ENGLISH) == (
        RequestWarning(code="sensitive_data", text="This answer seems to contain an access token."),
    )
    assert answer_warnings(asked, {"a": KEY}, {"a": "default"}, ENGLISH) == ()
    assert answer_warnings(asked, {"p": KEY}, {"p": "user"}, ENGLISH) == ()
