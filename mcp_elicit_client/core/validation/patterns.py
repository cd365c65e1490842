"""
ECMAScript regular expressions of a server, in a process that can be killed.

``regress`` answers as JavaScript does with the flag ``u``, and backtracks as
JavaScript does too: a short pattern can run for ever and a shorter one can
take gigabytes, and no thread can be stopped.  So patterns run in one worker
process, started when the first is needed and used again; it is killed and
replaced when one check takes too long.  What could not be checked is said to
be so, with the reason: it is neither a match nor an error.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import queue
import subprocess
import sys
import threading
import time
from enum import Enum
from pathlib import Path

CHECK_TIMEOUT = 0.25
"""How long one check may take, in seconds of wall time."""

START_TIMEOUT = 3.0
"""How long the worker may take to start, in seconds; it counts for no check."""

EVENT_LOOP_TIMEOUT = 0.08
"""How long all checks of one answer may block a thread that runs an event loop, in seconds."""

MAX_TEXT = 4_096
"""The longest text that is checked, in characters."""


class PatternResult(Enum):
    """What came of a check; its value says why where nothing was checked."""

    MATCH = "it matches"
    NO_MATCH = "it does not match"
    INVALID = "the pattern is not an ECMAScript regular expression"
    TIMEOUT = "the pattern takes too long"
    TEXT_TOO_LONG = f"the text is longer than {MAX_TEXT} characters"
    FAILED = "the process that checks patterns failed"
    BUSY = "there was no time left"

    @property
    def checked(self) -> bool:
        """Whether the server's validator would say the same."""
        return self in (PatternResult.MATCH, PatternResult.NO_MATCH)


_ANSWERS = {b"1": PatternResult.MATCH, b"0": PatternResult.NO_MATCH, b"e": PatternResult.INVALID}


class _Worker:
    """One process, and a thread that waits for its answers."""

    def __init__(self) -> None:
        found = importlib.util.find_spec("regress")
        place = str(Path(found.origin).parent.parent) if found and found.origin else ""
        script = str(Path(__file__).with_name("pattern_worker.py"))
        self.process = subprocess.Popen(  # noqa: S603 -- our own script, no shell
            [sys.executable, "-I", "-S", script, place],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.ready = False
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True, name="mcp-elicit-patterns").start()

    def ask(self, pattern: str, text: str, until: float) -> PatternResult:
        """Check once.  After any outcome but an answer the worker is of no more use."""
        try:
            if not self.ready:
                self.ready = self._answers.get(timeout=max(min(START_TIMEOUT, until - time.monotonic()), 0)) == b"r"
            if not self.ready or self.process.stdin is None:
                return PatternResult.FAILED
            self.process.stdin.write(json.dumps([pattern, text]).encode() + b"\n")
            self.process.stdin.flush()
            answer = self._answers.get(timeout=max(min(CHECK_TIMEOUT, until - time.monotonic()), 0))
        except queue.Empty:
            return PatternResult.TIMEOUT if self.ready else PatternResult.BUSY
        except OSError:
            return PatternResult.FAILED
        return _ANSWERS.get(answer, PatternResult.FAILED)

    def kill(self) -> None:
        """End the process now, and leave nothing of it."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):  # it broke with the process, and is closed all the same
                if pipe is not None:
                    pipe.close()

    def abandon(self) -> None:
        """Forget the process, in the child of a fork, to whose parent it belongs."""
        self.process.returncode = 0

    def _listen(self) -> None:
        pipe = self.process.stdout
        while pipe is not None:
            try:
                answer = pipe.read(1)
            except (OSError, ValueError):
                answer = b""
            self._answers.put(answer)
            if not answer:
                return


class _Pool:
    """The one worker of this process, for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: _Worker | None = None

    def ask(self, pattern: str, text: str, timeout: float) -> PatternResult:
        until = time.monotonic() + timeout
        if not self._lock.acquire(timeout=timeout):
            return PatternResult.BUSY
        try:
            worker = self._alive()
            if worker is None:
                return PatternResult.FAILED
            outcome = worker.ask(pattern, text, until)
            if outcome in (PatternResult.TIMEOUT, PatternResult.FAILED):
                worker.kill()
                self._worker = _start()
            return outcome
        finally:
            self._lock.release()

    def warm_up(self) -> None:
        if self._lock.acquire(blocking=False):
            try:
                self._alive()
            finally:
                self._lock.release()

    def close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()

    def after_fork(self) -> None:
        worker, self._worker = self._worker, None
        self._lock = threading.Lock()
        if worker is not None:
            worker.abandon()

    def _alive(self) -> _Worker | None:
        if self._worker is not None and self._worker.process.poll() is not None:
            self._worker.kill()
            self._worker = None
        if self._worker is None:
            self._worker = _start()
        return self._worker


def _start() -> _Worker | None:
    if not sys.executable:  # embedded in a program that is no Python
        return None
    try:
        return _Worker()
    except OSError:
        return None


_pool = _Pool()
atexit.register(_pool.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.after_fork)


class TimeBudget:
    """
    How much time the checks of one answer have together.

    A thread that runs an event loop must not wait long: there it is
    `IN_LOOP`; elsewhere two timed-out checks and a start.
    """

    def __init__(self) -> None:
        self._until = time.monotonic() + (EVENT_LOOP_TIMEOUT if _runs_a_loop() else START_TIMEOUT + 2 * CHECK_TIMEOUT)

    def check(self, pattern: str, text: str) -> PatternResult:
        """Check whether *text* contains a match of *pattern*, if there is time left."""
        if len(text) > MAX_TEXT:
            return PatternResult.TEXT_TOO_LONG
        left = self._until - time.monotonic()
        if left <= 0:
            return PatternResult.BUSY
        outcome = _pool.ask(pattern, text, left)
        if outcome is PatternResult.TIMEOUT:
            # One pattern that takes too long is an attack or a mistake: the others get one more chance, together.
            self._until = min(self._until, time.monotonic() + CHECK_TIMEOUT)
        return outcome


def check_pattern(pattern: str, text: str) -> PatternResult:
    """
    Check whether *text* contains a match of an ECMAScript *pattern*, with the flag ``u``.

    It returns in 0.25 s once the worker runs.  In a thread that runs an
    event loop it gives up after 0.08 s: there, run it in another thread
    (``anyio.to_thread.run_sync``), as the callbacks of this package do.
    """
    return TimeBudget().check(pattern, text)


def warm_up() -> None:
    """Start the worker, if it does not run, without waiting for it."""
    _pool.warm_up()


def _runs_a_loop() -> bool:
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None and asyncio._get_running_loop() is not None:  # noqa: SLF001 -- the documented one raises
        return True
    trio = sys.modules.get("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_run())
