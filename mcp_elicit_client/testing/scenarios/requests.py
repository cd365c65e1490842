"""The requests of the scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HOST = "login.example"
URL = f"https://{HOST}/authorise?ticket=4711"
NAME_FIELD: Mapping[str, Any] = {"type": "string", "title": "Your name"}


def form_params(*required: str, message: str = "Please fill this in", **properties: Any) -> dict[str, Any]:
    """Return the params of a form; its properties are passed by keyword."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"mode": "form", "message": message, "requestedSchema": schema}


def url_params(url: str = URL, message: str = "Please sign in") -> dict[str, Any]:
    """Return the params of a request in URL mode."""
    return {"mode": "url", "message": message, "url": url, "elicitationId": "4711"}


NAME_FORM = form_params("name", name=NAME_FIELD)
"""A form with one required field, ``name``."""

CONFIRMATION = form_params(message="Delete all 4711 files?")
"""A form without fields."""

REQUESTS: Mapping[str, Mapping[str, Any]] = {"form": NAME_FORM, "url": url_params(), "confirmation": CONFIRMATION}
"""Requests by the names that the data files use."""
