from __future__ import annotations

import json
import math
import re
from datetime import date
from typing import Any

import mcp.types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import (
    Answer,
    AnswerError,
    ChoiceField,
    Form,
    FormRequest,
    Limits,
    NumberField,
    RequestError,
    accept,
    accept_with_defaults,
    apply_defaults,
    cancel,
    decline,
    get_defaults,
    parse_request,
    reject,
    validate,
)
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.validation.content import drop_nulls, validate_without_patterns
from mcp_elicit_client.core.validation.formats import FORMATS
from tests.support import cases, form_params, form_request, in_every_shape, rebuilt_schema, table
from tests.support.strategies import JSON, SCHEMA

URL = {"mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "e"}
DEFAULTS = form_params(
    {
        "properties": {
            "text": {"type": "string", "default": ""},
            "number": {"type": "number", "default": 0},
            "integer": {"type": "integer", "default": 2.0},
            "boolean": {"type": "boolean", "default": False},
            "choice": {"type": "string", "enum": ["s", "m"], "default": "m"},
            "several": {"type": "array", "items": {"enum": ["s", "m"]}, "default": []},
            "none": {"type": "string"},
            "wrong": {"type": "integer", "default": "x"},
        },
        "required": ["text", "boolean"],
    }
)
EVERY_DEFAULT = {"text": "", "number": 0, "integer": 2, "boolean": False, "choice": "m", "several": []}


@pytest.mark.parametrize("case", cases("answers"))
def test_an_answer_has_exactly_the_errors_of_the_table(case: Any) -> None:
    schema = table("answers")["schemas"][case["schema"]]

    validation = validate(form_params(schema), case["content"])

    assert case["errors"] == [[error.field, error.code] for error in validation.errors]
    assert bool(validation) is validation.valid is (not case["errors"])


@pytest.mark.parametrize("case", cases("answers"))
def test_an_error_is_a_sentence_and_quotes_nothing(case: Any) -> None:
    schema = table("answers")["schemas"][case["schema"]]

    for error in validate(form_params(schema), case["content"]).errors:
        assert error.message.endswith(".")
        assert "Ann" not in error.message


SENTENCES: list[tuple[dict[str, Any], Any, str]] = [
    ({"type": "string"}, 1, "Enter text."),
    ({"type": "integer"}, "x", "Enter a whole number."),
    ({"type": "number"}, "x", "Enter a number, such as 7.5."),
    ({"type": "boolean"}, "x", "Select yes or no."),
    ({"type": "array"}, "x", "Enter a list."),
    ({"type": "array"}, [1], "Enter a list of texts."),
    ({"type": "string"}, {}, "Enter text, a number, yes or no, or a list of texts."),
    ({"type": "string", "minLength": 3}, "x", "Enter at least 3 characters."),
    ({"type": "string", "maxLength": 3}, "xxxx", "Enter at most 3 characters."),
    ({"type": "string", "format": "email"}, "x", "Enter an email address, such as name@example.com."),
    ({"type": "string", "format": "uuid"}, "x", "Enter a UUID, such as 123e4567-e89b-12d3-a456-426614174000."),
    ({"type": "number", "minimum": 3}, 1, "Enter 3 or more."),
    ({"type": "number", "maximum": 3}, 4, "Enter 3 or less."),
    ({"type": "number", "exclusiveMinimum": 3}, 3, "Enter more than 3."),
    ({"type": "number", "exclusiveMaximum": 3}, 3, "Enter less than 3."),
    ({"type": "number", "multipleOf": 0.5}, 0.3, "Enter a multiple of 0.5."),
    ({"type": "integer", "multipleOf": 3}, 4, "Enter a multiple of 3."),
    ({"type": "integer", "multipleOf": 3}, 5, "Enter a multiple of 3."),
    ({"enum": ["a"]}, "x", "Select one of the options."),
    ({"type": "array", "minItems": 2}, ["x"], "Enter at least 2 values."),
    ({"type": "array", "maxItems": 1}, ["x", "y"], "Enter at most 1 value."),
    ({"type": "array", "uniqueItems": True}, ["x", "x"], "Remove the repeated value."),
    ({"type": "array", "items": {"type": "string", "maxLength": 1}}, ["xy"], "Enter at most 1 character."),
]


@pytest.mark.parametrize(("field", "value", "sentence"), SENTENCES)
def test_an_error_says_what_to_do(field: dict[str, Any], value: Any, sentence: str) -> None:
    (error,) = validate(form_params({"properties": {"f": field}}), {"f": value}).errors

    assert error.message == sentence


def test_a_multiple_of_a_whole_number_passes() -> None:
    assert validate(form_params({"properties": {"f": {"type": "integer", "multipleOf": 3}}}), {"f": 6})


def test_an_answer_that_is_too_large_is_an_error_of_the_whole() -> None:
    (error,) = validate(form_params({"properties": {"a": {"type": "string"}}}), {"a": "x" * 16_384}).errors

    assert (error.field, error.code) == ("", "too_large")


def test_a_key_that_is_not_unicode_is_an_error_that_can_be_shown() -> None:
    (error,) = validate(form_params({"properties": {}}), {"a\n\ud800": "x"}).errors

    assert (error.field, error.code) == ("a \\u{d800}", "not_unicode")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"content": {"day": date(2026, 11, 20)}},
            "`content['day']` must be a string, .* or a list of strings, not date. Convert it, such as a date with .*",
        ),
        ({"content": {"pin": {"a": "s3cret"}}}, "`content['pin']` must be .*, not dict. .*"),
        ({"content": {3: "x"}}, "The keys of `content` must be the names of fields, which are strings."),
        ({"by": "me"}, "`by` must be 'user', 'policy', 'default', .* or 'error'."),
        ({"by": "user", "reason": 3}, "`reason` must be a valid string."),
        ({"sources": {"day": "me"}}, "`sources['day']` must be 'user', 'default', 'policy' or 'host'."),
    ],
)
def test_a_wrong_argument_of_an_answer_is_one_sentence(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as error:
        Answer.accept(**{"by": "user", **wrong})
    assert re.fullmatch(re.escape(sentence).replace(re.escape(".*"), ".*"), str(error.value))
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("make", [Answer.decline, Answer.cancel])
def test_a_refusal_names_who_may_have_decided(make: Any) -> None:
    with pytest.raises(ValueError, match="`by` must be 'user', 'policy'"):
        make(by="me")


def test_an_answer_need_not_be_a_dict() -> None:
    from types import MappingProxyType

    assert validate(form_params({"properties": {"a": {"type": "string"}}}), MappingProxyType({"a": "x"}))


def test_a_url_request_has_nothing_to_validate() -> None:
    with pytest.raises(RequestError, match="no form"):
        validate(URL, {})


@pytest.mark.parametrize("case", cases("formats"))
def test_formats_are_checked_by_their_rfcs(case: Any) -> None:
    assert case["valid"] == FORMATS[case["format"]].check(case["value"])


def test_every_format_has_valid_and_invalid_values() -> None:
    tested = {(case["format"], case["valid"]) for case in table("formats")}

    assert tested == {(name, valid) for name in FORMATS for valid in (True, False)}


@pytest.mark.parametrize("params", in_every_shape(DEFAULTS))
def test_defaults_are_of_every_kind_and_falsy_ones_are_kept(params: Any) -> None:
    defaults = get_defaults(params)

    assert defaults == EVERY_DEFAULT
    assert {name: type(value) for name, value in defaults.items()} == {
        name: type(value) for name, value in EVERY_DEFAULT.items()
    }


@pytest.mark.parametrize("params", in_every_shape(URL))
def test_a_url_request_has_no_defaults(params: Any) -> None:
    assert get_defaults(params) == {}


@pytest.mark.parametrize("params", in_every_shape(DEFAULTS))
def test_what_is_given_wins_over_defaults_even_if_falsy_and_is_not_changed(params: Any) -> None:
    partial = {"choice": "", "number": 7}

    assert apply_defaults(params, partial) == {**EVERY_DEFAULT, "choice": "", "number": 7}
    assert partial == {"choice": "", "number": 7}


@pytest.mark.parametrize("params", in_every_shape(DEFAULTS))
def test_accepting_with_defaults_is_a_result_of_the_sdk(params: Any) -> None:
    result = accept_with_defaults(params, {"none": "x"})

    assert isinstance(result, mcp.types.ElicitResult)
    assert (result.action, result.content) == ("accept", {**EVERY_DEFAULT, "none": "x"})


def cancelled_because(caplog: pytest.LogCaptureFixture, result: mcp.types.ElicitResult) -> str:
    """Return the reason that was logged for a cancel."""
    assert (result.action, result.content) == ("cancel", None)
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("mcp_elicit_client", "WARNING")
    return record.getMessage()


@pytest.mark.parametrize("params", in_every_shape(URL))
def test_a_url_cannot_be_accepted_by_default(params: Any, caplog: pytest.LogCaptureFixture) -> None:
    reason = cancelled_because(caplog, accept_with_defaults(params))

    assert reason == "a request was cancelled: only a user can consent to a URL"


def test_a_required_field_without_default_cannot_be_accepted_by_default(caplog: pytest.LogCaptureFixture) -> None:
    params = form_params({"properties": {"a": {"type": "string"}}, "required": ["a"]})

    reason = cancelled_because(caplog, accept_with_defaults(params))

    assert reason.endswith("the default values do not complete the form: 'a': This field is required.")


def test_accepting_with_defaults_sends_no_key_that_was_not_asked_for() -> None:
    params = form_params({"properties": {"a": {"type": "string", "default": "x"}}})

    assert accept_with_defaults(params, {"b": "y"}).content == {"a": "x"}


def test_the_builders_build_results_of_the_sdk() -> None:
    results = [accept({"a": "x"}), accept(), decline("no time"), reject(), cancel("gone")]

    assert all(isinstance(result, mcp.types.ElicitResult) for result in results)
    assert [result.model_dump(exclude_none=True) for result in results] == [
        {"action": "accept", "content": {"a": "x"}},
        {"action": "accept"},
        {"action": "decline"},
        {"action": "decline"},
        {"action": "cancel"},
    ]


@pytest.mark.parametrize("value", [None, {"x": 1}, [1], math.nan, math.inf, 2**60, "\ud800", object()])
def test_accept_refuses_what_no_answer_can_carry(value: Any) -> None:
    with pytest.raises(AnswerError):
        accept({"a": value})


def form(schema: object) -> FormRequest:
    return form_request(form_params(schema))


def test_an_accept_that_does_not_fit_becomes_a_cancel() -> None:
    answer = check_answer(form({"properties": {"a": {"type": "integer"}}}), Answer.accept({"a": "x"}, by="user"))

    assert (answer.action, answer.content, answer.by) == ("cancel", None, "error")
    assert answer.reason == "the answer does not fit the form: type"


@pytest.mark.parametrize(("limits", "is_sent"), [(Limits(max_integer=99), False), (Limits(max_integer=2**60), True)])
def test_an_answer_is_checked_with_the_limits_with_which_its_request_was_read(limits: Limits, is_sent: bool) -> None:
    request = parse_request(form_params({"properties": {"a": {"type": "integer"}}}), limits=limits)
    content = {"a": 2**57}

    assert bool(validate(request, content)) is is_sent
    assert (check_answer(request, Answer.accept(content, by="user")).action == "accept") is is_sent
    assert (accept(content, request=request).action == "accept") is is_sent
    assert (accept_with_defaults(request, content).action == "accept") is is_sent


def test_an_accept_of_a_form_without_content_is_empty() -> None:
    answer = check_answer(form({"properties": {}}), Answer.accept(by="user"))

    assert answer.to_wire() == {"action": "accept", "content": {}}


def test_null_counts_as_left_out_where_the_server_takes_it_and_a_missing_answer_too() -> None:
    request = form({"properties": {"a": {"type": ["string", "null"], "pattern": "^x"}, "b": {"type": "string"}}})

    assert validate(request, {"a": None})
    assert check_answer(request, Answer.accept({"a": None, "b": "x"}, by="user")).content == {"b": "x"}
    assert [error.code for error in validate(request, {"b": None}).errors] == ["null"]


def test_null_is_not_sent_for_a_required_field_even_if_the_server_takes_it() -> None:
    request = form({"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]})

    assert [error.code for error in validate(request, {"a": None}).errors] == ["null"]


def test_what_was_not_asked_for_is_not_sent() -> None:
    request = form({"properties": {"a": {"type": "string"}}})

    answer = check_answer(request, Answer.accept({"a": "x", "b": "y"}, by="user", sources={"a": "user", "b": "user"}))

    assert answer.content == {"a": "x"}
    assert answer.sources == {"a": "user"}
    assert [(note.code, note.field) for note in answer.diagnostics] == [("not_asked_for", "b")]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_content_goes_with_nothing_but_accept(action: Any) -> None:
    answer = check_answer(form({"properties": {}}), Answer(action=action, content={"a": "x"}, by="user"))

    assert answer.content is None
    assert Answer(action=action, content={"a": "x"}, by="user").to_wire() == {"action": action}


def test_content_does_not_go_to_a_url() -> None:
    answer = check_answer(parse_request(URL), Answer.accept({"a": "x"}, by="user"))

    assert answer.to_wire() == {"action": "accept"}


def test_values_are_sent_as_the_server_spells_them() -> None:
    request = form(
        {
            "properties": {
                "i": {"type": "integer"},
                "e": {"type": "integer", "enum": [1, 2]},
                "m": {"type": "array", "items": {"enum": ["a"]}},
            }
        }
    )

    wire = check_answer(request, Answer.accept({"i": 3.0, "e": 2.0, "m": ("a",)}, by="user")).to_wire()

    assert json.dumps(wire["content"]) == '{"i": 3, "e": 2, "m": ["a"]}'


def test_an_answer_survives_the_way_to_another_process() -> None:
    answer = Answer.accept({"a": 1, "b": True, "c": 1.5, "d": ["x"]}, by="user", sources={"a": "default"})

    again = Answer.model_validate_json(answer.model_dump_json())

    assert again.to_wire() == answer.to_wire()
    assert [type(value) for value in (again.content or {}).values()][:3] == [int, bool, float]


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=3))


NOT_OF_THE_SCHEMA = {"null", "unsafe_integer", "not_finite", "not_unicode", "unsupported_field", "too_large", "type"}
"""What is wrong with an answer although its schema allows it: no answer can carry it."""


def plain_validator(form: Form) -> Any:
    """jsonschema as it comes, on the rebuilt schema; but multiples are decimal, and patterns are another matter."""
    from jsonschema import Draft202012Validator, FormatChecker

    checker = FormatChecker(formats=())
    for name, row in FORMATS.items():
        checker.checks(name)(lambda value, check=row.check: not isinstance(value, str) or check(value))
    schema = rebuilt_schema(form)
    for rules in schema["properties"].values():
        for each in (rules, rules.get("items", {})):
            each.pop("pattern", None)
            if isinstance(each.get("multipleOf"), float):
                del each["multipleOf"]
    return Draft202012Validator(schema, format_checker=checker)


@given(SCHEMA | st.just(table("answers")["schemas"]["every kind"]), st.data())
def test_validate_agrees_with_jsonschema_on_the_rebuilt_schema_and_with_itself_through_json(
    schema: dict[str, Any], data: st.DataObject
) -> None:
    try:
        asked = form(schema).form
    except RequestError:
        return
    usual = [choice.value for field in asked.fields if isinstance(field, ChoiceField) for choice in field.choices]
    names = st.sampled_from([field.name for field in asked.fields] or ["a"]) | st.text(max_size=2)
    content = data.draw(st.dictionaries(names, VALUES | JSON | st.sampled_from(usual or ["x"]), max_size=6))

    validation = validate_without_patterns(asked, content)
    again = validate_without_patterns(Form.model_validate_json(asked.model_dump_json()), content)
    codes = {error.code for error in validation.errors}

    assert again == validation
    if validation.valid:
        assert plain_validator(asked).is_valid(drop_nulls(asked, content))
    elif plain_validator(asked).is_valid(content):
        assert codes & NOT_OF_THE_SCHEMA or any(
            isinstance(field, NumberField) and isinstance(field.multiple_of, float) for field in asked.fields
        )


@given(st.dictionaries(st.text(max_size=3), VALUES))
def test_a_checked_answer_can_always_be_sent(content: dict[str, Any]) -> None:
    request = form({"properties": {"a": {"type": "string"}, "b": {"type": "number"}, "": {"type": "array"}}})
    try:
        answer = Answer.accept(content, by="user")
    except ValueError:
        return

    wire = check_answer(request, answer).to_wire()

    result = mcp.types.ElicitResult.model_validate(json.loads(json.dumps(wire, allow_nan=False)))

    assert result.action in ("accept", "cancel")
    assert None not in (result.content or {}).values()
