"""The helpers for callbacks, against servers whose forms and defaults are not what they seem."""

from __future__ import annotations

import json
from typing import Any

import mcp.types
import pytest

from mcp_elicit_client import (
    Answer,
    ElicitationRegistry,
    FormRequest,
    RequestError,
    UrlRequest,
    accept,
    accept_with_defaults,
    apply_defaults,
    get_defaults,
    parse_request,
    validate,
)
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.validation.patterns import settle_defaults
from tests.support import form_params, form_request, in_every_shape

TEXT = {"type": "string"}


# --- defaults and patterns

MISMATCHES: dict[str, dict[str, Any]] = {
    "a text": {"type": "string", "pattern": "^a", "default": "b"},
    "an empty text": {"type": "string", "pattern": "^a", "default": ""},
    "a text with a newline": {"type": "string", "pattern": "^a$", "default": "a\n"},
    "a text with a foreign digit": {"type": "string", "pattern": r"^\d$", "default": "\u0661"},
    "a text with a format": {
        "type": "string",
        "format": "email",
        "pattern": "@example\\.com$",
        "default": "a@b.example",
    },
    "a text behind a look-ahead": {"type": "string", "pattern": "^(?!b)", "default": "b"},
    "a text that may be null": {"type": ["string", "null"], "pattern": "^a", "default": "b"},
    "a text behind a reference": {"$ref": "#/$defs/code"},
    "a list": {"type": "array", "items": {"type": "string", "pattern": "^a"}, "default": ["b"]},
    "a list with one such text": {"type": "array", "items": {"type": "string", "pattern": "^a"}, "default": ["a", "b"]},
}


def mismatched(field: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"a": field, "b": {"type": "integer", "default": 0}}}
    return form_params(schema | {"$defs": {"code": {"type": "string", "pattern": "^a", "default": "b"}}})


@pytest.mark.parametrize("field", MISMATCHES.values(), ids=MISMATCHES)
def test_no_reader_of_a_form_sees_a_default_that_does_not_match_its_pattern(field: dict[str, Any]) -> None:
    request = form_request(mismatched(field))
    settled, dropped = settle_defaults(request.form)
    stored = FormRequest.model_validate_json(request.model_dump_json())

    assert [each.default for each in request.form.fields] == [None, 0]
    assert [each.default for each in stored.form.fields] == [None, 0]
    assert [each.default for each in settled.fields] == [None, 0]
    assert [getattr(each, "unchecked_default", None) for each in settled.fields] == [None, None]
    assert [(each.code, each.field) for each in dropped] == [("default_dropped", "a")]
    for params in (mismatched(field), request, stored):
        assert get_defaults(params) == apply_defaults(params) == {"b": 0}
        assert accept_with_defaults(params).content == {"b": 0}


MATCHES: dict[str, tuple[dict[str, Any], Any]] = {
    "a text": ({"type": "string", "pattern": "^a", "default": "ab"}, "ab"),
    "an empty text": ({"type": "string", "pattern": "^a?$", "default": ""}, ""),
    "a list": ({"type": "array", "items": {"type": "string", "pattern": "^a"}, "default": ["a", "ab"]}, ["a", "ab"]),
    "an empty list": ({"type": "array", "items": {"type": "string", "pattern": "^a"}, "default": []}, []),
    "a pattern that is invalid": ({"type": "string", "pattern": "(", "default": "x"}, "x"),
    "a pattern that is too long": ({"type": "string", "pattern": "a" * 513, "default": "x"}, "x"),
}


@pytest.mark.parametrize(("field", "default"), MATCHES.values(), ids=MATCHES)
def test_a_default_that_matches_or_cannot_be_checked_is_used(field: dict[str, Any], default: Any) -> None:
    params = form_params({"properties": {"a": field}})
    settled, dropped = settle_defaults(form_request(params).form)

    assert get_defaults(params) == {"a": default}
    assert settled.fields[0].default == (tuple(default) if isinstance(default, list) else default)
    assert dropped == ()


# --- keys that were not requested

EXTRA = ["csrf_token", "Name", " name", "ｎame", "name\u200b", "__proto__", "", "nested"]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("key", EXTRA)
def test_a_key_that_was_not_requested_is_not_sent(key: str, closed: bool) -> None:
    properties = {"name": TEXT, "nested": {"type": "object"}}
    wire = form_params({"type": "object", "properties": properties, "additionalProperties": not closed})

    for params in in_every_shape(wire):
        result = accept({"name": "Ada", key: "s3cret"}, request=params)

        assert (result.action, result.content) == ("accept", {"name": "Ada"})


def test_a_callback_of_the_documentation_sends_what_was_requested() -> None:
    params = form_params({"properties": {"name": TEXT, "size": {"type": "integer", "default": 2}}})
    typed = {"name": "Ada", "csrf_token": "s3cret"}

    result = accept(apply_defaults(params, typed), request=params)

    assert result.content == {"name": "Ada", "size": 2}


