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
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TextIO

import anyio

from mcp_elicit_client.testing.callback_under_test import CallbackShape, CallbackUnderTest, LoadError, load_callback
from mcp_elicit_client.testing.results import ANSWER_TIMEOUT, Outcome, ScenarioResult, run_scenario
from mcp_elicit_client.testing.scenarios import SCENARIOS, Scenario

SCENARIO_TIMEOUT = 30.0
"""The default of the maximum seconds for one scenario."""

_IMPORT_TIMEOUT = 120.0
_CRASHED = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRunner:
    """
    Runs scenarios on one callback.

    Attributes:
        callback: ``MODULE:CALLABLE`` or ``FILE.py:CALLABLE``.
        user: The user hook, in the same form; None if there is none.
        shape: The parameters of the callback.
        server: The server name that the callback shows.
        scenarios: The names of the scenarios; None for all.
        answer_timeout: Maximum seconds for one answer.
        scenario_timeout: Maximum seconds for one scenario.
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
        started: str | None = None
        try:
            while True:
                line = lines.get(timeout=_IMPORT_TIMEOUT if started is None else self.scenario_timeout)
                if line is None:
                    if started is not None:
                        yield _crashed(started)
                    elif process.wait() != 0:
                        raise LoadError(f"The process crashed while it imported {self.callback}.")
                    return
                event = json.loads(line)
                if "error" in event:
                    raise LoadError(event["error"])
                if "result" in event:
                    started = None
                    yield ScenarioResult(**event["result"])
                else:
                    started = event["started"]
        except queue.Empty:
            if started is None:
                raise LoadError(f"The import of {self.callback} takes too long.") from None
            yield self._stopped(started)
        finally:
            _kill(process)
            reader.join()

    def _stopped(self, name: str) -> ScenarioResult:
        outcome: Outcome = "fail" if SCENARIOS[name].hang_fails else "inconclusive"
        reason = f"The scenario was stopped after {self.scenario_timeout:g} s."
        return ScenarioResult(scenario=name, outcome=outcome, reason=reason, seconds=self.scenario_timeout)


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
    for scenario in [SCENARIOS[name] for name in job["scenarios"]]:
        _write(events, {"started": scenario.name})
        _run_in_fork(events, under_test, scenario, job["answer_timeout"])
    return 0


def _run_in_fork(events: TextIO, under_test: CallbackUnderTest, scenario: Scenario, answer_timeout: float) -> None:
    if not hasattr(os, "fork"):
        _run(events, under_test, scenario, answer_timeout)
        return
    child = os.fork()
    if child == 0:
        status = _CRASHED
        try:
            _run(events, under_test, scenario, answer_timeout)
            status = 0
        except BaseException as error:  # noqa: BLE001 -- the callback may have raised SystemExit
            reason = f"The callback ended the process with {_innermost(error)}."
            _write_result(events, ScenarioResult(scenario=scenario.name, outcome="fail", reason=reason))
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if status:
        _write_result(events, _crashed(scenario.name))


def _run(events: TextIO, under_test: CallbackUnderTest, scenario: Scenario, answer_timeout: float) -> None:
    async def run() -> ScenarioResult:
        return await run_scenario(under_test, scenario, answer_timeout=answer_timeout)

    _write_result(events, anyio.run(run))


def _crashed(name: str) -> ScenarioResult:
    return ScenarioResult(scenario=name, outcome="fail", reason="The process crashed.")


def _innermost(error: BaseException) -> str:
    several = getattr(error, "exceptions", None)
    return _innermost(several[0]) if several else type(error).__name__


def _write_result(events: TextIO, result: ScenarioResult) -> None:
    _write(events, {"result": asdict(result)})


def _write(events: TextIO, event: dict[str, Any]) -> None:
    events.write(f"{json.dumps(event)}\n")
    events.flush()


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
