"""Which language and locale a user has: by the environment of a process, or by the browser's ``Accept-Language``."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

# Patterns are compiled at their first use, because they would slow down the import.
_TAG = r"(?a)([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|[0-9]{3}))?"
_QUALITY = r"(?a)q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)"
_MAX_HEADER = 1_000


def to_tag(name: str) -> str | None:
    """Return the BCP 47 tag for a tag or a POSIX locale, such as ``de_AT.UTF-8``; None if it names no language."""
    match = re.fullmatch(_TAG, name.partition(".")[0].partition("@")[0])
    if match is None:
        return None
    language, script, territory = match.groups()
    return "-".join(filter(None, (language.lower(), script and script.title(), territory and territory.upper())))


def candidates(name: str) -> Iterator[str]:
    """Yield the names of directories for a tag or a POSIX locale: with its territory, then without."""
    parts = (to_tag(name) or "").split("-")
    for count in range(len(parts), 0, -1):
        if parts[0]:
            yield "_".join(parts[:count])


def from_environment(available: Collection[str], environ: Mapping[str, str] | None = None) -> tuple[str, str | None]:
    """
    Return the language of texts, and the locale of numbers and dates.

    The variables are those of POSIX and GNU gettext: ``LC_ALL``,
    ``LC_MESSAGES`` or ``LC_NUMERIC`` and ``LC_TIME``, ``LANG``; and
    ``LANGUAGE``, a list of languages separated by colons.  If numbers and
    times have different locales, neither is used.

    Args:
        available: The languages that have translations.
        environ: The environment; None for that of the process.
    """
    environ = os.environ if environ is None else environ
    for_all, by_default = environ.get("LC_ALL"), environ.get("LANG")

    def setting(category: str) -> str:
        return for_all or environ.get(category) or by_default or ""

    language = setting("LC_MESSAGES")
    if to_tag(language) is not None:  # GNU gettext ignores LANGUAGE in the locale C.
        wanted = [*filter(None, environ.get("LANGUAGE", "").split(":")), language]
        language = next((each for each in wanted if is_available(each, available)), language)
    numbers, times = to_tag(setting("LC_NUMERIC")), to_tag(setting("LC_TIME"))
    return language, numbers if numbers == times else None


def from_accept_language(header: str, available: Collection[str]) -> str:
    """
    Return the language in *header* that the user prefers among those that are *available*, with its territory.

    If none of them is available, the result is the most preferred one, for
    numbers and dates; empty for an empty header.
    """
    wanted = _wanted(header[:_MAX_HEADER])
    return next((tag for tag in wanted if is_available(tag, available)), wanted[0] if wanted else "")


@lru_cache(maxsize=32)
def _wanted(header: str) -> tuple[str, ...]:
    """Return the languages in *header*, the preferred one first."""
    return tuple(tag for _, tag in sorted(_accepted(header), key=lambda each: -each[0]))


def _accepted(header: str) -> Iterator[tuple[float, str]]:
    for part in header.split(","):
        name, _, parameters = part.partition(";")
        tag = to_tag(name.strip())
        weight = 1.0
        if parameters:
            quality = re.fullmatch(_QUALITY, parameters.strip())
            weight = float(quality[1]) if quality else 0.0
        if tag is not None and weight:
            yield weight, tag


def is_available(name: str, available: Collection[str]) -> bool:
    """Return True if there is a translation for *name*."""
    return any(each.replace("_", "-") in available for each in candidates(name))
