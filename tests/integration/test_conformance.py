"""The official conformance suite, every client scenario that touches elicitation or what it rests on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from tests.support import npm_environment, npm_tool

SCENARIOS = [
    ("initialize", "2025-06-18", 1),
    ("initialize", "2025-11-25", 1),
    ("tools_call", "2025-06-18", 2),
    ("tools_call", "2025-11-25", 2),
    ("elicitation-sep1034-client-defaults", "2025-11-25", 5),
]
SCENARIOS_OF_2026 = [
    ("tools_call", "2026-07-28", 2),
    ("sep-2322-client-request-state", "2026-07-28", 5),
    ("request-metadata", "2026-07-28", 6),
]


@pytest.mark.parametrize("form", ["callback", "caller"])
@pytest.mark.parametrize(
    ("scenario", "revision", "checks"), SCENARIOS + SCENARIOS_OF_2026 * supports_multi_round_trip()
)
def test_every_check_of_the_official_suite_passes(
    scenario: str, revision: str, checks: int, form: str, tmp_path: Path
) -> None:
    suite = npm_tool("conformance")
    client = f"{sys.executable} -m tests.servers.conformance_client {form}"
    command = [suite, "client", "--command", client, "--scenario", scenario, "--spec-version", revision]

    run = subprocess.run(
        [*command, "--timeout", "60000", "-o", str(tmp_path)],
        env=npm_environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    results = next(tmp_path.rglob("checks.json"))
    statuses: list[Any] = [check["status"] for check in json.loads(results.read_text())]
    assert run.returncode == 0, run.stderr[-2_000:]
    assert set(statuses) <= {"SUCCESS", "INFO", "SKIPPED"}
    assert statuses.count("SUCCESS") >= checks
    assert "OVERALL: PASSED" in run.stderr
