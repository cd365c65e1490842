"""The rules of the table: patterns of signs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from mcp_elicit_client.core.secrets.data_loader import SecretKind, shape, tables
from mcp_elicit_client.core.secrets.lexicon import load_lexicon
from mcp_elicit_client.core.secrets.tokens import NUMBER, UNKNOWN


class Rule(NamedTuple):
    kind: SecretKind
    says: re.Pattern[str]
    unless: re.Pattern[str] | None


class Little(NamedTuple):
    kind: SecretKind
    label: re.Pattern[str]
    told: re.Pattern[str]
    unless: re.Pattern[str] | None


class Rules(NamedTuple):
    trigger: re.Pattern[str]
    triggers: frozenset[str]
    labels: tuple[Rule, ...]
    sentences: tuple[Rule, ...]
    little: tuple[Little, ...]
    around: Mapping[str, re.Pattern[str]]
    giveaways: re.Pattern[str]
    given: tuple[tuple[SecretKind, re.Pattern[str] | None], ...]
    breaks: str
    a_break: re.Pattern[str]
    line: str
    your: str


@cache
def load_rules() -> Rules:
    data = tables()
    by_name = load_lexicon().by_name
    shapes = "|".join(rf"(.{{0,200}}?(?<![a-z0-9])(?:{shape}))" for _, shape, _ in data.GIVEAWAYS)
    return Rules(
        trigger=_pattern(data.TRIGGER),
        triggers=frozenset(_signs_named("trigger")),
        labels=tuple(Rule(kind, _pattern(says), _any_sign(unless)) for kind, says, unless in data.RULES + data.LABELS),
        sentences=tuple(
            Rule(kind, _pattern(says), _any_sign(unless)) for kind, says, unless in data.RULES + data.SENTENCES
        ),
        little=tuple(
            Little(kind, _pattern(f"[asks det]* (?: {label}) [extra]*"), _pattern(told), _any_sign(unless))
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
    signs = shape("names_of_signs").sub(_as_signs, says.replace("~", "[of at det]{0,3}"))
    return re.compile("".join(signs.split()))


def _as_signs(match: re.Match[str]) -> str:
    names = match.group()
    signs = "".join(map(_signs_named, shape("word_of_table").findall(names)))
    return signs if len(signs) == 1 and names[0] != "[" else f"[{'^' if '^' in names else ''}{signs}]"


def _signs_named(name: str) -> str:
    groups = tables().GROUPS
    if name in groups:
        return "".join(map(_signs_named, groups[name].split()))
    return {"x": UNKNOWN, "num": NUMBER}.get(name) or load_lexicon().by_name[name]
