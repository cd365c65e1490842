"""
From a server's schema to a form: strict about danger, liberal about shape.

What the specification forbids and servers send all the same becomes a field
where a person could answer it.  What nobody could answer is left out if it is
optional, and makes the whole request unanswerable if it is required.
Nothing is fetched: a ``$ref`` is followed within the schema or not at all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

from mcp_elicit_client.core.choices import Note, parse_choices, spells_choices
from mcp_elicit_client.core.forms import (
    BooleanField,
    ChoiceField,
    Field,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
)
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.numbers import Bounds, count, number_limits
from mcp_elicit_client.core.problems import Problem
from mcp_elicit_client.core.text import is_unicode, printable
from mcp_elicit_client.core.validation import check_defaults
from mcp_elicit_client.exceptions import RequestError

_REFERENCE_ROOTS = ("$defs", "definitions")
_PREFERRED_TYPES = ("string", "number", "integer", "boolean", "array")
_RULES_BETWEEN_FIELDS = (
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "minProperties",
)
_RULES_NOT_CHECKED = ("allOf", "anyOf", "oneOf", "not", "if", "contains")
_MAX_FORMAT = 64
_MAX_BRANCHES = 32


class _UnanswerableError(Exception):
    """Why nobody could answer a field."""


@dataclass
class _Parser:
    """One pass over one schema."""

    root: Mapping[str, Any]
    limits: Limits
    problems: list[Problem] = dataclass_field(default_factory=list)

    def note(self, code: str, message: str, field: str | None = None) -> None:
        if field is not None and not is_unicode(field):
            field = printable(field, limit=self.limits.name, multiline=False)
        self.problems.append(Problem(code=code, message=message, field=field))

    def shown(self, text: object, limit: int, what: str, field: str, *, multiline: bool = False) -> str:
        if not isinstance(text, str):
            return ""
        if len(text) > limit:
            self.note("cut", f"its {what} was longer than {limit} characters", field)
        return printable(text.strip(), limit=limit, multiline=multiline)


def parse_form(schema: object, limits: Limits) -> tuple[Form, tuple[Problem, ...]]:
    """
    Read the form that *schema* describes.

    Returns:
        The form, and what was wrong but survivable.

    Raises:
        RequestError: If *schema* describes no form, or one that nobody could
            fill in.
    """
    if schema is None:
        missing = Problem(code="schema_missing", message="there is no requestedSchema; the user is asked to confirm")
        return Form(), (missing,)
    if not isinstance(schema, Mapping):
        raise RequestError("requestedSchema must be an object")
    parser = _Parser(schema, limits)
    try:
        opened = _open(schema, parser, lambda _code, _message: None)
    except _UnanswerableError as error:
        raise RequestError(f"requestedSchema {error}") from None
    return _form(opened, parser), tuple(parser.problems)


def _form(schema: Mapping[str, Any], parser: _Parser) -> Form:
    if schema.get("type", "object") != "object":
        raise RequestError('requestedSchema must have the type "object"')
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        raise RequestError("requestedSchema.properties must be an object")
    required = _required(schema.get("required", []), properties, parser)
    names = [*properties, *(name for name in required if name not in properties)]
    if len(names) > parser.limits.fields:
        raise RequestError(f"the form has {len(names)} fields; at most {parser.limits.fields} can be shown")
    for rule in _RULES_BETWEEN_FIELDS:
        if rule in schema:
            parser.note("rule_not_checked", f"the form's {rule} is not checked here")
    closed = schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False

    fields: dict[str, Field] = {}
    defaults: dict[str, object] = {}
    left_out: list[str] = []
    alike: set[str] = set()
    for name in names:
        try:
            if name not in properties and closed:
                raise _UnanswerableError("is required, but not allowed")
            _check_name(name, alike, parser.limits)
            fields[name], default = _parse_field(name, properties.get(name, True), name in required, parser)
        except _UnanswerableError as error:
            if name in required:
                shown = printable(name, limit=parser.limits.name, multiline=False)
                raise RequestError(f'the required field "{shown}" {error}', field=name) from None
            if is_unicode(name):
                left_out.append(name)
            parser.note("left_out", f"it {error}", name)
            continue
        if default is not None:
            defaults[name] = default
    form = Form(fields=tuple(fields.values()), left_out=tuple(left_out), closed=closed)
    return _with_defaults(form, defaults, parser)


def _with_defaults(form: Form, defaults: Mapping[str, object], parser: _Parser) -> Form:
    if not defaults:
        return form
    good, errors = check_defaults(form, defaults)
    for error in errors:
        parser.note("default_dropped", f"its default does not fit it: {error.message}", error.field)
    if not good:
        return form
    return form.model_copy(
        update={
            "fields": tuple(
                field.model_copy(update={"default": good[field.name]}) if field.name in good else field
                for field in form.fields
            )
        }
    )


def _required(required: object, properties: Mapping[str, Any], parser: _Parser) -> dict[str, None]:
    """Read the names of required fields, in order, as the keys of a dictionary."""
    if not isinstance(required, list):
        parser.note("required_ignored", '"required" is not a list of names')
        return {}
    names = dict.fromkeys(each for each in required if isinstance(each, str))
    if len(names) < len(required):
        parser.note("required_ignored", '"required" names something twice, or something that is no name')
    for name in names:
        if name not in properties:
            parser.note("undescribed", "it is required but not described; any text is taken", name)
    return names


def _check_name(name: str, alike: set[str], limits: Limits) -> None:
    if len(name) > limits.name:
        raise _UnanswerableError(f"has a name of more than {limits.name} characters")
    if not is_unicode(name):
        raise _UnanswerableError("has a name that is not valid Unicode")
    normal = unicodedata.normalize("NFKC", name)
    if normal in alike:
        raise _UnanswerableError("has a name that looks like another field's")
    alike.add(normal)


def _parse_field(name: str, schema: object, required: bool, parser: _Parser) -> tuple[Field, object]:
    """Read one property; its default comes back unchecked."""

    def note(code: str, message: str) -> None:
        parser.note(code, message, name)

    if schema is True:
        schema = {}
    if not isinstance(schema, Mapping):
        raise _UnanswerableError("allows no answer")
    schema = _open(schema, parser, note)
    limits = parser.limits
    common: dict[str, Any] = {
        "name": name,
        "title": parser.shown(schema.get("title"), limits.title, "title", name)
        or printable(name, limit=limits.title, multiline=False).strip()
        or "(no name)",
        "description": parser.shown(schema.get("description"), limits.description, "description", name, multiline=True),
        "required": required,
    }
    return _field_of_kind(schema, common, limits, note), schema.get("default")


def _field_of_kind(schema: Mapping[str, Any], common: Mapping[str, Any], limits: Limits, note: Note) -> Field:
    kind = schema.get("type")
    if kind != "array" and spells_choices(schema):
        choices = _choices(schema, limits, note)
        return ChoiceField(**common, choices=choices)
    if kind is None:
        kind = _guess_type(schema)
        note("type_guessed", f"it has no type; {kind} is asked for")
    for rule in _RULES_NOT_CHECKED:
        if rule in schema:
            note("rule_not_checked", f"its {rule} is not checked here")
    match kind:
        case "string":
            return TextField(**common, **_text_limits(schema, limits, note))
        case "number" | "integer":
            return NumberField(**common, **_number_limits(schema, kind == "integer", limits, note))
        case "boolean":
            return BooleanField(**common)
        case "array":
            return _list_field(schema, common, limits, note)
        case _:
            raise _UnanswerableError("asks for something that no answer can carry")


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


def _choices(schema: Mapping[str, Any], limits: Limits, note: Note) -> Any:
    listed = max(
        (len(schema[keyword]) for keyword in ("enum", "oneOf", "anyOf") if isinstance(schema.get(keyword), list)),
        default=1,
    )
    if listed > limits.options:
        raise _UnanswerableError(f"has {listed} options; at most {limits.options} can be shown")
    choices = parse_choices(schema, limits, note)
    if not choices:
        raise _UnanswerableError("has no option that an answer can carry")
    return choices


def _text_limits(schema: Mapping[str, Any], limits: Limits, note: Note) -> dict[str, Any]:
    least, most = count(schema, "minLength", note), count(schema, "maxLength", note)
    if least is not None and ((most is not None and least > most) or least > limits.answer):
        raise _UnanswerableError("asks for a longer text than can be sent")
    pattern = schema.get("pattern")
    if pattern is not None and (not isinstance(pattern, str) or len(pattern) > limits.pattern):
        note("limit_ignored", f"its pattern is not a text of at most {limits.pattern} characters")
        pattern = None
    format_ = schema.get("format")
    if format_ is not None and (not isinstance(format_, str) or len(format_) > _MAX_FORMAT):
        note("limit_ignored", "its format is not a word")
        format_ = None
    return {
        "min_length": least,
        "max_length": most,
        "pattern": pattern,
        "format": printable(format_, multiline=False) if format_ else None,
    }


def _number_limits(schema: Mapping[str, Any], integer: bool, limits: Limits, note: Note) -> dict[str, Any]:
    bounds: Bounds = number_limits(schema, integer, limits, note)
    if bounds.is_empty():
        raise _UnanswerableError("asks for a number that does not exist or cannot be sent exactly")
    return {"integer": integer, **bounds.as_limits()}


def _list_field(schema: Mapping[str, Any], common: Mapping[str, Any], limits: Limits, note: Note) -> Field:
    least, most = count(schema, "minItems", note), count(schema, "maxItems", note)
    unique = schema.get("uniqueItems") is True
    items = schema.get("items", True)
    if "prefixItems" in schema or isinstance(items, list):
        raise _UnanswerableError("asks for a list whose places differ")
    if items is False:
        raise _UnanswerableError("asks for a list that can only be empty")
    if isinstance(items, Mapping) and "enumNames" in schema and "enumNames" not in items:
        items = {**items, "enumNames": schema["enumNames"]}
    choices, item = _items({} if items is True else items, limits, note)
    possible = len(choices) if choices and unique else None
    if least is not None and any(bound is not None and least > bound for bound in (most, possible)):
        raise _UnanswerableError("asks for more values than it allows")
    return MultiChoiceField(**common, choices=choices, item=item, min_items=least, max_items=most, unique=unique)


def _items(items: object, limits: Limits, note: Note) -> tuple[Any, TextField | None]:
    """Read what a list is of: options, or texts of one kind."""
    if not isinstance(items, Mapping):
        raise _UnanswerableError("asks for a list that no answer can carry")
    if spells_choices(items):
        choices = _choices(items, limits, note)
        if not all(isinstance(choice.value, str) for choice in choices):
            raise _UnanswerableError("asks for a list of options that are not texts")
        return choices, None
    if items.get("type", _guess_type(items)) != "string":
        raise _UnanswerableError("asks for a list of something else than texts")
    return (), TextField(name="", title="", **_text_limits(items, limits, note))


def _open(schema: Mapping[str, Any], parser: _Parser, note: Note) -> Mapping[str, Any]:
    """
    Take off the wrappers around a schema: references, unions with null.

    What stands beside a wrapper wins over what is in it.
    """
    for _ in range(parser.limits.depth + 1):
        opened = _open_once(schema, parser, note)
        if opened is None:
            break
        schema = opened
    else:
        raise _UnanswerableError(f"is wrapped more than {parser.limits.depth} times")
    items = schema.get("items")
    if isinstance(items, Mapping):
        inner = _open_reference(items, parser)
        inner = _open_union(inner, parser, note) or inner
        return {**schema, "items": _open_reference(inner, parser)}
    return schema


def _open_once(schema: Mapping[str, Any], parser: _Parser, note: Note) -> Mapping[str, Any] | None:
    if "$ref" in schema:
        return _open_reference(schema, parser)
    match schema.get("allOf"):
        case [dict(only)]:
            return {**only, **_without(schema, "allOf")}
    union = _open_union(schema, parser, note)
    if union is not None:
        return union
    types = schema.get("type")
    if isinstance(types, list) and not spells_choices(schema):
        names = [name for name in types if name != "null"]
        chosen = next((name for name in _PREFERRED_TYPES if name in names), None)
        if len(names) > 1 and chosen is not None:
            note("union", f"it takes several types; {chosen} is asked for")
        return {**schema, "type": chosen or "null"}
    return None


def _open_union(schema: Mapping[str, Any], parser: _Parser, note: Note) -> Mapping[str, Any] | None:
    """Choose the branch of a union that a person can answer best; None if there is no union."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if not isinstance(options, list) or not all(isinstance(option, Mapping) for option in options):
            continue
        branches = [option for option in options if not _is_null(option)]
        outer = _without(schema, keyword)
        if branches and spells_choices({keyword: branches}):
            if len(branches) == len(options):
                return None
            return {**outer, keyword: branches}
        if "type" in schema or "enum" in schema:
            continue
        if len(branches) > _MAX_BRANCHES:
            raise _UnanswerableError(f"is one of more than {_MAX_BRANCHES} kinds of answer")
        opened = [_open_reference(branch, parser) for branch in branches]
        ranked = sorted(opened, key=_preference)
        if not ranked:
            raise _UnanswerableError("allows no answer but null")
        if len(ranked) > 1:
            note("union", "it takes one of several kinds of answer; the plainest is asked for")
        return {**ranked[0], **outer}
    return None


