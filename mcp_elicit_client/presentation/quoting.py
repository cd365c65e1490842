"""
Quoting of server text: in a line, and in terminals.

In terminals, every line of server text begins with a gutter.  Lines are broken here and not
by the terminal, which would continue them without a gutter.
"""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from contextlib import suppress
from functools import lru_cache
from typing import TextIO

from mcp_elicit_client.core.text import sanitize_text

GUTTER = "  | "
_INNER_QUOTES = str.maketrans("“”„‟", '""""')
_MAX_NAME = 80
_MIN_WIDTH = 12
_MIN_SENTENCE = 20
_NEVER_FIRST = frozenset("\u3001\u3002\uff0c\uff0e\uff09\u300d\u300f\uff1a\uff1f\uff01\uff0f\u30fc")
"""Japanese punctuation that must not begin a line."""

_WIDE_SYMBOLS = (
    range(0x2630, 0x2638),
    range(0x268A, 0x2690),
    range(0x4DC0, 0x4E00),
    range(0x1D300, 0x1D357),
    range(0x1D360, 0x1D377),
    range(0x1F1E6, 0x1F200),
)
"""Symbols of two columns that Unicode did not call wide before version 16, and the letters of flags."""

_NO_BREAK_SPACES = frozenset("\u00a0\u202f")


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


def escape_for(encoding: str, text: str, width: int) -> str:
    """
    Return *text* with escapes for the characters that *encoding* does not have.

    Quoted lines that become longer than *width* are broken again.

    Args:
        encoding: The encoding of the terminal.
        text: Lines of the host, and lines of `quote`.
        width: The number of columns.
    """
    escaped = text.encode(encoding, "backslashreplace").decode(encoding)
    if escaped == text:
        return text
    lines = escaped.split("\n")
    return "\n".join(quote(line[len(GUTTER) :], width) if line.startswith(GUTTER) else line for line in lines)


def is_terminal(stream: TextIO | None) -> bool:
    """Return True if *stream* is a terminal; False also if it is missing or closed."""
    try:
        return stream is not None and bool(stream.isatty())
    except (AttributeError, ValueError, OSError):
        return False


def terminal_width(default: int = 80) -> int:
    """
    Return the columns that lines may have: those of the terminal, or of ``COLUMNS`` if that is less.

    A terminal continues longer lines without the mark of server text.

    Args:
        default: The columns without a terminal and ``COLUMNS``.
    """
    widths = [shutil.get_terminal_size((default, 24)).columns]
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # no terminal, closed, or without a descriptor
            widths.append(os.get_terminal_size(stream.fileno()).columns)
    return min(each for each in widths if each > 0)


def quoted(text: str) -> str:
    """Return words of the server in quotation marks, which they cannot contain."""
    return f"“{text.translate(_INNER_QUOTES)}”"


def quote_name(name: str) -> str:
    """Return a name that a server spelled in quotation marks, which it cannot contain: sanitized, cut, in one line."""
    shown = sanitize_text(name, limit=_MAX_NAME, multiline=False).replace('"', "'")
    return f'"{shown}"'


def wrap(text: str, width: int, indent: int = 0, hanging: int | None = None) -> str:
    """
    Return a sentence of the host in lines of at most *width* columns.

    Lines end between words, and between characters of scripts that have no
    spaces.  Words, such as names, are never broken.

    Args:
        text: The sentence.  Spaces at its beginning indent the first line.
        width: The number of columns.
        indent: The indentation of the first line.
        hanging: The indentation of the other lines; None for the same.

    Examples:
        >>> print(wrap("Warning: The URL uses an unusual port.", 20, hanging=2))
        Warning: The URL
          uses an unusual
          port.
    """
    lines = [" " * (indent + len(text) - len(text.lstrip(" ")))]
    rest = " " * (indent if hanging is None else hanging)
    space = ""
    for part in _parts(text):
        is_empty = not lines[-1].strip(" ")
        if _may_break(part):
            space += "" if is_empty else " "
        elif columns(lines[-1] + space + part) > width and not is_empty:
            lines.append(rest + part)
            space = ""
        else:
            lines[-1] += space + part
            space = ""
    return "\n".join(lines)


def sentence(text: str, width: int) -> str:
    """Return a sentence of the host in lines for a terminal with *width* columns; all but the first are indented."""
    return wrap(text, max(width - 1, _MIN_SENTENCE), hanging=2)


def _parts(text: str) -> list[str]:
    """Split *text* into spaces, words, and wide characters, each with the punctuation that must not begin a line."""
    parts: list[str] = []
    is_word = False
    for character in text:
        is_wide = _is_wide(character)
        if character in _NEVER_FIRST and parts and not _may_break(parts[-1]):
            parts[-1] += character
            is_word = False
        elif is_word and not is_wide and not _may_break(character):
            parts[-1] += character
        else:
            parts.append(character)
            is_word = not is_wide and not _may_break(character)
    return parts


def _may_break(part: str) -> bool:
    return part.isspace() and _NO_BREAK_SPACES.isdisjoint(part)


def columns(text: str) -> int:
    """Return an upper estimate of the columns of *text* in a terminal."""
    return sum(map(_columns_of, text))


@lru_cache(maxsize=4_096)
def _columns_of(character: str) -> int:
    category = unicodedata.category(character)
    if category in ("Mn", "Me"):
        return 0
    if category == "Cn":  # the terminal may have a newer version of Unicode, in which it is wide
        return 2
    if _is_wide(character):
        return 2
    return 2 if any(ord(character) in symbols for symbols in _WIDE_SYMBOLS) else 1


def _break(line: str, room: int) -> list[str]:
    lines: list[str] = []
    start = width = 0
    end = following = -1  # the last place for a break, and where the next line would begin
    was_wide = False
    for at, character in enumerate(line):
        width += _columns_of(character)
        is_wide = _is_wide(character)
        if is_wide and was_wide and character not in _NEVER_FIRST:
            end = following = at
        if width > room:
            if end <= start:
                end = following = at
            lines.append(line[start:end])
            start = following
            width = columns(line[start : at + 1])
        if character == " ":
            end, following = at, at + 1
        was_wide = is_wide
    lines.append(line[start:])
    return lines


def _is_wide(character: str) -> bool:
    return character >= "\u1100" and unicodedata.east_asian_width(character) in ("W", "F")
