"""The ``mcp-elicit`` command: its options and help texts, and its exit status."""

from __future__ import annotations

import argparse
import logging
import math
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mcp_elicit_client.cli.audit import run_stats, run_tail, run_verify
from mcp_elicit_client.cli.call import run_call, run_demo_command, run_show
from mcp_elicit_client.cli.check import run_check, run_lint
from mcp_elicit_client.cli.common import COMMAND_NOT_ACCEPTED, ERROR, CommandFailedError, UsageError
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.exceptions import RequestError

__all__ = ["main"]

_FAILED = 1
_USAGE_ERROR = 2
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run the command.

    Args:
        argv: The arguments; None for those of the process.

    Returns:
        The exit status.
    """
    options = _parse(list(sys.argv[1:] if argv is None else argv))
    _configure_logging()
    try:
        if options.server_command and options.command != "call":
            raise UsageError(COMMAND_NOT_ACCEPTED)  # noqa: TRY301 -- printed as the other errors
        return int(options.run(options))
    except UsageError as error:
        return _fail(error, _USAGE_ERROR)
    except (RequestError, CommandFailedError) as error:
        return _fail(error, _FAILED)
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the output is gone.  Python must not complain when it flushes the stream.
        sys.stdout = None
        return _FAILED


def _parse(arguments: list[str]) -> argparse.Namespace:
    """Parse *arguments*; the server's command after ``--`` becomes `server_command`."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options = make_parser().parse_args(arguments[:at])
    options.server_command = arguments[at + 1 :]
    return options


def _fail(error: Exception, status: int) -> int:
    print(ERROR.format(reason=error), file=sys.stderr)
    return status


class _SanitizingFormatter(logging.Formatter):
    """Sanitizes log lines, which may quote a server."""

    def format(self, record: logging.LogRecord) -> str:
        return sanitize_text(super().format(record))


def _configure_logging() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_SanitizingFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    warnings.simplefilter("ignore")


# --- Options and help texts

Run = Callable[[argparse.Namespace], int]

_TAIL_LINES = 10
_EPILOG = """\
exit status:
  0  success: a request was answered (with any answer), a tool succeeded, or
     a protocol version allows the request
  1  failure: the request cannot be answered, the server or its tool failed,
     or no protocol version allows the request
  2  usage error
  130  interrupted
"""
_CHECK_EPILOG = """\
--user MODULE:CALLABLE names the user hook.  It is called with a UserAction
before each request and plays the user of the callback; see docs/check.md.
Without it, only scenarios that need no user are run.

exit status:
  0  no scenario failed (with --strict: every scenario passed or does not apply)
  1  a scenario failed
  2  the callback cannot be loaded, or usage error
  130  interrupted
"""
_AUDIT_EPILOG = """\
exit status:
  0  success; for verify: the log is valid
  1  the log is not valid, or it cannot be verified
  2  a file cannot be read, or usage error
  130  interrupted
"""


