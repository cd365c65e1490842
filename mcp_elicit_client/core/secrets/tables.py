"""The tables of `core.secrets.words`, read the first time that somebody looks for secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from types import ModuleType


@cache
def tables() -> ModuleType:
    # The tables are large, and most processes never look for secrets.
    from mcp_elicit_client.core.secrets import words

    return words


@cache
def shape(name: str) -> re.Pattern[str]:
    return re.compile(tables().PATTERNS[name])


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))
