"""
What a form must not ask for and an answer should not hold: secrets.

The texts of a request become *signs*, one for each word that means something
in some language, and rules are patterns of signs.  Words, rules and the
shapes of keys are data, in `core.secret_words`; here they are read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core import secret_words as data
from mcp_elicit_client.core.forms import Field, Form, NumberField, TextField, text_of
from mcp_elicit_client.core.requests import FormRequest, parse_request
from mcp_elicit_client.core.secret_words import SecretKind

Where: TypeAlias = Literal["name", "title", "description", "message", "answer"]
"""Where a secret is asked for, or is."""

_LEAST_CODE = 999
_FORMATS_WITHOUT_SECRETS = frozenset({"email", "date", "date-time", "time", "duration", "ipv4", "ipv6", "hostname"})

_UNKNOWN = "x"
_NUMBER = "0"
_MOST_TEXT = 16_384
_MOST_PAIRS = 200
_LONGEST_LABEL = 60
_LONGEST_STEM = 24
_COMPOUNDS = range(6, 41)
_LINKS = ("", "s", "n", "e", "en", "es", "er")
_BREAK = " ¶ "

_UNSPACED = re.compile(f"[{data.UNSPACED}]")
_INFLECTED = re.compile(f"[{data.INFLECTED}]")
_SIGN_NAMES = re.compile(r"\[[^\]]*\]|[a-z_]+")
_ODD = re.compile(r"[-_/=.@]\w|[-_]$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ESCAPED = re.compile(r"\\u\{[0-9a-f]{1,6}\}")
_SPELLED = re.compile(r"(?<![^\W_])[^\W_](?:[\W_]{1,3}[^\W_](?![^\W_])){2,}")
_IS_JOINED = re.compile(r"\w[^\w\s]{1,2}\w")
_JOINED = re.compile(r"(?<!\w)\w+(?:[^\w\s]{1,2}\w+)+")
_MOST_NUMBER = 10**20
_SIGHT = 24
_SHORT = 3
_LEAST_PHRASE = 40
_WORDS_OF_PHRASE = 12
_LONGEST_VALUE = 300
_SIGNS_OF_IS = frozenset("=:：")
_NOBODY = frozenset({"user", "username", "login", "name", ""})
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_FOREIGN_DIGITS = re.compile(r"(?![0-9])\d")
_LONG = re.compile(r"\S{12}|-----BEGIN|\s-[pu]|\bmachine\s")
_START = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]\S")
_MANY_DIGITS = re.compile(r"\d(?:[ -]?\d){8}")
_GROUPS_OF_DIGITS = re.compile(
    r"(?<![\w+-])(?<!\d[. -])(\d{13,19}|\d{4}(?:[ -]\d{4}){2}[ -]\d{1,7}|\d{4}[ -]\d{6}[ -]\d{4,5})(?![\w]|[. -]\d)"
)
_SSN = re.compile(r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])")
_IBAN = re.compile(r"\b[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_USER_IN_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://([^\s/:@?#]{0,200}):([^\s/@]{1,200})@")
_WORD = re.compile(r"[A-Za-z]+")
_FLAG = re.compile(r"(?:^|\s)--?([A-Za-z][\w-]{1,40}) (\"[^\"]{4,}\"|'[^']{4,}'|[^\s-]\S{3,})")
_QUOTED = re.compile(r"([\"'`])(.{1,299}?)\1")
_AFTER_LAST = re.compile(r".*(?:[\n;&{}<>(),?|\"`=:：/]|(?<!\w)'|'(?!\w))", re.DOTALL)
_RANDOM = re.compile(r"(?<![\w/.=:-])(?=[A-Za-z_-]{0,40}\d)(?=[\d_-]{0,40}[A-Za-z])[\w-]{20,200}(?![\w/.-])")
_NOT_LETTERS = re.compile(r"[\W_]+")


class Finding(BaseModel):
    """
    A secret that is asked for, or that an answer holds.

    Attributes:
        field: The name of the field, as the server spells it: **not safe to
            show**.  None if the message asks, but for no field in particular.
        kind: What kind of secret it is.
        where: What asks for it, or "answer" for what was typed.
        message: A sentence for people.  It never quotes the answer.
    """

    model_config = ConfigDict(frozen=True)

    field: str | None
    kind: SecretKind
    where: Where
    message: str


def find_secrets(params: object, content: Mapping[str, Any] | None = None) -> tuple[Finding, ...]:
    """
    Find the secrets that a form asks for, and those in an answer to it.

    What grants access or authorises a payment is a secret; names, e-mail
    addresses and the like are none.  To ask for secrets at a URL is right:
    a request for one asks for nothing here.

    Args:
        params: What `parse_request` takes.
        content: The answer, if there is one.

    Raises:
        RequestError: If *params* are no request.
    """
    request = parse_request(params)
    asked = secret_fields(request.form, request.message) if isinstance(request, FormRequest) else ()
    return (*asked, *secret_values(content or {}))


def secret_fields(form: Form, message: str) -> tuple[Finding, ...]:
    """
    Find the secrets that *form* asks for: at most one a field.

    Args:
        form: The form.
        message: What the server says with it.
    """
    fields = [field for field in form.fields if _can_hold(field)]
    if not fields:
        return ()
    told = _signs(message)
    found = [finding for field in fields if (finding := _asked_by(field, told))]
    if not found and (kind := _asked_in(message, told)):
        found.append(_asking(_blamed(fields), kind, "message"))
    return tuple(found)


def secret_values(content: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Find the secrets that *content* holds: at most one of a kind a field."""
    found: dict[tuple[str, SecretKind], Finding] = {}
    for name, value in content.items():
        for text in _texts(value):
            for kind, called in _held(text):
                message = f"The answer holds {called}."
                found.setdefault((name, kind), Finding(field=name, kind=kind, where="answer", message=message))
    return tuple(found.values())


