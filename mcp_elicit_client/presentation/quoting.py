"""
Quoting of server text in terminals.

Every line of server text begins with a gutter.  Lines are broken here and not
by the terminal, which would continue them without a gutter.
"""

from __future__ import annotations

import unicodedata

GUTTER = "  | "
_MIN_WIDTH = 12


def quote(text: str, width: int) -> str:
    """
    Return *text*, which must be sanitized, in lines of at most *width* columns with the gutter.

    Examples:
        >>> print(quote("Hello, who are you?", 16))
          | Hello, who
          | are you?
    """
    room = max(width - len(GUTTER), _MIN_WIDTH)
    lines = [part for line in text.split("\n") for part in _break(line, room)]
    return "\n".join((GUTTER + line).rstrip() for line in lines)


def columns(text: str) -> int:
    """Return an upper estimate of the columns of *text* in a terminal."""
    return sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _break(line: str, room: int) -> list[str]:
    lines: list[str] = []
    start = width = 0
    space = -1
    for at, character in enumerate(line):
        width += _columns_of(character)
        if width > room:
            end = space if space > start else at
            lines.append(line[start:end])
            start = end + 1 if end == space else end
            width = columns(line[start : at + 1])
        if character == " ":
            space = at
    lines.append(line[start:])
    return lines
