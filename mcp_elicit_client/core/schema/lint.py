"""
`lint`: check requests against the schemas of the protocol versions, for ``mcp-elicit lint``.

A request that a protocol version forbids may still be answered; see
`parse_request`.  The rules are those of the specification's schemas
(2025-06-18, 2025-11-25, 2026-07-28) and, as advice, of its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client._arguments import is_number
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.parse import check_size, parse_request, to_wire
from mcp_elicit_client.core.request import FormRequest, ProtocolVersion, user_and_server_of
from mcp_elicit_client.core.secrets.in_request import secret_fields
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation.formats import STANDARD_FORMATS
from mcp_elicit_client.core.validation.patterns import settle_defaults
from mcp_elicit_client.exceptions import RequestError

_ANNOTATIONS = frozenset({"type", "title", "description", "default"})
_MEANT = frozenset(
    {"enum", "enumNames", "oneOf", "items", "minItems", "maxItems", "minLength", "maxLength", "format", "minimum"}
    | {"maximum"}
)


Severity: TypeAlias = Literal["error", "warning", "note"]
"""The severity of a `LintMessage`."""


class LintMessage(BaseModel):
    """
    A finding about a request under one protocol version.

    Attributes:
        protocol_version: The protocol version.
        severity: ``error`` if its schema forbids the request, ``warning`` if
            users will be warned, or a default has no effect, else ``note``.
        path: The place, as a JSON Pointer.  Sanitized.
        message: The finding, as a sentence for developers.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    protocol_version: ProtocolVersion
    severity: Severity
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class _Rules:
    """How the protocol versions differ."""

    revision: ProtocolVersion
    modes: tuple[str, ...]
    has_id: bool
    every_default: bool
    new_enums: bool


_REVISIONS = (
    _Rules("2025-06-18", ("form",), has_id=False, every_default=False, new_enums=False),
    _Rules("2025-11-25", ("form", "url"), has_id=True, every_default=True, new_enums=True),
    _Rules("2026-07-28", ("form", "url"), has_id=False, every_default=True, new_enums=True),
)

_Found: TypeAlias = tuple[Severity, str, str]
"""The severity, path and message of a finding."""


def lint(params: object, limits: Limits = DEFAULT_LIMITS) -> tuple[LintMessage, ...]:
    """
    Return what each protocol version finds wrong with the params of ``elicitation/create``.

    Raises:
        RequestError: If *params* is not an object, or larger than *limits*
            allow.
    """
    wire = to_wire(params)
    check_size(wire, limits)
    warnings = tuple(_warnings(wire, limits))
    return tuple(
        LintMessage(protocol_version=rules.revision, severity=severity, path=path, message=message)
        for rules in _REVISIONS
        for severity, path, message in (*_request(wire, rules), *warnings)
    )


def _warnings(wire: Mapping[str, Any], limits: Limits) -> Iterator[_Found]:
    """Yield the fields that request sensitive data, and the defaults that are not valid."""
    try:
        request = parse_request(wire, limits=limits)
    except RequestError:
        return
    if not isinstance(request, FormRequest):
        return
    for found in secret_fields(request.form, request.message):
        path = "/message" if found.field is None else _path_of(found.field)
        yield "warning", path, found.message
    _, unmatched = settle_defaults(request.form, user_and_server_of(request))
    for diagnostic in (*request.diagnostics, *unmatched):
        if diagnostic.code == "default_dropped" and diagnostic.field is not None:
            yield "warning", f"{_path_of(diagnostic.field)}/default", diagnostic.message


def _path_of(field: str) -> str:
    return f"/requestedSchema/properties/{_shown(field)}"


def _request(wire: Mapping[str, Any], rules: _Rules) -> Iterator[_Found]:
    if not isinstance(wire.get("message"), str):
        yield "error", "/message", "must be a string"
    mode = wire.get("mode", "form")
    if mode not in rules.modes:
        yield "error", "/mode", f"must be one of: {', '.join(rules.modes)}"
    elif mode == "url":
        yield from _url(wire, rules)
    else:
        yield from _schema(wire.get("requestedSchema"), rules)
    if "mode" in wire and rules.revision == "2025-06-18" and mode == "form":
        yield "note", "/mode", "this version has no modes; the key is ignored"


