"""
Write the table of scenarios in docs/scenarios.md.

``python -m tools.scenarios`` reads it from the scenarios themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mcp_elicit_client.testing.scenarios import SCENARIOS

PAGE = Path(__file__).parent.parent / "docs" / "scenarios.md"
BEGIN, END = "<!-- scenarios -->\n", "<!-- /scenarios -->"


def table() -> Iterator[str]:
    """Yield the lines of the tables, group by group."""
    yield f"There are {len(SCENARIOS)} scenarios."
    for group in dict.fromkeys(each.group for each in SCENARIOS.values()):
        yield ""
        yield f"### {group[0].upper()}{group[1:]}"
        yield ""
        yield "| Scenario | Expected behavior | Reason | Source |"
        yield "|---|---|---|---|"
        for each in SCENARIOS.values():
            if each.group == group:
                yield f"| `{each.name}` | {_cell(each.title)} | {_cell(each.because)} | {_cell(each.source)} |"


def _cell(text: str) -> str:
    return re.sub(r"([|<>\\*_`$\[\]])", r"\\\1", text)


def page(text: str) -> str:
    """Return the *text* of the page with the list."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{chr(10).join(table())}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
