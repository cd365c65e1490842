"""The check of the modules finds import cycles and missing summary lines; a request passes few modules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry
from mcp_elicit_client.policies import recommended
from tests.support import form_params
from tools.modules import ROOT, cycles, defined_twice, imports, modules, summaries, without_summary

FILES = {
    "__init__.py": '"""A package."""\n',
    "low.py": '"""The lower module."""\n',
    "high.py": '"""The higher module."""\nfrom mcp_elicit_client import low\n',
}


def found_in(root: Path, **changed: str) -> tuple[list[list[str]], list[str]]:
    package = root / "mcp_elicit_client"
    package.mkdir()
    for name, text in {**FILES, **{f"{name}.py": text for name, text in changed.items()}}.items():
        (package / name).write_text(text, encoding="utf-8")
    found = modules(root)
    return cycles(imports(found)), without_summary(found)


def test_imports_that_point_down_are_no_cycle(tmp_path: Path) -> None:
    assert found_in(tmp_path) == ([], [])


@pytest.mark.parametrize(
    "imported",
    [
        "import mcp_elicit_client.high",
        "from mcp_elicit_client.high import name",
        "def function():\n    from mcp_elicit_client import high",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mcp_elicit_client.high import name",
        "from mcp_elicit_client import middle",
    ],
)
def test_every_import_counts_wherever_it_stands(tmp_path: Path, imported: str) -> None:
    middle = '"""Between both."""\nfrom mcp_elicit_client import high\n'

    found, _ = found_in(tmp_path, low=f'"""The lower module."""\n{imported}\n', middle=middle)

    assert len(found) == 1
    assert {"mcp_elicit_client.low", "mcp_elicit_client.high"} <= set(found[0])


def test_a_type_that_two_modules_define_is_named(tmp_path: Path) -> None:
    found_in(
        tmp_path,
        low='"""The lower module."""\nclass Rule: ...\nclass _Row: ...\nMode: TypeAlias = str\n',
        high='"""The higher module."""\nRule: TypeAlias = str\nclass _Row: ...\nfrom low import Mode\n',
    )

    assert defined_twice(modules(tmp_path)) == {"Rule": ["mcp_elicit_client.high", "mcp_elicit_client.low"]}


def test_modules_are_found_by_a_word_of_their_summary(tmp_path: Path) -> None:
    found_in(tmp_path)

    assert [*summaries(modules(tmp_path), "LOWER")] == ["mcp_elicit_client/low: The lower module."]


@pytest.mark.parametrize(
    "text", ["", "x = 1\n", '"""No period"""\n', '"""A sentence that goes on\non the next line."""\n']
)
def test_a_module_without_a_summary_line_is_named(tmp_path: Path, text: str) -> None:
    assert found_in(tmp_path, low=text)[1] == ["mcp_elicit_client.low"]


def test_a_request_passes_at_most_16_modules() -> None:
    package = str(ROOT / "mcp_elicit_client")
    passed: set[str] = set()
    registry = ElicitationRegistry(policy=recommended())

    @registry.on_elicitation
    async def answer(_request: object) -> Answer:
        return Answer.accept({"name": "Ann"}, by="user")

    def note(frame: Any, _event: str, _argument: object) -> None:
        if frame.f_code.co_filename.startswith(package):
            passed.add(frame.f_code.co_filename.removeprefix(package))

    async def ask() -> None:
        params: Any = form_params({"properties": {"name": {"type": "string"}}, "required": ["name"]})
        callback = registry.callback("a server")
        await callback(None, params)  # loads what is loaded at first use
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            await callback(None, params)
        finally:
            sys.setprofile(before)

    anyio.run(ask)

    assert 10 <= len(passed) <= 16, sorted(passed)
