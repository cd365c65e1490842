"""
`parse_request`: the only reader of a server's JSON.

It reads everything but patterns.  It is strict about danger and liberal about
shape: a property that the specification forbids becomes a field if a user can
answer it.  Nothing is fetched.
"""

from __future__ import annotations

import marshal
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

from pydantic import BaseModel

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.deferred import build_models
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Field, Form, option_count
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.origin import read_origin
from mcp_elicit_client.core.request import (
    FIRST_MULTI_ROUND_TRIP_VERSION,
    BatchPosition,
    FormRequest,
    Request,
    RespondAfter,
    Server,
    UrlRequest,
    check_user,
)
from mcp_elicit_client.core.schema.field_parser import SchemaParser, parse_field
from mcp_elicit_client.core.schema.unwrapping import UnsupportedSchemaError, unwrap_schema
from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.core.text import is_unicode, sanitize_and_cut
from mcp_elicit_client.core.url.inspect import DEFAULT_URL_RULES, TargetUrl, UrlRules, inspect_url
from mcp_elicit_client.exceptions import RequestError

MAX_ELICITATION_ID = 1_024
"""The longest ``elicitationId``, in characters."""

MAX_REQUEST_ID = 1_024
"""The longest ID of a request, in characters: in multi-round-trip requests, the server's key."""

UNNAMED_SERVER = Server(name="a server that the application did not name")

_NAMES_IN_MODELS = (("requested_schema", "requestedSchema"), ("elicitation_id", "elicitationId"))
_HINTS = {
    "properties": "pass all params, not only `requestedSchema`",
    "params": "pass only the `params` of the request",
}
_COST_OF_A_VALUE = 8
_MAX_KNOWN_MESSAGE = 10_000
_MAX_WRITTEN = 1_000_000
_SIZE_OF_A_PART = 1_000  # what a field, an option or a finding takes in memory, in bytes
_SCALARS = frozenset({int, float, bool})
_RULES_BETWEEN_FIELDS = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "enum", "const"}
    | {"dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties", "propertyNames"}
)


_ReadForm: TypeAlias = tuple[Form, tuple[Diagnostic, ...]]


class WireSize(NamedTuple):
    """
    What one walk over a request finds.

    Attributes:
        total: The number of characters, and 8 for each value.
        has_nulls: True if a value is null.
    """

    total: int
    has_nulls: bool


def parse_request(  # noqa: PLR0913 -- details of the session, all by keyword
    params: object,
    *,
    server: Server | str = UNNAMED_SERVER,
    user: str | None = None,
    protocol_version: str | None = None,
    tool: str | None = None,
    request_id: str | int | None = None,
    batch_position: BatchPosition | None = None,
    respond_after: RespondAfter | None = None,
    limits: Limits = DEFAULT_LIMITS,
    url_rules: UrlRules = DEFAULT_URL_RULES,
) -> Request:
    """
    Read the params of ``elicitation/create``.

    The texts of the request are sanitized, limits are applied, and invalid
    defaults are dropped.  A default that has a pattern is unchecked
    (`settle_defaults`).  Nothing is fetched, opened or resolved, and *params*
    is not changed.

    Args:
        params: The dictionary on the wire, or the params of any SDK version.
            A `Request` is returned as it is.
        server: The server that sent the params.
        user: The user that the request is for; see `FormRequest.user`.
        protocol_version: The protocol version of the session, if known.
        tool: The tool that was called when the server asked, if known.
        request_id: The ID of the request in its session, if known.
        batch_position: The position among requests that were sent together.
        respond_after: When a URL request is answered; None to follow
            *protocol_version*.
        limits: Maximum sizes and counts.
        url_rules: URLs that are allowed beyond public https.

    Raises:
        RequestError: If the request cannot be answered.  The server may see
            the text.
        UnsafeUrlError: If the URL must not be opened.
        ValueError: If *user* does not have 1 to 256 characters, or the name
            of the server is blank.
        TypeError: If *limits* or *url_rules* are of another type.
    """
    if isinstance(params, (FormRequest, UrlRequest)):
        check_user(user)
        return params
    check_type("limits", limits, Limits)
    check_type("url_rules", url_rules, UrlRules)
    wire = to_wire(params)
    size = check_size(wire, limits)
    return read_wire(
        wire,
        size,
        limits,
        url_rules,
        respond_after,
        server=server,
        user=user,
        protocol_version=protocol_version,
        tool=tool,
        request_id=request_id,
        batch_position=batch_position,
    )


