"""
Styled lines and themes of the interactive form.

A line is a list of pieces, each with a style and a text.  Text of the server
is marked, so that it cannot imitate text of the host.  No text is read as
markup, and lines are broken here, not by the terminal.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import TypeAlias

from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation.quoting import GUTTER, columns, quote

Line: TypeAlias = list[tuple[str, str]]
"""Pieces of text, each with its style."""

INDENT = " " * len(GUTTER)
VALUE = "  : "
"""The mark before a value."""

_MAX_MARKS = 4
_HANGING = "  "


@dataclass
class Drawing:
    """
    Lines with an optional cursor.

    Attributes:
        lines: The lines.
        cursor: Line and character of the cursor, from 0 on; None if it is
            elsewhere.
        shown: The cursor is visible.
    """

    lines: list[Line] = field(default_factory=list)
    cursor: tuple[int, int] | None = None
    shown: bool = False

    def add(self, other: Drawing) -> None:
        """Append *other*."""
        if other.cursor is not None:
            row, at = other.cursor
            self.cursor = (len(self.lines) + row, at)
            self.shown = other.shown
        self.lines += other.lines


@lru_cache(maxsize=2_048)
def _quoted(text: str, width: int) -> tuple[str, ...]:
    return tuple(quote(text, width).split("\n"))


def server_text(text: str, width: int, style: str = "class:server") -> list[Line]:
    """Return lines of text that comes from the server, with the gutter."""
    return [[("class:gutter", GUTTER), (style, line[len(GUTTER) :])] for line in _quoted(text, width)]


def host_text(text: str, width: int, style: str = "class:host", indent: str = "") -> list[Line]:
    """
    Return lines of text of the host.

    All lines but the first are indented, so that a line break in a name
    cannot begin a line of its own.
    """
    room = max(width - len(indent) - len(_HANGING), 1) + len(GUTTER)
    lines = [line[len(GUTTER) :] for line in _quoted(text, room)]
    return [[(style, indent + (_HANGING if at else "") + line)] for at, line in enumerate(lines)]


def cut(text: str, room: int) -> str:
    """Cut *text* to at most *room* columns."""
    if columns(text) <= room:
        return text
    used = 0
    for at, character in enumerate(text):
        used += columns(character)
        if used > max(room - 3, 0):
            return text[:at] + "..."[: max(room, 0)]
    return text


def pad(text: str, room: int) -> str:
    """Cut or fill *text* to exactly *room* columns."""
    shown = cut(text, room)
    return shown + " " * (room - columns(shown))


def input_text(  # noqa: PLR0913 -- by keyword
    text: str, cursor: int | None, width: int, *, hidden: bool, style: str, rows: int = 12
) -> Drawing:
    """
    Return the lines of an input, with the mark of values.

    Args:
        text: The text that was typed or suggested.  Not sanitized.
        cursor: The position of the cursor in *text*; None if it is elsewhere.
        width: The width of the terminal in columns.
        hidden: Show only the length of the text.
        style: The style of the text.
        rows: The maximum number of lines; those around the cursor are shown.
    """
    room = max(width - len(VALUE) - 1, 4)
    lines: list[str] = [""]
    used = marks = 0
    place = (0, 0)
    for at, character in enumerate(text):
        if at == cursor:
            place = (len(lines) - 1, len(lines[-1]))
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        if character == "\n" and not hidden:
            lines.append("")
            used = 0
            continue
        shown = "*" if hidden else _visible(character, marks if lines[-1] else _MAX_MARKS + 1)
        wide = columns(shown)
        if used + wide > room:
            lines.append("")
            used = 0
        lines[-1] += shown
        used += wide
    if cursor is not None and cursor >= len(text):
        place = (len(lines) - 1, len(lines[-1]))
    first = min(max(place[0] - rows // 2, 0), max(len(lines) - rows, 0))
    drawn: list[Line] = [[("class:gutter", VALUE), (style, line)] for line in lines[first : first + rows]]
    return Drawing(drawn, None if cursor is None else (place[0] - first, len(VALUE) + place[1]), shown=True)


def _visible(character: str, marks: int) -> str:
    if character.isascii() and character.isprintable():
        return character
    if 0 < marks <= _MAX_MARKS and _printable(f"a{character}") == f"a{character}":
        return character
    return _printable(character)


@lru_cache(maxsize=4_096)
def _printable(text: str) -> str:
    return sanitize_text(text, multiline=False)


def flow(pieces: Sequence[Line], width: int) -> list[Line]:
    """Return lines with as many *pieces* as fit beside each other."""
    lines: list[Line] = []
    used = 0
    for piece in pieces:
        wide = sum(columns(text) for _, text in piece)
        if lines and used + 2 + wide < width:
            lines[-1] = [*lines[-1], ("", "  "), *piece]
            used += 2 + wide
        elif wide <= width:
            lines.append(list(piece))
            used = wide
        else:
            lines += [*host_text("".join(text for _, text in piece), width, piece[-1][0])]
            used = width
    return lines


# --- Themes


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """
    The styles of the interactive form, as prompt_toolkit writes them (``bold ansired``).

    A style is never the only difference between two parts: each part also
    has a mark or a word.

    Attributes:
        host: Text of the host, such as the title.
        server: Text of the server.
        gutter: The mark before text of the server.
        value: Values that the user typed or selected.
        suggestion: Suggested values that the user did not change.
        hint: What a field accepts, and what keys do.
        focus: The mark of the focused field, option or button.
        error: Field errors.
        warning: Warnings and confirmations.
        domain: The registrable domain in a URL.
        button: Buttons.
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
        """Return the styles by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


DARK = Theme()
"""For dark backgrounds; readable on most others."""

LIGHT = Theme(focus="bold ansiblue", error="ansired", warning="bold ansimagenta")
"""For light backgrounds."""

PLAIN = Theme(gutter="", hint="", focus="bold", error="bold", warning="bold")
"""Without colors."""

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
