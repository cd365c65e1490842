"""`parse_field`: reads one property of a schema into a field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    texts_of,
)
from mcp_elicit_client.core.limits import Limits, max_options_of_form
from mcp_elicit_client.core.schema.bounds import NUMBER_KEYWORDS, number_limits
from mcp_elicit_client.core.schema.enums import (
    ENUM_KEYWORDS,
    Report,
    drop_null_keywords,
    items_with_names,
    named_options,
    option_keywords,
    options_of,
)
from mcp_elicit_client.core.schema.unwrapping import Definitions, UnsupportedSchemaError, is_wrapped, unwrap_schema
from mcp_elicit_client.core.text import is_plain, is_unicode, sanitize_and_cut, sanitize_text
from mcp_elicit_client.core.validation.content import is_too_large, to_json_value, validate_field

_RULES_NOT_CHECKED = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "contains", "enum", "const"})
_LIMITS_OF_OPTIONS = frozenset({"minLength", "maxLength", "pattern"}) | NUMBER_KEYWORDS - {"format"}
_MAX_FORMAT = 64
_MAX_COUNT = 2**1000
_QUOTES = 2

_Choices: TypeAlias = dict[tuple[str, object], dict[str, object]]
_F = TypeVar("_F", ChoiceField, MultiChoiceField)


class SchemaParser:
    """
    The schema that is being read, and its diagnostics.

    Args:
        root: The whole schema, in which references are resolved.
        limits: Maximum sizes and counts.
        has_nulls: False if no value in *root* is null.

    Attributes:
        limits: Maximum sizes and counts.
        has_nulls: True if keywords may be null.
        diagnostics: Non-fatal findings.
        definitions: The schemas to which fields refer.
    """

    def __init__(self, root: Mapping[str, Any], limits: Limits, *, has_nulls: bool) -> None:
        self.limits: Limits = limits
        self.has_nulls: bool = has_nulls
        self.diagnostics: list[Diagnostic] = []
        self.definitions: Definitions = Definitions(root, limits)
        self._options_left = max_options_of_form(limits)
        self._characters_left = limits.max_request

    def count_options(self, count: int) -> None:
        """
        Count the options of one more field.

        Raises:
            UnsupportedSchemaError: If the field, or the whole form, has too
                many.
        """
        if count > self.limits.max_options:
            raise UnsupportedSchemaError(f"has {count} options; at most {self.limits.max_options} are supported")
        if count > self._options_left:
            at_most = max_options_of_form(self.limits)
            raise UnsupportedSchemaError(f"has too many options; a form may have at most {at_most}")
        self._options_left -= count

    def count_texts(self, field: Field) -> None:
        """
        Count the texts of one more field that are not cut: a short schema can refer to long ones many times.

        Raises:
            UnsupportedSchemaError: If those of the form are longer than a request.
        """
        length = _length_of_texts(field)
        if length > self._characters_left:
            at_most = self.limits.max_request
            raise UnsupportedSchemaError(f"has texts that are too long; those of a form may have {at_most} characters")
        self._characters_left -= length

    def report(self, code: DiagnosticCode, message: str, field: str | None = None) -> None:
        """Add a diagnostic."""
        if field is not None and not is_unicode(field):
            field = sanitize_text(field, limit=self.limits.max_name, multiline=False)
        self.diagnostics.append(Diagnostic(code=code, message=message, field=field))

    def sanitize(self, text: object, limit: int, label: str, field: str, *, multiline: bool = False) -> str:
        """Return *text* sanitized and cut to *limit* characters; empty if it is not a string."""
        if not isinstance(text, str):
            return ""
        text = text.strip()
        if len(text) <= limit and is_plain(text):
            return text
        shown = sanitize_and_cut(text, limit, multiline=multiline)
        if max(len(text), len(shown)) > limit:
            self.report("truncated", f"its {label} was longer than {limit} characters", field)
        return shown


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
        raise UnsupportedSchemaError("allows no value")
    limits = parser.limits
    if parser.has_nulls:
        schema = drop_null_keywords(schema)
    nullable = schema.get("nullable") is True
    if is_wrapped(schema):
        schema, allows_null = unwrap_schema(schema, parser.definitions, report)
        nullable |= allows_null
    common: dict[str, Any] = {
        "name": name,
        "title": parser.sanitize(schema.get("title"), limits.max_title, "title", name)
        or sanitize_and_cut(name.strip(), limits.max_title)
        or "(no name)",
        "description": parser.sanitize(
            schema.get("description"), limits.max_description, "description", name, multiline=True
        ),
        "required": required,
        "nullable": nullable,
    }
    field = _field_of_kind(schema, common, parser, report)
    if schema.get("default") is not None:
        field = _with_default(field, schema["default"], limits, report)
    if parser.definitions.are_used:
        parser.count_texts(field)
    return field


def _with_default(field: Field, default: object, limits: Limits, report: Report) -> Field:
    """Return *field* with its default, if that is valid.  A default that has a pattern stays unchecked."""
    texts, too_long = texts_of(default), "its default is longer than an answer may be"
    if sum(map(len, texts)) + _QUOTES * len(texts) > limits.max_answer:  # before it is checked
        report("default_dropped", too_long)
        return field
    errors = validate_field(field, default, limits)
    if errors:
        report("default_dropped", f"its default is not valid: {errors[0].message}")
        return field
    value = to_json_value(field, default)
    if is_too_large({field.name: value}, limits):
        report("default_dropped", too_long)
        return field
    text = text_constraints(field)
    is_checked = text is None or text.pattern is None or bool(text.pattern_skipped)
    # Set in place: a copy would cost more than the check, and no other code has seen this field yet.
    field.__dict__["default" if is_checked else "unchecked_default"] = (
        tuple(value) if isinstance(value, list) else value
    )
    return field


def _length_of_texts(field: Field) -> int:
    """Return the number of characters in the pattern, the default and the options' values of *field*."""
    texts = [*texts_of(field.default), *texts_of(getattr(field, "unchecked_default", None))]
    constraints = text_constraints(field)
    if constraints is not None and constraints.pattern is not None:
        texts.append(constraints.pattern)
    if isinstance(field, (ChoiceField, MultiChoiceField)):
        texts += texts_of([choice.value for choice in field.choices])
    return sum(map(len, texts))