def read_wire(  # noqa: PLR0913 -- as for parse_request
    wire: Mapping[str, Any],
    size: WireSize,
    limits: Limits,
    url_rules: UrlRules,
    respond_after: RespondAfter | None = None,
    *,
    server: Server | str = UNNAMED_SERVER,
    user: str | None = None,
    protocol_version: str | None = None,
    **details: Any,
) -> Request:
    """Read params as `parse_request` does; *size* is the return value of `check_size`."""
    message = wire.get("message")
    if not isinstance(message, str):
        hints = [hint for name, hint in _HINTS.items() if name in wire]
        raise RequestError("; ".join(["`message` must be a string", *hints]))
    request_id = details.get("request_id")
    if isinstance(request_id, str) and len(request_id) > MAX_REQUEST_ID:
        raise RequestError(f"the ID of the request is longer than {MAX_REQUEST_ID} characters")
    meta = wire.get("_meta")
    common: dict[str, Any] = {
        "server": Server.from_name(server),
        "user": check_user(user),
        "claimed_origin": read_origin(meta) if meta else (),
        "message": _sanitized(message, limits.max_message),
        "protocol_version": protocol_version,
        "meta": dict(meta) if isinstance(meta, Mapping) else {},
        **details,
    }
    found: list[Diagnostic] = []
    if len(message) > limits.max_message:
        text = f"the message was longer than {limits.max_message} characters"
        found.append(Diagnostic(code="truncated", message=text))
    request: Request
    match wire.get("mode") or "form":
        case "form":
            form, more = parse_form(wire.get("requestedSchema"), size, limits)
            request = FormRequest(**common, form=form, diagnostics=(*found, *more))
        case "url":
            multi_round_trip = (protocol_version or "") >= FIRST_MULTI_ROUND_TRIP_VERSION
            target = _target(wire.get("url"), url_rules)
            build_models(UrlRequest)
            request = UrlRequest(
                **common,
                target=target,
                elicitation_id=_elicitation_id(wire.get("elicitationId")),
                respond_after=respond_after or ("completion" if multi_round_trip else "consent"),
                diagnostics=tuple(found),
            )
        case _:
            raise RequestError('`mode` must be "form" or "url"')
    request._read_with = _options_that_matter(request, limits, url_rules)  # noqa: SLF001 -- for restrict_request
    return request


def _sanitized(message: str, limit: int) -> str:
    """Return *message* sanitized and cut."""
    known = _known_message if len(message) <= _MAX_KNOWN_MESSAGE else _known_message.__wrapped__
    return known(message, limit)


@lru_cache(maxsize=128)
def _known_message(message: str, limit: int) -> str:
    """Return *message* sanitized and cut: servers send the same messages again and again."""
    return sanitize_and_cut(message, limit, multiline=True)


def is_read_with(request: Request, limits: Limits, url_rules: UrlRules) -> bool:
    """Return True if `restrict_request` has nothing to do."""
    read_with = _options_that_matter(request, limits, url_rules)
    return bool(request._read_with == read_with)  # noqa: SLF001 -- set by parse_request


def restrict_request(request: Request, limits: Limits, url_rules: UrlRules) -> Request:
    """
    Apply *limits* and *url_rules* to a request that was read with others.

    Raises:
        RequestError: If they do not allow it.
    """
    if is_read_with(request, limits, url_rules):
        return request
    changed: dict[str, Any] = {"message": sanitize_and_cut(request.message, limits.max_message, multiline=True)}
    if isinstance(request, UrlRequest):
        changed["target"] = inspect_url(request.target.as_sent, url_rules)
    else:
        changed |= _restrict_form(request, limits)
    restricted = request.model_copy(update=changed)
    restricted._read_with = _options_that_matter(request, limits, url_rules)  # noqa: SLF001 -- as in parse_request
    return restricted


def _options_that_matter(request: Request, limits: Limits, url_rules: UrlRules) -> tuple[Limits, UrlRules | None]:
    return limits, url_rules if isinstance(request, UrlRequest) else None


def _restrict_form(request: FormRequest, limits: Limits) -> dict[str, Any]:
    schema = write_schema(request.form)
    form, found = parse_form(schema, check_size(schema, limits), limits)
    sensitive = {field.name for field in request.form.fields if field.sensitive}
    fields = tuple(
        field.model_copy(update={"sensitive": True}) if field.name in sensitive else field for field in form.fields
    )
    unsupported = (*request.form.unsupported_fields, *form.unsupported_fields)
    return {
        "form": form.model_copy(update={"fields": fields, "unsupported_fields": unsupported}),
        "diagnostics": tuple(dict.fromkeys((*request.diagnostics, *found))),
    }


