"""
Colours: what each part of the form looks like.

Only the sixteen colours that a terminal's own theme defines, and never one
alone: each part is told apart by a mark or a word too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """
    The styles of the form, in the words of prompt_toolkit (``bold ansired``).

    Attributes:
        host: The host's own lines: who asks, and for what.
        server: What the server wrote.
        gutter: The mark before what the server wrote.
        value: What the user typed or chose.
        suggestion: What the server suggests, untouched.
        hint: What a field takes, and what keys do.
        focus: The mark of the field that the keys go to.
        error: What is wrong with a value.
        warning: What to be careful about.
        domain: The part of a URL that says whose it is.
        button: What can be pressed.
        pressed: The button that Enter would press.
    """

    host: str = "bold"
    server: str = ""
    gutter: str = "ansibrightblack"
    value: str = "bold"
    suggestion: str = "italic"
    hint: str = "ansibrightblack"
    focus: str = "bold ansicyan"
    error: str = "ansibrightred"
    warning: str = "bold ansiyellow"
    domain: str = "bold reverse"
    button: str = ""
    pressed: str = "bold reverse"

    def styles(self) -> Mapping[str, str]:
        """The styles by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


DARK = Theme()
"""For light letters on a dark ground; readable on most others."""

LIGHT = Theme(focus="bold ansiblue", error="ansired", warning="bold ansimagenta")
"""For dark letters on a light ground."""

PLAIN = Theme(gutter="", hint="", focus="bold", error="bold", warning="bold")
"""Without any colour."""

_LIGHT_GROUNDS = frozenset({"7", "15"})


def theme_of(environment: Mapping[str, str] = os.environ) -> Theme:
    """
    Choose a theme by the environment.

    ``NO_COLOR``, if not empty, wants none; ``COLORFGBG``, which some
    terminals set, tells a light ground.
    """
    if environment.get("NO_COLOR"):
        return PLAIN
    ground = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if ground in _LIGHT_GROUNDS else DARK
