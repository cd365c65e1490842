"""
The validator: ``jsonschema``, on a schema that was rebuilt from a form.

Its own ``check_schema`` is skipped, since we wrote the schema: that is 97 %
of its cost.  Options are looked up by hash, and multiples are decimal.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from mcp_elicit_client.core.choices import scalar_key
from mcp_elicit_client.core.formats import CHECKS
from mcp_elicit_client.core.forms import ChoiceField, Form, MultiChoiceField
from mcp_elicit_client.core.numbers import is_multiple

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def validator_for(form: Form) -> Validator:
    """Make a validator of answers to *form*; patterns are not its business."""
    schema = form.json_schema()
    for field in form.fields:
        rules = schema["properties"][field.name]
        if isinstance(field, (ChoiceField, MultiChoiceField)) and field.choices:
            holder = rules if isinstance(field, ChoiceField) else rules["items"]
            holder["enum"] = frozenset(scalar_key(value) for value in holder["enum"])
        rules.pop("pattern", None)
        if isinstance(field, MultiChoiceField):
            rules["items"].pop("pattern", None)
    validator: Validator = _validator_class()(schema, format_checker=_format_checker())
    return validator


@cache
def _validator_class() -> Any:
    # jsonschema costs a tenth of "import mcp": only where an answer is checked.
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    return extend(
        Draft202012Validator,
        validators={
            "enum": _enum,
            "multipleOf": _multiple_of,
            "required": _required,
            "additionalProperties": _additional_properties,
        },
        type_checker=Draft202012Validator.TYPE_CHECKER.redefine("array", _is_array),
    )


def _enum(_validator: Any, options: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    # In constant time: *options* are the keys of the values, hashed.
    if _is_array(None, instance) or scalar_key(instance) not in options:
        yield _wrong("not an option")


def _multiple_of(validator: Any, step: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "number") and not is_multiple(instance, step):
        yield _wrong("not a multiple")


def _required(_validator: Any, names: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    for name in names:
        if name not in instance:
            yield _wrong("missing", name)


def _additional_properties(_validator: Any, _allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    for name in instance:
        if name not in schema["properties"]:
            yield _wrong("not asked for", name)


def _wrong(message: str, *path: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message, path=path)


def _is_array(_checker: Any, instance: Any) -> bool:
    return isinstance(instance, (list, tuple))


@cache
def _format_checker() -> Any:
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, check in CHECKS.items():
        checker.checks(name)(lambda value, check=check: not isinstance(value, str) or check(value))
    return checker
