"""
Which tests are slow: those that start a process, a browser or a server, themselves or through a helper.

The rule reads the code of the tests, so that no test needs a marker.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import pytest

STARTERS = frozenset(
    {
        *("ASKER", "VISITOR", "RedisServer", "browser", "http_server", "npm_tool", "pytester", "window"),
        *("create_subprocess_exec", "executable", "fork", "open_process", "run_process", "subprocess"),
        *("BrowserHandler", "fastmcp", "pexpect", "uvicorn"),
    }
)
"""Names that a test uses if it starts something: helpers of the tests, functions of the standard library, packages."""

MODULES = frozenset({"tests.testing.test_check", "tests.testing.test_scenarios"})
"""Modules whose tests start processes inside the package, or attack it with large requests."""


def is_slow(item: pytest.Item) -> bool:
    """Return True if the test runs on Redis, or if it or a helper or fixture of it uses one of `STARTERS`."""
    if not isinstance(item, pytest.Function):
        return False
    if item.module.__name__ in MODULES:
        return True
    if STARTERS.intersection(item.fixturenames) or "redis" in item.name.rpartition("[")[2]:
        return True
    fixtures: dict[str, Any] = item._fixtureinfo.name2fixturedefs
    return any(_starts(function) for function in [item.function, *(each[-1].func for each in fixtures.values())])


def _starts(function: Any) -> bool:
    function = inspect.unwrap(function)
    hypothesis = getattr(function, "hypothesis", None)
    function = function if hypothesis is None else hypothesis.inner_test
    return isinstance(function, FunctionType) and _reaches(function)


@cache
def _reaches(function: FunctionType) -> bool:
    pending, seen = [function], {function}
    while pending:
        each = pending.pop()
        names = set(_names(each.__code__))
        if names & STARTERS:
            return True
        for helper in _helpers(each, names):
            if helper not in seen:
                seen.add(helper)
                pending.append(helper)
    return False


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _helpers(function: FunctionType, names: set[str]) -> Iterator[FunctionType]:
    for name in names:
        found = function.__globals__.get(name)
        members = vars(found).values() if inspect.isclass(found) else [found]
        for member in members:
            helper = inspect.unwrap(member) if isinstance(member, FunctionType) else None
            if isinstance(helper, FunctionType) and helper.__module__.startswith("tests."):
                yield helper
