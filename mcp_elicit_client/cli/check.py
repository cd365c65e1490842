"""``mcp-elicit check``: test an elicitation callback."""

from __future__ import annotations

import argparse
import errno
import json
import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import UsageError, given_options, output_width, wrap
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation.catalog import MessageCatalog

if TYPE_CHECKING:
    from mcp_elicit_client.check.report import CheckReport
    from mcp_elicit_client.check.results import ScenarioResult
    from mcp_elicit_client.check.runner import ScenarioRunner

_MAX_ERROR = 500
_INCONCLUSIVE = 3

_OF_RUNS = ("--user", "--report", "--junit", "--allow-inconclusive", "--verbose")
_WITHOUT_EFFECT = {"--interface": ("--user",), "--list": _OF_RUNS, "--verify": (*_OF_RUNS, "--only", "--json")}
"""The options that have no effect with another one.  Those with a default value are not known."""


def run_check(options: argparse.Namespace) -> int:
    """Run scenarios on a callback and print the report, or list the scenarios; return the exit status."""
    _check_combination(options)
    if options.interface:
        _choose_interface(options)
    if options.verify:
        return _verify(options)
    reports = [(path, _report_format(path)) for path in options.report]
    if options.junit is not None:
        reports.append((options.junit, _as_junit))
    _check_files([path for path, _ in reports])
    names = _scenario_names(options.only)
    if options.list:
        _list_scenarios(names, as_json=options.json)
        return 0
    runner = _runner(options, names)
    results = _run_scenarios(options, runner)
    try:
        try:
            for path, write in reports:
                path.write_text(write(options, runner, results), encoding="utf-8")
        finally:
            _report(options, results)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(messages.CANNOT_WRITE, path=error.filename or "stdout", reason=error.strerror) from None
    outcomes = {each.outcome for each in results}
    if "fail" in outcomes:
        return 1
    return _INCONCLUSIVE if "inconclusive" in outcomes and not options.allow_inconclusive else 0


def _check_combination(options: argparse.Namespace) -> None:
    """Refuse options that have no effect together, and a command line that does not say what to do."""
    subjects = {
        "CALLBACK": options.callback,
        "--interface": options.interface,
        "--list": options.list,
        "--verify": options.verify,
    }
    chosen = [name for name, value in subjects.items() if value]
    if not chosen:
        raise UsageError(messages.CALLBACK_MISSING)
    chosen += given_options(options, _WITHOUT_EFFECT.get(chosen[0], ()))
    if len(chosen) > 1:
        raise UsageError(messages.OPTIONS_CONFLICT, first=chosen[0], second=chosen[1])


def _check_files(paths: Sequence[Path]) -> None:
    """Refuse files that cannot be written, and two reports in one file: the later one would replace the other."""
    files = [path.resolve() for path in paths]
    for path, file in zip(paths, files, strict=True):
        if files.count(file) > 1:
            raise UsageError(messages.REPORT_TWICE, path=path)
        if error := _write_error(file):
            raise UsageError(messages.CANNOT_WRITE, path=path, reason=os.strerror(error))


def _write_error(file: Path) -> int:
    """Return the error with which writing *file* would fail after the scenarios; 0 if none is known."""
    if not file.parent.is_dir():
        return errno.ENOENT
    if file.is_dir():
        return errno.EISDIR
    return 0 if os.access(file if file.exists() else file.parent, os.W_OK) else errno.EACCES


def _choose_interface(options: argparse.Namespace) -> None:
    """Set the options that name a callback to those of a user interface of this package."""
    from mcp_elicit_client.check.interfaces import INTERFACES, SERVER, spec_of

    spec = spec_of(options.interface)
    options.callback, options.user, options.server = f"{spec}.callback", f"{spec}.follow", SERVER
    options.interface = INTERFACES[options.interface]


def _runner(options: argparse.Namespace, names: Sequence[str]) -> ScenarioRunner:
    from mcp_elicit_client.check.runner import ScenarioRunner

    return ScenarioRunner(
        callback=options.callback,
        user=options.user,
        shape=options.shape,
        server=options.server,
        scenarios=names,
        answer_timeout=options.answer_timeout,
        scenario_timeout=options.scenario_timeout,
        silence=options.silence,
    )


