"""
What a form must not ask for and an answer should not hold: secrets.

The texts of a request become *signs*, one for each word that means something
in some language, and rules are patterns of signs.  Words, rules and the
shapes of keys are data, in `core.secret_words`; here they are read, the first
time that somebody looks for secrets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain, islice
from types import ModuleType
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core.forms import Field, Form, NumberField, TextField, text_of
from mcp_elicit_client.core.requests import FormRequest, parse_request

SecretKind: TypeAlias = Literal[
    "api_key",
    "bank_account",
    "card",
    "connection",
    "identity_number",
    "one_time_code",
    "password",
    "pin",
    "private_key",
    "recovery_phrase",
    "security_answer",
    "session",
    "token",
]
"""What kind of secret a `Finding` is about."""

Where: TypeAlias = Literal["name", "title", "description", "message", "answer"]
"""Where a secret is asked for, or is."""

# Signs that no word of the table has.
_UNKNOWN = "x"
_NUMBER = "0"

# What bounds the work.
_MOST_TEXT = 16_384
_MOST_PAIRS = 200
_MOST_NUMBER = 10**20
_SIGHT = 24
_LONGEST_LABEL = 60
_LONGEST_VALUE = 300
_LONGEST_STEM = 24
_COMPOUNDS = range(6, 41)

_LEAST_CODE = 999
_SHORTEST_CODE = 3
_LEAST_WORD = 4
_LEAST_PHRASE = 40
_WORDS_OF_PHRASE = 12
_LONG_KEY = 16
_IS_SIGNS = frozenset("=:：")
_LINKS = ("", "s", "n", "e", "en", "es", "er")
_FORMATS_WITHOUT_SECRETS = frozenset({"email", "date", "date-time", "time", "duration", "ipv4", "ipv6", "hostname"})


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

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

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
            for kind, owner in _held(text):
                message = f"The answer holds {_data().CALLED[kind]}{f' ({owner})' if owner else ''}."
                found.setdefault((name, kind), Finding(field=name, kind=kind, where="answer", message=message))
    return tuple(found.values())


def typed_secrets(form: Form, content: Mapping[str, Any], sources: Mapping[str, str]) -> tuple[Finding, ...]:
    """Find the secrets that a person typed where the field does not ask for one: hidden fields aside."""
    hidden = {field.name for field in form.fields if field.is_hidden}
    return secret_values(
        {name: value for name, value in content.items() if name not in hidden and sources.get(name) == "user"}
    )


# --- What is asked for ------------------------------------------------------


def _can_hold(field: Field) -> bool:
    """Tell whether somebody could answer *field* with a secret."""
    if isinstance(field, NumberField):
        return field.maximum is None or field.maximum >= _LEAST_CODE
    text = text_of(field)
    if text is None or text.format in _FORMATS_WITHOUT_SECRETS:
        return False
    return text.max_length is None or text.max_length >= _SHORTEST_CODE


def _asked_by(field: Field, told: str) -> Finding | None:
    """Find what *field* asks for, given the signs of the message."""
    rules = _rules()
    name, description = _signs(field.name), _signs(field.description)
    title = name if field.title == field.name else _signs(field.title)
    if rules.trigger.search(rules.line.join((name, title, description))):
        possible = _data().WRITTEN_IN_DIGITS if isinstance(field, NumberField) else _data().CALLED.keys()
        for where, kind in _heard(name, title, description, told):
            if kind in possible:
                return _asking(field, kind, where)
    if given := _given_away(field.title, title):
        return _asking(field, given, "title")
    if given := _given_away(field.description, description):
        return _asking(field, given, "description")
    if isinstance(field, TextField) and field.format == "password":
        return _asking(field, "password", "name")
    return None


def _heard(name: str, title: str, description: str, told: str) -> Iterator[tuple[Where, SecretKind]]:
    """Tell what the texts of a field ask for, first those that people see."""
    rules = _rules()
    whole = rules.line.join((name, title, description))
    about = "".join(match.group(1) for match in rules.around["about_text"].finditer(description))
    in_title = _label_asks(title, whole, about)
    if in_title:
        yield ("name" if title == name else "title"), in_title
    if in_description := _prose_asks(description, rules.line.join((name, title))):
        yield "description", in_description
    # A title that says the same word and does not ask tells what the name means.
    if name != title and not in_title and (in_name := _label_asks(name, whole, about + title)):
        yield "name", in_name
    for kind, label, context, unless in rules.little:
        if (label.fullmatch(title) or label.fullmatch(name)) and not (unless and unless.search(whole)):
            if context.search(description):
                yield "description", kind
            elif context.search(told):
                yield "message", kind


def _label_asks(signs: str, whole: str, about: str) -> SecretKind | None:
    """
    Tell what a name or a title asks for: it is a noun, so most do.

    Args:
        signs: The signs of the name or title.
        whole: Those of all the texts of the field.
        about: What is spoken about elsewhere, and so not asked for here.
    """
    rules = _rules()
    for kind, said, before, after in _named(rules.labels, signs, whole):
        if any(sign in about for sign in said if sign in rules.triggers) or rules.around["denied_after"].match(after):
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
            nearby = table.line.join((beside, before, match.group(), after))
            if not (rule.unless and rule.unless.search(nearby)) or before.endswith(table.your):
                yield rule.kind, match.group(), before, after


def _asked_in(message: str, told: str) -> SecretKind | None:
    """Tell what the message of a form asks for."""
    asked = _prose_asks(told, "", message=True) if _rules().trigger.search(told) else None
    return asked or _given_away(message, told)


def _given_away(text: str, signs: str) -> SecretKind | None:
    """Tell which secret *text* describes by its looks: ``starts with sk-``."""
    rules = _rules()
    words = text.lower().split() if _shape("odd").search(text) else ()
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
    asker = "The message" if where == "message" else "The field"
    message = f"{asker} asks for {_data().CALLED[kind]}."
    return Finding(field=field.name if field else None, kind=kind, where=where, message=message)


# --- What an answer holds ---------------------------------------------------


def _texts(value: object) -> Iterator[str]:
    """Yield what was typed, letters and digits as on any keyboard."""
    match value:
        case str():
            yield _typed(value[:_MOST_TEXT])
        case list() | tuple():
            yield from (_typed(each[:_MOST_TEXT]) for each in value if isinstance(each, str))
        case bool():
            return
        case int() | float() if abs(value) < _MOST_NUMBER and value == int(value):
            yield str(int(value))


def _typed(text: str) -> str:
    if text.isascii():
        return text
    text = _marks().sub("", unicodedata.normalize("NFKC", text)[:_MOST_TEXT])
    return _shape("foreign_digit").sub(lambda digit: str(unicodedata.decimal(digit.group())), text)


def _held(text: str) -> Iterator[tuple[SecretKind, str]]:
    """Yield the kinds of secret that *text* holds, and whose they are where that shows."""
    if _shape("long").search(text):
        yield from _keys_in(text)
    if _shape("many_digits").search(text):
        yield from ((kind, "") for kind in _numbers_in(text))
    if _has_recovery_phrase(text):
        yield "recovery_phrase", ""
    for label, value, tight in _pairs(text):
        if (kind := _kind_of(label)) and _is_value(kind, value, tight=tight):
            yield kind, ""


def _keys_in(text: str) -> Iterator[tuple[SecretKind, str]]:
    """Yield the keys that are known by their shape, and the passwords in URLs."""
    keys = _keys()
    begun = (
        (kind, owner, key.match(text, start.start()))
        for start in _shape("beginning").finditer(text)
        for kind, owner, key in keys.get(start.group(), ())
    )
    shaped = ((kind, owner, match) for kind, owner, shape in _shapes() for match in shape.finditer(text))
    for kind, owner, match in chain(begun, shaped):
        if match and not _is_masked(match.group()):
            yield kind, owner
    for match in _shape("user_in_url").finditer(text):
        user, password = match.groups()
        documented = user in _data().NOBODY and _sign(password.casefold()) != _UNKNOWN
        if not documented and not _is_masked(password):
            yield "connection", ""


def _is_masked(value: str) -> bool:
    """Tell what stands where a value was, or will be."""
    return _shape("masked").match(value) is not None or (len(value) > _LONG_KEY and len(set(value[8:])) <= 2)


def _numbers_in(text: str) -> Iterator[SecretKind]:
    """Yield the kinds of number whose digits say what they are."""
    text = _shape("iban").sub(lambda match: "" if _is_iban(match.group()) else match.group(), text)
    if any(map(_is_card, _shape("card").findall(text))):
        yield "card"
    elsewhere = _shape("not_ssn")
    if any(not elsewhere.search(text, max(0, at.start() - 32), at.start()) for at in _shape("ssn").finditer(text)):
        yield "identity_number"


def _is_card(written: str) -> bool:
    """Tell a card number by its beginning, its length and its last digit (Luhn)."""
    digits = _shape("no_letters").sub("", written)
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[::-2])) + sum(each - 9 if each > 9 else each for each in doubled)
    return total % 10 == 0 and _shape("issued_cards").fullmatch(digits) is not None


def _is_iban(written: str) -> bool:
    """Tell a bank account's public number by its first digits (ISO 7064)."""
    compact = written.replace(" ", "")
    return int("".join(str(int(each, 36)) for each in compact[4:] + compact[:4])) % 97 == 1


