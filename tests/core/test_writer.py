"""A form that is written and read again is the same form, or the writer says which fields it cannot write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import mcp.types
import mcp_types._v2025_11_25 as wire_2025
import mcp_types._v2026_07_28 as wire_2026
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from mcp_elicit_client import (
    ChoiceField,
    Form,
    FormRequest,
    Limits,
    MultiChoiceField,
    RequestError,
    TextField,
    UrlRequest,
    inspect_url,
    parse_request,
)
from mcp_elicit_client.core.limits import DEFAULT_LIMITS
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS, ProtocolVersion
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.core.schema.writer import SchemaNotExpressibleError, to_params, to_schema, write_schema
from mcp_elicit_client.core.validation.formats import FORMATS
from tests.support import corpus, form_params, table
from tests.support.strategies import SCHEMA

OLDEST, MIDDLE, NEWEST = PROTOCOL_VERSIONS
SPECIFICATION = table("elicitation_params")
PARAMS = {
    version: Draft202012Validator({"$defs": SPECIFICATION["$defs"], **SPECIFICATION[version]})
    for version in PROTOCOL_VERSIONS
}
KINDS = (
    "StringSchema",
    "NumberSchema",
    "BooleanSchema",
    "UntitledSingleSelectEnumSchema",
    "TitledSingleSelectEnumSchema",
    "UntitledMultiSelectEnumSchema",
    "TitledMultiSelectEnumSchema",
    "LegacyTitledEnumSchema",
)
WIRE_PARAMS: dict[str, TypeAdapter[Any]] = {
    version: TypeAdapter(models.ElicitRequestFormParams | models.ElicitRequestURLParams)
    for version, models in ((MIDDLE, wire_2025), (NEWEST, wire_2026))
}
WIRE_FIELDS: dict[str, list[TypeAdapter[Any]]] = {
    version: [TypeAdapter(getattr(models, kind)) for kind in KINDS]
    for version, models in ((MIDDLE, wire_2025), (NEWEST, wire_2026))
}


def form(schema: object, limits: Limits = DEFAULT_LIMITS) -> Form:
    """Read *schema*; a request that leaves out unsupported fields is the same to its user."""
    request = parse_request(form_params(schema), limits=limits)
    assert isinstance(request, FormRequest)
    return request.form.model_copy(update={"unsupported_fields": ()})


def over_the_wire(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def judge_params(params: dict[str, Any], version: ProtocolVersion) -> None:
    """Have *params* checked by the specification, and by the models of both SDKs."""
    assert PARAMS[version].is_valid(params), params
    if version in WIRE_PARAMS:
        WIRE_PARAMS[version].validate_json(json.dumps(params), strict=True)
    url = params.get("mode") == "url"
    model = mcp.types.ElicitRequestURLParams if url else mcp.types.ElicitRequestFormParams
    if not url or "elicitationId" in params or version == NEWEST:
        sdk = {"elicitationId": "e", **params} if url else params
        read, expected = parse_request(model.model_validate(sdk)), parse_request(sdk)
        assert read == expected
    for field in params.get("requestedSchema", {}).get("properties", {}).values():
        if version in WIRE_FIELDS:
            assert any(is_valid(kind, field) for kind in WIRE_FIELDS[version]), field


def is_valid(kind: TypeAdapter[Any], value: Any) -> bool:
    try:
        kind.validate_json(json.dumps(value), strict=True)
    except ValueError:
        return False
    return True


def inexpressible(form: Form, version: ProtocolVersion) -> tuple[str, ...]:
    """List the fields for which the specification has no schema at all."""

    def has_no_schema(field: Any) -> bool:
        match field:
            case ChoiceField():
                return len({json_key(choice.value)[0] for choice in field.choices}) != 1
            case MultiChoiceField():
                return not field.choices or version == OLDEST
            case TextField():
                return field.pattern is None and field.pattern_skipped != ""
        return False

    return tuple(field.name for field in form.fields if has_no_schema(field))


def check_round_trip(original: Form, limits: Limits = DEFAULT_LIMITS) -> None:
    for version in PROTOCOL_VERSIONS:
        failing = inexpressible(original, version)
        if failing:
            with pytest.raises(SchemaNotExpressibleError) as caught:
                to_schema(original, protocol_version=version)
            assert (caught.value.fields, caught.value.protocol_version) == (failing, version)
            continue
        schema = to_schema(original, protocol_version=version)
        assert form(over_the_wire(schema), limits) == original
        judge_params(form_params(schema), version)


# --- every kind of field

SCHEMAS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a title and a default": {"type": "string", "title": "Your name", "default": "Ada"},
    "titled options": {
        "type": "string",
        "title": "Size",
        "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        "default": "l",
    },
    "legacy names": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"], "default": "s"},
    "options without type": {"enum": ["s", "l"]},
    "a single constant": {"const": "s"},
    "options whose titles are their values": {"oneOf": [{"const": "s", "title": "s"}, {"const": "l", "title": "l"}]},
    "options of which one has a title": {"oneOf": [{"const": "s", "title": "s"}, {"const": "l", "title": "Large"}]},
    "options that share a title": {"oneOf": [{"const": "s", "title": "Same"}, {"const": "l", "title": "Same"}]},
    "options whose titles are swapped": {"oneOf": [{"const": "s", "title": "l"}, {"const": "l", "title": "s"}]},
    "a repeated option": {"enum": ["s", "s", "l"]},
    "an option without text": {"oneOf": [{"const": "", "title": ""}, {"const": " ", "title": "\u3000"}]},
    "an empty option beside titles": {"oneOf": [{"const": "", "title": "None"}, {"const": "l", "title": " "}]},
    "a long option": {"enum": ["x" * 1_000, "y" * 300]},
    "an option full of escapes": {"enum": ["\x1b" * 150, "\u202e" * 1_000]},
    "a title full of escapes": {
        "oneOf": [{"const": "s", "title": "\x1b" * 150}, {"const": "l", "title": "[a" * 99 + "[/"}]
    },
    "whole numbers": {"type": "integer", "enum": [1, 2, 3], "default": 2},
    "numbers with titles": {"type": "number", "oneOf": [{"const": 1, "title": "One"}, {"const": 2.5, "title": "More"}]},
    "a whole number with a fraction": {"type": "integer", "enum": [1.0, 2], "default": 2.0},
    "yes and no": {"type": "boolean", "enum": [True, False]},
    "yes and no with titles": {"oneOf": [{"const": True, "title": "Agree"}, {"const": False, "title": "no"}]},
    "several options": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["b"]},
    "several titled options": {
        "type": "array",
        "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
        "minItems": 1,
        "maxItems": 2,
        "uniqueItems": True,
        "default": [],
    },
    "a text that may be null": {"type": ["string", "null"], "default": None},
    "a number that may be null": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": 1.5},
    "an option that may be null": {"enum": ["a", None]},
    "a text behind a reference": {"$ref": "#/$defs/text"},
    "limits of a text": {"type": "string", "minLength": 0, "maxLength": 9.0, "pattern": "^a", "default": "ab"},
    "a default that does not match": {"type": "string", "pattern": "^a", "default": "b"},
    "a pattern that is too long": {"type": "string", "pattern": "a" * 513, "default": "b"},
    "limits of a number": {"type": "number", "minimum": 0, "exclusiveMaximum": 9.5, "multipleOf": 0.5, "default": 0},
    "limits of a whole number": {"type": "integer", "format": "int32", "exclusiveMinimum": 0, "default": 3.0},
    "a limit beyond all numbers": {"type": "number", "minimum": -(10**400), "maximum": 1e308},
    "a foreign format": {"type": "string", "format": "password"},
    "a format of its own": {"type": "string", "x-format": "color"},
    "a format full of escapes": {"type": "string", "format": "\x1b" * 20},
    **{f"the format {name}": {"type": "string", "format": name, "default": FORMATS[name].example} for name in FORMATS},
    "a long title": {"type": "string", "title": "t" * 300, "description": "d\n" * 800},
    "a title of joined emoji at its cut": {"type": "string", "title": "\x1b" * 20 + "👩\u200d" * 90},
    "a title with a flag at its cut": {"type": "string", "title": "\x1b" * 24 + "🏴\U000e0067\U000e0062" * 9},
    "a title of spaces": {"type": "string", "title": " \u3000 ", "description": "\n\n\n\na\n\n\n\nb "},
    "a title with marks": {"type": "string", "title": "a" + "\u0301" * 300},
    "a description with brackets": {"type": "string", "description": "[link=https://evil.example]here[/link]" * 30},
}
NOT_EXPRESSIBLE: dict[str, dict[str, Any]] = {
    "a list of texts": {"type": "array"},
    "a list of texts with a pattern": {"type": "array", "items": {"type": "string", "pattern": "^a"}, "default": ["b"]},
    "a list of texts with a format": {"type": "array", "items": {"type": "string", "format": "phone"}, "minItems": 2},
    "options of several types": {"enum": ["a", 1, True], "default": 1},
    "titled options of several types": {"oneOf": [{"const": "a", "title": "A"}, {"const": 1, "title": "One"}]},
    "a pattern that is not Unicode": {"type": "string", "pattern": "\ud800"},
}


def with_field(field: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"field": field}, "$defs": {"text": {"type": "string"}}, **more}


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("field", SCHEMAS.values(), ids=SCHEMAS)
def test_a_field_that_is_written_and_read_again_is_the_same(field: dict[str, Any], closed: bool) -> None:
    schema = with_field(field, required=["field"] if closed else [], additionalProperties=not closed)

    check_round_trip(form(schema))


@pytest.mark.parametrize("version", PROTOCOL_VERSIONS)
@pytest.mark.parametrize("field", NOT_EXPRESSIBLE.values(), ids=NOT_EXPRESSIBLE)
def test_a_field_that_no_valid_schema_describes_is_named(field: dict[str, Any], version: ProtocolVersion) -> None:
    schema = with_field(field)
    schema["properties"] |= {"fine": {"type": "string"}, "field\n2": field}

    with pytest.raises(SchemaNotExpressibleError) as caught:
        to_schema(form(schema), protocol_version=version)

    assert (caught.value.fields, caught.value.protocol_version) == (("field", "field\n2"), version)
    assert str(caught.value) == f"Protocol version {version} cannot express: 'field', 'field\\n2'."


def test_a_titled_option_is_written_with_type_title_and_default() -> None:
    written = to_schema(form(with_field(SCHEMAS["titled options"], required=["field"])))

    assert written == {
        "type": "object",
        "properties": {"field": SCHEMAS["titled options"]},
        "required": ["field"],
    }


def test_titles_are_written_as_the_oldest_version_has_them() -> None:
    written = to_schema(form(with_field(SCHEMAS["titled options"])), protocol_version=OLDEST)

    assert written["properties"]["field"] == {
        "type": "string",
        "title": "Size",
        "enum": ["s", "l"],
        "enumNames": ["Small", "Large"],
        "default": "l",
    }


def test_an_enum_of_mere_values_is_written_without_titles() -> None:
    written = to_schema(
        form({"properties": {"one": {"enum": ["a"]}, "some": {"type": "array", "items": {"enum": ["a"]}}}})
    )

    assert written["properties"] == {
        "one": {"type": "string", "enum": ["a"], "title": "one"},
        "some": {"type": "array", "items": {"type": "string", "enum": ["a"]}, "title": "some"},
    }


def test_a_keyword_that_no_valid_schema_has_is_written_under_another_name() -> None:
    written = to_schema(form(with_field({"type": ["string", "null"], "format": "uuid"})))

    assert written["properties"]["field"] == {"type": "string", "x-format": "uuid", "title": "field", "nullable": True}


def test_what_is_written_is_sanitized() -> None:
    field = {"type": "string", "title": "a\x1b[2J", "description": "\u202eb", "format": "\u202ec"}
    written = to_schema(form(with_field(field)))

    assert written["properties"]["field"] == {
        "type": "string",
        "title": "a\\u{1b}[2J",
        "description": "\\u{202e}b",
        "x-format": "\\u{202e}c",
    }


def test_a_settled_default_is_written_like_an_unchecked_one() -> None:
    unchecked = form(with_field({"type": "string", "pattern": "^a", "default": "ab"}))
    (field,) = unchecked.fields
    settled = unchecked.model_copy(
        update={"fields": (field.model_copy(update={"default": "ab", "unchecked_default": None}),)}
    )

    assert to_schema(settled) == to_schema(unchecked)


def test_unsupported_fields_are_omitted_since_no_answer_contains_them() -> None:
    request = parse_request(form_params({"properties": {"a": {"type": "string"}, "b": {"type": "object"}}}))
    assert isinstance(request, FormRequest)

    assert request.form.unsupported_fields == ("b",)
    assert list(to_schema(request.form)["properties"]) == ["a"]


@pytest.mark.parametrize(
    "form", [Form(fields=(ChoiceField(name="a", title="A"),)), Form(fields=(MultiChoiceField(name="a", title="A"),))]
)
def test_a_field_that_was_made_without_options_is_named(form: Form) -> None:
    with pytest.raises(SchemaNotExpressibleError) as caught:
        to_schema(form)

    assert caught.value.fields == ("a",)


# --- any form

PIECES = ["\x1b", "\u202e", "\u200d", "👩", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "क\u094d"]
PIECES += [
    "\u0301",
    " ",
    "\u3000",
    "\n",
    "\r\n",
    "\t",
    "[",
    "]",
    "/",
    "[/",
    "link=",
    "…",
    "\ufe0f",
    "1",
    "a",
    "Z",
    "\ud800",
]
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)
TEXTS = HOSTILE | st.builds(lambda text, times: text * times, HOSTILE, st.integers(2, 90)) | st.text(max_size=8)
SCALARS = st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["a", "b", "", "1"]) | TEXTS
COUNTS = st.integers(-1, 6) | st.sampled_from([2.0, 0.5, None, "1", 10**400])
NUMBERS = st.integers(-5, 5) | st.floats() | st.sampled_from([2**53, -(2**60), 10**400, 1e308, True, "1", None])
ABOUT: dict[str, st.SearchStrategy[Any]] = {
    "title": TEXTS,
    "description": TEXTS,
    "nullable": st.booleans(),
    "default": SCALARS | st.lists(SCALARS, max_size=3) | st.none(),
}
TEXT_LIMITS: dict[str, st.SearchStrategy[Any]] = {
    "minLength": COUNTS,
    "maxLength": COUNTS,
    "pattern": st.sampled_from(["^a", "(", "a" * 513, "\ud800", 5]),
    "format": st.sampled_from([*FORMATS, "color", "\x1b" * 30, "f" * 65, 5, ""]),
    "x-format": st.sampled_from(["email", "color", ""]),
}
TITLED = st.lists(st.fixed_dictionaries({"const": SCALARS}, optional={"title": TEXTS}), max_size=4)
OPTIONS = st.one_of(
    st.fixed_dictionaries(
        {"enum": st.lists(SCALARS | st.none(), max_size=4)}, optional={"enumNames": st.lists(TEXTS, max_size=4)}
    ),
    st.fixed_dictionaries({"oneOf": TITLED}),
    st.fixed_dictionaries({"anyOf": TITLED}),
    st.fixed_dictionaries({"const": SCALARS}),
)


def field(kind: Any, **keywords: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.sampled_from(kind)}, optional={**keywords, **ABOUT})


FIELDS = st.one_of(
    field(["string"], **TEXT_LIMITS),
    field(
        ["number", "integer"],
        **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], NUMBERS),
        format=st.sampled_from(["int32", "double"]),
    ),
    field(["boolean"]),
    st.builds(
        lambda options, about: {**about, **options},
        OPTIONS,
        field(["string", "number", "integer", "boolean", ["string", "null"]]) | st.fixed_dictionaries(ABOUT),
    ),
    field(
        ["array"],
        items=OPTIONS | st.fixed_dictionaries({"type": st.just("string")}, optional=TEXT_LIMITS),
        minItems=COUNTS,
        maxItems=COUNTS,
        uniqueItems=st.booleans(),
        enumNames=st.lists(TEXTS, max_size=4),
    ),
)
WRAPPED = FIELDS | st.builds(lambda inner: {"anyOf": [inner, {"type": "null"}]}, FIELDS)
FORMS = st.fixed_dictionaries(
    {"properties": st.dictionaries(TEXTS, WRAPPED, max_size=4)},
    optional={"required": st.lists(TEXTS, max_size=2), "additionalProperties": st.booleans()},
)


@given(FORMS | SCHEMA)
def test_any_form_that_is_written_and_read_again_is_the_same(schema: dict[str, Any]) -> None:
    try:
        original = form(schema)
    except RequestError:
        return

    check_round_trip(original)


@given(FORMS, st.sampled_from([Limits(max_title=12, max_option_title=3, max_pattern=2), Limits(check_patterns=False)]))
def test_a_form_that_was_read_with_other_limits_is_the_same_with_these(schema: dict[str, Any], limits: Limits) -> None:
    try:
        original = form(schema, limits)
    except RequestError:
        return

    check_round_trip(original, limits)


@given(FORMS | SCHEMA)
def test_a_schema_for_this_package_alone_says_all_of_any_form(schema: dict[str, Any]) -> None:
    try:
        original = form(schema)
    except RequestError:
        return
    if any(getattr(each, "pattern_skipped", "") and each.pattern is None for each in texts_of(original)):
        return  # a pattern that is not Unicode is in no schema

    assert form(over_the_wire(write_schema(original))) == original


def texts_of(form: Form) -> Iterator[Any]:
    for field in form.fields:
        yield getattr(field, "item", None) or field


@given(TEXTS, st.sampled_from(PROTOCOL_VERSIONS))
def test_the_params_of_a_form_are_read_as_the_same_request(message: str, version: ProtocolVersion) -> None:
    original = parse_request(form_params({"properties": {"a": {"type": "string", "title": message}}}, message))

    params = to_params(original, protocol_version=version)

    again = parse_request(over_the_wire(params))
    assert again.model_copy(update={"diagnostics": original.diagnostics}) == original
    assert ("mode" in params) is (version != OLDEST)
    judge_params(params, version)


def test_a_change_to_params_does_not_change_those_that_are_written_later() -> None:
    request = parse_request(form_params({"properties": {"a": {"type": "string"}}}, "?"))
    params = to_params(request)
    written = over_the_wire(params)

    params["requestedSchema"]["properties"]["a"]["title"] = "changed"

    assert to_params(request) == written


def test_a_changed_copy_of_a_form_is_written_as_it_is_now() -> None:
    request = parse_request(form_params({"properties": {"a": {"type": "string"}}}, "?"))
    assert isinstance(request, FormRequest)
    to_params(request)
    closed = request.form.model_copy(update={"rejects_unknown_fields": True})

    params = to_params(request.model_copy(update={"form": closed}))

    assert params["requestedSchema"]["additionalProperties"] is False


# --- URLs

URL = {"mode": "url", "message": "Sign\x1b in", "url": "https://Example.com/a?b#c", "_meta": {"progressToken": 1}}


def url_request(**more: Any) -> UrlRequest:
    request = parse_request({**URL, **more})
    assert isinstance(request, UrlRequest)
    return request


def test_the_params_of_a_url_are_those_of_its_version() -> None:
    request = url_request(elicitationId="e1")
    written = {"mode": "url", "message": "Sign\\u{1b} in", "url": "https://example.com/a?b#c"}

    assert to_params(request, protocol_version=MIDDLE) == {**written, "elicitationId": "e1"}
    assert to_params(request, protocol_version=NEWEST) == to_params(request) == written
    for version in (MIDDLE, NEWEST):
        params = to_params(request, protocol_version=version)
        judge_params(params, version)
        again = parse_request(params)
        assert isinstance(again, UrlRequest)
        assert (again.message, again.target) == (request.message, inspect_url(written["url"]))


@pytest.mark.parametrize(
    ("more", "version", "missing"),
    [({"elicitationId": "e1"}, OLDEST, "url"), ({}, OLDEST, "url"), ({}, MIDDLE, "elicitationId")],
)
def test_a_url_that_a_version_cannot_express_is_refused(
    more: dict[str, Any], version: ProtocolVersion, missing: str
) -> None:
    with pytest.raises(SchemaNotExpressibleError) as caught:
        to_params(url_request(**more), protocol_version=version)

    assert (caught.value.fields, caught.value.protocol_version) == ((missing,), version)


# --- real requests


def test_every_form_of_the_corpus_that_is_written_and_read_again_is_the_same() -> None:
    written = 0
    for row in corpus("requests.jsonl"):
        try:
            request = parse_request(row["params"])
        except RequestError:
            continue
        if isinstance(request, FormRequest):
            check_round_trip(request.form.model_copy(update={"unsupported_fields": ()}))
            written += 1
        else:
            judge_params(to_params(request), NEWEST)

    assert written > 200


def test_every_schema_of_the_ajv_corpus_that_is_written_and_read_again_is_the_same() -> None:
    schemas = {json.dumps(row["schema"], sort_keys=True) for row in corpus("ajv.jsonl")}
    for schema in sorted(schemas):
        try:
            original = form(json.loads(schema))
        except RequestError:
            continue
        check_round_trip(original)

    assert len(schemas) > 100