def _field_of_kind(schema: Mapping[str, Any], common: Mapping[str, Any], parser: SchemaParser, report: Report) -> Field:
    limits, kind = parser.limits, schema.get("type")
    options = None if kind == "array" or ENUM_KEYWORDS.isdisjoint(schema) else options_of(schema, report)
    if options is not None:
        choices = _choices(options, schema, parser, report)
        return _with_index(ChoiceField.model_validate({**common, "choices": list(choices.values())}), choices)
    if kind is None:
        kind = _guess_type(schema)
        report("type_guessed", f"it has no type; {kind} is used")
    _report_rules_not_checked(schema, report)
    match kind:
        case "string":
            return TextField.model_validate({**common, **_text_limits(schema, limits, report)})
        case "number" | "integer":
            integer = kind == "integer"
            has_limits = not NUMBER_KEYWORDS.isdisjoint(schema)
            bounds = number_limits(schema, limits, report, integer=integer) if has_limits else {}
            return NumberField.model_validate({**common, **bounds, "integer": integer})
        case "boolean":
            return BooleanField.model_validate(common)
        case "array":
            return _list_field(schema, common, parser, report)
        case _:
            raise UnsupportedSchemaError("has an unsupported type")


def _report_rules_not_checked(schema: Mapping[str, Any], report: Report, read: frozenset[str] = frozenset()) -> None:
    """Report the rules in *schema* that are not checked; *read* are those that became options."""
    if not _RULES_NOT_CHECKED.isdisjoint(schema):
        for rule in sorted(_RULES_NOT_CHECKED.intersection(schema) - read):
            report("rule_not_checked", f"its {rule} is not checked")


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


def _choices(
    options: Sequence[tuple[object, object]], schema: Mapping[str, Any], parser: SchemaParser, report: Report
) -> _Choices:
    """Return the arguments of each `Choice`, by `json_key`."""
    parser.count_options(len(options))
    if len(_RULES_NOT_CHECKED.intersection(schema)) > 1:  # one of them became the options
        _report_rules_not_checked(schema, report, option_keywords(schema))
    if not _LIMITS_OF_OPTIONS.isdisjoint(schema):
        options = _within_limits(options, schema, parser, report)
    choices = named_options(options, schema.get("type"), parser.limits, report)
    if not choices:
        raise UnsupportedSchemaError("has no option that can be sent")
    return choices


def _with_index(field: _F, choices: _Choices) -> _F:
    """Return *field* with the index of `choices_by_key`: made later, it would take milliseconds for many options."""
    field.__dict__["_by_key"] = dict(zip(choices, field.choices, strict=True))
    return field


