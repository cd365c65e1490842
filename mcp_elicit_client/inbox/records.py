"""`Entry`, what an inbox shows of a request, and `RecordCodec`, which encodes what a store keeps."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timezone
from functools import cached_property
from itertools import accumulate
from types import NoneType
from typing import Any, ClassVar, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, PrivateAttr, TypeAdapter, ValidationError, computed_field

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.answer import Action, Answer
from mcp_elicit_client.core.deferred import build_models
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.request import (
    AnyRequest,
    UrlRequest,
    default_answer_timeout,
    latest_deadline,
    limits_of,
    request_key,
    with_stored_limits,
)
from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.core.text import is_unicode
from mcp_elicit_client.exceptions import InboxError, State
from mcp_elicit_client.inbox.encryption import Cipher
from mcp_elicit_client.inbox.stores.models import Resolution, StoredCall, StoredRequest
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.form_input import sources_of
from mcp_elicit_client.presentation.warnings import request_warnings
from mcp_elicit_client.typing import FormRequest, Request

FORMAT = 1
"""The format number of stored texts.  Increase it when what is encoded below changes."""

UNTRUSTED = (
    "request.message",
    "request.tool",
    "request.server.claimed_name",
    "request.claimed_origin",
    "request.origin",
    "request.request_id",
    "request.form",
    "request.target",
    "request.elicitation_id",
    "request.diagnostics.field",
    "answer_schema",
)
"""What the server spelled in the JSON of a request.  User interfaces must mark it as text of the server."""

_ID_BYTES = 24
_MAX_ID = 64
_MAX_CURSOR_DIGITS = 18
_MAX_LATEST = 8
_MAX_PAGE = 1_000_000  # characters of requests: a page is read and written in one step of the event loop
_MAX_OWNER = 2_048  # An index of PostgreSQL can keep a little more.
_STORED_OF_ANSWER = ("action", "content", "block_server", "confirmed", "remember")


POLICY = "policy"
"""How `Entry.answered_by` begins if a policy declined the request before it was stored."""


class Entry(BaseModel):
    """
    A request in an inbox.  It never holds the values of an answer.

    Attributes:
        id: A random ID that cannot be guessed.
        owner: The user or conversation that may answer, as the host names it.
        request: The request as JSON, without the server's ``_meta``.
        state: ``pending``, or how the request was closed.
        answered_by: Who closed it: the user as the host names them,
            ``client``, ``clock`` or ``heartbeat``; ``policy`` and a name if it
            was declined before it was stored; empty while it is pending.
        updated_at: When it came into its state, in UTC.
        created_at: When it was stored, in UTC.
        expires_at: Until when it can be answered, in UTC.
        max_expires_at: Until when the user can extend `expires_at`, in UTC.
        action: The action of the answer; None if there is no answer.
        call: The ID of the suspended call that it belongs to; None if a
            process waits for the answer.
        warnings: What the user must be shown besides the request, as
            `request_warnings` lists it, in English: objects with ``code``,
            ``text`` and ``is_note``.
        answer_schema: The form as a ``requestedSchema``: the JSON Schema of
            the content of an answer.  None for a URL.
        untrusted: The paths of the texts that come from the server.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    id: str
    owner: str
    state: State = "pending"
    answered_by: str = ""
    updated_at: datetime
    created_at: datetime
    expires_at: datetime
    max_expires_at: datetime
    action: Action | None = None
    call: str | None = None
    _stored: _StoredText = PrivateAttr()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def request(self) -> dict[str, Any]:
        """The request as JSON, without the server's ``_meta``."""
        return _request_data(self.read())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def warnings(self) -> tuple[dict[str, Any], ...]:
        """The warnings to show with the request."""
        return warnings_data(self.read())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def answer_schema(self) -> dict[str, Any] | None:
        """The form as a ``requestedSchema``: the JSON Schema of the content of an answer.  None for a URL."""
        return answer_schema(self.read())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def untrusted(self) -> tuple[str, ...]:
        """The paths of the texts that the server spelled."""
        return UNTRUSTED

    def read(self) -> Request:
        """
        Return `request` as a `FormRequest` or `UrlRequest`.

        Raises:
            InboxError: If it is not a request.
        """
        return self._stored.request


