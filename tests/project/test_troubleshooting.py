"""The messages in docs/troubleshooting.md are those of the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.support import ROOT
from tests.support.wording import MODULES

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
QUOTED = [
    *re.findall(r"^\| `([^`]* [^`]*)`", PAGE, re.MULTILINE),
    *re.findall(r"``(.+?)``", PAGE),
]
_PARAMETER = re.compile(r"%[rsd]|\{\w*\}")


def templates_in(node: ast.AST) -> Iterator[str]:
    """Yield the texts in *node*, with ``...`` for what is filled in."""
    for each in ast.walk(node):
        if isinstance(each, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "..." for part in each.values)
            yield "".join(map(str, parts))
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield _PARAMETER.sub("...", each.value)


@cache
def templates() -> str:
    """Return the texts of the package, one below the other."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in MODULES)
    return "\n".join(text.replace("`", "") for tree in trees for text in templates_in(tree))


def test_the_page_quotes_messages() -> None:
    assert len(QUOTED) > 25


@pytest.mark.parametrize("message", QUOTED)
def test_a_quoted_message_is_one_of_the_package(message: str) -> None:
    pattern = re.escape(message.removesuffix("...")).replace(r"\.\.\.", ".+?")

    assert re.search(pattern, templates())
