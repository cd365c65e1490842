"""Days that people name by their distance from today: ``tomorrow``, ``Friday``, ``next Friday``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date, timedelta

from mcp_elicit_client.core.text import fold_accents
from mcp_elicit_client.presentation.month_names import MonthNames

_DAYS: Mapping[str, int] = {
    word: distance
    for distance, words in {
        -1: "yesterday gestern hier ayer 昨日",
        0: "today heute aujourd'hui hoy 今日",
        1: "tomorrow morgen demain manana 明日",
        2: "übermorgen après-demain 明後日",
    }.items()
    for word in fold_accents(words).split()
}
_WEEKS: Mapping[str, str] = {
    word: week
    for week, words in {
        "next": "next nächsten nächster nächste nächstes prochain prochaine próximo próxima 次の 来週の 来週",
        "this": "this coming diesen dieser kommenden kommender ce cette este esta 今週の 今度の",
        "last": "last letzten letzter vergangenen dernier passé pasado último 先週の 前の",
        "any": "on am le el",
    }.items()
    for word in fold_accents(words).split()
}
_UNSPACED = "|".join(word for word in _WEEKS if not word.isascii())
_MOST_WORDS = 3


def relative_days(text: str, names: MonthNames, today: date | None) -> tuple[str, ...]:
    """
    Return the dates that *text* may mean; empty if it names no day in such a way.

    Args:
        text: One to three words, in English, German, French, Spanish or
            Japanese.
        names: The names of weekdays in the user's language.
        today: The date where the user is; None if it is not known.
    """
    words = _words(text)
    if len(words) == 1 and words[0] in _DAYS:
        return () if today is None else ((today + timedelta(days=_DAYS[words[0]])).isoformat(),)
    if len(words) > _MOST_WORDS:
        return ()
    days = [names.find_weekday(word) for word in words]
    weekdays = [day for day in days if day is not None]
    weeks = {_WEEKS.get(word) for word, day in zip(words, days, strict=True) if day is None}
    if len(weekdays) != 1 or None in weeks:
        return ()
    about_now = today or date.today()  # noqa: DTZ011 -- several days are readings
    return tuple(day.isoformat() for day in _on(weekdays[0], weeks, about_now))


def _words(text: str) -> list[str]:
    """Return the words of *text*, also where no space separates them."""
    return re.sub(_UNSPACED, r"\g<0> ", fold_accents(text.replace("\u2019", "'")).strip(" .,")).split()


def _on(weekday: int, weeks: Collection[str | None], today: date) -> list[date]:
    """Return the days that *weekday* may be: nothing tells whether the next Friday is one of this week."""
    following = today + timedelta(days=(weekday - today.weekday()) % 7)
    week = timedelta(days=7)
    if "next" in weeks:
        return [following, following + week] if following > today else [following + week]
    if "last" in weeks:
        return [following - week]
    return [following] if "this" in weeks else [following, following - week]
