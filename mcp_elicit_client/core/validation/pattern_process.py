"""
A process that runs a server's regular expressions and can be killed.

``regress`` matches as JavaScript does with the flag ``u``, and like JavaScript
it backtracks: a short pattern can run forever or take gigabytes, and a thread
cannot be stopped.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import queue
import signal
import struct
import subprocess
import sys
import threading
from enum import Enum
from pathlib import Path

CHECK_TIMEOUT = 0.25
"""The maximum processor time of one check, in seconds.  Where it cannot be limited, it is the maximum wall time."""

WALL_TIMEOUT = 5.0
"""The maximum wall time of one check, in seconds, on a machine that is too busy to run it."""

START_TIMEOUT = 10.0
"""The maximum time to start the process, in seconds.  It does not count as time of a check."""

MAX_TEXT = 4_096
"""The longest text that is checked, in characters."""


class PatternResult(Enum):
    """The result of a check.  If the pattern could not be checked, the value is the reason."""

    MATCH = "it matches"
    NO_MATCH = "it does not match"
    INVALID = "the pattern is not an ECMAScript regular expression"
    TIMEOUT = "the pattern takes too long"
    TEXT_TOO_LONG = f"the text is longer than {MAX_TEXT} characters"
    FAILED = "the process that checks patterns failed"
    BUSY = "there was no time left"
    OVER_BUDGET = "the patterns of this server took too much time"

    @property
    def checked(self) -> bool:
        """True if the pattern was checked: the server would get the same result."""
        return self in (PatternResult.MATCH, PatternResult.NO_MATCH)


_HAS_TIMER = hasattr(signal, "setitimer")
_REPLY_TIMEOUT = WALL_TIMEOUT if _HAS_TIMER else CHECK_TIMEOUT

REPLY = struct.Struct("<cI")
"""What the process writes after a check: the result, and the processor time in microseconds."""

_RESULTS = {b"1": PatternResult.MATCH, b"0": PatternResult.NO_MATCH, b"e": PatternResult.INVALID}


class PatternProcess:
    """
    One process, started when needed and again after it was killed.  Used by one thread.
    """

    def __init__(self) -> None:
        self._has_checked = False
        self._process: subprocess.Popen[bytes] | None = None
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    @property
    def pid(self) -> int | None:
        """The ID of the process, if it runs."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def check(self, pattern: str, text: str) -> tuple[PatternResult, float]:
        """
        Check whether *text* contains a match of *pattern*; also return the processor time, in seconds.

        If the process dies, a new one repeats the check: the cause may be the
        pattern of another server, which the process checked before.
        """
        if len(text) > MAX_TEXT:
            return PatternResult.TEXT_TOO_LONG, 0.0
        result, seconds = self._check_once(pattern, text)
        if result is PatternResult.FAILED and self._has_checked:
            result, seconds = self._check_once(pattern, text)
        self._has_checked = result is not PatternResult.FAILED
        return result, seconds

    def _check_once(self, pattern: str, text: str) -> tuple[PatternResult, float]:
        try:
            process = self._running()
            assert process.stdin is not None
            process.stdin.write(json.dumps([pattern, text]).encode() + b"\n")
            process.stdin.flush()
            result, microseconds = REPLY.unpack(self._replies.get(timeout=_REPLY_TIMEOUT))
        except queue.Empty:
            self.kill()
            return PatternResult.TIMEOUT, CHECK_TIMEOUT
        except (OSError, RuntimeError, struct.error):  # it or its thread did not start, or it died
            is_timeout = self._ended_by_timer()
            self.kill()
            return PatternResult.TIMEOUT if is_timeout else PatternResult.FAILED, CHECK_TIMEOUT
        return _RESULTS.get(result, PatternResult.FAILED), microseconds / 1e6

    def _ended_by_timer(self) -> bool:
        if self._process is None or not _HAS_TIMER:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(START_TIMEOUT) == -signal.SIGPROF
        return False

    def kill(self) -> None:
        """End the process now, and close its pipes."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # a pipe that broke with the process is closed as well
                if pipe is not None:
                    pipe.close()

    def abandon(self) -> None:
        """Forget the process, in the child of a fork: it belongs to the parent."""
        process, self._process = self._process, None
        if process is not None:
            process.returncode = 0

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.kill()
        self._process = process = _start()
        replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._replies = replies
        threading.Thread(target=_listen, args=(process, replies), daemon=True, name="mcp-elicit-patterns").start()
        with contextlib.suppress(queue.Empty):
            if replies.get(timeout=START_TIMEOUT) == b"r" * REPLY.size:
                return process
        raise OSError("the process that checks patterns did not start")


def _listen(process: subprocess.Popen[bytes], replies: queue.SimpleQueue[bytes]) -> None:
    reply = b"?"
    while reply and process.stdout is not None:
        try:
            reply = process.stdout.read(REPLY.size)
        except (OSError, ValueError):  # it was closed
            reply = b""
        replies.put(reply)


def _start() -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise OSError("this program is embedded in another one, so there is no Python interpreter to start")
    found = importlib.util.find_spec("regress")
    directory = str(Path(found.origin).parent.parent) if found and found.origin else ""
    script = str(Path(__file__).with_name("pattern_worker.py"))
    return subprocess.Popen(  # noqa: S603 -- a script of this package, no shell
        [sys.executable, "-I", "-S", script, directory],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
