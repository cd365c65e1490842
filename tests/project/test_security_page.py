"""The promises of ``docs/security.md``: each names tests that exist, and its limits are those of the code."""

from __future__ import annotations

import re

import pytest

from mcp_elicit_client.core import budgets
from mcp_elicit_client.core.validation import pattern_pool
from tests.support import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PROMISES = PAGE.split("\n## Promises\n", 1)[1].split("\n## ", 1)[0]
MODULES = {"budgets": budgets, "pattern_pool": pattern_pool}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/]+\.py::\w+)`", PROMISES))))
def test_a_test_that_holds_a_promise_exists(name: str) -> None:
    file, test = name.split("::")
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")

    assert re.search(rf"^(async )?def {test}\(", text, re.MULTILINE)


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PROMISES.splitlines() if re.match(r"\| (?!promise)[^-]", line)]

    assert len(rows) > 30
    assert [row for row in rows if not re.search(r"`[\w/]+\.py::\w+`", row.rsplit("|", 2)[1])] == []


def test_every_limit_of_load_is_documented_with_its_value() -> None:
    rows = re.findall(r"^\| `(\w+)\.(\w+)` \| ([\d.]+) \|", PAGE, re.MULTILINE)

    assert {(module, name): float(value) for module, name, value in rows} == {
        (module, name): value
        for module, code in MODULES.items()
        for name, value in vars(code).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, (int, float))
    }
