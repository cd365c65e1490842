"""The elicitation messages of ACP, as they are on the wire, and as MCP servers send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.typing import Mode

CREATE = "elicitation/create"
COMPLETE = "elicitation/complete"
CANCEL_REQUEST = "$/cancel_request"
CANCEL_SESSION = "session/cancel"
PROMPT = "session/prompt"
INITIALIZE = "initialize"

INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601
REQUEST_CANCELLED = -32800

WireMessage: TypeAlias = Mapping[str, Any]
"""A message of JSON-RPC."""


def declared_modes(message: WireMessage) -> frozenset[Mode]:
    """Return the modes that the client declares in the ``initialize`` request *message*; an empty object is none."""
    params = as_mapping(message.get("params"))
    capabilities = as_mapping(params.get("clientCapabilities", params.get("capabilities")))
    declared = as_mapping(capabilities.get("elicitation"))
    modes: tuple[Mode, ...] = ("form", "url")
    return frozenset(mode for mode in modes if isinstance(declared.get(mode), Mapping))


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return *value* if it is an object of JSON, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def to_mcp_params(params: WireMessage, declared: frozenset[Mode]) -> dict[str, Any]:
    """
    Return *params* as those of an MCP server.

    Raises:
        RequestError: If ACP does not allow them, or their mode was not
            declared.
    """
    mode = params.get("mode")
    if mode not in ("form", "url"):
        raise RequestError('`mode` must be "form" or "url"')
    if mode not in declared:
        raise RequestError(f"this client did not declare {mode} mode")
    if not isinstance(params.get("sessionId"), str) and "requestId" not in params:
        raise RequestError("`sessionId` or `requestId` is missing")
    wire = {name: params[name] for name in ("message", "mode", "_meta") if name in params}
    if mode == "url":
        if not isinstance(params.get("elicitationId"), str):
            raise RequestError("`elicitationId` must be a string")
        return {**wire, "url": params.get("url"), "elicitationId": params["elicitationId"]}
    schema = params.get("requestedSchema")
    if not isinstance(schema, dict):
        raise RequestError("`requestedSchema` must be an object")
    about = [text for name in ("title", "description") if isinstance(text := schema.get(name), str) and text.strip()]
    if isinstance(wire.get("message"), str):
        wire["message"] = "\n".join((wire["message"], *about))
    properties = schema.get("properties")
    if isinstance(properties, dict):
        schema = {**schema, "properties": {name: _described(each) for name, each in properties.items()}}
    return {**wire, "requestedSchema": schema}


def _described(schema: Any) -> Any:
    """Return the *schema* of a field with the descriptions of its options, which MCP has not, in their titles."""
    if not isinstance(schema, dict):
        return schema
    items = schema.get("items")
    if isinstance(items, dict):
        schema = {**schema, "items": _with_descriptions(items)}
    return _with_descriptions(schema)


def _with_descriptions(schema: dict[str, Any]) -> dict[str, Any]:
    options = {name: schema[name] for name in ("oneOf", "anyOf") if isinstance(schema.get(name), list)}
    described = {name: [_with_description(each) for each in listed] for name, listed in options.items()}
    return {**schema, **described}


def _with_description(option: Any) -> Any:
    if not isinstance(option, dict) or not isinstance(option.get("description"), str) or "const" not in option:
        return option
    title = option.get("title", option["const"])
    return {**option, "title": f"{title}: {option['description']}"}
