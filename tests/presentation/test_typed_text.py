from __future__ import annotations

import pytest

from mcp_elicit_client import AnswerError, FormRequest, Limits, TextField, UrlRequest, parse_request
from mcp_elicit_client.presentation.input_parsing import InputContext, parse_text
from mcp_elicit_client.presentation.url_prompts import completion_prompt, consent_prompt
from tests.support import form_params, form_request


def form(schema: object) -> FormRequest:
    return form_request(form_params(schema))


STRIPPED = {
    "email": "a@b.example",
    "uri": "https://example.com/",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "www.example.com",
    "duration": "P1D",
    "date": "2026-11-20",
    "time": "14:30:00Z",
    "date-time": "2026-11-20T14:30:00Z",
}


@pytest.mark.parametrize(("name", "value"), STRIPPED.items())
def test_spaces_around_a_formatted_text_are_removed(name: str, value: str) -> None:
    assert parse_text(TextField(name="f", title="F", format=name), f"  {value} ") == value


def test_an_answer_error_has_the_sentences_of_its_field_errors() -> None:
    request = form(
        {"properties": {"n": {"type": "integer", "minimum": 5}, "b": {"type": "boolean"}, "c": {"enum": ["x"]}}}
    )
    for field, typed, sentence in zip(
        request.form.fields, ["4", "perhaps", "z"], ["Enter 5 or more.", "Select yes or no.", None], strict=True
    ):
        with pytest.raises(AnswerError) as caught:
            parse_text(field, typed)
        assert str(caught.value) == caught.value.errors[0].message
        assert sentence in (None, str(caught.value))


def test_an_option_is_selected_by_title_value_or_unambiguous_number() -> None:
    titled = {"oneOf": [{"const": "small", "title": "S"}, {"const": "big", "title": "B"}]}
    numbered = {"oneOf": [{"const": "2", "title": "two"}, {"const": "1", "title": "one"}]}
    first, second = form({"properties": {"a": titled, "b": numbered}}).form.fields

    assert [parse_text(first, typed) for typed in ("small", "BIG", "S", "2")] == ["small", "big", "small", "big"]
    assert [parse_text(second, typed) for typed in ("1", "2", "two")] == ["1", "2", "2"]


@pytest.mark.parametrize("titles", [("2.", "1."), ("(2)", "(1)"), ("２", "１"), ("②", "①"), ("٢", "١"), ("2.0", "1.0")])
def test_an_option_that_looks_like_a_number_is_not_taken_for_the_number_of_another(titles: tuple[str, str]) -> None:
    options = [{"const": value, "title": title} for value, title in zip("ab", titles, strict=True)]
    (field,) = form({"properties": {"a": {"oneOf": options}}}).form.fields

    assert parse_text(field, titles[1]) == "b"
    for number in ("1", "2"):
        with pytest.raises(AnswerError):
            parse_text(field, number)


def test_a_date_without_a_time_is_not_a_date_time() -> None:
    (field,) = form({"properties": {"a": {"type": "string", "format": "date-time"}}}).form.fields
    with pytest.raises(AnswerError):
        parse_text(field, "2026-11-20")


def test_typed_text_is_parsed_with_the_limits_of_the_host() -> None:
    (field,) = form({"properties": {"a": {"type": "integer"}}}).form.fields

    with pytest.raises(AnswerError):
        parse_text(field, "10", InputContext(limits=Limits(max_integer=9)))


def test_a_url_prompt_offers_the_available_choices() -> None:
    request = parse_request({"mode": "url", "message": "m", "url": "https://a.example/"})
    warned = parse_request({"mode": "url", "message": "m", "url": "https://a.example:8443/"})
    assert isinstance(request, UrlRequest)
    assert isinstance(warned, UrlRequest)

    assert consent_prompt(request).choices == ("open", "show", "decline", "cancel")
    assert consent_prompt(request).step == "consent"
    assert consent_prompt(request, can_open=False, can_copy=True).choices == ("copy", "show", "decline", "cancel")
    assert (consent_prompt(request).default, consent_prompt(warned).default) == (None, "decline")
    assert completion_prompt(request).choices == ("done", "reopen", "decline", "cancel")
    assert completion_prompt(request, can_open=False).choices == ("done", "decline", "cancel")
    assert (completion_prompt(warned).step, completion_prompt(warned).default) == ("waiting", None)
