"""
The rules of a field, checked by ``jsonschema``.

Each keyword is ``jsonschema``'s own, called on rules that were rebuilt from
the field: neither its ``check_schema`` (97 % of its cost, and we wrote the
schema) nor its walk through the schema (most of the rest) is needed.  Options
are looked up by hash, and multiples are decimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from mcp_elicit_client.core.form import ChoiceField, Field, MultiChoiceField
from mcp_elicit_client.core.schema.bounds import is_multiple
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.core.validation.formats import CHECKS


def violated_keywords(field: Field, value: Any) -> list[tuple[str, bool]]:
    """
    Find the JSON Schema keywords of *field* that *value* breaks, patterns aside.

    Returns:
        Each keyword, and whether it is broken by one value of a list.
    """
    if isinstance(field, ChoiceField):
        return [(keyword, False) for keyword in _broken({"enum": field.by_key}, value)]
    if not isinstance(field, MultiChoiceField):
        return [(keyword, False) for keyword in _broken(field.keywords(), value)]
    broken = [(keyword, False) for keyword in _broken(field.list_keywords(), value)]
    if isinstance(value, (list, tuple)):
        of_items = {"type": "string", "enum": field.by_key} if field.choices else field.keywords()["items"]
        broken += [(keyword, True) for each in value for keyword in _broken(of_items, each)]
    return broken


def _broken(rules: Mapping[str, Any], value: Any) -> list[str]:
    validator, keywords = _jsonschema()
    broken: list[str] = []
    for keyword, argument in rules.items():
        check = keywords.get(keyword)
        if check is not None:
            for _ in check(validator, argument, value, rules) or ():
                broken.append(keyword)
                break
    return broken


class _Checker:
    """What the keywords ask of a validator: the type of a value, and the formats."""

    def __init__(self, format_checker: Any) -> None:
        self.format_checker = format_checker

    def is_type(self, value: Any, name: str) -> bool:
        return _TYPES[name](value)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, (list, tuple)),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: (
        value.is_integer() if isinstance(value, float) else isinstance(value, int) and not isinstance(value, bool)
    ),
}


@cache
def _jsonschema() -> tuple[_Checker, Mapping[str, Callable[..., Any]]]:
    """Return what stands for a validator, and the keywords that are checked one by one."""
    # jsonschema costs a tenth of "import mcp": only where an answer is checked.
    from jsonschema import Draft202012Validator, FormatChecker

    formats = FormatChecker(formats=())
    for name, check in CHECKS.items():
        formats.checks(name)(lambda value, check=check: not isinstance(value, str) or check(value))
    keywords = {**Draft202012Validator.VALIDATORS, "type": _type, "enum": _enum, "multipleOf": _multiple_of}
    elsewhere = ("items", "pattern", "properties", "required", "additionalProperties")
    return _Checker(formats), {keyword: check for keyword, check in keywords.items() if keyword not in elsewhere}


def _type(validator: Any, name: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    # Only ever one name: jsonschema's own first makes a list of it.
    if not validator.is_type(instance, name):
        yield name


def _enum(_validator: Any, options: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    # In constant time: *options* has the keys of the values, hashed.
    if isinstance(instance, (list, tuple)) or json_key(instance) not in options:
        yield options


def _multiple_of(validator: Any, step: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "number") and not is_multiple(instance, step):
        yield step
