"""Themes and symbols of the interactive form: colors, marks, and how the environment selects them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """
    The styles of the interactive form, as prompt_toolkit writes them (``bold ansired``).

    A style is never the only difference between two parts: each part
    also has a mark, a word or a separate place.

    Attributes:
        host: Text of the host, such as the title.
        server: Text of the server.
        gutter: The marks around text of the server.
        value: Values that the user typed or selected.
        suggestion: Suggested values that the user did not change.
        hint: What a field accepts, and other remarks.
        valid: The mark of a valid field.
        focus: The mark of the focused field or option.
        error: Field errors.
        warning: Warnings and confirmations.
        domain: The registrable domain in a URL.
        rule: The lines above and below the form.
        button: What keys do.
        key: The keys.
        pressed: The action that Enter executes.
    """

    host: str = "bold"
    server: str = ""
    gutter: str = "dim"
    value: str = "bold"
    suggestion: str = "dim"
    hint: str = "dim"
    valid: str = "ansigreen"
    focus: str = "bold ansicyan"
    error: str = "ansibrightred"
    warning: str = "bold ansiyellow"
    domain: str = "bold underline"
    rule: str = "dim"
    button: str = ""
    key: str = "bold"
    pressed: str = "bold reverse"


DARK = Theme()
"""The theme for dark backgrounds.  It is readable on most others."""

LIGHT = Theme(focus="bold ansiblue", error="ansired", warning="bold ansimagenta")
"""The theme for light backgrounds."""

PLAIN = Theme(valid="", focus="bold", error="bold", warning="bold")
"""The theme without colors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """
    The marks of the interactive form.

    Attributes:
        valid: A field with a valid value.
        attention: A field with an error, and a warning.
        required: A required field without a value.
        rule: The character of lines above and below the form.
    """

    valid: str
    attention: str
    required: str
    rule: str


UNICODE = Symbols(valid="✓", attention="!", required="•", rule="─")
"""For terminals with Unicode and colors."""

ASCII = Symbols(valid="ok", attention="!", required="*", rule="-")
"""For terminals without Unicode, and without colors."""

_LIGHT_BACKGROUNDS = frozenset({"7", "15"})


def theme_of(environment: Mapping[str, str] = os.environ) -> Theme:
    """
    Return the theme that suits the environment variables.

    A ``NO_COLOR`` that is not empty selects `PLAIN`.  ``COLORFGBG``, which
    some terminals set, selects `LIGHT` for a light background.
    """
    if environment.get("NO_COLOR"):
        return PLAIN
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if background in _LIGHT_BACKGROUNDS else DARK


def symbols_of(encoding: str | None) -> Symbols:
    """Return the symbols for an output with *encoding*."""
    return UNICODE if has_every_character(encoding) and not os.environ.get("NO_COLOR") else ASCII


def has_every_character(encoding: str | None) -> bool:
    """Return True if *encoding* has every character."""
    return (encoding or "").casefold().replace("-", "").startswith("utf")
