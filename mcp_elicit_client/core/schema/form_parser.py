"""
From a server's schema to a form: strict about danger, liberal about shape.

What the specification forbids and servers send all the same becomes a field
where a person could answer it.  What nobody could answer is left out if it is
optional, and makes the whole request unanswerable if it is required.
Nothing is fetched: a ``$ref`` is followed within the schema or not at all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Field, Form
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.schema.field_parser import SchemaParser, parse_field
from mcp_elicit_client.core.schema.unwrapping import UnsupportedSchemaError, unwrap_schema
from mcp_elicit_client.core.text import is_unicode, sanitize_text
from mcp_elicit_client.exceptions import RequestError

_RULES_BETWEEN_FIELDS = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas", "minProperties"}
)


def parse_form(schema: object, limits: Limits) -> tuple[Form, tuple[Diagnostic, ...]]:
    """
    Read the form that *schema* describes.

    Returns:
        The form, and what was wrong but survivable.

    Raises:
        RequestError: If *schema* describes no form, or one that nobody could
            fill in.
    """
    if schema is None:
        missing = Diagnostic(code="schema_missing", message="there is no requestedSchema; the user is asked to confirm")
        return Form(), (missing,)
    if not isinstance(schema, dict):
        raise RequestError("requestedSchema must be an object")
    parser = SchemaParser(schema, limits)
    try:
        opened, _ = unwrap_schema(schema, schema, limits, lambda _code, _message: None)
    except UnsupportedSchemaError as error:
        raise RequestError(f"requestedSchema {error}") from None
    return _form(opened, parser), tuple(parser.problems)


def _form(schema: Mapping[str, Any], parser: SchemaParser) -> Form:
    if schema.get("type", "object") != "object":
        raise RequestError('requestedSchema must have the type "object"')
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise RequestError("requestedSchema.properties must be an object")
    required = _required(schema.get("required", []), properties, parser)
    names = [*properties, *(name for name in required if name not in properties)]
    if len(names) > parser.limits.max_fields:
        raise RequestError(f"the form has {len(names)} fields; at most {parser.limits.max_fields} can be shown")
    for rule in sorted(_RULES_BETWEEN_FIELDS.intersection(schema)):
        parser.report("rule_not_checked", f"the form's {rule} is not checked here")
    closed = schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False

    fields: list[Field] = []
    left_out: list[str] = []
    alike: set[str] = set()
    for name in names:
        described = properties.get(name, not closed)
        field = _field_or_none(name, described, alike, parser, required=name in required)
        if field is not None:
            fields.append(field)
        elif is_unicode(name):
            left_out.append(name)
    return Form(fields=tuple(fields), unsupported_fields=tuple(left_out), rejects_unknown_fields=closed)


def _field_or_none(name: str, schema: object, alike: set[str], parser: SchemaParser, *, required: bool) -> Field | None:
    """Read one property; None if it is to be left out."""
    try:
        _check_name(name, alike, parser.limits)
        return parse_field(name, schema, parser, required=required)
    except UnsupportedSchemaError as error:
        if required:
            shown = sanitize_text(name, limit=parser.limits.max_name, multiline=False)
            raise RequestError(f'the required field "{shown}" {error}', field=name) from None
        parser.report("unsupported_field", f"it {error}", name)
        return None


def _required(required: object, properties: Mapping[str, Any], parser: SchemaParser) -> dict[str, None]:
    """Read the names of required fields, in order, as the keys of a dictionary."""
    if not isinstance(required, list):
        parser.report("required_ignored", '"required" is not a list of names')
        return {}
    names = dict.fromkeys(each for each in required if isinstance(each, str))
    if len(names) < len(required):
        parser.report("required_ignored", '"required" names something twice, or something that is no name')
    for name in names:
        if name not in properties:
            parser.report("undeclared_field", "it is required but not described; any text is taken", name)
    return names


def _check_name(name: str, alike: set[str], limits: Limits) -> None:
    if len(name) > limits.max_name:
        raise UnsupportedSchemaError(f"has a name of more than {limits.max_name} characters")
    if not is_unicode(name):
        raise UnsupportedSchemaError("has a name that is not valid Unicode")
    normal = name if name.isascii() else unicodedata.normalize("NFKC", name)
    if normal in alike:
        raise UnsupportedSchemaError("has a name that looks like another field's")
    alike.add(normal)
