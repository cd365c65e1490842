"""The five questions, as params of ``elicitation/create``, and their answers."""

from __future__ import annotations

from typing import Any

NAME = "Ada"
"""What is typed into the text field."""

FORM: dict[str, Any] = {
    "name": {"type": "string", "title": "Name", "default": "Ada Lovelace"},
    "email": {"type": "string", "title": "Email", "format": "email", "default": "ada@example.com"},
    "date": {"type": "string", "title": "Date", "format": "date", "default": "2026-12-24"},
    "guests": {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 8, "default": 4},
    "tip": {"type": "number", "title": "Tip", "minimum": 0, "default": 7.5},
    "window": {"type": "boolean", "title": "Window", "default": True},
    "dish": {"type": "string", "title": "Dish", "enum": ["Pizza", "Pasta", "Salad"], "default": "Pizza"},
    "note": {"type": "string", "title": "Note", "default": "none"},
}

QUESTIONS: dict[str, dict[str, Any]] = {
    "confirm": {"message": "Delete table 4?", "requestedSchema": {"type": "object", "properties": {}}},
    "boolean": {
        "message": "One question.",
        "requestedSchema": {
            "type": "object",
            "properties": {"window": {"type": "boolean", "title": "Window"}},
            "required": ["window"],
        },
    },
    "text": {
        "message": "One question.",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "title": "Name"}},
            "required": ["name"],
        },
    },
    "form": {
        "message": "A table for you.",
        "requestedSchema": {"type": "object", "properties": FORM, "required": [*FORM]},
    },
    "url": {"mode": "url", "message": "The deposit.", "url": "https://example.com/deposit", "elicitationId": "1"},
}

ANSWERS: dict[str, Any] = {
    "confirm": True,
    "boolean": {"window": True},
    "text": {"name": NAME},
    "form": {name: field["default"] for name, field in FORM.items()},
    "url": True,
}
