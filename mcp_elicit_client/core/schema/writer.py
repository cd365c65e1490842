"""`to_schema` and `to_params`: a `Form` as a ``requestedSchema`` again, and a request as its params."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from typing_extensions import assert_never

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.form import (
    BooleanField,
    ChoiceField,
    Field,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
    keywords_of,
    list_keywords_of,
    schemas_of,
)
from mcp_elicit_client.core.limits import DEFAULT_LIMITS
from mcp_elicit_client.core.request import (
    FIRST_MULTI_ROUND_TRIP_VERSION,
    PROTOCOL_VERSIONS,
    FormRequest,
    ProtocolVersion,
    Request,
    UrlRequest,
)
from mcp_elicit_client.core.schema.enums import json_key, value_as_title
from mcp_elicit_client.core.validation.formats import STANDARD_FORMATS
from mcp_elicit_client.exceptions import ElicitationError

__all__ = ["SchemaNotExpressibleError", "to_params", "to_schema"]

_NEWEST: ProtocolVersion = PROTOCOL_VERSIONS[-1]
"""The newest protocol version that the package writes requests for."""
_OLDEST = PROTOCOL_VERSIONS[0]


class SchemaNotExpressibleError(ElicitationError):
    """
    A form or URL request that a protocol version cannot express.

    Attributes:
        fields: The names of the fields, as the server spells them; for a URL
            request, the member of the params.
        protocol_version: The protocol version.
    """

    def __init__(self, fields: tuple[str, ...], protocol_version: str) -> None:
        names = ", ".join(map(repr, fields))
        super().__init__(f"Protocol version {protocol_version} cannot express: {names}.")
        self.fields = fields
        self.protocol_version = protocol_version


def to_schema(form: Form, *, protocol_version: ProtocolVersion = _NEWEST) -> dict[str, Any]:
    """
    Return *form* as a valid ``requestedSchema``.

    `parse_request` with the same limits reads it into an equal form, except
    for `unsupported_fields`, which no answer contains, and `sensitive`, which
    the host sets.  Valid schemas have no keyword for null and for some
    formats: they are written as ``nullable`` and ``x-format``.

    Args:
        form: A form that was read by `parse_request`.
        protocol_version: The protocol version that the schema must be valid
            in.

    Raises:
        SchemaNotExpressibleError: If *protocol_version* cannot express a
            field: a list of texts, options of different types, or a pattern
            that is not Unicode; before 2025-11-25, also several options.
        TypeError: If *form* is not a form.
    """
    check_type("form", form, Form, hint="Pass `request.form`.")
    failed = tuple(field.name for field in form.fields if not _is_expressible(field, protocol_version))
    if failed:
        raise SchemaNotExpressibleError(failed, protocol_version)
    return write_schema(form, protocol_version)


def write_schema(form: Form, protocol_version: ProtocolVersion = _NEWEST) -> dict[str, Any]:
    """Return *form* as a schema that `parse_request` reads, also if no valid schema can express it."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.name: _property(field, protocol_version) for field in form.fields},
    }
    required = [field.name for field in form.fields if field.required]
    if required:
        schema["required"] = required
    if form.rejects_unknown_fields:
        schema["additionalProperties"] = False
    return schema


def to_params(request: Request, *, protocol_version: ProtocolVersion = _NEWEST) -> dict[str, Any]:
    """
    Return *request* as the params of ``elicitation/create``.

    The server's ``_meta`` is not written: it belongs to the original session.

    Raises:
        SchemaNotExpressibleError: As in `to_schema`; and in URL mode before
            2025-11-25, or in 2025-11-25 without an `elicitation_id`.
        TypeError: If *request* is not a request.
    """
    check_type("request", request, FormRequest, UrlRequest)
    check_expressible(request, protocol_version)
    return copy.deepcopy(write_params(request, protocol_version))