# --- What is asked for ------------------------------------------------------


def _can_hold(field: Field) -> bool:
    """Tell whether somebody could answer *field* with a secret."""
    if isinstance(field, NumberField):
        return field.maximum is None or field.maximum >= _LEAST_CODE
    text = text_of(field)
    return text is not None and text.format not in _FORMATS_WITHOUT_SECRETS


def _asked_by(field: Field, told: str) -> Finding | None:
    """Find what *field* asks for, given the signs of the message."""
    rules = _rules()
    name, description = _signs(field.name), _signs(field.description)
    title = name if field.title == field.name else _signs(field.title)
    whole = rules.line.join((name, title, description))
    if rules.trigger.search(whole):
        kinds = data.WRITTEN_IN_DIGITS if isinstance(field, NumberField) else data.CALLED.keys()
        for where, kind in _heard(name, title, description, told):
            if kind in kinds:
                return _asking(field, kind, where)
    for where, text, signs in (("title", field.title, title), ("description", field.description, description)):
        if given := _given_away(text, signs):
            return _asking(field, given, where)
    hidden = isinstance(field, TextField) and field.format == "password"
    return _asking(field, "password", "name") if hidden else None


def _heard(name: str, title: str, description: str, told: str) -> Iterator[tuple[Where, SecretKind]]:
    """Tell what the texts of a field ask for, first those that people see."""
    rules = _rules()
    whole = rules.line.join((name, title, description))
    about = "".join(match.group(1) for match in rules.around["about_text"].finditer(description))
    in_title = _label_asks(title, whole, unless_about=about)
    if in_title:
        yield ("name" if title == name else "title"), in_title
    if in_description := _prose_asks(description, rules.line.join((name, title))):
        yield "description", in_description
    # A title that says the same word and does not ask tells what the name means.
    if name != title and not in_title and (in_name := _label_asks(name, whole, unless_about=about + title)):
        yield "name", in_name
    for kind, label, context, unless in rules.little:
        if (label.fullmatch(title) or label.fullmatch(name)) and not (unless and unless.search(whole)):
            if context.search(description):
                yield "description", kind
            elif context.search(told):
                yield "message", kind


def _label_asks(signs: str, whole: str, *, unless_about: str) -> SecretKind | None:
    """Tell what a name or a title asks for: it is a noun, so most do."""
    rules = _rules()
    for kind, said, before, after in _named(rules.labels, signs, whole):
        if any(sign in unless_about for sign in said if sign in rules.triggers):
            continue
        if rules.around["denied_after"].match(after):
            continue
        if not rules.around["elsewhere"].search(before) or rules.around["asked"].search(before):
            return kind
    return None


