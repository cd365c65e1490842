"""
ECMAScript patterns of text fields, checked in a process that can be killed.

``regress`` matches as JavaScript does with the flag ``u``, and like JavaScript
it backtracks: a short pattern can run forever or take gigabytes, and a thread
cannot be stopped.  Patterns therefore run in one worker process, which is
started at first use, reused, and replaced when a check takes too long.  A
pattern that could not be checked is reported with the reason: that is neither
a match nor an error.
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
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Field, Form, text_constraints, texts_of
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation.field_errors import FieldError, field_error

CHECK_TIMEOUT = 0.25
"""Maximum wall time of one check, in seconds."""

START_TIMEOUT = 3.0
"""Maximum time to start the worker, in seconds.  It does not count as time of a check."""

EVENT_LOOP_TIMEOUT = 0.08
"""Maximum time in seconds for all checks of one answer in a thread that runs an event loop."""

MAX_TEXT = 4_096
"""The longest text that is checked, in characters."""

_MAX_PATTERN_SHOWN = 80


class PatternResult(Enum):
    """The result of a check.  If the pattern could not be checked, the value is the reason."""

    MATCH = "it matches"
    NO_MATCH = "it does not match"
    INVALID = "the pattern is not an ECMAScript regular expression"
    TIMEOUT = "the pattern takes too long"
    TEXT_TOO_LONG = f"the text is longer than {MAX_TEXT} characters"
    FAILED = "the process that checks patterns failed"
    BUSY = "there was no time left"

    @property
    def checked(self) -> bool:
        """True if the pattern was checked: the server would get the same result."""
        return self in (PatternResult.MATCH, PatternResult.NO_MATCH)


# --- patterns of a form


def match_patterns(form: Form, content: Mapping[str, Any]) -> tuple[tuple[FieldError, ...], tuple[Diagnostic, ...]]:
    """Return an error for each field whose pattern does not match, and the patterns that could not be checked."""
    budget = TimeBudget()
    mismatched: list[FieldError] = []
    unchecked: list[Diagnostic] = []
    for field in form.fields:
        text = text_constraints(field)
        if text is None or field.name not in content:
            continue
        if text.pattern_skipped:
            unchecked.append(_not_checked(field, text.pattern_skipped))
        if text.pattern is None or text.pattern_skipped:
            continue
        results = dict.fromkeys(budget.check(text.pattern, each) for each in texts_of(content[field.name]))
        if PatternResult.NO_MATCH in results:
            shown = sanitize_text(text.pattern, limit=_MAX_PATTERN_SHOWN, multiline=False)
            mismatched.append(field_error(field.name, "pattern", pattern=shown))
        unchecked += (_not_checked(field, result.value) for result in results if not result.checked)
    return tuple(mismatched), tuple(unchecked)


def settle_defaults(form: Form) -> tuple[Form, tuple[Diagnostic, ...]]:
    """
    Check the defaults of fields with a pattern.  Matching ones become `default`, the others are dropped.

    If the form has patterns, the worker process is started, so that it is
    ready when the answer is checked.
    """
    if not form.has_patterns:
        return form, ()
    warm_up()
    defaults = {field.name: getattr(field, "unchecked_default", None) for field in form.fields}
    unchecked = {name: default for name, default in defaults.items() if default is not None}
    if not unchecked:
        return form, ()
    mismatched, _ = match_patterns(form, unchecked)
    wrong = [error.field for error in mismatched]
    matching = {name: default for name, default in unchecked.items() if name not in wrong}
    fields = tuple(
        field.model_copy(update={"default": matching.get(field.name), "unchecked_default": None})
        if field.name in unchecked
        else field
        for field in form.fields
    )
    message = "its default does not match its pattern"
    dropped = tuple(Diagnostic(code="default_dropped", message=message, field=name) for name in wrong)
    return form.model_copy(update={"fields": fields}), dropped


def _not_checked(field: Field, reason: str) -> Diagnostic:
    return Diagnostic(code="pattern_not_checked", message=reason, field=field.name)


# --- one check


class TimeBudget:
    """
    The time that all checks of one answer may take together.

    In a thread that runs an event loop that is `EVENT_LOOP_TIMEOUT`.
    Elsewhere it is enough to start the worker and for two checks that time
    out.
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
        result = _pool.check(pattern, text, left)
        if result is PatternResult.TIMEOUT:
            # After the first pattern timeout, the remaining patterns share one time budget.
            self._until = min(self._until, time.monotonic() + CHECK_TIMEOUT)
        return result


