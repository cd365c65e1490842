"""``mcp-elicit check``: test an elicitation callback."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import UsageError, output_width, wrap
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation.catalog import MessageCatalog

if TYPE_CHECKING:
    from mcp_elicit_client.testing import ScenarioResult

_MAX_ERROR = 500
_INCONCLUSIVE = 3


def run_check(options: argparse.Namespace) -> int:
    """Run scenarios on a callback and print the report, or list the scenarios; return the exit status."""
    names = _scenario_names(options.only)
    if (options.callback is None) == (not options.list):
        raise UsageError(messages.CALLBACK_MISSING)
    if options.list:
        _list_scenarios(names, as_json=options.json)
        return 0
    results = _run_scenarios(options, names)
    try:
        _report(options, results)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(messages.CANNOT_WRITE, path=error.filename, reason=error.strerror) from None
    outcomes = {each.outcome for each in results}
    if "fail" in outcomes:
        return 1
    return _INCONCLUSIVE if "inconclusive" in outcomes and not options.allow_inconclusive else 0


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
        silence=options.silence,
    )
    results: list[ScenarioResult] = []
    try:
        for result in runner.results():
            results.append(result)
            _show_progress(options.catalog.text(messages.PROGRESS, done=len(results), count=len(names)))
    except LoadError as error:
        raise UsageError(sanitize_text(str(error), limit=_MAX_ERROR, multiline=False)) from None
    finally:
        _show_progress("")
    return results


def _scenario_names(selected: Sequence[str]) -> list[str]:
    """Return the names of the scenarios that *selected* names, directly or by their group; all if it is empty."""
    from mcp_elicit_client.testing import SCENARIOS

    known = {name.casefold() for each in SCENARIOS.values() for name in (each.name, each.group)}
    chosen = {name.casefold() for name in selected}
    for name in selected:
        if name.casefold() not in known:
            shown = sanitize_text(name, limit=_MAX_ERROR, multiline=False)
            raise UsageError(messages.UNKNOWN_SCENARIO, name=shown)
    return [
        each.name for each in SCENARIOS.values() if not chosen or {each.name.casefold(), each.group.casefold()} & chosen
    ]


def _list_scenarios(names: Sequence[str], *, as_json: bool) -> None:
    """Print the scenarios by group, each name on a separate line."""
    from mcp_elicit_client.testing import SCENARIOS

    if as_json:
        texts = ("name", "group", "title", "because", "source")
        print(json.dumps([{text: getattr(SCENARIOS[name], text) for text in texts} for name in names], indent=2))
        return
    group = ""
    for name in names:
        if SCENARIOS[name].group != group:
            group = SCENARIOS[name].group
            print(group)
        print(f"  {name}\n{wrap(SCENARIOS[name].title, 4)}")


def _report(options: argparse.Namespace, results: Sequence[ScenarioResult]) -> None:
    from mcp_elicit_client.testing.results import as_json, as_junit, as_text

    if options.junit is not None:
        report = as_junit(options.callback, results, allow_inconclusive=options.allow_inconclusive)
        options.junit.write_text(report, encoding="utf-8")
    if options.json:
        print(json.dumps(as_json(options.callback, results), indent=2))
        return
    print(f"{sanitize_text(options.callback, multiline=False)}\n")
    catalog: MessageCatalog = options.catalog
    for line in as_text(results, verbose=options.verbose, width=output_width(), catalog=catalog):
        print(line)


def _show_progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
