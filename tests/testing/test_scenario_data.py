"""The data files of the scenarios have the form that their loader and reports expect."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import pytest

from mcp_elicit_client.check import scenarios
from mcp_elicit_client.check.scenarios import ALL_DELIVERIES, GROUPS, function_name, load_data
from mcp_elicit_client.testing import SCENARIOS

REQUIRED = {"name", "title", "because", "source"}
OPTIONAL = {"deliveries", "hang_fails", "silent", "separate", "run", "arguments"}
ROWS = [pytest.param(group, row, id=row["name"]) for group in GROUPS for row in load_data(group)["scenarios"]]


def test_every_scenario_is_loaded_once() -> None:
    names = [row["name"] for group in GROUPS for row in load_data(group)["scenarios"]]

    assert list(SCENARIOS) == names
    assert len(names) == len(set(names)) >= 133


def test_an_unknown_scenario_is_named() -> None:
    with pytest.raises(KeyError, match="no scenario named 'form-acept'"):
        scenarios.SCENARIOS["form-acept"]
    assert "form-acept" not in SCENARIOS


@pytest.mark.parametrize(("group", "row"), ROWS)
def test_a_row_has_its_texts_and_no_unknown_members(group: str, row: dict[str, Any]) -> None:
    assert set(row) >= REQUIRED
    assert set(row) <= REQUIRED | OPTIONAL
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", row["name"])
    assert row["title"].endswith(".")
    assert all(isinstance(row[name], str) and row[name] for name in REQUIRED)
    assert row.get("hang_fails", True) is row.get("silent", True) is row.get("separate", True) is True
    assert tuple(row.get("deliveries", ())) in ((), *((each,) for each in ALL_DELIVERIES))


@pytest.mark.parametrize(("group", "row"), ROWS)
def test_the_function_of_a_row_exists_and_takes_its_arguments(group: str, row: dict[str, Any]) -> None:
    functions = importlib.import_module(f"mcp_elicit_client.testing.scenarios.{GROUPS[group]}")
    function = getattr(functions, function_name(row))

    assert inspect.iscoroutinefunction(function)
    inspect.signature(function).bind(None, **row.get("arguments", {}))


@pytest.mark.parametrize("module", sorted(set(GROUPS.values())))
def test_every_function_is_used(module: str) -> None:
    functions = vars(importlib.import_module(f"mcp_elicit_client.testing.scenarios.{module}"))
    names = {name for name, each in functions.items() if inspect.iscoroutinefunction(each)}
    groups = [group for group, its_module in GROUPS.items() if its_module == module]
    used = {function_name(row) for group in groups for row in load_data(group)["scenarios"]}

    assert {name for name in names if not name.startswith("_")} == used