def _has_recovery_phrase(text: str) -> bool:
    """Tell whether twelve words in a row are among the 2048 of which recovery phrases are made."""
    if len(text) < _LEAST_PHRASE:
        return False
    known = _recovery_words()
    row = 0
    for word in _shape("word").findall(text):
        row = row + 1 if word.lower() in known else 0
        if row == _WORDS_OF_PHRASE:
            return True
    return False


def _pairs(text: str) -> Iterator[tuple[str, str, bool]]:
    """
    Yield names and what follows them: ``password: ...``, ``--token ...``, ``my pin is ...``.

    The third says whether there is nothing but a sign between the two.
    """
    for match in islice(_shape("is").finditer(text), _MOST_PAIRS):
        value = text[match.end() : match.end() + _LONGEST_VALUE]
        yield _label_before(text, match.start()), value, match.group()[0] in _IS_SIGNS
    for match in islice(chain(_shape("flag").finditer(text), _shape("tag").finditer(text)), _MOST_PAIRS):
        yield match.group(1), match.group(2), True
    for match in islice(_shape("random").finditer(text), _MOST_PAIRS):
        yield " ".join(_label_before(text, match.start()).split()[-2:]), match.group(), False


def _label_before(text: str, end: int) -> str:
    before = text[max(0, end - _LONGEST_LABEL) : end].rstrip(" \t\"'`*])")
    return _shape("before_label").sub("", before)


