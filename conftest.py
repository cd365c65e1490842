"""Run the code blocks of the documentation and the examples of docstrings as tests, and mark slow tests."""

from __future__ import annotations

from doctest import NORMALIZE_WHITESPACE
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.integration.pytest import SybilFile
from sybil.parsers.markdown import CodeBlockParser
from sybil.parsers.rest import DocTestParser

from tests.support.code_blocks import run_block
from tests.support.slow import is_slow


def _run(example: Example) -> str:
    lines_above = "\n" * (example.line + example.parsed.line_offset)
    return "\n".join(run_block(lines_above + example.parsed, example.path, example.namespace))


_blocks = Sybil(parsers=[CodeBlockParser("python", _run)], patterns=["*.md"])
_doctests = Sybil(parsers=[DocTestParser(optionflags=NORMALIZE_WHITESPACE)], patterns=["mcp_elicit_client/**/*.py"])

_collect_file = (_blocks + _doctests).pytest()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SybilFile | None:
    """Collect the examples of a file.  Most modules have none, and are not parsed."""
    if file_path.suffix == ".py" and ">>>" not in file_path.read_text(encoding="utf-8"):
        return None
    file: SybilFile | None = _collect_file(file_path, parent)
    return file


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests."""
    for item in items:
        if is_slow(item):
            item.add_marker("slow")