def _within_limits(
    options: Sequence[tuple[object, object]], schema: Mapping[str, Any], parser: SchemaParser, report: Report
) -> Sequence[tuple[object, object]]:
    """Return the options that the limits beside them allow.  Formats and patterns are not checked."""
    limits = parser.limits
    if "pattern" in schema:
        report("rule_not_checked", "its pattern is not checked")
    schema = {keyword: value for keyword, value in schema.items() if keyword not in ("format", "pattern")}
    fields: dict[type, Field] = {}  # what each kind of option must fit: only strings have a length
    for value, _ in options:
        if isinstance(value, str) and str not in fields:
            fields[str] = TextField(name="", title="", **_text_limits(schema, limits, report))
        elif type(value) in (int, float) and int not in fields:
            bounds: dict[str, Any] = number_limits(schema, limits, report, integer=False)
            fields[int] = fields[float] = NumberField(name="", title="", **bounds)

    fitting = [
        (value, title)
        for value, title in options
        if type(value) not in fields or not validate_field(fields[type(value)], value, limits)
    ]
    if len(fitting) < len(options):
        dropped = len(options) - len(fitting)
        report("options_dropped", f"{dropped} of {len(options)} options are outside its limits; they were dropped")
    return fitting


def _text_limits(schema: Mapping[str, Any], limits: Limits, report: Report) -> dict[str, Any]:
    least, most = _count(schema, "minLength", report), _count(schema, "maxLength", report)
    if least is not None and ((most is not None and least > most) or least > limits.max_answer):
        raise UnsupportedSchemaError("requires a longer text than can be sent")
    pattern, skipped = _pattern(schema, limits, report)
    return {
        "min_length": least,
        "max_length": most,
        "pattern": pattern,
        "pattern_skipped": skipped,
        "format": _format(schema, report),
    }


def _format(schema: Mapping[str, Any], report: Report) -> str | None:
    name = schema.get("format", schema.get("x-format"))
    if name is None and schema.get("writeOnly") is True:
        return "password"  # the server never shows the value again
    shown = sanitize_text(name, limit=_MAX_FORMAT, multiline=False) if isinstance(name, str) else None
    if shown is not None and len(shown) <= _MAX_FORMAT:
        return shown or None
    if name is not None:
        report("limit_ignored", "its format is not a word")
    return None


def _pattern(schema: Mapping[str, Any], limits: Limits, report: Report) -> tuple[str | None, str]:
    """Return the pattern, and why it is not checked; empty if it is.  A pattern that is not Unicode is dropped."""
    pattern = schema.get("pattern")
    if pattern is None:
        return None, ""
    if not isinstance(pattern, str):
        report("limit_ignored", "its pattern is not a string")
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


def _list_field(schema: Mapping[str, Any], common: Mapping[str, Any], parser: SchemaParser, report: Report) -> Field:
    least, most = _count(schema, "minItems", report), _count(schema, "maxItems", report)
    unique = schema.get("uniqueItems") is True
    items = schema.get("items", True)
    if "prefixItems" in schema or isinstance(items, list):
        raise UnsupportedSchemaError("is a list with a schema for each position")
    if items is False:
        raise UnsupportedSchemaError("is a list that can only be empty")
    if isinstance(items, dict):
        items = items_with_names(schema)
    choices, item = _items({} if items is True else items, parser, report)
    possible = len(choices) if choices and unique else None
    if least is not None and any(bound is not None and least > bound for bound in (most, possible)):
        raise UnsupportedSchemaError("requires more values than it allows")
    lists = {"choices": list(choices.values()), "item": item, "min_items": least, "max_items": most, "unique": unique}
    return _with_index(MultiChoiceField.model_validate({**common, **lists}), choices)


def _items(items: object, parser: SchemaParser, report: Report) -> tuple[_Choices, TextField | None]:
    """Read the items of a list: options, or the constraints of its texts."""
    if not isinstance(items, dict):
        raise UnsupportedSchemaError("is a list of unsupported values")
    options = options_of(items, report)
    if options is not None:
        choices = _choices(options, items, parser, report)
        if not all(isinstance(choice["value"], str) for choice in choices.values()):
            raise UnsupportedSchemaError("is a list of options that are not strings")
        return choices, None
    if items.get("type", _guess_type(items)) != "string":
        raise UnsupportedSchemaError("is a list of values that are not strings")
    _report_rules_not_checked(items, report)
    return {}, TextField(name="", title="", **_text_limits(items, parser.limits, report))


def _count(schema: Mapping[str, Any], keyword: str, report: Report) -> int | None:
    """Read a limit that counts something: a whole number from 0 on."""
    value = schema.get(keyword)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer() and value >= 0:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_COUNT:
        return value
    report("limit_ignored", f"its {keyword} is not a whole number from 0 on")
    return None
