"""`Conventions`: which separators and which order of a date typed text has in a locale."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from mcp_elicit_client.presentation.formatting import DateOrder, date_order, find_locale, number_symbols

CANONICAL_LOCALE = "und"
"""The locale of texts that a program wrote: a decimal point, ISO dates, no separators of thousands."""


class Conventions(NamedTuple):
    """
    How numbers and dates are written.

    Attributes:
        decimal: The decimal separator; empty if it is not known.
        group: The separator of thousands; empty without one, or if it is not
            known.
        has_groups_of_two: Digits before the last three are in groups of two,
            as in 1,00,000.
        date_order: The order of a date; None if it is not known.
        locale: The locale whose names of months and weekdays are read; None
            for the English ones.
    """

    decimal: str = ""
    group: str = ""
    has_groups_of_two: bool = False
    date_order: DateOrder | None = None
    locale: str | None = None


UNKNOWN = Conventions()
"""The conventions of a user whose locale is not known."""


@lru_cache(maxsize=64)
def conventions_of(tag: str | None) -> Conventions:
    """
    Return the conventions of the locale *tag*.

    They are unknown without the extra ``languages``, and if Babel does not
    know the locale.
    """
    if tag == CANONICAL_LOCALE:
        return Conventions(decimal=".")
    locale = find_locale(tag)
    if locale is None:
        return UNKNOWN
    symbols, grouping = number_symbols(tag), tuple(locale.decimal_formats[None].grouping)
    return Conventions(
        decimal=symbols.decimal,
        group=symbols.group,
        has_groups_of_two=grouping == (3, 2),
        date_order=date_order(tag),
        locale=tag,
    )


_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_NARROW |= {zero + digit: ord("0") + digit for zero in (0x0660, 0x06F0) for digit in range(10)}


def narrow(text: str) -> str:
    """Return *text* in ASCII where it has digits of Arabic keyboards, or wide characters of East Asian ones."""
    return text.translate(_NARROW)
