"""Texts of the project for the tests of its wording: prose of pages, docstrings and messages."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support import ROOT

WORDING = json.loads((ROOT / "fixtures" / "wording.json").read_text(encoding="utf-8"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
MODULES = sorted((ROOT / "mcp_elicit_client").rglob("*.py"))

_CODE = re.compile(r"^ *(```+).*?^ *\1$", re.MULTILINE | re.DOTALL)
_RENAMED = re.compile(r"^### (Changed|Removed)$.*?(?=^##)|^### (Changed|Removed)$.*\Z", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_START = re.compile(r"^\s*(?:[-*] |\d+\. |#+ |:|\||!!!|>>>|====|[├└│])|.*\S {3,}\S|^ +\*{0,2}\w+(?:, \*{0,2}\w+)*: ")
_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_`]*[A-Z0-9`<|*])")
_SECTION = re.compile(r"^(?:Args|Returns|Raises|Yields|Attributes):$")


def page_text(page: Path) -> str:
    """Return the text of *page* without the section of the changelog that lists replaced names."""
    text = page.read_text(encoding="utf-8")
    return _RENAMED.sub("", text) if page.name == "CHANGELOG.md" else text


def prose(page: Path) -> str:
    """Return the text of *page* without code blocks and link targets."""
    return _LINK.sub(r"\1", _CODE.sub("\n", page_text(page)))


def plain(text: str) -> str:
    """Return *text* in lower case, without pieces of code, on one line."""
    return " ".join(re.sub(r"``?[^`]*``?", "code", text).lower().split())


def find_whole(wanted: str, text: str) -> bool:
    """Return True if *wanted* occurs in *text* and is not a part of longer words."""
    if wanted not in text:  # much faster than the pattern
        return False
    start = r"(?<![\w.])" if wanted[0].isalnum() else ""
    end = r"(?!\w)" if wanted[-1].isalnum() else ""
    return re.search(start + re.escape(wanted) + end, text) is not None


class Texts(NamedTuple):
    """
    Texts of a module.

    Attributes:
        docstrings: Every docstring, those below attributes included.
        errors: The texts of the exceptions that it raises.
    """

    docstrings: tuple[str, ...]
    errors: tuple[str, ...]


@functools.cache
def texts_of(module: Path) -> Texts:
    """Return the texts of *module*.  Each module is parsed once."""
    docstrings: list[str] = []
    errors: list[str] = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr):
            docstrings += _strings([node.value])
        elif isinstance(node, ast.Raise):
            errors += _strings(ast.walk(node))
    return Texts(tuple(docstrings), tuple(errors))


def _strings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of *text*; each cell of a table and each item of a list stands alone."""
    for paragraph in _paragraphs(text):
        for part in paragraph.split("|") if paragraph.startswith("|") else [paragraph]:
            yield from (each.strip() for each in _END.split(part) if each.strip())


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if lines and (not line.strip() or _START.match(line) or _SECTION.match(line.strip())):
            yield " ".join(lines)
            lines = []
        if line.strip():
            lines.append(line.strip())


def words(sentence: str) -> int:
    """Count the words of *sentence*; a piece of code counts as one."""
    return len(re.sub(r"``?[^`]*``?", "code", sentence).split())
