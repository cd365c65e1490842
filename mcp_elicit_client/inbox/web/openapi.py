"""The endpoints in the words of OpenAPI."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.inbox.entries import Entry, EntryPage

_ANSWER = {
    "type": "object",
    "required": ["action"],
    "properties": {
        "action": {"enum": ["accept", "decline", "cancel", "check"]},
        "content": {"type": ["object", "null"]},
        "block_server": {"type": "boolean"},
        "confirmed": {"type": "boolean"},
    },
}


def openapi() -> dict[str, Any]:
    """Return the OpenAPI description, as JSON."""
    _, schemas = models_json_schema(
        [(model, "serialization") for model in (Entry, EntryPage, ValidationResult)],
        ref_template="#/components/schemas/{model}",
    )
    where = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    after = [{"name": "after", "in": "query", "schema": {"type": "string"}}]
    valid, invalid = _reply("The answer counts, or would.", "Validation"), _reply("It does not fit.", "Validation")
    missing, closed = {"description": "There is no such question."}, {"description": "The question no longer waits."}
    body = {"required": True, "content": {"application/json": {"schema": _ANSWER}}}
    post = {
        "summary": "Answer a question, or check an answer.",
        "parameters": where,
        "requestBody": body,
        "responses": {"200": valid, "404": missing, "409": closed, "422": invalid},
    }
    events = {"description": "Events called entry.", "content": {"text/event-stream": {}}}
    paths: dict[str, Any] = {
        "/": {"get": _get("The questions that wait.", "Page", after)},
        "/history": {"get": _get("The questions that no longer wait.", "Page", after)},
        "/events": {"get": {"summary": "What comes and changes.", "responses": {"200": events}}},
        "/{id}": {"get": _get("One question.", "Entry", where), "post": post},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Inbox of questions", "version": "1"},
        "paths": paths,
        "components": {"schemas": schemas["$defs"]},
    }


def _get(summary: str, model: str, parameters: Any) -> dict[str, Any]:
    return {"summary": summary, "parameters": parameters, "responses": {"200": _reply(summary, model)}}


def _reply(description: str, model: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{model}"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}
