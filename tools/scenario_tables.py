"""
Write the tables about scenarios in the documentation.

``python -m tools.scenario_tables`` writes the scenarios into docs/scenarios.md,
and the requirements that they cover into docs/check-report.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from mcp_elicit_client.check.requirements import load_requirements
from mcp_elicit_client.check.scenarios import SCENARIOS

DOCS = Path(__file__).parent.parent / "docs"


def scenario_tables() -> Iterator[str]:
    """Yield the lines of the tables of scenarios, group by group."""
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


def requirement_tables() -> Iterator[str]:
    """Yield the lines of two tables: the requirements of each page, and why some cannot be tested."""
    pages = load_requirements()
    yield "| Page | Requirements | Covered by scenarios | Not testable |"
    yield "|---|---|---|---|"
    for each in pages:
        covered = sum(bool(requirement.scenarios) for requirement in each.requirements)
        count = len(each.requirements)
        yield f"| [{each.title}]({each.url}) | {count} | {covered} | {count - covered} |"
    yield ""
    reasons = {page.name: Counter(each.reason for each in page.requirements if each.reason) for page in pages}
    yield f"| Why a requirement cannot be tested | {' | '.join(each.title.partition(',')[0] for each in pages)} |"
    yield f"|---|{'---|' * len(pages)}"
    for reason in dict.fromkeys(each for counts in reasons.values() for each in counts):
        yield f"| {reason} | {' | '.join(str(reasons[each.name][reason]) for each in pages)} |"


def _cell(text: str) -> str:
    return re.sub(r"([|<>\\*_`$\[\]])", r"\\\1", text)


TABLES: Mapping[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "scenarios.md": ("scenarios", scenario_tables),
    "check-report.md": ("requirements", requirement_tables),
}
"""The name of the comments around the tables of a page, and what writes their lines."""


def updated(page: str) -> str:
    """Return the text of *page* with its tables."""
    name, tables = TABLES[page]
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, _, rest = (DOCS / page).read_text(encoding="utf-8").partition(begin)
    return f"{before}{begin}{chr(10).join(tables())}\n{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    for each in TABLES:
        (DOCS / each).write_text(updated(each), encoding="utf-8")
