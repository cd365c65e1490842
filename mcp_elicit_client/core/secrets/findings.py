"""What was found: which secret, and where."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

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
"""What kind of secret a `Finding` is about."""


Where: TypeAlias = Literal["name", "title", "description", "message", "answer"]
"""Where a secret is asked for, or is."""


class SecretFinding(BaseModel):
    """
    A secret that is asked for, or that an answer holds.

    Attributes:
        field: The name of the field, as the server spells it: **not safe to
            show**.  None if the message asks, but for no field in particular.
        kind: What kind of secret it is.
        where: What asks for it, or "answer" for what was typed.
        message: A sentence for people.  It never quotes the answer.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    field: str | None
    kind: SecretKind
    where: Where
    message: str
