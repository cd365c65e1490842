"""What an inbox shows of a question."""

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
    A question in an inbox, for whoever may answer it.

    It never holds the values of an answer.

    Attributes:
        id: Its unguessable name.
        owner: Whose question it is, as the host application says.
        request: The request in its JSON form, without the server's ``_meta``.
        state: What became of it.
        who: Who brought that about: the answerer as the host application
            names them, ``client``, ``clock`` or ``heartbeat``; empty while it waits.
        when: Since when it is in this state, in UTC.
        created: When it was asked, in UTC.
        expires: Until when it can be answered, in UTC.
        action: What the answer was; None without one.
        call: The id of the parked call that it belongs to (`calls.Parked`);
            None where a process waits for it.
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
        """Return the request itself."""
        return _REQUESTS.validate_python(self.request)


class EntryPage(BaseModel):
    """
    Some of the entries of an owner.

    Attributes:
        entries: The entries.
        after: Where the next page begins; None if this is the last.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    entries: tuple[Entry, ...]
    next_cursor: str | None = None


def write_request(request: Request) -> str:
    """
    Write *request* as JSON.

    The server's ``_meta`` is left out: nobody who answers needs it, and it is
    not safe to show.

    Raises:
        ValueError: If it holds a text that is not Unicode.
    """
    return request.model_dump_json(exclude={"meta"})


def read_request(text: str) -> Request:
    """
    Read what `write_request` wrote.

    Raises:
        ValueError: If it is nothing of the kind.
    """
    return _REQUESTS.validate_json(text)


def request_schema() -> dict[str, Any]:
    """Return the JSON Schema of `Entry.request`, for front ends."""
    return _REQUESTS.json_schema(mode="serialization")