def to_wire(params: object) -> Mapping[str, Any]:
    """
    Return *params* as on the wire: camelCase names, no models.

    The params of every SDK version are a pydantic model whose aliases are
    the names on the wire.

    Raises:
        RequestError: If *params* is neither a dictionary nor a model, or a
            dictionary with the names of a model.
    """
    if isinstance(params, Mapping):
        for name, alias in _NAMES_IN_MODELS:  # model_dump() of mcp 2: the form or the ID would be lost
            if params.get(name) is not None and alias not in params:
                raise RequestError(f"`{alias}` is missing; use `by_alias=True` to dump params that have it")
        return params
    if not isinstance(params, BaseModel):
        raise RequestError("`params` must be an object")
    wire: dict[str, Any] = dict(params.model_extra or {})
    for name, info in type(params).model_fields.items():
        value = getattr(params, name, None)
        if isinstance(value, BaseModel):
            try:
                value = value.model_dump(mode="json", by_alias=True, exclude_unset=True)
            except ValueError:  # pydantic stops at a depth of 255
                raise RequestError(f"`{info.alias or name}` is nested too deep, or is not JSON") from None
        if value is not None:
            wire[info.alias or name] = value
    return wire


def check_size(wire: Mapping[str, Any], limits: Limits) -> WireSize:
    """
    Refuse a request that is too large or too deep.  No more is read than *limits* allow.

    Raises:
        RequestError: If *wire* is larger or deeper than *limits* allow.
    """
    left = limits.max_request
    has_nulls = False
    level: list[Any] = [wire]
    for _ in range(limits.max_nesting):
        names: list[Any] = []
        values: list[Any] = []
        for container in level:  # in Python, so that the event loop gets its turns while a thread does this
            left -= _COST_OF_A_VALUE * (1 + len(container))
            if left < 0:
                break
            if isinstance(container, (list, tuple)):
                values += container
            else:
                names += container
                values += container.values()
        level = []
        characters, nulls = _count_characters(values, level)
        has_nulls |= nulls
        left -= _length_of_names(names) + characters
        if left < 0:
            raise RequestError(f"the request is larger than {limits.max_request} characters")
        if not level:
            return WireSize(limits.max_request - left, has_nulls)
    raise RequestError(f"the request is nested more than {limits.max_nesting} deep")


def _count_characters(values: Iterable[Any], below: list[Any]) -> tuple[int, bool]:
    """Return the number of characters in *values*, and whether one is null.  Add containers to *below*."""
    characters, has_nulls = 0, False
    for each in values:
        kind = type(each)
        if kind is str:
            characters += len(each)
        elif kind is dict or kind is list:
            below.append(each)
        elif each is None:
            has_nulls = True
        elif kind not in _SCALARS:  # a type that JSON parsers do not create
            characters += len(each) if isinstance(each, str) else 0
            below += [each] if isinstance(each, (list, tuple, Mapping)) else []
    return characters, has_nulls


def _length_of_names(names: Sequence[Any]) -> int:
    try:
        return len("".join(names))
    except TypeError:
        raise RequestError("names must be strings") from None


def _target(url: object, url_rules: UrlRules) -> TargetUrl:
    if not isinstance(url, str):
        raise RequestError("`url` must be a string")
    return inspect_url(url, url_rules)


