"""
Runs scenarios in another process: one that hangs is stopped, one that crashes is reported.

That process is `mcp_elicit_client.testing.scenario_process`.  Only it loads
the SDK and the callback.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_elicit_client.check.results import Outcome, ScenarioResult, crashed
from mcp_elicit_client.check.scenarios import SCENARIOS, Delivery
from mcp_elicit_client.check.settings import ANSWER_TIMEOUT, SCENARIO_TIMEOUT, SILENCE, CallbackShape

_START_TIMEOUT = 120.0
"""Maximum seconds until a scenario starts: the callback is imported first."""

_AFTER_STOP = "Make the callback return when the user has answered, or raise --scenario-timeout."
_PROCESS = "mcp_elicit_client.testing.scenario_process"


class LoadError(Exception):
    """The callback or the user hook cannot be loaded.  The text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRunner:
    """
    Runs scenarios on one callback.

    Attributes:
        callback: ``MODULE:CALLABLE`` or ``FILE.py:CALLABLE``.
        user: The user hook, in the same form, or None.
        shape: The parameters of the callback.
        server: The server name that the callback shows.
        scenarios: The names of the scenarios; None for all.
        answer_timeout: Maximum seconds for one answer.
        scenario_timeout: Maximum seconds for one scenario.
        silence: Seconds for which scenarios with a silent user watch the
            callback, in addition to the time for one scenario.
        python: The Python interpreter, so that a callback can be tested in
            its own environment.
        versions: The versions in that environment, by package; filled in
            before the first result.
        deliveries: The deliveries that the SDK in that environment supports;
            filled in before the first result.
    """

    callback: str
    user: str | None = None
    shape: CallbackShape = "sdk"
    server: str = "fake-server"
    scenarios: Sequence[str] | None = None
    answer_timeout: float = ANSWER_TIMEOUT
    scenario_timeout: float = SCENARIO_TIMEOUT
    silence: float = SILENCE
    python: str = sys.executable
    versions: dict[str, str] = field(default_factory=dict)
    deliveries: list[Delivery] = field(default_factory=list)

    def results(self) -> Iterator[ScenarioResult]:
        """
        Run the scenarios; yield one result for each, as soon as it is known.

        Raises:
            LoadError: If the callback or the user hook cannot be loaded.
        """
        remaining = list(SCENARIOS if self.scenarios is None else self.scenarios)
        # The temporary files of a stopped process are removed with this directory.
        with tempfile.TemporaryDirectory(prefix="mcp-elicit-", ignore_cleanup_errors=True) as folder:
            while remaining:
                for result in self._run_until_stopped(remaining, folder):
                    remaining.remove(result.scenario)
                    yield result

    def _run_until_stopped(self, names: Sequence[str], folder: str) -> Iterator[ScenarioResult]:
        """
        Run scenarios in one process until all are done, or one of them hangs or crashes.

        The end of its output is not awaited: processes that a callback forked
        may keep it open.
        """
        job = {
            "callback": self.callback,
            "user": self.user,
            "shape": self.shape,
            "server": self.server,
            "scenarios": list(names),
            "answer_timeout": self.answer_timeout,
            "silence": self.silence,
        }
        unfinished = set(names)
        pending: dict[str, float] = {}  # the scenarios that are running, and when they are stopped
        is_loaded = False
        with _output_lines([self.python, "-m", _PROCESS, json.dumps(job)], folder) as lines:
            while unfinished:
                try:
                    line = lines.get(timeout=self._seconds_left(pending))
                except queue.Empty:
                    if not is_loaded:
                        raise LoadError(f"The import of {self.callback} takes too long.") from None
                    yield from (self._stopped(name) for name, end in pending.items() if end <= time.monotonic())
                    return
                if line is None:
                    yield from map(crashed, pending)
                    if not is_loaded:
                        raise LoadError(f"The process ended while it imported {self.callback}.")
                    return
                event = json.loads(line)
                if "error" in event:
                    raise LoadError(event["error"])
                if "versions" in event:
                    is_loaded = True
                    self.versions.update(event["versions"])
                    self.deliveries[:] = event["deliveries"]
                elif "result" in event:
                    result = ScenarioResult(**event["result"])
                    del pending[result.scenario]
                    unfinished.remove(result.scenario)
                    yield result
                else:
                    pending[event["started"]] = time.monotonic() + self._timeout(event["started"])

    def _seconds_left(self, pending: Mapping[str, float]) -> float:
        """Return the seconds until the first of the scenarios is stopped, or until one has to start."""
        return max(0.0, min(pending.values()) - time.monotonic()) if pending else _START_TIMEOUT

    def _timeout(self, name: str) -> float:
        return self.scenario_timeout + (self.silence * len(self.deliveries) if SCENARIOS[name].silent else 0)

    def _stopped(self, name: str) -> ScenarioResult:
        outcome: Outcome = "fail" if SCENARIOS[name].hang_fails else "inconclusive"
        seconds = self._timeout(name)
        return ScenarioResult(
            scenario=name,
            outcome=outcome,
            reason=f"The scenario was stopped after {seconds:g} s.",
            next_step=_AFTER_STOP if outcome == "inconclusive" else "",
            seconds=seconds,
        )


@contextlib.contextmanager
def _output_lines(command: Sequence[str], folder: str) -> Iterator[queue.SimpleQueue[bytes | None]]:
    """Run *command*, with its temporary files in *folder*, until the block ends; yield its lines, then None."""
    process = subprocess.Popen(  # noqa: S603 -- this module, in the interpreter that the caller names
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)},
    )
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    reader = threading.Thread(target=_read_lines, args=(process.stdout, lines), daemon=True)
    reader.start()
    try:
        yield lines
    finally:
        _kill(process)
        reader.join()


def _read_lines(stream: Any, lines: queue.SimpleQueue[bytes | None]) -> None:
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
