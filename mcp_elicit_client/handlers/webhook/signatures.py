"""
Signatures of Standard Webhooks: HMAC-SHA256 over the message ID, the time and the body.

In an answer, the purpose and the content type are signed as well, in front
of the body.  So what this package sends to a webhook is never an answer.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
import re
import secrets as random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from mcp_elicit_client._arguments import check_method, check_type
from mcp_elicit_client.core.request import check_user
from mcp_elicit_client.exceptions import ElicitationError

_logger = logging.getLogger("mcp_elicit_client")

TOLERANCE = 300.0
"""The maximum difference between the time of a message and the local clock, in seconds."""

MIN_SECRET, MAX_SECRET = 24, 64
"""The length of a secret, in bytes."""

Secrets: TypeAlias = str | Sequence[str]
"""The secret of a webhook, or several while it is rotated."""

Purpose: TypeAlias = Literal["question", "answer"]
"""What is signed: a message to a webhook, or an answer of one."""

_SIGNED_FIRST: dict[Purpose, bytes] = {"question": b"", "answer": b"answer.application/json."}
_PREFIX = "whsec_"
_VERSION = "v1,"
_MAX_SIGNATURES = 16
_ID = re.compile(r"[A-Za-z0-9_-]{1,256}", re.ASCII)
_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)


class SignatureError(ElicitationError):
    """The message is not signed with the secret, or it is too old.  The text contains nothing of the message."""


def generate_secret() -> str:
    """Return a new secret for both sides."""
    return _PREFIX + base64.b64encode(random.token_bytes(32)).decode()


def parse_secrets(secrets: Secrets) -> tuple[bytes, ...]:
    """
    Return the keys of *secrets*.

    Raises:
        TypeError: If a secret is not a string.
        ValueError: If *secrets* is empty, or one of them is invalid.
    """
    check_type("secret", secrets, str, Sequence)
    texts = [secrets] if isinstance(secrets, (str, bytes)) else list(secrets)
    for text in texts:
        check_type("secret", text, str)
    if not texts:
        raise ValueError("At least one secret is required.")
    return tuple(map(_key, texts))


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if not MIN_SECRET <= len(key) <= MAX_SECRET:
        raise ValueError(f"A secret is {_PREFIX!r} and {MIN_SECRET} to {MAX_SECRET} bytes in base64.")
    return key


def sign(
    body: bytes, message_id: str, secrets: Secrets, *, purpose: Purpose = "question", now: float | None = None
) -> dict[str, str]:
    """
    Sign a message.

    Args:
        body: The message, byte for byte.
        message_id: The ID of the message, the same in each attempt.  In a
            response: the ID of the request that it answers.
        secrets: ``whsec_`` and 24 to 64 bytes in base64.  If there are
            several, each signs.
        purpose: ``question`` for a message to a webhook, ``answer`` for the
            answer of a webhook.  An answer must have the content type
            ``application/json``.
        now: The time, in seconds since 1970; None for now.

    Returns:
        The headers ``webhook-id``, ``webhook-timestamp`` and
        ``webhook-signature``.

    Raises:
        TypeError: If *body* is not bytes, or the ID not a string.
        ValueError: If the ID, *purpose* or a secret is invalid.
    """
    check_type("message_id", message_id, str)
    if not _ID.fullmatch(message_id):
        raise ValueError("A message ID has 1 to 256 letters, digits, underscores and hyphens.")
    timestamp = str(int(time.time() if now is None else now))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(_signatures(_signed_part(body, purpose), message_id, timestamp, secrets)),
    }


def verify_signature(  # noqa: PLR0913 -- options by keyword
    body: bytes,
    headers: Mapping[str, str],
    secrets: Secrets,
    *,
    purpose: Purpose = "question",
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> str:
    """
    Verify that a message is unchanged, recent, and signed with a secret.

    Messages are sent again if there is no reply: remember their IDs.

    Args:
        body: The message, byte for byte.
        headers: Its headers, in upper or lower case.
        secrets: As for `sign`.  One that fits is enough.
        purpose: As for `sign`.
        tolerance: The maximum difference between the time of the message and
            the local clock, in seconds.
        now: The time, in seconds since 1970; None for now.

    Returns:
        The ID of the message.

    Raises:
        SignatureError: If the message is not authentic.
        TypeError: If *body* is not bytes, or *headers* have no names.
        ValueError: If *purpose* or a secret is invalid.
    """
    check_method("headers", headers, "items", "those of the request")
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp, given = (lower[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError:
        raise SignatureError("it is not signed") from None
    if not _ID.fullmatch(message_id) or not _TIME.fullmatch(timestamp):
        raise SignatureError("its ID or its time is malformed")
    signed = _signatures(_signed_part(body, purpose), message_id, timestamp, secrets)
    expected = [text.encode() for text in signed]
    signatures = [text.encode(errors="replace") for text in given.split(" ", _MAX_SIGNATURES)[:_MAX_SIGNATURES]]
    # Compare all of them, each in constant time, so that the duration reveals nothing.
    if not any([hmac.compare_digest(ours, theirs) for ours in expected for theirs in signatures]):  # noqa: C419
        raise SignatureError("its signature is wrong")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise SignatureError("it is too old, or the clocks differ")
    return message_id


def _signed_part(body: bytes, purpose: Purpose) -> bytes:
    check_type("body", body, bytes, bytearray)
    if purpose not in _SIGNED_FIRST:
        raise ValueError(f'`purpose` must be "question" or "answer", not {purpose!r}.')
    return _SIGNED_FIRST[purpose] + body


def _signatures(body: bytes, message_id: str, timestamp: str, secrets: Secrets) -> Iterator[str]:
    signed = f"{message_id}.{timestamp}.".encode() + body
    for key in parse_secrets(secrets):
        yield _VERSION + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def is_json(content_types: Sequence[str]) -> bool:
    """Return True if a message has one content type, which is that of JSON."""
    return [each.partition(";")[0].strip().lower() for each in content_types] == ["application/json"]


def webhook_authenticator(
    secrets: Secrets, *, default_user: str | None = None
) -> Callable[[Any], Awaitable[str | None]]:
    """
    Return the ``authenticate`` of an `inbox_app` that accepts only the holder of the webhook's secret.

    The webhook signs its answer as in `sign`, with the purpose ``answer`` and
    the ID of the elicitation request as message ID, and posts it as JSON.
    Forms and other HTTP requests are refused.  The user of the request is the
    parameter ``user`` of its URL: the holder of the secret answers for all
    users, but the ID of one user's request is not valid for another.

    Args:
        secrets: The secrets of the `WebhookHandler`.
        default_user: As in `DeferredAnswers`.

    Raises:
        ValueError: If a secret is invalid, or *default_user* does not have 1
            to 256 characters.
    """
    parse_secrets(secrets)
    check_user(default_user, "default_user")

    async def authenticate(web: Any) -> str | None:
        if web.method != "POST" or not is_json(web.headers.getlist("content-type")):
            return None
        try:
            message_id = verify_signature(await web.body(), web.headers, secrets, purpose="answer")
        except SignatureError as error:
            if "webhook-signature" in web.headers:  # The response does not say why.
                _logger.warning("an answer that a webhook sent later was refused: %s", error)
            return None
        # A signature for one request is not valid for another.
        if message_id != web.path_params.get("id"):
            _logger.warning("an answer that a webhook sent later was refused: its ID is that of another request")
            return None
        user: str | None = web.query_params.get("user", default_user)
        return user

    return authenticate
