"""
`Choice` and `normalize_enum`: the options of a field, in every spelling.

These are the spellings of SEP-1330 and those that servers send in addition:

========================================  ==========================
single                                    several
========================================  ==========================
``enum``                                  ``items.enum``
``enum`` and ``enumNames`` (legacy)       ``items.enum`` and ``enumNames``
``oneOf`` of ``const`` and ``title``      ``items.anyOf`` of the same
``anyOf`` of the same (pydantic)          ``items.oneOf`` (the SEP's prose)
``const``
========================================  ==========================
"""

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.diagnostics import DiagnosticCode
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.text import is_unicode, sanitize_and_cut

Scalar: TypeAlias = StrictStr | StrictBool | StrictInt | StrictFloat
"""One value of an answer that is not a list."""

Report: TypeAlias = Callable[[DiagnosticCode, str], None]
"""Takes the code and the message of a diagnostic."""

_NUMBERS = ("integer", "number")
ENUM_KEYWORDS = frozenset({"enum", "const", "oneOf", "anyOf"})

MAX_BRANCHES = 32
"""The maximum number of schemas in a union or ``allOf``, unless each is one option."""

# The keywords of a schema that only lists options.
_LISTING = ENUM_KEYWORDS | {"type", "enumNames", "title", "description"}
_PARTS = frozenset({"items", "allOf", "anyOf", "oneOf"})
_CONST: Callable[[Mapping[str, Any]], object] = itemgetter("const")
_RULES_OF_OPTION = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "pattern", "minLength", "maxLength"}) | frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)


class Choice(BaseModel):
    """
    One option.

    Attributes:
        value: The value to send, as the server spells it.
        title: The label of the option.  Sanitized.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    value: Scalar
    title: str


def normalize_enum(schema: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> tuple[Choice, ...]:
    """
    Return the options of *schema*, in the server's order.

    A repeated value appears once.  If a title may belong to another value
    (the numbers of names and values differ, or one value has two names), the
    value is shown instead.  Values that cannot be sent (null, objects, lists)
    are dropped.

    Args:
        schema: The schema of one property, in any spelling.  If its ``type``
            is ``array``, several options may be selected.
        limits: Maximum sizes and counts.

    Returns:
        The options; empty if *schema* is not an enum.

    Raises:
        TypeError: If *schema* is not a mapping.

    Examples:
        >>> normalize_enum({"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"]})
        (Choice(value='s', title='Small'), Choice(value='m', title='Medium'))
    """
    check_type("schema", schema, Mapping)
    schema = drop_null_keywords(schema)
    if schema.get("type") == "array" and isinstance(schema.get("items"), Mapping):
        schema = items_with_names(schema)

    def report(_code: DiagnosticCode, _message: str) -> None:
        """Ignore diagnostics: this function returns options only."""

    options = options_of(schema, report)
    named = {} if options is None else named_options(options, schema.get("type"), limits, report)
    return tuple(Choice.model_validate(each) for each in named.values())


def drop_null_keywords(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return *schema*, and the schemas inside it, without keywords that are null: they are not set.

    Serializers in Java, C# and Python write all keywords of a class, unless
    told otherwise.  The ``const`` of a schema that allows nothing but null is
    a value.
    """
    has_nulls = None in schema.values()
    if not has_nulls and _PARTS.isdisjoint(schema):
        return schema
    given = {keyword: value for keyword, value in schema.items() if value is not None} if has_nulls else {**schema}
    if has_nulls and "const" in schema and given.get("type", "null") == "null" and ENUM_KEYWORDS.isdisjoint(given):
        given["const"] = None
    for keyword in _PARTS.intersection(given):
        part = given[keyword]
        if isinstance(part, dict):
            given[keyword] = drop_null_keywords(part)
        elif isinstance(part, list) and len(part) <= MAX_BRANCHES and not _begins_with_option(part):
            given[keyword] = [drop_null_keywords(each) if isinstance(each, dict) else each for each in part]
    return given


