r"""
`sanitize_text`: escapes control, bidirectional and invisible characters in untrusted text.

Terminals, pages and logs act on invisible characters: escape sequences,
direction overrides, zero-width and unassigned characters.  Removing them
would hide that the server sent them, so they are shown by their number:
``\u{202e}``.
"""

from __future__ import annotations

import re
import unicodedata

MAX_SHOWN = 4_000
"""The default limit of `sanitize_text`, in characters: that of a message."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_RUN_OF_SPACES = re.compile(r"[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]{5,}")
_RUN_OF_LINES = re.compile(r"\n(?:[ \u00a0]*\n){2,}")

# Letters, marks and symbols without a visible glyph.
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc\U00016fe4\U0001d159"
)
_VISIBLE_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u0890\u0891\u08e2\U000110bd\U000110cd")
_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
_ZWJ = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_TEXT_STYLE = "\ufe0e"
_MARKS_ON_ONE_LETTER = 4
_VIRAMA = 9

# Scripts in which a joiner changes the shape of its neighbors.
_JOINING_SCRIPTS = frozenset(
    {
        "ARABIC",
        "BALINESE",
        "BENGALI",
        "DEVANAGARI",
        "GUJARATI",
        "GURMUKHI",
        "JAVANESE",
        "KANNADA",
        "KHMER",
        "MALAYALAM",
        "MANDAIC",
        "MONGOLIAN",
        "MYANMAR",
        "NKO",
        "ORIYA",
        "SINHALA",
        "SYRIAC",
        "TAMIL",
        "TELUGU",
        "THAANA",
        "TIBETAN",
    }
)

# The only flags for which Unicode recommends tag characters.
_TAG_FLAG = re.compile(
    "\U0001f3f4(?:"
    + "|".join("".join(chr(0xE0000 + ord(letter)) for letter in region) for region in ("gbeng", "gbsct", "gbwls"))
    + ")\U000e007f"
)

# Markup of consoles that read [tags]: closing tags, links, calls and hidden text.
_MARKUP = re.compile(r"\[(?:/|link=|@|conceal\b)")
_MARKUP_TAG = re.compile(r"\[(?=[A-Za-z/@#])")


def sanitize_text(text: str, *, limit: int | None = MAX_SHOWN, multiline: bool = True) -> str:
    r"""
    Return *text* safe to show in a terminal, on a page or in a log.

    Characters that move the cursor, change the reading direction, hide text
    or print over it become ``\u{...}``.  So do the brackets of console markup.
    Joiners stay where a script or an emoji needs them.  At most four marks
    stay on one letter.  Long runs of spaces and of empty lines are shortened.
    Sanitizing a sanitized text changes nothing.

    Args:
        text: Any text, also with lone surrogates.
        limit: The number of characters of *text* to read; the rest is
            replaced by ``…``.  None to read all.
        multiline: Keep line breaks; otherwise they become spaces.

    Examples:
        >>> print(sanitize_text("Domain: github.com\r\x1b[1AEVIL"))
        Domain: github.com\u{d}\u{1b}[1AEVIL
    """
    if is_plain(text):
        return text if limit is None or len(text) <= limit else f"{text[:limit]}…"
    cut = limit is not None and len(text) > limit
    if cut:
        text = text[:limit]
    if not (text.isascii() and text.isprintable()):
        text = _escape(text.replace("\r\n", "\n").replace("\t", " "), multiline=multiline)
    if "     " in text or not text.isascii():
        text = _RUN_OF_SPACES.sub("    ", text)
    if multiline and "\n" in text:
        text = _RUN_OF_LINES.sub("\n\n", text)
    if "[" in text and _MARKUP.search(text):
        text = _MARKUP_TAG.sub(r"\\u{5b}", text)
    return f"{text}…" if cut else text


def sanitize_and_cut(text: str, limit: int, *, multiline: bool = False) -> str:
    """
    Return *text* sanitized and cut to *limit* characters, escapes included, plus ``…``.

    Doing so again changes nothing: a form that is written and read again
    keeps its texts.
    """
    shown = sanitize_text(text, limit=limit, multiline=multiline)
    while len(shown.removesuffix("…")) > limit:  # twice at most: a cut can only split one emoji or flag
        shown = sanitize_text(shown, limit=limit, multiline=multiline)
    return shown


def is_plain(text: str) -> bool:
    """Return True if *text* needs no sanitizing.  A fast test that most texts pass."""
    return text.isascii() and text.isprintable() and "[" not in text and "     " not in text


def is_unicode(text: str) -> bool:
    """Return True if *text* can be sent: it has no lone surrogate."""
    return text.isascii() or _SURROGATE.search(text) is None


def _escape(text: str, *, multiline: bool) -> str:
    shown: list[str] = []
    marks = 0
    at = 0
    while at < len(text):
        character = text[at]
        if flag := _TAG_FLAG.match(text, at):
            shown.append(flag.group())
            at = flag.end()
            marks = 0
            continue
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        before = shown[-1][-1] if shown else ""
        after = text[at + 1] if at + 1 < len(text) else ""
        if character == "\n":
            shown.append("\n" if multiline else " ")
        elif _is_safe(character, before, after, has_letter=at >= marks and text[at - marks] != "\n", marks=marks):
            shown.append(character)
        else:
            shown.append(f"\\u{{{ord(character):x}}}")
        at += 1
    return "".join(shown)


def _is_safe(character: str, before: str, after: str, *, has_letter: bool, marks: int) -> bool:
    if character in _INVISIBLE:
        return False
    if character in _JOINERS:
        return _joins(character, before, after)
    if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        return _styles(character, before)
    if marks:
        return has_letter and marks <= _MARKS_ON_ONE_LETTER
    return unicodedata.category(character) not in _ESCAPED_CATEGORIES or character in _VISIBLE_FORMATS


def _joins(joiner: str, before: str, after: str) -> bool:
    """Return True if a script or an emoji needs *joiner* here."""
    if joiner == _ZWJ:
        if before and (_is_pictograph(before) or before == _EMOJI_STYLE):
            return bool(after) and unicodedata.category(after) == "So" and after not in _INVISIBLE
        if before and unicodedata.combining(before) == _VIRAMA:
            return True
    return _script(before) in _JOINING_SCRIPTS and _script(after) in _JOINING_SCRIPTS


def _styles(selector: str, before: str) -> bool:
    """Return True if *selector* chooses the style of an emoji or digit, and hides no data."""
    if selector not in (_EMOJI_STYLE, _TEXT_STYLE) or not before:
        return False
    return _is_pictograph(before) or before in "#*0123456789\u203c\u2049\u3030\u303d"


def _is_pictograph(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sm", "Sk") and not character.isascii()


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0] if character else ""
