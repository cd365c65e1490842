"""
Write the table of requirements in docs/check-report.md.

``python -m tools.requirements`` counts them in the data of the reports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mcp_elicit_client.testing.requirements import load_requirements

PAGE = Path(__file__).parent.parent / "docs" / "check-report.md"
BEGIN, END = "<!-- requirements -->\n", "<!-- /requirements -->"


def table() -> Iterator[str]:
    """Yield the lines of the tables: the requirements of each page, and why some cannot be tested."""
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


def page(text: str) -> str:
    """Return the *text* of the page with the tables."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{chr(10).join(table())}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
