"""The only door for untrusted JSON: behind it there are requests, and no JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr
from pydantic import Field as Setting

from mcp_elicit_client.core.forms import Form
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.problems import Diagnostic
from mcp_elicit_client.core.schemas import parse_form
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.urls import DEFAULT_URL_RULES, TargetUrl, UrlRules, inspect_url
from mcp_elicit_client.exceptions import RequestError

FIRST_MULTI_ROUND_TRIP_VERSION = "2026-07-28"
"""
From this protocol revision on, a server asks by returning from the call, and
is called again with the answers: it looks the moment an answer is given, and
an answer has no place for an error.
"""

MAX_ELICITATION_ID = 1_024
"""The longest ``elicitationId``, in characters."""

_COST_OF_A_VALUE = 8
_SCALARS = frozenset({int, float, bool, type(None)})


class Server(BaseModel):
    """
    Who asks.

    Attributes:
        name: What the host application calls the server.  Trusted, shown first.
        claimed_name: What the server calls itself.  Anybody can claim any
            name: shown second and in quotes, if at all.  Safe to show.
        transport: How the server is reached (``stdio``, ``http``), if known.
        origin: Where it is reached, if known: a command or an origin.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    name: str
    claimed_name: str | None = None
    transport: str | None = None
    origin: str | None = None

    @classmethod
    def from_name(cls, server: Server | str) -> Server:
        """Return *server*, or a server of that name of which nothing else is known."""
        return cls(name=server) if isinstance(server, str) else server


UNNAMED_SERVER = Server(name="a server that the application did not name")


class BatchPosition(BaseModel):
    """
    Where a question stands among those that the server asks at once.

    Attributes:
        number: Which it is, from 1 on.
        of: How many there are.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    number: int
    total: int


class Completion(Protocol):
    """Something that the server may tell to be finished, or never."""

    def is_finished(self) -> bool:
        """Tell whether the server has said so."""
        ...

    async def wait(self) -> None:
        """Wait until the server says so; it may never do."""
        ...


StandIn: TypeAlias = Callable[[Any], Awaitable[Any]]
"""A handler (see `typing`) that takes the place of others for one request."""


R = TypeVar("R", bound="_Request")


class _Request(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    server: Server
    message: str
    protocol_version: str | None = None
    tool: str | None = None
    request_id: str | int | None = None
    batch_position: BatchPosition | None = None
    deadline: datetime | None = None
    can_block: bool = False
    meta: dict[str, Any] = Setting(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    resumed: bool = False

    _stand_in: StandIn | None = PrivateAttr(default=None)

    @property
    def stand_in(self) -> StandIn | None:
        """
        Who is asked in place of the handlers that the host application registered; None for them.

        A question that is parked has one: policies see it as any other, and
        where a person would be asked it is put into an inbox.  It stays in
        this process: the JSON form of the request is without it.
        """
        return self._stand_in

    def with_stand_in(self: R, stand_in: StandIn) -> R:  # noqa: PYI019 -- Self comes with Python 3.11
        """Return the same request, for *stand_in* in place of whoever is registered."""
        request = self.model_copy()
        request._stand_in = stand_in  # noqa: SLF001 -- its own
        return request


class FormRequest(_Request):
    """
    A server asks for a form to be filled in.

    Attributes:
        server: Who asks.
        message: What for, in the server's words.  Safe to show.
        form: What to fill in.  Without fields it is a question to confirm.
        protocol_version: The protocol revision of the session, if known.
        tool: The tool during whose call the server asks, if known.
        request_id: The request's id in its session, if known.
        batch_position: Where it stands among several that were asked at once.
        deadline: When the question is withdrawn unless it was answered; None
            if never.
        can_block: Whether the user may be offered never to be asked for
            this server again (`Answer.never_again`).
        meta: The server's ``_meta``.  **Not safe to show.**
        diagnostics: What was wrong with the request, but survivable.
        resumed: Whether it was asked and answered before, and its call was
            parked meanwhile: nobody is asked now, and what bounds asking lets
            it pass.
    """

    mode: Literal["form"] = "form"
    form: Form


RespondAfter: TypeAlias = Literal["consent", "completion"]
"""
When the answer to a URL is due: once the user has agreed to go there, or once
the user is done there, since the server looks as soon as it has the answer.
"""


class UrlRequest(_Request):
    """
    A server asks for a URL to be visited.

    Attributes:
        target: The URL, inspected.
        elicitation_id: The server's id for this visit, opaque and **not safe
            to show**; None from protocol revision 2026-07-28 on.
        respond_after: When the answer is due.
        previous_visits: How often the user has agreed to this very URL during this
            call.  If any, the server says that the visit is not finished.

    The others are as in `FormRequest`.
    """

    mode: Literal["url"] = "url"
    target: TargetUrl
    elicitation_id: str | None = None
    respond_after: RespondAfter = "consent"
    previous_visits: int = 0

    _completion: Completion | None = PrivateAttr(default=None)

    @property
    def completion(self) -> Completion | None:
        """
        What tells that the server has seen the visit finished.

        None where nobody listens for it.  It stays in the process that
        listens: the JSON form of the request is without it.
        """
        return self._completion

    def with_completion(self, completion: Completion | None) -> UrlRequest:
        """Return the same request, finished when *completion* is."""
        request = self.model_copy()
        request._completion = completion  # noqa: SLF001 -- its own
        return request


Request: TypeAlias = FormRequest | UrlRequest


def request_key(request: Request) -> str:
    """Tell a question from others: the same text for two requests that ask the same in the same words."""
    what = repr(request.form) if isinstance(request, FormRequest) else request.target.url
    return f"{request.mode} {request.message} {what}"


AnyRequest: TypeAlias = Annotated[Request, Setting(discriminator="mode")]


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
        problems.append(Diagnostic(code="truncated", message=f"the message was longer than {limits.max_message} characters"))
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
                respond_after=respond_after or ("completion" if (protocol_version or "") >= FIRST_MULTI_ROUND_TRIP_VERSION else "consent"),
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
