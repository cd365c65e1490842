"""What is public, and that a change of it is seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import ROOT
from tools.surface import public_modules, surface

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*.py"))]
IMPORT = re.compile(r"^ *from (mcp_elicit_client[\w.]*) import ", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_documentation_imports_is_public(page: Path) -> None:
    assert set(IMPORT.findall(page.read_text(encoding="utf-8"))) <= set(public_modules())


FILES = {
    "docs/api/package.md": "::: mcp_elicit_client\n\n::: mcp_elicit_client.typing\n",
    "mcp_elicit_client/__init__.py": (
        "from mcp_elicit_client.answer import Answer, answer_timeout\n"
        "from mcp_elicit_client.compose import compose\n\n"
        '__all__ = ["Answer", "compose", "answer_timeout"]\n'
    ),
    "mcp_elicit_client/compose.py": (
        'def compose(first: str = "5/minute", number_of_policies: int = 1, last: str = "a") -> None: ...\n'
    ),
    "mcp_elicit_client/answer.py": (
        "from dataclasses import dataclass\n\n\n"
        '@dataclass\nclass Answer:\n    reason: str = ""\n\n\n'
        "def answer_timeout(seconds: float = 240) -> None: ...\n"
    ),
    "mcp_elicit_client/typing.py": (
        'from typing import Literal, TypeAlias\n\nMode: TypeAlias = Literal["form", "url"]\n'
    ),
}
"""A package with two documented modules."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new", "gone"),
    [
        ("answer.py", "seconds: float", "minutes: float", "def answer_timeout(seconds: float"),
        ("answer.py", "reason: str = ", "reason: str | None = ", "Answer.reason: str = "),
        ("__init__.py", ', "answer_timeout"]', "]", "def answer_timeout(seconds: float"),
        # A function with the name of its module, and a parameter between two short texts.
        ("compose.py", "number_of_policies", "count", "def compose(first: str = '5/minute', number_of_policies: int"),
        ("typing.py", 'Literal["form", "url"]', 'Literal["form"]', "Mode: TypeAlias = Literal['form', 'url']"),
    ],
)
def test_a_change_of_the_surface_is_seen(project: Path, file: str, old: str, new: str, gone: str) -> None:
    before, _ = surface(project)
    change(project / "mcp_elicit_client" / file, old, new)

    lost = set(before) - set(surface(project)[0])
    assert [line for line in lost if line.startswith(gone)]


def test_a_type_of_a_signature_that_cannot_be_imported_is_seen(project: Path) -> None:
    answer = project / "mcp_elicit_client" / "answer.py"
    change(answer, "seconds: float", "seconds: Seconds | list[Answer]")
    change(answer, "@dataclass", "class Seconds(float): ...\n\n\n@dataclass")

    assert surface(project)[1] == {"mcp_elicit_client.answer.Seconds"}


def test_what_does_not_change_the_surface_is_not_seen(project: Path) -> None:
    before = surface(project)
    change(project / "mcp_elicit_client" / "answer.py", "...\n", "...\n\n\ndef _helper() -> None: ...\n")

    assert surface(project) == before
