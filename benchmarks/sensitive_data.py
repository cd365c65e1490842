"""
Measures precision, recall and speed of the search for secrets.

Run from the checkout: ``python -m benchmarks.sensitive_data [SEED]``.

Precision and recall are measured on ``fixtures/sensitive.json`` without its
borderline rows, for fields and for answers: on all rows, and on each of 5
folds (every fifth row).  The worst fold must reach 0.95, and no row may take
longer than 1 ms.  Hostile fields, made of random words, are only timed: with
and without a message of the maximum length.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mcp_elicit_client import FormRequest, parse_request
from mcp_elicit_client.core.secrets.in_answer import secret_values
from mcp_elicit_client.core.secrets.in_request import secret_fields

TABLE = Path(__file__).parent.parent / "fixtures" / "sensitive.json"
REPEATS = 20
FOLDS = 5
LEAST = 0.95
MOST_MICROSECONDS = 1_000
ORDINARY = {
    "name": {"type": "string", "title": "Full name", "description": "As it should appear on the badge"},
    "email": {"type": "string", "title": "E-mail", "format": "email"},
    "country": {"type": "string", "title": "Country", "description": "Where you live at the moment"},
}


def main() -> int:
    """Print the measurements; return 1 if a requirement is not met."""
    chosen = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)  # noqa: S311
    rows = [row for row in json.loads(TABLE.read_text(encoding="utf-8")) if not row.get("borderline")]
    first = form({"password": {"type": "string"}}, "Log in")
    print(f"first search, with loading the tables: {once(first) / 1000:.0f} ms")
    met = [measure(kind, [row for row in rows if row["kind"] == kind]) for kind in ("field", "answer")]

    ordinary = form(ORDINARY, "Please tell us about yourself so that we can set up your workspace.")
    print(f"ordinary form with three fields and a message: {fastest(ordinary):.0f} us")
    for letters in (3, 5, 8, 20):
        alone = max(once(hostile(chosen, letters, message=0)) for _ in range(REPEATS))
        told = max(once(hostile(chosen, letters, message=4_000)) for _ in range(REPEATS))
        print(f"hostile field, words of {letters:2} letters: {alone:5.0f} us, with a long message {told:5.0f} us")
    return 0 if all(met) else 1


def measure(kind: str, rows: list[dict[str, Any]]) -> bool:
    """Print precision, recall and time for the rows of one kind; return True if the requirements are met."""
    searches = [search(row) for row in rows]
    took = [fastest(each) for each in searches]
    verdicts = [(row["sensitive"], each()) for row, each in zip(rows, searches, strict=True)]
    precision, recall = precision_and_recall(verdicts)
    folds = [precision_and_recall(verdicts[at::FOLDS]) for at in range(FOLDS)]
    worst = [min(figures) for figures in zip(*folds, strict=True)]
    print(
        f"{len(rows)} {kind}s: precision {precision:.3f}, recall {recall:.3f}; "
        f"worst of {FOLDS} folds: precision {worst[0]:.3f}, recall {worst[1]:.3f} (at least {LEAST}); "
        f"median {statistics.median(took):.0f} us, slowest {max(took):.0f} us (at most {MOST_MICROSECONDS})"
    )
    return min(worst) >= LEAST and max(took) <= MOST_MICROSECONDS


def precision_and_recall(verdicts: Sequence[tuple[bool, bool]]) -> tuple[float, float]:
    """Return precision and recall of pairs: whether a row is sensitive, and whether a secret was found."""
    precision = statistics.mean(sensitive for sensitive, found in verdicts if found)
    recall = statistics.mean(found for sensitive, found in verdicts if sensitive)
    return precision, recall


def search(row: dict[str, Any]) -> Callable[[], bool]:
    """Return a function that searches one row of the table."""
    if row["kind"] == "answer":
        return lambda: bool(secret_values({row["name"]: row["answer"]}))
    return form({row["name"]: row["schema"]}, row.get("message") or "Please fill in the form.")


def form(properties: dict[str, Any], message: str) -> Callable[[], bool]:
    """Return a function that searches a form, which is parsed beforehand."""
    wire = {"message": message, "requestedSchema": {"type": "object", "properties": properties}}
    request = parse_request(wire)
    assert isinstance(request, FormRequest)
    return lambda: bool(secret_fields(request.form, request.message))


def hostile(chosen: random.Random, letters: int, *, message: int) -> Callable[[], bool]:
    """Return a function that searches a field of the maximum size, made of random words."""

    def words(size: int) -> str:
        many = range(size // (letters + 1))
        return " ".join("".join(chosen.choices("abcdefghijklmnopqrstuvwxyz", k=letters)) for _ in many)

    return form({words(128): {"type": "string", "title": words(200), "description": words(1_000)}}, words(message))


def once(work: Callable[[], bool]) -> float:
    """Return the CPU time of *work*, in microseconds."""
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1e6


def fastest(work: Callable[[], bool]) -> float:
    """Return the CPU time of the fastest of several runs, in microseconds."""
    return min(once(work) for _ in range(REPEATS))


if __name__ == "__main__":
    sys.exit(main())