def notice_of(entry: Entry) -> Notice | None:
    """Return the notice that a policy declined the request before it was stored; None otherwise."""
    who, _, policy = entry.answered_by.partition(" ")
    if who != POLICY or entry.owner == entry.answered_by or entry.action != "decline":
        return None
    return Notice.model_construct(request=entry.read(), policy=policy, reason="")


class EntryPage(BaseModel):
    """
    A part of a list of entries.  Large requests make it shorter than its limit.

    Attributes:
        entries: The entries.
        next_cursor: The cursor of the next page; None on the last page.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    entries: tuple[Entry, ...]
    next_cursor: str | None = None


def write_request(request: Request) -> str:
    """
    Return *request* as JSON for a store.

    What is None is omitted, which takes a third less memory, and what follows
    from other members.  The server's ``_meta`` is omitted as well: users do
    not need it, and it is not sanitized.

    Raises:
        ValueError: If it contains text that is not valid Unicode.
    """
    return request.model_dump_json(exclude={"meta", "origin"}, exclude_none=True)


def _request_data(request: Request) -> dict[str, Any]:
    """Return *request* as JSON data with all members but the server's ``_meta``; raises as `write_request`."""
    return request.model_dump(mode="json", exclude={"meta"})


def question_data(request: Request) -> dict[str, Any]:
    """
    Return *request* as JSON data for user interfaces in other processes.

    It has the schema of the answer, the warnings that the user must be shown,
    and the paths of the texts that the server spelled.

    Raises:
        ValueError: If it contains text that is not valid Unicode.
    """
    return {
        "request": _request_data(request),
        "answer_schema": answer_schema(request),
        "warnings": list(warnings_data(request)),
        "untrusted": list(UNTRUSTED),
    }


def answer_schema(request: Request) -> dict[str, Any] | None:
    """
    Return the JSON Schema of the content of an answer to *request*; None for a URL.

    It is that of `to_schema` wherever a valid ``requestedSchema`` can express
    the form.
    """
    return write_schema(request.form) if isinstance(request, FormRequest) else None


def warnings_data(request: Request) -> tuple[dict[str, Any], ...]:
    """Return the warnings about *request* as JSON data, in English."""
    return tuple(asdict(warning) for warning in request_warnings(request, ENGLISH))


def read_request(text: str) -> Request:
    """
    Read what `write_request` wrote.

    Raises:
        ValueError: If *text* is not a request.
    """
    try:
        return FormRequest.model_validate_json(text)
    except ValidationError:  # the models of URLs are built at their first use
        build_models(UrlRequest)
        return UrlRequest.model_validate_json(text)


def request_schema() -> dict[str, Any]:
    """Return the JSON Schema of `Entry.request`, for front ends."""
    build_models(UrlRequest)
    return TypeAdapter(AnyRequest).json_schema(mode="serialization")


def draft_key(request: Request) -> str:
    """Return the key of the draft of *request*: the same if the server sends the same request again."""
    return hashlib.sha256(request_key(request).encode()).hexdigest()


MESSAGE_IDS = "message_ids"
"""The member of a progress with the messages that show the request.  It is kept for a moment after the end."""


def progress_key(entry_id: str) -> str:
    """Return the key of what a user interface keeps of one request only."""
    return f"progress {entry_id}"


