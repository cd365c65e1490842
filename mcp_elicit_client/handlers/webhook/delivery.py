"""Bring a message to a webhook that may be slow, dead, lying, or elsewhere."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import anyio
import httpx

BODY = 65_536
"""The longest reply that is read, in bytes."""

CONNECT = 10.0
"""How long it may take to connect, and to take in a part of the question, in seconds."""

_TIMEOUTS = httpx.Timeout(CONNECT, read=None)  # an answer takes as long as the user
_OVERLOADED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_HEADERS = {
    "accept": "application/json",
    # What is not compressed cannot burst.
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "mcp-elicit-client",
}


class UndeliveredError(Exception):
    """There will be no reply.  Its text is ours, and quotes nothing that came."""


class _TryAgainError(Exception):
    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


@dataclass(frozen=True, slots=True)
class Reply:
    """What a webhook said, not looked at yet."""

    body: bytes
    headers: Mapping[str, str]


def pause_before(attempt: int) -> float:
    """
    Return how long to wait before an attempt, in seconds: twice as long each time, by chance up to half less.

    Args:
        attempt: Which it is; the first one after a failure is 1.
    """
    pause: float = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 1))
    return pause * random.uniform(0.5, 1)  # noqa: S311 -- nobody gains by guessing it


async def deliver(  # noqa: PLR0913 -- what is sent where, and how patiently, by keyword
    client: httpx.AsyncClient,
    url: str,
    body: bytes,
    signed: Callable[[], Mapping[str, str]],
    *,
    attempts: int,
    deadline: float,
    pause: Callable[[int], float] = pause_before,
) -> Reply | None:
    """
    Send *body* until there is a reply.

    What cannot be reached, breaks off or is overloaded is tried again; any
    reply is the last word.

    Args:
        client: What sends.
        url: To where; never to where that points.
        body: What is sent, the same each time.
        signed: Makes the headers that sign it, new each time.
        attempts: How often it is sent at most.
        deadline: Past which nothing is tried again, on the event loop's clock.
        pause: As `pause_before`.

    Returns:
        The reply; None if there will be one later.

    Raises:
        UndeliveredError: If there is none.
    """
    attempt = 1
    while True:
        try:
            return await _post(client, url, body, signed())
        except _TryAgainError as error:
            wait = max(pause(attempt), error.after)
            if attempt >= attempts or anyio.current_time() + wait >= deadline:
                times = "once" if attempt == 1 else f"{attempt} times"
                raise UndeliveredError(f"{error}; it was tried {times}") from None
        attempt += 1
        await anyio.sleep(wait)


async def _post(client: httpx.AsyncClient, url: str, body: bytes, signed: Mapping[str, str]) -> Reply | None:
    headers = {**_HEADERS, **signed, "idempotency-key": f'"{signed["webhook-id"]}"'}
    try:
        async with client.stream(
            "POST", url, content=body, headers=headers, timeout=_TIMEOUTS, follow_redirects=False
        ) as response:
            return await _read(response)
    except httpx.TransportError as error:
        met = isinstance(error, (httpx.ReadError, httpx.RemoteProtocolError, httpx.WriteError))
        raise _TryAgainError("the webhook broke off" if met else "the webhook could not be reached") from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError):
        raise UndeliveredError("the webhook could not be asked") from None


async def _read(response: httpx.Response) -> Reply | None:
    status = response.status_code
    if status in _OVERLOADED:
        raise _TryAgainError(f"the webhook could not answer (status {status})", _retry_after(response))
    if status == httpx.codes.ACCEPTED:
        return None
    if 300 <= status < 400:
        raise UndeliveredError(f"the webhook points elsewhere (status {status}), which is not followed")
    if status != httpx.codes.OK:
        raise UndeliveredError(f"the webhook refused (status {status})")
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UndeliveredError("the webhook sent no JSON")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise UndeliveredError("the webhook sent a compressed reply, which is not read")
    body = bytearray()
    with anyio.CancelScope() as scope:
        async for part in response.aiter_raw():
            body += part
            if len(body) > BODY:
                scope.cancel()  # to leave the loop would leave httpx's generators as they are
                body.clear()
    if scope.cancel_called:
        raise UndeliveredError(f"the webhook sent more than {BODY} bytes")
    return Reply(bytes(body), response.headers)


def _retry_after(response: httpx.Response) -> float:
    """Return how many seconds the webhook asks to be left alone."""
    text = response.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())
