"""`Entry`: what an inbox shows of a request."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, TypeAdapter

from mcp_elicit_client.core.answer import Action
from mcp_elicit_client.core.request import AnyRequest
from mcp_elicit_client.exceptions import State
from mcp_elicit_client.typing import Request

_REQUESTS: TypeAdapter[Request] = TypeAdapter(AnyRequest)


class Entry(BaseModel):
    """
    A request in an inbox.  It never holds the values of an answer.

    Attributes:
        id: A random ID that cannot be guessed.
        owner: The user or conversation that may answer, as the host names it.
        request: The request as JSON, without the server's ``_meta``.
        state: ``pending``, or how the request was closed.
        answered_by: Who closed it: the user as the host names them,
            ``client``, ``clock`` or ``heartbeat``; empty while it is pending.
        updated_at: When it came into its state, in UTC.
        created_at: When it was stored, in UTC.
        expires_at: Until when it can be answered, in UTC.
        action: The action of the answer; None if there is no answer.
        call: The ID of the suspended call that it belongs to; None if a
            process waits for the answer.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    id: str
    owner: str
    request: dict[str, Any]
    state: State = "pending"
    answered_by: str = ""
    updated_at: datetime
    created_at: datetime
    expires_at: datetime
    action: Action | None = None
    call: str | None = None

    def read(self) -> Request:
        """Return `request` as a `FormRequest` or `UrlRequest`."""
        return _REQUESTS.validate_python(self.request)


class EntryPage(BaseModel):
    """
    A part of a list of entries.

    Attributes:
        entries: The entries.
        next_cursor: The cursor of the next page; None on the last page.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    entries: tuple[Entry, ...]
    next_cursor: str | None = None


def write_request(request: Request) -> str:
    """
    Return *request* as JSON.

    The server's ``_meta`` is omitted: users do not need it, and it is not
    sanitized.

    Raises:
        ValueError: If it contains text that is not valid Unicode.
    """
    return request.model_dump_json(exclude={"meta"})


def read_request(text: str) -> Request:
    """
    Read what `write_request` wrote.

    Raises:
        ValueError: If *text* is not a request.
    """
    return _REQUESTS.validate_json(text)


def request_schema() -> dict[str, Any]:
    """Return the JSON Schema of `Entry.request`, for front ends."""
    return _REQUESTS.json_schema(mode="serialization")
