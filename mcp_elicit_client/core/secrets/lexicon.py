"""The words of the table, as texts are read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import NamedTuple

from mcp_elicit_client.core.secrets.data_loader import any_of, shape, tables


class Lexicon(NamedTuple):
    """
    The words of the table, as texts are read.

    Attributes:
        by_name: The sign of each name.
        signs: The sign of each word and each beginning of one.
        stems: The sign of what words begin with.
        anywhere: What may stand anywhere in a word.
        parts: The sign of each word that others are made of.
        beginnings: The first three letters of these and of the stems.
        phrases: For the first word of a phrase, what follows it, and the phrase.
        in_phrases: All words that phrases are made of.
        unspaced: The words of scripts without spaces.
    """

    by_name: Mapping[str, str]
    signs: Mapping[str, str]
    stems: Mapping[str, str]
    anywhere: re.Pattern[str]
    parts: Mapping[str, str]
    beginnings: frozenset[str]
    phrases: Mapping[str, list[tuple[list[str], str]]]
    in_phrases: frozenset[str]
    unspaced: re.Pattern[str]


@cache
def load_lexicon() -> Lexicon:
    data = tables()
    by_name = {name: chr(0xC0 + at) for at, name in enumerate(data.WORDS)}
    words: dict[str, str] = {}
    for name, languages in data.WORDS.items():
        for written in " ".join(languages.values()).split():
            words.update(dict.fromkeys(_spellings(written), by_name[name]))
    whole = {word: sign for word, sign in words.items() if "*" not in word}
    single = {word: sign for word, sign in whole.items() if "_" not in word}
    stems = {word[:-1]: sign for word, sign in words.items() if word.endswith("*") and word[0] != "*"}
    stems.update((word, sign) for word, sign in single.items() if len(word) > 2 and shape("inflected").match(word))
    inside = {word.strip("*"): sign for word, sign in words.items() if word[0] == "*"}
    composing = {by_name[name] for name in data.IN_COMPOUNDS.split()}
    parts = {word: sign for word, sign in {**stems, **single}.items() if sign in composing and len(word) > 2}
    phrases: dict[str, list[tuple[list[str], str]]] = {}
    for phrase in sorted(whole.keys() - single.keys(), key=len, reverse=True):
        first, *rest = phrase.split("_")
        phrases.setdefault(first, []).append((rest, phrase))
    return Lexicon(
        by_name=by_name,
        signs={**stems, **inside, **whole},
        stems=stems,
        anywhere=any_of(inside),
        parts=parts,
        beginnings=frozenset(word[:3] for word in (*parts, *stems)),
        phrases=phrases,
        in_phrases=frozenset(chain.from_iterable(phrase.split("_") for phrase in whole.keys() - single.keys())),
        unspaced=any_of(word for word in single if shape("unspaced").search(word)),
    )


def _spellings(written: str) -> set[str]:
    """Return a word of the table as texts are read, and as people type it who have no umlauts."""
    plain = unicodedata.normalize("NFC", marks().sub("", unicodedata.normalize("NFKD", written)))
    return {each.translate(tables().LETTERS).casefold() for each in (plain, written.translate(tables().UMLAUTS))}


@cache
def marks() -> re.Pattern[str]:
    """Match what is no letter of its own: marks on letters, and what leaves no ink."""
    hidden = (chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me", "Cf"})
    return re.compile(f"[{''.join(map(re.escape, hidden))}{tables().HIDDEN}]+")


@cache
def tokens() -> re.Pattern[str]:
    """Match a word, or a mark of punctuation that means something."""
    marks = "".join(re.escape(mark) for sign in tables().MARKS for mark in tables().WORDS[sign]["marks"].split())
    return re.compile(rf"[\w@$]+(?:'[a-z]{{1,2}}(?![a-z]))?|[{marks}]")
