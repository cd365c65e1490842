"""What is said to a webhook, and what it may say."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from mcp_elicit_client.core.answer import Action
from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.exceptions import State
from mcp_elicit_client.inbox.records import write_request
from mcp_elicit_client.typing import Answer, FormRequest, Request

ASKED, ANSWERED, CLOSED = "elicitation.asked", "elicitation.answered", "elicitation.closed"
"""
The ``type`` of a message: a question, its answer, and that it needs none any
more.  An answer has another type than a question, so that a question sent back
to where it comes from is none.
"""


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True)

    id: str
    action: Action
    content: dict[str, Any] | None = None
    by: Literal["user", "policy"] = "user"
    block_server: bool = False
    confirmed: bool = False


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True)

    type: Literal["elicitation.answered"]
    data: _Said


def question(message_id: str, request: Request, answer_url: str | None) -> bytes:
    """
    Write the message that asks *request*.

    Raises:
        ValueError: If it holds a text that is not Unicode.
    """
    schema = write_schema(request.form) if isinstance(request, FormRequest) else None
    return _message(
        ASKED,
        id=message_id,
        request=json.loads(write_request(request)),
        answer_schema=schema,
        answer_url=answer_url,
    )


def closed(message_id: str, state: State) -> bytes:
    """Write the message that the question *message_id* needs no answer any more."""
    return _message(CLOSED, id=message_id, state=state)


def read_reply(body: bytes, message_id: str, request: Request) -> Answer:
    """
    Read the answer to *request*; whether its content fits is another question.

    Raises:
        ValueError: If it is none.  Its text may quote what came.
    """
    said = _Reply.model_validate(from_json(body)).data
    if said.id != message_id:
        raise ValueError("it answers another question")
    try:
        return Answer(
            action=said.action,
            content=said.content,
            by=said.by,
            sources=dict.fromkeys(said.content or {}, said.by),
            block_server=said.block_server and request.can_block,
            confirmed=said.confirmed,
        )
    except ValidationError:
        raise ValueError("it holds values that no answer can carry") from None


def _message(kind: str, **data: Any) -> bytes:
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return json.dumps({"type": kind, "timestamp": now, "data": data}).encode()
