"""
Signatures as Standard Webhooks has them: HMAC-SHA256 over the id, the time and the body.

Libraries for it are there in many languages, so that no receiver needs this one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets as random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from mcp_elicit_client.exceptions import ElicitationError

TOLERANCE = 300.0
"""How far the clocks of the two sides may differ, in seconds, the way of the message included."""

LEAST_KEY, LONGEST_KEY = 24, 64
"""How many bytes a secret holds."""

Secrets: TypeAlias = str | Sequence[str]
"""One secret, or, while one takes the place of another, several."""

_PREFIX = "whsec_"
_VERSION = "v1,"
_MOST_SIGNATURES = 16
_ID = re.compile(r"[A-Za-z0-9_-]{1,256}", re.ASCII)
_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)


class SignatureError(ElicitationError):
    """
    A message that whoever holds the secret did not send, or not now.

    Its text tells why, and quotes nothing.
    """


def generate_secret() -> str:
    """Make up a secret, for both sides to keep."""
    return _PREFIX + base64.b64encode(random.token_bytes(32)).decode()


def parse_secrets(secrets: Secrets) -> tuple[bytes, ...]:
    """
    Read *secrets*.

    Raises:
        ValueError: If there is none, or one is no secret.
    """
    texts = [secrets] if isinstance(secrets, str) else list(secrets)
    if not texts:
        raise ValueError("there is no secret")
    return tuple(map(_key, texts))


def sign(body: bytes, message_id: str, secrets: Secrets, *, now: float | None = None) -> dict[str, str]:
    """
    Sign a message.

    Args:
        body: What is sent, byte for byte.
        message_id: What the message is called, however often it is sent.  In
            a response: the id of the request that it answers.
        secrets: ``whsec_`` and 24 to 64 bytes in base64.  Of several, each signs.
        now: The time, in seconds since 1970; None for now.

    Returns:
        The headers ``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``.

    Raises:
        ValueError: If the id or a secret is none.
    """
    if not _ID.fullmatch(message_id):
        raise ValueError("an id is made of letters, digits, _ and -, at most 256 of them")
    moment = str(int(time.time() if now is None else now))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": moment,
        "webhook-signature": " ".join(_signatures(body, message_id, moment, secrets)),
    }


def verify_signature(
    body: bytes,
    headers: Mapping[str, str],
    secrets: Secrets,
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> str:
    """
    Make sure that a message comes from whoever has the secret, as it is, and now.

    It may still come twice, since whoever sends it tries again: remember the ids.

    Args:
        body: What came, byte for byte.
        headers: The headers that came with it, in any case.
        secrets: As for `sign`; one that fits is enough.
        tolerance: How old, or early, it may be, in seconds.
        now: The time, in seconds since 1970; None for now.

    Returns:
        The id of the message.

    Raises:
        SignatureError: If it does not.
        ValueError: If a secret is none.
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, moment, given = (found[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError:
        raise SignatureError("it is not signed") from None
    if not _ID.fullmatch(message_id) or not _TIME.fullmatch(moment):
        raise SignatureError("its id or its time is none")
    expected = [text.encode() for text in _signatures(body, message_id, moment, secrets)]
    signatures = [text.encode(errors="replace") for text in given.split(" ", _MOST_SIGNATURES)[:_MOST_SIGNATURES]]
    # All are compared, each in constant time: how long it takes tells nothing.
    if not any([hmac.compare_digest(ours, theirs) for ours in expected for theirs in signatures]):  # noqa: C419
        raise SignatureError("its signature is wrong")
    if abs((time.time() if now is None else now) - int(moment)) > tolerance:
        raise SignatureError("it is too old, or the clocks differ")
    return message_id


def _signatures(body: bytes, message_id: str, moment: str, secrets: Secrets) -> Iterator[str]:
    signed = f"{message_id}.{moment}.".encode() + body
    for key in parse_secrets(secrets):
        yield _VERSION + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if not LEAST_KEY <= len(key) <= LONGEST_KEY:
        raise ValueError(f"a secret is {_PREFIX} and {LEAST_KEY} to {LONGEST_KEY} bytes in base64")
    return key


def webhook_authenticator(owner: str, secrets: Secrets) -> Callable[[Any], Awaitable[str | None]]:
    """
    Make the ``authenticate`` of an `inbox_app` that lets in who holds the webhook's secret, and nobody else.

    Whoever asks or answers there signs as in `sign`, with the question's id as the message's.

    Args:
        owner: Whose questions they are: what `Later.owner` says.
        secrets: Those of the `RemoteHandler`.

    Raises:
        ValueError: If a secret is none.
    """
    parse_secrets(secrets)

    async def authenticate(web: Any) -> str | None:
        try:
            message_id = verify_signature(await web.body(), web.headers, secrets)
        except SignatureError:
            return None
        # What was signed for one question says nothing about another.
        return owner if message_id == web.path_params.get("id") else None

    return authenticate
