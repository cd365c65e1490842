"""
The process of `ScenarioRunner`: runs scenarios, and writes what happens to standard output.

Its argument is a JSON object with the callback and the names of the
scenarios.  It writes one JSON object per line.  Where the system can fork,
each scenario has its own process, so that a callback keeps no state between
scenarios.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any, TextIO, TypeAlias

import anyio

from mcp_elicit_client._concurrency import leaf_errors
from mcp_elicit_client.check.results import ScenarioResult, crashed, worst_result
from mcp_elicit_client.check.runner import LoadError
from mcp_elicit_client.check.scenarios import SCENARIOS, Delivery, Scenario
from mcp_elicit_client.testing.callback_under_test import load_callback
from mcp_elicit_client.testing.fake_server import DELIVERIES
from mcp_elicit_client.testing.scenarios import run_scenario

_CRASHED = 70
_MAX_RESULT = 65_536
_POLL_INTERVAL = 0.02
_CAN_FORK = hasattr(os, "fork")
_AT_ONCE = min(os.cpu_count() or 1, 4)


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
    _write(events, {"versions": installed_versions(job["callback"]), "deliveries": DELIVERIES})
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
    found: dict[str, dict[tuple[Delivery, ...], ScenarioResult]] = {}
    while waiting or running:
        while waiting and (waiting[0].silent or sum(not each.scenario.silent for each in running) < _AT_ONCE):
            scenario = waiting.pop(0)
            yield {"started": scenario.name}
            running += [_Child(run, scenario, each) for each in _separate_deliveries(scenario)]
        ended = [each for each in running if each.has_ended()]
        for child in ended:
            running.remove(child)
            results = found.setdefault(child.scenario.name, {})
            results[child.deliveries] = child.result()
            expected = _separate_deliveries(child.scenario)
            if len(results) == len(expected):
                yield {"result": asdict(worst_result([results[each] for each in expected]))}
        if not ended:
            time.sleep(_POLL_INTERVAL)


def _separate_deliveries(scenario: Scenario) -> list[tuple[Delivery, ...]]:
    return [(each,) for each in DELIVERIES] if scenario.silent or scenario.separate else [DELIVERIES]


class _Child:
    """A process that runs one scenario, with each of *deliveries*."""

    def __init__(self, run: _Run, scenario: Scenario, deliveries: tuple[Delivery, ...]) -> None:
        self.scenario = scenario
        self.deliveries = deliveries
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
        return ScenarioResult(**json.loads(data)) if data else crashed(self.scenario.name)


def _write(events: TextIO, event: dict[str, Any]) -> None:
    events.write(f"{json.dumps(event)}\n")
    events.flush()


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
