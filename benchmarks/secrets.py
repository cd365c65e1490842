"""
How well and how fast secrets are found.

Run from the checkout: ``python -m benchmarks.secrets [SEED]``.  Bars, on the
labelled table without its borderline rows: fields at least 0.95 and 0.95
(precision and recall), answers 0.95 and 0.90; at most 1 ms a field.  What a
hostile server could write, all words unseen, is timed with and without a
message of full length.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_elicit_client import FormRequest, parse_request
from mcp_elicit_client.core.secrets.in_answer import secret_values
from mcp_elicit_client.core.secrets.in_request import secret_fields

TABLE = Path(__file__).parent.parent / "fixtures" / "sensitive.json"
REPEATS = 20
BARS = {"field": (0.95, 0.95), "answer": (0.95, 0.90)}
BAR = 1_000
ORDINARY = {
    "name": {"type": "string", "title": "Full name", "description": "As it should appear on the badge"},
    "email": {"type": "string", "title": "E-mail", "format": "email"},
    "country": {"type": "string", "title": "Country", "description": "Where you live at the moment"},
}


def main() -> int:
    """Print how well and how fast; fail below a bar."""
    chosen = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)  # noqa: S311
    rows = [row for row in json.loads(TABLE.read_text(encoding="utf-8")) if not row.get("borderline")]
    first = form({"password": {"type": "string"}}, "Log in")
    print(f"the very first look, tables and all: {once(first) / 1000:.0f} ms")
    enough = [judge(kind, [row for row in rows if row["kind"] == kind]) for kind in BARS]

    ordinary = form(ORDINARY, "Please tell us about yourself so that we can set up your workspace.")
    print(f"an ordinary form of three fields with its message: {fastest(ordinary):.0f} us")
    for letters in (3, 5, 8, 20):
        alone = max(once(hostile(chosen, letters, message=0)) for _ in range(REPEATS))
        told = max(once(hostile(chosen, letters, message=4_000)) for _ in range(REPEATS))
        print(f"a hostile field, words of {letters:2} letters: {alone:5.0f} us, with a full message {told:5.0f} us")
    return 0 if all(enough) else 1


def judge(kind: str, rows: list[dict[str, Any]]) -> bool:
    """Print how well and how fast the rows of one kind are told apart; return whether that is enough."""
    looks = [look(row) for row in rows]
    took = [fastest(each) for each in looks]
    verdicts = [(row["sensitive"], each()) for row, each in zip(rows, looks, strict=True)]
    precision = statistics.mean(sensitive for sensitive, found in verdicts if found)
    recall = statistics.mean(found for sensitive, found in verdicts if sensitive)
    least = BARS[kind]
    print(
        f"{len(rows)} {kind}s: precision {precision:.3f} (bar {least[0]}), recall {recall:.3f} (bar {least[1]}), "
        f"median {statistics.median(took):.0f} us, worst {max(took):.0f} us (bar {BAR})"
    )
    return precision >= least[0] and recall >= least[1] and max(took) <= BAR


def look(row: dict[str, Any]) -> Callable[[], bool]:
    """Return what looks at one row of the table."""
    if row["kind"] == "answer":
        return lambda: bool(secret_values({row["name"]: row["answer"]}))
    return form({row["name"]: row["schema"]}, row.get("message") or "Please fill in the form.")


def form(properties: dict[str, Any], message: str) -> Callable[[], bool]:
    """Return what looks at a form, read beforehand."""
    wire = {"message": message, "requestedSchema": {"type": "object", "properties": properties}}
    request = parse_request(wire)
    assert isinstance(request, FormRequest)
    return lambda: bool(secret_fields(request.form, request.message))


def hostile(chosen: random.Random, letters: int, *, message: int) -> Callable[[], bool]:
    """Return what looks at a field as large as it may be, of words that nobody has seen."""

    def words(size: int) -> str:
        many = range(size // (letters + 1))
        return " ".join("".join(chosen.choices("abcdefghijklmnopqrstuvwxyz", k=letters)) for _ in many)

    return form({words(128): {"type": "string", "title": words(200), "description": words(1_000)}}, words(message))


def once(work: Callable[[], bool]) -> float:
    """Return the microseconds of this process that *work* takes."""
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1e6


def fastest(work: Callable[[], bool]) -> float:
    """Return the microseconds of the fastest of several runs."""
    return min(once(work) for _ in range(REPEATS))


if __name__ == "__main__":
    sys.exit(main())
