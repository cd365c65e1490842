"""Requests made to exhaust whoever reads them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

PAYLOADS: dict[str, Callable[[], dict[str, Any]]] = {
    "10 MB message": lambda: {"message": "x" * 10_000_000, "requestedSchema": {"properties": {}}},
    "10 MB of escapes": lambda: {"message": "\x1b" * 200_000, "requestedSchema": {"properties": {}}},
    "100 000 properties": lambda: _form({"properties": {f"f{at}": {"type": "string"} for at in range(100_000)}}),
    "1 000 000 options": lambda: _form({"properties": {"a": {"enum": ["x"] * 1_000_000}}}),
    "100 000 titled options": lambda: _form(
        {"properties": {"a": {"oneOf": [{"const": str(at), "title": "t"} for at in range(100_000)]}}}
    ),
    "nested 5 000 deep": lambda: _form({"properties": {"a": _nested(5_000)}}),
    "nested 5 000 deep in _meta": lambda: {**_form({"properties": {}}), "_meta": _nested(5_000)},
    "lists nested 5 000 deep": lambda: _form({"properties": {"a": {"enum": _nested_lists(5_000)}}}),
    "lone surrogates": lambda: {"message": "\ud800" * 100, "requestedSchema": {"properties": {"\ud800": {}}}},
    "NaN": lambda: _form({"properties": {"a": {"type": "number", "minimum": math.nan, "default": math.nan}}}),
    "1e400": lambda: _form({"properties": {"a": {"type": "number", "minimum": -math.inf, "maximum": math.inf}}}),
    "1e400 as the least": lambda: _form({"properties": {"a": {"type": "integer", "minimum": math.inf}}}),
    "NaN as an option": lambda: _form({"properties": {"a": {"enum": [math.nan, "x"]}}}),
    "10 000 digits": lambda: _form(
        {
            "properties": {
                "a": {"type": "integer", "maximum": 10**10_000, "default": 10**10_000, "minLength": 10**10_000}
            }
        }
    ),
    "10 000 digits as an option": lambda: _form({"properties": {"a": {"enum": [10**10_000, 1]}}}),
    "10 000 digits as a count": lambda: _form(
        {"properties": {"a": {"type": "string", "minLength": 10**10_000, "maxLength": 10**10_000}}}
    ),
    "names with controls": lambda: _form({"properties": {"\x1b[2J\n": {"type": "string"}}}),
    "$ref to http": lambda: _form({"properties": {"a": {"$ref": "http://127.0.0.1:1/x"}, "b": {}}}),
    "$ref to file": lambda: _form({"properties": {"a": {"$ref": "file:///etc/passwd"}, "b": {}}}),
    "allOf doubled 22 times": lambda: _form(
        {
            "properties": {"a": {"$ref": "#/$defs/d0"}},
            "$defs": {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(22)},
        }
    ),
    "a union of unions": lambda: _form(
        {
            "properties": {f"f{at}": {"$ref": "#/$defs/d0"} for at in range(64)},
            "$defs": {f"d{at}": {"anyOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 500} for at in range(5)},
        }
    ),
    "a long pattern": lambda: _form({"properties": {"a": {"type": "string", "pattern": "(" * 100_000}}}),
    "an endless space": lambda: {"message": " " * 200_000 + "\n" * 50_000, "requestedSchema": {}},
    "a long url": lambda: {"mode": "url", "message": "m", "url": "https://example.com/" + "a" * 200_000},
    "a url of dots": lambda: {"mode": "url", "message": "m", "url": "https://" + "a." * 1_000 + "-"},
}


def _form(schema: object) -> dict[str, Any]:
    return {"message": "m", "requestedSchema": schema}


def _nested(depth: int) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for _ in range(depth):
        nested = {"properties": {"a": nested}}
    return nested


def _nested_lists(depth: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested
