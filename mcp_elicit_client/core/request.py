"""`FormRequest` and `UrlRequest`, the server that sent them, and their position in a batch."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, PrivateAttr, computed_field, field_validator
from pydantic import Field as Setting

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.diagnostics import Diagnostic, has_warning
from mcp_elicit_client.core.form import Form, form_digest
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.text import is_unicode, sanitize_and_cut
from mcp_elicit_client.core.url.inspect import TargetUrl, UrlRules

ProtocolVersion: TypeAlias = Literal["2025-06-18", "2025-11-25", "2026-07-28"]
"""A protocol version that has elicitation."""

PROTOCOL_VERSIONS: tuple[ProtocolVersion, ...] = get_args(ProtocolVersion)
"""The protocol versions that have elicitation, oldest first."""

FIRST_MULTI_ROUND_TRIP_VERSION = "2026-07-28"
"""
The first protocol version with multi-round-trip requests.  From this version
on, the server continues as soon as it has the answer, and an answer cannot be
an error.
"""


MIN_TIMEOUT = 240.0
"""The default answer timeout of a short form and of a URL, in seconds."""

MAX_TIMEOUT = 1_800.0
"""The default answer timeout of the longest form, in seconds."""

SECONDS_PER_FIELD = 40.0
"""The time for each field of a form, in seconds."""

MAX_EXTENSIONS = 10
"""How often a user can extend a deadline, each time by the whole answer timeout (WCAG 2.2.1)."""


MAX_CLAIM = 200
"""The longest `Server.claimed_name`, in characters; the rest is cut off."""


class Server(BaseModel):
    """
    The server that sends a request.

    Attributes:
        name: The name that the host application gave the server.  Trusted,
            shown first.
        claimed_name: The name that the server reports.  Untrusted: any server
            can report any name.  Shown second and marked.  Sanitized.
        transport: How the server is reached (``stdio``, ``http``), if known.
        origin: Where the server is reached, if known: a command or an origin.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    name: str
    claimed_name: str | None = None
    transport: str | None = None
    origin: str | None = None

    @field_validator("claimed_name")
    @classmethod
    def _sanitize(cls, claimed: str | None) -> str | None:
        return None if claimed is None else sanitize_and_cut(claimed, MAX_CLAIM)

    @classmethod
    def from_name(cls, server: "Server | str") -> "Server":
        """
        Return *server*, or a `Server` with that name.

        Raises:
            TypeError: If *server* is neither a string nor a `Server`.
            ValueError: If the name is blank.
        """
        if not isinstance(server, (str, cls)):
            hint = " Pass the handler first and the server second." if callable(server) else ""
            raise TypeError(f"The server must be a string or a Server, not {type(server).__name__}.{hint}")
        known = cls(name=server) if isinstance(server, str) else server
        if not known.name.strip():
            raise ValueError("The server name is empty. Pass the name that your users see.")
        return known


class BatchPosition(BaseModel):
    """
    The position of a request among those that the server sends together.

    Attributes:
        number: The position, from 1 on.
        total: The number of requests.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    number: int
    total: int


class Completion(Protocol):
    """Reports whether the server considers a URL elicitation complete.  The server may never say so."""

    def is_finished(self) -> bool:
        """Return True if the server reported completion."""
        ...

    async def wait(self) -> None:
        """Wait until the server reports completion."""
        ...


MAX_USER = 256
"""The longest `FormRequest.user`, in characters."""


def check_user(user: object, name: str = "user") -> str | None:
    """
    Return *user*, the argument *name*, if it may be a `FormRequest.user`.

    Raises:
        ValueError: If it is not None and not a text of 1 to 256 characters
            that is valid Unicode.
    """
    if user is None:
        return None
    if not isinstance(user, str):
        raise ValueError(f"`{name}` must be a string or None, not {type(user).__name__}.")  # noqa: TRY004 -- as below
    if not 1 <= len(user) <= MAX_USER:
        raise ValueError(f"`{name}` must have 1 to {MAX_USER} characters, not {len(user)}.")
    if not is_unicode(user):
        raise ValueError(f"`{name}` must be valid Unicode.")
    return user


class _Request(BaseModel):
    # `defer_build`: a validator is built at its first use; a base class needs none.  The import is faster without.
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    server: Server
    user: Annotated[str, Setting(min_length=1, max_length=MAX_USER)] | None = None
    claimed_origin: tuple[str, ...] = ()
    message: str
    protocol_version: str | None = None
    tool: str | None = None
    request_id: str | int | None = None
    batch_position: BatchPosition | None = None
    deadline: datetime | None = None
    max_deadline: datetime | None = None
    can_block: bool = False
    meta: dict[str, Any] = Setting(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    # The limits and URL rules with which the request was read: others are applied only if they differ.
    _read_with: tuple[Limits, UrlRules | None] | None = PrivateAttr(default=None)

    # The limits of its answer, if the request was read from a store.
    _stored_limits: Limits | None = PrivateAttr(default=None)

    # Called with the new deadline when the user extends it.
    _on_extension: Callable[[datetime], object] | None = PrivateAttr(default=None)

    def __eq__(self, other: object) -> bool:
        # Private attributes say how the request reached this process, not what it asks.
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.server, self.message, self.request_id))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def origin(self) -> tuple[str, ...]:
        """
        The chain of servers that the request came through, nearest first.

        The first is the name that the host gave the server.  The others are
        `claimed_origin`, and untrusted.
        """
        return self.server.name, *self.claimed_origin

    def extend_deadline(self, deadline: datetime) -> None:
        """
        Give the user time until *deadline*, at most until `max_deadline`.  Only in the process that asks.

        An earlier time than that of the request has no effect, nor has any
        time if `max_deadline` is None.

        Raises:
            TypeError: If *deadline* is not a ``datetime``.
            ValueError: If it has no time zone.
        """
        check_type("deadline", deadline, datetime)
        if deadline.tzinfo is None:
            raise ValueError("`deadline` has no time zone. Make it from `datetime.now(timezone.utc)`.")
        if self._on_extension is not None and self.max_deadline is not None:
            self._on_extension(min(deadline, self.max_deadline))


class FormRequest(_Request, defer_build=False):
    """
    A request for a form.

    Attributes:
        server: The server that sent the request.
        user: The user or conversation that the request is for, as the host
            application calls it: 1 to 256 characters.  None if there is only
            one.
        claimed_origin: The servers behind a gateway, nearest first, as the
            gateway reports them.  Untrusted: any server can report any names.
            Sanitized, at most four.  Empty if no gateway relayed the request.
        message: The server's message.  Sanitized.
        form: The form.  A form without fields asks for confirmation.
        protocol_version: The protocol version of the session, if known.
        tool: The tool that was called when the server asked, if known.
        request_id: The ID of the request in its session, if known.
        batch_position: The position among requests that were sent together.
        deadline: When the request expires; None if it does not.
        max_deadline: Until when the user can extend the deadline; None if
            the user cannot.
        can_block: The user may be offered to block the server
            (`Answer.block_server`).
        meta: The server's ``_meta``.  **Not sanitized.**
        diagnostics: Non-fatal findings about the request.
        remember_seconds: The user may be offered that the same request is
            answered the same way for so many seconds (`Answer.remember`);
            None if not.  A policy sets it.  Requests with a warning reach
            handlers without it.
    """

    mode: Literal["form"] = "form"
    form: Form
    remember_seconds: float | None = None


RespondAfter: TypeAlias = Literal["consent", "completion"]
"""
When to answer a URL request.

