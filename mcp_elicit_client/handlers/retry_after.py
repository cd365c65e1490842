"""`read_retry_after`: how long a service that is overloaded wants to be left alone."""

from __future__ import annotations

from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

_MAX_DIGITS = 9


def read_retry_after(text: str, default: float = 0.0) -> float:
    """
    Return the pause that a ``Retry-After`` header requests, in seconds; *default* if it requests none.

    It is a number of seconds or a date, as in RFC 9110, section 10.2.3.
    """
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:_MAX_DIGITS])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return default
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())
