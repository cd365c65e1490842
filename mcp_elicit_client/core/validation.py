"""
Does an answer fit its form?  All errors at once, in words for people.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core.choices import scalar_key
from mcp_elicit_client.core.errors import FieldError, describe, field_error
from mcp_elicit_client.core.forms import ChoiceField, Field, Form, NumberField
from mcp_elicit_client.core.keywords import validator_for
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.problems import Problem
from mcp_elicit_client.core.text import is_unicode, printable


class Validation(BaseModel):
    """
    Whether an answer fits its form.  Its truth is `valid`.

    Attributes:
        valid: Whether it may be sent.
        errors: Everything that is wrong, in the order of the fields.
        unchecked: Patterns that were not checked here, so that only the
            server knows, and why.
    """

    model_config = ConfigDict(frozen=True)

    valid: bool
    errors: tuple[FieldError, ...] = ()
    unchecked: tuple[Problem, ...] = ()

    def __bool__(self) -> bool:
        return self.valid


def check_content(form: Form, content: object, limits: Limits = DEFAULT_LIMITS) -> Validation:
    """
    Check *content* against *form*, patterns aside.  Nothing is changed.

    Keys that the form does not have pass unless the form is closed, as
    every server's validator sees it; they are never sent.
    """
    if not isinstance(content, Mapping) or not all(isinstance(name, str) for name in content):
        return Validation(valid=False, errors=(FieldError(field="", code="type", message="Must be a set of fields."),))
    fields = form.by_name
    content = without_nulls(form, content)
    wrong = {
        name: error for name, value in content.items() if (error := _unsendable(name, value, fields.get(name), limits))
    }
    if not wrong and len(json.dumps(dict(content), ensure_ascii=False)) > limits.answer:
        message = f"All in all longer than {limits.answer} characters."
        return Validation(valid=False, errors=(FieldError(field="", code="too_large", message=message),))
    wrong.update(
        (name, field_error(name, "left_out")) for name in form.left_out if name in content and name not in wrong
    )

    rest = {name: value for name, value in content.items() if name not in wrong}
    errors = [*wrong.values(), *(error for error in _errors(form, rest) if error.field not in wrong)]
    place = {name: index for index, name in enumerate(fields)}
    errors.sort(key=lambda error: place.get(error.field, len(place)))
    return Validation(valid=not errors, errors=tuple(errors))


def without_nulls(form: Form, content: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is null where the server allows that, and a missing answer too: it says the same."""
    fields = form.by_name
    return {
        name: value
        for name, value in content.items()
        if value is not None or name not in fields or fields[name].required or not fields[name].nullable
    }


def check_defaults(form: Form, defaults: Mapping[str, object]) -> tuple[dict[str, Any], tuple[FieldError, ...]]:
    """Divide *defaults* into those that fit their fields, ready to be sent, and what is wrong with the others."""
    errors = tuple(error for error in check_content(form, defaults).errors if error.code != "required")
    wrong = {error.field for error in errors}
    if "" in wrong:
        return {}, tuple(error.model_copy(update={"field": name}) for name in defaults for error in errors)
    good = {name: sendable(form.by_name[name], value) for name, value in defaults.items() if name not in wrong}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in good.items()}, errors


def sendable(field: Field, value: Any) -> Any:
    """
    Spell a valid value as it is sent: 1.0 of an integer is 1, a tuple a list.

    An option is spelled as the server spells it.
    """
    if isinstance(field, ChoiceField):
        return next(choice.value for choice in field.choices if scalar_key(choice.value) == scalar_key(value))
    if isinstance(field, NumberField) and field.integer:
        return int(value)
    return list(value) if isinstance(value, (list, tuple)) else value


def _unsendable(name: str, value: object, field: Field | None, limits: Limits) -> FieldError | None:
    """Find what no answer can carry, whatever the form."""
    if not is_unicode(name):
        return field_error(printable(name, multiline=False), "not_unicode")
    match value:
        case None:
            return field_error(name, "null")
        case bool():
            return None
        case int():
            return None if abs(value) <= limits.integer else field_error(name, "unsafe_integer")
        case float():
            if not math.isfinite(value):
                return field_error(name, "not_finite")
            sent_as_integer = isinstance(field, NumberField) and field.integer
            return field_error(name, "unsafe_integer") if sent_as_integer and abs(value) > limits.integer else None
        case str():
            return None if is_unicode(value) else field_error(name, "not_unicode")
        case list() | tuple():
            if not all(isinstance(each, str) for each in value):
                return field_error(name, "type", kind="a list of texts")
            return None if all(is_unicode(each) for each in value) else field_error(name, "not_unicode")
        case _:
            return field_error(name, "type", kind="a text, a number, yes or no, or a list of texts")


def _errors(form: Form, content: Mapping[str, object]) -> Iterator[FieldError]:
    seen = set()
    for error in validator_for(form).iter_errors(content):
        name = str(error.absolute_path[0]) if error.absolute_path else ""
        found = describe(form.by_name.get(name), name, str(error.validator), within=len(error.absolute_path) > 1)
        if found not in seen:
            seen.add(found)
            yield found