@lru_cache(maxsize=512)
def _kind_of(label: str) -> SecretKind | None:
    """Tell which secret a name in an answer stands for."""
    signs = _signs(label)
    return _label_asks(signs, signs, "") if _rules().trigger.search(signs) else None


def _is_value(kind: SecretKind, written: str, *, tight: bool) -> bool:
    """Tell a value of the given kind from its description, or from nothing."""
    quoted = _shape("quoted").match(written)
    value = quoted.group(2) if quoted else written.partition("\n")[0]
    if _shape("masked").match(value) or kind not in _data().VALUES:
        return False
    if _value(kind).match(value):
        return True
    words = value.rstrip(" .,;)}\"'").casefold().split()
    return kind == "password" and tight and (len(words) == 1 or quoted is not None) and all(map(_is_made_up, words))


def _is_made_up(word: str) -> bool:
    return len(word) >= _LEAST_WORD and word.isalpha() and word not in _data().NO_VALUES and _sign(word) == _UNKNOWN


# --- From words to signs ----------------------------------------------------


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
    """Write *text* without marks and invisible letters, and what is spelled out as words."""
    if "\\u{" in text:
        text = _shape("escaped").sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text[:_MOST_TEXT])[:_MOST_TEXT]
        text = unicodedata.normalize("NFC", _marks().sub("", text)).replace("\u2019", "'")
    if "_" in text:
        text = text.replace("_", " ")
    if "\n" in text:
        text = text.replace("\n", " ¶ ")
    no_letters = _shape("no_letters")
    text = _shape("spelled").sub(lambda match: no_letters.sub("", match.group()), text)
    return _shape("joined").sub(_as_one_word, text) if _shape("joint").search(text) else text


def _as_one_word(match: re.Match[str]) -> str:
    """Return what was cut by punctuation as one word, if it is one: ``pass-word``."""
    word = _shape("no_letters").sub("", match.group()).casefold()
    return word if word in _lexicon().signs else match.group()


