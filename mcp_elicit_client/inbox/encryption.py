"""What a store holds, so that only those with the key can read it."""

from __future__ import annotations

import base64
import hashlib
import os
from typing import Any, Protocol

from mcp_elicit_client.exceptions import InboxError, MissingExtraError

LEAST_KEY = 32
"""The shortest key, in bytes."""

_NONCE = 12


class Cipher(Protocol):
    """Makes texts unreadable in a store, and readable again."""

    def encrypt(self, text: str, place: str) -> str:
        """Return *text* as it is stored at *place*."""
        ...

    def decrypt(self, sealed: str, place: str) -> str:
        """
        Return what was sealed for *place*.

        Raises:
            InboxError: If it was sealed with another key, for another place, or not at all.
        """
        ...


class NullCipher:
    """Seals nothing: for hosts that gave no key."""

    def encrypt(self, text: str, place: str) -> str:  # noqa: ARG002 -- a Sealer
        return text

    def decrypt(self, sealed: str, place: str) -> str:  # noqa: ARG002 -- a Sealer
        return sealed


class AesGcmCipher:
    """
    Seals with AES-256-GCM; each text belongs to its place and opens at no other.

    Args:
        key: At least 32 bytes that nobody can guess.

    Raises:
        MissingExtraError: If the package ``cryptography`` is not installed.
        ValueError: If the key is too short.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) < LEAST_KEY:
            raise ValueError(f"the key of an inbox must have at least {LEAST_KEY} bytes")
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            raise MissingExtraError("sealed", "an inbox with a key") from error
        # The host's key may serve other things too: ours is derived from it.
        self._cipher: Any = AESGCM(hashlib.blake2b(key, digest_size=32, person=b"mcp-elicit-inbox").digest())
        self._invalid = InvalidTag

    def encrypt(self, text: str, place: str) -> str:
        nonce = os.urandom(_NONCE)
        return base64.b64encode(nonce + self._cipher.encrypt(nonce, text.encode(), place.encode())).decode()

    def decrypt(self, sealed: str, place: str) -> str:
        try:
            data = base64.b64decode(sealed, validate=True)
            return str(self._cipher.decrypt(data[:_NONCE], data[_NONCE:], place.encode()).decode())
        except (ValueError, self._invalid) as error:
            raise InboxError("the inbox holds what was not sealed with this key") from error


def make_cipher(key: bytes | None) -> Cipher:
    """
    Return what seals with *key*; nothing is sealed if it is None.

    Raises:
        MissingExtraError: As `Sealed`.
        ValueError: As `Sealed`.
    """
    return NullCipher() if key is None else AesGcmCipher(key)
