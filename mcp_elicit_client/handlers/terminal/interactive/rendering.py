"""
Styled lines of the interactive form.

A line is a list of pieces, each with a style and a text.  Text of the server
is marked, so that it cannot imitate text of the host.  No text is read as
markup, and lines are broken here, not by the terminal.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from prompt_toolkit.utils import get_cwidth

from mcp_elicit_client.core.text import escape_each
from mcp_elicit_client.presentation import quoting
from mcp_elicit_client.presentation.quoting import quote

Line: TypeAlias = list[tuple[str, str]]
"""Pieces of text, each with its style."""

MARK = "   "
"""The place of the marks before a field: its focus and its state."""

BAR = "| "
GUTTER = MARK + BAR
"""The mark before text of the server."""

CLOSE = " |  "
"""The mark between a label of the server and its value."""

INDENT = " " * len(GUTTER)

_HANGING = "  "
_GAP = "   "

_LIKE_BARS = dict.fromkeys(map(ord, "|\u01c0\u2223\u2502\u2503\u2758\uff5c\uffe8"), "\u00a6")
_AFTER_EMOJI = "(?<=[\u2190-\u2bff\u3030-\u32ff\U0001f000-\U0001faff])"
_JOINER = re.compile(f"{_AFTER_EMOJI}\u200d")
_SKIN_TONE = re.compile(f"{_AFTER_EMOJI}[\U0001f3fb-\U0001f3ff]")
_STYLES = dict.fromkeys(map(ord, "\ufe0e\ufe0f"), "")
_LETTERS_OF_FLAGS = {0x1F1E6 + at: chr(ord("A") + at) for at in range(26)}


@dataclass
class Drawing:
    """
    Lines with an optional cursor.

    Attributes:
        lines: The lines.
        cursor: Line and character of the cursor, from 0 on; None if it is
            elsewhere.
        shown: The cursor is visible.
        focus: The first and last line to keep in view; None if there are none.
        option: The first and last line of the option to keep in view; None
            without options.
        items: The first line of each field or answer.
    """

    lines: list[Line] = field(default_factory=list)
    cursor: tuple[int, int] | None = None
    shown: bool = False
    focus: tuple[int, int] | None = None
    option: tuple[int, int] | None = None
    items: list[int] = field(default_factory=list)

    def add(self, other: Drawing) -> None:
        """Append *other*."""
        if other.cursor is not None:
            row, at = other.cursor
            self.cursor = (len(self.lines) + row, at)
            self.shown = other.shown
        if other.option is not None:
            first, end = other.option
            self.option = (len(self.lines) + first, len(self.lines) + end)
        self.lines += other.lines


def columns(text: str) -> int:
    """Return the columns that the screen gives *text*."""
    return get_cwidth(text)


def has_disputed_width(text: str) -> bool:
    """Return True if terminals do not agree on the columns of *text*, such as of vowel signs, emoji and new letters."""
    return not text.isascii() and any(map(_is_disputed, text))


@lru_cache(maxsize=2_048)
def _is_disputed(character: str) -> bool:
    return character >= "\U0001f000" or unicodedata.category(character)[0] in "MC" or not columns(character)


def split_emoji(text: str) -> str:
    """Return *text* without joiners and styles of emoji: terminals do not agree on the columns of joined ones."""
    return text if text.isascii() else _JOINER.sub("", text.translate(_STYLES))


def simplify_emoji(text: str) -> str:
    """Return *text* with split emoji, without skin tones, and with the letters of flags: ``DE`` for that of Germany."""
    return text if text.isascii() else _SKIN_TONE.sub("", split_emoji(text)).translate(_LETTERS_OF_FLAGS)


@lru_cache(maxsize=2_048)
def break_lines(text: str, room: int) -> tuple[str, ...]:
    """Return lines of at most *room* columns."""
    margin = len(quoting.GUTTER)
    return tuple(line[margin:] for line in quote(simplify_emoji(text), room + margin).split("\n"))


def server_text(text: str, width: int, style: str = "class:server", mark: Line | None = None) -> list[Line]:
    """Return lines of text that comes from the server, with the gutter; the first one with *mark*."""
    lines = break_lines(text, width - len(GUTTER) - 1)
    return [
        [*(mark if mark and not at else [("", MARK)]), ("class:gutter", BAR), (style, line)]
        for at, line in enumerate(lines)
    ]


def host_text(text: str, width: int, style: str = "class:host", indent: str = "") -> list[Line]:
    """
    Return lines of text of the host.

    All lines but the first are indented, so that a line break in a name
    cannot begin a new line.
    """
    lines = break_lines(text, max(width - len(indent) - len(_HANGING) - 1, 1))
    return [[(style, indent + (_HANGING if at else "") + line)] for at, line in enumerate(lines)]


def without_bars(text: str) -> str:
    """Return *text* of the server, such as a label, so that it cannot imitate the mark before a value of the host."""
    return text.translate(_LIKE_BARS)


def labelled(label: str, text: str, width: int) -> list[Line]:
    """Return lines with a label of the host and a text of the server."""
    head = f" {label} "
    room = width - columns(head) - len(BAR) - 1
    if room < len(GUTTER) * 2:
        return [*host_text(label, width, "class:hint", " "), *server_text(text, width)]
    margin = " " * columns(head)
    return [
        [("class:hint", margin if at else head), ("class:gutter", BAR), ("class:server", line)]
        for at, line in enumerate(break_lines(text, room))
    ]


def beside(mark: Line, label: str, label_width: int, value: Drawing, style: str = "class:server") -> Drawing:
    """Return lines with a label of the server, cut to its column, and its *value* at the right of it."""
    drawn = Drawing()
    label = without_bars(label)
    start = len(GUTTER) + len(CLOSE)
    for at, line in enumerate(value.lines or [[]]):
        shown = (style, cut(label, label_width) if not at else "")
        filler = label_width - columns(shown[1])
        head: Line = [*(mark if not at else [("", MARK)]), ("class:gutter", BAR), shown]
        drawn.lines.append([*head, ("class:gutter", " " * filler + CLOSE), *line])
        if value.cursor is not None and value.cursor[0] == at:
            drawn.cursor = (at, start + len(shown[1]) + filler + value.cursor[1])
    drawn.shown = value.shown
    return drawn


def value_room(width: int, label_width: int) -> int:
    """Return the columns of a value beside a label."""
    return max(width - len(GUTTER) - label_width - len(CLOSE) - 1, 4)


def cut(text: str, room: int) -> str:
    """Cut *text* to at most *room* columns."""
    text = simplify_emoji(text)
    if columns(text) <= room:
        return text
    used = 0
    for at, character in enumerate(text):
        used += columns(character)
        if used > max(room - 1, 0):
            return text[:at] + "…"[: max(room, 0)]
    return text


def input_text(  # noqa: PLR0913 -- by keyword
    text: str, cursor: int | None, room: int, *, hidden: bool, style: str, rows: int = 12
) -> Drawing:
    """
    Return the lines of an input, broken between words if they fit.

    Args:
        text: The text that was typed or suggested.  Not sanitized.
        cursor: The position of the cursor in *text*; None if it is elsewhere.
        room: The width of the lines in columns.
        hidden: Show only the length of the text.
        style: The style of the text.
        rows: The maximum number of lines; those around the cursor are shown.
    """
    lines: list[list[str]] = [[]]
    starts = [0]
    used = 0
    for at, shown in enumerate("*" * len(text) if hidden else escape_each(text)):
        wide = columns(shown)
        if used + wide > room:
            end = _end_of_line(lines[-1], room - wide)
            word = lines[-1][end:]
            del lines[-1][end:]
            lines.append(word)
            starts.append(at - len(word))
            used = sum(map(columns, word))
        if shown == "\n":
            lines.append([])
            starts.append(at + 1)
            used = 0
        else:
            lines[-1].append(shown)
            used += wide
    row = max(bisect_right(starts, cursor or 0) - 1, 0)
    place = (row, len(split_emoji("".join(lines[row][: (cursor or 0) - starts[row]]))))
    first = min(max(place[0] - rows // 2, 0), max(len(lines) - rows, 0))
    drawn: list[Line] = [[(style, split_emoji("".join(line)))] for line in lines[first : first + rows]]
    return Drawing(drawn, None if cursor is None else (place[0] - first, place[1]), shown=True)


def _end_of_line(line: Sequence[str], room: int) -> int:
    """Return where to break *line*: before its last word, if that is not the only one and fits into *room* columns."""
    at = max((at for at, shown in enumerate(line, 1) if shown == " "), default=0)
    is_between_words = at and "".join(line[:at]).strip() and columns("".join(line[at:])) <= room
    return at if is_between_words else len(line)


def columns_of(line: Line) -> int:
    """Return the columns of *line*."""
    return sum(columns(text) for _, text in line)


def flow(pieces: Sequence[Line], width: int) -> list[Line]:
    """Return lines with as many *pieces* as fit beside each other, after one space."""
    lines: list[Line] = []
    used = 0
    for piece in pieces:
        wide = columns_of(piece)
        if lines and used + len(_GAP) + wide < width:
            lines[-1] = [*lines[-1], ("", _GAP), *piece]
            used += len(_GAP) + wide
        elif wide < width - 1:
            lines.append([("", " "), *piece])
            used = wide + 1
        else:
            lines += host_text("".join(text for _, text in piece), width, piece[-1][0], " ")
            used = width
    return lines


def rule(pieces: Line, width: int, character: str, right: Line | None = None) -> Line:
    """Return a line over the whole width that contains *pieces* and, near its end, *right*, if that fits."""
    end: Line = [("", " "), *right, ("class:rule", f" {character}")] if right else []
    head: Line = [("class:rule", f"{character} "), *pieces, ("", " ")] if pieces else []
    used = columns_of([*head, *end])
    if end and used + 3 > width:
        return rule(pieces, width, character)
    return [*head, ("class:rule", character * max(width - used - 1, 0)), *end]