@lru_cache(maxsize=8192)
def _words(token: str) -> tuple[str, ...]:
    """Split a token where it hides several words, and read what is written oddly."""
    if not token.isascii():
        token = token.translate(_data().LETTERS)
        if any("a" <= letter <= "z" for letter in token.casefold()):
            token = token.translate(_data().LOOKALIKES)
    word = token.casefold()
    if word in _lexicon().in_phrases or _sign(word) != _UNKNOWN:
        return (word,)
    if not word.isascii() and _shape("unspaced").search(word):
        return tuple(_pieces(word))
    if word != token and len(pieces := _shape("hump").sub(" ", token).split()) > 1:
        return tuple(chain.from_iterable(map(_words, pieces)))
    if word.isalpha():
        return (word,)
    # Digits after a word, digits and signs for letters; only then is an @ an @.
    readings = (word.rstrip("0123456789"), *(word.translate(letters) for letters in _data().LEET))
    known = next((reading for reading in readings if _sign(reading) != _UNKNOWN), None)
    if known is None and "@" in word:
        return tuple(chain.from_iterable(map(_words, filter(None, word.split("@")))))
    return (known or word,)


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
def _sign(word: str) -> str:
    """Return the sign of *word*, or the signs of the words that it is made of."""
    lexicon = _lexicon()
    if sign := lexicon.signs.get(word):
        return sign
    if word.isdigit():
        return _NUMBER
    if len(word) < _LEAST_WORD and word.isascii():
        return _UNKNOWN
    if word[:3] in lexicon.beginnings and (signs := _compound(word) or _stem(word)):
        return signs
    if match := lexicon.anywhere.search(word):
        return lexicon.signs[match.group()]
    if not word.isascii() and _shape("inflected").match(word):
        bare = (word[len(prefix) :] for prefix in _data().PREFIXES if word.startswith(prefix))
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
    """Return the signs of the words that *word* is made of, with nothing left over: ``Kartennummer``."""
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
    if len(word) in reached:
        return reached[len(word)]
    # Or it begins like one word and ends in another: ``Bestätigungscode``.
    ends = ((_stem(word[:at]), parts.get(word[at:], "")) for at in range(_LEAST_WORD, len(word) - 2))
    return next((head + tail for head, tail in ends if head and tail), "")


class _Lexicon(NamedTuple):
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
def _lexicon() -> _Lexicon:
    data = _data()
    by_name = {name: chr(0xC0 + at) for at, name in enumerate(data.WORDS)}
    words: dict[str, str] = {}
    for name, languages in data.WORDS.items():
        for written in " ".join(languages.values()).split():
            words.update(dict.fromkeys(_spellings(written), by_name[name]))
    whole = {word: sign for word, sign in words.items() if "*" not in word}
    single = {word: sign for word, sign in whole.items() if "_" not in word}
    stems = {word[:-1]: sign for word, sign in words.items() if word.endswith("*") and word[0] != "*"}
    stems.update((word, sign) for word, sign in single.items() if len(word) > 2 and _shape("inflected").match(word))
    inside = {word.strip("*"): sign for word, sign in words.items() if word[0] == "*"}
    composing = {by_name[name] for name in data.IN_COMPOUNDS.split()}
    parts = {word: sign for word, sign in {**stems, **single}.items() if sign in composing and len(word) > 2}
    phrases: dict[str, list[tuple[list[str], str]]] = {}
    for phrase in sorted(whole.keys() - single.keys(), key=len, reverse=True):
        first, *rest = phrase.split("_")
        phrases.setdefault(first, []).append((rest, phrase))
    return _Lexicon(
        by_name=by_name,
        signs={**stems, **inside, **whole},
        stems=stems,
        anywhere=_any_of(inside),
        parts=parts,
        beginnings=frozenset(word[:3] for word in (*parts, *stems)),
        phrases=phrases,
        in_phrases=frozenset(chain.from_iterable(phrase.split("_") for phrase in whole.keys() - single.keys())),
        unspaced=_any_of(word for word in single if _shape("unspaced").search(word)),
    )


def _spellings(written: str) -> set[str]:
    """Return a word of the table as texts are read, and as people type it who have no umlauts."""
    plain = unicodedata.normalize("NFC", _marks().sub("", unicodedata.normalize("NFKD", written)))
    return {each.translate(_data().LETTERS).casefold() for each in (plain, written.translate(_data().UMLAUTS))}


