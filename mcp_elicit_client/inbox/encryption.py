"""Encryption of stored texts with a key of the host application."""

from __future__ import annotations

import base64
import hashlib
import os
from typing import Any, Protocol

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.exceptions import InboxError, MissingExtraError

MIN_KEY_BYTES = 32
"""The minimum length of a key, in bytes."""

_NONCE_BYTES = 12


class Cipher(Protocol):
    """Encrypts and decrypts texts."""

    def encrypt(self, text: str, context: str) -> str:
        """Return *text* encrypted, so that it can be decrypted only with the same *context*."""
        ...

    def decrypt(self, encrypted: str, context: str) -> str:
        """
        Return the text that was encrypted with *context*.

        Raises:
            InboxError: If it was encrypted with another key or context, or
                not at all.
        """
        ...


class NullCipher:
    """Leaves texts as they are, for hosts without a key."""

    def encrypt(self, text: str, context: str) -> str:  # noqa: ARG002 -- a Cipher
        return text

    def decrypt(self, encrypted: str, context: str) -> str:  # noqa: ARG002 -- a Cipher
        return encrypted


class AesGcmCipher:
    """
    Encrypts with AES-256-GCM.  The context of a text is authenticated.

    Args:
        key: At least 32 random bytes.

    Raises:
        MissingExtraError: If the package ``cryptography`` is not installed.
        TypeError: If the key is not bytes.
        ValueError: If the key is too short.
    """

    def __init__(self, key: bytes) -> None:
        check_type("key", key, bytes, bytearray)
        if len(key) < MIN_KEY_BYTES:
            raise ValueError(
                f"The key of an inbox must have at least {MIN_KEY_BYTES} bytes."
                f" Make one with `secrets.token_bytes({MIN_KEY_BYTES})`."
            )
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            raise MissingExtraError("encryption", "an inbox with a key") from error
        # The host may use its key for other purposes, so derive one that is used only here.
        self._cipher: Any = AESGCM(hashlib.blake2b(key, digest_size=32, person=b"mcp-elicit-inbox").digest())
        self._invalid_tag_error = InvalidTag

    def encrypt(self, text: str, context: str) -> str:
        nonce = os.urandom(_NONCE_BYTES)
        return base64.b64encode(nonce + self._cipher.encrypt(nonce, text.encode(), context.encode())).decode()

    def decrypt(self, encrypted: str, context: str) -> str:
        try:
            data = base64.b64decode(encrypted, validate=True)
            return str(self._cipher.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], context.encode()).decode())
        except (ValueError, self._invalid_tag_error) as error:
            raise InboxError(
                "The inbox contains data that was not encrypted with this key. Use the key that wrote it."
            ) from error


def make_cipher(key: bytes | None) -> Cipher:
    """
    Return a cipher with *key*; one that does not encrypt if *key* is None.

    Raises:
        MissingExtraError: As `AesGcmCipher`.
        ValueError: As `AesGcmCipher`.
    """
    return NullCipher() if key is None else AesGcmCipher(key)