def check_pattern(pattern: str, text: str) -> PatternResult:
    """
    Check whether *text* contains a match of an ECMAScript *pattern*, with the flag ``u``.

    This takes at most 0.25 s once the worker runs.  In a thread that runs an
    event loop it takes at most 0.08 s: call it in another thread
    (``anyio.to_thread.run_sync``), as the callbacks of this package do.
    """
    return TimeBudget().check(pattern, text)


def warm_up() -> None:
    """Start the worker if it does not run.  Do not wait for it."""
    _pool.warm_up()


def _runs_a_loop() -> bool:
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None and asyncio._get_running_loop() is not None:  # noqa: SLF001 -- the public function raises
        return True
    trio = sys.modules.get("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_run())


# --- the worker process

_RESULTS = {b"1": PatternResult.MATCH, b"0": PatternResult.NO_MATCH, b"e": PatternResult.INVALID}


class _Worker:
    """One process, and a thread that reads its results."""

    def __init__(self) -> None:
        found = importlib.util.find_spec("regress")
        site_packages = str(Path(found.origin).parent.parent) if found and found.origin else ""
        script = str(Path(__file__).with_name("pattern_worker.py"))
        self.process = subprocess.Popen(  # noqa: S603 -- a script of this package, no shell
            [sys.executable, "-I", "-S", script, site_packages],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.ready = False
        self._results: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True, name="mcp-elicit-patterns").start()

    def check(self, pattern: str, text: str, until: float) -> PatternResult:
        """Check once.  After a timeout or a failure, the worker must be replaced."""
        try:
            if not self.ready:
                self.ready = self._results.get(timeout=max(min(START_TIMEOUT, until - time.monotonic()), 0)) == b"r"
            if not self.ready or self.process.stdin is None:
                return PatternResult.FAILED
            self.process.stdin.write(json.dumps([pattern, text]).encode() + b"\n")
            self.process.stdin.flush()
            result = self._results.get(timeout=max(min(CHECK_TIMEOUT, until - time.monotonic()), 0))
        except queue.Empty:
            return PatternResult.TIMEOUT if self.ready else PatternResult.BUSY
        except OSError:
            return PatternResult.FAILED
        return _RESULTS.get(result, PatternResult.FAILED)

    def kill(self) -> None:
        """End the process now, and close its pipes."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):  # a pipe that broke with the process is closed as well
                if pipe is not None:
                    pipe.close()

    def abandon(self) -> None:
        """Forget the process, in the child of a fork: it belongs to the parent."""
        self.process.returncode = 0

    def _listen(self) -> None:
        pipe = self.process.stdout
        while pipe is not None:
            try:
                result = pipe.read(1)
            except (OSError, ValueError):
                result = b""
            self._results.put(result)
            if not result:
                return


class _Pool:
    """The one worker of this process, shared by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: _Worker | None = None

    def check(self, pattern: str, text: str, timeout: float) -> PatternResult:
        until = time.monotonic() + timeout
        if not self._lock.acquire(timeout=timeout):
            return PatternResult.BUSY
        try:
            worker = self._alive()
            if worker is None:
                return PatternResult.FAILED
            result = worker.check(pattern, text, until)
            if result in (PatternResult.TIMEOUT, PatternResult.FAILED):
                worker.kill()
                self._worker = _start()
            return result
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
    if not sys.executable:  # embedded in a program that is not Python
        return None
    try:
        return _Worker()
    except OSError:
        return None


_pool = _Pool()
atexit.register(_pool.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.after_fork)