class _StoredText:
    """
    A request in a store.  Its text is read when it is needed.

    Args:
        latest: The latest time at which it can expire.
        text: The request as JSON.
        limits: The limits of its answer.

    Attributes:
        latest: The same as the argument.
    """

    def __init__(self, latest: datetime, text: str, limits: Limits) -> None:
        self.latest = latest
        self._text = text
        self._limits = limits

    @cached_property
    def request(self) -> Request:
        """
        The request.

        Raises:
            InboxError: If the text is not a request.
        """
        try:
            return with_stored_limits(read_request(self._text), self._limits)
        except ValueError:
            raise _unreadable() from None


class RecordCodec:
    """
    Encodes and decodes what a store keeps.

    Each text begins with the format number and a colon.  Every method that
    decodes raises `InboxError` if the text cannot be read.

    Args:
        cipher: Encrypts the texts.
        answer_timeout: Seconds for which a request without a deadline can be
            answered; None for a time in proportion to its form.
    """

    def __init__(self, cipher: Cipher, answer_timeout: float | None) -> None:
        self._cipher = cipher
        self._answer_timeout = answer_timeout
        self._latest: OrderedDict[tuple[str, str], tuple[StoredRequest, _StoredText]] = OrderedDict()

    def new_id(self) -> str:
        """Return a random ID that cannot be guessed.  It does not begin with a hyphen, as options of commands do."""
        while (new := secrets.token_urlsafe(_ID_BYTES)).startswith("-"):
            pass
        return new

    def new_request(self, owner: str, request: Request, now: float, call_id: str = "") -> StoredRequest:
        """
        Encode a new request.

        Args:
            owner: The user or conversation that may answer it.
            request: The request.
            now: The current time, in seconds since 1970.
            call_id: The suspended call that it belongs to.

        Raises:
            InboxError: If *owner* contains a character that not every store
                can keep.
            ValueError: If the request cannot be written as JSON.
        """
        check_owner(owner)
        expires_at = now + self._timeout(request) if request.deadline is None else request.deadline.timestamp()
        if request.deadline is None:
            latest = latest_deadline(_time(now), _time(expires_at))
        else:
            latest = request.max_deadline or request.deadline
        entry_id = self.new_id()
        # With the latest time at which it can expire, so that entries can be listed before their requests are read.
        head = f"{latest.timestamp()}{_write_limits(limits_of(request))}"
        text = self._encode(f"{head} {write_request(request)}", _request_context(entry_id, owner))
        return StoredRequest(entry_id, owner, text, created_at=now, expires_at=expires_at, call_id=call_id)

    def extended(self, stored: StoredRequest) -> float:
        """Return when *stored* expires if the user extends its deadline, in seconds since 1970."""
        decoded = self._decoded(stored)
        request = decoded.request
        step = self._timeout(request) if request.deadline is None else request.deadline.timestamp() - stored.created_at
        return max(min(stored.expires_at + step, decoded.latest.timestamp()), stored.expires_at)

    def encode_draft(self, owner: str, key: str, text: str) -> str:
        """Encode a draft, so that it fits only its owner and key."""
        return self._encode(text, _draft_context(owner, key))

    def decode_draft(self, owner: str, key: str, draft: str) -> str:
        """Return the text of a draft."""
        return self._decode(draft, _draft_context(owner, key))

    def _timeout(self, request: Request) -> float:
        return default_answer_timeout(request) if self._answer_timeout is None else self._answer_timeout

    def decode_request(self, stored: StoredRequest) -> Request:
        """Return the request in *stored*."""
        return self._decoded(stored).request

    def _decoded(self, stored: StoredRequest) -> _StoredText:
        """Return what *stored* contains.  The latest are kept, since each step of a conversation reads them again."""
        place = (stored.id, stored.owner)
        before, found = self._latest.pop(place, (stored, None))
        if found is None or before.request != stored.request:
            head, _, text = self._decode(stored.request, _request_context(stored.id, stored.owner)).partition(" ")
            latest, *limits = head.split("/")
            try:
                found = _StoredText(_time(float(latest)), text, _read_limits(limits))
            except (ValueError, OverflowError):
                raise _unreadable() from None
        # Not with an answer, which is to be erased.
        self._latest[place] = (stored if stored.resolution is None else stored._replace(resolution=None)), found
        if len(self._latest) > _MAX_LATEST:
            self._latest.popitem(last=False)
        return found

    def latest(self, owner: str, entry_id: str) -> StoredRequest | None:
        """
        Return a request as it was read last, without its resolution; None if it is not one of the latest.

        It may have been closed or extended since.  Nothing else of a stored request changes.
        """
        found = self._latest.get((entry_id, owner))
        return None if found is None else found[0]

    def entry(self, stored: StoredRequest) -> Entry:
        """Return the part of a request that its owner may see."""
        resolution = stored.resolution
        decoded = self._decoded(stored)
        entry = Entry(
            id=stored.id,
            owner=stored.owner,
            state="pending" if resolution is None else resolution.state,
            answered_by="" if resolution is None else resolution.answered_by,
            updated_at=_time(stored.created_at if resolution is None else resolution.updated_at),
            created_at=_time(stored.created_at),
            expires_at=_time(stored.expires_at),
            max_expires_at=decoded.latest,
            call=stored.call_id or None,
            action=self._action(stored, resolution),
        )
        entry._stored = decoded  # noqa: SLF001 -- a model has no other way to take what is not one of its fields
        return entry

    def page(self, stored: Sequence[StoredRequest], limit: int, cursors: Sequence[int]) -> EntryPage:
        """Return the first of *stored*, at most *limit*, as a page.  *cursors* are their positions in the list."""
        sizes = accumulate(len(each.request) for each in stored[:limit])
        count = max(sum(size <= _MAX_PAGE for size in sizes), min(limit, 1))
        next_cursor = str(cursors[count - 1]) if len(stored) > count > 0 else None
        return EntryPage(entries=tuple(map(self.entry, stored[:count])), next_cursor=next_cursor)

    def encode_answer(self, stored: StoredRequest, answer: Answer, answered_by: str, now: float) -> Resolution:
        """
        Encode an answer and its action, so that neither fits another request or another question.

        Args:
            stored: The request as it is stored.
            answer: What the user answered.
            answered_by: Who answered.
            now: The current time, in seconds since 1970.
        """
        given = {name: getattr(answer, name) for name in _STORED_OF_ANSWER}
        text = self._encode(json.dumps({**given, "answered_by": answered_by}), _answer_context("answer", stored))
        action = self._encode(answer.action, _answer_context("action", stored))
        return Resolution("answered", answered_by, now, action, text)

    def decode_answer(self, stored: StoredRequest, resolution: Resolution, request: Request | None = None) -> Answer:
        """Return the answer to a request that was closed by *resolution*; without *request*, read the stored one."""
        match resolution.state:
            case "answered" if resolution.answer is not None:
                text = self._decode(resolution.answer, _answer_context("answer", stored))
                action = self._action(stored, resolution)
                try:
                    given = json.loads(text)
                    reason = f"answered by {given.pop('answered_by')}"
                    sources = sources_of(request or self.decode_request(stored), given["content"])
                    answer = Answer.model_validate({"by": "user", "reason": reason, "sources": sources, **given})
                except (ValueError, TypeError, LookupError, AttributeError):
                    raise InboxError("The inbox contains an answer that cannot be read.") from None
                if answer.action != action:
                    raise InboxError("The inbox contains an answer whose action was changed.")
                return answer
            case "withdrawn":
                return Answer.cancel(by="host", reason="the request was withdrawn")
            case "expired":
                return Answer.cancel(by="timeout", reason="the request was not answered in time")
            case _:
                return Answer.cancel(by="error", reason="the answer was lost")

    def encode_call(self, owner: str, call_id: str, body: str, request_ids: Sequence[str]) -> str:
        """Encode what is needed to resume a suspended call, so that it fits only the answers to its own requests."""
        return self._encode(body, _call_context(call_id, owner, request_ids))

    def decode_call(self, call: StoredCall) -> str:
        """Return what is needed to resume *call*."""
        return self._decode(call.body, _call_context(call.id, call.owner, call.request_ids))

    def _action(self, stored: StoredRequest, resolution: Resolution | None) -> Action | None:
        if resolution is None or resolution.state != "answered":
            return None
        action = self._decode(resolution.action, _answer_context("action", stored))
        if action not in get_args(Action):
            raise InboxError("The inbox contains an answer that cannot be read.")
        return cast("Action", action)

    def _encode(self, text: str, context: str) -> str:
        return f"{FORMAT}:{self._cipher.encrypt(text, f'{FORMAT} {context}')}"

    def _decode(self, stored: str, context: str) -> str:
        number, _, text = stored.partition(":")
        if number != str(FORMAT):
            found = f"format {number}" if number.isascii() and number.isdigit() else "an unknown format"
            raise InboxError(
                f"The inbox contains data of {found}, but this version of mcp-elicit-client needs format {FORMAT}."
                " Use an empty store, or the version that wrote the data."
            )
        return self._cipher.decrypt(text, f"{FORMAT} {context}")


