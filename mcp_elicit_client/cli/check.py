"""``mcp-elicit check`` and ``mcp-elicit lint``: test a callback; check the request in a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from mcp_elicit_client.cli.common import (
    ALLOWED,
    CALLBACK_MISSING,
    CANNOT_WRITE,
    NOT_ALLOWED,
    PROGRESS,
    REQUEST_REJECTED,
    REQUEST_SUPPORTED,
    UNKNOWN_SCENARIO,
    USER_SKIPPED,
    UsageError,
    describe_diagnostic,
    read_params,
)
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS
from mcp_elicit_client.core.schema.lint import LintMessage, lint
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.exceptions import RequestError

if TYPE_CHECKING:
    from mcp_elicit_client.testing import ScenarioResult

_MAX_ERROR = 500


def run_check(options: argparse.Namespace) -> int:
    """Run scenarios on a callback and print the report, or list the scenarios; return the exit status."""
    names = _scenario_names(options.only)
    if (options.callback is None) == (not options.list):
        raise UsageError(CALLBACK_MISSING)
    if options.list:
        _list_scenarios(names)
        return 0
    results = _run_scenarios(options, names)
    try:
        _report(options, results)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(CANNOT_WRITE.format(path=error.filename, reason=error.strerror)) from None
    failing = ("fail", "inconclusive") if options.strict else ("fail",)
    return 1 if any(each.outcome in failing for each in results) else 0


def _run_scenarios(options: argparse.Namespace, names: Sequence[str]) -> list[ScenarioResult]:
    from mcp_elicit_client.testing.callback_under_test import LoadError
    from mcp_elicit_client.testing.runner import ScenarioRunner

    runner = ScenarioRunner(
        callback=options.callback,
        user=options.user,
        shape=options.shape,
        server=options.server,
        scenarios=names,
        answer_timeout=options.answer_timeout,
        scenario_timeout=options.scenario_timeout,
    )
    results: list[ScenarioResult] = []
    try:
        for result in runner.results():
            results.append(result)
            _show_progress(PROGRESS.format(done=len(results), count=len(names)))
    except LoadError as error:
        raise UsageError(sanitize_text(str(error), limit=_MAX_ERROR, multiline=False)) from None
    finally:
        _show_progress("")
    return results


def _scenario_names(selected: Sequence[str]) -> list[str]:
    """Return the names of the scenarios that *selected* names, directly or by their group; all if it is empty."""
    from mcp_elicit_client.testing import SCENARIOS

    known = {name for each in SCENARIOS.values() for name in (each.name, each.group)}
    for name in selected:
        if name not in known:
            shown = sanitize_text(name, limit=_MAX_ERROR, multiline=False)
            raise UsageError(UNKNOWN_SCENARIO.format(name=shown))
    return [each.name for each in SCENARIOS.values() if not selected or {each.name, each.group} & set(selected)]


def _list_scenarios(names: Sequence[str]) -> None:
    from mcp_elicit_client.testing import SCENARIOS

    group = ""
    for name in names:
        if SCENARIOS[name].group != group:
            group = SCENARIOS[name].group
            print(f"{group}:")
        print(f"  {name}: {SCENARIOS[name].title}")


def _report(options: argparse.Namespace, results: Sequence[ScenarioResult]) -> None:
    from mcp_elicit_client.testing.results import as_json, as_junit, as_text

    if options.junit is not None:
        options.junit.write_text(as_junit(options.callback, results), encoding="utf-8")
    if options.json:
        print(json.dumps(as_json(options.callback, results), indent=2))
        return
    print(f"{sanitize_text(options.callback, multiline=False)}\n")
    for line in as_text(results, verbose=options.verbose):
        print(line)
    if options.user is None:
        print(USER_SKIPPED)


def _show_progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


# --- lint


def run_lint(options: argparse.Namespace) -> int:
    """Check a request against each protocol version; return the exit status."""
    params = read_params(options.file)
    versions = [options.protocol_version] if options.protocol_version else PROTOCOL_VERSIONS
    found = [each for each in lint(params) if each.protocol_version in versions]
    rejecting = {each.protocol_version for each in found if each.severity == "error"}
    if options.json:
        print(json.dumps([each.model_dump() for each in found], indent=2))
    else:
        for line in _lint_lines(versions, found, rejecting):
            print(line)
        for line in _support_lines(params):
            print(line)
    return 1 if len(rejecting) == len(versions) else 0


def _lint_lines(versions: Sequence[str], found: Sequence[LintMessage], rejecting: AbstractSet[str]) -> Iterator[str]:
    for version in versions:
        yield (NOT_ALLOWED if version in rejecting else ALLOWED).format(version=version)
        for each in found:
            if each.protocol_version == version:
                yield f"  {each.severity}: {each.path or '/'}: {each.message}"


def _support_lines(params: object) -> Iterator[str]:
    try:
        request = parse_request(params)
    except RequestError as error:
        yield REQUEST_REJECTED.format(reason=str(error).removesuffix("."))
        return
    yield REQUEST_SUPPORTED
    for diagnostic in request.diagnostics:
        yield f"  {diagnostic.code}: {describe_diagnostic(diagnostic)}"
