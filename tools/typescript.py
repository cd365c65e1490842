"""
Write the TypeScript types of the JSON that the inbox sends and accepts.

``python -m tools.typescript`` writes them beside the script of the element
`<mcp-elicitation>`, from the OpenAPI description of the inbox.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcp_elicit_client.inbox.web.openapi import describe_api

FILE = Path(__file__).parent.parent / "mcp_elicit_client" / "inbox" / "web" / "static" / "mcp-elicitation.d.ts"

_HEAD = """// Types of the JSON of the inbox, and of the element <mcp-elicitation>.
// Written by `python -m tools.typescript`.

"""

_ELEMENT = """/** The detail of the event `elicitation-change`: the request that is shown; all empty for a list. */
export interface ElicitationChange {
  id: string;
  state: Entry["state"] | "";
  action: NonNullable<Entry["action"]> | "";
}

/** The detail of the event `elicitation-error`: the inbox refused, or could not be reached. */
export interface ElicitationError {
  status?: number;
  error?: unknown;
}

/** The element that shows one request, or the list. */
export interface MCPElicitationElement extends HTMLElement {
  /** Sent as `Authorization: Bearer ...`. */
  token?: string;
  /** Reaches the inbox, in place of `fetch`.  Set it before the element is connected. */
  transport: typeof fetch;
  /** Show the request or the list again.  What the user is entering is kept. */
  load(): Promise<void>;
}

declare global {
  interface HTMLElementTagNameMap {
    "mcp-elicitation": MCPElicitationElement;
  }
  interface HTMLElementEventMap {
    "elicitation-change": CustomEvent<ElicitationChange>;
    "elicitation-error": CustomEvent<ElicitationError>;
  }
}
"""

_SIMPLE = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}


def types() -> str:
    """Return the text of the file."""
    schemas = describe_api()["components"]["schemas"]
    declarations = ["\n".join(_declaration(name, schemas[name])) for name in sorted(schemas)]
    return f"{_HEAD}{chr(10).join(declarations)}\n{_ELEMENT}"


def _declaration(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    about = schema.get("description", "").partition("\n\n")[0].replace("\n", " ").replace("``", "`")
    if about:
        yield f"/** {about.replace('*/', '* /')} */"
    if "properties" in schema:
        yield f"export interface {name} {_object(schema, '')}"
    else:
        yield f"export type {name} = {_type(schema, '')};"
    yield ""


def _type(schema: Mapping[str, Any], indent: str) -> str:
    """Return the type of the values that *schema* accepts."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return _union([_type(each, indent) for each in schema[keyword]])
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return _union([_type_of_kind(kind, schema, indent) for kind in kinds]) if kinds else "unknown"


def _type_of_kind(kind: str, schema: Mapping[str, Any], indent: str) -> str:
    if kind == "array":
        return _array(schema, indent)
    return _object(schema, indent) if kind == "object" else _SIMPLE[kind]


def _union(members: list[str]) -> str:
    return " | ".join(dict.fromkeys(members))


def _array(schema: Mapping[str, Any], indent: str) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(each, indent) for each in schema['prefixItems'])}]"
    item = _type(schema.get("items", {}), indent)
    return f"({item})[]" if " | " in item else f"{item}[]"


def _object(schema: Mapping[str, Any], indent: str) -> str:
    if "properties" not in schema:
        values = schema.get("additionalProperties", {})
        return f"{{ [name: string]: {_type(values, indent) if isinstance(values, Mapping) else 'unknown'} }}"
    required, inner = schema.get("required", ()), f"{indent}  "
    members = []
    for name, each in schema["properties"].items():
        key = name if name.isidentifier() else json.dumps(name)
        members.append(f"{inner}{key}{'' if name in required else '?'}: {_type(each, inner)};")
    return "\n".join(["{", *members, f"{indent}}}"])


if __name__ == "__main__":
    FILE.write_text(types(), encoding="utf-8")
