"""Removal of the wrappers around a schema: references, unions with null, ``allOf`` of one schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.schema.enums import Report, spells_choices

_Schema: TypeAlias = Mapping[str, Any]

PREFERRED_TYPES = ("string", "number", "integer", "boolean", "array")
"""The types of a union, the most general input first."""

_REFERENCE_ROOTS = ("$defs", "definitions")
_MAX_BRANCHES = 32
_WRAPPERS = frozenset({"$ref", "allOf"})


class UnsupportedSchemaError(Exception):
    """A field that cannot be answered.  The text is the predicate of a sentence about the field."""


def unwrap_schema(schema: _Schema, root: _Schema, limits: Limits, report: Report) -> tuple[_Schema, bool]:
    """
    Remove the wrappers around *schema*.

    Keywords beside a wrapper override those inside it.

    Returns:
        The schema, and whether it also allows null.

    Raises:
        UnsupportedSchemaError: If the schema cannot be answered.
    """
    if isinstance(schema.get("type"), str) and _WRAPPERS.isdisjoint(schema):
        if "items" in schema:
            schema = {**schema, "items": _open_items(schema["items"], root, limits, report)}
        return schema, False
    nullable = False
    for _ in range(limits.max_depth + 1):
        nullable |= _allows_null(schema)
        opened = _open_once(schema, root, limits, report)
        if opened is None:
            if "items" in schema:
                schema = {**schema, "items": _open_items(schema["items"], root, limits, report)}
            return schema, nullable
        schema = opened
    raise UnsupportedSchemaError(f"nests more than {limits.max_depth} references or unions")


def _open_items(items: object, root: _Schema, limits: Limits, report: Report) -> object:
    if not isinstance(items, dict):
        return items
    items = _open_reference(items, root, limits)
    if isinstance(items.get("type"), str) or "enum" in items:
        return items
    return _open_reference(_open_union(items, root, limits, report) or items, root, limits)


def _allows_null(schema: _Schema) -> bool:
    types, enum = schema.get("type"), schema.get("enum")
    if isinstance(types, list) and "null" in types:
        return True
    if types is None and isinstance(enum, list) and None in enum:
        return True
    unions = [schema[keyword] for keyword in ("anyOf", "oneOf") if isinstance(schema.get(keyword), list)]
    return types is None and any(isinstance(each, dict) and _is_null(each) for union in unions for each in union)


def _open_once(schema: _Schema, root: _Schema, limits: Limits, report: Report) -> _Schema | None:
    if "$ref" in schema:
        return _open_reference(schema, root, limits)
    match schema.get("allOf"):
        case [dict(only)]:
            return {**only, **_without(schema, "allOf")}
    union = _open_union(schema, root, limits, report)
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


def _open_union(schema: _Schema, root: _Schema, limits: Limits, report: Report) -> _Schema | None:
    """Return the branch of a union that is easiest to answer; None if there is no union."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if not isinstance(options, list) or not all(isinstance(option, dict) for option in options):
            continue
        branches = [option for option in options if not _is_null(option)]
        outer = _without(schema, keyword)
        if branches and spells_choices({keyword: branches}):
            if len(branches) == len(options):
                return None
            return {**outer, keyword: branches}
        if "type" in schema or "enum" in schema:
            continue
        if len(branches) > _MAX_BRANCHES:
            raise UnsupportedSchemaError(f"is a union of more than {_MAX_BRANCHES} schemas")
        opened = [_open_reference(branch, root, limits) for branch in branches]
        ranked = sorted(opened, key=_preference)
        if not ranked:
            raise UnsupportedSchemaError("allows no value but null")
        if len(ranked) > 1:
            report("union", "it allows several schemas; the simplest is used")
        return {**ranked[0], **outer}
    return None


def _preference(branch: _Schema) -> int:
    if spells_choices(branch):
        return -1
    kind = branch.get("type")
    return PREFERRED_TYPES.index(kind) if kind in PREFERRED_TYPES else len(PREFERRED_TYPES)


def _is_null(schema: _Schema) -> bool:
    return (
        schema.get("type") == "null" or schema.get("enum") == [None] or ("const" in schema and schema["const"] is None)
    )


def _open_reference(schema: _Schema, root: _Schema, limits: Limits) -> _Schema:
    for _ in range(limits.max_depth + 1):
        if "$ref" not in schema:
            return schema
        schema = {**_referenced(schema["$ref"], root), **_without(schema, "$ref")}
    raise UnsupportedSchemaError(f"nests more than {limits.max_depth} references or unions")


def _referenced(reference: object, root: _Schema) -> _Schema:
    if isinstance(reference, str):
        start, _, rest = reference.partition("/")
        root_name, _, name = rest.partition("/")
        name = name.replace("~1", "/").replace("~0", "~")
        if start == "#" and root_name in _REFERENCE_ROOTS and isinstance(root.get(root_name), dict):
            target = root[root_name].get(name)
            if isinstance(target, dict):
                return target
    raise UnsupportedSchemaError("refers to a schema outside the request; references are not fetched")


def _without(schema: _Schema, keyword: str) -> dict[str, Any]:
    return {each: value for each, value in schema.items() if each != keyword}
