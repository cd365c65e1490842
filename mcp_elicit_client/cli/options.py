"""The commands of ``mcp-elicit``, their options and their help."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args

from mcp_elicit_client._arguments import YEAR
from mcp_elicit_client.check.interfaces import INTERFACES
from mcp_elicit_client.check.settings import ANSWER_TIMEOUT, SCENARIO_TIMEOUT, SILENCE, CallbackShape
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import DEFAULT_TIMEOUT, NOT_SUSPENDABLE, SUSPENDED, wrap
from mcp_elicit_client.cli.completion import SHELLS, run_completion
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS
from mcp_elicit_client.presentation.catalog import MessageCatalog, available_languages
from mcp_elicit_client.presentation.descriptions import capitalize
from mcp_elicit_client.presentation.languages import is_available

Run = Callable[[argparse.Namespace], int]

_TAIL_LINES = 10


def _from(module: str, function: str) -> Run:
    """Return a function of a module beside this one, which is imported when the command runs: most need few modules."""

    def run(options: argparse.Namespace) -> int:
        return int(getattr(importlib.import_module(f"{__package__}.{module}"), function)(options))

    return run


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Writes the word "usage" in the user's language."""

    def __init__(self, *args: Any, usage_word: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self._usage_word = usage_word

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, self._usage_word if prefix is None else prefix)


class _Parser(argparse.ArgumentParser):
    """A parser whose help is in the language of *catalog*."""

    def __init__(self, *, catalog: MessageCatalog, **options: Any) -> None:
        self.catalog: MessageCatalog = catalog
        formatter = partial(_Formatter, usage_word=catalog.text(messages.USAGE))
        super().__init__(formatter_class=formatter, allow_abbrev=False, add_help=False, **options)
        self._positionals.title = catalog.text(messages.ARGUMENTS)
        self._optionals.title = catalog.text(messages.OPTIONS)
        self.add("-h", "--help", action="help", help=messages.HELP)
        self.add("--language", metavar="LANGUAGE", type=_language, default=argparse.SUPPRESS, help=messages.LANGUAGE)

    def print_help(self, file: Any = None) -> None:
        """Print the help.  An error is raised: argparse would ignore it."""
        print(self.format_help(), end="", file=file)

    def add(self, *names: str, help: Message, **options: Any) -> argparse.Action:  # noqa: A002 -- as argparse
        """Add an argument whose help is a message."""
        counts = {"count": options.pop("count")} if "count" in options else {}
        return self.add_argument(*names, help=_escape(self.catalog.text(help, **counts)), **options)

    def begin_commands(self, dest: str, *, required: bool) -> None:
        """Begin the commands of this one."""
        make: Any = partial(_Parser, catalog=self.catalog)
        title = self.catalog.text(messages.COMMANDS)
        self._commands: Any = self.add_subparsers(
            title=title, metavar="COMMAND", dest=dest, required=required, parser_class=make
        )

    def add_command(self, name: str, run: Run | None, summary: Message, **options: Any) -> _Parser:
        """
        Add a command; *run* is None if there are commands below it.

        Without a ``description``, its help begins with *summary*.
        """
        text = self.catalog.text(summary)
        described = {"description": wrap(capitalize(text)), **options}
        parser: _Parser = self._commands.add_parser(name, help=_escape(text), **described)
        parser.set_defaults(run=run, parser=parser)
        return parser


def _escape(text: str) -> str:
    """Return *text* for argparse, which formats it with ``%``."""
    return text.replace("%", "%%")


def make_parser(catalog: MessageCatalog) -> argparse.ArgumentParser:
    """
    Return the parser.

    Its result has `run`, a function from the options to the exit status, and `parser`, that of the command.
    """
    parser = _Parser(
        catalog=catalog,
        prog="mcp-elicit",
        description=catalog.text(messages.DESCRIPTION),
        epilog=_exit_status(catalog, messages.SUCCEEDED, messages.FAILED, messages.USAGE_ERROR),
    )
    parser.add("--version", action=_ShowVersion, nargs=0, help=messages.VERSION)
    parser.set_defaults(run=lambda _options: _print_help(parser), parser=parser, language=None)
    parser.begin_commands("command", required=False)
    for add in (_add_demo, _add_call, _add_requests, _add_answer, _add_show, _add_lint, _add_audit, _add_check):
        add(parser)
    completion = parser.add_command(
        "completion",
        partial(run_completion, parser),
        messages.COMPLETION,
        description=f"{catalog.text(messages.COMPLETION_DESCRIPTION)}\n{_LOAD_COMPLETION}",
    )
    completion.add("shell", choices=SHELLS, help=messages.SHELL)
    return parser


