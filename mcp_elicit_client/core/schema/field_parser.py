"""Reading one property of a schema into a field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, TypeAlias, TypeVar

from mcp_elicit_client.core.diagnostics import Diagnostic, DiagnosticCode
from mcp_elicit_client.core.form import (
    BooleanField,
    ChoiceField,
    Field,
    MultiChoiceField,
    NumberField,
    TextField,
    text_constraints,
)
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.schema.bounds import NUMBER_KEYWORDS, number_limits
from mcp_elicit_client.core.schema.enums import ENUM_KEYWORDS, Report, items_with_names, named_options, options_of
from mcp_elicit_client.core.schema.unwrapping import UnsupportedSchemaError, unwrap_schema
from mcp_elicit_client.core.text import is_plain, is_unicode, sanitize_text
from mcp_elicit_client.core.validation.content import to_json_value, validate_field

_RULES_NOT_CHECKED = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "contains"})
WRAPPERS = frozenset({"$ref", "allOf", "items"})
_MAX_FORMAT = 64
_MAX_COUNT = 2**1000

_Named: TypeAlias = dict[tuple[str, object], dict[str, object]]
F = TypeVar("F", ChoiceField, MultiChoiceField)


@dataclass
class SchemaParser:
    """
    Reads one schema, and collects what was wrong with it.

    Attributes:
        root: The whole schema, in which references are resolved.
        limits: Maximum sizes and counts.
        diagnostics: Non-fatal findings.
    """

    root: Mapping[str, Any]
    limits: Limits
    diagnostics: list[Diagnostic] = dataclass_field(default_factory=list)

    def report(self, code: DiagnosticCode, message: str, field: str | None = None) -> None:
        """Add a diagnostic."""
        if field is not None and not is_unicode(field):
            field = sanitize_text(field, limit=self.limits.max_name, multiline=False)
        self.diagnostics.append(Diagnostic(code=code, message=message, field=field))

    def sanitize(self, text: object, limit: int, what: str, field: str, *, multiline: bool = False) -> str:
        """Return *text* sanitized and cut to *limit* characters; empty if it is no text."""
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
        UnsupportedSchemaError: If it cannot be answered.
    """

    def report(code: DiagnosticCode, message: str) -> None:
        parser.report(code, message, name)

    if schema is True:
        schema = {}
    if not isinstance(schema, dict):
        raise UnsupportedSchemaError("allows no answer")
    limits = parser.limits
    nullable = schema.get("nullable") is True
    if not (isinstance(schema.get("type"), str) and WRAPPERS.isdisjoint(schema)):
        schema, allows_null = unwrap_schema(schema, parser.root, limits, report)
        nullable |= allows_null
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
    field = _field_of_kind(schema, common, limits, report)
    return _with_default(field, schema.get("default"), limits, report)


def _with_default(field: Field, default: object, limits: Limits, report: Report) -> Field:
    """Return *field* with its default, if that is valid.  A default that has a pattern stays unchecked."""
    if default is None:
        return field
    errors = validate_field(field, default, limits)
    if errors:
        report("default_dropped", f"its default is not valid: {errors[0].message}")
        return field
    value = to_json_value(field, default)
    text = text_constraints(field)
    is_checked = text is None or text.pattern is None or bool(text.pattern_skipped)
    # Set in place: a copy would cost more than all the rest, and no one else has seen this field yet.
    field.__dict__["default" if is_checked else "unchecked_default"] = (
        tuple(value) if isinstance(value, list) else value
    )
    return field


def _field_of_kind(schema: Mapping[str, Any], common: Mapping[str, Any], limits: Limits, report: Report) -> Field:
    kind = schema.get("type")
    options = None if kind == "array" or ENUM_KEYWORDS.isdisjoint(schema) else options_of(schema, report)
    if options is not None:
        named = _choices(options, kind, limits, report)
        return _indexed(ChoiceField.model_validate({**common, "choices": list(named.values())}), named)
    if kind is None:
        kind = _guess_type(schema)
        report("type_guessed", f"it has no type; {kind} is asked for")
    if not _RULES_NOT_CHECKED.isdisjoint(schema):
        for rule in sorted(_RULES_NOT_CHECKED.intersection(schema)):
            report("rule_not_checked", f"its {rule} is not checked here")
    match kind:
        case "string":
            return TextField.model_validate({**common, **_text_limits(schema, limits, report)})
        case "number" | "integer":
            bounds = _number_limits(schema, limits, report, integer=kind == "integer")
            return NumberField.model_validate({**common, **bounds})
        case "boolean":
            return BooleanField.model_validate(common)
        case "array":
            return _list_field(schema, common, limits, report)
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


