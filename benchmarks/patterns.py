"""
What hostile patterns cost: time, the event loop's gap, the worker's memory.

Run from the checkout: ``python -m benchmarks.patterns [SEED]``.  Bars: a check
ends in 0.5 s, the event loop is never away for more than 0.1 s, the worker
stays below 256 MiB, and the check after it works.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from pathlib import Path

from mcp_elicit_client.core.validation.pattern_pool import POOL
from mcp_elicit_client.core.validation.pattern_process import PatternResult
from mcp_elicit_client.core.validation.patterns import check_patterns
from tests.core.test_patterns import HOSTILE

FUZZ = 200
PIECES = [
    *"ab01.^$|()[]{}*+?\\",
    "(?:",
    "(?=",
    "(?<!",
    "\\w",
    "\\p{L}",
    "{1,50}",
    "*)*",
    "+)+",
    "\\1",
    "[^a]",
    "(a|a)*",
]


class Watch:
    """Looks at the clock and at the worker as often as the event loop lets it."""

    def __init__(self) -> None:
        self.gap = 0.0
        self.memory = 0

    async def run(self) -> None:
        """Go on until cancelled."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            self.gap = max(self.gap, time.perf_counter() - before)
            self.memory = max(self.memory, resident())


def resident() -> int:
    """Return the most memory that a worker has had, in MiB; 0 where that is not known."""
    return max((_resident(process.pid) for process in POOL.processes if process.pid is not None), default=0)


def _resident(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)


def check_pattern(pattern: str, text: str) -> PatternResult:
    """Check one pattern as a server of its own, so that no budget is used up."""
    return check_patterns([(pattern, text)], (None, pattern))[0]


async def main() -> int:
    """Print a line for each pattern that is no fuzz, and the worst of all; fail above a bar."""
    chosen = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)  # noqa: S311
    fuzz = {
        f"fuzz {at}": ("".join(chosen.choices(PIECES, k=200))[:512], "".join(chosen.choices("ab01!", k=1_024)))
        for at in range(FUZZ)
    }
    watch = Watch()
    watching = asyncio.create_task(watch.run())
    await asyncio.to_thread(check_pattern, "a", "a")
    slowest = 0.0
    broken = 0
    for name, (pattern, text) in (HOSTILE | fuzz).items():
        begin = time.perf_counter()
        outcome = await asyncio.to_thread(check_pattern, pattern, text)
        took = time.perf_counter() - begin
        slowest = max(slowest, took)
        broken += await asyncio.to_thread(check_pattern, "^a", "abc") is not PatternResult.MATCH
        if name in HOSTILE:
            print(f"{took * 1000:7.1f} ms  {name}: {outcome.value}")
    watching.cancel()
    print(f"slowest check {slowest:.3f} s (bar 0.5), of {len(HOSTILE)} patterns and {FUZZ} of fuzz")
    print(f"longest gap of the event loop {watch.gap:.3f} s (bar 0.1)")
    print(f"most memory of the worker {watch.memory} MiB (bar 256)")
    print(f"checks that failed after a hostile one: {broken} (bar 0)")
    return 1 if slowest > 0.5 or watch.gap > 0.1 or watch.memory > 256 or broken else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
