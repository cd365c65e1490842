"""Large forms: what the default limits allow, and the time it takes to read them."""

from __future__ import annotations

import gc
import marshal
import weakref
from collections.abc import Callable
from time import process_time
from typing import Any

import pytest

from mcp_elicit_client import Limits, RequestError, normalize_enum, parse_request, validate
from mcp_elicit_client.core import parse
from mcp_elicit_client.core.form import ChoiceField
from mcp_elicit_client.core.schema.field_parser import SchemaParser
from mcp_elicit_client.core.schema.writer import to_schema
from tests.support import form_params, form_request

LONG = "Long names of options take much space in a request "


def titled(count: int) -> list[dict[str, Any]]:
    return [{"const": f"{LONG}{at}", "title": f"{at} {LONG}{LONG}"} for at in range(count)]


def properties(count: int, schema: Any) -> dict[str, Any]:
    return {f"f{at}": schema for at in range(count)}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "oneOf": titled(10_000)},
        {"type": "string", "enum": [each["const"] for each in titled(10_000)]},
        {"type": "array", "items": {"anyOf": titled(10_000)}},
    ],
    ids=["oneOf", "enum", "several"],
)
def test_ten_thousand_options_can_be_required(schema: dict[str, Any]) -> None:
    params = form_params({"properties": {"f": schema}, "required": ["f"]})
    (field,) = form_request(params).form.fields

    assert field.kind in ("choice", "multichoice")
    assert len(field.choices) == 10_000
    last = f"{LONG}9999"
    assert validate(params, {"f": last if field.kind == "choice" else [last]})


def test_an_optional_field_with_more_options_is_unsupported_and_a_required_one_is_refused() -> None:
    schema = {"properties": {"f": {"enum": [str(at) for at in range(10_001)]}}}

    assert form_request(form_params(schema)).form.unsupported_fields == ("f",)
    with pytest.raises(RequestError, match="has 10001 options; at most 10000 are supported"):
        form_request(form_params({**schema, "required": ["f"]}))


def test_the_options_of_all_fields_together_are_limited() -> None:
    options = {"enum": [str(at) for at in range(8_000)]}
    form = form_request(form_params({"properties": {**properties(5, options), "last": {"enum": ["a"]}}})).form

    assert [field.name for field in form.fields] == ["f0", "f1", "last"]
    assert form.unsupported_fields == ("f2", "f3", "f4")


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "string", "pattern": "a" * 600},
        {"type": "array", "items": {"type": "string", "pattern": "a" * 600}},
        {"type": "string", "default": "a" * 600},
        {"type": "string", "pattern": "a", "default": "a" * 600},
        {"enum": ["a" * 600]},
        {"type": "array", "items": {"enum": ["a" * 300, "b" * 300]}},
        {"type": "array", "items": {"enum": ["a" * 300]}, "default": ["a" * 300]},
    ],
    ids=["pattern", "pattern of a list", "default", "unchecked default", "option", "options of a list", "default list"],
)
def test_a_text_to_which_many_fields_refer_counts_for_each_of_them(definition: dict[str, Any]) -> None:
    schema = {"properties": {**properties(9, {"$ref": "#/$defs/x"}), "last": {}}, "$defs": {"x": definition}}
    form = form_request(form_params(schema), limits=Limits(max_request=2_000)).form

    assert [field.name for field in form.fields] == ["f0", "f1", "f2", "last"]


def test_two_hundred_fields_are_shown_and_one_more_is_refused() -> None:
    field = {"type": "string", "title": "t" * 200, "description": LONG * 15}
    assert len(form_request(form_params({"properties": properties(200, field)})).form.fields) == 200
    for schema in (
        {"properties": properties(201, field)},
        {"properties": {}, "required": [f"f{at}" for at in range(201)]},
    ):
        with pytest.raises(RequestError, match=r"^the form has 201 fields; at most 200 are supported$"):
            form_request(form_params(schema))


def seconds(work: Callable[[], object]) -> float:
    """
    Return the processor time of *work*, with no form remembered.

    Without that of the garbage collector, which looks at all other tests.
    """

    def once() -> float:
        begin = process_time()
        work()
        return process_time() - begin

    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parse, "_KNOWN_FORMS", parse._KnownForms(max_forms=0, max_size=0))
            return min(once() for _ in range(3))
    finally:
        gc.enable()


UNLIMITED = Limits(max_options=100_000, max_fields=2_000, max_request=100_000_000)


@pytest.mark.parametrize(
    "make",
    [
        lambda size: {"f": {"oneOf": titled(size * 10), "default": f"{LONG}1"}},
        lambda size: {"f": {"oneOf": [{"const": 1, "title": f"{at}"} for at in range(size * 10)]}},
        lambda size: {"f": {"oneOf": [{"const": None}] * size * 10}},
        lambda size: properties(size, {"type": "string", "default": "x"}),
        lambda size: {"f": {"type": "string", "format": "time", "default": f"1:11{' ' * size * 10}x\n"}},
    ],
    ids=["options", "one option with many titles", "options that cannot be sent", "fields", "spaces of a time"],
)
def test_reading_and_writing_takes_linear_time(make: Callable[[int], dict[str, Any]]) -> None:
    def work(size: int) -> Callable[[], object]:
        params = form_params({"properties": make(size)})
        return lambda: to_schema(form_request(params, limits=UNLIMITED).form)

    assert seconds(work(1_000)) < 40 * seconds(work(100)) + 0.02


REFERENCE = {"$ref": "#/$defs/x"}


