"""Numbers as people write them: the readings of a text, and the text of a number."""

from __future__ import annotations

import re

from mcp_elicit_client.presentation.locale_conventions import Conventions

_SPACES = " \u00a0\u2009\u202f"
_APOSTROPHES = "'\u2019"
_DECIMALS = ".,\N{ARABIC DECIMAL SEPARATOR}"
_SEPARATORS = f"{_DECIMALS}{_SPACES}{_APOSTROPHES}\N{ARABIC THOUSANDS SEPARATOR}"
_MINUS = "\N{MINUS SIGN}"

# Patterns are compiled at their first use, because they would slow down the import.
_INTEGER = r"(?a)[+-]?[0-9]{1,300}"
_NUMBER = (
    r"(?a)"
    rf"(?P<sign>[+-]?)(?P<digits>[0-9{_SEPARATORS}]{{1,400}})(?P<exponent>[eE][+-]?[0-9]{{1,4}})?"
)
_FRACTION = r"(?a)[0-9]{0,300}"


def number_readings(text: str, conventions: Conventions) -> tuple[int | float, ...]:
    """
    Return the numbers that *text* may mean.

    A point and a comma may both be the decimal separator.  Thousands may be
    separated by points, commas, spaces or apostrophes.  Thus ``1.000`` has
    two readings and ``7,5`` has one.  If there are several and the locale of
    the user has only one of them, that is the result.
    """
    match = re.fullmatch(_NUMBER, text.replace(_MINUS, "-"))
    if match is None:
        return ()
    found: dict[tuple[str, str], int | float] = {}
    for decimal in _DECIMALS:
        reading = _read(match["digits"], decimal, conventions)
        if reading is not None:
            plain, used = reading
            number = f"{match['sign']}{plain}{match['exponent'] or ''}"
            found[used] = int(number) if re.fullmatch(_INTEGER, number) else float(number)
    if len(set(found.values())) > 1:
        usual = [value for used, value in found.items() if _is_usual(*used, conventions)]
        if len(usual) == 1:
            return (usual[0],)
    return tuple(dict.fromkeys(found.values()))


def number_text(value: float, conventions: Conventions) -> str:
    """Return *value* in digits, with the decimal separator of the user, so that it has one reading."""
    digits, mark, exponent = str(value).replace(".", conventions.decimal or ".").partition("e")
    text = f"{digits}{mark}{exponent}"
    return text if number_readings(text, conventions) == (value,) else f"{digits}0{mark}{exponent}"


def _read(digits: str, decimal: str, conventions: Conventions) -> tuple[str, tuple[str, str]] | None:
    """Return *digits* with a decimal point and without groups, and the separators that are used; None if not valid."""
    whole, separator, fraction = digits.partition(decimal)
    if not re.fullmatch(_FRACTION, fraction) or not (whole or fraction):
        return None
    groups = "".join(dict.fromkeys(character for character in whole if not character.isdigit()))
    if len(groups) > 1 or (groups and not _is_grouped(whole, groups, conventions)):
        return None
    plain = "".join(filter(str.isdigit, whole))
    if len(plain) > 300:
        return None
    return (f"{plain or '0'}.{fraction}" if separator else plain), (separator, groups)


def _is_grouped(whole: str, group: str, conventions: Conventions) -> bool:
    sizes = [len(part) for part in whole.split(group)]
    middle = {2, 3} if conventions.has_groups_of_two else {3}
    is_even = 1 <= sizes[0] <= 3 and sizes[-1] == 3 and len({*sizes[1:-1]}) <= 1 and {*sizes[1:-1]} <= middle
    return is_even and whole[0] != "0"


def _is_usual(decimal: str, group: str, conventions: Conventions) -> bool:
    """Return True if the separators that are used are those of the user's locale."""
    return decimal in ("", conventions.decimal) and group in ("", conventions.group)
