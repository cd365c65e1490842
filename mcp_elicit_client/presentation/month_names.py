"""`MonthNames`: the names of months and weekdays in typed dates, in the language of the user and in English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from mcp_elicit_client.core.text import fold_accents
from mcp_elicit_client.presentation.formatting import find_locale

_ENGLISH = (
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may",),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sep", "sept"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
)
_ENGLISH_MONTHS: Mapping[str, int] = {name: month for month, names in enumerate(_ENGLISH, 1) for name in names}
_ENGLISH_WEEKDAYS: Mapping[str, int] = {
    name: weekday
    for weekday, name in enumerate(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
}
_ENGLISH_FILLERS = frozenset({"of", "the"})
_MIN_PREFIX = 3
_UNKNOWN: Mapping[str, int] = MappingProxyType({})


class MonthNames(NamedTuple):
    """
    The names of months that a user may type.

    Attributes:
        months: The month of each name in the user's language, which is
            normalized; empty if it is not known.
        fillers: Words in a date that mean nothing, such as ``de``.
        weekdays: The weekday of each name in the user's language, from 0 for
            Monday on.
    """

    months: Mapping[str, int] = _UNKNOWN
    fillers: frozenset[str] = _ENGLISH_FILLERS
    weekdays: Mapping[str, int] = _UNKNOWN

    def find(self, word: str) -> tuple[int, ...]:
        """
        Return the months that *word* may mean.

        It is a name or the beginning of one, of at least three letters.  Case,
        accents and a point at the end do not matter.  A name in the user's
        language wins over English and over beginnings.
        """
        name = _normalize(word)
        if name in self.months:
            return (self.months[name],)
        english = {_ENGLISH_MONTHS[name]} if name in _ENGLISH_MONTHS else _with_prefix(_ENGLISH_MONTHS, name)
        return tuple(sorted(_with_prefix(self.months, name) | english))

    def find_weekday(self, word: str) -> int | None:
        """Return the weekday with the name *word*, which may be shortened in English; None without one."""
        name = _normalize(word)
        english = _with_prefix(_ENGLISH_WEEKDAYS, name)
        return self.weekdays[name] if name in self.weekdays else next(iter(english), None)

    def is_filler(self, word: str) -> bool:
        """Return True if *word* means nothing in a date."""
        return _normalize(word) in self.fillers


ENGLISH_MONTHS = MonthNames()


@lru_cache(maxsize=64)
def month_names(tag: str | None) -> MonthNames:
    """Return the names of months in the locale *tag*; the English ones only if Babel does not know it."""
    locale = find_locale(tag)
    if locale is None:
        return ENGLISH_MONTHS
    found: dict[str, set[int]] = {}
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for month, name in locale.months[context][width].items():
                found.setdefault(_normalize(name), set()).add(month)
    weekdays = {
        _normalize(name): weekday
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for weekday, name in locale.days[context][width].items()
    }
    months = {name: min(numbers) for name, numbers in found.items() if len(numbers) == 1 and _is_word(name)}
    quoted: Iterable[str] = re.findall("'([^']+)'", locale.date_formats["long"].pattern)
    fillers = {_normalize(word) for each in quoted for word in each.split()}
    for *before, name in map(str.split, found):  # such as "de" before "novembre" in Catalan
        fillers.update(before if name in months else ())
    return MonthNames(months, (_ENGLISH_FILLERS | fillers) - months.keys(), weekdays)


def _with_prefix(names: Mapping[str, int], prefix: str) -> set[int]:
    if len(prefix) < _MIN_PREFIX:
        return set()
    return {number for name, number in names.items() if name.startswith(prefix)}


def _normalize(word: str) -> str:
    """Return *word* in lower case, without accents and without a point at the end, and with a plain apostrophe."""
    return fold_accents(word.strip().removesuffix(".").replace("\u2019", "'"))


def _is_word(name: str) -> bool:
    """Return True if *name* is one word without digits: in some languages it is a number."""
    return not re.search(r"[\s\d,./-]", name)