def _preference(branch: Mapping[str, Any]) -> int:
    if spells_choices(branch):
        return -1
    kind = branch.get("type")
    return _PREFERRED_TYPES.index(kind) if kind in _PREFERRED_TYPES else len(_PREFERRED_TYPES)


def _is_null(schema: Mapping[str, Any]) -> bool:
    return (
        schema.get("type") == "null" or schema.get("enum") == [None] or ("const" in schema and schema["const"] is None)
    )


def _open_reference(schema: Mapping[str, Any], parser: _Parser) -> Mapping[str, Any]:
    for _ in range(parser.limits.depth + 1):
        if "$ref" not in schema:
            return schema
        schema = {**_referenced(schema["$ref"], parser.root), **_without(schema, "$ref")}
    raise _UnanswerableError(f"is wrapped more than {parser.limits.depth} times")


def _referenced(reference: object, root: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(reference, str):
        start, _, rest = reference.partition("/")
        place, _, name = rest.partition("/")
        name = name.replace("~1", "/").replace("~0", "~")
        if start == "#" and place in _REFERENCE_ROOTS and isinstance(root.get(place), Mapping):
            target = root[place].get(name)
            if isinstance(target, Mapping):
                return target
    raise _UnanswerableError("refers to a schema that is not in the request; nothing is fetched")


def _without(schema: Mapping[str, Any], keyword: str) -> dict[str, Any]:
    return {each: value for each, value in schema.items() if each != keyword}
