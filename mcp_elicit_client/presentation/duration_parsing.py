"""Durations as people write them: the readings of a text in the format of RFC 3339, appendix A."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from mcp_elicit_client.core.text import fold_accents
from mcp_elicit_client.presentation.formatting import find_locale

_ENGLISH: Mapping[str, str] = {
    "year": "years year yrs yr y",
    "month": "months month mths mth mos mo m",
    "week": "weeks week wks wk w",
    "day": "days day d",
    "hour": "hours hour hrs hr h",
    "minute": "minutes minute mins min m",
    "second": "seconds second secs sec s",
}
# How many of the next unit a unit has: a part of a year or a month has no fixed length.
_SMALLER: Mapping[str, tuple[str, int]] = {
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
    "minute": ("second", 60),
}
# Numbers with all plural forms of the languages of Babel.
_COUNTS = (0, 1, 2, 3, 5, 11, 21, 100)
_PART = r"([0-9]{1,9})(?:[.,]([0-9]{1,2}))?\s?([^\d\s.,]+)\.?(?:\s*,|\s+(?:and|und|et|y|e)(?=\s))?\s*"
_MAX_TEXT = 80


def duration_readings(text: str, locale: str | None) -> tuple[str, ...]:
    """
    Return the durations that *text* may mean, as ``P1DT12H``.

    The units have names in English or in the language of *locale*, or
    abbreviations: ``1 day 12 hours``, ``1h 30min``, ``1.5 hours``.  An ``m`` is
    a minute between or after other units of time, and else a minute or a
    month.  Text that is something else is returned as it is.
    """
    parts = [match.groups() for match in re.finditer(_PART, text)]
    if len(text) > _MAX_TEXT or not parts or re.fullmatch(f"(?:{_PART})+", text) is None:
        return (text,)
    units = [_units(locale).get(fold_accents(name), ()) for *_, name in parts]
    readings = dict.fromkeys(
        _spelled(tuple(zip(chosen, parts, strict=True))) for chosen in product(*units) if _is_descending(chosen)
    )
    return tuple(filter(None, readings)) or (text,)


def _is_descending(units: tuple[str, ...]) -> bool:
    positions = [list(_ENGLISH).index(unit) for unit in units]
    if len(units) > 1 and "month" in units and not {"year", "week", "day"} & {*units}:
        return False  # 1h 30m
    return positions == sorted(set(positions))


def _spelled(parts: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    """Return the duration of the *parts*; empty if one of them is no whole number of seconds."""
    amounts = dict.fromkeys(_ENGLISH, Fraction(0))
    for unit, (whole, decimals, _) in parts:
        amounts[unit] += Fraction(f"{whole}.{decimals or 0}")
    for unit, (smaller, count) in _SMALLER.items():
        rest = amounts[unit] % 1
        amounts[unit] -= rest
        amounts[smaller] += rest * count
    if any(amount.denominator > 1 for amount in amounts.values()):
        return ""
    weeks = amounts.pop("week")
    if weeks and not any(amounts.values()):
        return f"P{weeks}W"
    amounts["day"] += 7 * weeks
    days = _consecutive({"Y": amounts["year"], "M": amounts["month"], "D": amounts["day"]})
    times = _consecutive({"H": amounts["hour"], "M": amounts["minute"], "S": amounts["second"]})
    return f"P{days}T{times}" if times else f"P{days}" if days else "PT0S"


def _consecutive(amounts: Mapping[str, Fraction]) -> str:
    """Return the *amounts* from the first that is not zero to the last: none between them may be missing."""
    names = list(amounts)
    given = [at for at, name in enumerate(names) if amounts[name]]
    return "".join(f"{amounts[name]}{name}" for name in names[given[0] : given[-1] + 1]) if given else ""


@lru_cache(maxsize=64)
def _units(tag: str | None) -> Mapping[str, tuple[str, ...]]:
    """Return the units of each name in English and in the language of the locale *tag*, which is folded."""
    found: dict[str, dict[str, None]] = {}
    locale = find_locale(tag)
    for unit, names in _ENGLISH.items():
        for name in names.split():
            found.setdefault(name, {})[unit] = None
        for name in () if locale is None else _local_names(unit, locale):
            found.setdefault(name, {})[unit] = None
    return {name: tuple(units) for name, units in found.items()}


def _local_names(unit: str, locale: Any) -> set[str]:
    from babel.units import format_unit

    texts = (
        format_unit(count, f"duration-{unit}", length, locale=locale)
        for count in _COUNTS
        for length in ("long", "short", "narrow")
    )
    return {name for text in texts if (name := fold_accents(re.sub(r"[\d\s.]+", "", text)))}
