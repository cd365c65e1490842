"""From one property of a schema to a field that a person can answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, TypeAlias, TypeVar

from mcp_elicit_client.core.diagnostics import Diagnostic, DiagnosticCode
from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.schema.bounds import count, number_limits
from mcp_elicit_client.core.schema.enums import Report, items_with_names, named_options, options_of
from mcp_elicit_client.core.schema.unwrapping import UnsupportedSchemaError, unwrap_schema
from mcp_elicit_client.core.text import is_plain, is_unicode, sanitize_text
from mcp_elicit_client.core.validation.content import to_json_value, validate_field

_RULES_NOT_CHECKED = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "contains"})
_MAX_FORMAT = 64

_Named: TypeAlias = dict[tuple[str, object], dict[str, object]]
F = TypeVar("F", ChoiceField, MultiChoiceField)


@dataclass
class SchemaParser:
    """One pass over one schema."""

    root: Mapping[str, Any]
    limits: Limits
    problems: list[Diagnostic] = dataclass_field(default_factory=list)

    def report(self, code: DiagnosticCode, message: str, field: str | None = None) -> None:
        if field is not None and not is_unicode(field):
            field = sanitize_text(field, limit=self.limits.max_name, multiline=False)
        self.problems.append(Diagnostic(code=code, message=message, field=field))

    def sanitize(self, text: object, limit: int, what: str, field: str, *, multiline: bool = False) -> str:
        if not isinstance(text, str):
            return ""
        if len(text) <= limit and is_plain(text):
            return text.strip()
        if len(text) > limit:
            self.report("truncated", f"its {what} was longer than {limit} characters", field)
        return sanitize_text(text.strip(), limit=limit, multiline=multiline)


def parse_field(name: str, schema: object, parser: SchemaParser, *, required: bool) -> Field:
    """
    Read one property.

    Raises:
        UnanswerableError: If nobody could answer it.
    """

    def note(code: DiagnosticCode, message: str) -> None:
        parser.report(code, message, name)

    if schema is True:
        schema = {}
    if not isinstance(schema, dict):
        raise UnsupportedSchemaError("allows no answer")
    schema, nullable = unwrap_schema(schema, parser.root, parser.limits, note)
    limits = parser.limits
    common: dict[str, Any] = {
        "name": name,
        "title": parser.sanitize(schema.get("title"), limits.max_title, "title", name)
        or sanitize_text(name, limit=limits.max_title, multiline=False).strip()
        or "(no name)",
        "description": parser.sanitize(
            schema.get("description"), limits.max_description, "description", name, multiline=True
        ),
        "required": required,
        "nullable": nullable,
    }
    field = _field_of_kind(schema, common, limits, note)
    return _with_default(field, schema.get("default"), limits, note)


def _with_default(field: Field, default: object, limits: Limits, note: Report) -> Field:
    """Give *field* its default, if it fits; it is one, also if it is falsy."""
    if default is None:
        return field
    errors = validate_field(field, default, limits)
    if errors:
        note("default_dropped", f"its default does not fit it: {errors[0].message}")
        return field
    value = to_json_value(field, default)
    # In place of a copy, which costs more than all the rest: nobody else has seen this field yet.
    field.__dict__["default"] = tuple(value) if isinstance(value, list) else value
    return field


def _field_of_kind(schema: Mapping[str, Any], common: Mapping[str, Any], limits: Limits, note: Report) -> Field:
    kind = schema.get("type")
    options = None if kind == "array" else options_of(schema, note)
    if options is not None:
        named = _choices(options, kind, limits, note)
        return _indexed(ChoiceField.model_validate({**common, "choices": list(named.values())}), named)
    if kind is None:
        kind = _guess_type(schema)
        note("type_guessed", f"it has no type; {kind} is asked for")
    if not _RULES_NOT_CHECKED.isdisjoint(schema):
        for rule in sorted(_RULES_NOT_CHECKED.intersection(schema)):
            note("rule_not_checked", f"its {rule} is not checked here")
    match kind:
        case "string":
            return TextField.model_validate({**common, **_text_limits(schema, limits, note)})
        case "number" | "integer":
            bounds = _number_limits(schema, limits, note, integer=kind == "integer")
            return NumberField.model_validate({**common, **bounds})
        case "boolean":
            return BooleanField.model_validate(common)
        case "array":
            return _list_field(schema, common, limits, note)
        case _:
            raise UnsupportedSchemaError("asks for something that no answer can carry")


def _guess_type(schema: Mapping[str, Any]) -> str:
    def has(*keywords: str) -> bool:
        return any(keyword in schema for keyword in keywords)

    if has("properties", "additionalProperties", "patternProperties"):
        return "object"
    if has("items", "minItems", "maxItems", "uniqueItems"):
        return "array"
    if has("minLength", "maxLength", "pattern", "format"):
        return "string"
    if has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
        return "number"
    match schema.get("default"):
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case list():
            return "array"
        case _:
            return "string"


def _choices(options: Sequence[tuple[object, object]], kind: object, limits: Limits, note: Report) -> _Named:
    if len(options) > limits.max_options:
        raise UnsupportedSchemaError(f"has {len(options)} options; at most {limits.max_options} can be shown")
    choices = named_options(options, kind, limits, note)
    if not choices:
        raise UnsupportedSchemaError("has no option that an answer can carry")
    return choices


def _indexed(field: F, named: _Named) -> F:
    """Give *field* the index of its options, which is known already and costs time to find."""
    field.__dict__["by_key"] = dict(zip(named, field.choices, strict=True))
    return field


def _text_limits(schema: Mapping[str, Any], limits: Limits, note: Report) -> dict[str, Any]:
    least, most = count(schema, "minLength", note), count(schema, "maxLength", note)
    if least is not None and ((most is not None and least > most) or least > limits.max_answer):
        raise UnsupportedSchemaError("asks for a longer text than can be sent")
    pattern, skipped = _pattern(schema, limits, note)
    format_ = schema.get("format")
    if format_ is not None and (not isinstance(format_, str) or len(format_) > _MAX_FORMAT):
        note("limit_ignored", "its format is not a word")
        format_ = None
    return {
        "min_length": least,
        "max_length": most,
        "pattern": pattern,
        "pattern_skipped": skipped,
        "format": sanitize_text(format_, multiline=False) if format_ else None,
    }


def _pattern(schema: Mapping[str, Any], limits: Limits, note: Report) -> tuple[str | None, str]:
    """Read a pattern; or None, and why it is not checked."""
    pattern = schema.get("pattern")
    if pattern is None:
        return None, ""
    if not isinstance(pattern, str):
        note("limit_ignored", "its pattern is not a text")
        return None, ""
    if not limits.check_patterns:
        skipped = "patterns are turned off"
    elif len(pattern) > limits.max_pattern:
        skipped = f"the pattern is longer than {limits.max_pattern} characters"
    elif not is_unicode(pattern):
        skipped = "the pattern is not valid Unicode"
    else:
        return pattern, ""
    note("pattern_not_checked", skipped)
    return None, skipped


def _number_limits(schema: Mapping[str, Any], limits: Limits, note: Report, *, integer: bool) -> dict[str, Any]:
    bounds = number_limits(schema, limits, note, integer=integer)
    if bounds.is_empty():
        raise UnsupportedSchemaError("asks for a number that does not exist or cannot be sent exactly")
    return {"integer": integer, **bounds.as_limits()}


def _list_field(schema: Mapping[str, Any], common: Mapping[str, Any], limits: Limits, note: Report) -> Field:
    least, most = count(schema, "minItems", note), count(schema, "maxItems", note)
    unique = schema.get("uniqueItems") is True
    items = schema.get("items", True)
    if "prefixItems" in schema or isinstance(items, list):
        raise UnsupportedSchemaError("asks for a list whose places differ")
    if items is False:
        raise UnsupportedSchemaError("asks for a list that can only be empty")
    if isinstance(items, dict):
        items = items_with_names(schema)
    choices, item = _items({} if items is True else items, limits, note)
    possible = len(choices) if choices and unique else None
    if least is not None and any(bound is not None and least > bound for bound in (most, possible)):
        raise UnsupportedSchemaError("asks for more values than it allows")
    field = MultiChoiceField.model_validate(
        {
            **common,
            "choices": list(choices.values()),
            "item": item,
            "min_items": least,
            "max_items": most,
            "unique": unique,
        }
    )
    return _indexed(field, choices)


def _items(items: object, limits: Limits, note: Report) -> tuple[_Named, TextField | None]:
    """Read what a list is of: options, or texts of one kind."""
    if not isinstance(items, dict):
        raise UnsupportedSchemaError("asks for a list that no answer can carry")
    options = options_of(items, note)
    if options is not None:
        choices = _choices(options, items.get("type"), limits, note)
        if not all(isinstance(choice["value"], str) for choice in choices.values()):
            raise UnsupportedSchemaError("asks for a list of options that are not texts")
        return choices, None
    if items.get("type", _guess_type(items)) != "string":
        raise UnsupportedSchemaError("asks for a list of something else than texts")
    return {}, TextField(name="", title="", **_text_limits(items, limits, note))