WRONG: dict[str, dict[str, Any]] = {
    "a required field is missing": {},
    "a value of another type": {"name": 5},
    "null": {"name": None},
    "a text that does not match its pattern": {"name": "Ada", "code": "b"},
    "a nested value": {"name": {"first": "Ada"}},
    "a number that is not finite": {"name": "Ada", "size": float("nan")},
}


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG)
def test_content_that_does_not_fit_its_form_is_a_logged_cancel(
    content: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    properties = {"name": TEXT, "code": {"type": "string", "pattern": "^a"}, "size": {"type": "number"}}
    wire = form_params({"properties": properties, "required": ["name"]})

    for params in in_every_shape(wire):
        caplog.clear()
        result = accept(content, request=params)

        assert (result.action, result.content) == ("cancel", None)
        (record,) = caplog.records
        logged = record.getMessage()
        assert logged.startswith("a request was cancelled: the answer does not fit the form: ")
        codes = {"name": ("required", "type", "null"), "code": ("pattern",), "size": ("not_finite",)}
        assert any(f"{name!r}: {code}: " in logged for name, found in codes.items() for code in found)
        assert "Ada" not in record.getMessage()


@pytest.mark.parametrize("content", [False, "Ada", ["Ada"], [], ("name", "Ada")])
def test_content_that_is_no_mapping_is_a_logged_cancel(content: Any, caplog: pytest.LogCaptureFixture) -> None:
    for params in in_every_shape(form_params({"properties": {"name": TEXT}})):
        result = accept(content, request=params)

        assert (result.action, result.content) == ("cancel", None)
        assert "The answer must be an object" in caplog.text


@pytest.mark.parametrize("by_alias", [False, True])
def test_the_content_for_dumped_params_is_sent_or_refused(by_alias: bool) -> None:
    wire = form_params({"type": "object", "properties": {"a": TEXT}})
    dumped = mcp.types.ElicitRequestFormParams.model_validate(wire).model_dump(by_alias=by_alias)

    if "requestedSchema" in dumped:
        assert accept({"a": "x"}, request=dumped).content == {"a": "x"}
    else:
        with pytest.raises(RequestError, match="by_alias=True"):
            accept({"a": "x"}, request=dumped)


@pytest.mark.parametrize("by_alias", [False, True])
def test_dumped_params_of_a_url_keep_their_id_or_are_refused(by_alias: bool) -> None:
    wire = {"mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "e"}
    dumped = mcp.types.ElicitRequestURLParams.model_validate(wire).model_dump(by_alias=by_alias)

    if "elicitationId" in dumped:
        request = parse_request(dumped)
        assert isinstance(request, UrlRequest)
        assert request.elicitation_id == "e"
    else:
        with pytest.raises(RequestError, match="by_alias=True"):
            parse_request(dumped)


def test_params_that_were_made_without_validation_are_read_as_far_as_they_are_set() -> None:
    params = mcp.types.ElicitRequestFormParams.model_construct(message="m")

    assert [each.code for each in parse_request(params).diagnostics] == ["schema_missing"]


def test_a_url_is_accepted_without_content() -> None:
    params = {"mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "e"}

    assert accept({"name": "Ada"}, request=params).model_dump(exclude_none=True) == {"action": "accept"}
    assert accept(request=params).model_dump(exclude_none=True) == {"action": "accept"}


# --- confirmations

CONFIRMATIONS: dict[str, dict[str, Any]] = {
    "without schema": {"message": "Delete all production data?"},
    "without fields": form_params({"type": "object", "properties": {}}, "Delete all production data?"),
    "with optional fields": form_params({"properties": {"reason": TEXT, "yes": {"type": "boolean"}}}),
    "with an invalid default": form_params({"properties": {"yes": {"type": "boolean", "default": "true"}}}),
    "with a null default": form_params({"properties": {"yes": {"type": ["boolean", "null"], "default": None}}}),
    "with a default that does not match": form_params({"properties": {"a": MISMATCHES["a text"]}}),
    "with an unsupported field": form_params({"properties": {"a": {"type": "object", "default": {}}}}),
    "with a default beside the fields": form_params({"properties": {}, "default": {"yes": True}}),
}


@pytest.mark.parametrize("partial", [None, {}, {"not requested": True}])
@pytest.mark.parametrize("wire", CONFIRMATIONS.values(), ids=CONFIRMATIONS)
def test_defaults_never_accept_a_confirmation(
    wire: dict[str, Any], partial: dict[str, Any] | None, caplog: pytest.LogCaptureFixture
) -> None:
    result = accept_with_defaults(wire, partial)

    assert (result.action, result.content) == ("cancel", None)
    assert "only a user can confirm it" in caplog.text


@pytest.mark.anyio
@pytest.mark.parametrize("wire", CONFIRMATIONS.values(), ids=CONFIRMATIONS)
async def test_a_handler_that_returns_the_defaults_cancels_a_confirmation(wire: dict[str, Any]) -> None:
    registry = ElicitationRegistry()

    @registry.on_elicitation(mode="form", server="ci")
    async def use_defaults(request: FormRequest) -> mcp.types.ElicitResult:
        return accept_with_defaults(request)

    params: Any = wire
    result = await registry.callback("ci")(None, params)

    assert isinstance(result, mcp.types.ElicitResult)
    assert (result.action, result.content) == ("cancel", None)


def test_a_null_that_is_not_sent_accepts_no_confirmation(caplog: pytest.LogCaptureFixture) -> None:
    for params in in_every_shape(CONFIRMATIONS["with a null default"]):
        result = accept_with_defaults(params, {"yes": None})

        assert (result.action, result.content) == ("cancel", None)
        assert "only a user can confirm it" in caplog.text


def test_a_field_that_the_host_fills_in_is_accepted() -> None:
    result = accept_with_defaults(CONFIRMATIONS["with optional fields"], {"reason": "tested"})

    assert (result.action, result.content) == ("accept", {"reason": "tested"})


def test_what_is_accepted_is_the_same_as_what_is_valid() -> None:
    request = form_request(form_params({"properties": {"a": TEXT, "b": {"type": "array", "items": {"enum": ["x"]}}}}))

    for content in ({}, {"a": "x"}, {"b": ["x"]}, {"b": ["y"]}, {"a": 1}):
        answer = check_answer(request, Answer.accept(content, by="host"))
        assert (answer.action == "accept") is validate(request, content).valid
        assert json.dumps(answer.content if answer.action == "accept" else {}) == json.dumps(
            content if answer.action == "accept" else {}
        )
