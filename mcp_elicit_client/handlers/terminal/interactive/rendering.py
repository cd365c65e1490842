"""
Lines of coloured text, set so that the server's words cannot pass for the host's.

A line is a list of pieces, each a style and a text.  No text is read as
markup, and every line is broken here: none is left to the terminal.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation.quoting import GUTTER, columns, quote

Line: TypeAlias = list[tuple[str, str]]
"""Pieces of text, each with its style."""

INDENT = " " * len(GUTTER)
VALUE = "  : "
"""The mark before what was typed, or what the server would have typed."""

_MARKS_ON_ONE_LETTER = 4
_HANGING = "  "


@dataclass
class Drawing:
    """
    Lines, and where the cursor is among them.

    Attributes:
        lines: What is shown.
        cursor: Line and character of the cursor, from 0 on; None if it is not here.
        shown: Whether the cursor is to be seen.
    """

    lines: list[Line] = field(default_factory=list)
    cursor: tuple[int, int] | None = None
    shown: bool = False

    def add(self, other: Drawing) -> None:
        """Put *other* below."""
        if other.cursor is not None:
            row, at = other.cursor
            self.cursor = (len(self.lines) + row, at)
            self.shown = other.shown
        self.lines += other.lines


@lru_cache(maxsize=2_048)
def _quoted(text: str, width: int) -> tuple[str, ...]:
    return tuple(quote(text, width).split("\n"))


def server_text(text: str, width: int, style: str = "class:server") -> list[Line]:
    """Set the server's words behind the gutter."""
    return [[("class:gutter", GUTTER), (style, line[len(GUTTER) :])] for line in _quoted(text, width)]


def host_text(text: str, width: int, style: str = "class:host", indent: str = "") -> list[Line]:
    """
    Set the host's own words.

    No line but the first begins at the edge: what a name has in it cannot
    pass for a line of its own.
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


def input_text(  # noqa: PLR0913 -- one way to draw, by keyword
    text: str, cursor: int | None, width: int, *, hidden: bool, style: str, rows: int = 12
) -> Drawing:
    """
    Set what is being typed behind its mark: every line, broken where it is too long.

    Args:
        text: What was typed, or suggested: raw.
        cursor: Where in *text* the cursor is; None if elsewhere.
        width: The columns that there are.
        hidden: Whether to show only how long it is.
        style: How to show it.
        rows: How many lines to show, those around the cursor.
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
        shown = "*" if hidden else _visible(character, marks if lines[-1] else _MARKS_ON_ONE_LETTER + 1)
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
    if 0 < marks <= _MARKS_ON_ONE_LETTER and _printable(f"a{character}") == f"a{character}":
        return character
    return _printable(character)


@lru_cache(maxsize=4_096)
def _printable(text: str) -> str:
    return sanitize_text(text, multiline=False)
