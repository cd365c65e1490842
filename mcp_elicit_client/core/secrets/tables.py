"""The tables with which secrets are found: words, rules, keys and letters, loaded from data files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core.secrets.findings import SecretKind


class _Row(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")


class Words(_Row):
    """
    The vocabulary, in ``words.json``.

    A word stands for a *sign* in every language, so a new language needs
    words and no rules.  Words are compared without case, diacritics and
    invisible characters; ``ä`` also matches ``ae``.  In scripts without
    spaces a word matches anywhere.

    Attributes:
        words: For each sign, its words by language, separated by spaces.
            ``word*`` is the beginning of a word, ``*word*`` a part of one, and
            ``two_words`` a phrase.  No word has two signs.
        groups: Names for several signs.
        punctuation: The signs whose words are punctuation marks.
        in_compounds: The signs whose words are parts of compounds, as in
            ``Kreditkartennummer`` and ``apikey``.
        prefixes: Arabic and Hebrew words that are written as prefixes.
        capitals: Words that mean something else if written so, and what they
            are read as: ``Tan`` is a color, ``TAN`` a number.
        no_values: Words that describe a password and are none.
    """

    words: Mapping[str, Mapping[str, str]]
    groups: Mapping[str, str]
    punctuation: tuple[str, ...]
    in_compounds: str
    prefixes: tuple[str, ...]
    capitals: Mapping[str, str]
    no_values: str


class RuleRow(_Row):
    """
    One way to ask for a secret.

    Attributes:
        kind: The secret.
        signs: A pattern of signs.  ``~`` matches up to three articles and
            prepositions, ``x`` a word that is unknown or says little alone,
            ``num`` a number.
        unless: Signs in the texts of the field that give it another meaning.
    """

    kind: SecretKind
    signs: str
    unless: str = ""


class ShortLabelRow(_Row):
    """
    A label that is ambiguous without its description or the message.

    Attributes:
        kind: The secret.
        label: A pattern of signs that the whole label matches.
        text: A pattern of signs in the description or message.
        unless: Signs in the texts of the field that give it another meaning.
    """

    kind: SecretKind
    label: str
    text: str
    unless: str = ""


class ExampleRow(_Row):
    """
    What a secret looks like in a description.

    Attributes:
        kind: The secret.
        beginning: A regular expression for the beginning of a word in lower case.
        unless: Signs beside it that give it another meaning.
    """

    kind: SecretKind
    beginning: str
    unless: str = ""


class RuleTable(_Row):
    """
    The ways to ask for a secret, in ``rules.json``.

    Attributes:
        trigger: Every request for a secret matches this pattern of signs.
        anywhere: Rules for names, titles and sentences.
        labels: More rules for names and titles.
        sentences: More rules for sentences.
        short_labels: Rules for ambiguous names and titles.
        contexts: Patterns of signs before and after the name of a secret.
        examples: What secrets look like in descriptions.
    """

    trigger: str
    anywhere: tuple[RuleRow, ...]
    labels: tuple[RuleRow, ...]
    sentences: tuple[RuleRow, ...]
    short_labels: tuple[ShortLabelRow, ...]
    contexts: Mapping[str, str]
    examples: tuple[ExampleRow, ...]


class KeyRow(_Row):
    """
    A key that is recognized by its beginning.

    Attributes:
        kind: The secret.
        issuer: The company or program that issues it.
        beginnings: Its beginnings, separated by spaces.  No letter and no
            digit stands before them.
        rest: A regular expression for the rest.
    """

    kind: SecretKind
    issuer: str
    beginnings: str
    rest: str


class ShapeRow(_Row):
    """
    A key that is recognized by its shape.

    Attributes:
        kind: The secret.
        issuer: The company or program that issues it, or "".
        shape: A regular expression.
    """

    kind: SecretKind
    issuer: str
    shape: str


class KeyTable(_Row):
    """Keys that are recognized by themselves, in ``keys.json``."""

    beginnings: tuple[KeyRow, ...]
    shapes: tuple[ShapeRow, ...]


class Letters(_Row):
    """
    Letters with several forms, in ``letters.json``.

    Attributes:
        variants: Ligatures and other variants of letters, and how they are
            read.
        imitations: Signs that are used as Latin letters, of rare scripts and
            currencies, and these letters.
        lookalikes: Letters of other alphabets, and the Latin letters they look like.
        leet: Digits and symbols, and the letters they stand for.
        drawn: Letters that together look like another one.
        umlauts: Umlauts, and how they are typed without them.
        hidden: Invisible characters that Unicode counts as letters, as a
            character class.
    """

    variants: Mapping[str, str]
    imitations: tuple[str, str]
    lookalikes: tuple[str, str]
    leet: tuple[tuple[str, str], ...]
    drawn: Mapping[str, str]
    umlauts: Mapping[str, str]
    hidden: str


@cache
def words() -> Words:
    """Return the vocabulary."""
    return Words.model_validate(_load("words.json"))


@cache
def rule_table() -> RuleTable:
    """Return the ways to ask for a secret."""
    return RuleTable.model_validate(_load("rules.json"))


@cache
def keys() -> KeyTable:
    """Return the keys that are recognized by themselves."""
    return KeyTable.model_validate(_load("keys.json"))


@cache
def letters() -> Letters:
    """Return the letters with several forms."""
    return Letters.model_validate(_load("letters.json"))


@cache
def recovery_words() -> frozenset[str]:
    """
    Return the words of recovery phrases: BIP-39, English.

    https://github.com/bitcoin/bips/blob/master/bip-0039/english.txt
    """
    return frozenset(_read("recovery_words.txt").split())


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of *words*, the longest first."""
    return re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))


def _load(name: str) -> Any:
    return json.loads(_read(name))


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
