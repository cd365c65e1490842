"""
The state of fields and forms from what a user did.

Every user interface asks this module what becomes of a field that the user
filled in, left untouched, cleared or skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import BooleanField, Field, Form, MultiChoiceField
from mcp_elicit_client.core.request import may_remember
from mcp_elicit_client.core.schema.enums import json_equal
from mcp_elicit_client.core.validation.content import to_json_value, validate_content, validate_without_patterns
from mcp_elicit_client.core.validation.field_errors import AnswerError, FieldError, field_error
from mcp_elicit_client.presentation.input_parsing import DEFAULT_CONTEXT, InputContext, parse_without_checks
from mcp_elicit_client.typing import Action, Answer, FormRequest, Request, Source


class _Omitted:
    def __repr__(self) -> str:
        return "OMITTED"


OMITTED = _Omitted()
"""The value of a field that the answer does not contain."""


class Intent(Enum):
    """What the user did with a field besides typing or selecting."""

    UNTOUCHED = "untouched"
    """The user did not change the field."""
    OMIT = "omit"
    """The user does not want to provide the field."""
    EMPTY = "empty"
    """The user wants to send empty text or an empty list."""


class Selection(NamedTuple):
    """The values of the options that the user selected; of a boolean field, True or False; of others, the value."""

    values: tuple[Any, ...]


FieldInput: TypeAlias = str | Selection | Intent
"""What a user did with one field: typed text, a selection, or an `Intent`."""


class FieldState(NamedTuple):
    """
    The state of one field.

    Attributes:
        value: The value as it would be sent; `OMITTED` if the answer would
            not contain the field, or if there are errors.
        source: The origin of the value; None if there is no value.
        errors: The errors of the field.
        unchecked: Its pattern, if that could not be checked.
    """

    value: Any = OMITTED
    source: Source | None = None
    errors: tuple[FieldError, ...] = ()
    unchecked: tuple[Diagnostic, ...] = ()

    @property
    def is_set(self) -> bool:
        """True if the answer would contain the field."""
        return self.value is not OMITTED


class FormState(NamedTuple):
    """
    The state of a whole form.

    Attributes:
        content: The values by field name, as they would be sent.
        sources: The origin of each value.
        errors: All errors, in the order of the fields.
    """

    content: dict[str, Any]
    sources: dict[str, Source]
    errors: tuple[FieldError, ...]


def read_field(
    field: Field,
    given: FieldInput,
    context: InputContext = DEFAULT_CONTEXT,
    *,
    check_pattern: bool = True,
) -> FieldState:
    """
    Return the state of *field* after the user did *given*.

    - Untouched: the default value; without one, the field is not provided.
    - Blank text, or `Intent.OMIT`: the field is not provided.
    - `Intent.EMPTY`: empty text or an empty list.
    - An empty selection: an empty list if the field is required, else the
      field is not provided.
    - Any other text: see `parse_text`.

    A required field that is not provided is an error.

    Args:
        field: The field.
        given: What the user did.
        context: Facts about the user and the host.
        check_pattern: Check the field's pattern, which takes another process
            and up to 0.08 s.
    """
    if given is Intent.UNTOUCHED and field.default is not None:
        return FieldState(to_json_value(field, field.default), "default")
    if is_omitted(field, given):
        return FieldState(errors=(field_error(field.name, "required"),) if field.required else ())
    try:
        value = _value(field, given, context)
    except AnswerError as error:
        return FieldState(errors=error.errors)
    form, content = Form(fields=(field,)), {field.name: value}
    if check_pattern:
        checked = validate_content(form, content, context.limits, context.user_and_server)
    else:
        checked = validate_without_patterns(form, content, context.limits)
    if not checked:
        return FieldState(errors=checked.errors)
    return FieldState(to_json_value(field, value), "user", unchecked=checked.unchecked)


def read_form(form: Form, given: Mapping[str, FieldInput], context: InputContext = DEFAULT_CONTEXT) -> FormState:
    """
    Return the state of *form* after the user did *given*.  Patterns are not checked.

    Args:
        form: The form.
        given: What the user did, by field name.  Fields that are missing are
            untouched.
        context: Facts about the user and the host.
    """
    states = {
        each.name: read_field(each, given.get(each.name, Intent.UNTOUCHED), context, check_pattern=False)
        for each in form.fields
    }
    content = {name: state.value for name, state in states.items() if state.is_set}
    sources = {name: state.source for name, state in states.items() if state.source is not None}
    errors = tuple(error for state in states.values() for error in state.errors)
    if errors:
        return FormState(content=content, sources=sources, errors=errors)
    checked = validate_without_patterns(form, content, context.limits)
    return FormState(content=content, sources=sources, errors=checked.errors)


def preselected(field: Field) -> Any:
    """
    Return the default value that a page or dialog fills in; `OMITTED` without one.

    It is never yes: only an explicit choice counts as consent.
    """
    if field.default is None or (isinstance(field, BooleanField) and field.default):
        return OMITTED
    return to_json_value(field, field.default)


def is_suggested(field: Field, value: Any) -> bool:
    """Return True if *value* is what a page suggests for *field*."""
    suggested = preselected(field)
    return suggested is not OMITTED and value is not OMITTED and json_equal(value, suggested)


def sources_of(request: Request, content: Mapping[str, Any] | None) -> dict[str, Source]:
    """
    Return the origin of each value that a page or an editor sent for *request*.

    They do not say what the user touched, so values that they suggested count
    as defaults.
    """
    fields = request.form.by_name if isinstance(request, FormRequest) else {}
    return {
        name: "default" if name in fields and is_suggested(fields[name], value) else "user"
        for name, value in (content or {}).items()
    }


def answer_of_user(  # noqa: PLR0913 -- all that an answer can say, by keyword
    request: Request,
    action: Action,
    content: dict[str, Any] | None,
    *,
    block_server: bool,
    confirmed: bool,
    remember: bool,
) -> Answer:
    """
    Return the answer that a user gave on a page or in another program, not checked against the form.

    Choices that *request* does not offer are ignored.

    Raises:
        ValidationError: If *content* has values that no form has.
    """
    answer = Answer(
        action=action,
        content=content,
        by="user",
        block_server=block_server and request.can_block,
        confirmed=confirmed,
        remember=remember and may_remember(request),
    )
    return answer.model_copy(update={"sources": sources_of(request, answer.content)})


def is_omitted(field: Field, given: FieldInput) -> bool:
    """Return True if the answer does not contain *field* after the user did *given*, unless it has a default."""
    match given:
        case str():
            return not given.strip()
        case Selection():
            return not given.values and not (field.required and isinstance(field, MultiChoiceField))
        case _:
            return given is not Intent.EMPTY


def _value(field: Field, given: FieldInput, context: InputContext) -> Any:
    match given:
        case str():
            return parse_without_checks(field, given, context)
        case Selection():
            return list(given.values) if isinstance(field, MultiChoiceField) else given.values[0]
        case _:
            return [] if isinstance(field, MultiChoiceField) else ""


# --- As JSON


def inputs_to_json(inputs: Mapping[str, FieldInput]) -> dict[str, Any]:
    """Return *inputs*, by field name, as JSON data: for user interfaces that go on in another process."""
    return {name: _to_json(given) for name, given in inputs.items()}


def inputs_from_json(data: Any) -> dict[str, FieldInput]:
    """
    Read what `inputs_to_json` returned.

    Raises:
        ValueError: If *data* is something else.
    """
    if not isinstance(data, dict):
        raise ValueError("not the inputs of a conversation")  # noqa: TRY004 -- a value of JSON
    return {str(name): _from_json(each) for name, each in data.items()}


def _to_json(given: FieldInput) -> Any:
    match given:
        case str():
            return given
        case Selection(values):
            return {"selected": list(values)}
        case Intent():
            return {"intent": given.value}


def _from_json(data: Any) -> FieldInput:
    match data:
        case str():
            return data
        case {"selected": [*values]}:
            return Selection(tuple(values))
        case {"intent": str(name)}:
            return Intent(name)
    raise ValueError("not an input of a conversation")
