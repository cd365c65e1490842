"""From the words of a text to signs, one for each that means something in some language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, product
from typing import NamedTuple

from mcp_elicit_client.core.secrets.patterns import pattern
from mcp_elicit_client.core.secrets.tables import any_of, letters, words

# Signs that no word of the table has.
UNKNOWN = "x"
NUMBER = "0"


# Limits of the work.
MOST_TEXT = 16_384
LEAST_WORD = 4
_LEAST_JOINED = 8
_LEAST_IMITATION = 3
_LONGEST_STEM = 24
_MOST_JOINED = 6
_COMPOUNDS = range(6, 41)
# Latin letters beyond ASCII: extensions A and B, IPA, phonetic, C, D, enclosed.
_LATIN_BLOCKS = tuple(
    range(*block)
    for block in (
        (0xC0, 0x2B0),
        (0x1D00, 0x1DC0),
        (0x2C60, 0x2C80),
        (0xA720, 0xA800),
        (0x1F130, 0x1F200),
    )
)
_LINKS = ("", "s", "n", "e", "en", "es", "er")


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
    """Return the vocabulary as texts are read."""
    by_name = {name: chr(0xC0 + at) for at, name in enumerate(words().words)}
    signs = _signs_by_spelling(by_name)
    whole = {word: sign for word, sign in signs.items() if "*" not in word}
    single = {word: sign for word, sign in whole.items() if "_" not in word}
    phrases = sorted(whole.keys() - single.keys(), key=len, reverse=True)
    stems = _stems(signs, single)
    inside = {word.strip("*"): sign for word, sign in signs.items() if word[0] == "*"}
    composing = {by_name[name] for name in words().in_compounds.split()}
    parts = {word: sign for word, sign in {**stems, **single}.items() if sign in composing and len(word) > 2}
    return Lexicon(
        by_name=by_name,
        signs={**stems, **inside, **whole},
        stems=stems,
        anywhere=any_of(inside),
        parts=parts,
        beginnings=frozenset(word[:3] for word in (*parts, *stems)),
        phrases=_by_first_word(phrases),
        in_phrases=frozenset(chain.from_iterable(phrase.split("_") for phrase in phrases)),
        unspaced=any_of(word for word in single if pattern("unspaced").search(word)),
    )


def _signs_by_spelling(by_name: Mapping[str, str]) -> dict[str, str]:
    """Return the sign of each spelling of each word of the table, and of phrases that are written as one word."""
    signs: dict[str, str] = {}
    joined: dict[str, str] = {}
    for name, languages in words().words.items():
        for written in " ".join(languages.values()).split():
            spellings = dict.fromkeys(_spellings(written), by_name[name])
            signs.update(spellings)
            joined.update(
                (word, sign) for phrase, sign in spellings.items() if _is_name(word := phrase.replace("_", ""))
            )
    return {**joined, **signs}


def _is_name(joined: str) -> bool:
    return len(joined) >= _LEAST_JOINED and joined.isalpha() and joined.isascii()


def _stems(signs: Mapping[str, str], single: Mapping[str, str]) -> dict[str, str]:
    """Return the signs of beginnings of words: those of the table, and words of scripts that add endings."""
    stems = {word[:-1]: sign for word, sign in signs.items() if word.endswith("*") and word[0] != "*"}
    stems.update((word, sign) for word, sign in single.items() if len(word) > 2 and pattern("inflected").match(word))
    return stems


def _by_first_word(phrases: Iterable[str]) -> dict[str, list[tuple[list[str], str]]]:
    found: dict[str, list[tuple[list[str], str]]] = {}
    for phrase in phrases:
        first, *rest = phrase.split("_")
        found.setdefault(first, []).append((rest, phrase))
    return found


def _spellings(written: str) -> set[str]:
    """Return the folded spellings of a word: with and without umlauts."""
    if written.isascii():
        return {written.casefold()}
    plain = unicodedata.normalize("NFC", marks().sub("", unicodedata.normalize("NFKD", written)))
    without_umlauts = written.translate(_table(letters().umlauts))
    return {each.translate(_variants()).casefold() for each in (plain, without_umlauts)}


def _table(letters: Mapping[str, str]) -> Mapping[int, str]:
    return {ord(letter): replacement for letter, replacement in letters.items()}


@cache
def _variants() -> Mapping[int, str]:
    imitations = _table(dict(zip(*letters().imitations, strict=True)))
    return {**_latin_variants(), **imitations, **_table(letters().variants)}


def _latin_variants() -> dict[int, str]:
    """Return the Latin letters that Unicode does not decompose: with strokes, small capitals, in squares."""
    found: dict[int, str] = {}
    for code in chain.from_iterable(_LATIN_BLOCKS):
        if match := pattern("name_of_variant").fullmatch(unicodedata.name(chr(code), "")):
            found[code] = match[2] if match[1] == "LATIN CAPITAL" else match[2].lower()
    return found


@cache
def _lookalikes() -> Mapping[int, int]:
    return str.maketrans(*letters().lookalikes)


@cache
def _leet() -> tuple[Mapping[int, int], ...]:
    return tuple(str.maketrans(*each) for each in letters().leet)


@cache
def marks() -> re.Pattern[str]:
    """Match marks on letters and invisible characters."""
    hidden = (chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me", "Cf"})
    return re.compile(f"[{''.join(map(re.escape, hidden))}{letters().hidden}]+")


@cache
def tokens() -> re.Pattern[str]:
    """Match a word, or a mark of punctuation that means something."""
    marks = "".join(re.escape(mark) for sign in words().punctuation for mark in words().words[sign]["marks"].split())
    return re.compile(rf"[\w@$]+(?:'[a-z]{{1,2}}(?![a-z]))?|[{marks}]")


@lru_cache(maxsize=512)
def signs_of(text: str) -> str:
    """Return one sign for each word of *text*.  The texts of a form are read by several policies."""
    found = _words_in(text)
    phrases = load_lexicon().phrases
    if not phrases.keys().isdisjoint(found):
        found = list(_with_phrases(found, phrases))
    return "".join(map(sign_of, found))


def signs_of_words(text: str) -> str:
    """Return the sign of each word of *text* by itself: phrases are not read as one word."""
    return "".join(map(sign_of, _words_in(text)))


def _words_in(text: str) -> list[str]:
    return list(chain.from_iterable(map(_words, tokens().findall(_folded(text)))))


def _folded(text: str) -> str:
    """Write *text* without marks and invisible letters, and what is spelled out as words."""
    if "\\u{" in text:
        text = pattern("escaped").sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text[:MOST_TEXT])[:MOST_TEXT]
        text = unicodedata.normalize("NFC", marks().sub("", text)).replace("\u2019", "'")
        # Also letters in squares and circles, which `tokens` does not match.
        text = pattern("flag_emoji").sub(" ", text).translate(_variants())
    if "SELECT " in text:
        text = pattern("sql").sub(" ", text)
    if "#" in text or "°" in text:
        text = pattern("number_sign").sub(" number ", text)
    if "_" in text:
        text = pattern("example_name").sub(" ", text)
    if "\n" in text:
        text = "\n".join(dict.fromkeys((text, pattern("wrapped").sub(" ", text)))).replace("\n", " ¶ ")
    no_letters = pattern("no_letters")
    text = pattern("spelled").sub(lambda match: no_letters.sub("", match.group()), text)
    return pattern("joined").sub(_as_one_word, text) if pattern("joint").search(text) else text


def _as_one_word(match: re.Match[str]) -> str:
    """Return what was cut by punctuation as one word, if it is one (``pass.word``); otherwise as parts of a name."""
    text = match.group().replace("-", "_")
    return _as_one(pattern("no_letters").split(text)) or text


@lru_cache(maxsize=8192)
def _words(token: str) -> tuple[str, ...]:
    """Split a token where it hides several words, and read what is written oddly."""
    if "_" in token:
        return tuple(_words_of_parts(list(filter(None, token.split("_")))))
    if not token.isascii():
        token = _in_latin(token)
    if token in words().capitals:
        return (words().capitals[token],)
    word = token.casefold()
    parts = tuple(part for part in _words_of_parts(_parts_of(token)) if len(part) > 1)
    if any(sign_of(part) != UNKNOWN for part in parts):
        return parts
    if word in load_lexicon().in_phrases or sign_of(word) != UNKNOWN:
        return (word,)
    if not word.isascii() and pattern("unspaced").search(word):
        return tuple(_pieces(word))
    return parts or _words_of_unknown(word)


def _parts_of(token: str) -> list[str]:
    """Return the parts of ``sessionId``; none if *token* is one word, also with digits for letters: ``P4SSW0RD``."""
    parts = [] if token.islower() else pattern("hump").sub(" ", token).casefold().split()
    is_word = len(parts) <= 1 or (token.isupper() and _without_additions(token.casefold()))
    return [] if is_word else parts


def _words_of_parts(parts: Sequence[str]) -> Iterator[str]:
    """Yield the words of a name that is made of *parts*, in any spelling: ``session_id``, ``session-id``."""
    at = 0
    while at < len(parts):
        ends = range(min(len(parts), at + _MOST_JOINED), at + 1, -1)
        word, end = next(((word, end) for end in ends if (word := _as_one(parts[at:end]))), ("", at + 1))
        yield from [word] if word else _words(parts[at])
        at = end


def _as_one(parts: Sequence[str]) -> str:
    """Return the phrase or the word that *parts* are, if it says something else than they do: ``pass`` and ``port``."""
    known = load_lexicon().signs
    phrase, word = "_".join(parts).casefold(), "".join(parts).casefold()
    if not word.isascii():
        phrase, word = "_".join(map(_in_latin, parts)).casefold(), _in_latin(word)
    if phrase in known:
        return phrase
    if word not in known:
        return ""
    signs = [sign_of(part) for part in phrase.split("_") if len(part) > 1]  # one letter says little: ``e-mail``
    is_said = len(signs) > 1 and known[word] in (*signs, "".join(signs))
    return "" if is_said else word


def _in_latin(token: str) -> str:
    """Return *token* with Latin letters for lookalikes if it has Latin letters too, or is a known word only so."""
    word = token.casefold()
    latin = token.translate(_lookalikes())
    if any("a" <= letter <= "z" for letter in word):
        return latin
    is_imitation = len(token) >= _LEAST_IMITATION and latin.isascii() and sign_of(word) == UNKNOWN
    return latin if is_imitation and sign_of(latin.casefold()) != UNKNOWN else token


def _words_of_unknown(word: str) -> tuple[str, ...]:
    known = None if word.isalpha() else _without_additions(word)
    if known is None and "@" in word:  # it was not read as the letter a
        return tuple(chain.from_iterable(map(_words, filter(None, word.split("@")))))
    return (known or _as_read(word),)


def _as_read(word: str) -> str:
    """Return the known word that *word* looks like (``passvvord``, ``pæssword``), or *word*."""
    if len(word) <= LEAST_WORD:
        return word
    readings = (word.replace(drawn, letter) for drawn, letter in letters().drawn.items() if drawn in word)
    return next((reading for reading in readings if sign_of(reading) != UNKNOWN), word)


def _without_additions(word: str) -> str | None:
    """Return the known word that *word* is with digits or ``'s`` after it, or with digits and signs for letters."""
    readings = (word.rstrip("0123456789"), word.removesuffix("'s"), *(word.translate(each) for each in _leet()))
    return next((reading for reading in readings if sign_of(reading) != UNKNOWN), None)


