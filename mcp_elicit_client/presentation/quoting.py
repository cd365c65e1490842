"""
Put the server's words where they cannot pass for the host's.

Every line that a server wrote begins with a gutter.  Lines are broken here,
not by the terminal: a line that the terminal broke would go on without one.
"""

from __future__ import annotations

import unicodedata

GUTTER = "  | "
_NARROWEST = 12


def quote(text: str, width: int) -> str:
    """
    Set *text*, already safe to show, in lines of at most *width* columns behind the gutter.

    Examples:
        >>> print(quote("Hello, who are you?", 16))
          | Hello, who
          | are you?
    """
    room = max(width - len(GUTTER), _NARROWEST)
    lines = [part for line in text.split("\n") for part in _break(line, room)]
    return "\n".join((GUTTER + line).rstrip() for line in lines)


def columns(text: str) -> int:
    """Count the columns that *text* takes in a terminal; rather too many than too few."""
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
