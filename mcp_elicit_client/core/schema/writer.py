"""Writing a `Form` as a ``requestedSchema`` again, and a request as its params."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import assert_never

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, Form, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.request import (
    FIRST_MULTI_ROUND_TRIP_VERSION,
    PROTOCOL_VERSIONS,
    FormRequest,
    ProtocolVersion,
    Request,
)
from mcp_elicit_client.core.schema.enums import value_as_title
from mcp_elicit_client.core.validation.formats import STANDARD_FORMATS
from mcp_elicit_client.exceptions import ElicitationError

NEWEST: ProtocolVersion = PROTOCOL_VERSIONS[-1]

_TYPES: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


class SchemaNotExpressibleError(ElicitationError):
    """
    A form that a protocol version cannot express.

    Attributes:
        fields: The names of the fields, as the server spells them.
        protocol_version: The protocol version.
    """

    def __init__(self, fields: tuple[str, ...], protocol_version: str) -> None:
        names = ", ".join(map(repr, fields))
        super().__init__(f"protocol version {protocol_version} cannot express these fields: {names}")
        self.fields = fields
        self.protocol_version = protocol_version


def to_schema(form: Form, *, protocol_version: ProtocolVersion = NEWEST) -> dict[str, Any]:
    """
    Write *form* as a valid ``requestedSchema``.

    `parse_request` reads it into an equal form, without `unsupported_fields`.
    A format that the specification does not list is written as ``x-format``,
    and null as ``nullable``, because a valid schema has no place for them.

    Raises:
        SchemaNotExpressibleError: If *protocol_version* cannot express a
            field: a list of texts, or options of different types; before
            2025-11-25 also several options.
    """
    failed = tuple(field.name for field in form.fields if not _is_expressible(field, protocol_version))
    if failed:
        raise SchemaNotExpressibleError(failed, protocol_version)
    return write_schema(form, protocol_version)


def write_schema(form: Form, protocol_version: ProtocolVersion = NEWEST) -> dict[str, Any]:
    """Write *form* as a schema that `parse_request` reads, valid or not."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.name: _field(field, protocol_version) for field in form.fields},
    }
    required = [field.name for field in form.fields if field.required]
    if required:
        schema["required"] = required
    if form.rejects_unknown_fields:
        schema["additionalProperties"] = False
    return schema


def to_params(request: Request, *, protocol_version: ProtocolVersion = NEWEST) -> dict[str, Any]:
    """
    Write *request* as the params of ``elicitation/create``.

    Raises:
        SchemaNotExpressibleError: As in `to_schema`, and for URL mode before
            2025-11-25.
    """
    if isinstance(request, FormRequest):
        mode = {} if protocol_version == PROTOCOL_VERSIONS[0] else {"mode": "form"}
        schema = to_schema(request.form, protocol_version=protocol_version)
        return {**mode, "message": request.message, "requestedSchema": schema}
    if protocol_version == PROTOCOL_VERSIONS[0]:
        raise SchemaNotExpressibleError(("url",), protocol_version)
    params = {"mode": "url", "message": request.message, "url": request.target.url}
    if request.elicitation_id is not None and protocol_version < FIRST_MULTI_ROUND_TRIP_VERSION:
        params["elicitationId"] = request.elicitation_id
    return params


def _is_expressible(field: Field, protocol_version: ProtocolVersion) -> bool:
    match field:
        case ChoiceField():
            return _type_of_options(field) is not None
        case MultiChoiceField():
            return bool(field.choices) and protocol_version != PROTOCOL_VERSIONS[0]
        case TextField() | NumberField() | BooleanField():
            return True
        case _:
            assert_never(field)


def _field(field: Field, protocol_version: ProtocolVersion) -> dict[str, Any]:
    match field:
        case ChoiceField():
            schema = _options(field, protocol_version)
        case MultiChoiceField():
            schema = {**field.keywords(), **_items(field)}
        case TextField():
            schema = _with_format(field)
        case NumberField() | BooleanField():
            schema = field.keywords()
        case _:
            assert_never(field)
    default = field.default if field.default is not None else getattr(field, "unchecked_default", None)
    about = {
        "title": field.title,
        "description": field.description or None,
        "default": list(default) if isinstance(default, tuple) else default,
        "nullable": field.nullable or None,
    }
    return schema | {keyword: value for keyword, value in about.items() if value is not None}


def _with_format(field: TextField) -> dict[str, Any]:
    schema = {keyword: value for keyword, value in field.keywords().items() if keyword != "format"}
    if field.format is not None:
        schema["format" if field.format in STANDARD_FORMATS else "x-format"] = field.format
    return schema


def _options(field: ChoiceField, protocol_version: ProtocolVersion) -> dict[str, Any]:
    kind = _type_of_options(field)
    schema: dict[str, Any] = {} if kind is None else {"type": kind}
    values = [choice.value for choice in field.choices]
    if not _has_titles(field):
        return {**schema, "enum": values}
    if protocol_version == PROTOCOL_VERSIONS[0]:
        return {**schema, "enum": values, "enumNames": [choice.title for choice in field.choices]}
    return {**schema, "oneOf": _titled(field)}


def _type_of_options(field: ChoiceField) -> str | None:
    """Return the type of all options; None if they have different types."""
    types = {_TYPES[type(choice.value)] for choice in field.choices}
    if types == {"integer", "number"}:
        return "number"
    return types.pop() if len(types) == 1 else None


def _items(field: MultiChoiceField) -> dict[str, Any]:
    if not field.choices:
        return {} if field.item is None else {"items": _with_format(field.item)}
    return {"items": {"anyOf": _titled(field)}} if _has_titles(field) else {}


def _titled(field: ChoiceField | MultiChoiceField) -> list[dict[str, Any]]:
    return [{"const": choice.value, "title": choice.title} for choice in field.choices]


def _has_titles(field: ChoiceField | MultiChoiceField) -> bool:
    return any(choice.title != value_as_title(choice.value) for choice in field.choices)
