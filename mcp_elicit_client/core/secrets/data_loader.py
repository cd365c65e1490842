"""The tables of `core.secrets.words`, read the first time that somebody looks for secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict


@cache
def tables() -> ModuleType:
    # The tables are large, and most processes never look for secrets.
    from mcp_elicit_client.core.secrets import data as words

    return words


@cache
def shape(name: str) -> re.Pattern[str]:
    return re.compile(tables().PATTERNS[name])


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))


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
