"""Typed text, selections and untouched fields as values."""

from __future__ import annotations

from time import process_time
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import AnswerError, Form
from mcp_elicit_client.core.form import Field
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.request import limits_of
from mcp_elicit_client.core.validation.formats import FORMATS
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.form_input import (
    OMITTED,
    FieldInput,
    FieldState,
    Intent,
    Selection,
    read_field,
    read_form,
)
from mcp_elicit_client.presentation.input_parsing import InputContext, accepts_empty, parse_text, to_text
from tests.support import cases, example_value, form_params, form_request


def form(properties: dict[str, Any], *required: str) -> Form:
    return form_request(form_params({"properties": properties, "required": list(required)})).form


def one_field(schema: dict[str, Any], *, required: bool = False) -> Field:
    return form({"f": schema}, *(["f"] if required else [])).fields[0]


@pytest.mark.parametrize("context", [InputContext(), InputContext(locale="de-DE")])
@pytest.mark.parametrize("row", cases("fields"))
def test_typed_text_has_one_meaning(row: dict[str, Any], context: InputContext) -> None:
    field = one_field(row["schema"])
    for typed in row["typed"]:
        if "errors" in typed:
            with pytest.raises(AnswerError) as caught:
                parse_text(field, typed["text"], context)
            assert [error.message for error in caught.value.errors] == typed["errors"]
        else:
            value = parse_text(field, typed["text"], context)
            assert (value, type(value)) == (typed["value"], type(typed["value"]))
            assert read_field(field, typed["text"], context) == FieldState(value, "user")


@pytest.mark.parametrize(
    ("catalog", "yes", "no"),
    [
        (MessageCatalog.for_language("de"), "Ja", "nein"),
        (MessageCatalog.for_language("fr"), "oui", "N"),
        (MessageCatalog.for_language("es"), "si", "no"),
        (MessageCatalog.for_language("ja"), "はい", "いいえ"),
        (MessageCatalog(overrides={"yes": "aye", "no": "nay"}), "aye", "nay"),
    ],
)
def test_yes_and_no_may_be_typed_in_the_language_of_the_user_and_in_english(
    catalog: MessageCatalog, yes: str, no: str
) -> None:
    field, context = one_field({"type": "boolean"}), InputContext(catalog=catalog)

    assert [parse_text(field, each, context) for each in (yes, "yes", "true", "1")] == [True] * 4
    assert [parse_text(field, each, context) for each in (no, "no", "off", "0")] == [False] * 4


def test_yes_in_another_language_is_an_error_if_the_language_of_the_user_is_unknown() -> None:
    with pytest.raises(AnswerError, match="Select yes or no"):
        parse_text(one_field({"type": "boolean"}), "ja")


@pytest.mark.parametrize("typed", ["りんご、みかん", "りんご，みかん", "りんご،みかん", "りんご, みかん"])
def test_a_list_is_separated_by_the_commas_of_every_keyboard(typed: str) -> None:
    fruits = ["りんご", "みかん"]

    assert parse_text(one_field({"type": "array", "items": {"type": "string"}}), typed) == fruits
    assert parse_text(one_field({"type": "array", "items": {"enum": fruits}}), typed) == fruits


@pytest.mark.parametrize("name", FORMATS)
def test_spaces_around_a_format_are_removed_as_its_row_says(name: str) -> None:
    field, row = one_field({"type": "string", "format": name}), FORMATS[name]

    assert row.strip
    assert parse_text(field, f" \t{row.example}\n") == row.example


