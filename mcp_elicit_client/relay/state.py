"""`StateSigner`: the ``requestState`` that a relay gives its client, bound to the caller and an expiry."""

from __future__ import annotations

import base64
import hmac
import math
import secrets
import time
from collections.abc import Callable
from functools import lru_cache
from types import NoneType
from typing import NamedTuple

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.relay.refusals import RefusedError

MIN_KEY_BYTES = 32
"""The minimum length of a key, in bytes."""

MAX_STATE = 1_024
"""The maximum length of a state, in characters."""

_DIGEST = 32
_MAX_DIGESTS = 1_024
_PREFIX = "relay3."


class StateContent(NamedTuple):
    """
    What a ``requestState`` says.

    Attributes:
        call_id: The ID of the call.
        leg: How often the client was asked for input, with this time.
        process: The process that holds the call; empty if any can continue it.
    """

    call_id: str
    leg: int
    process: str = ""


class StateSigner:
    """
    Makes and reads the ``requestState`` of calls.

    A state is authenticated with HMAC-SHA256.  It contains no text of the
    server and none of the client.

    Args:
        key: At least 32 random bytes that all processes share; None for a
            key of this process.
        server: The name of the upstream server.
        clock: Returns the seconds since 1970.

    Raises:
        ValueError: If the key is too short.
    """

    def __init__(self, key: bytes | None, server: str, clock: Callable[[], float] = time.time) -> None:
        check_type("key", key, bytes, bytearray, NoneType)
        if key is not None and len(key) < MIN_KEY_BYTES:
            raise ValueError(
                f"The key of a relay must have at least {MIN_KEY_BYTES} bytes, as `secrets.token_bytes(32)` has."
            )
        base = secrets.token_bytes(MIN_KEY_BYTES) if key is None else key
        # The host may use its key for other purposes and other servers, so derive one that is used only here.
        key = hmac.digest(base, b"mcp-elicit-relay " + server.encode(), "sha256")
        self._hmac = hmac.new(key, digestmod="sha256")
        self._digest = lru_cache(_MAX_DIGESTS)(self._digest_of)
        self._clock = clock

    def sign(self, state: StateContent, caller: str, ttl: float) -> str:
        """Return *state*, for *caller*, as text that is valid for *ttl* seconds."""
        expires = math.ceil(1_000 * (self._clock() + ttl))
        text = f"{state.leg}.{expires}.{self._digest(caller)}.{state.process}.{state.call_id}"
        return f"{_PREFIX}{self._tag(text)}.{text}"

    def verify(self, signed: str, caller: str) -> StateContent:
        """
        Return what *signed* says.

        Raises:
            RefusedError: If it is forged, has expired, or belongs to another
                caller.
        """
        tag, _, text = signed.removeprefix(_PREFIX).partition(".")
        is_genuine = signed.isascii() and len(signed) <= MAX_STATE and signed.startswith(_PREFIX)
        if not (is_genuine and hmac.compare_digest(tag, self._tag(text))):
            raise RefusedError("invalid")
        leg, expires, owner, process, call_id = text.split(".", 4)
        if not hmac.compare_digest(owner, self._digest(caller)):
            raise RefusedError("caller")
        if int(expires) < 1_000 * self._clock():
            raise RefusedError("expired")
        return StateContent(call_id, int(leg), process)

    def _digest_of(self, caller: str) -> str:
        """Return a digest of *caller*, which tells nothing about them."""
        return self._mac(b"caller " + caller.encode()).hex()[:_DIGEST]

    def _tag(self, text: str) -> str:
        tag = self._mac(text.encode("ascii", "replace"))
        return base64.urlsafe_b64encode(tag).decode().rstrip("=")

    def _mac(self, data: bytes) -> bytes:
        mac = self._hmac.copy()
        mac.update(data)
        return mac.digest()
