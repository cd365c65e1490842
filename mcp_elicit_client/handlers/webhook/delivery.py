"""The messages of webhooks: how they are written, delivered and read."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

import anyio
import httpx
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from mcp_elicit_client.core.answer import Action
from mcp_elicit_client.exceptions import State
from mcp_elicit_client.handlers.retry_after import read_retry_after
from mcp_elicit_client.handlers.webhook.signatures import is_json
from mcp_elicit_client.inbox.records import question_data
from mcp_elicit_client.presentation.form_input import answer_of_user
from mcp_elicit_client.typing import Answer, Request

MAX_REPLY = 65_536
"""The maximum length of a reply, in bytes."""

CONNECT_TIMEOUT = 10.0
"""The maximum time to connect, and to send a part of a message, in seconds."""

# An answer takes as long as the user, and so does a connection of a client that has no free one.
_TIMEOUTS = httpx.Timeout(CONNECT_TIMEOUT, read=None, pool=None)
_OVERLOADED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE, _MAX_PAUSE = 0.5, 30.0
_HEADERS = {
    "accept": "application/json",
    # A compressed reply could be much larger than what was received.
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "mcp-elicit-client",
}


class UndeliveredError(Exception):
    """A message has no reply.  The text quotes nothing that the webhook sent."""


class _RetryableError(Exception):
    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


@dataclass(frozen=True, slots=True)
class WebhookReply:
    """The reply of a webhook, not verified yet."""

    body: bytes
    headers: Mapping[str, str]


class _AnswerData(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True)

    id: str
    action: Action
    content: dict[str, Any] | None = None
    by: Literal["user", "policy"] = "user"
    block_server: bool = False
    confirmed: bool = False
    remember: bool = False


class _AnswerMessage(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True)

    # Another type than that of a request, so that an echoed request is not taken for an answer.
    type: Literal["elicitation.answered"]
    data: _AnswerData


def write_question(message_id: str, request: Request, answer_url: str | None) -> bytes:
    """
    Write the message for *request*.

    Raises:
        ValueError: If it contains text that is not valid Unicode.
    """
    return _write_message(
        "elicitation.asked",
        id=message_id,
        answer_url=answer_url,
        **question_data(request),
    )


def write_closed(message_id: str, state: State) -> bytes:
    """Write the message that the request *message_id* needs no answer any more."""
    return _write_message("elicitation.closed", id=message_id, state=state)


def _write_message(kind: str, **data: Any) -> bytes:
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return json.dumps({"type": kind, "timestamp": now, "data": data}).encode()


def read_answer(body: bytes, message_id: str, request: Request) -> Answer:
    """
    Read the answer to *request*.  Its content is not validated.

    The receiver does not say what its user touched, so values that were
    suggested count as defaults, as on a page.

    Raises:
        ValueError: If *body* is not an answer to the request *message_id*.
            The text may quote *body*.
    """
    data = _AnswerMessage.model_validate(from_json(body)).data
    if data.id != message_id:
        raise ValueError("it answers another request")
    choices = data.model_dump(include={"block_server", "confirmed", "remember"})
    try:
        answer = answer_of_user(request, data.action, data.content, **choices)
    except ValidationError:
        raise ValueError("it contains invalid values") from None
    if data.by == "user":
        return answer
    return answer.model_copy(update={"by": data.by, "sources": dict.fromkeys(answer.content or {}, "policy")})


def pause_before(attempt: int) -> float:
    """
    Return how long to wait before an attempt, in seconds.

    Pauses double up to 30 s, and are shortened at random by up to a half.

    Args:
        attempt: The number of the attempt; 1 for the first one after a
            failure.
    """
    pause: float = min(_MAX_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 1))
    return pause * random.uniform(0.5, 1)  # noqa: S311 -- it may be predictable


async def deliver(  # noqa: PLR0913 -- the message, and how often it is sent, by keyword
    client: httpx.AsyncClient,
    url: str,
    body: bytes,
    signed: Callable[[], Mapping[str, str]],
    *,
    attempts: int,
    deadline: float,
    pause: Callable[[int], float] = pause_before,
) -> WebhookReply | None:
    """
    Send *body* until there is a reply.

    If the webhook cannot be reached, disconnects or is overloaded, the
    message is sent again.  Redirects are not followed.

    Args:
        client: The HTTP client.
        url: The URL of the webhook.
        body: The message, the same in each attempt.
        signed: Returns the headers with the signature, new in each attempt.
        attempts: The maximum number of attempts.
        deadline: When to stop, on the event loop's clock.
        pause: As `pause_before`.

    Returns:
        The reply; None if the webhook will answer later.

    Raises:
        UndeliveredError: If there is no reply.
    """
    attempt = 1
    while True:
        try:
            return await _post(client, url, body, signed())
        except _RetryableError as error:
            wait = max(pause(attempt), error.after)
            if attempt >= attempts or anyio.current_time() + wait >= deadline:
                times = "1 attempt" if attempt == 1 else f"{attempt} attempts"
                raise UndeliveredError(f"{error} ({times})") from None
        attempt += 1
        await anyio.sleep(wait)


async def _post(client: httpx.AsyncClient, url: str, body: bytes, signed: Mapping[str, str]) -> WebhookReply | None:
    headers = {**_HEADERS, **signed, "idempotency-key": f'"{signed["webhook-id"]}"'}
    try:
        async with client.stream(
            "POST", url, content=body, headers=headers, timeout=_TIMEOUTS, follow_redirects=False
        ) as response:
            return await _read_response(response)
    except httpx.TransportError as error:
        connected = isinstance(error, (httpx.ReadError, httpx.RemoteProtocolError, httpx.WriteError))
        raise _RetryableError("the webhook disconnected" if connected else "the webhook could not be reached") from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError):
        raise UndeliveredError("the request could not be sent to the webhook") from None


async def _read_response(response: httpx.Response) -> WebhookReply | None:
    status = response.status_code
    if status in _OVERLOADED:
        raise _RetryableError(
            f"the webhook could not answer (status {status})",
            read_retry_after(response.headers.get("retry-after", "")),
        )
    if status == httpx.codes.ACCEPTED:
        return None
    if 300 <= status < 400:
        raise UndeliveredError(f"the webhook redirects (status {status}); redirects are not followed")
    if status != httpx.codes.OK:
        raise UndeliveredError(f"the webhook refused the request (status {status})")
    if not is_json(response.headers.get_list("content-type")):
        raise UndeliveredError("the webhook's reply is not JSON")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise UndeliveredError("the webhook's reply is compressed")
    body = bytearray()
    with anyio.CancelScope() as scope:
        async for part in response.aiter_bytes():  # not compressed; in tests, the body may be read already
            body += part
            if len(body) > MAX_REPLY:
                scope.cancel()  # breaking the loop would not close httpx's generators
                body.clear()
    if scope.cancel_called:
        raise UndeliveredError(f"the webhook's reply is longer than {MAX_REPLY} bytes")
    return WebhookReply(bytes(body), response.headers)
