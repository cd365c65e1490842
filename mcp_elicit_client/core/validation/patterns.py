"""
Checks of ECMAScript regular expressions.

What needs such checks is written once, as a generator that yields the checks
and is sent their results (`PatternSteps`), and run with or without an event
loop.  What could not be checked is said to be so, with the reason: it is
neither a match nor an error.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator, Sequence
from typing import TypeAlias, TypeVar

from mcp_elicit_client.core.validation.pattern_pool import POOL, PatternCheck, PatternJob, UserAndServer
from mcp_elicit_client.core.validation.pattern_process import START_TIMEOUT, PatternResult

T = TypeVar("T")

PatternSteps: TypeAlias = Generator[Sequence[PatternCheck], Sequence[PatternResult], T]
"""Yields checks, at least one at a time, is sent their results, and returns what follows from them."""

EVENT_LOOP_TIMEOUT = 0.08
"""The time that a thread that runs an event loop is blocked at most, in seconds."""

ANYONE: UserAndServer = (None, "")
"""Whose budget pays for checks that a host application asks for itself."""


def run_steps(steps: PatternSteps[T], user_and_server: UserAndServer = ANYONE) -> T:
    """
    Run *steps*; wait for the results of patterns.

    A thread that runs an event loop is blocked for at most 0.08 s.  What was
    not checked by then is left unchecked.
    """
    try:
        checks = next(steps)
        while True:
            checks = steps.send(check_patterns(checks, user_and_server))
    except StopIteration as end:
        result: T = end.value
        return result


def check_patterns(checks: Sequence[PatternCheck], user_and_server: UserAndServer = ANYONE) -> Sequence[PatternResult]:
    """Run *checks*; see `run_steps`."""
    done = threading.Event()
    job = PatternJob(checks, user_and_server, done.set)
    POOL.submit(job)
    if not done.wait(EVENT_LOOP_TIMEOUT if _runs_a_loop() else 2 * START_TIMEOUT):
        job.is_abandoned = True
    results = job.results[:]
    return results + [PatternResult.BUSY] * (len(checks) - len(results))


def _runs_a_loop() -> bool:
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None and asyncio._get_running_loop() is not None:  # noqa: SLF001 -- the documented one raises
        return True
    trio = sys.modules.get("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_run())
