"""`SecretFinding`: what was found, and the kinds of secrets.  Loads no tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core.deferred import build_models

SecretKind: TypeAlias = Literal[
    "api_key",
    "bank_account",
    "card",
    "connection",
    "identity_number",
    "one_time_code",
    "password",
    "pin",
    "private_key",
    "recovery_phrase",
    "security_answer",
    "session",
    "token",
]
"""The kind of a secret."""

SecretLocation: TypeAlias = Literal["name", "title", "description", "message", "answer"]
"""Where a secret is asked for, or is found."""


class SecretFinding(BaseModel):
    """
    Sensitive data that a form requests, or that an answer contains.

    Attributes:
        field: The name of the field, as the server spells it: **not safe to
            show**.  None if the message asks, but for no field in particular.
        kind: The kind of secret.
        where: The text that asks for it, or ``"answer"``.
        message: A sentence for the user.  It never quotes the answer.
    """

    # `defer_build`: built at the first finding, because it would slow down the import.
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    field: str | None
    kind: SecretKind
    where: SecretLocation
    message: str


def make_finding(field: str | None, kind: SecretKind, where: SecretLocation, message: str) -> SecretFinding:
    """Return a finding.  Its model is built first, as `build_models` explains."""
    build_models(SecretFinding)
    return SecretFinding(field=field, kind=kind, where=where, message=message)


KIND_NAMES: Mapping[SecretKind, str] = {
    "api_key": "an API key or another secret key",
    "bank_account": "a bank account number",
    "card": "the details of a payment card",
    "connection": "a URL with a password",
    "identity_number": "the number of an identity document",
    "one_time_code": "a one-time or access code",
    "password": "a password",
    "pin": "a PIN",
    "private_key": "a private key",
    "recovery_phrase": "a recovery phrase",
    "security_answer": "the answer to a security question",
    "session": "a session cookie",
    "token": "an access token",
}
"""How users name each kind."""

NUMERIC_KINDS: frozenset[SecretKind] = frozenset(
    {"bank_account", "card", "identity_number", "one_time_code", "password", "pin"}
)
"""The kinds that a number can be."""