@pytest.mark.parametrize(
    "large",
    [
        {"oneOf": titled(10_000)},
        {"type": "array", "items": {"enum": [str(at) for at in range(10_000)]}},
        {"allOf": [{"enum": [str(at) for at in range(10_000)]}]},
        {"allOf": [{"enum": [str(at) for at in range(10_000)]}, {"type": "string", "minLength": 1}]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}] * 10_000},
        {"type": "string", **{f"x{at}": 1 for at in range(100_000)}},
        {"type": "string", "default": "a:" * 1_000_000, "format": "uri"},
        {"type": "string", "title": "\u202e" * 1_000_000, "description": "e\u0301" * 500_000},
        {"$ref": "#/" + "%20/" * 250_000},
    ],
    ids=["options", "options of a list", "allOf", "several in allOf", "union", "keywords", "default", "texts", "path"],
)
@pytest.mark.parametrize(
    "referring", [REFERENCE, {"anyOf": [REFERENCE, {"type": "null"}]}], ids=["reference", "reference or null"]
)
def test_many_references_to_a_large_schema_do_not_multiply_the_time(referring: Any, large: Any) -> None:
    def work(count: int) -> Callable[[], object]:
        params = form_params({"properties": properties(count, referring), "$defs": {"x": large}})
        return lambda: form_request(params)

    assert seconds(work(200)) < 20 * seconds(work(1)) + 0.2


def test_too_many_required_names_are_refused_before_each_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[tuple[object, ...]] = []
    monkeypatch.setattr(SchemaParser, "report", lambda _parser, *what: reported.append(what))
    names = [f"f{at}" for at in range(50_000)]
    with pytest.raises(RequestError, match="at most 200 are supported"):
        form_request(form_params({"properties": {}, "required": names}))
    assert not reported

    form_request(form_params({"properties": {}, "required": names[:200]}))
    assert [code for code, *_ in reported].count("undeclared_field") == 200


def test_a_form_is_read_once_for_the_same_schema_and_limits() -> None:
    params = form_params({"properties": {"f": {"title": "A large list", "oneOf": titled(2_000)}}})
    form = form_request(params).form

    assert form_request(params).form is form
    assert form_request(params, limits=Limits(max_title=3)).form.fields[0].title == "A l…"
    assert form_request(params).form == form


def test_forms_with_many_options_do_not_stay_in_memory() -> None:
    definition = {"enum": [f"{at}" for at in range(1_000)]}
    forms = []
    for number in range(4):
        schema = {"title": f"{number}", "properties": properties(10, REFERENCE), "$defs": {"x": definition}}
        forms.append(weakref.ref(form_request(form_params(schema)).form))

    assert [form() is None for form in forms] == [True, True, True, False]


def test_a_large_schema_that_is_refused_does_not_affect_other_references() -> None:
    definitions = {"large": {"enum": [str(at) for at in range(60_000)]}, "small": {"enum": ["a", "b"]}}
    schema = {"large": {"$ref": "#/$defs/large"}, **properties(50, {"$ref": "#/$defs/small"})}
    form = form_request(form_params({"properties": schema, "$defs": definitions})).form

    assert form.unsupported_fields == ("large",)
    assert len(form.fields) == 50


def test_no_large_schema_is_copied_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    # One step of the interpreter keeps the event loop waiting, even from another thread.
    copied: list[int] = []

    def copy(value: Any, version: int) -> bytes:
        written = dumps(value, version)
        copied.append(len(written))
        return written

    dumps = marshal.dumps
    monkeypatch.setattr(marshal, "dumps", copy)
    with pytest.raises(RequestError, match="100000 fields"):
        parse_request(form_params({"properties": {str(at): {} for at in range(100_000)}}))
    parse_request(form_params({"properties": {"a": {"type": "string", "title": "not read before"}}}))

    assert len(copied) == 1
    assert copied[0] < 1_000


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "default": "x" * 20_000},
        {"type": "array", "items": {"type": "string"}, "default": [""] * 10_000},
    ],
    ids=["text", "empty texts"],
)
def test_a_default_that_is_longer_than_an_answer_is_dropped_before_it_is_checked(schema: dict[str, Any]) -> None:
    request = form_request(form_params({"properties": {"f": schema}}))

    assert request.form.fields[0].default is None
    assert [each.message for each in request.diagnostics] == ["its default is longer than an answer may be"]


def test_a_default_that_is_too_long_only_as_json_is_dropped() -> None:
    request = form_request(form_params({"properties": {"f": {"type": "string", "default": '"' * 9_000}}}))

    assert request.form.fields[0].default is None
    assert [each.message for each in request.diagnostics] == ["its default is longer than an answer may be"]


def test_a_repeated_value_is_one_option_as_json_schema_compares_values() -> None:
    values = [1, 1.0, True, "1", 1]
    choices = normalize_enum({"oneOf": [{"const": value, "title": f"T{at}"} for at, value in enumerate(values)]})
    assert [(choice.value, type(choice.value)) for choice in choices] == [(1, int), (True, bool), ("1", str)]

    repeated = {"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}, {"const": "a", "title": "A"}]}
    params = form_params({"properties": {"f": {"type": "string", **repeated, "default": "a"}}})
    form = form_request(params).form
    (field,) = form.fields
    assert isinstance(field, ChoiceField)
    assert [(choice.value, choice.title) for choice in field.choices] == [("a", "A"), ("b", "B")]
    assert field.default == "a"
    assert validate(params, {"f": "a"})
    assert [option["const"] for option in to_schema(form)["properties"]["f"]["oneOf"]] == ["a", "b"]
