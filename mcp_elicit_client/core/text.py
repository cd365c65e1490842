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
from collections.abc import Iterator
from functools import lru_cache

from mcp_elicit_client._arguments import check_type

MAX_SHOWN = 4_000
"""The default limit of `sanitize_text`, in characters: that of a message."""

# Patterns that few texts need are compiled at their first use, because they would slow down the import.
_SURROGATE = re.compile("[\ud800-\udfff]")
_RUN_OF_SPACES = re.compile(r"[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]{5,}")
_RUN_OF_LINES = r"\n(?:[ \u00a0]*\n){2,}"

# Letters, marks and symbols without a visible glyph.
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc\U00016fe4\U0001d159"
)
_VISIBLE_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u0890\u0891\u08e2\U000110bd\U000110cd")
_BLACK_FLAG = "\U0001f3f4"
_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
_ZWJ = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_TEXT_STYLE = "\ufe0e"
# What else Unicode lets a style follow, and a joiner precede (emoji-variation-sequences.txt, emoji-zwj-sequences.txt).
_STYLED = "#*0123456789\u203c\u2049\u2139\u3030\u303d"
_JOINED_ARROW = "\u2194"
_MARKS_ON_ONE_LETTER = 4
_VIRAMA = 9

_MAX_KINDS = 20_000
_MAX_ESCAPED_RUN = 1_024

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

# Markup of consoles that read [tags]: closing tags, calls, links and hidden text, also among other styles and colors.
_MARKUP = r"(?i)\[(?:[/@]|(?=[A-Za-z#])[^\[\]]*\b(?:link(?:=|\s+[a-z]+:)|conceal\b))"
_MARKUP_TAG = r"\[(?=[A-Za-z/@#])"


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
    check_type("text", text, str)
    cut = limit is not None and len(text) > limit
    shown = _sanitize(text[:limit] if cut else text, multiline=multiline)
    return f"{shown}…" if cut else shown


def _sanitize(text: str, *, multiline: bool, max_length: int | None = None) -> str:
    """Return *text* sanitized.  If the result is longer than *max_length*, the end may be missing."""
    if is_plain(text):
        return text
    original, stopped = text, False
    if not (text.isascii() and text.isprintable()):
        text = _escape(text.replace("\r\n", "\n").replace("\t", " "), multiline=multiline, max_length=max_length)
        stopped = max_length is not None and len(text) > max_length
    if "     " in text or not text.isascii():
        text = _RUN_OF_SPACES.sub("    ", text)
    if multiline and "\n" in text:
        text = re.sub(_RUN_OF_LINES, "\n\n", text)
    if "[" in text and re.search(_MARKUP, text):
        text = re.sub(_MARKUP_TAG, r"\\u{5b}", text)
    if stopped and max_length is not None and len(text) <= max_length:  # spaces were removed: there is room for more
        return _sanitize(original, multiline=multiline)
    return text


def sanitize_and_cut(text: str, limit: int, *, multiline: bool = False) -> str:
    """
    Return *text* sanitized and cut to *limit* characters, escapes included, plus ``…``.

    Doing so again changes nothing: a form that is written and read again
    keeps its texts.
    """
    if len(text) <= limit and is_plain(text):
        return text
    shown, cut = text, False
    while True:  # three times at most: a cut can only split one emoji or flag
        cut = cut or len(shown) > limit
        shown = _sanitize(shown[:limit], multiline=multiline, max_length=limit)
        if len(shown) <= limit:
            return f"{shown}…" if cut else shown


def is_plain(text: str) -> bool:
    """Return True if *text* needs no sanitizing.  A fast test that most texts pass."""
    return text.isascii() and text.isprintable() and "[" not in text and "     " not in text


def is_unicode(text: str) -> bool:
    """Return True if *text* can be sent: it has no lone surrogate."""
    return text.isascii() or _SURROGATE.search(text) is None


def unify_line_breaks(text: str) -> str:
    """Return *text* with each line break as one line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def normalize_look(text: str) -> str:
    """Return *text* so that texts that look the same are equal: spaces and composed characters do not differ."""
    words = " ".join(text.split())
    return words if words.isascii() else unicodedata.normalize("NFC", words)


def fold_accents(text: str) -> str:
    """Return *text* in lower case and without accents, to compare typed words."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    return "".join(each for each in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(each))


def escape_each(text: str) -> list[str]:
    r"""
    Return each character of *text* as `sanitize_text` shows it: unchanged, or as its escape.

    Tabs become spaces.  Nothing is shortened, so that a position in *text* is
    one in the result.

    Examples:
        >>> escape_each("a\u200d")
        ['a', '\\u{200d}']
    """
    each: list[str] = []
    for part, shown in _parts(text.replace("\t", " "), multiline=True):
        each += shown if len(shown) == len(part) else (character.translate(_ESCAPES) for character in part)
    return each