def _prose_asks(signs: str, beside: str, *, message: bool = False) -> SecretKind | None:
    """Tell what a sentence asks for: it must say so, or begin with the secret's name."""
    around = _rules().around
    for kind, _, before, after in _named(_rules().sentences, signs, beside):
        if around["asked"].search(before) or around["asked_after"].match(after):
            return kind
        if not around["alone"].fullmatch(before) or around["denied_after"].match(after):
            continue
        if around["short"].fullmatch(after) if message else not around["not_alone"].match(after):
            return kind
    return None


def _named(rules: Iterable[_Rule], signs: str, beside: str) -> Iterator[tuple[SecretKind, str, str, str]]:
    """Yield the secrets that *signs* name, and do not just speak about, with the signs around them."""
    table = _rules()
    around = table.around
    for rule in rules:
        for match in rule.says.finditer(signs):
            start, end = match.span()
            since = max(0, start - _SIGHT, *(signs.rfind(each, 0, start) for each in table.breaks))
            before, after = signs[since:start], table.a_break.split(signs[end : end + _SIGHT], 1)[0]
            if around["about_after"].match(after) or around["about_before"].search(before):
                continue
            if around["denied"].search(before) or around["question"].search(before):
                continue
            means_other = rule.unless and rule.unless.search(f"{beside}{table.line}{before}{match.group()}{after}")
            if not means_other or before.endswith(table.your):
                yield rule.kind, match.group(), before, after


def _asked_in(message: str, told: str) -> SecretKind | None:
    """Tell what the message of a form asks for."""
    asked = _prose_asks(told, "", message=True) if _rules().trigger.search(told) else None
    return asked or _given_away(message, told)


def _given_away(text: str, signs: str) -> SecretKind | None:
    """Tell which secret *text* describes by its looks: ``starts with sk-``."""
    rules = _rules()
    words = text.lower().split() if _ODD.search(text) else ()
    match = next(filter(None, map(rules.giveaways.match, words)), None)
    if match is None or rules.around["negation"].search(signs):
        return None
    kind, unless = rules.given[(match.lastindex or 1) - 1]
    return None if unless and unless.search(signs) else kind


def _blamed(fields: list[Field]) -> Field | None:
    """Return the field that a message asks for, if that can be told."""
    around = _rules().around
    plain = [field for field in fields if not around["subject"].search(_signs(field.name) + _signs(field.title))]
    if len(fields) == 1:
        return plain[0] if plain else None
    return next((field for field in plain if around["generic"].fullmatch(_signs(field.title))), None)


def _asking(field: Field | None, kind: SecretKind, where: Where) -> Finding:
    asks = "The message" if where == "message" else "The field"
    name = None if field is None else field.name
    return Finding(field=name, kind=kind, where=where, message=f"{asks} asks for {data.CALLED[kind]}.")


# --- What an answer holds ---------------------------------------------------


def _texts(value: object) -> Iterator[str]:
    """Yield what was typed, letters and digits as on any keyboard."""
    match value:
        case str():
            yield _typed(value[:_MOST_TEXT])
        case list() | tuple():
            yield from (_typed(each[:_MOST_TEXT]) for each in value if isinstance(each, str))
        case float() if value.is_integer() and abs(value) < _MOST_NUMBER:
            yield str(int(value))
        case int() if not isinstance(value, bool) and abs(value) < _MOST_NUMBER:
            yield str(value)


def _typed(text: str) -> str:
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)[:_MOST_TEXT]
    return _FOREIGN_DIGITS.sub(lambda digit: str(unicodedata.decimal(digit.group())), _INVISIBLE.sub("", text))


def _held(text: str) -> Iterator[tuple[SecretKind, str]]:
    """Yield the kinds of secret that *text* holds, and what to call each."""
    if _LONG.search(text):
        yield from _shapes_in(text)
    if _MANY_DIGITS.search(text):
        yield from _numbers_in(text)
    if _has_recovery_phrase(text):
        yield "recovery_phrase", data.CALLED["recovery_phrase"]
    yield from ((kind, data.CALLED[kind]) for kind in _told_in(text))


def _shapes_in(text: str) -> Iterator[tuple[SecretKind, str]]:
    for kind, owner, match in chain(_keys_in(text), _shaped_in(text)):
        if not _is_masked(match.group()):
            yield kind, f"{data.CALLED[kind]} ({owner})" if owner else data.CALLED[kind]
    for match in _USER_IN_URL.finditer(text):
        user, password = match.groups()
        if not (_is_masked(password) or (user in _NOBODY and _sign(password) != _UNKNOWN)):
            yield "connection", data.CALLED["connection"]