@cache
def _marks() -> re.Pattern[str]:
    """Match what is no letter of its own: marks on letters, and what leaves no ink."""
    hidden = (chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me", "Cf"})
    return re.compile(f"[{''.join(map(re.escape, hidden))}{_data().HIDDEN}]+")


@cache
def _tokens() -> re.Pattern[str]:
    """Match a word, or a mark of punctuation that means something."""
    marks = "".join(re.escape(mark) for sign in _data().MARKS for mark in _data().WORDS[sign]["marks"].split())
    return re.compile(rf"[\w@$]+(?:'[a-z]{{1,2}}(?![a-z]))?|[{marks}]")


# --- The tables, compiled ---------------------------------------------------


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
    breaks: str
    a_break: re.Pattern[str]
    line: str
    your: str


@cache
def _rules() -> _Rules:
    data = _data()
    by_name = _lexicon().by_name
    shapes = "|".join(rf"(.{{0,200}}?(?<![a-z0-9])(?:{shape}))" for _, shape, _ in data.GIVEAWAYS)
    return _Rules(
        trigger=_pattern(data.TRIGGER),
        triggers=frozenset(_signs_named("trigger")),
        labels=tuple(_Rule(kind, _pattern(says), _any_sign(unless)) for kind, says, unless in data.RULES + data.LABELS),
        sentences=tuple(
            _Rule(kind, _pattern(says), _any_sign(unless)) for kind, says, unless in data.RULES + data.SENTENCES
        ),
        little=tuple(
            _Little(kind, _pattern(f"[asks det]* (?: {label}) [extra]*"), _pattern(told), _any_sign(unless))
            for kind, label, told, unless in data.LITTLE
        ),
        around={name: _pattern(says) for name, says in data.CONTEXTS.items()},
        giveaways=re.compile(shapes),
        given=tuple((kind, _any_sign(unless)) for kind, _, unless in data.GIVEAWAYS),
        breaks=_signs_named("break"),
        a_break=_pattern("[break]"),
        line=by_name["line"],
        your=by_name["your"],
    )


def _any_sign(names: str) -> re.Pattern[str] | None:
    return _pattern(f"[{names}]") if names else None


def _pattern(says: str) -> re.Pattern[str]:
    """Compile a pattern of the names of signs into one of signs."""
    signs = _shape("names_of_signs").sub(_as_signs, says.replace("~", "[of at det]{0,3}"))
    return re.compile("".join(signs.split()))


def _as_signs(match: re.Match[str]) -> str:
    names = match.group()
    signs = "".join(map(_signs_named, _shape("word_of_table").findall(names)))
    return signs if len(signs) == 1 and names[0] != "[" else f"[{'^' if '^' in names else ''}{signs}]"


def _signs_named(name: str) -> str:
    groups = _data().GROUPS
    if name in groups:
        return "".join(map(_signs_named, groups[name].split()))
    return {"x": _UNKNOWN, "num": _NUMBER}.get(name) or _lexicon().by_name[name]


@cache
def _keys() -> Mapping[str, list[tuple[SecretKind, str, re.Pattern[str]]]]:
    """Return the keys that are known by their beginning, by its first two letters."""
    keys: dict[str, list[tuple[SecretKind, str, re.Pattern[str]]]] = {}
    for kind, owner, beginnings, rest in _data().KEYS:
        key = re.compile(f"(?:{'|'.join(map(re.escape, beginnings.split()))}){rest}")
        for first in {beginning[:2] for beginning in beginnings.split()}:
            keys.setdefault(first, []).append((kind, owner, key))
    return keys


@cache
def _shapes() -> tuple[tuple[SecretKind, str, re.Pattern[str]], ...]:
    return tuple((kind, owner, re.compile(shape)) for kind, owner, shape in _data().SHAPES)


@cache
def _recovery_words() -> frozenset[str]:
    return frozenset(_data().RECOVERY_WORDS.split())


@cache
def _value(kind: SecretKind) -> re.Pattern[str]:
    return re.compile(_data().VALUES[kind])


@cache
def _shape(name: str) -> re.Pattern[str]:
    return re.compile(_data().PATTERNS[name])


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))


@cache
def _data() -> ModuleType:
    # The tables are large, and most processes never look for secrets.
    from mcp_elicit_client.core import secret_words

    return secret_words