@pytest.mark.parametrize("row", cases("fields"))
def test_the_text_of_a_value_means_that_value(row: dict[str, Any]) -> None:
    field = one_field(row["schema"])
    values = [each["value"] for each in row["typed"] if "value" in each]
    values += [] if field.default in (None, "", ()) else [field.default]
    for value in [*values, *([] if field.kind == "text" else [example_value(field)])]:
        expected = list(value) if isinstance(value, tuple) else value
        assert parse_text(field, to_text(field, value)) == expected


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["a", "b"], "a, b"),
        (["a, b", "c"], '"a, b", c'),
        (["a, b"], '"a, b"'),
        (['5" pipe', "c"], '5" pipe, c'),
        (['say "a, b"', "c"], 'say "a, b"\nc'),
        (['"quoted"'], '"quoted"\n'),
    ],
)
def test_values_with_commas_are_in_quotes_in_a_list(values: list[str], text: str) -> None:
    field = one_field({"type": "array", "items": {"type": "string"}})

    assert to_text(field, values) == text
    assert parse_text(field, text) == values


@pytest.mark.parametrize("typed", ['""', '"", a', 'a, ""'])
def test_empty_quotes_are_no_value_of_a_list(typed: str) -> None:
    expected = ["a"] if "a" in typed else []

    assert parse_text(one_field({"type": "array", "items": {"enum": ["a", "b, c"]}}), typed) == expected
    assert parse_text(one_field({"type": "array", "items": {"type": "string"}}), typed) == expected


@pytest.mark.parametrize("options", [["a", "b"], ["a, b", "c"]])
def test_the_text_of_an_empty_selection_is_empty(options: list[str]) -> None:
    field = one_field({"type": "array", "items": {"enum": options}, "default": []})

    assert to_text(field, field.default) == ""


TEXT = {"type": "string"}
OPTIONS = {"enum": ["a", "b"]}
SEVERAL = {"type": "array", "items": {"enum": ["a", "b"]}}
LIST = {"type": "array", "items": {"type": "string"}}
REQUIRED = "This field is required."


@pytest.mark.parametrize(
    ("schema", "required", "given_", "state"),
    [
        (TEXT, False, Intent.UNTOUCHED, OMITTED),
        (TEXT, True, Intent.UNTOUCHED, REQUIRED),
        ({**TEXT, "default": ""}, True, Intent.UNTOUCHED, ("", "default")),
        ({**SEVERAL, "default": ["a"]}, True, Intent.UNTOUCHED, (["a"], "default")),
        ({"type": "boolean", "default": False}, False, Intent.UNTOUCHED, (False, "default")),
        ({"type": "boolean", "default": False}, False, Intent.OMIT, OMITTED),
        ({"type": "boolean", "default": False}, True, Intent.OMIT, REQUIRED),
        ({**TEXT, "default": "x"}, False, "", OMITTED),
        ({**TEXT, "default": "x"}, False, " \n", OMITTED),
        ({**TEXT, "default": "x"}, True, "", REQUIRED),
        (TEXT, True, Intent.EMPTY, ("", "user")),
        (LIST, True, Intent.EMPTY, ([], "user")),
        ({**LIST, "minItems": 1}, True, Intent.EMPTY, "Enter at least 1 value."),
        ({"type": "integer"}, False, Intent.EMPTY, "Enter a whole number."),
        (OPTIONS, False, Intent.EMPTY, "Select one of the options."),
        (OPTIONS, False, Selection(("b",)), ("b", "user")),
        (OPTIONS, False, Selection(("c",)), "Select one of the options."),
        (OPTIONS, True, Selection(()), REQUIRED),
        (SEVERAL, False, Selection(("b", "a")), (["b", "a"], "user")),
        (SEVERAL, False, Selection(()), OMITTED),
        ({**SEVERAL, "default": ["a"]}, False, Selection(()), OMITTED),
        (SEVERAL, True, Selection(()), ([], "user")),
        ({**SEVERAL, "minItems": 2}, True, Selection(("a",)), "Select at least 2 options."),
        ({"type": "boolean"}, True, Selection((False,)), (False, "user")),
    ],
)
def test_what_becomes_of_a_field_is_decided_in_one_place(
    schema: dict[str, Any], required: bool, given_: FieldInput, state: Any
) -> None:
    found = read_field(one_field(schema, required=required), given_)

    if isinstance(state, str):
        assert [error.message for error in found.errors] == [state]
        assert not found.is_set
    else:
        assert found.errors == ()
        assert (found.value, found.source) == ((OMITTED, None) if state is OMITTED else state)


