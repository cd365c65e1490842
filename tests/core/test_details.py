"""What a request is worth to the last character: every note, every sentence, every bound on its edge."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, Field

from mcp_elicit_client import (
    Answer,
    AnswerError,
    FormRequest,
    Limits,
    RequestError,
    UnsafeUrlError,
    UrlRules,
    accept,
    inspect_url,
    normalize_enum,
    parse_request,
    sanitize_text,
    validate,
)
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.text import normalize_look
from mcp_elicit_client.core.validation.content import validate_value
from mcp_elicit_client.core.validation.patterns import settle_defaults
from tests.support import cases, form_params, form_request, rebuilt_schema

EVERYTHING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a", "format": "email"},
        "number": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 9, "multipleOf": 0.5},
        "integer": {"type": "integer", "minimum": 1, "maximum": 8},
        "yes": {"type": "boolean"},
        "one": {"enum": ["x", "y"]},
        "some": {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
        "words": {"type": "array", "items": {"type": "string", "maxLength": 3}},
        "anything": {"type": "array"},
    },
    "required": ["text", "yes"],
    "additionalProperties": False,
}
REBUILT = {
    **EVERYTHING,
    "properties": {
        **EVERYTHING["properties"],
        "some": {**EVERYTHING["properties"]["some"], "items": {"type": "string", "enum": ["x", "y"]}},
        "anything": {"type": "array", "items": {"type": "string"}},
    },
}


def form(schema: object, **options: Any) -> FormRequest:
    return form_request(form_params(schema), **options)


@pytest.mark.parametrize("case", cases("notes"))
def test_a_schema_on_the_edge_becomes_just_this_form_and_these_notes(case: Any) -> None:
    request = form(case["schema"])
    fields = [
        {"kind": field.kind, **json.loads(field.model_dump_json(exclude_defaults=True))}
        for field in request.form.fields
    ]
    for field, expected in zip(fields, case["fields"], strict=True):
        if isinstance(expected.get("choices"), int):
            field["choices"] = len(field["choices"])

    assert case["fields"] == [
        {key: value for key, value in field.items() if (key, value) != ("name", "a")} for field in fields
    ]
    assert case["closed"] == request.form.rejects_unknown_fields
    assert case["notes"] == [[problem.code, problem.field, problem.message] for problem in request.diagnostics]


@pytest.mark.parametrize(
    ("params", "size"),
    [
        ({"message": "m"}, 8 * 2 + 7 + 1),
        ({"message": "mm", "_meta": {}}, 8 * 3 + 8 + 7 + 5 + 2),
        ({"message": "m", "_meta": {"a": [1, "x", None, True]}}, (8 * 3 + 7 + 1 + 5) + (8 * 2 + 1) + (8 * 5 + 1)),
    ],
)
def test_a_request_may_be_as_large_as_the_limit_and_not_larger(params: dict[str, Any], size: int) -> None:
    wire = {**params}

    parse_request(wire, limits=Limits(max_request=size))
    with pytest.raises(RequestError, match=f"larger than {size - 1} characters"):
        parse_request(wire, limits=Limits(max_request=size - 1))


def test_a_request_may_be_as_deep_as_the_limit_and_not_deeper() -> None:
    wire = {"message": "m", "_meta": {"a": {"b": {}}}}

    parse_request(wire, limits=Limits(max_nesting=4))
    with pytest.raises(RequestError, match="nested more than 3 deep"):
        parse_request(wire, limits=Limits(max_nesting=3))


def test_names_that_are_no_texts_are_refused_in_words() -> None:
    with pytest.raises(RequestError) as caught:
        parse_request({"message": "m", "_meta": {5: 1}})

    assert str(caught.value) == "names must be strings"


def test_a_message_may_be_as_long_as_the_limit() -> None:
    exact, longer = (parse_request({"message": "m" * size}, limits=Limits(max_message=5)) for size in (5, 6))

    assert (exact.message, [problem.code for problem in exact.diagnostics]) == ("mmmmm", ["schema_missing"])
    assert (longer.message, [problem.code for problem in longer.diagnostics]) == (
        "mmmmm…",
        ["truncated", "schema_missing"],
    )
    assert longer.diagnostics[0].message == "the message was longer than 5 characters"


def test_an_elicitation_id_may_be_as_long_as_the_limit() -> None:
    def ask(size: int) -> None:
        parse_request({"mode": "url", "message": "m", "url": "https://a.example/", "elicitationId": "i" * size})

    ask(1_024)
    with pytest.raises(RequestError, match="at most 1024"):
        ask(1_025)


def test_models_within_the_params_of_an_sdk_are_read_as_on_the_wire() -> None:
    class Part(BaseModel):
        a_name: str = Field(default="unset", alias="aName")
        other: int = 5

    class Params(BaseModel):
        message: str
        meta: Part = Field(alias="_meta")

    request = parse_request(Params.model_validate({"message": "m", "_meta": Part.model_validate({"aName": "x"})}))

    assert request.meta == {"aName": "x"}


def test_the_field_at_fault_is_named_raw_and_shown_safe() -> None:
    name = "a\n" + "b" * 200
    with pytest.raises(RequestError) as caught:
        form({"properties": {name: {"type": "object"}}, "required": [name]}, limits=Limits(max_name=300))

    assert caught.value.field == name
    assert "a b" in str(caught.value)

    with pytest.raises(RequestError) as caught:
        form({"properties": {name: {"type": "object"}}, "required": [name]}, limits=Limits(max_name=10))

    assert "bbbbbbbbbbb" not in str(caught.value)
    assert str(caught.value).endswith("has a name of more than 10 characters")


def test_a_name_that_is_not_unicode_is_left_out_and_noted_safely() -> None:
    request = form({"properties": {"\ud800": {"type": "string"}}})

    (problem,) = request.diagnostics
    assert (problem.field, problem.message) == ("\\u{d800}", "it has a name that is not valid Unicode")


def test_the_schema_that_is_checked_is_rebuilt_from_the_form() -> None:
    assert rebuilt_schema(form(EVERYTHING).form) == REBUILT


def test_options_may_be_as_large_as_the_limits() -> None:
    limits = Limits(max_option_value=3, max_option_title=3, max_integer=9)

    assert [choice.value for choice in normalize_enum({"enum": ["abc", "abcd", 9, 10, -9, 2.5]}, limits)] == [
        "abc",
        9,
        -9,
        2.5,
    ]
    (choice,) = normalize_enum({"oneOf": [{"const": "x", "title": "abcd\ne"}]}, limits)
    assert choice.title == "abc…"


def test_only_a_list_has_its_options_in_its_items() -> None:
    assert normalize_enum({"type": "string", "enum": ["x"], "items": {"enum": ["y"]}})[0].value == "x"
    assert normalize_enum({"type": "array", "items": ["x"]}) == ()
    assert normalize_enum({"oneOf": ["x", {"const": "y"}]}) == ()
    assert [each.value for each in normalize_enum({"type": "boolean", "enum": [True, False]})] == [True, False]
    assert normalize_enum({"type": "number", "enum": [1.5, float("inf")]})[0].value == 1.5
    assert normalize_enum({"type": "integer", "enum": [1.5]}) == ()


def test_an_option_whose_title_repeats_shows_its_value_cut_and_in_one_line() -> None:
    title = {"title": "Same"}
    request = form({"properties": {"a": {"oneOf": [{"const": "x\n" + "y" * 300, **title}, {"const": "z", **title}]}}})

    (field,) = request.form.fields
    assert field.kind == "choice"
    long, short = (field.label_of(choice) for choice in field.choices)
    assert short == "Same (z)"
    assert long == f"Same (x {'y' * 198}…)"


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ([("v" * 300 + "1", "T"), ("v" * 300 + "2", "T")], [f"T ({'v' * 200}…) #1", f"T ({'v' * 200}…) #2"]),
        ([("v" * 300 + "1", None), ("v" * 300 + "2", None)], None),
        ([("a", "T"), ("b", "T"), ("c", "T (a)")], ["T (a) #1", "T (b)", "T (a) #3"]),
        ([("a", "T"), ("b", "T"), ("c", "T (a)"), ("d", "T (a) #1")], ["T (a) #1 #1", "T (b)", "T (a) #3", "T (a) #1"]),
        (
            [("a", "Yes"), ("b", "Yes "), ("c", "Yes\u3000"), ("d", "yes")],
            ["Yes (a)", "Yes  (b)", "Yes\u3000 (c)", "yes"],
        ),
        ([("a", "\u00e9"), ("b", "e\u0301")], ["\u00e9 (a)", "e\u0301 (b)"]),
        ([("a", None), ("a ", None), ("b", None)], ["a (a)", "a  (a )", "b"]),
    ],
    ids=[
        "long values",
        "long values without titles",
        "a title like a label",
        "a title like a numbered label",
        "titles with other spaces",
        "composed characters",
        "values with other spaces",
    ],
)
def test_no_two_labels_of_options_look_the_same(
    options: list[tuple[str, str | None]], labels: list[str] | None
) -> None:
    listed = [{"const": value} if title is None else {"const": value, "title": title} for value, title in options]
    (field,) = form({"properties": {"a": {"oneOf": listed}}}).form.fields
    assert field.kind == "choice"
    shown = [field.label_of(choice) for choice in field.choices]
    assert len({normalize_look(label) for label in shown}) == len(options)
    assert labels is None or shown == labels


def test_a_host_may_allow_less_in_answers() -> None:
    limits = Limits(max_answer=20, max_integer=9)
    request = form({"properties": {"a": {"type": "integer"}, "t": {"type": "string"}}}, limits=limits)

    def outcome(content: dict[str, Any]) -> tuple[str, str]:
        answer = check_answer(request, Answer.accept(content, by="user"))
        return answer.action, answer.reason

    assert outcome({"a": 9}) == ("accept", "")
    assert outcome({"a": 10}) == ("cancel", "the answer does not fit the form: unsafe_integer")
    assert outcome({"t": "x" * 11}) == ("accept", "")
    assert outcome({"t": "x" * 12}) == ("cancel", "the answer does not fit the form: too_large")
    assert outcome({"a": "x", "t": 5}) == ("cancel", "the answer does not fit the form: type")
    assert [error.code for error in validate_value(request.form.fields[0], 10, limits)] == ["unsafe_integer"]


def test_what_was_left_out_of_an_answer_is_noted_even_where_it_is_cancelled() -> None:
    request = form({"properties": {"a": {"type": "integer"}}})

    answer = check_answer(request, Answer.accept({"a": "x", "b": 1}, by="user"))

    assert answer.action == "cancel"
    assert [(note.code, note.field, note.message) for note in answer.diagnostics] == [
        ("not_asked_for", "b", "the form did not request it; it is not sent"),
        ("invalid_value", "a", "type: Enter a whole number."),
    ]


def test_a_decline_carries_no_trace_of_content() -> None:
    request = form({"properties": {"a": {"type": "integer"}}})
    declined = Answer(action="decline", by="user", content={"a": 1}, sources={"a": "user"})

    answer = check_answer(request, declined)

    assert (answer.content, answer.sources) == (None, {})


def test_answers_keep_the_reason_that_they_were_given() -> None:
    assert [
        each.reason for each in (Answer.accept(by="user"), Answer.decline(by="user"), Answer.cancel(by="user"))
    ] == ["", "", ""]
    assert Answer.accept(by="user", reason="r").reason == Answer.decline(by="user", reason="r").reason == "r"


def test_an_answer_that_nothing_could_carry_names_its_faults() -> None:
    with pytest.raises(AnswerError) as caught:
        accept({"a": {}, "b": float("nan")})

    assert str(caught.value).startswith("the content cannot be sent: 'a': ")
    assert "; 'b': " in str(caught.value)
    assert [error.field for error in caught.value.errors] == ["a", "b"]


def test_content_that_is_no_set_of_fields_says_so() -> None:
    (error,) = validate(form_params({}), [1]).errors

    assert (error.code, error.message) == ("type", "The answer must be an object with one member for each field.")


def test_errors_come_in_the_order_of_the_fields_with_patterns_among_them() -> None:
    text = {"type": "string", "pattern": "^x$"}
    request = form({"properties": {"b": text, "a": {"type": "integer"}, "c": text}})

    errors = validate(request, {"c": "y", "a": "z", "b": "y", "extra\n": "\ud800"}).errors

    assert [error.field for error in errors] == ["b", "a", "c", "extra\n"]


def test_a_default_that_its_pattern_refuses_is_dropped_from_its_field_only() -> None:
    request = form({"properties": {"a": {"type": "string", "pattern": "^x$", "default": "y"}}})

    settled, dropped = settle_defaults(request.form)

    assert request.form.fields[0].default is settled.fields[0].default is None
    assert [(problem.code, problem.field) for problem in dropped] == [("default_dropped", "a")]


def test_a_number_among_texts_is_said_to_be_no_list_of_texts() -> None:
    request = form({"properties": {"a": {"type": "array", "items": {"type": "string"}}}})

    (error,) = validate(request, {"a": ["x", 5]}).errors

    assert (error.code, error.message) == ("type", "Enter a list of texts.")


@pytest.mark.parametrize("case", [each for each in cases("urls") if each.values[0]["expect"] == "refuse"])
def test_every_refused_url_carries_its_code_and_its_text(case: Any) -> None:
    with pytest.raises(UnsafeUrlError) as caught:
        inspect_url(case["url"])

    assert str(caught.value) in SENTENCES[caught.value.code]


SENTENCES = {
    "insecure": {"`url` must use https"},
    "loopback": {"`url` leads to the user's own computer"},
    "ambiguous_host": {
        "`url` must start with https://",
        "`url` has an ambiguous host",
        "`url` has a character after its host that must be percent-encoded",
        "`url` has an IP address in an unusual notation",
        "`url` has a host of more than 253 characters",
        "`url` has an invalid international host name",
    },
    "port": {"`url` has an invalid port"},
    "private": {
        "`url` leads to a private network",
        "`url` embeds an address that is not public",
        "`url` has a reserved address",
    },
    "scheme": {"`url` must have the scheme https"},
    "too_long": {"`url` must have at most 2048 characters"},
}


@pytest.mark.parametrize(
    ("url", "names_the_character"),
    [
        *(("https://a.example/two words", True), ("https://a.example/\u00fc", True), ('https://a.example?q="x"', True)),
        *(("https://a.example:8443#a\\b", True), ("HTTPS://A.example/\n", True), ("https://a.example/a b/", True)),
        *(
            ("https://a b.example/", False),
            ("https://a.example\\.b.example/", False),
            ("https://a@b.example/x y", False),
        ),
    ],
)
def test_a_character_that_must_be_encoded_is_not_said_to_be_in_the_host(url: str, names_the_character: bool) -> None:
    with pytest.raises(UnsafeUrlError) as caught:
        inspect_url(url)

    assert ("must be percent-encoded" in str(caught.value), caught.value.code) == (
        names_the_character,
        "ambiguous_host",
    )


def test_an_email_may_be_254_characters_long() -> None:
    field = form({"properties": {"a": {"type": "string", "format": "email"}}}).form.fields[0]
    domain = ".".join(["d" * 63] * 3)

    def fits(size: int) -> bool:
        local = "l" * (size - len(domain) - 1)
        return not validate_value(field, f"{local}@{domain}")

    assert [fits(size) for size in (253, 254, 255)] == [True, True, False]


def test_a_uri_may_name_a_future_kind_of_address() -> None:
    field = form({"properties": {"a": {"type": "string", "format": "uri"}}}).form.fields[0]

    assert [not validate_value(field, f"https://[{ip}]/") for ip in ("v1.x", "V1.x", "::1", "x1.x")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("keyword", [{"minLength": 1}, {"maxLength": 9}, {"pattern": "x"}, {"format": "date"}])
def test_what_only_a_text_has_makes_a_text_whatever_the_default_is(keyword: dict[str, Any]) -> None:
    (field,) = form({"properties": {"a": {**keyword, "default": 5}}}).form.fields

    assert (field.kind, field.default) == ("text", None)


@pytest.mark.parametrize("text", [{"type": "string", "format": "password"}, {"type": "string", "writeOnly": True}])
def test_the_text_of_a_password_is_hidden_also_in_a_list(text: dict[str, Any]) -> None:
    form = form_request(form_params({"properties": {"one": text, "several": {"type": "array", "items": text}}})).form

    assert [field.is_hidden for field in form.fields] == [True, True]


def test_a_title_that_only_the_spaces_around_it_make_too_long_is_not_reported_as_truncated() -> None:
    request = form({"properties": {"a": {"type": "string", "title": "Name" + " " * 400}}})

    assert request.form.fields[0].title == "Name"
    assert request.diagnostics == ()


def test_a_text_that_just_fits_is_not_cut() -> None:
    assert sanitize_text("abc", limit=3) == "abc"
    assert sanitize_text("a\x1bc", limit=3) == "a\\u{1b}c"
    assert sanitize_text("a\nc", limit=3) == "a\nc"
    assert sanitize_text("a\nc\x1b", limit=4, multiline=False) == "a c\\u{1b}"
    assert sanitize_text("\udfff") == "\\u{dfff}"
    assert sanitize_text("e" + "\u0301" * 4) == "e" + "\u0301" * 4
    assert "\\u{301}" in sanitize_text("e" + "\u0301" * 5)


def test_an_answer_that_is_too_large_says_how_large_it_may_be() -> None:
    request = form({"properties": {"t": {"type": "string"}}})

    (error,) = validate(request, {"t": "x" * 20_000}).errors

    assert (error.code, error.message) == ("too_large", "Your answers exceed 16384 characters in total.")


def test_the_largest_integer_is_sent_also_if_it_is_written_with_a_fraction() -> None:
    request = form({"properties": {"n": {"type": "integer"}}})

    assert validate(request, {"n": float(2**53)})
    assert validate(request, {"n": 2**53})
    assert [error.code for error in validate(request, {"n": float(2**54)}).errors] == ["unsafe_integer"]


def test_a_host_that_allows_smaller_integers_asks_for_them() -> None:
    limits = Limits(max_integer=9)

    assert form({"properties": {"n": {"type": "integer", "minimum": 10}}}, limits=limits).form.unsupported_fields == (
        "n",
    )
    assert form({"properties": {"n": {"type": "integer", "minimum": 9}}}, limits=limits).form.unsupported_fields == ()
    (field,) = form({"properties": {"n": {"type": "integer", "default": 10}}}, limits=limits).form.fields
    assert field.default is None


def test_counts_may_be_written_with_a_fraction_of_zero() -> None:
    (field,) = form({"properties": {"t": {"type": "string", "minLength": 0.0, "maxLength": 1.0}}}).form.fields

    assert field.kind == "text"
    assert (field.min_length, field.max_length) == (0, 1)


def test_null_stays_where_it_would_hide_a_missing_required_answer() -> None:
    nullable = {"type": ["string", "null"]}
    request = form({"properties": {"a": nullable, "b": nullable, "c": {"type": "string"}}, "required": ["a"]})

    assert [error.field for error in validate(request, {"a": None, "b": None, "c": None}).errors] == ["a", "c"]


def test_a_url_request_notes_what_was_wrong_with_its_message() -> None:
    params = {"mode": "url", "message": "m" * 9, "url": "https://a.example/"}

    assert [problem.code for problem in parse_request(params, limits=Limits(max_message=8)).diagnostics] == [
        "truncated"
    ]


def test_a_host_name_may_be_253_characters_long() -> None:
    name = ".".join(["a" * 49] * 5)

    assert len(inspect_url(f"https://{name}.com/").host) == 253
    with pytest.raises(UnsafeUrlError, match="more than 253 characters"):
        inspect_url(f"https://{name}.{'a' * 4}/")


def test_the_unspecified_address_is_nobodys() -> None:
    with pytest.raises(UnsafeUrlError, match="reserved address"):
        inspect_url("https://[::]/", UrlRules(allow_private=True))


IMITATED = {
    "https://www.paypal.co.uk.login.evil.example/": ("paypal.co.uk", "evil.example"),
    "https://www.paypal.com.a.b.evil.example/": ("paypal.com", "evil.example"),
    "https://paypal.com-login-now.example/": ("paypal.com", "com-login-now.example"),
    "https://a.paypal.com-login.b.evil.example/": ("paypal.com", "evil.example"),
}


@pytest.mark.parametrize(("url", "names"), IMITATED.items())
def test_a_warning_names_what_is_imitated_and_the_domain(url: str, names: tuple[str, str]) -> None:
    imitated, domain = names
    (warning,) = inspect_url(url).warnings

    assert warning.message == f"This is not {imitated}. It belongs to {domain}."


@pytest.mark.parametrize("name", ["co.uk.example.com", "x.co.zz.example.com", "com-x.example"])
def test_a_name_that_imitates_nothing_is_not_warned_about(name: str) -> None:
    assert inspect_url(f"https://{name}/").warnings == ()


def test_scripts_that_one_language_mixes_are_not_mixed() -> None:
    host = "日本のテストabc".encode("idna").decode()

    assert [each.code for each in inspect_url(f"https://{host}.jp/").warnings] == ["punycode"]


@pytest.mark.parametrize("rule", ["allOf", "anyOf", "if", "not"])
@pytest.mark.parametrize("within", [False, True])
def test_a_rule_beside_options_that_is_not_checked_is_reported(rule: str, within: bool) -> None:
    options = {"type": "string", "enum": ["a", "b"], rule: [{"pattern": "a"}, {"pattern": "b"}]}
    field = {"type": "array", "items": options} if within else options

    request = parse_request(form_params({"properties": {"field": field}}))

    assert [(each.code, each.message) for each in request.diagnostics] == [
        ("rule_not_checked", f"its {rule} is not checked")
    ]


@pytest.mark.parametrize("wrapper", [{"$ref": "#/$defs/age"}, {"allOf": [{"$ref": "#/$defs/age"}]}])
@pytest.mark.parametrize(("limits", "value"), [({"maximum": 200}, 170), ({"minimum": 0}, 17), ({"maximum": 60}, 61)])
def test_a_value_outside_of_either_limit_of_a_wrapped_field_is_refused(
    wrapper: dict[str, Any], limits: dict[str, int], value: int
) -> None:
    schema = {"properties": {"age": {**wrapper, **limits}}}
    definitions = {"$defs": {"age": {"type": "integer", "minimum": 18, "maximum": 150}}}

    assert not validate(form_params({**schema, **definitions}), {"age": value})
    assert validate(form_params({**schema, **definitions}), {"age": 40})


@pytest.mark.parametrize("wrapper", [{"$ref": "#/$defs/name"}, {"allOf": [{"$ref": "#/$defs/name"}]}])
@pytest.mark.parametrize(
    ("outer", "found"),
    [
        ({"pattern": "^b"}, "pattern"),
        ({"format": "uri"}, "format"),
        ({"type": "integer"}, "type"),
        ({"pattern": "^a", "title": "Another name", "x-order": 2}, None),
    ],
)
def test_contradicting_rules_beside_and_inside_a_wrapper_are_reported(
    wrapper: dict[str, Any], outer: dict[str, Any], found: str | None
) -> None:
    name = {"type": "string", "pattern": "^a", "format": "email", "title": "Name", "x-order": 1}
    request = parse_request(form_params({"properties": {"name": {**wrapper, **outer}}, "$defs": {"name": name}}))

    reported = [] if found is None else [f"one of two contradicting values of its {found} is not checked"]
    assert [each.message for each in request.diagnostics] == reported
