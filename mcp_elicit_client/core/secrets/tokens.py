"""From the words of a text to signs, one for each that means something in some language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain

from mcp_elicit_client.core.secrets.data_loader import shape, tables
from mcp_elicit_client.core.secrets.lexicon import load_lexicon, marks, tokens

# Signs that no word of the table has.
UNKNOWN = "x"
NUMBER = "0"


# What bounds the work.
MOST_TEXT = 16_384
LEAST_WORD = 4
_LONGEST_STEM = 24
_COMPOUNDS = range(6, 41)
_LINKS = ("", "s", "n", "e", "en", "es", "er")


@lru_cache(maxsize=512)
def signs_of(text: str) -> str:
    """Return one sign for each word of *text*.  The texts of a form are read by several policies."""
    words = list(chain.from_iterable(map(_words, tokens().findall(_folded(text)))))
    phrases = load_lexicon().phrases
    if not phrases.keys().isdisjoint(words):
        words = list(_with_phrases(words, phrases))
    return "".join(map(sign_of, words))


def _folded(text: str) -> str:
    """Write *text* without marks and invisible letters, and what is spelled out as words."""
    if "\\u{" in text:
        text = shape("escaped").sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text[:MOST_TEXT])[:MOST_TEXT]
        text = unicodedata.normalize("NFC", marks().sub("", text)).replace("\u2019", "'")
    if "_" in text:
        text = text.replace("_", " ")
    if "\n" in text:
        text = text.replace("\n", " ¶ ")
    no_letters = shape("no_letters")
    text = shape("spelled").sub(lambda match: no_letters.sub("", match.group()), text)
    return shape("joined").sub(_as_one_word, text) if shape("joint").search(text) else text


def _as_one_word(match: re.Match[str]) -> str:
    """Return what was cut by punctuation as one word, if it is one: ``pass-word``."""
    word = shape("no_letters").sub("", match.group()).casefold()
    return word if word in load_lexicon().signs else match.group()


@lru_cache(maxsize=8192)
def _words(token: str) -> tuple[str, ...]:
    """Split a token where it hides several words, and read what is written oddly."""
    if not token.isascii():
        token = token.translate(tables().LETTERS)
        if any("a" <= letter <= "z" for letter in token.casefold()):
            token = token.translate(tables().LOOKALIKES)
    word = token.casefold()
    if word in load_lexicon().in_phrases or sign_of(word) != UNKNOWN:
        return (word,)
    if not word.isascii() and shape("unspaced").search(word):
        return tuple(_pieces(word))
    if word != token and len(pieces := shape("hump").sub(" ", token).split()) > 1:
        return tuple(chain.from_iterable(map(_words, pieces)))
    if word.isalpha():
        return (word,)
    # Digits after a word, digits and signs for letters; only then is an @ an @.
    readings = (word.rstrip("0123456789"), *(word.translate(letters) for letters in tables().LEET))
    known = next((reading for reading in readings if sign_of(reading) != UNKNOWN), None)
    if known is None and "@" in word:
        return tuple(chain.from_iterable(map(_words, filter(None, word.split("@")))))
    return (known or word,)


def _pieces(run: str) -> Iterator[str]:
    """Yield the words of a run of letters without spaces; what lies between them is one each."""
    at = 0
    for match in load_lexicon().unspaced.finditer(run):
        if match.start() > at:
            yield run[at : match.start()]
        yield match.group()
        at = match.end()
    if at < len(run):
        yield run[at:]


def _with_phrases(words: list[str], phrases: Mapping[str, list[tuple[list[str], str]]]) -> Iterator[str]:
    """Yield *words*, those that are one together as one."""
    at = 0
    while at < len(words):
        length, word = 1, words[at]
        for rest, phrase in phrases.get(word, ()):
            if words[at + 1 : at + 1 + len(rest)] == rest:
                length, word = 1 + len(rest), phrase
                break
        yield word
        at += length


@lru_cache(maxsize=8192)
def sign_of(word: str) -> str:
    """Return the sign of *word*, or the signs of the words that it is made of."""
    lexicon = load_lexicon()
    if sign := lexicon.signs.get(word):
        return sign
    if word.isdigit():
        return NUMBER
    if len(word) < LEAST_WORD and word.isascii():
        return UNKNOWN
    if word[:3] in lexicon.beginnings and (signs := _compound(word) or _stem(word)):
        return signs
    if match := lexicon.anywhere.search(word):
        return lexicon.signs[match.group()]
    if not word.isascii() and shape("inflected").match(word):
        bare = (word[len(prefix) :] for prefix in tables().PREFIXES if word.startswith(prefix))
        return next(filter(None, map(_stem, bare)), UNKNOWN)
    return UNKNOWN


def _stem(word: str) -> str:
    """Return the sign of what *word* begins with, if that is known."""
    stems = load_lexicon().stems
    for length in range(min(len(word), _LONGEST_STEM), 2, -1):
        if sign := stems.get(word[:length]):
            return sign
    return ""


def _compound(word: str) -> str:
    """Return the signs of the words that *word* is made of, with nothing left over: ``Kartennummer``."""
    if len(word) not in _COMPOUNDS:
        return ""
    parts = load_lexicon().parts
    reached = {0: ""}
    for at in range(len(word) - 2):
        if at in reached:
            for end in range(at + 3, len(word) + 1):
                if sign := parts.get(word[at:end]):
                    for link in _LINKS:
                        if word.startswith(link, end):
                            reached.setdefault(end + len(link), reached[at] + sign)
    if len(word) in reached:
        return reached[len(word)]
    # Or it begins like one word and ends in another: ``Bestätigungscode``.
    ends = ((_stem(word[:at]), parts.get(word[at:], "")) for at in range(LEAST_WORD, len(word) - 2))
    return next((head + tail for head, tail in ends if head and tail), "")
