"""Minimum, maximum and step of a number field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.schema.enums import Report
from mcp_elicit_client.core.schema.unwrapping import UnsupportedSchemaError

_HUGE = 2**1000
"""A limit above this counts as infinite: no number that can be sent reaches it."""

_LIMITS = (
    ("minimum", "minimum", True),
    ("exclusiveMinimum", "exclusive_minimum", True),
    ("maximum", "maximum", False),
    ("exclusiveMaximum", "exclusive_maximum", False),
)
_INCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
NUMBER_KEYWORDS = frozenset({"format", "multipleOf", *(keyword for keyword, _, _ in _LIMITS)})


def number_limits(
    schema: Mapping[str, Any], limits: Limits, report: Report, *, integer: bool
) -> dict[str, int | float]:
    """
    Return the limits of a number, by attribute of `NumberField`.

    Limits that are not numbers, or that are infinite, are ignored and
    reported.

    Raises:
        UnsupportedSchemaError: If no number fits, or none that can be sent
            exactly.
    """
    found: dict[str, int | float] = {}
    is_possible = True
    for keyword, name, is_lower in _LIMITS:
        value = _number(schema, keyword, report)
        if value is None:
            continue
        if abs(value) > _HUGE:
            is_possible &= (value < 0) == is_lower
            report("limit_ignored", f"its {keyword} is beyond all numbers that can be sent")
        else:
            found[name] = value
    if schema.get("format") == "int32":
        found["minimum"] = max(-(2**31), found.get("minimum", -(2**31)))
        found["maximum"] = min(2**31 - 1, found.get("maximum", 2**31 - 1))
    if not is_possible or _is_empty(found, limits.max_integer if integer else None):
        raise UnsupportedSchemaError("allows no number that can be sent exactly")
    step = _number(schema, "multipleOf", report)
    if step is not None and 0 < step <= _HUGE:
        found["multiple_of"] = step
    elif step is not None:
        report("limit_ignored", "its multipleOf is not a positive number")
    return found


def is_multiple(value: float, step: float) -> bool:
    """
    Return True if *value* is a whole multiple of *step*, in decimal.

    Both are taken as JSON writes them: 0.3 is a multiple of 0.1.
    """
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    return Fraction(repr(value)) % Fraction(repr(step)) == 0


def _is_empty(found: Mapping[str, int | float], max_integer: int | None) -> bool:
    """Return True if no number is within the limits; no integer, if there is a *max_integer*."""
    above, below = found.get("exclusive_minimum"), found.get("exclusive_maximum")
    low = max(found.get("minimum", -math.inf), -math.inf if above is None else above)
    high = min(found.get("maximum", math.inf), math.inf if below is None else below)
    if max_integer is None:
        return low > high or (low == high and (low == above or high == below))
    least = -max_integer if low < -max_integer else math.ceil(low)
    most = max_integer if high > max_integer else math.floor(high)
    return least + (least == above) > most - (most == below)


def _number(schema: Mapping[str, Any], keyword: str, report: Report) -> int | float | None:
    """Return a limit.  In JSON Schema draft 4, true makes the minimum or maximum an exclusive one."""
    value = schema.get(keyword)
    if value is None:
        return None
    if isinstance(value, bool) and keyword in _INCLUSIVE:
        return _number(schema, _INCLUSIVE[keyword], report) if value else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:  # noqa: PLR0124 -- NaN
        report("limit_ignored", f"its {keyword} is not a number")
        return None
    return value