``consent``: when the user agrees to open the URL.  ``completion``: when the user
has finished there, because the server continues as soon as it has the answer.
"""


class UrlRequest(_Request):
    """
    A request to open a URL.

    Attributes:
        target: The inspected URL.
        elicitation_id: The server's ID for this elicitation.  **Not
            sanitized.**  None from protocol version 2026-07-28 on.
        respond_after: ``consent``: answer when the user agrees to open the
            URL.  ``completion``: answer when the user has finished there.
        previous_visits: How often the user consented to this URL during this
            call.  If more than 0, the server reports that the user has not
            finished.

    The other attributes are those of `FormRequest`.
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
        Reports completion; None if nothing listens for it.

        It stays in the process that listens: the JSON form of the request
        does not contain it.
        """
        return self._completion


Request: TypeAlias = FormRequest | UrlRequest
"""A request of a server: a form or a URL."""


def limits_of(request: Request) -> Limits:
    """Return the limits of an answer to *request*: those with which it was read, or that were stored with it."""
    read_with = request._read_with  # noqa: SLF001 -- set by `core.parse`
    return (request._stored_limits or DEFAULT_LIMITS) if read_with is None else read_with[0]  # noqa: SLF001


def with_stored_limits(request: Request, limits: Limits) -> Request:
    """Return *request*, which was stored with the *limits* of its answer, so that `limits_of` returns them."""
    request._stored_limits = limits  # noqa: SLF001
    return request


def with_deadline(
    request: Request,
    deadline: datetime,
    max_deadline: datetime | None,
    on_extension: Callable[[datetime], object] | None = None,
) -> Request:
    """
    Return *request* with another deadline.

    Args:
        request: The request.
        deadline: When it expires.
        max_deadline: Until when the user can extend that; None if the user
            cannot.
        on_extension: Called with the new deadline when the user extends it,
            in the event loop of the handler.
    """
    copy = request.model_copy(update={"deadline": deadline, "max_deadline": max_deadline})
    copy._on_extension = on_extension  # noqa: SLF001 -- stays in this process
    return copy


def user_and_server_of(request: Request) -> tuple[str | None, str]:
    """Return the key under which policies store their state: one user's requests never affect another user's."""
    return request.user, request.server.name


def with_completion(request: UrlRequest, completion: Completion | None) -> UrlRequest:
    """Return *request* with *completion*."""
    copy = request.model_copy()
    copy._completion = completion  # noqa: SLF001 -- stays in this process
    return copy


def default_answer_timeout(request: Request) -> float:
    """Return the seconds that a user has for *request* by default: in proportion to its form."""
    fields = len(request.form.fields) if isinstance(request, FormRequest) else 0
    return min(max(MIN_TIMEOUT, SECONDS_PER_FIELD * fields), MAX_TIMEOUT)


def latest_deadline(started_at: datetime, deadline: datetime) -> datetime:
    """Return until when a user can extend *deadline* of a request that was shown at *started_at*."""
    return deadline + MAX_EXTENSIONS * (deadline - started_at)


def may_remember(request: Request) -> bool:
    """Return True if the user may be offered that the same request is answered the same way for some time."""
    return isinstance(request, FormRequest) and request.remember_seconds is not None


def without_unsafe_offers(request: Request) -> Request:
    """Return *request* without the offer to remember the answer, if there is a warning about it."""
    if isinstance(request, UrlRequest) or request.remember_seconds is None:
        return request
    return request if is_safe_to_remember(request) else request.model_copy(update={"remember_seconds": None})


def is_safe_to_remember(request: FormRequest) -> bool:
    """Return True if there is no warning about *request*, and no field whose text is hidden."""
    return not has_warning(request.diagnostics) and not any(each.is_hidden for each in request.form.fields)


def request_key(request: Request) -> str:
    """Return a text that two requests share if they have the same origin, message, and form or URL."""
    subject = form_digest(request.form) if isinstance(request, FormRequest) else request.target.url
    return repr((request.mode, request.origin, request.message, subject))


AnyRequest: TypeAlias = Annotated[Request, Setting(discriminator="mode")]