def _keys_in(text: str) -> Iterator[tuple[SecretKind, str, re.Match[str]]]:
    keys = _keys()
    for start in _START.finditer(text):
        for kind, owner, shape in keys.get(start.group(), ()):
            if match := shape.match(text, start.start()):
                yield kind, owner, match


def _shaped_in(text: str) -> Iterator[tuple[SecretKind, str, re.Match[str]]]:
    for kind, owner, shape in _shapes():
        for match in shape.finditer(text):
            yield kind, owner, match


def _is_masked(value: str) -> bool:
    return _masked().match(value) is not None or (len(value) > 16 and len(set(value[8:])) <= 2)


def _numbers_in(text: str) -> Iterator[tuple[SecretKind, str]]:
    """Yield the cards and identity numbers whose digits say so."""
    text = _IBAN.sub(lambda match: "" if _is_iban(match.group()) else match.group(), text)
    if any(map(_is_card, _GROUPS_OF_DIGITS.findall(text))):
        yield "card", data.CALLED["card"]
    if any(not _not_ssn().search(text[max(0, match.start() - 32) : match.start()]) for match in _SSN.finditer(text)):
        yield "identity_number", data.CALLED["identity_number"]


def _is_card(written: str) -> bool:
    """Tell a card number by its beginning, its length and its last digit (Luhn)."""
    digits = _NOT_LETTERS.sub("", written)
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[::-2])) + sum(each - 9 if each > 9 else each for each in doubled)
    return total % 10 == 0 and _cards().fullmatch(digits) is not None


def _is_iban(written: str) -> bool:
    """Tell a bank account's public number by its first digits (ISO 7064)."""
    compact = written.replace(" ", "")
    return int("".join(str(int(each, 36)) for each in compact[4:] + compact[:4])) % 97 == 1


def _has_recovery_phrase(text: str) -> bool:
    """Tell whether twelve words in a row are among the 2048 of which recovery phrases are made."""
    if len(text) < _LEAST_PHRASE:
        return False
    row = 0
    for word in _WORD.findall(text):
        row = row + 1 if word.lower() in data.RECOVERY_WORDS else 0
        if row == _WORDS_OF_PHRASE:
            return True
    return False


def _told_in(text: str) -> Iterator[SecretKind]:
    """Yield what is told by name: ``password: ...``, ``--token ...``, ``my pin is ...``."""
    for label, value, tight in _pairs(text):
        if (kind := _kind_of(label)) and _is_value(kind, value, tight=tight):
            yield kind


@lru_cache(maxsize=512)
def _kind_of(label: str) -> SecretKind | None:
    signs = _signs(label)
    return _label_asks(signs, signs, unless_about="") if _rules().trigger.search(signs) else None


