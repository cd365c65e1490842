"""`Diagnostic`: a non-fatal finding about a request or an answer."""

from collections.abc import Iterable
from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

DiagnosticCode: TypeAlias = Literal[
    "truncated",
    "default_dropped",
    "impersonation",
    "unsupported_field",
    "invalid_value",
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
"""The code of a `Diagnostic`."""

WARNINGS: frozenset[DiagnosticCode] = frozenset({"impersonation", "sensitive_data"})
"""The codes about which users are warned."""


class Diagnostic(BaseModel):
    """
    A non-fatal finding about a request or an answer.

    Attributes:
        code: A stable code; ``docs/reference.md`` lists all.
        message: A sentence for developers.  Sanitized.
        field: The name of the field, as the server spells it; None if the
            finding is about the whole request or answer.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    code: DiagnosticCode
    message: str
    field: str | None = None


def has_warning(diagnostics: Iterable[Diagnostic]) -> bool:
    """Return True if users are warned about one of *diagnostics*."""
    return any(each.code in WARNINGS for each in diagnostics)