def _choices(options: Sequence[tuple[object, object]], kind: object, limits: Limits, report: Report) -> _Named:
    if len(options) > limits.max_options:
        raise UnsupportedSchemaError(f"has {len(options)} options; at most {limits.max_options} can be shown")
    choices = named_options(options, kind, limits, report)
    if not choices:
        raise UnsupportedSchemaError("has no option that an answer can carry")
    return choices


def _indexed(field: F, named: _Named) -> F:
    """Return *field* with the index of its options, which is known here."""
    field.__dict__["by_key"] = dict(zip(named, field.choices, strict=True))
    return field


def _text_limits(schema: Mapping[str, Any], limits: Limits, report: Report) -> dict[str, Any]:
    least, most = _count(schema, "minLength", report), _count(schema, "maxLength", report)
    if least is not None and ((most is not None and least > most) or least > limits.max_answer):
        raise UnsupportedSchemaError("asks for a longer text than can be sent")
    pattern, skipped = _pattern(schema, limits, report)
    format_ = schema.get("format", schema.get("x-format"))
    if format_ is not None and (not isinstance(format_, str) or len(format_) > _MAX_FORMAT):
        report("limit_ignored", "its format is not a word")
        format_ = None
    return {
        "min_length": least,
        "max_length": most,
        "pattern": pattern,
        "pattern_skipped": skipped,
        "format": sanitize_text(format_, multiline=False) if format_ else None,
    }


def _pattern(schema: Mapping[str, Any], limits: Limits, report: Report) -> tuple[str | None, str]:
    """Return the pattern, and why it is not checked; empty if it is.  A pattern that is not Unicode is dropped."""
    pattern = schema.get("pattern")
    if pattern is None:
        return None, ""
    if not isinstance(pattern, str):
        report("limit_ignored", "its pattern is not a text")
        return None, ""
    if not is_unicode(pattern):
        pattern, skipped = None, "the pattern is not valid Unicode"
    elif not limits.check_patterns:
        skipped = "patterns are turned off"
    elif len(pattern) > limits.max_pattern:
        skipped = f"the pattern is longer than {limits.max_pattern} characters"
    else:
        return pattern, ""
    report("pattern_not_checked", skipped)
    return pattern, skipped


def _number_limits(schema: Mapping[str, Any], limits: Limits, report: Report, *, integer: bool) -> dict[str, Any]:
    if NUMBER_KEYWORDS.isdisjoint(schema):
        return {"integer": integer}
    bounds = number_limits(schema, limits, report, integer=integer)
    if bounds.is_empty():
        raise UnsupportedSchemaError("asks for a number that does not exist or cannot be sent exactly")
    return {"integer": integer, **bounds.as_limits()}


def _list_field(schema: Mapping[str, Any], common: Mapping[str, Any], limits: Limits, report: Report) -> Field:
    least, most = _count(schema, "minItems", report), _count(schema, "maxItems", report)
    unique = schema.get("uniqueItems") is True
    items = schema.get("items", True)
    if "prefixItems" in schema or isinstance(items, list):
        raise UnsupportedSchemaError("asks for a list whose places differ")
    if items is False:
        raise UnsupportedSchemaError("asks for a list that can only be empty")
    if isinstance(items, dict):
        items = items_with_names(schema)
    choices, item = _items({} if items is True else items, limits, report)
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


def _items(items: object, limits: Limits, report: Report) -> tuple[_Named, TextField | None]:
    """Read the items of a list: options, or the constraints of its texts."""
    if not isinstance(items, dict):
        raise UnsupportedSchemaError("asks for a list that no answer can carry")
    options = options_of(items, report)
    if options is not None:
        choices = _choices(options, items.get("type"), limits, report)
        if not all(isinstance(choice["value"], str) for choice in choices.values()):
            raise UnsupportedSchemaError("asks for a list of options that are not texts")
        return choices, None
    if items.get("type", _guess_type(items)) != "string":
        raise UnsupportedSchemaError("asks for a list of something else than texts")
    return {}, TextField(name="", title="", **_text_limits(items, limits, report))


def _count(schema: Mapping[str, Any], keyword: str, report: Report) -> int | None:
    """Read a limit that is a number of things: a whole number from 0 on."""
    value = schema.get(keyword)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer() and value >= 0:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_COUNT:
        return value
    report("limit_ignored", f"its {keyword} is not a whole number from 0 on")
    return None
