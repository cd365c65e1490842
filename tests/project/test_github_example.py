"""The example of a GitHub workflow: it is safe to copy, and its steps do what it says."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT, skip_or_fail

FILE = ROOT / "examples" / "github" / "elicitation.yml"


@pytest.fixture
def workflow() -> Any:
    try:
        yaml = importlib.import_module("yaml")
    except ImportError:
        skip_or_fail("PyYAML is not installed")
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def test_the_workflow_runs_on_three_systems_with_pinned_actions_and_few_permissions(workflow: Any) -> None:
    (job,) = workflow["jobs"].values()

    assert [each.partition("-")[0] for each in job["strategy"]["matrix"]["os"]] == ["ubuntu", "macos", "windows"]
    assert workflow["permissions"] == {"contents": "read"}
    tested = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", each) and each in tested for each in used)
    assert "${{" not in "".join(step.get("run", "") for step in job["steps"])


@pytest.mark.slow
def test_the_steps_of_the_workflow_pass(workflow: Any, tmp_path: Path) -> None:
    (job,) = workflow["jobs"].values()
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("python", ""), ("mcp-elicit", "-m mcp_elicit_client")):
        (programs / name).write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" {words} "$@"\n')
        (programs / name).chmod(0o755)
    environment = {
        **os.environ,
        **job["env"],
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
    }
    steps = [step["run"] for step in job["steps"] if "run" in step and "pip install" not in step["run"]]

    assert len(steps) == 5
    for step in steps:
        subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step], cwd=tmp_path, env=environment, check=True, timeout=60
        )


def test_the_page_shows_the_steps_of_the_workflow() -> None:
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")

    assert "examples/github/elicitation.yml" in page
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert block in FILE.read_text(encoding="utf-8")