def make_parser() -> argparse.ArgumentParser:
    """Return the parser.  Its result has `run`, a function from the options to the exit status."""
    parser = argparse.ArgumentParser(
        prog="mcp-elicit",
        description="Show, answer and check elicitation requests of MCP servers.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    _add_demo(commands)
    _add_call(commands)
    _add_show(commands)
    _add_lint(commands)
    _add_audit(commands)
    _add_check(commands)
    return parser


def _add_command(commands: Any, name: str, run: Run, summary: str, **options: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options
    )
    parser.set_defaults(run=run)
    return parser


def _add_demo(commands: Any) -> None:
    parser = _add_command(commands, "demo", run_demo_command, "start the demo server and answer its requests")
    parser.add_argument("--auto", action="store_true", help="accept default values and cancel the rest without asking")
    _add_browser(parser)


def _add_call(commands: Any) -> None:
    parser = _add_command(
        commands,
        "call",
        run_call,
        "call a tool of a server and answer its requests",
        usage="mcp-elicit call [TOOL] [--args JSON] [--name NAME] [--json] (--url URL | -- COMMAND [ARG ...])",
        description="Connect to a server, call one of its tools, and answer its requests.\n"
        "Without TOOL: list the tools; in a terminal, choose among them.",
    )
    parser.add_argument("tool", metavar="TOOL", nargs="?", help="tool to call")
    parser.add_argument("--args", metavar="JSON", default="{}", help="arguments of the tool, a JSON object")
    parser.add_argument("--url", metavar="URL", help="URL of a server that uses streamable HTTP")
    parser.add_argument("--name", metavar="NAME", help="server name to display")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--legacy", action="store_true", help="use a protocol version before 2026-07-28")
    _add_handler(parser)


def _add_show(commands: Any) -> None:
    parser = _add_command(commands, "show", run_show, "show the request in a file and print the answer as JSON")
    _add_file(parser)
    parser.add_argument("--name", metavar="NAME", default="the server of this file", help="server name to display")
    _add_handler(parser)


def _add_lint(commands: Any) -> None:
    parser = _add_command(commands, "lint", run_lint, "check a request against each protocol version")
    _add_file(parser)
    parser.add_argument("--protocol-version", choices=PROTOCOL_VERSIONS, help="check only this protocol version")
    parser.add_argument("--json", action="store_true", help="print the messages as JSON")


def _add_audit(commands: Any) -> None:
    audit = commands.add_parser("audit", help="verify or read an audit log", allow_abbrev=False)
    subcommands = audit.add_subparsers(title="commands", metavar="COMMAND", dest="subcommand", required=True)

    parser = _add_log_command(subcommands, "verify", run_verify, "verify that a log was not changed")
    _add_key(parser)
    parser.add_argument("--checkpoint", metavar="SEQ:MAC", help="checkpoint that the log must contain")

    parser = _add_log_command(subcommands, "tail", run_tail, "print the last events without verification")
    parser.add_argument(
        "-n", metavar="N", type=_count, default=_TAIL_LINES, help=f"number of events (default: {_TAIL_LINES})"
    )
    parser.add_argument("--follow", action="store_true", help="also print new events")
    _add_user(parser)

    _add_user(_add_log_command(subcommands, "stats", run_stats, "count the events without verification"))


def _add_log_command(commands: Any, name: str, run: Run, summary: str) -> argparse.ArgumentParser:
    description = f"{summary[0].upper()}{summary[1:]}.  Rotated files beside the log are included."
    parser = _add_command(commands, name, run, summary, description=description, epilog=_AUDIT_EPILOG)
    parser.add_argument("file", metavar="FILE", type=Path, help="the log")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _add_user(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", metavar="USER", help="only events of this user, as the host application calls it")
    _add_key(parser)


def _add_key(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--key", metavar="FILE", help="file with the key in hexadecimal (default: beside the log)")


def _add_check(commands: Any) -> None:
    parser = _add_command(
        commands,
        "check",
        run_check,
        "test an elicitation callback",
        description="Send requests of correct and hostile servers to an elicitation callback, and check the answers\n"
        "and what the process does.  The callback runs in other processes, which are stopped if they hang.",
        epilog=_CHECK_EPILOG,
    )
    parser.add_argument("callback", metavar="CALLBACK", nargs="?", help="MODULE:CALLABLE or FILE.py:CALLABLE")
    parser.add_argument("--user", metavar="HOOK", help="the user hook, in the same form")
    parser.add_argument(
        "--shape",
        choices=("sdk", "fastmcp", "langchain", "mcp-agent"),
        default="sdk",
        help="parameters of the callback (default: sdk)",
    )
    parser.add_argument("--server", metavar="NAME", default="fake-server", help="server name that the callback shows")
    parser.add_argument(
        "--only", metavar="NAME", action="append", default=[], help="run only this scenario, or this group"
    )
    parser.add_argument(
        "--answer-timeout", metavar="SECONDS", type=_seconds, default=5.0, help="maximum time for one answer"
    )
    parser.add_argument(
        "--scenario-timeout", metavar="SECONDS", type=_seconds, default=30.0, help="maximum time for one scenario"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="also write the report as JUnit XML")
    parser.add_argument("--list", action="store_true", help="list the scenarios without running them")
    parser.add_argument("--strict", action="store_true", help="treat inconclusive scenarios as failed")
    parser.add_argument("--verbose", action="store_true", help="also list the scenarios that pass")


# --- options of several commands


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        help="params of elicitation/create, or the whole request, as JSON; - for standard input",
    )


def _add_handler(parser: argparse.ArgumentParser) -> None:
    _add_browser(parser)
    parser.add_argument("--headless", action="store_true", help="cancel every request without asking")
    parser.add_argument("--allow-loopback", action="store_true", help="allow URLs on this computer")


def _add_browser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--browser", action="store_true", help="show requests in the browser (also: MCP_ELICIT_UI=browser)"
    )


def _count(value: str) -> int:
    number = int(value)
    if number < 0:
        raise ValueError
    return number


def _seconds(value: str) -> float:
    number = float(value)
    if not 0 < number < math.inf:
        raise ValueError
    return number
