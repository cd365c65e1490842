"""Try a callback in a process of its own: what hangs is stopped, what crashes is told."""

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_elicit_client.testing.callback_loader import LoadError, Shape
from mcp_elicit_client.testing.results import ANSWER_TIMEOUT, ScenarioResult
from mcp_elicit_client.testing.scenarios import SCENARIOS

SCENARIO_TIMEOUT = 30.0
"""How long one scenario may take before its process is stopped, in seconds, unless told otherwise."""

_LOADING = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRunner:
    """
    What is to be graded, and how.

    Attributes:
        callback: ``MODULE:CALLABLE`` or ``FILE.py:CALLABLE``.
        user: The user hook, spelt alike; None if there is none.
        shape: What the callback is called with.
        server: What the callback calls the server in its questions.
        scenarios: The names of the scenarios to try.
        answer_timeout: How long the callback has for one answer, in seconds.
        limit: How long one scenario may take, in seconds.
        python: The interpreter, so that a callback can be graded in the
            environment it lives in.
    """

    callback: str
    user: str | None = None
    shape: Shape = "sdk"
    server: str = "fake-server"
    scenarios: Sequence[str] = tuple(SCENARIOS)
    answer_timeout: float = ANSWER_TIMEOUT
    scenario_timeout: float = SCENARIO_TIMEOUT
    python: str = sys.executable

    def results(self) -> Iterator[ScenarioResult]:
        """
        Grade; yield one verdict for each scenario, as they come.

        Raises:
            LoadError: If there is no such callback, or it does not import.
        """
        left = list(self.scenarios)
        # What a process that is stopped leaves in the temporary folder goes with that.
        with tempfile.TemporaryDirectory(prefix="mcp-elicit-", ignore_cleanup_errors=True) as folder:
            while left:
                for verdict in self._in_one_process(left, folder):
                    left.remove(verdict.scenario)
                    yield verdict

    def _in_one_process(self, names: Sequence[str], folder: str) -> Iterator[ScenarioResult]:
        """Grade until all is done, or something has to be stopped."""
        order = {
            "callback": self.callback,
            "user": self.user,
            "shape": self.shape,
            "server": self.server,
            "scenarios": list(names),
            "patience": self.answer_timeout,
        }
        process = subprocess.Popen(  # noqa: S603 -- our own module, by the interpreter that the caller names
            [self.python, "-m", "mcp_elicit_client.testing.worker", json.dumps(order)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)},
        )
        lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
        reader.start()
        begun: str | None = None
        try:
            while True:
                line = lines.get(timeout=_LOADING if begun is None else self.scenario_timeout)
                if line is None:
                    if begun is not None:
                        yield ScenarioResult(scenario=begun, outcome="fail", reason="the process died")
                    elif process.wait() != 0:
                        raise LoadError(f"the process died while it imported {self.callback}")
                    return
                told = json.loads(line)
                if "error" in told:
                    raise LoadError(told["error"])
                if "verdict" in told:
                    begun = None
                    yield ScenarioResult(**told["verdict"])
                else:
                    begun = told["begun"]
        except queue.Empty:
            if begun is None:
                raise LoadError(f"{self.callback} takes too long to import") from None
            yield self._stopped(begun)
        finally:
            _stop(process)
            reader.join()

    def _stopped(self, name: str) -> ScenarioResult:
        reason = f"it did not come to an end within {self.scenario_timeout:g} s, and was stopped"
        outcome: Any = "fail" if SCENARIOS[name].hang_fails else "inconclusive"
        return ScenarioResult(scenario=name, outcome=outcome, reason=reason, seconds=self.scenario_timeout)


def _read(stream: Any, lines: queue.SimpleQueue[bytes | None]) -> None:
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