def _pairs(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield names with what follows them, and whether nothing but a sign is between the two."""
    for match in islice(_is().finditer(text), _MOST_PAIRS):
        value = text[match.end() : match.end() + _LONGEST_VALUE]
        yield _label_before(text, match.start()), value, match.group()[0] in _SIGNS_OF_IS
    for match in islice(_FLAG.finditer(text), _MOST_PAIRS):
        yield match.group(1), match.group(2), True
    for match in islice(_RANDOM.finditer(text), _MOST_PAIRS):
        yield " ".join(_label_before(text, match.start()).split()[-2:]), match.group(), False


def _label_before(text: str, end: int) -> str:
    before = text[max(0, end - _LONGEST_LABEL) : end].rstrip(" \t\"'`*])")
    return _AFTER_LAST.sub("", before)


def _is_value(kind: SecretKind, written: str, *, tight: bool) -> bool:
    """Tell a value of the given kind from its description, or from nothing."""
    quoted = _QUOTED.match(written)
    value = quoted.group(2) if quoted else written.partition("\n")[0]
    if _masked().match(value) or (shape := _values().get(kind)) is None:
        return False
    if shape.match(value):
        return True
    words = value.rstrip(" .,;)}\"'").casefold().split()
    return kind == "password" and tight and (len(words) == 1 or quoted is not None) and all(map(_is_made_up, words))


def _is_made_up(word: str) -> bool:
    return len(word) > 3 and word.isalpha() and word not in data.PLAIN_VALUES and _sign(word) == _UNKNOWN


# --- From words to signs ----------------------------------------------------


class _Lexicon(NamedTuple):
    by_name: Mapping[str, str]
    signs: Mapping[str, str]
    stems: Mapping[str, str]
    inside: Mapping[str, str]
    anywhere: re.Pattern[str]
    parts: Mapping[str, str]
    phrases: Mapping[str, list[tuple[tuple[str, ...], str]]]
    in_phrases: frozenset[str]
    unspaced: re.Pattern[str]


def _signs(text: str) -> str:
    """Turn *text* into one sign for every word."""
    if not text:
        return ""
    words = list(chain.from_iterable(map(_words, _tokens().findall(_folded(text)))))
    phrases = _lexicon().phrases
    if not phrases.keys().isdisjoint(words):
        words = list(_with_phrases(words, phrases))
    return "".join(map(_sign, words))


def _folded(text: str) -> str:
    """Write *text* without marks and invisible letters, and what was spelled out as words."""
    if "\\u{" in text:
        text = _ESCAPED.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text[:_MOST_TEXT])[:_MOST_TEXT]
        text = unicodedata.normalize("NFC", _marks().sub("", text)).replace("\u2019", "'")
    if "_" in text:
        text = text.replace("_", " ")
    if "\n" in text:
        text = text.replace("\n", _BREAK)
    text = _SPELLED.sub(lambda match: _NOT_LETTERS.sub("", match.group()), text)
    return _JOINED.sub(_as_one_word, text) if _IS_JOINED.search(text) else text


def _as_one_word(match: re.Match[str]) -> str:
    chunk = match.group()
    word = _NOT_LETTERS.sub("", chunk).casefold()
    return word if word in _lexicon().signs else chunk


@lru_cache(maxsize=8192)
def _words(token: str) -> tuple[str, ...]:
    """Split a token where it hides several words, and read what is written oddly."""
    lexicon = _lexicon()
    if not token.isascii():
        token = token.translate(data.LETTERS)
        if any("a" <= letter <= "z" for letter in token.casefold()):
            token = token.translate(data.LOOKALIKES)
    word = token.casefold()
    if word in lexicon.in_phrases or _sign(word) != _UNKNOWN or word.isdigit():
        return (word,)
    if not word.isascii() and _UNSPACED.search(word):
        return tuple(_pieces(word))
    if word != token and len(pieces := _CAMEL.sub(" ", token).split()) > 1:
        return tuple(chain.from_iterable(map(_words, pieces)))
    for reading in _readings(word):
        if _sign(reading) != _UNKNOWN:
            return (reading,)
    if "@" in word:
        return tuple(chain.from_iterable(map(_words, filter(None, word.split("@")))))
    return (word,)


def _pieces(run: str) -> Iterator[str]:
    """Yield the words of a run of letters without spaces; what lies between them is one each."""
    at = 0
    for match in _lexicon().unspaced.finditer(run):
        if match.start() > at:
            yield run[at : match.start()]
        yield match.group()
        at = match.end()
    if at < len(run):
        yield run[at:]


def _readings(word: str) -> Iterator[str]:
    """Yield what a word with digits or signs in it may stand for."""
    if word.isalpha():
        return
    yield word.rstrip("0123456789")
    for letters in data.LEET:
        yield word.translate(letters)


def _with_phrases(words: list[str], phrases: Mapping[str, list[tuple[tuple[str, ...], str]]]) -> Iterator[str]:
    at = 0
    while at < len(words):
        for rest, phrase in phrases.get(words[at], ()):
            if tuple(words[at + 1 : at + 1 + len(rest)]) == rest:
                yield phrase
                at += len(rest)
                break
        else:
            yield words[at]
        at += 1


@lru_cache(maxsize=8192)
def _sign(word: str) -> str:
    """Return the sign of *word*, or the signs of the words that it is made of."""
    lexicon = _lexicon()
    if sign := lexicon.signs.get(word):
        return sign
    if word.isdigit():
        return _NUMBER
    if len(word) <= _SHORT and word.isascii():
        return _UNKNOWN
    if signs := _compound(word):
        return signs
    if sign := _stem(word):
        return sign
    if match := lexicon.anywhere.search(word):
        return lexicon.inside[match.group()]
    if not word.isascii() and _INFLECTED.match(word):
        bare = (word[len(prefix) :] for prefix in data.PREFIXES if word.startswith(prefix))
        return next(filter(None, map(_stem, bare)), _UNKNOWN)
    return _UNKNOWN


def _stem(word: str) -> str:
    """Return the sign of what *word* begins with, if that is known."""
    stems = _lexicon().stems
    for length in range(min(len(word), _LONGEST_STEM), 2, -1):
        if sign := stems.get(word[:length]):
            return sign
    return ""


def _compound(word: str) -> str:
    """Return the signs of the words that *word* is made of, nothing left over: ``Kartennummer``."""
    if len(word) not in _COMPOUNDS:
        return ""
    parts = _lexicon().parts
    reached = {0: ""}
    for at in range(len(word) - 2):
        if at in reached:
            for end in range(at + 3, len(word) + 1):
                if sign := parts.get(word[at:end]):
                    for link in _LINKS:
                        if word.startswith(link, end):
                            reached.setdefault(end + len(link), reached[at] + sign)
    return reached.get(len(word), "") or _inflected_compound(word)


def _inflected_compound(word: str) -> str:
    """Return the signs of a word that ends in one and begins like another: ``Bestätigungscode``."""
    parts = _lexicon().parts
    for at in range(4, len(word) - 2):
        if (tail := parts.get(word[at:])) and (head := _stem(word[:at])):
            return head + tail
    return ""


@cache
def _marks() -> re.Pattern[str]:
    """Match what is no letter of its own: marks on letters, and what leaves no ink."""
    hidden = (chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me", "Cf"})
    return re.compile(f"[{''.join(map(re.escape, hidden))}{data.HIDDEN}]+")


@cache
def _tokens() -> re.Pattern[str]:
    marks = "".join(re.escape(mark) for sign in data.MARKS for mark in data.WORDS[sign]["marks"].split())
    return re.compile(rf"[\w@$]+(?:'[a-z]{{1,2}}(?![a-z]))?|[{marks}]")


@cache
def _lexicon() -> _Lexicon:
    by_name = {name: chr(0xC0 + at) for at, name in enumerate(data.WORDS)}
    words: dict[str, str] = {}
    for name, languages in data.WORDS.items():
        for spelled in chain.from_iterable(each.split() for each in languages.values()):
            words.update(dict.fromkeys(_spellings(spelled), by_name[name]))
    whole = {word: sign for word, sign in words.items() if "*" not in word}
    stems = {word[:-1]: sign for word, sign in words.items() if word.endswith("*") and word[0] != "*"}
    inside = {word.strip("*"): sign for word, sign in words.items() if word[0] == "*"}
    single = {word: sign for word, sign in whole.items() if "_" not in word}
    stems.update((word, sign) for word, sign in single.items() if len(word) > 2 and _INFLECTED.match(word))
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase in sorted(whole.keys() - single.keys(), key=len, reverse=True):
        first, *rest = phrase.split("_")
        phrases.setdefault(first, []).append((tuple(rest), phrase))
    in_compounds = {by_name[name] for name in data.IN_COMPOUNDS.split()}
    return _Lexicon(
        by_name=by_name,
        signs={**stems, **inside, **whole},
        stems=stems,
        inside=inside,
        anywhere=_any_of(inside),
        parts={word: sign for word, sign in {**stems, **single}.items() if sign in in_compounds and len(word) > 2},
        phrases=phrases,
        in_phrases=frozenset(word for phrase in whole.keys() - single.keys() for word in phrase.split("_")),
        unspaced=_any_of(word for word in single if _UNSPACED.search(word)),
    )


def _spellings(spelled: str) -> tuple[str, ...]:
    """Return a word of the table as texts are read, and as people type it who have no umlauts."""
    typed = spelled.translate(data.UMLAUTS)
    plain = unicodedata.normalize("NFC", _marks().sub("", unicodedata.normalize("NFKD", spelled)))
    return (plain.translate(data.LETTERS).casefold(), typed.translate(data.LETTERS).casefold())[
        : 1 + (typed != spelled)
    ]


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))


@cache
def _keys() -> Mapping[str, list[tuple[SecretKind, str, re.Pattern[str]]]]:
    """Return the keys that are known by their beginning, by the first two letters of it."""
    keys: dict[str, list[tuple[SecretKind, str, re.Pattern[str]]]] = {}
    for kind, owner, beginnings, rest in data.KEYS:
        shape = re.compile(f"(?:{'|'.join(map(re.escape, beginnings.split()))}){rest}")
        for first in {beginning[:2] for beginning in beginnings.split()}:
            keys.setdefault(first, []).append((kind, owner, shape))
    return keys


@cache
def _shapes() -> tuple[tuple[SecretKind, str, re.Pattern[str]], ...]:
    return tuple((kind, owner, re.compile(shape)) for kind, owner, shape in data.SHAPES)


@cache
def _masked() -> re.Pattern[str]:
    return re.compile(data.MASKED, re.VERBOSE)


@cache
def _cards() -> re.Pattern[str]:
    return re.compile(data.CARDS, re.VERBOSE)


@cache
def _not_ssn() -> re.Pattern[str]:
    return re.compile(data.NOT_SSN)


@cache
def _is() -> re.Pattern[str]:
    return re.compile(data.IS)


@cache
def _values() -> Mapping[SecretKind, re.Pattern[str]]:
    return {kind: re.compile(shape) for kind, shape in data.VALUES.items()}


# --- Rules, compiled --------------------------------------------------------


class _Rule(NamedTuple):
    kind: SecretKind
    says: re.Pattern[str]
    unless: re.Pattern[str] | None


class _Little(NamedTuple):
    kind: SecretKind
    label: re.Pattern[str]
    told: re.Pattern[str]
    unless: re.Pattern[str] | None


class _Rules(NamedTuple):
    trigger: re.Pattern[str]
    triggers: frozenset[str]
    labels: tuple[_Rule, ...]
    sentences: tuple[_Rule, ...]
    little: tuple[_Little, ...]
    around: Mapping[str, re.Pattern[str]]
    giveaways: re.Pattern[str]
    given: tuple[tuple[SecretKind, re.Pattern[str] | None], ...]
    line: str
    breaks: str
    a_break: re.Pattern[str]
    your: str


@cache
def _rules() -> _Rules:
    def compiled(rules: tuple[data.Rule, ...]) -> tuple[_Rule, ...]:
        return tuple(_Rule(kind, _pattern(says), _unless(unless)) for kind, says, unless in rules)

    def wrapped(label: str) -> re.Pattern[str]:
        return _pattern(f"[asks det]* (?: {label}) [extra]*")

    by_name = _lexicon().by_name
    return _Rules(
        trigger=_pattern(data.TRIGGER),
        triggers=frozenset(by_name[name] for name in data.GROUPS["trigger"].split()),
        labels=compiled(data.RULES + data.LABELS),
        sentences=compiled(data.RULES + data.SENTENCES),
        little=tuple(
            _Little(kind, wrapped(label), _pattern(told), _unless(unless)) for kind, label, told, unless in data.LITTLE
        ),
        around={name: _pattern(says) for name, says in data.CONTEXTS.items()},
        giveaways=re.compile("|".join(rf"(.{{0,200}}?(?<![a-z0-9])(?:{shape}))" for _, shape, _ in data.GIVEAWAYS)),
        given=tuple((kind, _pattern(unless) if unless else None) for kind, _, unless in data.GIVEAWAYS),
        line=by_name["line"],
        a_break=_pattern("[break]"),
        your=by_name["your"],
        breaks="".join(by_name[name] for name in data.GROUPS["break"].split()),
    )


def _unless(names: str) -> re.Pattern[str] | None:
    return _pattern(f"[{names}]") if names else None


def _pattern(says: str) -> re.Pattern[str]:
    """Compile a pattern of signs from one of their names."""
    return re.compile(
        _SIGN_NAMES.sub(_as_signs, says.replace("~", "[of at det]{0,3}")).replace(" ", "").replace("\n", "")
    )


def _as_signs(match: re.Match[str]) -> str:
    inner = match.group()
    signs = "".join(_signs_named(name) for name in re.findall(r"\w+", inner))
    return signs if len(signs) == 1 and inner[0] != "[" else f"[{'^' * ('^' in inner)}{signs}]"


def _signs_named(name: str) -> str:
    if name in data.GROUPS:
        return "".join(map(_signs_named, data.GROUPS[name].split()))
    return {"x": _UNKNOWN, "num": _NUMBER}.get(name) or _lexicon().by_name[name]
