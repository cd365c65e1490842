"""
The process in which a callback is tested, so that it may hang, crash and print.

``python -m mcp_elicit_client.testing.worker JSON`` tries the scenarios that
the JSON names, and writes what happens to its standard output, line by line,
as JSON.  Where the system can fork, each scenario has a process of its own,
so that nothing that a callback remembers gets from one to the next.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from dataclasses import asdict
from typing import Any, TextIO

import anyio

from mcp_elicit_client.testing.callback_loader import LoadError, load
from mcp_elicit_client.testing.results import ScenarioResult, run_scenario
from mcp_elicit_client.testing.scenario_run import CallbackUnderTest
from mcp_elicit_client.testing.scenarios import SCENARIOS


def main(order: dict[str, Any]) -> int:
    """Try what *order* says; return the exit status."""
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    warnings.simplefilter("ignore")
    logging.raiseExceptions = False
    try:
        subject = load(order["callback"], user=order["user"], shape=order["shape"], server=order["server"])
    except LoadError as error:
        _tell(lines, {"error": str(error)})
        return 2
    for name in order["scenarios"]:
        _tell(lines, {"begun": name})
        _try(lines, subject, name, order["patience"])
    return 0


def _try(lines: TextIO, subject: CallbackUnderTest, name: str, patience: float) -> None:
    if not hasattr(os, "fork"):
        _judge(lines, subject, name, patience)
        return
    child = os.fork()
    if child == 0:
        status = 70
        try:
            _judge(lines, subject, name, patience)
            status = 0
        except BaseException as error:  # noqa: BLE001 -- the callback may have raised SystemExit
            reason = f"{_innermost(error)} came out of it, and ended the process"
            _tell(lines, {"verdict": asdict(ScenarioResult(scenario=name, outcome="fail", reason=reason))})
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if status:
        _tell(lines, {"verdict": asdict(ScenarioResult(scenario=name, outcome="fail", reason="the process died"))})


def _innermost(error: BaseException) -> str:
    several = getattr(error, "exceptions", None)
    return _innermost(several[0]) if several else type(error).__name__


def _judge(lines: TextIO, subject: CallbackUnderTest, name: str, patience: float) -> None:
    async def run() -> ScenarioResult:
        return await run_scenario(subject, SCENARIOS[name], answer_timeout=patience)

    _tell(lines, {"verdict": asdict(anyio.run(run))})


def _tell(lines: TextIO, line: dict[str, Any]) -> None:
    lines.write(f"{json.dumps(line)}\n")
    lines.flush()


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
