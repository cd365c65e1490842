"""mypy and pyright, both strict, accept right registrations and calls, and refuse each wrong one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ROOT, npm_tool

HERE = Path(__file__).parent
FILES = ("accepted.py", "accepted_calls.py", "refused.py")


def errors_of_mypy(folder: Path) -> set[tuple[str, int]]:
    """Return the files and lines of the errors that ``mypy --strict`` finds."""
    options = ["--strict", "--config-file=", "--no-error-summary", "--explicit-package-bases"]
    files = [str(HERE / file) for file in FILES]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, f"--cache-dir={folder}", *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = re.finditer(r"(\w+\.py):(\d+): error: ", run.stdout)
    return {(match[1], int(match[2])) for match in found}


def errors_of_pyright(folder: Path) -> set[tuple[str, int]]:
    """Return the files and lines of the errors that pyright finds.  The files select its strict mode."""
    del folder
    files = [str(HERE / file) for file in FILES]
    run = subprocess.run(
        [npm_tool("pyright"), "--outputjson", "--pythonpath", sys.executable, *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    report = json.loads(run.stdout)
    assert report["summary"]["filesAnalyzed"] == len(FILES)
    return {
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1)
        for each in report["generalDiagnostics"]
        if each["severity"] == "error"
    }


@pytest.mark.parametrize("errors_of", [errors_of_mypy, errors_of_pyright], ids=["mypy", "pyright"])
def test_type_checkers_refuse_just_the_wrong_registrations_and_calls(
    errors_of: Callable[[Path], set[tuple[str, int]]], tmp_path: Path
) -> None:
    lines = (HERE / "refused.py").read_text(encoding="utf-8").splitlines()
    wrong = {("refused.py", number) for number, line in enumerate(lines, 1) if line.endswith("  # error")}

    assert len(wrong) > 20
    assert errors_of(tmp_path) == wrong
