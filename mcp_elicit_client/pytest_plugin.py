"""
The pytest plugin: the fixture ``elicitation`` and the option ``--elicit-report``.

The rest of the package is imported when a test uses the fixture.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mcp_elicit_client.testing import Elicitation

_TERMINAL = "-"
_VALUE: pytest.StashKey[Elicitation] = pytest.StashKey()
_REPORTED: pytest.StashKey[_Reported] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--elicit-report``."""
    group = parser.getgroup("elicitation", "elicitation requests of MCP servers")
    group.addoption(
        "--elicit-report",
        metavar="FILE",
        nargs="?",
        const=_TERMINAL,
        default=None,
        help="list the requests and replies of each test; in FILE as JSON, or in the terminal",
    )


def pytest_configure(config: pytest.Config) -> None:
    """
    Prepare the report.

    Raises:
        pytest.UsageError: If the report would replace tests, or cannot be
            written.
    """
    where = config.getoption("--elicit-report")
    if where and ("::" in where or Path(where).suffix == ".py" or Path(where).is_dir()):
        raise pytest.UsageError(
            f"--elicit-report takes a file for the report, but {where} contains tests. "
            "Write the option after the tests, or as --elicit-report=FILE."
        )
    if where not in (None, _TERMINAL):
        try:
            Path(where).parent.mkdir(parents=True, exist_ok=True)
            Path(where).touch()
        except OSError as error:
            raise pytest.UsageError(f"--elicit-report cannot write {where}: {error}") from error
    config.stash[_REPORTED] = _Reported()
    config.pluginmanager.register(config.stash[_REPORTED])


class _Reported:
    """What is reported of each test, also of those in the processes of pytest-xdist."""

    def __init__(self) -> None:
        self.tests: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what `pytest_runtest_makereport` has added."""
        if hasattr(report, "elicitation"):
            self.tests.append(json.loads(report.elicitation))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    """Add the requests and replies of a test to its report, as JSON."""
    made: Any = yield
    if call.when == "teardown" and (value := item.stash.get(_VALUE, None)) is not None:
        made.get_result().elicitation = json.dumps({"lines": [*value._lines()], "json": value._to_json()})  # noqa: SLF001


@pytest.fixture
def elicitation(request: pytest.FixtureRequest) -> Iterator[Elicitation]:
    """
    A user who follows a script, and servers.

    The test fails if steps of the script remain unused or do not fit their
    request, or if more requests arrive than were scripted, unless
    ``elicitation.strict`` is False.
    """
    from mcp_elicit_client.testing import Elicitation

    value = Elicitation(request.node.nodeid)
    request.node.stash[_VALUE] = value
    yield value
    if value.strict and (failure := value._failure()):  # noqa: SLF001
        pytest.fail(failure, pytrace=False)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the report if the option was passed."""
    where = config.getoption("--elicit-report")
    reported = config.stash[_REPORTED].tests
    if where is None:
        return
    if where != _TERMINAL:
        Path(where).write_text(json.dumps([each["json"] for each in reported], indent=2), encoding="utf-8")
        terminalreporter.write_line(f"elicitations of {len(reported)} tests: {where}")
        return
    terminalreporter.section("elicitations")
    for each in reported:
        terminalreporter.write_line(each["json"]["test"])
        for line in each["lines"]:
            terminalreporter.write_line(f"  {line}")
