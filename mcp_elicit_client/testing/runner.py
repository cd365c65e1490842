"""
Runs scenarios in another process: one that hangs is stopped, one that crashes is reported.

``python -m mcp_elicit_client.testing.runner JSON`` is that process.  It runs
the scenarios that the JSON names and writes what happens to standard output,
one JSON object per line.  Where the system can fork, each scenario has its
own process, so that a callback keeps no state between scenarios.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import platform
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any, TextIO, TypeAlias

import anyio

from mcp_elicit_client._concurrency import leaf_errors
from mcp_elicit_client.testing.callback_under_test import CallbackShape, LoadError, load_callback
from mcp_elicit_client.testing.fake_server import DELIVERIES, Delivery
from mcp_elicit_client.testing.results import ANSWER_TIMEOUT, Outcome, ScenarioResult, run_scenario, worst_result
from mcp_elicit_client.testing.scenario_run import SILENCE
from mcp_elicit_client.testing.scenarios import SCENARIOS, Scenario

SCENARIO_TIMEOUT = 30.0
"""The default of the maximum seconds for one scenario."""

_START_TIMEOUT = 120.0
"""Maximum seconds until a scenario starts: the callback is imported first."""

_CRASHED = 70
_AFTER_STOP = "Make the callback return when the user has answered, or raise --scenario-timeout."
_MAX_RESULT = 65_536
_POLL_INTERVAL = 0.02
_CAN_FORK = hasattr(os, "fork")
_AT_ONCE = min(os.cpu_count() or 1, 4)


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
        with _output_lines([self.python, "-m", __name__, json.dumps(job)], folder) as lines:
            while unfinished:
                try:
                    line = lines.get(timeout=self._seconds_left(pending))
                except queue.Empty:
                    if not is_loaded:
                        raise LoadError(f"The import of {self.callback} takes too long.") from None
                    yield from (self._stopped(name) for name, end in pending.items() if end <= time.monotonic())
                    return
                if line is None:
                    yield from map(_crashed, pending)
                    if not is_loaded:
                        raise LoadError(f"The process ended while it imported {self.callback}.")
                    return
                event = json.loads(line)
                if "error" in event:
                    raise LoadError(event["error"])
                if "versions" in event:
                    is_loaded = True
                    self.versions.update(event["versions"])
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
        return self.scenario_timeout + (self.silence * len(DELIVERIES) if SCENARIOS[name].silent else 0)

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


# --- the other process


def main(job: dict[str, Any]) -> int:
    """Run the scenarios of *job*, write what happens to standard output, and return the exit status."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    warnings.simplefilter("ignore")
    logging.raiseExceptions = False
    try:
        under_test = load_callback(job["callback"], user=job["user"], shape=job["shape"], server=job["server"])
    except LoadError as error:
        _write(events, {"error": str(error)})
        return 2
    _write(events, {"versions": installed_versions(job["callback"])})
    scenarios = [SCENARIOS[name] for name in job["scenarios"]]
    run = functools.partial(run_scenario, under_test, answer_timeout=job["answer_timeout"], silence=job["silence"])
    run_all = _run_in_processes if _CAN_FORK else _run_in_turn
    for event in run_all(run, scenarios):
        _write(events, event)
    return 0


def installed_versions(callback: str) -> dict[str, str]:
    """Return the versions of this package, the SDK, Python, the system, and the package of *callback*."""
    packages = ["mcp-elicit-client", "mcp", *metadata.packages_distributions().get(re.split("[.:]", callback)[0], [])]
    found = {}
    for name in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return {**found, "python": platform.python_version(), "platform": platform.platform()}


_Event: TypeAlias = dict[str, Any]
_Run: TypeAlias = Callable[..., Awaitable[ScenarioResult]]
"""`run_scenario` for the callback under test."""


def _run_in_turn(run: _Run, scenarios: Sequence[Scenario]) -> Iterator[_Event]:
    for each in scenarios:
        yield {"started": each.name}
        yield {"result": asdict(anyio.run(run, each.name))}


def _run_in_processes(run: _Run, scenarios: Sequence[Scenario]) -> Iterator[_Event]:
    """
    Run *scenarios*, each in a separate process, as many at the same time as there are processors.

    Scenarios with a silent user do nothing but wait, so they all start at
    first, with a process for each delivery.
    """
    waiting = sorted(scenarios, key=lambda each: not each.silent)
    running: list[_Child] = []
    found: dict[str, list[ScenarioResult]] = {}
    while waiting or running:
        while waiting and (waiting[0].silent or sum(not each.scenario.silent for each in running) < _AT_ONCE):
            scenario = waiting.pop(0)
            yield {"started": scenario.name}
            running += [_Child(run, scenario, each) for each in _deliveries_at_once(scenario)]
        ended = [each for each in running if each.has_ended()]
        for child in ended:
            running.remove(child)
            results = found.setdefault(child.scenario.name, [])
            results.append(child.result())
            if len(results) == len(_deliveries_at_once(child.scenario)):
                yield {"result": asdict(worst_result(results))}
        if not ended:
            time.sleep(_POLL_INTERVAL)


def _deliveries_at_once(scenario: Scenario) -> list[Sequence[Delivery]]:
    return [[each] for each in DELIVERIES] if scenario.silent else [DELIVERIES]


class _Child:
    """A process that runs one scenario, with each of *deliveries*."""

    def __init__(self, run: _Run, scenario: Scenario, deliveries: Sequence[Delivery]) -> None:
        self.scenario = scenario
        self._has_crashed = False
        self._reader, writer = os.pipe()
        self._process = os.fork()
        if self._process:
            os.close(writer)
            return
        status = _CRASHED
        try:
            try:
                result = anyio.run(functools.partial(run, scenario.name, deliveries=deliveries))
            except BaseException as error:  # noqa: BLE001 -- the callback may have raised SystemExit
                reason = f"The callback ended the process with {type(next(leaf_errors(error))).__name__}."
                result = ScenarioResult(scenario=scenario.name, outcome="fail", reason=reason)
            os.write(writer, json.dumps(asdict(result)).encode())
            status = 0
        finally:
            os._exit(status)

    def has_ended(self) -> bool:
        """Return True if the process has ended."""
        process, status = os.waitpid(self._process, os.WNOHANG)
        self._has_crashed = bool(status)
        return bool(process)

    def result(self) -> ScenarioResult:
        """Return the result of the process, which has ended."""
        # The result fits into the buffer of the pipe, which a program that the callback started may keep open.
        data = b"" if self._has_crashed else os.read(self._reader, _MAX_RESULT)
        os.close(self._reader)
        return ScenarioResult(**json.loads(data)) if data else _crashed(self.scenario.name)


def _crashed(name: str) -> ScenarioResult:
    return ScenarioResult(scenario=name, outcome="fail", reason="The process crashed.")


def _write(events: TextIO, event: dict[str, Any]) -> None:
    events.write(f"{json.dumps(event)}\n")
    events.flush()


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
