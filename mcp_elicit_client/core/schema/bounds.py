"""Limits that are numbers: what a server may write, and what of it holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.schema.enums import Report

_HUGE = 2**1000
"""Past this, a limit stands for infinity: no number that can be sent reaches it."""


_LIMITS = (
    ("minimum", "minimum", True),
    ("exclusiveMinimum", "exclusive_minimum", True),
    ("maximum", "maximum", False),
    ("exclusiveMaximum", "exclusive_maximum", False),
)
NUMBER_KEYWORDS = frozenset({"format", "multipleOf", *(keyword for keyword, _, _ in _LIMITS)})


@dataclass(slots=True)
class Bounds:
    """The limits of one number field."""

    minimum: int | float | None = None
    maximum: int | float | None = None
    exclusive_minimum: int | float | None = None
    exclusive_maximum: int | float | None = None
    multiple_of: int | float | None = None
    integer: bool = False
    largest: int = 2**53
    impossible: bool = False

    def is_empty(self) -> bool:
        """Tell whether no number fits."""
        if self.impossible:
            return True
        if self.exclusive_minimum is None and self.exclusive_maximum is None and self.minimum is not None:
            within = -self.largest <= self.minimum <= self.largest and isinstance(self.minimum, int)
            if within and self.maximum is not None:
                return self.minimum > self.maximum
        lows = [low for low in (self.minimum, self.exclusive_minimum) if low is not None]
        highs = [high for high in (self.maximum, self.exclusive_maximum) if high is not None]
        low = max(lows, default=-math.inf)
        high = min(highs, default=math.inf)
        if self.integer:
            least = max(-self.largest, -self.largest if low == -math.inf else math.ceil(low))
            most = min(self.largest, self.largest if high == math.inf else math.floor(high))
            least += least == self.exclusive_minimum
            most -= most == self.exclusive_maximum
            return least > most
        is_open = low == self.exclusive_minimum or high == self.exclusive_maximum
        return low > high or (low == high and is_open)

    def as_limits(self) -> dict[str, int | float | None]:
        """Return the limits as a number field takes them."""
        return {
            "minimum": self.minimum,
            "maximum": self.maximum,
            "exclusive_minimum": self.exclusive_minimum,
            "exclusive_maximum": self.exclusive_maximum,
            "multiple_of": self.multiple_of,
        }


def number_limits(schema: Mapping[str, Any], limits: Limits, report: Report, *, integer: bool) -> Bounds:
    """
    Read the limits of a number from *schema*.

    What is no number is ignored, and *report* learns of it; so is a limit at
    infinity in the direction in which it limits nothing.
    """
    bounds = Bounds(integer=integer, largest=limits.max_integer)
    for keyword, name, lower in _LIMITS:
        if keyword not in schema:
            continue
        value = _number(schema, keyword, report)
        if value is None:
            continue
        if abs(value) > _HUGE:
            bounds.impossible |= (value > 0) == lower
            report("limit_ignored", f"its {keyword} is beyond all numbers that can be sent")
            continue
        setattr(bounds, name, value)
    if schema.get("format") == "int32":
        bounds.minimum = max(-(2**31), bounds.minimum if bounds.minimum is not None else -math.inf)
        bounds.maximum = min(2**31 - 1, bounds.maximum if bounds.maximum is not None else math.inf)
    step = _number(schema, "multipleOf", report)
    if step is not None and 0 < step <= _HUGE:
        bounds.multiple_of = step
    elif step is not None:
        report("limit_ignored", "its multipleOf is not a positive number")
    return bounds


def is_multiple(value: float, step: float) -> bool:
    """
    Tell whether *value* is a whole multiple of *step*, both as written.

    In decimal, as people and JSON write them: 0.3 is a multiple of 0.1.
    """
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    return Fraction(repr(value)) % Fraction(repr(step)) == 0


def _number(schema: Mapping[str, Any], keyword: str, report: Report) -> int | float | None:
    value = schema.get(keyword)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:  # noqa: PLR0124
        report("limit_ignored", f"its {keyword} is not a number")
        return None
    return value
