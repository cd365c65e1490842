"""Removal of the wrappers around a schema: references, unions with null, ``allOf``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import unquote

from mcp_elicit_client._arguments import is_number
from mcp_elicit_client.core.limits import Limits, max_options_of_form
from mcp_elicit_client.core.schema.enums import (
    MAX_BRANCHES,
    Report,
    drop_null_keywords,
    is_null,
    json_equal,
    options_in_union,
    options_of_union,
    spells_choices,
)

_Schema: TypeAlias = Mapping[str, Any]

PREFERRED_TYPES = ("string", "number", "integer", "boolean", "array")
"""The types of a union, the most general input first."""

_INDEX = "(?a)[0-9]{1,9}"
_MAX_REFERENCE = 2_000
_WRAPPERS = frozenset({"$ref", "allOf", "anyOf", "oneOf", "items"})
_COMBINED = frozenset({"properties", "required"})
_STRICTEST: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems"), min),
}
_RULES = ("type", "enum", "const", "format", "pattern", "multipleOf", "items", "uniqueItems")
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})


class UnsupportedSchemaError(Exception):
    """A field that cannot be answered.  The text is the predicate of a sentence about the field."""


class Definitions:
    """
    The schemas in a request to which fields refer.

    Many references to one large schema are refused: reading it once for each
    would take much longer than reading the request.

    Args:
        root: The whole schema.
        limits: Maximum sizes and counts.

    Attributes:
        max_depth: The maximum number of nested references or unions.
        are_used: True after a reference was followed: fields may share texts.
    """

    def __init__(self, root: _Schema, limits: Limits) -> None:
        self._root = root
        self.max_depth: int = limits.max_depth
        self.are_used: bool = False
        self._entries_left = 2 * max_options_of_form(limits)
        self._entries: dict[int, int] = {}

    def open(self, schema: _Schema, report: Report) -> _Schema:
        """
        Return *schema* with the keywords of the schema to which it refers.

        Raises:
            UnsupportedSchemaError: If that is not in the request, is too large
                in total, or refers to others more often than allowed.
        """
        for _ in range(self.max_depth + 1):
            if "$ref" not in schema:
                return schema
            referenced = self._referenced(schema["$ref"])
            self._count(referenced)
            self.are_used = True
            schema = _overridden(drop_null_keywords(referenced), _without(schema, "$ref"), report)
        raise UnsupportedSchemaError(f"nests more than {self.max_depth} references or unions")

    def _count(self, referenced: _Schema) -> None:
        entries = self._entries.get(id(referenced))
        if entries is None:
            entries = self._entries[id(referenced)] = _entries(referenced)
        if entries > self._entries_left:
            raise UnsupportedSchemaError("refers to schemas that are too large in total")
        self._entries_left -= entries

    def _referenced(self, reference: object) -> _Schema:
        if isinstance(reference, str) and reference.startswith("#/") and len(reference) <= _MAX_REFERENCE:
            target: object = self._root
            for part in unquote(reference[2:]).split("/"):
                target = _member(target, part.replace("~1", "/").replace("~0", "~"))
            if isinstance(target, dict):
                return target
        raise UnsupportedSchemaError("refers to a schema outside the request; references are not fetched")


def _member(container: object, name: str) -> object:
    """Return the value *name* of an object, or the one with this index of a list; None if it has no such member."""
    match container:
        case dict():
            return container.get(name)
        case list() if re.fullmatch(_INDEX, name) and int(name) < len(container):
            return container[int(name)]
        case _:
            return None


def _entries(schema: object) -> int:
    """Return the number of keywords in *schema*, and of entries in their lists, as far as fields are read."""
    if not isinstance(schema, dict):
        return 0
    entries = len(schema) + sum(len(each) for each in schema.values() if isinstance(each, list))
    parts = schema.get("allOf")
    if isinstance(parts, list):
        entries += sum(map(_entries, parts))
    return entries + _entries(schema.get("items"))


def is_wrapped(schema: _Schema) -> bool:
    """Return True if *schema* must be unwrapped before it is read."""
    return not (isinstance(schema.get("type"), str) and _WRAPPERS.isdisjoint(schema))


def unwrap_schema(schema: _Schema, definitions: Definitions, report: Report) -> tuple[_Schema, bool]:
    """
    Remove the wrappers around *schema*.

    Keywords beside a wrapper override those inside it.  Of two limits, the
    stricter one holds: an answer must be within both.

    Returns:
        The schema, and whether it also allows null.

    Raises:
        UnsupportedSchemaError: If the schema cannot be answered.
    """
    if not is_wrapped(schema):
        return schema, False
    nullable = False
    for _ in range(definitions.max_depth + 1):
        nullable |= _allows_null(schema)
        opened = _open_once(schema, definitions, report)
        if opened is None:
            return _with_open_items(schema, definitions, report), nullable
        schema = opened
    raise UnsupportedSchemaError(f"nests more than {definitions.max_depth} references or unions")


def _with_open_items(schema: _Schema, definitions: Definitions, report: Report) -> _Schema:
    """Return *schema* without the wrappers around its items."""
    items = schema.get("items")
    if not isinstance(items, dict):
        return schema
    opened = definitions.open(items, report)
    opened = definitions.open(_open_all_of(opened, definitions, report) or opened, report)
    opened = definitions.open(_open_union(opened, definitions, report) or opened, report)
    return {**schema, "items": opened}


def _allows_null(schema: _Schema) -> bool:
    types, enum = schema.get("type"), schema.get("enum")
    if isinstance(types, list) and "null" in types:
        return True
    if types is None and isinstance(enum, list) and None in enum:
        return True
    unions = [schema[keyword] for keyword in ("anyOf", "oneOf") if isinstance(schema.get(keyword), list)]
    return types is None and any(is_null(each) for union in unions for each in union)


def _open_once(schema: _Schema, definitions: Definitions, report: Report) -> _Schema | None:
    if "$ref" in schema:
        return definitions.open(schema, report)
    merged = _open_all_of(schema, definitions, report)
    if merged is not None:
        return merged
    union = _open_union(schema, definitions, report)
    if union is not None:
        return union
    types = schema.get("type")
    if isinstance(types, list) and not spells_choices(schema):
        names = [name for name in types if name != "null"]
        chosen = next((name for name in PREFERRED_TYPES if name in names), None)
        if len(names) > 1 and chosen is not None:
            report("union", f"it allows several types; {chosen} is used")
        return {**schema, "type": chosen or "null"}
    return None


def _open_all_of(schema: _Schema, definitions: Definitions, report: Report) -> _Schema | None:
    """Return *schema* with the keywords inside its ``allOf``; None without one, or if its schemas contradict."""
    match schema.get("allOf"):
        case [dict(only)] if _COMBINED.isdisjoint(schema):
            return _overridden(only, _without(schema, "allOf"), report)
        case [_, *_] as parts if len(parts) <= MAX_BRANCHES:
            return _merged([*parts, _without(schema, "allOf")], definitions, report)
        case _:
            return None


def _merged(parts: Sequence[object], definitions: Definitions, report: Report) -> _Schema | None:
    """Return the keywords of all *parts* as one schema; None if two differ in more than a limit."""
    merged: dict[str, Any] = {}
    for part in parts:
        if not isinstance(part, dict):
            return None
        opened = definitions.open(part, report)
        for keyword, value in opened.items():
            if keyword not in merged or keyword in _ANNOTATIONS:
                merged[keyword] = value
            elif keyword in _COMBINED and not ("additionalProperties" in merged or "additionalProperties" in opened):
                merged[keyword] = _combined(merged[keyword], value)
                if merged[keyword] is None:
                    return None
            elif keyword in _STRICTEST and is_number(merged[keyword]) and is_number(value):
                merged[keyword] = _STRICTEST[keyword](merged[keyword], value)
            elif not json_equal(merged[keyword], value):
                return None
    return merged


def _overridden(inner: _Schema, outer: _Schema, report: Report) -> _Schema:
    """Return the keywords of both: those of *outer* override those of *inner*, except for a stricter limit."""
    limits = {
        keyword: strictest(inner[keyword], outer[keyword])
        for keyword, strictest in _STRICTEST.items()
        if is_number(inner.get(keyword)) and is_number(outer.get(keyword))
    }
    for keyword in _RULES:
        if keyword in inner and keyword in outer and not json_equal(inner[keyword], outer[keyword]):
            report("rule_not_checked", f"one of two contradicting values of its {keyword} is not checked")
    return {**inner, **outer, **limits}


def _combined(one: object, other: object) -> object:
    """Return the properties or the required names of both; None if they contradict."""
    match one, other:
        case dict(), dict() if one.keys().isdisjoint(other):
            return {**one, **other}
        case list(), list():
            return list(dict.fromkeys(name for name in (*one, *other) if isinstance(name, str)))
        case _:
            return None


def _open_union(schema: _Schema, definitions: Definitions, report: Report) -> _Schema | None:
    """Return the branch of a union that is easiest to answer; None if there is no union."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if not isinstance(options, list) or not all(isinstance(option, dict) for option in options):
            continue
        if options_in_union(options):
            return None
        branches = [option for option in options if not is_null(option)]
        is_typed = "type" in schema or "enum" in schema
        if len(branches) > MAX_BRANCHES:
            if is_typed:
                continue
            raise UnsupportedSchemaError(f"is a union of more than {MAX_BRANCHES} schemas")
        opened = [definitions.open(branch, report) for branch in branches]
        if (len(opened) > 1 or is_typed) and (listed := options_of_union(opened, report)):
            return {**schema, keyword: listed}
        if is_typed:
            continue
        ranked = sorted(opened, key=_preference)
        if not ranked:
            raise UnsupportedSchemaError("allows no value but null")
        if len(ranked) > 1:
            _report_union(keyword, ranked, report)
        return _overridden(ranked[0], _without(schema, keyword), report)
    return None


def _report_union(keyword: str, branches: Sequence[_Schema], report: Report) -> None:
    """Report that one of *branches* is used, and that a value of a ``oneOf`` may match several, unless types differ."""
    report("union", "it allows several schemas; the simplest is used")
    types = ["number" if branch.get("type") == "integer" else branch.get("type") for branch in branches]
    if keyword == "oneOf" and not all(isinstance(each, str) and types.count(each) == 1 for each in types):
        report("rule_not_checked", "only one schema of its oneOf may match; that is not checked")


def _preference(branch: _Schema) -> int:
    if spells_choices(branch):
        return -1
    kind = branch.get("type")
    return PREFERRED_TYPES.index(kind) if kind in PREFERRED_TYPES else len(PREFERRED_TYPES)


def _without(schema: _Schema, keyword: str) -> dict[str, Any]:
    return {each: value for each, value in schema.items() if each != keyword}
