from __future__ import annotations

from typing import Any

import pytest

from mcp_elicit_client import ChoiceField, normalize_enum, parse_request
from mcp_elicit_client.core.request import FormRequest
from tests.support import cases, form_params


@pytest.mark.parametrize("case", cases("enums"))
def test_every_spelling_of_an_enum_becomes_the_same_choices(case: Any) -> None:
    choices = normalize_enum(case["schema"])

    assert case["choices"] == [choice.model_dump() for choice in choices]
    assert [type(choice["value"]) for choice in case["choices"]] == [type(choice.value) for choice in choices]


def test_normalizing_changes_nothing_of_the_schema() -> None:
    schema = {"type": "array", "items": {"enum": ["a"]}, "enumNames": ["A"]}

    normalize_enum(schema)

    assert schema == {"type": "array", "items": {"enum": ["a"]}, "enumNames": ["A"]}


def test_keywords_that_are_null_are_not_set() -> None:
    assert [each.value for each in normalize_enum({"type": "string", "enum": ["a"], "const": None})] == ["a"]
    assert normalize_enum({"const": None}) == ()


def test_options_that_share_a_title_are_told_apart_by_value() -> None:
    request = parse_request(
        form_params({"properties": {"a": {"oneOf": [{"const": c, "title": t} for c, t in ("aS", "bS", "cT")]}}})
    )
    assert isinstance(request, FormRequest)
    field = request.form.fields[0]
    assert isinstance(field, ChoiceField)

    assert [field.label_of(choice) for choice in field.choices] == ["S (a)", "S (b)", "T"]
