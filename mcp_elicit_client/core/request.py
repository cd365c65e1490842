"""The only door for untrusted JSON: behind it there are requests, and no JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr
from pydantic import Field as Setting

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.core.url.inspect import TargetUrl

FIRST_MULTI_ROUND_TRIP_VERSION = "2026-07-28"
"""
From this protocol revision on, a server asks by returning from the call, and
is called again with the answers: it looks the moment an answer is given, and
an answer has no place for an error.
"""


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
            this server again (`Answer.block_server`).
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
