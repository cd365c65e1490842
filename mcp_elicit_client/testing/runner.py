"""
Runs scenarios in another process: one that hangs is stopped, one that crashes is reported.

``python -m mcp_elicit_client.testing.runner JSON`` is that process.  It runs
the scenarios that the JSON names and writes what happens to standard output,
one JSON object per line.  Where the system can fork, each scenario has its
own process, so that a callback keeps no state between scenarios.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TextIO

import anyio

from mcp_elicit_client.testing.callback_under_test import CallbackShape, CallbackUnderTest, LoadError, load_callback
from mcp_elicit_client.testing.fake_server import DELIVERIES, Delivery
from mcp_elicit_client.testing.results import ANSWER_TIMEOUT, Outcome, ScenarioResult, run_scenario, worst_result
from mcp_elicit_client.testing.scenario_run import SILENCE
from mcp_elicit_client.testing.scenarios import SCENARIOS, Scenario

SCENARIO_TIMEOUT = 30.0
"""The default of the maximum seconds for one scenario."""

_IMPORT_TIMEOUT = 120.0
_CRASHED = 70
_AFTER_STOP = "Make the callback return when the user has answered, or raise --scenario-timeout."
_MAX_RESULT = 65_536
_POLL_INTERVAL = 0.02
_CAN_FORK = hasattr(os, "fork")


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
        """Run scenarios in one process until all are done, or one of them hangs or crashes."""
        job = {
            "callback": self.callback,
            "user": self.user,
            "shape": self.shape,
            "server": self.server,
            "scenarios": list(names),
            "answer_timeout": self.answer_timeout,
            "silence": self.silence,
        }
        process = subprocess.Popen(  # noqa: S603 -- this module, in the interpreter that the caller names
            [self.python, "-m", __name__, json.dumps(job)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)},
        )
        lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        reader = threading.Thread(target=_read_lines, args=(process.stdout, lines), daemon=True)
        reader.start()
        pending: list[str] = []
        try:
            while True:
                line = lines.get(timeout=self._timeout(pending) if pending else _IMPORT_TIMEOUT)
                if line is None:
                    yield from map(_crashed, pending)
                    if not pending and process.wait() != 0:
                        raise LoadError(f"The process crashed while it imported {self.callback}.")
                    return
                event = json.loads(line)
                if "error" in event:
                    raise LoadError(event["error"])
                if "result" in event:
                    result = ScenarioResult(**event["result"])
                    pending.remove(result.scenario)
                    yield result
                else:
                    pending = event["started"]
        except queue.Empty:
            if not pending:
                raise LoadError(f"The import of {self.callback} takes too long.") from None
            yield from map(self._stopped, pending)
        finally:
            _kill(process)
            reader.join()

    def _timeout(self, names: Sequence[str]) -> float:
        return self.scenario_timeout + (self.silence * len(DELIVERIES) if SCENARIOS[names[0]].silent else 0)

    def _stopped(self, name: str) -> ScenarioResult:
        outcome: Outcome = "fail" if SCENARIOS[name].hang_fails else "inconclusive"
        seconds = self._timeout([name])
        return ScenarioResult(
            scenario=name,
            outcome=outcome,
            reason=f"The scenario was stopped after {seconds:g} s.",
            next_step=_AFTER_STOP if outcome == "inconclusive" else "",
            seconds=seconds,
        )


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
    for scenarios in batches([SCENARIOS[name] for name in job["scenarios"]]):
        _write(events, {"started": [each.name for each in scenarios]})
        for result in _run_batch(under_test, scenarios, (job["answer_timeout"], job["silence"])):
            _write(events, {"result": asdict(result)})
    return 0


def batches(scenarios: Sequence[Scenario]) -> Iterator[Sequence[Scenario]]:
    """Yield the scenarios that are run at the same time: each alone, and at the end those with a silent user."""
    yield from ([each] for each in scenarios if not each.silent)
    silent = [each for each in scenarios if each.silent]
    if _CAN_FORK and silent:
        yield silent
    elif silent:
        yield from ([each] for each in silent)


def _run_batch(
    under_test: CallbackUnderTest, scenarios: Sequence[Scenario], seconds: tuple[float, float]
) -> Iterator[ScenarioResult]:
    if not _CAN_FORK:
        yield from (_run(under_test, each, seconds, DELIVERIES) for each in scenarios)
        return
    children = [
        _Child(under_test, each, seconds, deliveries) for each in scenarios for deliveries in _deliveries_at_once(each)
    ]
    found: dict[str, list[ScenarioResult]] = {}
    for result in _wait_for(children):
        found.setdefault(result.scenario, []).append(result)
        if len(found[result.scenario]) == len(_deliveries_at_once(SCENARIOS[result.scenario])):
            yield worst_result(found[result.scenario])


def _wait_for(children: list[_Child]) -> Iterator[ScenarioResult]:
    """Yield the result of each process, as soon as it has ended."""
    while children:
        for child in list(children):
            if child.has_ended(wait=len(children) == 1):
                children.remove(child)
                yield child.result()
        if len(children) > 1:
            time.sleep(_POLL_INTERVAL)


def _deliveries_at_once(scenario: Scenario) -> list[Sequence[Delivery]]:
    return [[each] for each in DELIVERIES] if scenario.silent else [DELIVERIES]


class _Child:
    """A process that runs one scenario, with each of *deliveries*."""

    def __init__(
        self,
        under_test: CallbackUnderTest,
        scenario: Scenario,
        seconds: tuple[float, float],
        deliveries: Sequence[Delivery],
    ) -> None:
        self._scenario = scenario
        self._has_crashed = False
        self._reader, writer = os.pipe()
        self._process = os.fork()
        if self._process:
            os.close(writer)
            return
        status = _CRASHED
        try:
            try:
                result = _run(under_test, scenario, seconds, deliveries)
            except BaseException as error:  # noqa: BLE001 -- the callback may have raised SystemExit
                reason = f"The callback ended the process with {_innermost(error)}."
                result = ScenarioResult(scenario=scenario.name, outcome="fail", reason=reason)
            os.write(writer, json.dumps(asdict(result)).encode())
            status = 0
        finally:
            os._exit(status)

    def has_ended(self, *, wait: bool) -> bool:
        """Return True if the process has ended; wait for its end if *wait* is True."""
        process, status = os.waitpid(self._process, 0 if wait else os.WNOHANG)
        self._has_crashed = bool(status)
        return bool(process)

    def result(self) -> ScenarioResult:
        """Return the result of the process, which has ended."""
        # The result fits into the buffer of the pipe, which a program that the callback started may keep open.
        data = b"" if self._has_crashed else os.read(self._reader, _MAX_RESULT)
        os.close(self._reader)
        return ScenarioResult(**json.loads(data)) if data else _crashed(self._scenario.name)


def _run(
    under_test: CallbackUnderTest, scenario: Scenario, seconds: tuple[float, float], deliveries: Sequence[Delivery]
) -> ScenarioResult:
    answer_timeout, silence = seconds

    async def run() -> ScenarioResult:
        return await run_scenario(
            under_test, scenario, answer_timeout=answer_timeout, silence=silence, deliveries=deliveries
        )

    return anyio.run(run)


def _crashed(name: str) -> ScenarioResult:
    return ScenarioResult(scenario=name, outcome="fail", reason="The process crashed.")


def _innermost(error: BaseException) -> str:
    several = getattr(error, "exceptions", None)
    return _innermost(several[0]) if several else type(error).__name__


def _write(events: TextIO, event: dict[str, Any]) -> None:
    events.write(f"{json.dumps(event)}\n")
    events.flush()


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
