"""
The worker processes that check patterns, and their fair use.

A server uses one process at a time.  The next check is that of the server,
and within it of the user, that used the least time.  The patterns of a server
that has used up its budget are not checked until it is refilled.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from mcp_elicit_client.core.budgets import Budgets, UserAndServer
from mcp_elicit_client.core.validation.pattern_process import PatternProcess, PatternResult

MAX_PROCESSES = 4
"""The maximum number of processes.  Each is started when needed, and kept."""

JOB_TIMEOUT = 0.5
"""The processor time that all checks of one answer may take together, in seconds."""

USER_BUDGET = 2.0
"""The processor time that the patterns of one server may take for one user within `REFILL_TIME`, in seconds."""

SERVER_BUDGET = 8.0
"""The processor time that the patterns of one server may take for all users within `REFILL_TIME`, in seconds."""

REFILL_TIME = 60.0
"""The time in which an empty budget is refilled, in seconds."""

MAX_WAIT = 15.0
"""The time after which the patterns of an answer are no longer checked, in seconds: many servers have patterns."""

PatternCheck: TypeAlias = tuple[str, str]
"""An ECMAScript pattern, and the text in which a match is searched."""


class PatternJob:
    """
    The checks of one answer.

    Args:
        checks: What to check, at least one.
        user_and_server: The user and server whose budgets are used.
        when_done: Called once, in some thread, when nothing is left to check.

    Attributes:
        submitted_at: When it was submitted, on a monotonic clock.
        results: The results so far, in the order of the checks.
        seconds: The processor time that was used.
        is_abandoned: True if the results are not needed anymore.
    """

    def __init__(
        self, checks: Sequence[PatternCheck], user_and_server: UserAndServer, when_done: Callable[[], object]
    ) -> None:
        self.checks: Sequence[PatternCheck] = checks
        self.user_and_server: UserAndServer = user_and_server
        self.when_done: Callable[[], object] = when_done
        self.submitted_at: float = time.monotonic()
        self.results: list[PatternResult] = []
        self.seconds: float = 0.0
        self.is_abandoned: bool = False

    @property
    def is_done(self) -> bool:
        """True if all checks have results."""
        return len(self.results) == len(self.checks)

    def give_up(self, reason: PatternResult) -> None:
        """Set *reason* as the result of the remaining checks."""
        self.results += [reason] * (len(self.checks) - len(self.results))


class PatternPool:
    """The processes that check patterns, for all threads and event loops of this process."""

    def __init__(self) -> None:
        self._reset()

    def submit(self, job: PatternJob) -> None:
        """
        Check *job*.

        Raises:
            RuntimeError: If there is no process yet, and the system cannot start a thread.
        """
        with self._lock:
            if len(self._waiting) >= self._idle and len(self.processes) < MAX_PROCESSES:
                self._add_process()
            self._waiting.append(job)
            self._changed.notify()

    def warm_up(self) -> None:
        """Start a process if none is running.  Do not wait for it."""
        if not self.processes:
            self.submit(PatternJob([("", "")], (None, ""), when_done=lambda: None))

    def close(self) -> None:
        """Kill the processes."""
        for process in self.processes:
            process.kill()

    def after_fork(self) -> None:
        """Forget the processes and threads, in the child of a fork: they belong to the parent."""
        for process in self.processes:
            process.abandon()
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._waiting: list[PatternJob] = []
        self._served: set[str] = set()
        self._idle = 0
        self.budgets: Budgets = Budgets(per_user=USER_BUDGET, per_server=SERVER_BUDGET, refill_time=REFILL_TIME)
        self.processes: list[PatternProcess] = []

    def _add_process(self) -> None:
        process = PatternProcess()
        try:
            threading.Thread(target=self._work, args=(process,), daemon=True, name="mcp-elicit-patterns").start()
        except RuntimeError:
            if not self.processes:
                raise
        else:
            self.processes.append(process)

    def _work(self, process: PatternProcess) -> None:
        while True:
            job = self._take()
            if not job.is_done:
                result, seconds = process.check(*job.checks[len(job.results)])
                self._give_back(job, result, seconds)
            if job.is_done and not job.is_abandoned:
                job.when_done()

    def _take(self) -> PatternJob:
        """Wait for a job that may be checked now, or is not checked anymore."""
        with self._lock:
            while (job := self._next(time.monotonic())) is None:
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            self._waiting.remove(job)
            if not job.is_done:
                self._served.add(job.user_and_server[1])
            return job

    def _next(self, now: float) -> PatternJob | None:
        """Return the next job; if its budget is used up or it has waited too long, with results."""
        self._waiting = [job for job in self._waiting if not job.is_abandoned]
        late = next((job for job in self._waiting if now - job.submitted_at >= MAX_WAIT), None)
        if late is not None:
            late.give_up(PatternResult.BUSY)
            return late
        ready = [job for job in self._waiting if job.user_and_server[1] not in self._served]
        job = min(ready, key=lambda each: self.budgets.used(each.user_and_server, now), default=None)
        if job is not None and self.budgets.is_used_up(job.user_and_server, now):
            job.give_up(PatternResult.OVER_BUDGET)
        return job

    def _give_back(self, job: PatternJob, result: PatternResult, seconds: float) -> None:
        with self._lock:
            self._served.discard(job.user_and_server[1])
            self.budgets.spend(job.user_and_server, seconds, time.monotonic())
            job.results.append(result)
            job.seconds += seconds
            if job.seconds >= JOB_TIMEOUT:
                job.give_up(PatternResult.BUSY)
            if not job.is_done:
                self._waiting.append(job)
            self._changed.notify_all()


POOL = PatternPool()
atexit.register(POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.after_fork)
