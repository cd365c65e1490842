"""
How well and how fast secrets are found.

``python -m benchmarks.secrets``: precision and recall on the labelled table,
borderline items aside, and the microseconds that one field or one answer takes.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any

from mcp_elicit_client import FormRequest, parse_request
from mcp_elicit_client.core.secrets import secret_fields, secret_values

ROOT = Path(__file__).parent.parent
REPEATS = 20


def main() -> None:
    rows = json.loads((ROOT / "fixtures" / "sensitive.json").read_text(encoding="utf-8"))
    for kind in ("field", "answer"):
        clear = [row for row in rows if row["kind"] == kind and not row.get("borderline")]
        outcomes = [(row["sensitive"], *look(row)) for row in clear]
        flagged = [sensitive for sensitive, found, _ in outcomes if found]
        sensitive = [found for is_secret, found, _ in outcomes if is_secret]
        took = [microseconds for _, _, microseconds in outcomes]
        print(
            f"{kind + 's':8} precision {sum(flagged) / len(flagged):.3f}  recall {sum(sensitive) / len(sensitive):.3f}"
            f"  median {statistics.median(took):.0f} us, slowest {max(took):.0f} us (bar 1000)"
        )


def look(row: dict[str, Any]) -> tuple[bool, float]:
    """Look at one row; return whether a secret was found, and the microseconds of the fastest look."""
    schema = {"type": "object", "properties": {row["name"]: row["schema"]}}
    request = parse_request({"message": row.get("message") or "Please fill in the form.", "requestedSchema": schema})
    assert isinstance(request, FormRequest)
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter()
        if row["kind"] == "field":
            found = bool(secret_fields(request.form, request.message))
        else:
            found = bool(secret_values({row["name"]: row["answer"]}))
        best = min(best, time.perf_counter() - begin)
    return found, best * 1e6


if __name__ == "__main__":
    main()