def _url(wire: Mapping[str, Any], rules: _Rules) -> Iterator[_Found]:
    if not isinstance(wire.get("url"), str):
        yield "error", "/url", "must be a string"
    if rules.has_id and not isinstance(wire.get("elicitationId"), str):
        yield "error", "/elicitationId", "must be a string"
    if "elicitationId" in wire and not rules.has_id:
        yield "note", "/elicitationId", "this version has no elicitationId; the key is ignored"


def _schema(schema: object, rules: _Rules) -> Iterator[_Found]:
    at = "/requestedSchema"
    if not isinstance(schema, Mapping):
        yield "error", at, "must be an object"
        return
    if schema.get("type") != "object":
        yield "error", f"{at}/type", 'must be "object"'
    if not isinstance(schema.get("properties"), Mapping):
        yield "error", f"{at}/properties", "must be an object"
        return
    required = schema.get("required", [])
    if not _is_texts(required):
        yield "error", f"{at}/required", "must be a list of names"
    else:
        for name in required:
            if name not in schema["properties"]:
                yield "note", f"{at}/required", f"{_shown(name)} is not among the properties"
    for key in schema:
        if key not in ("type", "properties", "required", "$schema"):
            yield "note", f"{at}/{_shown(key)}", "is not part of the schemas that this version describes"
    for name, field in schema["properties"].items():
        yield from _field(f"{at}/properties/{_shown(name)}", field, rules)


def _field(at: str, field: object, rules: _Rules) -> Iterator[_Found]:
    if not isinstance(field, Mapping):
        yield "error", at, "must be an object"
        return
    for key in ("title", "description"):
        if key in field and not isinstance(field[key], str):
            yield "error", f"{at}/{key}", "must be a string"
    yield from _kind(at, field, rules)
    for key in field:
        if key not in _ANNOTATIONS and key not in _MEANT:
            yield "note", f"{at}/{_shown(key)}", "is not a keyword of this version; a client may ignore it"


def _kind(at: str, field: Mapping[str, Any], rules: _Rules) -> Iterator[_Found]:
    match field.get("type"):
        case "string":
            yield from _string(at, field, rules)
        case "number" | "integer":
            yield from _numbers(at, field, ("minimum", "maximum"))
            yield from _default(at, field, rules, is_number)
        case "boolean":
            if "default" in field and not isinstance(field["default"], bool):
                yield "error", f"{at}/default", "must be true or false"
        case "array" if rules.new_enums:
            yield from _several(at, field)
        case _:
            known = "string, number, integer, boolean" + (", array" if rules.new_enums else "")
            yield "error", f"{at}/type", f"must be one of: {known}"


def _string(at: str, field: Mapping[str, Any], rules: _Rules) -> Iterator[_Found]:
    """Check a text or a single choice: the schema takes whichever of them fits."""
    yield from _numbers(at, field, ("minLength", "maxLength"))
    is_enum = _is_texts(field.get("enum")) or (rules.new_enums and _is_titled(field.get("oneOf")))
    if "format" in field and field["format"] not in STANDARD_FORMATS and not is_enum:
        yield "error", f"{at}/format", f"must be one of: {', '.join(STANDARD_FORMATS)}"
    yield from _default(at, field, rules, lambda value: isinstance(value, str))


def _several(at: str, field: Mapping[str, Any]) -> Iterator[_Found]:
    items = field.get("items")
    yield from _numbers(at, field, ("minItems", "maxItems"))
    untitled = isinstance(items, Mapping) and items.get("type") == "string" and _is_texts(items.get("enum"))
    titled = isinstance(items, Mapping) and _is_titled(items.get("anyOf"))
    if not untitled and not titled:
        yield "error", f"{at}/items", "must list options: enum of texts, or anyOf of const and title"
    if "default" in field and not _is_texts(field["default"]):
        yield "error", f"{at}/default", "must be a list of texts"


def _numbers(at: str, field: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[_Found]:
    for key in keys:
        if key in field and not is_number(field[key]):
            yield "error", f"{at}/{key}", "must be a number"


def _default(at: str, field: Mapping[str, Any], rules: _Rules, fits: Callable[[object], bool]) -> Iterator[_Found]:
    if "default" in field and rules.every_default and not fits(field["default"]):
        yield "error", f"{at}/default", "must be of the field's type"


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_titled(options: object) -> bool:
    return isinstance(options, list) and all(
        isinstance(option, Mapping) and isinstance(option.get("const"), str) and isinstance(option.get("title"), str)
        for option in options
    )


def _shown(name: str) -> str:
    return sanitize_text(name.replace("~", "~0").replace("/", "~1"), limit=128, multiline=False)
