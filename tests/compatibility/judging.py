"""Which measured cells are as they must be, and what is told of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NAMES = ("mail", "bank")
"""What the host application calls the two servers."""

NAMED = {"action": "accept", "content": {"name": "Ann"}}

EXPECTED: dict[str, Any] = {
    "form accept": NAMED,
    "form decline": {"action": "decline"},
    "form cancel": {"action": "cancel"},
    "form raise": {"action": "cancel"},
    "url accept": {"action": "accept"},
    "url decline": {"action": "decline"},
    "url cancel": {"action": "cancel"},
    "url raise": {"action": "cancel"},
    "think": NAMED,
    "name": list(NAMES),
}
"""What a server must get, or, for ``name``, what the handler must be told of who asks."""

WANTED_FIRST = {
    "asked, done": "asked; done",
    "error with the URL": "error to the host, with the URL",
    "error without the URL": "error to the host",
    "text with the URL": "**text for the model, with the URL**",
    "text without the URL": "text for the model",
}
"""What may come of a call that wants a URL visited first (``-32042``); what else comes is wrong."""

ERAS = ("push", "rounds")


@dataclass(frozen=True)
class Cell:
    """
    One measured thing.

    Attributes:
        era: Whether the server sent its questions, or returned them.
        name: What was measured.
        good: Whether it is as it must be.
        found: What was found.
    """

    era: str
    name: str
    good: bool
    found: Any


def cells(report: Mapping[str, Any]) -> Iterator[Cell]:
    """Judge all cells of what ``measuring`` reported."""
    for era in ERAS:
        found = report.get(era)
        if found is None:
            continue
        for name, expected in EXPECTED.items():
            if name in found:
                yield Cell(era, name, _without_empty_content(found[name]) == expected, found[name])
        yield Cell(era, "-32042", found["-32042"] in WANTED_FIRST, found["-32042"])
        yield Cell(era, "rounds", found["rounds"] == [era == "rounds"], found["rounds"])


def _without_empty_content(found: Any) -> Any:
    """Return *found* without an empty content, which means the same as none."""
    return {"action": found["action"]} if isinstance(found, dict) and found.get("content") == {} else found
