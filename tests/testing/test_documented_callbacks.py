"""The callbacks that the documentation shows pass the scenarios."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.checking import check

_GROUPS = ("what the user decided", "without a user, and failures")

_PYTHON = re.compile(r"^```py(?:thon)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BEFORE = "from before import main\n"  # another program of the page, which connects to the server
_HOOKS = "from tests.support.callbacks import console, opens\n"
_CALLBACK = '\ncallback = registry.callback("mail")\n'


def block(page: str, part: str) -> str:
    """Return the first code block of *page* that contains *part*, without the call of its main function."""
    blocks: list[str] = _PYTHON.findall((ROOT / page).read_text(encoding="utf-8"))
    return next(each for each in blocks if part in each).replace("anyio.run(main)", "pass").replace(_BEFORE, "")


def outcomes(program: str, folder: Path, *arguments: str) -> dict[str, str]:
    """Return the outcome of each scenario for the attribute ``callback`` of *program*."""
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    run = check(f"{path}:callback", "--json", *arguments)
    assert run.stdout, run.stderr
    return {each["scenario"]: each["outcome"] for each in json.loads(run.stdout)["results"]}


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/get-started.md", "docs/migration.md"])
def test_the_program_with_a_terminal_passes(page: str, tmp_path: Path) -> None:
    # A line is typed at a console, since the scenarios run without a terminal.
    program = block(page, "TerminalHandler()")
    program = program.replace("TerminalHandler()", "TerminalHandler(console=console, open_url=opens)")

    found = outcomes(
        _HOOKS + program + _CALLBACK,
        tmp_path,
        *(word for group in _GROUPS for word in ("--only", group)),
        *("--user", "tests.support.callbacks:type_at", "--server", "mail", "--silence", "1"),
    )

    assert len(found) > 30
    assert {name: each for name, each in found.items() if each not in ("pass", "not applicable")} == {}


@pytest.mark.slow
def test_the_callback_with_helpers_fails_nothing_without_a_user(tmp_path: Path) -> None:
    program = block("docs/handlers.md", "async def callback(")

    found = outcomes(program, tmp_path, "--only", "without a user, and failures", "--silence", "1")

    assert "fail" not in found.values()
    assert "pass" in found.values()
