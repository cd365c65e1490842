"""Any form can be shown by a program that knows fewer keywords, and what comes back is what it means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import ChoiceField, FormRequest, MultiChoiceField, RequestError, parse_request
from mcp_elicit_client.core.schema.writer import to_schema
from mcp_elicit_client.core.validation.content import validate_without_patterns
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.descriptions import option_labels
from mcp_elicit_client.presentation.plain_forms import PlainForm
from tests.core.test_writer import FORMS
from tests.support import form_params
from tests.support.strategies import SCHEMA

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def form_of(schema: dict[str, Any]) -> Any:
    try:
        request = parse_request(form_params(schema))
    except RequestError:
        return None
    assert isinstance(request, FormRequest)
    return request.form


@given(FORMS | SCHEMA)
def test_every_field_is_shown_or_named(schema: dict[str, Any]) -> None:
    form = form_of(schema)
    if form is None:
        return
    plain = PlainForm(form, ENGLISH)

    read = form_of(json.loads(json.dumps(to_schema(plain.form), allow_nan=False)))

    shown = [field.name for field in read.fields]
    left = {*plain.inexpressible, *plain.form.unsupported_fields}
    assert shown == [field.name for field in form.fields if field.name not in left]
    assert {field.name for field in form.fields} <= {*shown, *left}
    for field in read.fields:
        assert field.kind != "choice" or all(isinstance(each.value, str) for each in field.choices)
        assert field.kind != "multichoice" or field.choices


def test_options_that_share_a_title_look_different() -> None:
    options = [{"const": "x", "title": "Yes"}, {"const": "y", "title": "Yes"}]
    items = {"type": "array", "items": {"anyOf": options}}
    plain = PlainForm(form_of({"properties": {"one": {"oneOf": options}, "many": items}}), ENGLISH)

    one, many = plain.form.fields

    assert isinstance(one, ChoiceField)
    assert isinstance(many, MultiChoiceField)
    assert [each.title for each in one.choices] == [each.title for each in many.choices] == ["Yes (x)", "Yes (y)"]


@given(FORMS | SCHEMA)
def test_every_option_comes_back_as_its_value(schema: dict[str, Any]) -> None:
    form = form_of(schema)
    if form is None:
        return
    plain = PlainForm(form, ENGLISH)

    for field in plain.form.fields:
        original = form.by_name[field.name]
        if isinstance(field, ChoiceField) and isinstance(original, ChoiceField):
            sent = [plain.content({field.name: each.value}) for each in field.choices]
            assert [each[field.name] for each in sent] == [each.value for each in original.choices]
            assert [each.title for each in field.choices] == option_labels(original, ENGLISH)
        elif isinstance(original, MultiChoiceField) and not original.choices:
            assert plain.content({field.name: "a, b"})[field.name] == ["a", "b"]


@pytest.mark.parametrize("default", [["1 Road\nTown", " Inn"], ["a\nb"], ["a, b", "c"], [""], []])
def test_a_suggested_list_that_comes_back_as_it_was_shown_is_unchanged(default: list[str]) -> None:
    lines = {"type": "array", "items": {"type": "string"}, "default": default}
    form = form_of({"properties": {"lines": lines}})
    assert form is not None
    plain = PlainForm(form, ENGLISH)

    assert plain.content({"lines": plain.form.fields[0].default}) == {"lines": default}


@given(FORMS | SCHEMA, st.data())
def test_any_content_is_restored_without_an_error_and_then_checked(schema: dict[str, Any], data: Any) -> None:
    form = form_of(schema)
    if form is None:
        return
    plain = PlainForm(form, ENGLISH)
    names = st.sampled_from([*form.by_name, "unknown"])
    raw = data.draw(st.dictionaries(names, JSON, max_size=4))

    content = plain.content(raw)

    assert content.keys() <= raw.keys()
    if validate_without_patterns(form, content):
        assert to_schema(plain.with_defaults(raw if len(raw) == len(content) else {})) is not None