def write_params(request: Request, protocol_version: ProtocolVersion) -> dict[str, Any]:
    """Return *request*, which passed `check_expressible`, as `to_params` does.  Do not change the schema in it."""
    if isinstance(request, FormRequest):
        mode = {} if protocol_version == _OLDEST else {"mode": "form"}
        schema = _shared_schema(request.form, protocol_version)
        return {**mode, "message": request.message, "requestedSchema": schema}
    params = {"mode": "url", "message": request.message, "url": request.target.as_sent}
    if protocol_version < FIRST_MULTI_ROUND_TRIP_VERSION and request.elicitation_id is not None:
        params["elicitationId"] = request.elicitation_id
    return params


def check_expressible(request: Request, protocol_version: ProtocolVersion) -> None:
    """
    Check that `to_params` can write *request*.

    Raises:
        SchemaNotExpressibleError: As in `to_params`.
    """
    if isinstance(request, FormRequest):
        _shared_schema(request.form, protocol_version)
    elif protocol_version == _OLDEST:
        raise SchemaNotExpressibleError(("url",), protocol_version)
    elif protocol_version < FIRST_MULTI_ROUND_TRIP_VERSION and request.elicitation_id is None:
        raise SchemaNotExpressibleError(("elicitationId",), protocol_version)


def _shared_schema(form: Form, protocol_version: ProtocolVersion) -> Mapping[str, Any]:
    """Return what `to_schema` does.  It is written once for each form: servers request the same forms again."""
    schemas = schemas_of(form)
    if protocol_version not in schemas:
        schemas[protocol_version] = to_schema(form, protocol_version=protocol_version)
    return schemas[protocol_version]


def _is_expressible(field: Field, protocol_version: ProtocolVersion) -> bool:
    match field:
        case ChoiceField():
            return _type_of_options(field) is not None
        case MultiChoiceField():
            return bool(field.choices) and protocol_version != _OLDEST
        case TextField():
            return field.pattern is not None or not field.pattern_skipped
        case NumberField() | BooleanField():
            return True
        case _:
            assert_never(field)


def _property(field: Field, protocol_version: ProtocolVersion) -> dict[str, Any]:
    match field:
        case ChoiceField():
            schema = _options(field, protocol_version)
        case MultiChoiceField():
            schema = {**list_keywords_of(field), "items": _items(field)}
        case TextField():
            schema = _text(field)
        case NumberField() | BooleanField():
            schema = {**keywords_of(field)}
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


def _text(field: TextField) -> dict[str, Any]:
    schema = {keyword: value for keyword, value in keywords_of(field).items() if keyword != "format"}
    if field.format is not None:
        schema["format" if field.format in STANDARD_FORMATS else "x-format"] = field.format
    return schema


def _options(field: ChoiceField, protocol_version: ProtocolVersion) -> dict[str, Any]:
    kind = _type_of_options(field)
    schema: dict[str, Any] = {} if kind is None else {"type": kind}
    values = [choice.value for choice in field.choices]
    if not _has_titles(field):
        return {**schema, "enum": values}
    if protocol_version == _OLDEST:
        return {**schema, "enum": values, "enumNames": [choice.title for choice in field.choices]}
    return {**schema, "oneOf": _titled(field)}


def _type_of_options(field: ChoiceField) -> str | None:
    """Return the type of all options; None if there are several types, or no options."""
    types = {json_key(choice.value)[0] for choice in field.choices}
    if types == {"number"} and all(isinstance(choice.value, int) for choice in field.choices):
        return "integer"
    return types.pop() if len(types) == 1 else None


def _items(field: MultiChoiceField) -> dict[str, Any]:
    if not field.choices:
        return _text(field.item or TextField(name="", title=""))
    if _has_titles(field):
        return {"anyOf": _titled(field)}
    return {"type": "string", "enum": [choice.value for choice in field.choices]}


def _titled(field: ChoiceField | MultiChoiceField) -> list[dict[str, Any]]:
    return [{"const": choice.value, "title": choice.title} for choice in field.choices]


def _has_titles(field: ChoiceField | MultiChoiceField) -> bool:
    limit = DEFAULT_LIMITS.max_option_title
    return any(choice.title != value_as_title(choice.value, limit) for choice in field.choices)
