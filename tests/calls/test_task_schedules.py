"""Suspended tasks survive crashes at any moment: see `tests.support.task_schedules`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import LONG, ROOT

CHUNKS = 2
COUNT = 200 if LONG else 8
"""The number of schedules.  200 take about 200 seconds of processor time."""


@pytest.mark.rounds
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("kind", ["sqlite", "redis", "postgres"])
def test_no_result_is_lost_and_no_question_is_asked_twice(
    kind: str, chunk: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    store: Any = kind if kind == "sqlite" else request.getfixturevalue(f"{kind}_server").url
    count = COUNT // (2 * CHUNKS)
    if kind == "postgres" and not LONG:
        count //= 2  # each process opens connections, which takes longer than its work
    first = chunk * count + ["sqlite", "redis", "postgres"].index(kind) * COUNT
    command = [sys.executable, "-m", "tests.support.task_schedules", store, str(tmp_path), str(first), str(count)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.count("schedule")) == (0, count), ended.stderr[-3_000:]
