"""Points in time on a page: the browser's own control for date and time, and the zone beside it."""

from __future__ import annotations

import re

from mcp_elicit_client.core.form import Field, TextField

TYPES = {"date-time": "datetime-local", "time": "time"}
"""The browser's control for each format that has a zone."""

_OFFSETS = [
    "-12:00",
    "-11:00",
    "-10:00",
    "-09:30",
    "-09:00",
    "-08:00",
    "-07:00",
    "-06:00",
    "-05:00",
    "-04:00",
    "-03:30",
    "-03:00",
    "-02:30",
    "-02:00",
    "-01:00",
    "Z",
    "+01:00",
    "+02:00",
    "+03:00",
    "+03:30",
    "+04:00",
    "+04:30",
    "+05:00",
    "+05:30",
    "+05:45",
    "+06:00",
    "+06:30",
    "+07:00",
    "+08:00",
    "+08:45",
    "+09:00",
    "+09:30",
    "+10:00",
    "+10:30",
    "+11:00",
    "+12:00",
    "+12:45",
    "+13:00",
    "+13:45",
    "+14:00",
]
_MOMENT = re.compile(
    r"(?P<local> (?P<date>\d{4}-\d{2}-\d{2}) T (?P<there>.+) | (?P<alone>[^T]+) )", re.ASCII | re.VERBOSE
)
_CLOCK = re.compile(
    r"(?P<clock> ([01]\d|2[0-3]) : [0-5]\d ) (?P<seconds> : [0-5]\d (\.\d{1,3})? )? (?P<zone> Z | [+-]\d{2}:\d{2} )?",
    re.ASCII | re.VERBOSE,
)


def control_type(field: Field) -> str:
    """Return the type of the browser's control for *field*; empty if it is no time with a zone, or cannot be shown."""
    if not isinstance(field, TextField) or field.is_hidden:
        return ""
    shown = field.default is None or split(field.default)[0]
    return TYPES.get(field.format or "", "") if shown else ""


def split(text: str) -> tuple[str, str]:
    """Part a time into what the browser's control shows, and its zone; what it cannot show is empty."""
    moment = _MOMENT.fullmatch(text.upper())
    clock = moment and _CLOCK.fullmatch(moment["there"] or moment["alone"])
    if not moment or not clock:
        return "", ""
    date = f"{moment['date']}T" if moment["date"] else ""
    return f"{date}{clock['clock']}{clock['seconds'] or ':00'}", clock["zone"] or ""


def join(text: str, zone: str) -> str:
    """Put together what `split` parted; a text that has its zone, or is no time, stays as it is."""
    local, known = split(text)
    return text if known or not local else f"{local}{zone}"


def zones(chosen: str) -> list[tuple[str, str]]:
    """List the zones that can be chosen, *chosen* among them, each with what to call it."""
    offsets = _OFFSETS if not chosen or chosen in _OFFSETS else [*_OFFSETS, chosen]
    return [(offset, "UTC" if offset == "Z" else f"UTC{offset}") for offset in offsets]