def _run_scenarios(options: argparse.Namespace, runner: ScenarioRunner) -> list[ScenarioResult]:
    from mcp_elicit_client.check.runner import LoadError

    results: list[ScenarioResult] = []
    names = list(runner.scenarios or ())
    started = time.monotonic()
    try:
        for result in runner.results():
            results.append(result)
            left = (time.monotonic() - started) / len(results) * (len(names) - len(results))
            _show_progress(
                options.catalog.text(messages.PROGRESS, done=len(results), count=len(names), seconds=math.ceil(left))
            )
    except LoadError as error:
        raise UsageError(sanitize_text(str(error), limit=_MAX_ERROR, multiline=False)) from None
    finally:
        _show_progress("")
    return sorted(results, key=lambda each: names.index(each.scenario))


def _scenario_names(selected: Sequence[str]) -> list[str]:
    """Return the names of the scenarios that *selected* names, directly or by their group; all if it is empty."""
    from mcp_elicit_client.check.scenarios import SCENARIOS

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
    from mcp_elicit_client.check.scenarios import SCENARIOS

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


# --- Reports in files

_Write: TypeAlias = "Callable[[argparse.Namespace, ScenarioRunner, Sequence[ScenarioResult]], str]"


def _report_format(path: Path) -> _Write:
    """Return the function that writes a report of the type of *path*."""
    try:
        return _REPORT_FORMATS[path.suffix.casefold()]
    except KeyError:
        suffixes = ", ".join(_REPORT_FORMATS)
        raise UsageError(messages.REPORT_TYPE, path=path, suffixes=suffixes) from None


def _make_report(options: argparse.Namespace, runner: ScenarioRunner, results: Sequence[ScenarioResult]) -> CheckReport:
    from mcp_elicit_client.check.report import make_report

    tested = {name: getattr(options, name) for name in _TESTED}
    return make_report({**tested, "deliveries": runner.deliveries}, runner.versions, results)


def _as_json(options: argparse.Namespace, runner: ScenarioRunner, results: Sequence[ScenarioResult]) -> str:
    from mcp_elicit_client.check.report import as_text

    return as_text(_make_report(options, runner, results))


def _as_page(options: argparse.Namespace, runner: ScenarioRunner, results: Sequence[ScenarioResult]) -> str:
    from mcp_elicit_client.check.report_page import as_page

    return as_page(_make_report(options, runner, results))


def _as_junit(options: argparse.Namespace, _runner: ScenarioRunner, results: Sequence[ScenarioResult]) -> str:
    from mcp_elicit_client.check.results import as_junit

    return as_junit(options.callback, results, allow_inconclusive=options.allow_inconclusive)


_TESTED = ("callback", "interface", "user", "shape", "server", "answer_timeout", "scenario_timeout", "silence")
_REPORT_FORMATS: Mapping[str, _Write] = {".json": _as_json, ".html": _as_page, ".xml": _as_junit}


def _verify(options: argparse.Namespace) -> int:
    """Compare the hash of a report with its content; return the exit status."""
    from mcp_elicit_client.check.report import BEGIN_EMBEDDED, ReportError, hash_of, read_report
    from mcp_elicit_client.check.report_page import is_page_of

    try:
        text = options.verify.read_text(encoding="utf-8")
        report = read_report(text)
    except OSError as error:
        raise UsageError(messages.CANNOT_READ, path=error.filename, reason=error.strerror) from None
    except (ReportError, UnicodeDecodeError) as error:
        reason = sanitize_text(str(error), limit=_MAX_ERROR, multiline=False)
        raise UsageError(messages.NO_REPORT, path=options.verify, reason=reason) from None
    if hash_of(report) != report.get("sha256"):
        message = messages.REPORT_CHANGED
    elif BEGIN_EMBEDDED in text and not is_page_of(report, text):
        message = messages.PAGE_DIFFERS
    else:
        message = messages.REPORT_VERIFIED
    print(wrap(options.catalog.text(message)))
    return 0 if message is messages.REPORT_VERIFIED else 1


def _report(options: argparse.Namespace, results: Sequence[ScenarioResult]) -> None:
    from mcp_elicit_client.check.results import as_json, report_lines

    if options.json:
        print(json.dumps(as_json(options.callback, results), indent=2))
        return
    print(f"{sanitize_text(options.callback, multiline=False)}\n")
    catalog: MessageCatalog = options.catalog
    for line in report_lines(results, verbose=options.verbose, width=output_width(), catalog=catalog):
        print(line)


def _show_progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
