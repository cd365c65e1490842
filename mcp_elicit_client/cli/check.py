"""``mcp-elicit check``: grade an elicitation callback."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp_elicit_client.core.text import sanitize_text

_EPILOG = """\
--user MODULE:CALLABLE names the user hook: it is called with a Wish before
each question, and plays the user of the callback; see docs/check.md.  Without
it, only what takes no user is tried.

exit status:
  0  nothing is wrong (with --strict: and everything could be tried)
  1  something is wrong
  2  there is no such callback, or the command line makes no sense
  130  interrupted
"""


def add_command(commands: Any) -> None:
    """Add ``check`` to *commands*, which is what ``add_subparsers`` returns."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="find what is wrong with an elicitation callback",
        description="Ask an elicitation callback what servers ask, good ones and bad ones, and look at what a server "
        "gets and at what the process does.  It runs in processes of its own, which are stopped when they hang.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("callback", metavar="CALLBACK", nargs="?", help="MODULE:CALLABLE, or FILE.py:CALLABLE")
    parser.add_argument("--user", metavar="HOOK", help="what plays its user, spelt alike")
    parser.add_argument(
        "--shape",
        choices=("sdk", "fastmcp", "langchain", "mcp-agent"),
        default="sdk",
        help="what it is called with; sdk unless told otherwise",
    )
    parser.add_argument("--server", metavar="NAME", default="fake-server", help="what it calls the server it serves")
    parser.add_argument(
        "--only", metavar="NAME", action="append", default=[], help="only this scenario, or those of this group"
    )
    parser.add_argument(
        "--answer-timeout", metavar="SECONDS", type=_seconds, default=5.0, help="the time for one answer"
    )
    parser.add_argument(
        "--scenario-timeout", metavar="SECONDS", type=_seconds, default=30.0, help="the time for one scenario"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="also write JUnit's XML")
    parser.add_argument("--list", action="store_true", help="list the scenarios, and try nothing")
    parser.add_argument("--strict", action="store_true", help="what could not be tried is wrong, too")
    parser.add_argument("--verbose", action="store_true", help="also list what is right")
    parser.set_defaults(run=_run)


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


def _run(options: argparse.Namespace, command: Sequence[str]) -> int:
    from mcp_elicit_client.testing.callback_loader import LoadError
    from mcp_elicit_client.testing.runner import ScenarioRunner

    names = _names(options.only)
    if command or not names or (options.callback is None) == (not options.list):
        why = "only call takes -- COMMAND" if command else "check needs a CALLBACK, or --list"
        return _complain(why if names else f"there is no scenario or group {options.only[0]}; see --list")
    if options.list:
        return _list(names)
    grading = ScenarioRunner(
        callback=options.callback,
        user=options.user,
        shape=options.shape,
        server=options.server,
        scenarios=names,
        answer_timeout=options.answer_timeout,
        scenario_timeout=options.scenario_timeout,
    )
    try:
        verdicts = []
        for verdict in grading.results():
            verdicts.append(verdict)
            _show_progress(len(verdicts), len(names))
    except LoadError as error:
        return _complain(str(error))
    finally:
        _show_progress(None, len(names))
    try:
        _report(options, verdicts)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        return _complain(f"cannot write {error.filename}: {error.strerror}")
    wrong = ("fail", "inconclusive") if options.strict else ("fail",)
    return 1 if any(each.outcome in wrong for each in verdicts) else 0


def _names(wanted: Sequence[str]) -> list[str]:
    from mcp_elicit_client.testing.scenarios import SCENARIOS

    every = SCENARIOS.values()
    for name in wanted:
        if not any(name in (each.name, each.group) for each in every):
            return []
    return [each.name for each in every if not wanted or each.name in wanted or each.group in wanted]


def _list(names: Sequence[str]) -> int:
    from mcp_elicit_client.testing.scenarios import SCENARIOS

    group = ""
    for name in names:
        if SCENARIOS[name].group != group:
            group = SCENARIOS[name].group
            print(f"{group}:")
        print(f"  {name}: {SCENARIOS[name].title}")
    return 0


def _report(options: argparse.Namespace, verdicts: Sequence[Any]) -> None:
    from mcp_elicit_client.testing.report import as_json, as_junit, as_text

    if options.junit is not None:
        options.junit.write_text(as_junit(options.callback, verdicts), encoding="utf-8")
    if options.json:
        print(json.dumps(as_json(options.callback, verdicts), indent=2))
        return
    print(f"{sanitize_text(options.callback, multiline=False)}\n")
    for line in as_text(verdicts, verbose=options.verbose):
        print(line)
    if options.user is None:
        print("Without --user only what takes no user was tried.")


def _show_progress(done: int | None, of: int) -> None:
    if sys.stderr.isatty():
        shown = "" if done is None else f"{done} of {of} scenarios"
        print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)


def _complain(why: str) -> int:
    print(f"mcp-elicit: {sanitize_text(why, limit=500, multiline=False)}", file=sys.stderr)
    return 2