def _begins_with_option(union: Sequence[object]) -> bool:
    """Return True if *union* lists options, whose other keywords are not read.  Fast."""
    first = union[0] if union else None
    return isinstance(first, dict) and first.get("const") is not None


def items_with_names(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ``items`` of a list, with ``enumNames``, which some servers put beside them."""
    items: Mapping[str, Any] = schema["items"]
    if "enumNames" in schema and "enumNames" not in items:
        return {**items, "enumNames": schema["enumNames"]}
    return items


def spells_choices(schema: Mapping[str, Any]) -> bool:
    """Return True if *schema* lists options, valid or not."""
    return "const" in schema or isinstance(schema.get("enum"), list) or _titled_union(schema) is not None


def options_of(schema: Mapping[str, Any], report: Report) -> list[tuple[object, object]] | None:
    """
    Return the values and titles of a single-choice schema, as written; None if it is not one.

    Unusable titles are reported.
    """
    if ENUM_KEYWORDS.isdisjoint(schema):
        return None
    union = _titled_union(schema)
    enum = schema.get("enum")
    if union is not None:
        used = frozenset[str]().union(*union[1])
        constant = _CONST if used.isdisjoint(("enum", "type")) else _constant
        options: list[tuple[object, object]] = [(constant(option), option.get("title")) for option in union[1]]
        if not used.isdisjoint(_RULES_OF_OPTION):
            report("rule_not_checked", "the rules of its options are not checked")
        if isinstance(enum, list):
            listed = {json_key(value) for value in enum if _is_scalar(value)}
            options = [(value, title) for value, title in options if _is_scalar(value) and json_key(value) in listed]
    elif isinstance(enum, list):
        options = list(zip(enum, _names(schema.get("enumNames"), enum, report), strict=True))
    elif "const" in schema:
        return [(schema["const"], None)]
    else:
        return None
    if "const" in schema:
        options = [(value, title) for value, title in options if json_equal(value, schema["const"])]
    return options


def options_of_union(branches: Sequence[Mapping[str, Any]], report: Report) -> list[dict[str, object]] | None:
    """
    Return all options of *branches* that each list some, as a union of constants.

    ``Literal["auto"] | Color`` is written so.  None if a branch may allow
    more or fewer values than it lists, or if two list the same value: in a
    ``oneOf`` only one of them may match.
    """
    listed: list[dict[str, object]] = []
    for branch in branches:
        is_list = branch.keys() <= _LISTING and len(ENUM_KEYWORDS.intersection(branch)) == 1
        options = options_of(branch, report) if is_list else None
        if options is None:
            return None
        types = _types(branch["type"]) if "type" in branch else None
        name = branch.get("title") if has_constant(branch) else None
        listed += [
            {"const": value, "title": title or name}
            for value, title in options
            if _is_scalar(value) and (types is None or _has_type(value, types))
        ]
    return listed if len({json_key(each["const"]) for each in listed}) == len(listed) else None


def json_key(value: object) -> tuple[str, object]:
    """
    Return a key that two values share exactly if they are equal in JSON Schema.

    In Python ``True == 1``.  In JSON they differ, and ``1.0`` equals ``1``.
    """
    if isinstance(value, str):
        return "string", value
    if isinstance(value, bool):
        return "boolean", value
    return "number" if isinstance(value, (int, float)) else type(value).__name__, value


def json_equal(one: object, other: object) -> bool:
    """Return True if two scalars are equal in JSON Schema."""
    return json_key(one) == json_key(other)


def option_keywords(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the keywords that `options_of` reads: of two unions, it reads the one that lists options."""
    union = _titled_union(schema)
    return frozenset({"enum", "const"} if union is None else {"enum", "const", union[0]})


def _titled_union(schema: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]] | None:
    """Return the keyword and the options of the union that lists options; None if no union does."""
    for keyword in ("oneOf", "anyOf"):
        options = options_in_union(schema.get(keyword))
        if options:
            return keyword, options
    return None