def test_a_form_is_read_as_a_whole() -> None:
    asked = form({"a": TEXT, "b": {"type": "integer", "default": 3}, "c": SEVERAL, "d": TEXT}, "a")

    state = read_form(asked, {"a": "x", "c": Selection(("b",)), "d": ""})

    assert state.content == {"a": "x", "b": 3, "c": ["b"]}
    assert state.sources == {"a": "user", "b": "default", "c": "user"}
    assert state.errors == ()


def test_a_form_has_all_errors_in_the_order_of_its_fields() -> None:
    asked = form({"a": TEXT, "b": {"type": "integer"}, "c": {**TEXT, "pattern": "^x"}}, "a")

    assert [(error.field, error.code) for error in read_form(asked, {"b": "1_0"}).errors] == [
        ("a", "required"),
        ("b", "type"),
    ]
    assert read_form(asked, {"a": "x", "c": "y"}).errors == ()
    context = InputContext(limits=Limits(max_answer=10))
    assert [error.code for error in read_form(asked, {"a": "x" * 20}, context).errors] == ["too_large"]


@pytest.mark.parametrize("row", cases("fields"))
def test_empty_is_accepted_exactly_where_it_is_valid(row: dict[str, Any]) -> None:
    field = one_field(row["schema"])
    valid = not read_field(field, Intent.EMPTY).errors

    assert accepts_empty(field) == valid or field.kind == "text"
    assert not accepts_empty(field) or valid or field.kind == "text"


@given(st.text(max_size=30), st.sampled_from(cases("fields")))
def test_no_text_raises_anything_but_an_answer_error(text: str, row: Any) -> None:
    state = read_field(one_field(row.values[0]["schema"]), text, check_pattern=False)

    assert state.is_set != bool(state.errors) or not text.strip()


NAMES = st.sampled_from(["a", "A", "b", "a, b", "a  b", "1", "2", "a (b)", "\u00e9", "e\u0301", "b ", '"a"'])


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=6), NAMES)
def test_a_typed_label_selects_the_only_option_that_shows_it(options: list[tuple[str, str]], typed: str) -> None:
    field = one_field({"oneOf": [{"const": value, "title": title} for value, title in options]})
    assert field.kind == "choice"
    for choice in field.choices:
        label = field.label_of(choice)
        if sum(alike(label, field.label_of(other)) for other in field.choices) == 1:
            assert parse_text(field, label) == choice.value
        else:
            with pytest.raises(AnswerError):
                parse_text(field, label)
    shown = [choice.value for choice in field.choices if alike(typed, field.label_of(choice))]
    try:
        assert [parse_text(field, typed)] == (shown or [parse_text(field, typed)])
    except AnswerError:
        assert len(shown) != 1


def alike(one: str, other: str) -> bool:
    return " ".join(normalize("NFC", one).split()) == " ".join(normalize("NFC", other).split())


def test_ten_thousand_options_are_selected_in_linear_time() -> None:
    def seconds(count: int) -> float:
        options = [{"const": f"value {at}", "title": f"Option {at}"} for at in range(count)]
        request = form_request(
            form_params({"properties": {"f": {"type": "array", "items": {"anyOf": options}}}}),
            limits=Limits(max_options=count, max_answer=10_000_000, max_request=10_000_000),
        )
        typed = ", ".join(f"option {at}" for at in range(count))
        context = InputContext(limits=limits_of(request))
        begin = process_time()
        assert len(parse_text(request.form.fields[0], typed, context)) == count
        return process_time() - begin

    assert min(seconds(10_000) for _ in range(3)) < 30 * min(seconds(1_000) for _ in range(3))