_LOAD_COMPLETION = """
  bash:  source <(mcp-elicit completion bash)
  zsh:   source <(mcp-elicit completion zsh)
  fish:  mcp-elicit completion fish | source
"""


class _ShowVersion(argparse.Action):
    """Prints the version, which is read only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"mcp-elicit {_version('mcp-elicit-client')} (mcp {_version('mcp')})")
        parser.exit()


def _version(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return "?"


def _print_help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return 0


def _exit_status(
    catalog: MessageCatalog, success: Message, failure: Message, usage: Message, *others: tuple[int, Message]
) -> str:
    rows = ((0, success), (1, failure), (2, usage), *others, (130, messages.INTERRUPTED))
    lines = (wrap(f"{status:<4} {catalog.text(message)}", 2, 7) for status, message in rows)
    return "\n".join((catalog.text(messages.EXIT_STATUS), *lines))


def _add_demo(program: _Parser) -> None:
    parser = program.add_command("demo", _from("call", "run_demo_command"), messages.DEMO)
    parser.add("--auto", action="store_true", help=messages.AUTO)
    parser.add("--json", action="store_true", help=messages.AS_JSON)
    _add_browser(parser)


def _add_call(program: _Parser) -> None:
    parser = program.add_command(
        "call",
        _from("call", "run_call"),
        messages.CALL,
        usage="mcp-elicit call [TOOL] [--args JSON] [--name NAME] [--json] (--url URL | -- COMMAND [ARG ...])",
        description=wrap(program.catalog.text(messages.CALL_DESCRIPTION)),
        epilog=_exit_status(
            program.catalog,
            messages.CALL_SUCCEEDED,
            messages.CALL_FAILED,
            messages.USAGE_ERROR,
            (3, messages.UNANSWERED),
            (SUSPENDED, messages.SUSPENDED),
            (NOT_SUSPENDABLE, messages.PUSHED),
        ),
    )
    parser.add("tool", metavar="TOOL", nargs="?", help=messages.TOOL)
    parser.add("--args", metavar="JSON", default="{}", help=messages.TOOL_ARGUMENTS)
    parser.add("--url", metavar="URL", help=messages.URL)
    parser.add("--name", metavar="NAME", type=_server_name, help=messages.NAME)
    parser.add("--json", action="store_true", help=messages.AS_JSON)
    parser.add("--legacy", action="store_true", help=messages.LEGACY)
    parser.add("--answers", metavar="FILE", help=messages.ANSWERS)
    parser.add("--set", metavar="FIELD=VALUE", action="append", default=[], help=messages.SET)
    parser.add("--decline", action="store_true", help=messages.DECLINE_ALL)
    parser.add("--cancel", action="store_true", help=messages.CANCEL_ALL)
    parser.add("--open-url", choices=("none",), help=messages.OPEN_URL)
    parser.add("--suspend", action="store_true", help=messages.SUSPEND)
    _add_store(parser)
    parser.add(
        "--suspend-timeout",
        metavar="SECONDS",
        type=_seconds,
        help=messages.SUSPEND_TIMEOUT,
        count=int(DEFAULT_TIMEOUT),
    )
    _add_values_of_environment(parser)
    _add_handler(parser)
    _add_limits(parser)


def _add_requests(program: _Parser) -> None:
    epilog = _exit_status(program.catalog, messages.LISTED, messages.STORE_FAILED, messages.USAGE_ERROR)
    parser = program.add_command("requests", _from("requests", "run_requests"), messages.LIST_REQUESTS, epilog=epilog)
    parser.add("--json", action="store_true", help=messages.AS_JSON)
    _add_store(parser)


def _add_answer(program: _Parser) -> None:
    epilog = _exit_status(
        program.catalog,
        messages.ANSWERED,
        messages.ANSWER_FAILED,
        messages.USAGE_ERROR,
        (3, messages.ANSWER_INVALID),
        (SUSPENDED, messages.SUSPENDED),
        (NOT_SUSPENDABLE, messages.PUSHED),
    )
    parser = program.add_command(
        "answer",
        _from("answer", "run_answer"),
        messages.ANSWER_REQUEST,
        usage="mcp-elicit answer ID [FIELD=VALUE ...] [options] [-- COMMAND [ARG ...]]",
        description=wrap(program.catalog.text(messages.ANSWER_DESCRIPTION)),
        epilog=epilog,
    )
    parser.set_defaults(prints_document=True)
    parser.add("id", metavar="ID", help=messages.REQUEST_ID)
    parser.add("fields", metavar="FIELD=VALUE", nargs="*", default=[], help=messages.FIELD_VALUE)
    parser.add("--answers", metavar="FILE", help=messages.VALUES_FILE)
    parser.add("--accept", action="store_true", help=messages.ACCEPT_DEFAULTS)
    parser.add("--decline", action="store_true", help=messages.DECLINE_REQUEST)
    parser.add("--cancel", action="store_true", help=messages.CANCEL_REQUEST)
    parser.add("--done", action="store_true", help=messages.URL_DONE)
    parser.add("--continue", dest="continue_call", action="store_true", help=messages.CONTINUE)
    parser.add("--send-anyway", action="store_true", help=messages.SEND_ANYWAY_OPTION)
    parser.add("--dry-run", action="store_true", help=messages.DRY_RUN)
    _add_store(parser)
    parser.add("--url", metavar="URL", help=messages.URL)
    parser.add("--name", metavar="NAME", type=_server_name, help=messages.NAME)
    _add_values_of_environment(parser)


def _add_store(parser: _Parser) -> None:
    parser.add("--store", metavar="STORE", help=messages.STORE)
    parser.add("--user", metavar="USER", help=messages.CALL_USER)


def _add_values_of_environment(parser: _Parser) -> None:
    parser.add("--env", metavar="NAME", action="append", default=[], help=messages.ENV)
    parser.add("--header", metavar="NAME=VARIABLE", action="append", default=[], help=messages.HEADER)


def _add_show(program: _Parser) -> None:
    epilog = _exit_status(program.catalog, messages.SHOW_SUCCEEDED, messages.SHOW_FAILED, messages.USAGE_ERROR)
    parser = program.add_command("show", _from("show", "run_show"), messages.SHOW, epilog=epilog)
    parser.add("file", metavar="FILE", help=messages.FILE)
    name = program.catalog.text(messages.FILE_SERVER)
    parser.add("--name", metavar="NAME", type=_server_name, default=name, help=messages.NAME)
    parser.add("--json", action="store_true", help=messages.DETAILED_JSON)
    _add_handler(parser)
    _add_limits(parser)


def _add_lint(program: _Parser) -> None:
    epilog = _exit_status(program.catalog, messages.LINT_SUCCEEDED, messages.LINT_FAILED, messages.USAGE_ERROR)
    parser = program.add_command("lint", _from("lint", "run_lint"), messages.LINT, epilog=epilog)
    parser.add("file", metavar="FILE", help=messages.FILE)
    parser.add("--protocol-version", choices=PROTOCOL_VERSIONS, help=messages.PROTOCOL_VERSION)
    parser.add("--json", action="store_true", help=messages.AS_JSON)
    _add_loopback(parser)
    _add_limits(parser)


def _add_audit(program: _Parser) -> None:
    audit = program.add_command("audit", None, messages.AUDIT)
    audit.begin_commands("subcommand", required=True)

    parser = _add_log_command(audit, "verify", _from("audit", "run_verify"), messages.AUDIT_VERIFY)
    parser.add("--key", metavar="FILE", help=messages.KEY)
    parser.add("--checkpoint", metavar="SEQ:MAC", help=messages.CHECKPOINT_OPTION)

    parser = _add_log_command(audit, "tail", _from("audit", "run_tail"), messages.AUDIT_TAIL)
    parser.add("-n", metavar="N", type=_count, default=_TAIL_LINES, help=messages.EVENT_COUNT, count=_TAIL_LINES)
    parser.add("--follow", action="store_true", help=messages.FOLLOW)
    _add_user(parser)

    _add_user(_add_log_command(audit, "stats", _from("audit", "run_stats"), messages.AUDIT_STATS))


def _add_log_command(audit: _Parser, name: str, run: Run, summary: Message) -> _Parser:
    text = capitalize(audit.catalog.text(summary))
    description = wrap(f"{text}. {audit.catalog.text(messages.ROTATED_FILES)}")
    epilog = _exit_status(audit.catalog, messages.AUDIT_SUCCEEDED, messages.AUDIT_FAILED, messages.AUDIT_USAGE_ERROR)
    parser = audit.add_command(name, run, summary, description=description, epilog=epilog)
    parser.add("file", metavar="FILE", type=Path, help=messages.LOG)
    parser.add("--json", action="store_true", help=messages.AS_JSON)
    return parser


def _add_user(parser: _Parser) -> None:
    parser.add("--user", metavar="USER", help=messages.EVENT_USER)
    parser.add("--key", metavar="FILE", help=messages.KEY)


def _add_check(program: _Parser) -> None:
    status = _exit_status(
        program.catalog,
        messages.CHECK_SUCCEEDED,
        messages.CHECK_FAILED,
        messages.CHECK_USAGE_ERROR,
        (3, messages.CHECK_INCONCLUSIVE),
    )
    parser = program.add_command(
        "check",
        _from("check", "run_check"),
        messages.CHECK,
        description=wrap(program.catalog.text(messages.CHECK_DESCRIPTION)),
        epilog=f"{wrap(program.catalog.text(messages.USER_HOOK))}\n\n{status}",
    )
    parser.add("callback", metavar="CALLBACK", nargs="?", help=messages.CALLBACK)
    parser.add("--user", metavar="HOOK", help=messages.HOOK)
    parser.add("--interface", choices=sorted(INTERFACES), help=messages.INTERFACE)
    parser.add("--shape", choices=get_args(CallbackShape), default="sdk", help=messages.SHAPE)
    parser.add("--server", metavar="NAME", type=_server_name, default="fake-server", help=messages.SHOWN_SERVER)
    parser.add("--only", metavar="NAME", action="append", default=[], help=messages.ONLY)
    for name, default, text in (
        ("--answer-timeout", ANSWER_TIMEOUT, messages.ANSWER_TIMEOUT),
        ("--scenario-timeout", SCENARIO_TIMEOUT, messages.SCENARIO_TIMEOUT),
        ("--silence", SILENCE, messages.SILENCE),
    ):
        parser.add(name, metavar="SECONDS", type=_seconds, default=default, help=text)
    parser.add("--json", action="store_true", help=messages.AS_JSON)
    parser.add("--report", metavar="FILE", type=Path, action="append", default=[], help=messages.REPORT)
    parser.add("--verify", metavar="FILE", type=Path, help=messages.VERIFY)
    parser.add("--junit", metavar="FILE", type=Path, help=messages.JUNIT)
    parser.add("--list", action="store_true", help=messages.LIST)
    parser.add("--allow-inconclusive", action="store_true", help=messages.ALLOW_INCONCLUSIVE)
    parser.add("--verbose", action="store_true", help=messages.VERBOSE)


# --- Options of several commands


def _add_handler(parser: _Parser) -> None:
    _add_browser(parser)
    parser.add("--headless", action="store_true", help=messages.HEADLESS)
    _add_loopback(parser)


def _add_loopback(parser: _Parser) -> None:
    parser.add("--allow-loopback", action="store_true", help=messages.ALLOW_LOOPBACK)


def _add_browser(parser: _Parser) -> None:
    parser.add("--browser", action="store_true", help=messages.BROWSER)


def _add_limits(parser: _Parser) -> None:
    """Add a switch for each of `Limits`."""
    catalog = parser.catalog
    group = parser.add_argument_group(
        catalog.text(messages.LIMITS), dedent(wrap(catalog.text(messages.LIMITS_DESCRIPTION), 2))
    )
    for limit in dataclasses.fields(Limits):
        default = getattr(DEFAULT_LIMITS, limit.name)
        if isinstance(default, bool):
            text = _escape(catalog.text(messages.NO_PATTERNS))
            group.add_argument(f"--no-{_dashed(limit.name)}", dest=limit.name, action="store_false", help=text)
        else:
            text = _escape(catalog.text(messages.MAXIMUM, count=default))
            group.add_argument(f"--{_dashed(limit.name)}", metavar="N", type=_count, default=default, help=text)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _language(value: str) -> str:
    available = available_languages()
    if not is_available(value, available):
        raise argparse.ArgumentTypeError(f"unknown language {value!r}: use one of {', '.join(available)}")
    return value


def _server_name(value: str) -> str:
    if not value.strip():
        raise argparse.ArgumentTypeError("the name is empty: pass the name that users see")
    return value


def _count(value: str) -> int:
    with suppress(ValueError):
        if (number := int(value)) >= 0:
            return min(number, sys.maxsize)
    raise argparse.ArgumentTypeError(f"invalid number {value!r}: pass a whole number, at least 0")


def _seconds(value: str) -> float:
    with suppress(ValueError):
        if 0 < (number := float(value)) <= YEAR:
            return number
    raise argparse.ArgumentTypeError(f"invalid number of seconds {value!r}: pass a number above 0 and at most {YEAR}")
