"""The rules of the table: patterns of signs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from mcp_elicit_client.core.secrets.findings import SecretKind
from mcp_elicit_client.core.secrets.patterns import pattern
from mcp_elicit_client.core.secrets.tables import RuleRow, rule_table, words
from mcp_elicit_client.core.secrets.tokens import NUMBER, UNKNOWN, load_lexicon


class SecretRule(NamedTuple):
    """A way to ask for a secret."""

    kind: SecretKind
    signs: re.Pattern[str]
    unless: re.Pattern[str] | None


class ShortLabel(NamedTuple):
    """A label that is ambiguous without its description or the message."""

    kind: SecretKind
    label: re.Pattern[str]
    text: re.Pattern[str]
    unless: re.Pattern[str] | None


class Rules(NamedTuple):
    """The compiled `RuleTable`."""

    trigger: re.Pattern[str]
    triggers: frozenset[str]
    mentioned: frozenset[str]
    labels: tuple[SecretRule, ...]
    sentences: tuple[SecretRule, ...]
    short_labels: tuple[ShortLabel, ...]
    contexts: Mapping[str, re.Pattern[str]]
    examples: re.Pattern[str]
    example_kinds: tuple[tuple[SecretKind, re.Pattern[str] | None], ...]
    pieces: re.Pattern[str]
    breaks: str
    a_break: re.Pattern[str]
    line: str
    your: str


@cache
def load_rules() -> Rules:
    """Return the rules of the table, compiled."""
    table = rule_table()
    by_name = load_lexicon().by_name
    examples = "|".join(rf"(.{{0,200}}?(?<![a-z0-9])(?:{row.beginning}))" for row in table.examples)
    return Rules(
        trigger=_pattern(table.trigger),
        triggers=frozenset(_signs_named("trigger")),
        mentioned=frozenset(_signs_named("mentioned")),
        labels=tuple(map(_rule, table.anywhere + table.labels)),
        sentences=tuple(map(_rule, table.anywhere + table.sentences)),
        short_labels=tuple(
            ShortLabel(
                row.kind, _pattern(f"[asks det]* (?: {row.label}) [extra]*"), _pattern(row.text), _any_sign(row.unless)
            )
            for row in table.short_labels
        ),
        contexts={name: _pattern(signs) for name, signs in table.contexts.items()},
        examples=re.compile(examples),
        example_kinds=tuple((row.kind, _any_sign(row.unless)) for row in table.examples),
        pieces=_pattern("[piece digits]"),
        breaks=_signs_named("break"),
        a_break=_pattern("[break]"),
        line=by_name["line"],
        your=by_name["your"],
    )


def _rule(row: RuleRow) -> SecretRule:
    return SecretRule(row.kind, _pattern(row.signs), _any_sign(row.unless))


def _any_sign(names: str) -> re.Pattern[str] | None:
    return _pattern(f"[{names}]") if names else None


def _pattern(written: str) -> re.Pattern[str]:
    """Compile a pattern of the names of signs into one of signs."""
    signs = pattern("names_of_signs").sub(_as_signs, written.replace("~", "[of at det]{0,3}"))
    return re.compile("".join(signs.split()))


def _as_signs(match: re.Match[str]) -> str:
    names = match.group()
    signs = "".join(map(_signs_named, pattern("word_of_table").findall(names)))
    return signs if len(signs) == 1 and names[0] != "[" else f"[{'^' if '^' in names else ''}{signs}]"


def _signs_named(name: str) -> str:
    groups = words().groups
    if name in groups:
        return "".join(map(_signs_named, groups[name].split()))
    return {"unknown": UNKNOWN, "figure": NUMBER}.get(name) or load_lexicon().by_name[name]
