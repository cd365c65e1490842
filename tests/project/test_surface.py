"""What is public, and that a change of it is seen."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support import ROOT
from tools.surface import public_modules, surface

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").glob("*.py"))]
IMPORT = re.compile(r"^ *from (mcp_elicit_client[\w.]*) import ", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_documentation_imports_is_public(page: Path) -> None:
    assert set(IMPORT.findall(page.read_text(encoding="utf-8"))) <= set(public_modules())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("mcp_elicit_client", "docs/api"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "gone"),
    [
        ("policies/closing.py", "def patience(seconds", "def patience(minutes", "def patience(seconds: float"),
        ("policies/__init__.py", '    "patience",\n', "", "def patience(seconds: float"),
        (
            "core/text.py",
            "def sanitize_text(text: str, *, limit",
            "def sanitize_text(text: str, *, longest",
            "def sanitize_text(",
        ),
        ("core/answers.py", "    reason: str = ", "    reason: str | None = ", "Answer.reason: str = "),
        ("typing.py", 'Literal["form", "url"]', 'Literal["form"]', "Mode: TypeAlias = Literal['form', 'url']"),
    ],
)
def test_a_change_of_the_surface_is_seen(project: Path, file: str, old: str, new: str, gone: str) -> None:
    path = project / "mcp_elicit_client" / file
    before = surface(project)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")

    lost = set(before) - set(surface(project))
    assert [line for line in lost if line.startswith(gone)]


def test_what_does_not_change_the_surface_is_not_seen(project: Path) -> None:
    path = project / "mcp_elicit_client" / "policies" / "closing.py"
    before = surface(project)
    path.write_text(path.read_text(encoding="utf-8") + "\n\ndef _helper() -> None: ...\n", encoding="utf-8")

    assert surface(project) == before
