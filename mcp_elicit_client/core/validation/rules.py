"""
What the values of a field must satisfy: its JSON Schema keywords as functions.

Most are functions of ``jsonschema``, called one by one on keywords that are
rebuilt from the field, never on the server's schema.  Its walk through a schema
and its ``check_schema`` would be 98 % of the cost (``benchmarks/validation.py``).
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias

from mcp_elicit_client.core.schema.bounds import is_multiple
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.core.validation.formats import FORMATS

Condition: TypeAlias = tuple[str, Callable[[Any], bool]]
"""A keyword, and the function that returns True if a value satisfies it."""


class FieldRules(NamedTuple):
    """
    What the values of one field must satisfy.

    They are built once for each field: reading attributes of a pydantic
    model again and again takes longer than most checks.

    Attributes:
        name: The name of the field.
        required: The answer must contain the field.
        accepts_null: Null means that the field is not provided.
        is_integer: Numbers must be whole.
        conditions: The conditions for the value, except for its pattern.
        item_conditions: Those for each value of a list.
    """

    name: str
    required: bool
    accepts_null: bool
    is_integer: bool
    conditions: tuple[Condition, ...]
    item_conditions: tuple[Condition, ...]

    def violated_keywords(self, value: object) -> list[tuple[str, bool]]:
        """Return the keywords that *value* violates; True marks those that one value of a list violates."""
        violated = [(keyword, False) for keyword in _violated(self.conditions, value)]
        if self.item_conditions and isinstance(value, (list, tuple)):
            violated += [(keyword, True) for each in value for keyword in _violated(self.item_conditions, each)]
        return violated


def build_conditions(keywords: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Return a condition for each of *keywords*, except for patterns.  The argument of ``enum`` is by `json_key`."""
    return tuple(
        (keyword, _condition(keyword, argument)) for keyword, argument in keywords.items() if keyword != "pattern"
    )


def _violated(conditions: tuple[Condition, ...], value: object) -> list[str]:
    violated: list[str] = []
    for keyword, is_satisfied in conditions:
        if not is_satisfied(value):
            violated.append(keyword)
            if keyword == "type":  # the others are about this type
                break
    return violated


def _condition(keyword: str, argument: Any) -> Callable[[Any], bool]:
    match keyword:
        case "type":
            return _TYPES[argument]
        case "enum":
            return partial(_is_option, argument)
        case "multipleOf":  # decimal: 0.3 is a multiple of 0.1
            return partial(is_multiple, step=argument)
        case "format":
            return FORMATS[argument].check
        case _:
            return partial(_has_no_error, _jsonschema_checks()[keyword], argument)


def _has_no_error(check: Callable[..., Iterable[object]], argument: object, value: object) -> bool:
    return next(iter(check(_Validator, argument, value, {})), None) is None


def _is_option(options: Mapping[tuple[str, object], object], value: object) -> bool:
    # A lookup by hash instead of a search.
    return not isinstance(value, (list, tuple)) and json_key(value) in options


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return value.is_integer() if isinstance(value, float) else isinstance(value, int) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[object], bool]] = {
    "string": _is_text,
    "array": _is_list,
    "boolean": _is_boolean,
    "number": _is_number,
    "integer": _is_integer,
}


class _Validator:
    """The part of a ``jsonschema`` validator that its keyword functions use.  The type was checked before."""

    @staticmethod
    def is_type(_value: object, _name: str) -> bool:
        return True


@cache
def _jsonschema_checks() -> Mapping[str, Callable[..., Any]]:
    # Imported at first use: jsonschema takes a tenth of the time of "import mcp".
    from jsonschema import Draft202012Validator

    checks: Mapping[str, Callable[..., Any]] = Draft202012Validator.VALIDATORS
    return checks
