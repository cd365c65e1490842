"""What was wrong with a request or an answer, but survivable."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

DiagnosticCode: TypeAlias = Literal[
    "truncated",
    "default_dropped",
    "impersonation",
    "unsupported_field",
    "limit_ignored",
    "not_asked_for",
    "options_dropped",
    "pattern_not_checked",
    "required_ignored",
    "rule_not_checked",
    "schema_missing",
    "sensitive_data",
    "titles_ignored",
    "type_guessed",
    "undeclared_field",
    "union",
]
"""The code of a `Problem`."""


class Diagnostic(BaseModel):
    """
    Something wrong that did not stand in the way.

    Attributes:
        code: One stable word; ``docs/reference.md`` says what each means.
        message: A sentence for developers, safe to show.
        field: The name of the field it is about, as the server spells it;
            None if it is about none.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    code: DiagnosticCode
    message: str
    field: str | None = None
