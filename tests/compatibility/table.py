"""The page of ``docs/compatibility.md``, from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.compatibility.judging import ERAS, EXPECTED, WANTED_FIRST, Cell, cells

TEMPLATE = Path(__file__).with_name("page.md")

REPLIES = ("accept", "decline", "cancel", "raise")


def page(results: Sequence[dict[str, Any]]) -> str:
    """Return the whole page."""
    text = TEMPLATE.read_text(encoding="utf-8")
    for part, written in {**{era: _table(results, era) for era in ERAS}, "footer": _footer(results)}.items():
        text = text.replace(f"{{{part}}}", written)
    return text


def can(judged: Iterable[Cell], era: str) -> bool:
    """Tell whether every cell of *era* is as it must be."""
    return all(cell.good for cell in judged if cell.era == era)


def _table(results: Sequence[dict[str, Any]], era: str) -> str:
    replies = " | ".join(f"{mode} {reply}" for mode in ("form", "URL") for reply in REPLIES)
    lines = [
        f"| library | version | mcp | {replies} | 6 s | name | -32042 |{' example | types |' if era == 'push' else ''}"
    ]
    lines.append("|---" * (lines[0].count("|") - 1) + "|")
    lines += [line for result in results if (line := _row(result, era))]
    return "".join(f"{line}\n" for line in lines)


def _row(result: dict[str, Any], era: str) -> str:
    columns = len(EXPECTED) + 1 + 2 * (era == "push")
    if "versions" in result and "error" not in result:
        head = (
            f"| {result['title']} | {result['versions']['library']} | {result['versions']['mcp']} | {result['note']} |"
        )
        return head + " |" * len(EXPECTED) + _once(result) if era == "push" else ""
    if "report" not in result:
        blank = f"| {result['title']} | | | {result['error']} |" + " |" * (columns - 1)
        return blank if era == "push" else ""
    report = result["report"]
    judged = {cell.name: cell for cell in cells(report) if cell.era == era}
    if not judged:
        return ""
    head = f"| {result['title']} | {report['library']} | {report['mcp']} |"
    if era in result.get("cannot", {}):
        return f"{head} {result['cannot'][era]} |" + " |" * len(EXPECTED) + (_once(result) if era == "push" else "")
    rounds = judged["rounds"].good
    marks = [_mark(judged[name].good and rounds) if name in judged else "" for name in EXPECTED]
    wanted = judged["-32042"].found
    line = f"{head} {' | '.join(marks)} | {WANTED_FIRST.get(wanted, f'wrong: {wanted}')} |"
    return line + (_once(result) if era == "push" else "")


def _once(result: dict[str, Any]) -> str:
    """Return the columns that there is one table for."""
    marks = (result.get("example_runs"), not result["types"] if "types" in result else None)
    return "".join(" |" if mark is None else f" {_mark(mark)} |" for mark in marks)


def _mark(good: bool) -> str:
    return "\u2713" if good else "**no**"


def _footer(results: Sequence[dict[str, Any]]) -> str:
    reports = [(result["report"], result.get("cannot", {})) for result in results if "report" in result]
    judged = [(cell, cell.era in cannot) for report, cannot in reports for cell in cells(report)]
    good = sum(cell.good for cell, _ in judged)
    excused = sum(cannot and not cell.good for cell, cannot in judged)
    versions = ", ".join(sorted({report["python"] for report, _ in reports}))
    return (
        f"{len(results)} rows, {len(judged)} cells: {good} as they must be, {excused} that the library cannot, "
        f"{len(judged) - good - excused} wrong. Python {versions}."
    )
