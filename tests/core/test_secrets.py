"""What a form must not ask for, and what an answer should not hold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import ElicitRequestFormParams

from mcp_elicit_client import Form, RequestError, TextField, find_secrets, parse_request
from mcp_elicit_client.core.secrets.findings import KIND_NAMES, SecretFinding
from mcp_elicit_client.core.secrets.in_answer import secret_values
from mcp_elicit_client.core.secrets.in_request import secret_fields
from mcp_elicit_client.core.secrets.rules import load_rules
from mcp_elicit_client.core.secrets.tables import keys, letters, recovery_words, rule_table, words
from mcp_elicit_client.core.secrets.tokens import signs_of
from tests.support import form_params, table

CLEAR = [row for row in table("sensitive") if not row.get("borderline")]
HELD = [row for row in CLEAR if row["kind"] == "answer" and row["sensitive"]]
TABLE = [word for by_language in words().words.values() for written in by_language.values() for word in written.split()]
ODD = [
    "4111",
    "-",
    "p.",
    "a.",
    "p\u0430ss",
    "\u200b",
    "\\u{200b}",
    "$",
    "@",
    "_",
    "\n",
    "=",
    "://",
    "eyJ",
    "sk-",
    "-----BEGIN",
]
WORDS = st.sampled_from([*(word.strip("*").replace("_", " ") for word in TABLE), *ODD * 20])
LONG = st.lists(WORDS | st.text(max_size=8), max_size=400).map(" ".join)


def params(row: dict[str, Any]) -> dict[str, Any]:
    """The request that a row of the table is about."""
    schema = {"type": "object", "properties": {row["name"]: row["schema"]}}
    return form_params(schema, row.get("message") or "Please fill in the form.")


def is_found(row: dict[str, Any]) -> bool:
    """Whether a secret is found where the row says: asked for, or held by the answer."""
    if row["kind"] == "field":
        return bool(find_secrets(params(row)))
    return any(each.where == "answer" for each in find_secrets(params(row), {row["name"]: row["answer"]}))


def asked(properties: dict[str, Any], message: str = "Please fill in the form.") -> list[tuple[str | None, str, str]]:
    """What a form asks for: field, kind, where."""
    found = find_secrets(form_params({"type": "object", "properties": properties}, message))
    return [(each.field, each.kind, each.where) for each in found]


def held(value: object) -> list[str]:
    """The kinds of secret that an answer holds."""
    return [each.kind for each in secret_values({"notes": value})]


# --- The table


@pytest.mark.parametrize("category", sorted({row["category"] for row in CLEAR}))
def test_what_is_a_secret_is_found_and_what_only_looks_like_one_is_not(category: str) -> None:
    rows = [row for row in CLEAR if row["category"] == category]

    assert [row for row in rows if is_found(row) != row["sensitive"]] == []


def test_no_sentence_quotes_what_was_typed() -> None:
    for row in HELD:
        findings = find_secrets(params(row), {row["name"]: row["answer"]})

        assert findings
        assert all(row["answer"] not in each.message and each.message.endswith(".") for each in findings)


# --- Requests


def test_a_finding_names_the_field_the_kind_and_what_asks() -> None:
    properties = {
        "name": {"type": "string", "title": "Your name"},
        "pw": {"type": "string", "title": "Password"},
        "apiKey": {"type": "string"},
        "value": {"type": "string", "title": "Value", "description": "Paste your GitHub token here"},
    }

    assert asked(properties) == [
        ("pw", "password", "title"),
        ("apiKey", "api_key", "name"),
        ("value", "token", "description"),
    ]


def test_a_name_asks_where_the_title_says_something_else() -> None:
    assert asked({"password": {"type": "string", "title": "Verification"}}) == [("password", "password", "name")]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("pin", "Pin colour"),
        ("token", "Token symbol"),
        ("password", "Password policy"),
        ("secret", "Secret ingredient"),
    ],
)
def test_a_title_tells_what_a_name_means(name: str, title: str) -> None:
    assert asked({name: {"type": "string", "title": title}}) == []


def test_a_description_tells_that_only_a_name_is_asked_for() -> None:
    field = {"type": "string", "title": "API key", "description": "Name of the API key to revoke"}

    assert asked({"key": field}) == []


def test_a_title_that_says_little_is_read_with_the_message() -> None:
    code = {"code": {"type": "string", "title": "Code"}}

    assert asked(code, "Which code shall we review?") == []
    assert asked(code, "We have texted you a code: a text message, SMS.") == [("code", "one_time_code", "message")]


@pytest.mark.parametrize(
    "field",
    [
        {"type": "boolean", "title": "Password"},
        {"type": "string", "title": "Password", "enum": ["weak", "strong"]},
        {"type": "array", "title": "Passwords", "items": {"type": "string", "enum": ["a", "b"]}},
        {"type": "string", "title": "Password", "format": "email"},
        {"type": "string", "title": "Password", "format": "date"},
        {"type": "string", "title": "Password", "maxLength": 2},
        {"type": "integer", "title": "PIN", "maximum": 40},
        {"type": "number", "title": "API key"},
    ],
)
def test_a_field_that_cannot_hold_a_secret_asks_for_none(field: dict[str, Any]) -> None:
    assert asked({"field": field}, "Enter your password.")[1:] == []
    assert asked({"field": field}) == []


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ({"type": "integer", "title": "PIN", "maximum": 9999}, "pin"),
        ({"type": "number", "title": "Card number"}, "card"),
        ({"type": "integer", "title": "PIN of the private key"}, "pin"),
        ({"type": "array", "title": "Passwords", "items": {"type": "string"}}, "password"),
        ({"type": "string", "title": "Word", "format": "password"}, "password"),
        ({"type": "array", "title": "Words", "items": {"type": "string", "format": "password"}}, "password"),
        ({"type": "string", "title": "Token", "format": "password"}, "token"),
        ({"type": "string", "title": "Value", "description": "It starts with sk-"}, "api_key"),
    ],
)
def test_a_field_that_can_is_looked_at(field: dict[str, Any], kind: str) -> None:
    assert [kind] == [found for _, found, _ in asked({"field": field})]


def test_words_that_mean_something_else_are_no_way_around_your_pin() -> None:
    assert asked({"pin": {"type": "string", "title": "Pin", "description": "Where to put it on the map"}}) == []
    assert asked({"map": {"type": "string", "title": "Dashboard", "description": "Enter your PIN"}})


def test_a_message_that_asks_blames_the_only_field() -> None:
    assert asked({"reply": {"type": "string"}}, "Please enter your password.") == [("reply", "password", "message")]


def test_a_message_that_asks_blames_the_field_for_anything() -> None:
    fields = {"city": {"type": "string", "title": "City of birth"}, "a": {"type": "string", "title": "Answer"}}

    assert asked(fields, "Please enter your password.") == [("a", "password", "message")]


def test_a_message_that_asks_blames_no_field_for_something_else() -> None:
    email = {"email": {"type": "string", "title": "E-mail"}}
    fields = email | {"phone": {"type": "string", "title": "Phone"}}

    assert asked(email, "Please enter your password.") == [(None, "password", "message")]
    assert asked(fields, "Please enter your password.") == [(None, "password", "message")]


def test_a_message_alone_asks_for_nothing() -> None:
    assert asked({}, "Please enter your password.") == []
    assert asked({"ok": {"type": "boolean"}}, "Please enter your password.") == []


def test_what_the_text_for_the_terminal_shows_by_number_is_read_as_if_it_were_not_there() -> None:
    assert asked({"f": {"type": "string", "title": "Pass\u200bword"}})
    assert asked({"f": {"type": "string", "title": "Pass\\u{200b}word"}})


def test_a_url_request_asks_for_nothing_and_its_answer_is_looked_at() -> None:
    visit = {"mode": "url", "message": "Enter your password", "url": "https://a.example/"}

    assert find_secrets(visit) == ()
    assert find_secrets(visit, {"notes": "password: hunter2"})


def test_params_are_what_parse_request_takes() -> None:
    wire = form_params({"type": "object", "properties": {"password": {"type": "string"}}})
    sdk = ElicitRequestFormParams.model_validate(wire)

    assert find_secrets(wire) == find_secrets(sdk) == find_secrets(parse_request(wire)) != ()
    with pytest.raises(RequestError):
        find_secrets({})


@pytest.mark.parametrize(
    "option",
    [
        "Type your password in the next box",
        "Enter your card number below",
        "I will paste my API key in the field below",
        "Passwort unten eingeben",
    ],
)
def test_an_option_that_tells_what_to_type_blames_the_field_for_anything(option: str) -> None:
    choice = {"type": "string", "title": "Next", "oneOf": [{"const": "1", "title": option}]}
    fields = {"next": choice, "value": {"type": "string", "title": "Value"}}

    assert [(field, where) for field, _, where in asked(fields)] == [("value", "description")]
    assert asked({"next": choice}) == []


@pytest.mark.parametrize(
    "title",
    [
        "Require password",
        "Require a PIN",
        "Remember password",
        "Needs password",
        "Use password",
        "Passwort erforderlich",
    ],
)
def test_a_setting_beside_a_text_field_asks_for_none(title: str) -> None:
    setting = {"type": "boolean", "title": title}
    name = {"type": "string", "title": "Name"}

    assert asked({"setting": setting, "name": name}) == []
    assert asked({"setting": {"type": "boolean", "title": "Protect", "description": title}, "name": name}) == []


@pytest.mark.parametrize(
    "title",
    ["Type your password below", "Give us your PIN in the box below", "Provide your card number in the next field"],
)
def test_a_setting_that_tells_what_to_type_blames_the_field_for_anything(title: str) -> None:
    fields = {"next": {"type": "boolean", "title": title}, "value": {"type": "string", "title": "Value"}}

    assert [(field, where) for field, _, where in asked(fields)] == [("value", "description")]


@pytest.mark.parametrize(
    "option",
    [
        "Password",
        "I forgot my password",
        "I can't enter my password",
        "Send a verification code to my phone",
        "Create a new API key",
        "Require users to enter their password every day",
    ],
)
def test_an_option_that_mentions_a_secret_asks_for_none(option: str) -> None:
    choice = {"type": "string", "title": "Topic", "oneOf": [{"const": "1", "title": option}]}

    assert asked({"topic": choice, "value": {"type": "string", "title": "Describe it"}}) == []


def test_the_options_of_a_long_list_are_not_read() -> None:
    options = [{"const": str(at), "title": f"Enter your password {at}"} for at in range(33)]
    value = {"type": "string", "title": "Value"}

    assert asked({"next": {"type": "string", "oneOf": options}, "value": value}) == []
    assert asked({"next": {"type": "string", "oneOf": options[:32]}, "value": value})


def test_a_description_lists_what_the_title_asks_a_property_of() -> None:
    assert asked({"type": {"type": "string", "title": "Card type", "description": "Credit card or debit card"}}) == []
    assert asked({"type": {"type": "string", "title": "Card type", "description": "Your credit card number"}})


def test_a_name_that_the_title_begins_with_is_its_abbreviation() -> None:
    assert asked({"pass": {"type": "string", "title": "Number of passengers"}}) == []
    assert asked({"pass": {"type": "string", "title": "Verification"}})


def test_a_message_that_asks_for_cookies_is_no_offer_of_cookies() -> None:
    answer = {"answer": {"type": "string", "title": "Answer"}}

    assert asked(answer, "Paste your cookies") == [("answer", "session", "message")]
    assert asked(answer, "Paste the cookies from your browser.") == [("answer", "session", "message")]
    assert asked(answer, "Choose your cookies") == []


# --- Answers


def test_what_is_asked_and_what_is_answered_are_told_apart() -> None:
    wire = form_params({"type": "object", "properties": {"password": {"type": "string"}, "notes": {"type": "string"}}})

    found = find_secrets(wire, {"password": "plain", "notes": "my pin is 4321"})

    assert [(each.field, each.kind, each.where) for each in found] == [
        ("password", "password", "name"),
        ("notes", "pin", "answer"),
    ]


def test_every_value_is_looked_at() -> None:
    assert held(4111111111111111) == ["card"]
    assert held(4111111111111111.0) == ["card"]
    assert held(["nothing", "4111 1111 1111 1111"]) == ["card"]
    assert held("４１１１ １１１１ １１１１ １１１１") == ["card"]
    assert held("٤١١١١١١١١١١١١١١١") == ["card"]
    assert held("pass\u200bword: hunter2") == ["password"]


@pytest.mark.parametrize("value", [True, None, 10**100, float("inf"), float("nan"), 1.5, {}, ["", 3], ""])
def test_what_holds_no_text_holds_no_secret(value: object) -> None:
    assert held(value) == []


def test_a_kind_is_named_once_a_field_and_with_who_gave_the_key_out() -> None:
    (found,) = secret_values({"a": "npm_FAKEfake0123FAKEfake0123FAKEfake0123 npm_FAKEfake4567FAKEfake0123FAKEfake0123"})

    assert (
        SecretFinding(
            field="a", kind="token", where="answer", message="This answer seems to contain an access token (npm)."
        )
        == found
    )


# --- Requests that are spread or hidden

DIGITS = [str(digit) for digit in range(10)]
SPREAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "the digits of a PIN as options": (
        {f"d{at}": {"type": "string", "title": f"Digit {at}", "enum": DIGITS} for at in range(1, 5)},
        "Confirm your card PIN",
        "pin",
    ),
    "one digit of a PIN": ({"d": {"type": "string", "title": "First digit of your PIN", "enum": DIGITS}}, "m", "pin"),
    "digits as numbers": (
        {f"pin{at}": {"type": "integer", "minimum": 0, "maximum": 9} for at in range(1, 5)},
        "m",
        "pin",
    ),
    "letters of a password": (
        {f"l{at}": {"type": "string", "title": f"Letter {at} of the word you sign in with"} for at in range(1, 4)},
        "m",
        "password",
    ),
    "short texts": (
        {f"l{at}": {"type": "string", "title": f"Letter {at} of your password", "maxLength": 1} for at in range(3)},
        "m",
        "password",
    ),
    "the description of another field": (
        {
            "a": {"type": "boolean", "title": "Continue", "description": "Type your password into the field below."},
            "b": {"type": "string", "title": "Value"},
        },
        "m",
        "password",
    ),
    "a field that is never shown again": (
        {"x": {"type": "string", "title": "Value", "writeOnly": True}},
        "m",
        "password",
    ),
}


@pytest.mark.parametrize("name", SPREAD)
def test_a_secret_that_is_asked_for_in_pieces_or_elsewhere_is_found(name: str) -> None:
    properties, message, kind = SPREAD[name]

    found = find_secrets(form_params({"properties": properties}, message))

    assert {each.kind for each in found} == {kind}


HARMLESS_PIECES: list[dict[str, Any]] = [
    {"rating": {"type": "integer", "title": "Rating", "minimum": 1, "maximum": 9}},
    {f"q{at}": {"type": "string", "title": f"Question {at}", "enum": DIGITS} for at in range(4)},
    {f"guess{at}": {"type": "string", "title": f"Letter {at}", "maxLength": 1} for at in range(5)},
    {"word": {"type": "string", "title": "Word of the day"}, "letter": {"type": "string", "title": "First letter"}},
]


@pytest.mark.parametrize("properties", HARMLESS_PIECES)
def test_single_letters_and_digits_are_no_secret_by_themselves(properties: dict[str, Any]) -> None:
    assert find_secrets(form_params({"properties": properties}, "Play a game")) == ()


# --- The words


def test_every_data_file_has_its_form_and_every_name_in_it_is_known() -> None:
    known = words().words.keys() | words().groups.keys()

    assert set(words().punctuation) | set(words().in_compounds.split()) <= words().words.keys()
    assert {name for names in words().groups.values() for name in names.split()} - {"unknown", "figure"} <= known
    assert len(recovery_words()) == 2048
    assert all(
        len(written) == len(plain) for written, plain in (*letters().leet, letters().lookalikes, letters().imitations)
    )
    assert load_rules().triggers  # every pattern compiles


def test_no_word_means_two_things() -> None:
    assert [word for word, times in Counter(TABLE).items() if times > 1] == []


def names_of_parts() -> list[list[str]]:
    """Names of two parts and more: the phrases of the table, and its words that two other words make."""
    known = {word.strip("*").casefold() for word in TABLE}
    phrases = [word.split("_") for word in known if "_" in word]
    joined = [[word[:at], word[at:]] for word in known for at in range(2, len(word) - 1)]
    names = phrases + [parts for parts in joined if known.issuperset(parts)]
    return [parts for parts in names if all(part.isascii() and part.isalpha() and len(part) > 1 for part in parts)]


@pytest.mark.parametrize("before", [[], ["my"], ["user"], ["backup"]])
def test_a_name_means_the_same_in_every_spelling(before: list[str]) -> None:
    def spellings(parts: list[str]) -> list[str]:
        pascal = "".join(map(str.capitalize, parts))
        return ["_".join(parts), "-".join(parts), "_".join(parts).upper(), parts[0] + pascal[len(parts[0]) :], pascal]

    names = [spellings([*before, *parts]) for parts in names_of_parts()]

    assert len(names) > 1000
    assert [name for name in names if len(set(map(signs_of, name))) > 1] == []


@pytest.mark.parametrize(
    "name", ["session_id", "user_session_id", "userSessionId", "pass-key", "db_pass_key", "key_store"]
)
def test_the_parts_of_a_name_are_read_as_the_word_that_they_make(name: str) -> None:
    assert asked({name: {"type": "string"}})
    assert asked({name: {"type": "string", "title": "Value"}})


def test_every_kind_has_a_name_and_a_rule() -> None:
    table = rule_table()
    rules = (*table.anywhere, *table.labels, *table.sentences)

    assert KIND_NAMES.keys() == {rule.kind for rule in rules}
    assert KIND_NAMES.keys() >= {row.kind for row in keys().beginnings} | {row.kind for row in keys().shapes}


@given(LONG, LONG, LONG, LONG)
def test_any_text_is_looked_at_without_an_error(name: str, title: str, description: str, message: str) -> None:
    form = Form(fields=(TextField(name=name, title=title, description=description),))

    assert all(each.field in (name, None) for each in secret_fields(form, message))


@given(LONG)
def test_any_answer_is_looked_at_without_an_error_and_never_quoted(text: str) -> None:
    for each in secret_values({"notes": text, "list": [text]}):
        assert len(text) < 8 or text not in each.message


@pytest.mark.parametrize("path", ["~/.aws/credentials", "~/.npmrc", "~/.pypirc", "~/.docker/config.json", "~/.my.cnf"])
def test_the_contents_of_a_file_of_credentials_are_sensitive_and_its_path_is_not(path: str) -> None:
    def finds(description: str) -> bool:
        return bool(find_secrets(form_params({"properties": {"file": {"type": "string", "description": description}}})))

    assert finds(f"Paste the contents of {path}")
    assert not finds(f"Path of the file, such as {path}")
