"""Run ``mcp-elicit check``."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support import ROOT

OURS = ["tests.support.callbacks:callback", "--user", "tests.support.callbacks:follow", "--server", "mail"]
"""The arguments for a callback of this package, with a scripted user."""


def check(*arguments: str, status: int | None = None, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run the command with *arguments*, and expect *status*, if it is given, within *timeout* seconds."""
    run = subprocess.run(
        [sys.executable, "-m", "mcp_elicit_client", "check", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if status is not None:
        assert run.returncode == status, run.stderr
    return run
