"""
What one event of the audit log costs, beside the plainest log there is.

Run from the checkout: ``python -m benchmarks.audit [FOLDER]``.  The baseline
is ``json.dumps`` of the same event and one ``os.write``; rounds are
interleaved, and each figure is the median.  The bar is 50 us for a form of
three fields that is accepted, without fsync.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from mcp_elicit_client import Answer, parse_request
from mcp_elicit_client.audit import AuditLog, verify
from mcp_elicit_client.typing import Request
from tests.support import form_params

BAR = 50e-6
EVENTS = 500
ROUNDS = 21
KINDS: list[dict[str, Any]] = [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}]
VALUES: list[Any] = ["Ada", 36, True]
BARRED = "a form of 3 fields, accepted"


def form(count: int) -> tuple[Request, Answer]:
    """Make a form of *count* fields, and an answer to it."""
    properties = {f"field{at}": {"title": f"Title {at}", **KINDS[at % 3]} for at in range(count)}
    content = {f"field{at}": VALUES[at % 3] for at in range(count)}
    params = form_params({"properties": properties}, message="Please tell us more about the guests. " * 3)
    request = parse_request(params, server="hotel", protocol_version="2025-11-25", tool="book", request_id=7)
    return request, Answer.accept(content, by="user", sources=dict.fromkeys(content, "user"))


URL = parse_request(
    {"mode": "url", "message": "Please pay.", "url": "https://pay.example.com/?id=1", "elicitationId": "e1"},
    server="hotel",
)
CASES: dict[str, tuple[Request, Answer]] = {
    "a URL, declined": (URL, Answer.decline(by="user")),
    "a form of 3 fields, declined": (form(3)[0], Answer.decline(by="user")),
    BARRED: form(3),
    "a form of 8 fields, accepted": form(8),
    "a form of 64 fields, accepted": form(64),
}


def finish(question: Coroutine[Any, Any, Answer]) -> None:
    """Run what never waits."""
    try:
        question.send(None)
    except StopIteration:
        return
    raise AssertionError


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that *work* takes once."""
    begin = time.perf_counter()
    for _ in range(EVENTS):
        work()
    return (time.perf_counter() - begin) / EVENTS


def measure(folder: Path, request: Request, answer: Answer) -> dict[str, float]:
    """Time one case; return the medians, in seconds."""
    log = AuditLog(folder / "audit.jsonl", max_bytes=10**9)
    descriptor = os.open(folder / "plain.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def handler(_request: Request) -> Answer:
        return answer

    asked: Any = log.policy(handler)
    finish(asked(request))
    event = json.loads((folder / "audit.jsonl").read_bytes().splitlines()[-1])
    bare: Any = handler
    jobs: dict[str, Callable[[], object]] = {
        "unlogged": lambda: finish(bare(request)),
        "logged": lambda: finish(asked(request)),
        "plain": lambda: os.write(descriptor, json.dumps(event).encode() + b"\n"),
    }
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            found[name].append(seconds(job))
    os.close(descriptor)
    medians = {name: statistics.median(each) for name, each in found.items()}
    size = (folder / "audit.jsonl").stat().st_size / verify(folder / "audit.jsonl").events
    return {"event": medians["logged"] - medians["unlogged"], "plain": medians["plain"], "size": size}


def main() -> int:
    """Print a line for each case; fail if the bar is missed."""
    missed = 0
    for name, (request, answer) in CASES.items():
        with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
            found = measure(Path(folder), request, answer)
        is_missed = name == BARRED and found["event"] > BAR
        missed += is_missed
        print(
            f"{found['event'] * 1e6:7.1f} us  {found['event'] / found['plain']:5.1f} x json.dumps and write "
            f"({found['plain'] * 1e6:.1f} us)  {found['size']:6.0f} bytes  {name}{'  MISSED' if is_missed else ''}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