def options_in_union(union: object) -> list[dict[str, Any]]:
    """Return the schemas in *union*, except null, if each allows one value; otherwise none."""
    if not isinstance(union, list):
        return []
    # Most options are written with `const`, and there may be thousands.
    options = [each for each in union if isinstance(each, dict) and each.get("const") is not None]
    if len(options) == len(union):
        return options
    options = [each for each in union if not is_null(each)]
    return options if all(map(has_constant, options)) else []


def is_null(schema: object) -> bool:
    """Return True if *schema*, in a union, allows nothing but null."""
    return isinstance(schema, dict) and (
        schema.get("type") == "null" or schema.get("enum") == [None] or ("const" in schema and schema["const"] is None)
    )


def _is_scalar(value: object) -> bool:
    return not isinstance(value, (dict, list))


def has_constant(option: object) -> bool:
    """Return True if *option*, a schema in a union, allows one value."""
    if not isinstance(option, dict):
        return False
    if "const" in option:
        return True
    enum = option.get("enum")
    return isinstance(enum, list) and len(enum) == 1


def _constant(option: Mapping[str, Any]) -> object:
    """Return the value of *option*; None, which cannot be sent, if its own type or enum does not allow it."""
    enum = option.get("enum")
    value = option["const"] if "const" in option else option["enum"][0]
    if isinstance(enum, list) and not any(json_equal(value, each) for each in enum):
        return None
    return value if "type" not in option or _has_type(value, _types(option["type"])) else None


def _names(names: object, values: Sequence[object], report: Report) -> list[Any]:
    if names is None:
        return [None] * len(values)
    if isinstance(names, list) and len(names) == len(values):
        return names
    report("titles_ignored", "enumNames and enum differ in length; the values are shown instead")
    return [None] * len(values)


def named_options(
    options: Sequence[tuple[object, object]], type_: object, limits: Limits, report: Report
) -> dict[tuple[str, object], dict[str, object]]:
    """
    Return the *options* that can be sent, with sanitized titles, as `normalize_enum` describes.

    Dropped options and titles are reported, once for each field.

    Returns:
        The arguments of each `Choice`, by `json_key`.  Many options are
        created faster by the field that holds them.
    """
    types = None if type_ is None else _types(type_)
    named: dict[tuple[str, object], dict[str, object]] = {}
    longest = limits.max_option_title
    dropped, has_renamed = 0, False
    for value, title in options:
        if not _is_sendable(value, types, limits):
            dropped += 1
            continue
        titled = isinstance(title, str) and title.strip()
        name = sanitize_and_cut(str(title), longest) if titled else value_as_title(value, longest)
        key = json_key(value)
        first = named.get(key)
        if first is None:
            named[key] = {"value": value, "title": name}
        elif first["title"] != name:
            has_renamed = True
            first["title"] = value_as_title(first["value"], longest)
    if dropped:
        report("options_dropped", f"{dropped} of {len(options)} options cannot be sent; they were dropped")
    if has_renamed:
        report("titles_ignored", "an option has several titles; its value is shown instead")
    return named


def _types(type_: object) -> frozenset[str]:
    return frozenset(each for each in (type_ if isinstance(type_, list) else [type_]) if isinstance(each, str))


def _is_sendable(value: object, types: frozenset[str] | None, limits: Limits) -> bool:
    if types is not None and not _has_type(value, types):
        return False
    if isinstance(value, str):
        return len(value) <= limits.max_option_value and (value.isascii() or is_unicode(value))
    match value:
        case bool():
            return True
        case int():
            return abs(value) <= limits.max_integer
        case float():
            return math.isfinite(value)
        case _:
            return False


def _has_type(value: object, types: frozenset[str]) -> bool:
    if isinstance(value, str):
        return "string" in types
    match value:
        case bool():
            return "boolean" in types
        case int():
            return not types.isdisjoint(_NUMBERS)
        case float():
            return "number" in types or ("integer" in types and value.is_integer())
        case _:
            return False


def value_as_title(value: object, limit: int) -> str:
    """Return the title of an option without title: its value, sanitized."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return sanitize_and_cut(str(value), limit)