def _pieces(run: str) -> Iterator[str]:
    """Yield the words of a run of letters without spaces; what lies between them is one for each alphabet."""
    at, same_alphabet = 0, pattern("same_alphabet")
    for match in load_lexicon().unspaced.finditer(run):
        yield from same_alphabet.findall(run[at : match.start()])
        yield match.group()
        at = match.end()
    yield from same_alphabet.findall(run[at:])


def _with_phrases(found: list[str], phrases: Mapping[str, list[tuple[list[str], str]]]) -> Iterator[str]:
    """Yield the words, each phrase as one."""
    at = 0
    while at < len(found):
        length, word = 1, found[at]
        for rest, phrase in phrases.get(word, ()):
            if found[at + 1 : at + 1 + len(rest)] == rest:
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
    if not word.isascii() and pattern("inflected").match(word):
        bare = (word[len(prefix) :] for prefix in words().prefixes if word.startswith(prefix))
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
        if at not in reached:
            continue
        part_ends = [end for end in range(at + 3, len(word) + 1) if parts.get(word[at:end])]
        for end, link in product(part_ends, _LINKS):
            if word.startswith(link, end):
                reached.setdefault(end + len(link), reached[at] + parts[word[at:end]])
    if len(word) in reached:
        return reached[len(word)]
    # Or it begins like one word and ends in another: ``Bestätigungscode``.
    ends = ((_stem(word[:at]), parts.get(word[at:], "")) for at in range(LEAST_WORD, len(word) - 2))
    return next((head + tail for head, tail in ends if head and tail), "")
