"""What the demo server asks: every kind of field, every spelling of options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SIZES = ["small", "medium", "large"]
_DAYS = [("fri", "Friday"), ("sat", "Saturday"), ("sun", "Sunday")]

BOOKING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 50, "default": "Ada Lovelace"},
        "email": {
            "type": "string",
            "title": "E-mail",
            "description": "Where the confirmation goes",
            "format": "email",
            "default": "ada@example.com",
        },
        "website": {"type": "string", "title": "Your website", "format": "uri"},
        "birthday": {"type": "string", "title": "Birthday", "description": "For a small surprise", "format": "date"},
        "arrival": {
            "type": "string",
            "title": "Arrival",
            "format": "date-time",
            "default": "2026-12-24T19:30:00+01:00",
        },
        "guests": {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 12, "default": 2},
        "tip": {"type": "number", "title": "Tip in percent", "minimum": 0, "maximum": 100, "default": 7.5},
        "terrace": {"type": "boolean", "title": "On the terrace?", "default": False},
        "dish": {"type": "string", "title": "Dish", "enum": ["pizza", "pasta", "salad"], "default": "pizza"},
        "size": {
            "type": "string",
            "title": "Size",
            "oneOf": [{"const": size, "title": size.capitalize()} for size in _SIZES],
            "default": "medium",
        },
        "heat": {
            "type": "string",
            "title": "How hot?",
            "enum": ["0", "1"],
            "enumNames": ["Mild", "Hot"],
            "default": "0",
        },
        "toppings": {
            "type": "array",
            "title": "Toppings",
            "items": {"type": "string", "enum": ["basil", "olives", "capers"]},
            "maxItems": 2,
            "default": ["basil"],
        },
        "days": {
            "type": "array",
            "title": "Days that suit you",
            "items": {"anyOf": [{"const": day, "title": title} for day, title in _DAYS]},
            "minItems": 1,
            "default": ["sat"],
        },
    },
    "required": ["name", "guests", "days"],
}

QUESTIONS: Mapping[str, dict[str, Any]] = {
    "book_table": {
        "mode": "form",
        "message": "Welcome!  A few questions, and your table is booked.",
        "requestedSchema": BOOKING,
    },
    "confirm_booking": {
        "mode": "form",
        "message": "A table for two on Saturday at 19:30.  Shall I book it?",
        "requestedSchema": {"type": "object", "properties": {}},
    },
    "pay_deposit": {
        "mode": "url",
        "message": "Please pay the deposit of 20 EUR on our payment page.",
        "url": "https://pay.example.com/deposit?table=7",
        "elicitationId": "deposit-7",
    },
}
"""The params of the one question that each tool asks."""
