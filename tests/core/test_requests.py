from __future__ import annotations

import copy
import json
import socket
from typing import Any

import mcp.types
import pytest
from hypothesis import given
from pydantic import BaseModel, ConfigDict, Field

from mcp_elicit_client import (
    FormRequest,
    Limits,
    RequestError,
    Server,
    UrlRequest,
    parse_request,
    sanitize_text,
    validate,
)
from mcp_elicit_client.core.request import MAX_CLAIM
from mcp_elicit_client.core.validation.content import validate_without_patterns
from mcp_elicit_client.testing import PAYLOADS
from tests.support import cases, corpus, example_answer, form_params, form_request
from tests.support.strategies import JSON, SCHEMA


def is_safe(text: str) -> bool:
    return sanitize_text(text, limit=None, multiline=False) == text


def part_of(actual: Any, expected: Any) -> Any:
    """As much of *actual* as *expected* says something about."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return {key: part_of(actual[key], expected[key]) for key in expected}
    return actual


@pytest.mark.parametrize("case", cases("forms"))
def test_a_schema_becomes_the_form_that_a_person_can_answer(case: Any) -> None:
    request = form_request(form_params(case["schema"]))
    parsed = json.loads(request.form.model_dump_json()) if "\ud800" not in str(case) else request.form.model_dump()

    assert [field["name"] for field in case["fields"]] == [field["name"] for field in parsed["fields"]]
    for expected, actual in zip(case["fields"], parsed["fields"], strict=True):
        assert expected == part_of(actual, expected)
    assert case.get("unsupported_field", []) == list(request.form.unsupported_fields)
    assert case.get("problems", []) == [problem.code for problem in request.diagnostics]
    assert case.get("closed", False) == request.form.rejects_unknown_fields


@pytest.mark.parametrize("case", cases("refused"))
def test_what_nobody_could_answer_is_refused_with_a_reason(case: Any) -> None:
    with pytest.raises(RequestError) as caught:
        parse_request(case["params"])

    assert case["error"] == str(caught.value)


GUESSES: dict[str, list[dict[str, Any]]] = {
    "left out": [{"properties": {}}, {"additionalProperties": True}, {"patternProperties": {}}],
    "multichoice": [{"items": {"type": "string"}}, {"minItems": 1}, {"maxItems": 1}, {"uniqueItems": True}],
    "text": [
        {"minLength": 1},
        {"maxLength": 1},
        {"pattern": "x"},
        {"format": "date"},
        {"default": "x"},
        {"title": "T"},
    ],
    "number": [
        *({keyword: 1} for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
        {"default": 1},
        {"default": 1.5},
    ],
    "boolean": [{"default": False}],
}


@pytest.mark.parametrize(
    ("field", "kind"), [(field, kind) for kind, fields in GUESSES.items() for field in fields], ids=str
)
def test_the_kind_of_a_field_without_type_is_guessed_from_what_it_has(field: dict[str, Any], kind: str) -> None:
    fields = form_request(form_params({"properties": {"f": field}})).form.fields

    assert [each.kind for each in fields] == ([] if kind == "left out" else [kind])


def test_integers_stay_integers() -> None:
    fields = form_request(
        form_params({"properties": {"a": {"type": "integer", "default": 3.0}, "b": {"type": "number", "default": 3.0}}})
    ).form.fields

    assert [type(field.default) for field in fields] == [int, float]


def test_a_request_without_mode_is_a_form() -> None:
    assert form_request({"message": "m", "requestedSchema": {"type": "object", "properties": {}}}).mode == "form"


def test_a_claimed_name_that_the_host_passes_on_is_sanitized_and_cut() -> None:
    server = Server(name="mail", claimed_name="Bank\r\x1b[2J\u202e")
    long = Server(name="mail", claimed_name="\x1b" * 1_000)

    assert server.claimed_name == r"Bank\u{d}\u{1b}[2J\u{202e}"
    assert long.claimed_name is not None
    assert len(long.claimed_name) == MAX_CLAIM + 1
    assert [Server.model_validate_json(each.model_dump_json()) for each in (server, long)] == [server, long]


def test_a_request_says_who_asks_and_where() -> None:
    request = parse_request(
        {"mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "e1", "_meta": {"a": 1}},
        server=Server(name="mail", claimed_name="Bank"),
        protocol_version="2025-11-25",
        tool="send",
        request_id=7,
    )

    assert isinstance(request, UrlRequest)
    assert (request.server.name, request.server.claimed_name) == ("mail", "Bank")
    assert (request.protocol_version, request.tool, request.request_id) == ("2025-11-25", "send", 7)
    assert (request.elicitation_id, request.meta, request.target.host) == ("e1", {"a": 1}, "example.com")


def test_the_message_is_made_safe_and_cut() -> None:
    request = form_request({"message": "a\x1b[2J" + "b" * 5_000, "requestedSchema": {"properties": {}}})

    assert request.message.startswith("a\\u{1b}[2Jbbb")
    assert len(request.message) < 4_010
    assert [problem.code for problem in request.diagnostics] == ["truncated"]


def test_sdk_params_and_their_wire_form_are_the_same_request() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}, "required": ["a"]}
    params = mcp.types.ElicitRequestFormParams.model_validate({"message": "m", "requestedSchema": schema})

    assert parse_request(params) == parse_request({"message": "m", "requestedSchema": schema})


def test_sdk_url_params_and_their_wire_form_are_the_same_request() -> None:
    wire = {"mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "e", "_meta": {"k": "v"}}

    assert parse_request(mcp.types.ElicitRequestURLParams.model_validate(wire)) == parse_request(wire)


def test_parsing_changes_nothing_of_the_params() -> None:
    params = form_params({"properties": {"a": {"type": "array", "items": {"enum": ["x"]}, "enumNames": ["X"]}}})
    before = copy.deepcopy(params)

    parse_request(params)

    assert params == before


@pytest.mark.parametrize("case", cases("forms"))
def test_a_form_that_was_read_does_not_change_with_the_params(case: Any) -> None:
    params = form_params(copy.deepcopy(case["schema"]))
    before = form_request(params).form.model_dump()
    form = form_request(params).form

    empty(params["requestedSchema"])

    assert before == form.model_dump()
    assert before == form_request(form_params(case["schema"])).form.model_dump()


def test_forms_whose_values_are_equal_only_in_python_differ() -> None:
    values: list[Any] = [1, True, "1"]

    read: list[Any] = [
        form_request(form_params({"properties": {"f": {"enum": [each]}}})).form.fields[0] for each in values
    ]

    assert [repr(value) for value in values] == [repr(field.choices[0].value) for field in read]


def empty(value: Any) -> None:
    """Remove everything from *value*, and from everything in it."""
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            empty(each)
        value.clear()


def test_a_request_survives_the_way_to_another_process() -> None:
    request = form_request(
        form_params({"properties": {"a": {"enum": ["x", 1, True]}, "b": {"type": "array"}}}), server="s"
    )

    assert FormRequest.model_validate_json(request.model_dump_json()) == request


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in PAYLOADS.items()])
def test_a_bomb_ends_in_an_error_or_a_usable_form_and_touches_nothing(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    form_with_default = form_params({"properties": {"a": {"type": "string", "default": "x"}}})
    parse_request(form_with_default)  # so that no import is measured
    params = make()
    monkeypatch.setattr(socket, "socket", _never)
    monkeypatch.setattr("builtins.open", _never)

    try:
        request = parse_request(params)
    except RequestError as error:
        assert is_safe(str(error))
        assert len(str(error)) < 300
    else:
        assert isinstance(request, FormRequest)
        assert len(request.message) < 40_000
        assert validate_without_patterns(request.form, example_answer(request.form))


def _never(*_: object, **__: object) -> None:
    raise AssertionError("a request made us touch the world")


def test_limits_are_the_hosts_to_choose() -> None:
    schema = {"properties": {"a": {"type": "string", "enum": [str(at) for at in range(100)]}}}

    assert form_request(form_params(schema), limits=Limits(max_options=100)).form.unsupported_fields == ()
    assert form_request(form_params(schema), limits=Limits(max_options=99)).form.unsupported_fields == ("a",)


@given(JSON)
def test_any_json_is_a_request_or_a_request_error(params: Any) -> None:
    try:
        parse_request(params)
    except RequestError as error:
        assert str(error)


@given(SCHEMA)
def test_any_schema_is_a_form_that_can_be_answered_or_a_request_error(schema: Any) -> None:
    try:
        request = form_request(form_params(schema))
    except RequestError as error:
        assert is_safe(str(error))
        return

    assert validate(
        request, {field.name: field.default for field in request.form.fields if field.default is not None}
    ) or any(field.required for field in request.form.fields)
    for field in request.form.fields:
        assert is_safe(field.title)


CORPUS_LABELS = ("mcp1_30_reaches_callback", "mcp2_3_request_reaches_callback", "mcp2_3_mrtr_reaches_callback")


def test_every_form_of_the_corpus_that_is_valid_can_be_parsed_and_answered() -> None:
    valid = [
        row
        for row in corpus("requests.jsonl")
        if row["kind"] == "form" and (row["schema_2025_11_25"] or row["schema_2026_07_28"])
    ]

    assert len(valid) > 200
    for row in valid:
        _answer_like_a_person(form_request(row["params"]))


def test_most_of_the_corpus_that_only_reaches_callbacks_can_be_answered() -> None:
    tolerated = [
        row
        for row in corpus("requests.jsonl")
        if any(row[label] for label in CORPUS_LABELS) and not (row["schema_2025_11_25"] or row["schema_2026_07_28"])
    ]
    answered = 0
    for row in tolerated:
        try:
            request = parse_request(row["params"])
        except RequestError as error:
            assert is_safe(str(error))
            continue
        answered += 1
        if isinstance(request, FormRequest):
            _answer_like_a_person(request)

    assert answered >= 0.8 * len(tolerated) > 0


def test_nothing_of_the_corpus_raises_anything_but_a_request_error() -> None:
    rows = corpus("requests.jsonl")

    for row in rows:
        try:
            parse_request(row["params"])
        except RequestError as error:
            assert is_safe(str(error))


def _answer_like_a_person(request: FormRequest) -> None:
    from mcp_types import _v2025_11_25, _v2026_07_28

    from mcp_elicit_client import Answer
    from mcp_elicit_client.core.answer import check_answer

    content = example_answer(request.form)
    assert validate(request, content).errors == ()
    wire = check_answer(request, Answer.accept(content, by="user")).to_wire()
    assert wire["action"] == "accept"
    _v2025_11_25.ElicitResult.model_validate(wire, strict=True)
    _v2026_07_28.ElicitResult.model_validate(wire, strict=True)


def test_the_id_of_a_request_has_a_maximum_length() -> None:
    params = form_params({"properties": {}})

    assert parse_request(params, request_id="k" * 1_024).request_id == "k" * 1_024
    with pytest.raises(RequestError, match="longer than 1024 characters"):
        parse_request(params, request_id="k" * 1_025)


@pytest.mark.parametrize("deep", [False, True])
def test_a_changed_copy_of_a_form_keeps_nothing_of_the_form(deep: bool) -> None:
    asked = form_request(form_params({"properties": {"name": {"type": "string", "maxLength": 3}}}))
    form = asked.form
    assert form.by_name["name"].title == "name"
    assert not validate(asked, {"name": "four"})

    (field,) = form.fields
    changed = form.model_copy(
        update={"fields": (field.model_copy(update={"title": "Name", "max_length": 4}, deep=deep),)}, deep=deep
    )

    assert changed.by_name["name"].title == "Name"
    assert validate(asked.model_copy(update={"form": changed}), {"name": "four"})


class _Meta(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Params(BaseModel):
    """As of mcp 1, where ``_meta`` is a model."""

    message: str
    meta: _Meta = Field(alias="_meta")


@pytest.mark.parametrize("depth", [100, 300, 5_000])
def test_params_of_a_model_that_are_nested_too_deep_are_refused(depth: int) -> None:
    nested: dict[str, Any] = {}
    for _ in range(depth):
        nested = {"x": nested}

    with pytest.raises(RequestError, match="is nested"):
        parse_request(_Params.model_validate({"message": "Hello", "_meta": nested}))