def _write_limits(limits: Limits) -> str:
    """Return the limits that apply to an answer; empty for the default ones."""
    values = limits.max_answer, limits.max_integer
    is_default = values == (DEFAULT_LIMITS.max_answer, DEFAULT_LIMITS.max_integer)
    return "" if is_default else "/{}/{}".format(*values)


def _read_limits(texts: Sequence[str]) -> Limits:
    """Read what `_write_limits` wrote; raises `ValueError` if it is something else."""
    if not texts:
        return DEFAULT_LIMITS
    max_answer, max_integer = map(int, texts)
    return replace(DEFAULT_LIMITS, max_answer=max_answer, max_integer=max_integer)


def check_owner(owner: str) -> None:
    """
    Check that every store can keep the requests of *owner*.

    Raises:
        InboxError: If that is not so.
        TypeError: If *owner* is not a string.
    """
    check_type("owner", owner, str)
    if "\0" in owner:
        raise InboxError("The inbox cannot store a request whose owner contains a NUL character.")
    if not is_unicode(owner):
        raise InboxError("The inbox cannot store a request whose owner is not valid Unicode.")
    if len(owner.encode()) > _MAX_OWNER:
        raise InboxError(f"The inbox cannot store a request whose owner is longer than {_MAX_OWNER} bytes.")


