"""`secret_fields`: the secrets that a form asks for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain

from typing_extensions import assert_never

from mcp_elicit_client.core.form import (
    BooleanField,
    ChoiceField,
    Field,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
    has_password,
    is_password,
    labels_of,
    option_sentences_of,
    text_constraints,
)
from mcp_elicit_client.core.secrets.findings import (
    KIND_NAMES,
    NUMERIC_KINDS,
    SecretFinding,
    SecretKind,
    SecretLocation,
    make_finding,
)
from mcp_elicit_client.core.secrets.patterns import pattern
from mcp_elicit_client.core.secrets.rules import SecretRule, load_rules
from mcp_elicit_client.core.secrets.tokens import UNKNOWN, sign_of, signs_of, signs_of_words

_SIGHT = 24
_LEAST_CODE = 999
_SHORTEST_CODE = 3
_LEAST_PIECES = 3
_LEAST_CHOICES = 8
_FORMATS_WITHOUT_SECRETS = frozenset({"email", "date", "date-time", "time", "duration", "ipv4", "ipv6", "hostname"})


def secret_fields(form: Form, message: str) -> tuple[SecretFinding, ...]:
    """
    Find the secrets that *form* asks for: at most one a field.

    Args:
        form: The form.
        message: The request's message.
    """
    if not _may_ask(form, message):
        return ()
    fields = [field for field in form.fields if _can_hold(field)]
    pieces = [field for field in form.fields if _holds_piece(field)]
    message_signs = signs_of(message)
    if len(pieces) < _LEAST_PIECES:
        pieces = [field for field in pieces if load_rules().pieces.search(signs_of(field.title))]
    found = [finding for field in (*fields, *pieces) if (finding := _asked_by(field, message_signs))]
    if found or not (fields or pieces):
        return tuple(found)
    if kind := _asked_in(message, message_signs):
        return (_asking(_field_named_in_message(fields), kind, "message"),)
    others = ((field.description, field.title) for field in form.fields if not _can_hold(field))
    elsewhere = chain(chain.from_iterable(others), sorted(option_sentences_of(form)))
    if fields and (kind := next(filter(None, map(_asked_elsewhere, elsewhere)), None)):
        return (_asking(_field_named_in_message(fields), kind, "description"),)
    return ()


def _may_ask(form: Form, message: str) -> bool:
    """Return False if no text of the request has a sign of a secret, as in most requests: a quick look."""
    rules = load_rules()
    texts = {message, *labels_of(form), *option_sentences_of(form)}
    return (
        rules.trigger.search(rules.line.join(map(signs_of, texts))) is not None
        or any(map(_example_in, texts))
        or has_password(form)
    )


def _can_hold(field: Field) -> bool:
    """Return True if a secret fits into *field*."""
    if isinstance(field, NumberField):
        return field.maximum is None or field.maximum >= _LEAST_CODE
    text = text_constraints(field)
    if text is None or text.format in _FORMATS_WITHOUT_SECRETS:
        return False
    return text.max_length is None or text.max_length >= _SHORTEST_CODE


def _holds_piece(field: Field) -> bool:
    """Return True if one digit or letter of a secret fits into *field*, and no whole secret."""
    match field:
        case ChoiceField() | MultiChoiceField():
            return len(field.choices) >= _LEAST_CHOICES and all(len(each.title) == 1 for each in field.choices)
        case NumberField():
            return field.maximum is not None and field.maximum <= 9 and (field.minimum or 0) >= 0
        case TextField():
            return field.max_length is not None and field.max_length < _SHORTEST_CODE
        case BooleanField():
            return False
        case _:
            assert_never(field)


def _asked_elsewhere(text: str) -> SecretKind | None:
    """
    Return what a text tells the user to type into another field: ``Type your password below``.

    It is an option, or belongs to a field that cannot hold the answer.  A
    setting, such as ``Require password``, asks for nothing.
    """
    rules = load_rules()
    signs = signs_of(text)
    if rules.trigger.search(signs):
        for kind, _, before, after, _ in _named(rules.sentences, signs, ""):
            if rules.contexts["asked_elsewhere"].search(before) or rules.contexts["asked_after"].match(after):
                return kind
    return None


def _asked_by(field: Field, message_signs: str) -> SecretFinding | None:
    """Find what *field* asks for, given the signs of the message."""
    rules = load_rules()
    name, description = signs_of(field.name.replace(".", "_")), signs_of(field.description)
    title = name if field.title == field.name else signs_of(field.title)
    if rules.trigger.search(rules.line.join((name, title, description))):
        possible = NUMERIC_KINDS if isinstance(field, NumberField) else KIND_NAMES.keys()
        for where, kind in _kinds_asked(name, title, description, message_signs, possible):
            if where != "name" or not (_abbreviates(field) or (name != title and _is_explained(name, field.title))):
                return _asking(field, kind, where)
    if given := _kind_of_example(field.title, title):
        return _asking(field, given, "title")
    # A title may say that the example is a path, unless the description asks for what is there.
    beside = "" if rules.contexts["contents"].search(description) else title
    if given := _kind_of_example(field.description, description, beside):
        return _asking(field, given, "description")
    if is_password(field):
        return _asking(field, "password", "name")
    return None


def _abbreviates(field: Field) -> bool:
    """Return True if the name of *field* is the beginning of another word of its title: ``pass`` for ``Passengers``."""
    name = field.name.casefold()
    return any(
        len(word) > len(name) and word.startswith(name) and sign_of(word) == UNKNOWN
        for word in pattern("word").findall(field.title.casefold())
    )


def _is_explained(name: str, title: str) -> bool:
    """Return True if *title* has a secret of the signs of *name* in a phrase that means no secret: ``Pin header``."""
    return not load_rules().mentioned.isdisjoint(set(name).intersection(signs_of_words(title)))


def _kinds_asked(
    name: str, title: str, description: str, message_signs: str, possible: Collection[SecretKind]
) -> Iterator[tuple[SecretLocation, SecretKind]]:
    """Yield which of the *possible* secrets the texts of a field ask for, first the visible ones."""
    rules = load_rules()
    whole = rules.line.join((name, title, description))
    about = "".join(match.group(1) for match in rules.contexts["about_text"].finditer(description))
    in_title = label_asks(title, whole, about, possible)
    if in_title:
        yield ("name" if title == name else "title"), in_title
    if in_description := _prose_asks(
        description,
        rules.line.join((name, title)),
        possible,
        must_end=rules.contexts["subject_of_field"].search(title) is not None,
        only_asked=_is_about(title, description),
    ):
        yield "description", in_description
    # A title that says the same word and does not ask tells what the name means.
    if name != title and not in_title and (in_name := label_asks(name, whole, about + title, possible)):
        yield "name", in_name
    for kind, label, context, unless in rules.short_labels:
        if kind not in possible:
            continue
        if (label.fullmatch(title) or label.fullmatch(name)) and not (unless and unless.search(whole)):
            if context.search(description):
                yield "description", kind
            elif context.search(message_signs):
                yield "message", kind


def label_asks(
    signs: str, whole: str, about: str, possible: Collection[SecretKind] = KIND_NAMES.keys()
) -> SecretKind | None:
    """
    Return what a name or a title asks for.

    Args:
        signs: The signs of the name or title.
        whole: Those of all the texts of the field.
        about: The signs of secrets that the texts only mention.
        possible: The secrets that fit into the field.
    """
    rules = load_rules()
    for kind, said, before, after, _ in _named(rules.labels, signs, whole, possible):
        is_mentioned = any(sign in about for sign in said if sign in rules.mentioned)
        if is_mentioned or rules.contexts["denied_after"].match(after):
            continue
        if not rules.contexts["elsewhere"].search(before) or rules.contexts["asked"].search(before):
            return kind
    return None


def _is_about(title: str, description: str) -> bool:
    """Return True if the signs of *title* name a property of a secret, or *description* lists its options."""
    rules = load_rules()
    about = rules.contexts["about_after"]
    return any(sign in rules.triggers and about.match(title, at) for at, sign in enumerate(title, 1)) or (
        rules.contexts["options"].search(rules.line.join((title, description))) is not None
    )


def _prose_asks(
    signs: str,
    beside: str,
    possible: Collection[SecretKind] = KIND_NAMES.keys(),
    *,
    must_end: bool = False,
    only_asked: bool = False,
) -> SecretKind | None:
    """
    Return what a sentence asks for: it must ask explicitly, or begin with the secret's name.

    Args:
        signs: The signs of the sentence.
        beside: Those of the other texts of the field.
        possible: The secrets that fit into the field.
        must_end: A name that nothing asks for counts only at the end: in a message, or beside the title of something
            else, such as ``Phone``.
        only_asked: A name that nothing asks for counts only after ``your``, as in ``your login password``.
    """
    rules = load_rules()
    around = rules.contexts
    for kind, _, before, after, then in _named(rules.sentences, signs, beside, possible):
        if around["asked"].search(before) or around["asked_after"].match(after) or around["asked_then"].match(then):
            return kind
        if only_asked and not around["own"].search(before):
            continue
        if not around["alone"].fullmatch(before) or around["denied_after"].match(after):
            continue
        ends_there = around["short"].fullmatch(after) if must_end else not around["not_alone"].match(after)
        if ends_there:
            return kind
    return None


def _named(
    rules: Iterable[SecretRule], signs: str, beside: str, possible: Collection[SecretKind] = KIND_NAMES.keys()
) -> Iterator[tuple[SecretKind, str, str, str, str]]:
    """
    Yield the *possible* secrets that *signs* name, and do not just speak about.

    Each is yielded with its signs, those before and after it in its part of
    the sentence, and all that follow it.
    """
    if not signs:  # most fields have no description
        return
    table = load_rules()
    around = table.contexts
    signs = around["options"].sub("", signs)
    for rule in (each for each in rules if each.kind in possible):
        for match in rule.signs.finditer(signs):
            start, end = match.span()
            since = max(0, start - _SIGHT, *(signs.rfind(each, 0, start) for each in table.breaks))
            before, after = signs[since:start], table.a_break.split(signs[end : end + _SIGHT], 1)[0]
            after = around["rest_of_name"].sub("", after)
            if around["about_after"].match(after) or around["about_before"].search(before):
                continue
            is_denied = around["denied"].search(before) or around["denied_last"].match(after)
            if is_denied and not _is_missing(before, signs, end):
                continue
            if _handles(before, signs, end):
                continue
            nearby = table.line.join((beside, before, match.group(), after))
            if not (rule.unless and rule.unless.search(nearby)) or before.endswith(table.your):
                yield rule.kind, match.group(), before, after, signs[end : end + _SIGHT]


def _is_missing(before: str, signs: str, end: int) -> bool:
    """Return True if a sentence denies a secret that ends at *end*, and the next asks for it: ``No key. Enter it.``"""
    around = load_rules().contexts
    asks = around["asked_then"].match(signs[end : end + _SIGHT])
    return asks is not None and around["missing"].fullmatch(before) is not None


def _handles(before: str, signs: str, end: int) -> bool:
    """Return True if the sentence is about what happens to a secret that ends at *end*."""
    around = load_rules().contexts
    return bool(
        # Rotate passwords every (days)
        (around["measured"].match(signs, end) and not around["asking"].search(before))
        # Require PIN after (minutes)
        or (around["requiring"].fullmatch(before) and around["delayed"].match(signs, end))
        # Store passwords in
        or (around["managing"].search(before) and around["unfinished"].match(signs, end))
        # Tax number valid?
        or (not before and around["judged"].match(signs, end))
        # Reset password?
        or (around["deciding"].search(before) and around["decided"].match(signs, end))
    )


def _asked_in(message: str, message_signs: str) -> SecretKind | None:
    """Return what the message of a form asks for."""
    asked = _prose_asks(message_signs, "", must_end=True) if load_rules().trigger.search(message_signs) else None
    return asked or _kind_of_example(message, message_signs)


def _kind_of_example(text: str, signs: str, beside: str = "") -> SecretKind | None:
    """Return the secret that *text* gives an example of: ``starts with sk-``.  *beside*: the signs of its title."""
    rules = load_rules()
    match = _example_in(text)
    if match is None or rules.contexts["negation"].search(signs):
        return None
    kind, unless = rules.example_kinds[(match.lastindex or 1) - 1]
    return None if unless and unless.search(signs + beside) else kind


@lru_cache(maxsize=512)
def _example_in(text: str) -> re.Match[str] | None:
    """Find the beginning of a secret in *text*."""
    words = text.lower().split() if pattern("odd").search(text) else ()
    return next(filter(None, map(load_rules().examples.match, words)), None)


def _field_named_in_message(fields: list[Field]) -> Field | None:
    """Return the field that a message asks for, if there is only one."""
    around = load_rules().contexts
    plain = [field for field in fields if not around["subject"].search(signs_of(field.name) + signs_of(field.title))]
    if len(fields) == 1:
        return plain[0] if plain else None
    return next((field for field in plain if around["generic"].fullmatch(signs_of(field.title))), None)


def _asking(field: Field | None, kind: SecretKind, where: SecretLocation) -> SecretFinding:
    asker = "This request" if where == "message" else "This field"
    message = f"{asker} asks for {KIND_NAMES[kind]}. Servers must not request it in forms."
    return make_finding(field.name if field else None, kind, where, message)