def _elicitation_id(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > MAX_ELICITATION_ID:
        raise RequestError(f"`elicitationId` must be a string of at most {MAX_ELICITATION_ID} characters")
    return value


def parse_form(schema: object, size: WireSize, limits: Limits) -> tuple[Form, tuple[Diagnostic, ...]]:
    """
    Return the form of a ``requestedSchema``, and non-fatal findings.

    An optional field that cannot be answered becomes one of the form's
    `unsupported_fields`.  Forms are remembered, unless their *size*
    (`check_size`) is above a million.

    Raises:
        RequestError: If *schema* is not a form, or if a required field cannot
            be answered.
    """
    if schema is None:
        missing = Diagnostic(code="schema_missing", message="there is no requestedSchema; the user is asked to confirm")
        return Form(), (missing,)
    if not isinstance(schema, dict):
        raise RequestError("`requestedSchema` must be an object")
    written = _written(schema, size)
    known = None if written is None else _KNOWN_FORMS.get(written, limits)
    if known is None:
        known = _read_form(schema, limits, has_nulls=size.has_nulls)
        if written is not None:
            _KNOWN_FORMS.add(written, known, limits)
    return known


class _KnownForms:
    """
    The forms that were read last, with their findings and limits, by their schemas.

    Servers send the same forms again and again, and each helper that a
    callback calls reads the params anew.

    Args:
        max_forms: How many are kept.
        max_size: The bytes that all take together, roughly.  A short schema
            can refer to its options many times.
    """

    def __init__(self, max_forms: int, max_size: int) -> None:
        self._max_forms = max_forms
        self._max_size = max_size
        self._size = 0
        self._forms: OrderedDict[bytes, tuple[_ReadForm, Limits]] = OrderedDict()
        self._lock = Lock()

    def get(self, written: bytes, limits: Limits) -> _ReadForm | None:
        with self._lock:
            known = self._forms.get(written)
            if known is None or known[1] != limits:
                return None
            self._forms.move_to_end(written)
        return known[0]

    def add(self, written: bytes, read: _ReadForm, limits: Limits) -> None:
        size = _size_in_memory(written, read)
        if size > self._max_size:
            return
        with self._lock:
            if written in self._forms:
                self._size -= _size_in_memory(written, self._forms.pop(written)[0])
            self._forms[written] = read, limits
            self._size += size
            while self._size > self._max_size or len(self._forms) > self._max_forms:
                first, (dropped, _) = self._forms.popitem(last=False)
                self._size -= _size_in_memory(first, dropped)


def _size_in_memory(written: bytes, read: _ReadForm) -> int:
    form, found = read
    return len(written) + _SIZE_OF_A_PART * (len(form.fields) + option_count(form) + len(found))


def _written(schema: dict[str, Any], size: WireSize) -> bytes | None:
    """Return *schema* in the format of `marshal`, which tells 1 from 1.0 and from true; None if it is too large."""
    if size.total > _MAX_WRITTEN:
        return None
    try:
        written = marshal.dumps(schema, 0)
    except ValueError:  # not plain data, as Python programs may pass it
        return None
    return written if len(written) <= _MAX_WRITTEN else None  # numbers have a size of 8, however long they are


_KNOWN_FORMS = _KnownForms(max_forms=128, max_size=12_000_000)


def _read_form(schema: Mapping[str, Any], limits: Limits, *, has_nulls: bool) -> _ReadForm:
    parser = SchemaParser(schema, limits, has_nulls=has_nulls)
    schema = {keyword: value for keyword, value in schema.items() if value is not None or keyword == "properties"}
    try:
        schema, _ = unwrap_schema(schema, parser.definitions, lambda _code, _message: None)
    except UnsupportedSchemaError as error:
        raise RequestError(f"`requestedSchema` {error}") from None
    return _form(schema, parser), tuple(parser.diagnostics)


def _form(schema: Mapping[str, Any], parser: SchemaParser) -> Form:
    if schema.get("type", "object") != "object":
        raise RequestError('`requestedSchema.type` must be "object"')
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise RequestError("`requestedSchema.properties` must be an object")
    required = _required(schema.get("required", []), parser)
    undeclared = [name for name in required if name not in properties]
    names = [*properties, *undeclared]
    if len(names) > parser.limits.max_fields:
        raise RequestError(f"the form has {len(names)} fields; at most {parser.limits.max_fields} are supported")
    for name in undeclared:
        parser.report("undeclared_field", "it is required but not declared; any text is accepted", name)
    for rule in sorted(_RULES_BETWEEN_FIELDS.intersection(schema)):
        parser.report("rule_not_checked", f"the form's {rule} is not checked")
    closed = schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False

    fields: list[Field] = []
    unsupported: list[str] = []
    normalized: set[str] = set()
    for name in names:
        field = _field_or_none(name, properties.get(name, not closed), normalized, parser, required=name in required)
        if field is not None:
            fields.append(field)
        elif is_unicode(name):
            unsupported.append(name)
    return Form(fields=tuple(fields), unsupported_fields=tuple(unsupported), rejects_unknown_fields=closed)


def _field_or_none(
    name: str, schema: object, normalized: set[str], parser: SchemaParser, *, required: bool
) -> Field | None:
    """Read one property; return None if it is optional and cannot be answered."""
    try:
        _check_name(name, normalized, parser.limits)
        return parse_field(name, schema, parser, required=required)
    except UnsupportedSchemaError as error:
        if required:
            shown = sanitize_and_cut(name, parser.limits.max_name).replace('"', "'")
            raise RequestError(f'the required field "{shown}" {error}', field=name) from None
        parser.report("unsupported_field", f"it {error}", name)
        return None


def _required(required: object, parser: SchemaParser) -> dict[str, None]:
    """Return the names of the required fields, in order, as the keys of a dictionary."""
    if not isinstance(required, list):
        parser.report("required_ignored", '"required" is not a list of names')
        return {}
    names = dict.fromkeys(each for each in required if isinstance(each, str))
    if len(names) < len(required):
        parser.report("required_ignored", '"required" contains duplicates, or values that are not names')
    return names


def _check_name(name: str, normalized: set[str], limits: Limits) -> None:
    """Refuse a name that is too long, not Unicode, or looks like one of *normalized*, to which it is added."""
    if len(name) > limits.max_name:
        raise UnsupportedSchemaError(f"has a name of more than {limits.max_name} characters")
    normal = name
    if not name.isascii():
        if not is_unicode(name):
            raise UnsupportedSchemaError("has a name that is not valid Unicode")
        normal = unicodedata.normalize("NFKC", name)
    if normal in normalized:
        raise UnsupportedSchemaError("has a name that looks like that of another field")
    normalized.add(normal)
