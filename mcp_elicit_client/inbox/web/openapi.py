"""`describe_api`: the OpenAPI description of the app, with the JSON Schemas of everything that it sends and accepts."""

from __future__ import annotations

import functools
import importlib.resources
import json
from typing import Any

from pydantic import TypeAdapter

from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.inbox.records import Entry, EntryPage
from mcp_elicit_client.presentation.warnings import RequestWarning
from mcp_elicit_client.typing import FormRequest, UrlRequest

_REFERENCE = "#/components/schemas/"
_SENT = (Entry, EntryPage, FormRequest, RequestWarning, UrlRequest, ValidationResult)


@functools.cache
def describe_api() -> dict[str, Any]:
    """Return the OpenAPI description, as JSON."""
    text = (importlib.resources.files(__package__) / "openapi.json").read_text(encoding="utf-8")
    description: dict[str, Any] = json.loads(text)
    description["components"]["schemas"] |= _schemas()
    return description


def _schemas() -> dict[str, Any]:
    """Return the schemas of what is sent, by name."""
    adapters: list[tuple[str, Any, TypeAdapter[Any]]] = [
        (model.__name__, "serialization", TypeAdapter(model)) for model in _SENT
    ]
    _, found = TypeAdapter.json_schemas(adapters, ref_template=f"{_REFERENCE}{{model}}")
    schemas: dict[str, Any] = found["$defs"]
    for name in ("FormRequest", "UrlRequest"):
        schemas[name]["properties"].pop("meta")  # see `write_request`
    entry = schemas["Entry"]["properties"]
    requests = [{"$ref": f"{_REFERENCE}{name}"} for name in ("FormRequest", "UrlRequest")]
    entry["request"] = {"oneOf": requests, "discriminator": {"propertyName": "mode"}}
    entry["warnings"] = {"type": "array", "items": {"$ref": f"{_REFERENCE}RequestWarning"}}
    entry["answer_schema"] = {"anyOf": [{"$ref": f"{_REFERENCE}RequestedSchema"}, {"type": "null"}]}
    for schema in schemas.values():
        if "properties" in schema:
            schema["required"] = list(schema["properties"])  # Defaults are sent.
    return schemas
