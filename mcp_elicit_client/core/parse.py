"""`parse_request`: the only reader of a server's JSON.  It returns requests whose texts are safe to show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.request import (
    FIRST_MULTI_ROUND_TRIP_VERSION,
    BatchPosition,
    FormRequest,
    Request,
    RespondAfter,
    Server,
    UrlRequest,
)
from mcp_elicit_client.core.schema.form_parser import parse_form
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.url.inspect import DEFAULT_URL_RULES, TargetUrl, UrlRules, inspect_url
from mcp_elicit_client.exceptions import RequestError

MAX_ELICITATION_ID = 1_024
"""The longest ``elicitationId``, in characters."""
_COST_OF_A_VALUE = 8
_SCALARS = frozenset({int, float, bool, type(None)})
UNNAMED_SERVER = Server(name="a server that the application did not name")


def parse_request(  # noqa: PLR0913 -- who, where and how, all by keyword
    params: object,
    *,
    server: Server | str = UNNAMED_SERVER,
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

    Everything that is to be shown comes out safe to show, every limit
    checked, every default valid.  Nothing is fetched, opened or resolved,
    and *params* is not changed.

    Args:
        params: The wire's dictionary, or the params of any version of the
            SDK.  A `Request` comes back as it is.
        server: Who asks, as the host application knows it.
        protocol_version: The protocol revision of the session, if known.
        tool: The tool during whose call the server asks, if known.
        request_id: The request's id in its session, if known.
        batch_position: Where it stands among several that were asked at once.
        respond_after: When the answer to a URL is due; None for what
            *protocol* says.
        limits: How much is read and shown.
        url_rules: Which hosts beyond public https may be visited.

    Raises:
        RequestError: If nobody could answer.  Its text is fit for the server.
        UnsafeURLError: The same, for a URL that must not be opened.
    """
    if isinstance(params, (FormRequest, UrlRequest)):
        return params
    wire = to_wire(params)
    check_size(wire, limits)
    problems: list[Diagnostic] = []
    message = wire.get("message")
    if not isinstance(message, str):
        raise RequestError("message must be a text")
    if len(message) > limits.max_message:
        problems.append(
            Diagnostic(code="truncated", message=f"the message was longer than {limits.max_message} characters")
        )
    meta = wire.get("_meta")
    common: dict[str, Any] = {
        "server": Server.from_name(server),
        "message": sanitize_text(message, limit=limits.max_message),
        "protocol_version": protocol_version,
        "tool": tool,
        "request_id": request_id,
        "batch_position": batch_position,
        "meta": dict(meta) if isinstance(meta, Mapping) else {},
    }
    match wire.get("mode") or "form":
        case "form":
            form, found = parse_form(wire.get("requestedSchema"), limits)
            return FormRequest(**common, form=form, diagnostics=(*problems, *found))
        case "url":
            target = _target(wire.get("url"), url_rules)
            elicitation_id = _elicitation_id(wire.get("elicitationId"))
            return UrlRequest(
                **common,
                target=target,
                elicitation_id=elicitation_id,
                respond_after=respond_after
                or ("completion" if (protocol_version or "") >= FIRST_MULTI_ROUND_TRIP_VERSION else "consent"),
                diagnostics=tuple(problems),
            )
        case _:
            raise RequestError('mode must be "form" or "url"')


def to_wire(params: object) -> Mapping[str, Any]:
    """
    Return *params* as on the wire: camelCase names, no models.

    Works with the params of every SDK version, by what all of them are: a
    pydantic model whose aliases are the wire's names.

    Raises:
        RequestError: If *params* is neither a dictionary nor a model.
    """
    if isinstance(params, Mapping):
        return params
    if not isinstance(params, BaseModel):
        raise RequestError("params must be an object")
    wire: dict[str, Any] = dict(params.model_extra or {})
    for name, info in type(params).model_fields.items():
        value = getattr(params, name)
        if isinstance(value, BaseModel):
            value = value.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if value is not None:
            wire[info.alias or name] = value
    return wire


def _target(url: object, url_rules: UrlRules) -> TargetUrl:
    if not isinstance(url, str):
        raise RequestError("url must be a text")
    return inspect_url(url, url_rules)


def _elicitation_id(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > MAX_ELICITATION_ID:
        raise RequestError(f"elicitationId must be a text of at most {MAX_ELICITATION_ID} characters")
    return value


def check_size(wire: Mapping[str, Any], limits: Limits) -> None:
    """
    Refuse what is too large or too deep, having looked at no more than is allowed.

    Raises:
        RequestError: If *wire* is larger or deeper than *limits* allow.
    """
    left = limits.max_request
    level: list[Any] = [wire]
    for _ in range(limits.max_nesting):
        below: list[Any] = []
        for value in level:
            left -= _COST_OF_A_VALUE * (1 + len(value))
            if left < 0:
                break
            if not isinstance(value, (list, tuple)):
                left -= _length_of_names(value)
                value = value.values()  # noqa: PLW2901 -- what is left to look at
            left -= _count_characters(value, below)
        if left < 0:
            raise RequestError(f"the request is larger than {limits.max_request} characters")
        if not below:
            return
        level = below
    raise RequestError(f"the request is nested more than {limits.max_nesting} deep")


def _count_characters(values: Iterable[Any], below: list[Any]) -> int:
    """Count the characters among *values*, and put what holds more values into *below*."""
    characters = 0
    for each in values:
        kind = type(each)
        if kind is str:
            characters += len(each)
        elif kind is dict or kind is list:
            below.append(each)
        elif kind not in _SCALARS:  # of a kind that no JSON parser makes
            characters += len(each) if isinstance(each, str) else 0
            below += [each] if isinstance(each, (list, tuple, Mapping)) else []
    return characters


def _length_of_names(value: Mapping[Any, Any]) -> int:
    try:
        return len("".join(value))
    except TypeError:
        raise RequestError("names must be texts") from None
