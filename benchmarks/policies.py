"""
What the recommended policies add to one question: microseconds, and as a ratio to the bare callback.

``python -m benchmarks.policies``: the same request through the callback of a
registry, bare and behind ``recommended()`` with an audit log, by turns in one
run.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio

from mcp_elicit_client import Answer, ElicitationRegistry
from mcp_elicit_client.audit import AuditLog
from mcp_elicit_client.policies import compose, recommended
from mcp_elicit_client.policies.rate_limit import rate_limit

QUESTIONS = 2_000
PARAMS = {
    "message": "Where shall we send the parcel?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "street": {"type": "string", "title": "Street", "minLength": 2},
            "city": {"type": "string", "title": "City"},
            "express": {"type": "boolean", "title": "By express?", "default": False},
        },
        "required": ["street", "city"],
    },
}


async def answer(_request: Any) -> Answer:
    return Answer.accept({"street": "Bundesplatz 3", "city": "Bern", "express": False}, by="user")


async def measure(folder: Path) -> None:
    bare = ElicitationRegistry()
    bare.on_elicitation(answer)
    # The limits are wide, or most questions would be refused, which costs less.
    wide = compose(rate_limit(["1000000/minute", "1000000/hour"]))
    log = AuditLog(folder / "audit.jsonl")
    guarded = ElicitationRegistry(policy=recommended(audit=log.policy, rate_limit=wide))
    guarded.on_elicitation(answer)
    callbacks = {"bare": bare.callback("parcels"), "recommended": guarded.callback("parcels")}
    took: dict[str, list[float]] = {name: [] for name in callbacks}
    for _ in range(QUESTIONS):
        for name, callback in callbacks.items():
            started = time.perf_counter()
            result: Any = await callback(None, PARAMS)
            took[name].append(time.perf_counter() - started)
            assert result.action == "accept", result
    medians = {name: statistics.median(times) * 1e6 for name, times in took.items()}
    added = medians["recommended"] - medians["bare"]
    print(f"bare callback        {medians['bare']:7.0f} us a question")
    print(f"recommended, audited {medians['recommended']:7.0f} us a question")
    print(f"added                {added:7.0f} us (bar 150), {medians['recommended'] / medians['bare']:.2f} of bare")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(measure, Path(folder))


if __name__ == "__main__":
    main()