def _escape(text: str, *, multiline: bool, max_length: int | None) -> str:
    """Escape *text*; stop when the result is longer than *max_length*."""
    escaped: list[str] = []
    length = 0
    for _, shown in _parts(text, multiline=multiline):
        escaped.append(shown)
        length += len(shown)
        if max_length is not None and length > max_length:
            break
    return "".join(escaped)


def _parts(text: str, *, multiline: bool) -> Iterator[tuple[str, str]]:
    """Yield the parts of *text* in order, each with how it is shown: unchanged, or each character escaped."""
    kinds = text.translate(_KINDS)
    at, before = 0, ""
    while at < len(text):
        if match := _VISIBLE_RUN.match(kinds, at) or _TAG_FLAG.match(text, at):
            part = shown = text[at : match.end()]
        elif kinds[at] == "n":
            part, shown = "\n", "\n" if multiline else " "
        elif _is_safe(text, kinds, at, before):
            part = shown = text[at]
        else:
            run = _ESCAPED_RUN.match(kinds, at, at + _MAX_ESCAPED_RUN)
            part = text[at : run.end() if run else at + 1]
            shown = part.translate(_ESCAPES)
        yield part, shown
        at, before = at + len(part), shown[-1]


class _Kinds(dict[int, str]):
    """
    The kinds of the characters that were read so far, each as one letter.

    ``v`` is visible anywhere, ``p`` a pictograph, ``m`` a mark, ``i`` an
    invisible mark and ``s`` a selector of styles.  ``z`` is the joiner of
    emoji, ``j`` the other joiner, and ``f`` the flag that tags may follow.
    ``n`` is a line break, and ``e`` any other character that is escaped.
    """

    def __missing__(self, number: int) -> str:
        if len(self) >= _MAX_KINDS:
            self.clear()
        kind = self[number] = _kind_of(chr(number))
        return kind


class _Escapes(dict[int, str]):
    """The escapes of the characters that were read so far."""

    def __missing__(self, number: int) -> str:
        if len(self) >= _MAX_KINDS:
            self.clear()
        escape = self[number] = f"\\u{{{number:x}}}"
        return escape


_KINDS = _Kinds()
_ESCAPES = _Escapes()
_VISIBLE_RUN = re.compile(f"(?:pz(?=p)|[vp]m{{0,{_MARKS_ON_ONE_LETTER}}})+")
_ESCAPED_RUN = re.compile("[ei]+|m[msi]*")  # no mark follows an escaped mark


def _kind_of(character: str) -> str:
    category = unicodedata.category(character)
    if character in _JOINERS:
        return "z" if character == _ZWJ else "j"
    if character in _INVISIBLE:
        return "i" if category[0] == "M" else "e"
    if category[0] == "M":
        return "s" if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef" else "m"
    if character == "\n":
        return "n"
    if category in _ESCAPED_CATEGORIES:
        return "v" if character in _VISIBLE_FORMATS else "e"
    if character == _BLACK_FLAG:
        return "f"
    return "p" if category == "So" and not character.isascii() else "v"


def _is_safe(text: str, kinds: str, at: int, before: str) -> bool:
    """Return True if a character whose neighbors matter is safe; *before* is the last character that is shown."""
    match kinds[at]:
        case "z" | "j":
            return _joins(text[at], before, text[at + 1 : at + 2])
        case "s":
            return _styles(text[at], before)
        case "m":
            start = max(0, at - _MARKS_ON_ONE_LETTER)
            base = kinds[start:at].rstrip("msi")[-1:]  # "" if there are more marks, or no letter
            return base not in ("", "n")
        case kind:
            return kind in "vf"


@lru_cache(maxsize=4096)
def _joins(joiner: str, before: str, after: str) -> bool:
    """Return True if a script or an emoji needs *joiner* here."""
    if joiner == _ZWJ and before and (_is_pictograph(before) or before == _EMOJI_STYLE):
        return after == _JOINED_ARROW or (after != "" and _kind_of(after) in "pf")
    if before and unicodedata.combining(before) == _VIRAMA:  # also at the end of a word
        return True
    if after == "" or _kind_of(after) in "ei":  # it will be escaped, so it is no neighbor
        return False
    return _script(before) in _JOINING_SCRIPTS and _script(after) in _JOINING_SCRIPTS


@lru_cache(maxsize=4096)
def _styles(selector: str, before: str) -> bool:
    """Return True if *selector* chooses the style of an emoji or digit, and hides no data."""
    if selector not in (_EMOJI_STYLE, _TEXT_STYLE) or not before:
        return False
    return _is_pictograph(before) or before in _STYLED


def _is_pictograph(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sm", "Sk") and not character.isascii()


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0] if character else ""
