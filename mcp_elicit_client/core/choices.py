"""
Options to choose from: every spelling of SEP-1330, and what servers really send.

========================================  ==========================
single                                    several
========================================  ==========================
``enum``                                  ``items.enum``
``enum`` and ``enumNames`` (legacy)       ``items.enum`` and ``enumNames``
``oneOf`` of ``const`` and ``title``      ``items.anyOf`` of the same
``anyOf`` of the same (pydantic)          ``items.oneOf`` (the SEP's prose)
``const``
========================================  ==========================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr

from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.problems import ProblemCode
from mcp_elicit_client.core.text import is_unicode, printable

Scalar: TypeAlias = StrictStr | StrictBool | StrictInt | StrictFloat
"""One value of an answer that is not a list."""

Note: TypeAlias = Callable[[ProblemCode, str], None]
"""Where a parser says what was wrong but survivable: ``note(code, message)``."""


class Choice(BaseModel):
    """
    One option.

    Attributes:
        value: What is sent if it is chosen, spelled as the server spells it.
        title: What is shown.  Safe to show.
    """

    model_config = ConfigDict(frozen=True)

    value: Scalar
    title: str


def normalize_enum(schema: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> tuple[Choice, ...]:
    """
    List the options that *schema* offers, however it spells them.

    Options keep the server's order; a repeated value appears once.  A title
    is never put next to a value that it might not belong to: where names and
    values differ in number, or one value has two names, the values stand for
    themselves.  Values that no answer can carry (null, objects, lists) are
    left out.

    Returns:
        The options; none if *schema* is no enum.  Whether several may be
        chosen is the schema's ``type``: ``array``.

    >>> normalize_enum({"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"]})
    (Choice(value='s', title='Small'), Choice(value='m', title='Medium'))
    """
    if schema.get("type") == "array" and isinstance(schema.get("items"), Mapping):
        items = schema["items"]
        if "enumNames" in schema and "enumNames" not in items:
            items = {**items, "enumNames": schema["enumNames"]}
        schema = items
    return parse_choices(schema, limits, lambda _code, _message: None)


def spells_choices(schema: Mapping[str, Any]) -> bool:
    """Tell whether *schema* lists options, usable or not."""
    if "const" in schema or isinstance(schema.get("enum"), list):
        return True
    return any(_is_option_list(schema.get(keyword)) for keyword in ("oneOf", "anyOf"))


def parse_choices(schema: Mapping[str, Any], limits: Limits, note: Note) -> tuple[Choice, ...]:
    """
    List the options of a single-choice schema; `normalize_enum` says how.

    *note* learns what was left out or shown differently.
    """
    titled = next(
        (schema[keyword] for keyword in ("oneOf", "anyOf") if _is_option_list(schema.get(keyword))),
        None,
    )
    if titled is not None:
        values = [_constant(option) for option in titled]
        titles = [option.get("title") for option in titled]
    elif isinstance(schema.get("enum"), list):
        values = schema["enum"]
        titles = _names(schema.get("enumNames"), values, note)
    elif "const" in schema:
        values, titles = [schema["const"]], [None]
    else:
        return ()
    if "const" in schema:
        kept = [(value, title) for value, title in zip(values, titles, strict=True) if same(value, schema["const"])]
        values, titles = [value for value, _ in kept], [title for _, title in kept]
    return _choices(values, titles, schema.get("type"), limits, note)


def scalar_key(value: object) -> tuple[str, object]:
    """
    Return what two values have in common exactly if JSON Schema calls them equal.

    In Python ``True == 1``; in JSON they differ, and ``1.0`` is ``1``.
    """
    match value:
        case bool():
            return "boolean", value
        case int() | float():
            return "number", value
        case _:
            return type(value).__name__, value


def same(one: object, other: object) -> bool:
    """Tell whether JSON Schema calls two scalars equal."""
    return scalar_key(one) == scalar_key(other)


def _is_option_list(options: object) -> bool:
    return isinstance(options, list) and bool(options) and all(_has_constant(option) for option in options)


def _has_constant(option: object) -> bool:
    if not isinstance(option, dict):
        return False
    enum = option.get("enum")
    return "const" in option or (isinstance(enum, list) and len(enum) == 1)


def _constant(option: Mapping[str, Any]) -> object:
    return option["const"] if "const" in option else option["enum"][0]


def _names(names: object, values: Sequence[object], note: Note) -> list[Any]:
    if names is None:
        return [None] * len(values)
    if isinstance(names, list) and len(names) == len(values):
        return names
    note("titles_ignored", "enumNames does not name every option once; the values are shown instead")
    return [None] * len(values)


def _choices(
    values: Sequence[object], titles: Sequence[object], type_: object, limits: Limits, note: Note
) -> tuple[Choice, ...]:
    chosen: dict[tuple[str, object], Choice] = {}
    ambiguous: set[tuple[str, object]] = set()
    for value, title in zip(values, titles, strict=True):
        if not _is_sendable(value, type_, limits):
            note("options_dropped", "an option that no answer can carry was left out")
            continue
        key = scalar_key(value)
        name = title if isinstance(title, str) and title.strip() else _spell(value)
        choice = Choice.model_construct(value=value, title=printable(name, limit=limits.option_title, multiline=False))
        if key in chosen and chosen[key].title != choice.title:
            ambiguous.add(key)
        chosen.setdefault(key, choice)
    for key in ambiguous:
        value = chosen[key].value
        note("titles_ignored", "one option has two titles; its value is shown instead")
        chosen[key] = Choice(value=value, title=printable(_spell(value), limit=limits.option_title, multiline=False))
    return tuple(chosen.values())


def _is_sendable(value: object, type_: object, limits: Limits) -> bool:
    types = type_ if isinstance(type_, list) else [type_]
    match value:
        case str():
            fits = len(value) <= limits.option_value and is_unicode(value)
            names = {"string"}
        case bool():
            fits, names = True, {"boolean"}
        case int():
            fits, names = abs(value) <= limits.integer, {"integer", "number"}
        case float():
            fits = math.isfinite(value)
            names = {"integer", "number"} if fits and value.is_integer() else {"number"}
        case _:
            return False
    return fits and (type_ is None or bool(names.intersection(each for each in types if isinstance(each, str))))


def _spell(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
