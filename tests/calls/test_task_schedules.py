"""Suspended tasks survive crashes at any moment: see `tests.support.task_schedules`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import LONG, ROOT

CHUNKS = 2
COUNT = 200 if LONG else 16
"""The number of schedules.  200 take about 200 seconds of processor time."""


@pytest.mark.rounds
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("kind", ["sqlite", "redis"])
def test_no_result_is_lost_and_no_question_is_asked_twice(
    kind: str, chunk: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    redis: Any = request.getfixturevalue("redis_server") if kind == "redis" else None
    store = kind if redis is None else redis.url
    count = COUNT // (2 * CHUNKS)
    first = chunk * count + (0 if redis is None else COUNT)
    command = [sys.executable, "-m", "tests.support.task_schedules", store, str(tmp_path), str(first), str(count)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.count("schedule")) == (0, count), ended.stderr[-3_000:]
