"""`secret_values`: the secrets that an answer contains."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any, TypeAlias

from mcp_elicit_client.core.form import Form
from mcp_elicit_client.core.secrets.findings import KIND_NAMES, SecretFinding, SecretKind, make_finding
from mcp_elicit_client.core.secrets.in_request import label_asks
from mcp_elicit_client.core.secrets.patterns import PATTERNS, pattern, value_pattern
from mcp_elicit_client.core.secrets.rules import load_rules
from mcp_elicit_client.core.secrets.tables import keys, recovery_words, words
from mcp_elicit_client.core.secrets.tokens import LEAST_WORD, MOST_TEXT, UNKNOWN, marks, sign_of, signs_of

_MOST_PAIRS = 200
_MOST_NUMBER = 10**20
_LONGEST_LABEL = 60
_LONGEST_VALUE = 300
_LEAST_SECRET = 9
_LEAST_PHRASE = 40
_WORDS_OF_PHRASE = 12
_LONG_KEY = 16
_TEXTS_IN_A_STEP = 16
_Row: TypeAlias = tuple[SecretKind, str, re.Pattern[str]]
_IS_SIGNS = frozenset("=:：")
_PLAIN_QUOTES = str.maketrans("“”„«»「」『』‘’", '"' * 9 + "''")
_DOCUMENTED_USERS = frozenset({"user", "username", "login", "name", ""})


def load_tables() -> None:
    """Load and compile what requests and answers are compared with, once.  It takes about 0.1 seconds."""
    load_rules()
    _keys()
    _shapes()
    for name in PATTERNS:
        pattern(name)


def secret_values(content: Mapping[str, Any]) -> tuple[SecretFinding, ...]:
    """Find the secrets in *content*: at most one of each kind per field."""
    return tuple(chain.from_iterable(searching_steps(content)))


def searching_steps(content: Mapping[str, Any]) -> Iterator[Sequence[SecretFinding]]:
    """Yield what `secret_values` finds, in steps that are short also for large answers."""
    known: set[tuple[str, SecretKind]] = set()
    found: list[SecretFinding] = []
    texts = ((name, text) for name, value in content.items() for text in _texts(value))
    for count, (name, text) in enumerate(texts):
        if count and count % _TEXTS_IN_A_STEP == 0:
            yield found
            found = []
        if len(text) < _LEAST_SECRET and text.isascii() and text.isalnum():
            continue  # most values: one short word, or a number
        for kind, owner in _held(text):
            if (name, kind) not in known:
                known.add((name, kind))
                message = f"This answer seems to contain {KIND_NAMES[kind]}{f' ({owner})' if owner else ''}."
                found.append(make_finding(name, kind, "answer", message))
    yield found


def typed_secrets(form: Form, content: Mapping[str, Any], sources: Mapping[str, str]) -> tuple[SecretFinding, ...]:
    """Find the secrets that the user typed into fields that do not hide their text."""
    hidden = {field.name for field in form.fields if field.is_hidden}
    return secret_values(
        {name: value for name, value in content.items() if name not in hidden and sources.get(name) == "user"}
    )


def _texts(value: object) -> Iterable[str]:
    """Return the texts of *value* with ASCII letters and digits where possible."""
    if isinstance(value, str):
        return (_typed(value[:MOST_TEXT]),)
    if isinstance(value, (list, tuple)):
        return (_typed(each[:MOST_TEXT]) for each in value if isinstance(each, str))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ()
    return (str(int(value)),) if abs(value) < _MOST_NUMBER and value == int(value) else ()


def _typed(text: str) -> str:
    if text.isascii():
        return text
    text = marks().sub("", unicodedata.normalize("NFKC", text)[:MOST_TEXT]).translate(_PLAIN_QUOTES)
    return pattern("foreign_digit").sub(lambda digit: str(unicodedata.decimal(digit.group())), text)


def _held(text: str) -> Iterator[tuple[SecretKind, str]]:
    """Yield the kinds of secret in *text*, and their issuers where known."""
    if pattern("long").search(text):
        yield from _keys_in(text)
    if pattern("many_digits").search(text):
        yield from ((kind, "") for kind in _numbers_in(text))
    if _has_recovery_phrase(text):
        yield "recovery_phrase", ""
    for label, value, tight in _pairs(text):
        if (kind := _kind_of(label) or _kind_in_context(label, text)) and _is_value(kind, value, tight=tight):
            yield kind, ""


def _keys_in(text: str) -> Iterator[tuple[SecretKind, str]]:
    """Yield the keys that are known by their shape, and the passwords in URLs."""
    known = _keys()
    begun = (
        (kind, owner, key.match(text, start.start()))
        for start in pattern("beginning").finditer(text)
        for kind, owner, key in known.get(start.group(), ())
    )
    present = [row for row in _shapes() if row[2].search(text)]  # none, in most answers
    shaped = ((kind, owner, match) for kind, owner, shape in present for match in shape.finditer(text))
    for kind, owner, match in chain(begun, shaped):
        if match and not _is_masked(match.group()):
            yield kind, owner
    for match in pattern("user_in_url").finditer(text) if "://" in text else ():
        user, password = match.groups()
        documented = user in _DOCUMENTED_USERS and sign_of(password.casefold()) != UNKNOWN
        if not documented and not _is_masked(password):
            yield "connection", ""


def _is_masked(value: str) -> bool:
    """Return True if *value* is a placeholder."""
    return pattern("masked").match(value) is not None or (len(value) > _LONG_KEY and len(set(value[8:])) <= 2)


def _numbers_in(text: str) -> Iterator[SecretKind]:
    """Yield the kinds of number whose digits say what they are."""
    text = pattern("iban").sub(lambda match: "" if _is_iban(match.group()) else match.group(), text)
    if any(map(_is_card, pattern("card").findall(text))):
        yield "card"
    elsewhere = pattern("not_ssn")
    if any(not elsewhere.search(text, max(0, at.start() - 32), at.start()) for at in pattern("ssn").finditer(text)):
        yield "identity_number"


def _is_card(written: str) -> bool:
    """Return True for a card number: issuer, length and check digit (Luhn) are right."""
    digits = pattern("no_letters").sub("", written)
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[::-2])) + sum(each - 9 if each > 9 else each for each in doubled)
    return total % 10 == 0 and pattern("issued_cards").fullmatch(digits) is not None


def _is_iban(written: str) -> bool:
    """Return True for an IBAN: its check digits are right (ISO 7064)."""
    compact = written.replace(" ", "")
    return int("".join(str(int(each, 36)) for each in compact[4:] + compact[:4])) % 97 == 1


def _has_recovery_phrase(text: str) -> bool:
    """Return True if *text* has twelve words of recovery phrases in a row, and not one of them twelve times."""
    if len(text) < _LEAST_PHRASE:
        return False
    known = recovery_words()
    row: deque[str] = deque(maxlen=_WORDS_OF_PHRASE)
    for word in map(str.lower, pattern("word").findall(text)):
        if word not in known:
            row.clear()
            continue
        row.append(word)
        if len(row) == _WORDS_OF_PHRASE and row.count(word) < _WORDS_OF_PHRASE:
            return True
    return False


def _pairs(text: str) -> Iterator[tuple[str, str, bool]]:
    """
    Yield names and values: ``password: ...``, ``--token ...``, ``my pin is ...``, ``otp 123456``.  Of ``login: NAME /
    PASSWORD``, it yields both.

    The third item is True if only a punctuation mark separates the two.
    """
    for match in islice(pattern("is").finditer(text), _MOST_PAIRS):
        value = text[match.end() : match.end() + _LONGEST_VALUE]
        label = _label_before(text, match.start())
        yield label, value, match.group()[0] in _IS_SIGNS
        both = pattern("user_and_password").match(value)
        if both and load_rules().contexts["user_and_password"].search(signs_of(label)):
            yield "password", both.group(1), True
    tags = pattern("tag").finditer(text) if "<" in text else ()
    for match in islice(chain(pattern("flag").finditer(text), tags), _MOST_PAIRS):
        yield match.group(1), match.group(2), True
    for match in islice(pattern("random").finditer(text), _MOST_PAIRS):
        yield " ".join(_label_before(text, match.start()).split()[-2:]), match.group(), False
    if " " not in text:
        return  # the others have a space between the two
    for match in islice(pattern("beside").finditer(text), _MOST_PAIRS):
        yield match.group(1), match.group(2), False
    for match in islice(pattern("is_your").finditer(text), _MOST_PAIRS):
        yield match.group(2), match.group(1), False


def _label_before(text: str, end: int) -> str:
    before = text[max(0, end - _LONGEST_LABEL) : end].rstrip(" \t\"'`*])")
    return pattern("before_label").sub("", before)


@lru_cache(maxsize=512)
def _kind_of(label: str) -> SecretKind | None:
    """Return the secret that a label in an answer names."""
    signs = signs_of(label)
    return label_asks(signs, signs, "") if load_rules().trigger.search(signs) else None


def _kind_in_context(label: str, text: str) -> SecretKind | None:
    """Return the secret that a label names together with the text around it: ``The code is ..., from the SMS``."""
    signs = signs_of(label)
    for kind, short_label, context, unless in load_rules().short_labels:
        named = short_label.fullmatch(signs[-1:]) or short_label.fullmatch(signs[-2:])
        if named and context.search(signs_of(text)):
            return None if unless and unless.search(signs_of(text)) else kind
    return None


def _is_value(kind: SecretKind, written: str, *, tight: bool) -> bool:
    """Return True if *written* is a value of *kind*, and no description of one."""
    quoted = pattern("quoted").match(written)
    value = quoted.group(2) if quoted else written.partition("\n")[0]
    values = value_pattern(kind)
    if values is None or pattern("masked").match(value):
        return False
    if not tight and pattern("hyphenated").match(value):
        return False
    if values.match(value):
        return True
    if kind != "password" or not (tight or quoted):
        return False
    parts = value.partition(";")[0].rstrip(" .,!?)}\"'").casefold().split()
    return (len(parts) == 1 or quoted is not None) and all(map(_is_made_up, parts))


def _is_made_up(word: str) -> bool:
    return len(word) >= LEAST_WORD and word.isalpha() and word not in _no_values() and sign_of(word) == UNKNOWN


@cache
def _keys() -> Mapping[str, list[_Row]]:
    """Return the keys that are known by their beginning, by its first two letters."""
    by_beginning: dict[str, list[_Row]] = {}
    for row in keys().beginnings:
        beginnings = row.beginnings.split()
        key = re.compile(f"(?:{'|'.join(map(re.escape, beginnings))}){row.rest}")
        for first in {beginning[:2] for beginning in beginnings}:
            by_beginning.setdefault(first, []).append((row.kind, row.issuer, key))
    return by_beginning


@cache
def _shapes() -> Sequence[_Row]:
    """Return the keys that are known by their shape."""
    return [(row.kind, row.issuer, re.compile(row.shape)) for row in keys().shapes]


@cache
def _no_values() -> frozenset[str]:
    return frozenset(words().no_values.split())