def is_id(text: str) -> bool:
    """Return True if *text* may be an ID, so that every store can look for it."""
    return text.isascii() and text.isprintable() and len(text) <= _MAX_ID


def parse_cursor(text: str | None) -> int | None:
    """
    Read an `EntryPage.next_cursor`.

    Raises:
        TypeError: If it is not text.
        ValueError: If no page had it.
    """
    check_type("cursor", text, str, NoneType)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_CURSOR_DIGITS):
        raise ValueError("`cursor` must be the `next_cursor` of a page.")
    return int(text)


# Contexts bind a text to its place: it cannot be decrypted as another request, answer or call.


def _request_context(entry_id: str, owner: str) -> str:
    return f"request {entry_id} {owner}"


def _answer_context(what: Literal["answer", "action"], stored: StoredRequest) -> str:
    # The digest also binds the answer to the kind and the content of the request.
    digest = hashlib.sha256(stored.request.encode()).hexdigest()
    return f"{what} {stored.id} {digest} {stored.owner}"


def _call_context(call_id: str, owner: str, request_ids: Sequence[str]) -> str:
    return f"call {call_id} {json.dumps(request_ids)} {owner}"


def _draft_context(owner: str, key: str) -> str:
    return f"draft {key} {owner}"


def _unreadable() -> InboxError:
    return InboxError("The inbox contains a request that cannot be read.")


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
