"""``mcp-elicit``: look at elicitation requests, and answer the ones of real servers."""

from __future__ import annotations

import argparse
import functools
import json
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
from pydantic_core import from_json

from mcp_elicit_client.cli import audit, check
from mcp_elicit_client.cli.call import CallFailedError, Job, call, explain
from mcp_elicit_client.cli.handler_options import add_browser, handler_from_options, wants_browser
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS
from mcp_elicit_client.core.schema.lint import lint
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.url.inspect import UrlRules
from mcp_elicit_client.demo.run import run_demo
from mcp_elicit_client.dispatch import normalize_answer
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.typing import Handler

_MAX_FILE = 16 * 1024 * 1024
_INTERRUPTED = 130
_EPILOG = """\
exit status:
  0  done: a question was answered (whatever the answer), a tool succeeded,
     a request is allowed by some revision of the protocol
  1  not done: nobody could answer, the server or its tool failed, no revision
     allows the request
  2  the command line makes no sense
  130  interrupted
"""


class _UsageError(Exception):
    """A command line that makes no sense."""


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run the command.

    Returns:
        The exit status.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    command: list[str] = []
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1 :]
    parser = _parser()
    options = parser.parse_args(words)
    _quiet_logging()
    try:
        return int(options.run(options, command))
    except _UsageError as error:
        parser.error(str(error))
    except (RequestError, CallFailedError) as error:
        print(f"mcp-elicit: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone: do not complain when Python flushes it.
        sys.stdout = None
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mcp-elicit",
        description="Look at the questions that MCP servers ask, and answer them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    demo = commands.add_parser("demo", help="start the bundled server and answer all its questions")
    demo.add_argument(
        "--auto", action="store_true", help="ask nobody: accept what the server suggests, cancel the rest"
    )
    add_browser(demo)
    demo.set_defaults(run=_demo)

    calls = commands.add_parser(
        "call",
        help="call a tool of any server and answer its questions",
        usage="mcp-elicit call [TOOL] [--args JSON] [--name NAME] [--json] (--url URL | -- COMMAND [ARG ...])",
        description="Connect to a server, call one of its tools, and answer its questions here. "
        "Without TOOL: list the tools, and in a terminal choose among them.",
        allow_abbrev=False,
    )
    calls.add_argument("tool", metavar="TOOL", nargs="?", help="the tool to call")
    calls.add_argument("--args", metavar="JSON", default="{}", help="the tool's arguments, a JSON object")
    calls.add_argument("--url", metavar="URL", help="a server that speaks streamable HTTP")
    calls.add_argument("--name", metavar="NAME", help="what to call the server in its questions")
    calls.add_argument("--json", action="store_true", help="print the tool's result as JSON, as on the wire")
    calls.add_argument("--legacy", action="store_true", help="speak a protocol revision before 2026-07-28")
    _add_shared(calls)
    calls.set_defaults(run=_call)

    show = commands.add_parser("show", help="ask one request from a file, print the result as JSON")
    show.add_argument(
        "file",
        metavar="FILE",
        help="the params of elicitation/create, or the whole request, as JSON; - for standard input",
    )
    show.add_argument("--name", metavar="NAME", default="the server of this file", help="what to call the server")
    _add_shared(show)
    show.set_defaults(run=_show)

    lints = commands.add_parser("lint", help="what each revision of the protocol says of a request")
    lints.add_argument("file", metavar="FILE", help="as in show")
    lints.add_argument("--protocol-version", choices=PROTOCOL_VERSIONS, help="only this revision")
    lints.add_argument("--json", action="store_true", help="print the findings as JSON")
    lints.set_defaults(run=_lint)

    audit.add_commands(commands)
    check.add_command(commands)
    return parser


def _add_shared(parser: argparse.ArgumentParser) -> None:
    add_browser(parser)
    parser.add_argument("--headless", action="store_true", help="ask nobody: every question is cancelled")
    parser.add_argument("--allow-loopback", action="store_true", help="let servers send you to URLs on this machine")


def _handler(options: argparse.Namespace) -> Handler:
    return HeadlessHandler() if options.headless else handler_from_options(options)


def _rules(options: argparse.Namespace) -> UrlRules:
    return UrlRules(allow_loopback=options.allow_loopback)


def _demo(options: argparse.Namespace, command: Sequence[str]) -> int:
    _no_command(command)
    ask = not options.auto and (wants_browser(options) or (sys.stdin.isatty() and sys.stdout.isatty()))
    handler = handler_from_options(options) if ask else None
    try:
        anyio.run(run_demo, handler, functools.partial(print, flush=True))
    except Exception as error:  # noqa: BLE001 -- whatever the SDK raises, in words
        raise CallFailedError(explain(error)) from None
    return 0


def _call(options: argparse.Namespace, command: Sequence[str]) -> int:
    if bool(options.url) == bool(command):
        raise _UsageError("call needs either --url URL or -- COMMAND [ARG ...]")
    arguments = _json(options.args, "--args")
    if not isinstance(arguments, dict):
        raise _UsageError("--args must be a JSON object")
    job = Job(
        where=options.url or command,
        name=options.name or sanitize_text(options.url or " ".join(command), limit=80, multiline=False),
        tool=options.tool,
        arguments=arguments,
        as_json=options.json,
        mode="legacy" if options.legacy else "auto",
    )
    return anyio.run(call, job, _handler(options), _rules(options))


def _show(options: argparse.Namespace, command: Sequence[str]) -> int:
    _no_command(command)
    request = parse_request(_params(options.file), server=options.name, url_rules=_rules(options))
    for problem in request.diagnostics:
        print(f"note: {_in_words(problem)}", file=sys.stderr)

    async def ask() -> Any:
        return await _handler(options)(request)

    answer = check_answer(request, normalize_answer(anyio.run(ask)))
    if answer.by != "user":
        print(f"mcp-elicit: {answer.reason}", file=sys.stderr)
    print(json.dumps(answer.to_wire()))
    return 0


def _lint(options: argparse.Namespace, command: Sequence[str]) -> int:
    _no_command(command)
    params = _params(options.file)
    revisions = [options.protocol_version] if options.protocol_version else PROTOCOL_VERSIONS
    findings = [finding for finding in lint(params) if finding.protocol_version in revisions]
    refusing = {finding.protocol_version for finding in findings if finding.severity == "error"}
    if options.json:
        print(json.dumps([finding.model_dump() for finding in findings], indent=2))
    else:
        for revision in revisions:
            print(f"{revision}: {'not allowed' if revision in refusing else 'allowed'}")
            for finding in findings:
                if finding.protocol_version == revision:
                    print(f"  {finding.severity}: {finding.path or '/'}: {finding.message}")
        for line in _verdict(params):
            print(line)
    return 1 if len(refusing) == len(revisions) else 0


def _verdict(params: object) -> Iterator[str]:
    """Say what we make of the request, whatever the revisions say."""
    try:
        request = parse_request(params)
    except RequestError as error:
        yield f"Here: refused, since {error}."
        return
    yield "Here: can be answered."
    for problem in request.diagnostics:
        yield f"  {problem.code}: {_in_words(problem)}"


def _in_words(problem: Diagnostic) -> str:
    where = f"{sanitize_text(problem.field, limit=80, multiline=False)}: " if problem.field is not None else ""
    return f"{where}{problem.message}"


def _no_command(command: Sequence[str]) -> None:
    if command:
        raise _UsageError("only call takes -- COMMAND")


def _params(name: str) -> object:
    """Read the params of a request from a file: bare, or within the whole request."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_MAX_FILE + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(_MAX_FILE + 1)
    except OSError as error:
        raise _UsageError(f"cannot read {name}: {error.strerror}") from None
    if len(data) > _MAX_FILE:
        raise _UsageError(f"{name} is larger than {_MAX_FILE} bytes")
    found = _json(data, name)
    if isinstance(found, dict) and "message" not in found and isinstance(found.get("params"), dict):
        return found["params"]
    return found


def _json(text: str | bytes, what: str) -> object:
    try:
        return from_json(text.decode(json.detect_encoding(text)) if isinstance(text, bytes) else text)
    except UnicodeDecodeError:
        raise _UsageError(f"{what} is not JSON: it is not in Unicode") from None
    except ValueError as error:
        raise _UsageError(f"{what} is not JSON: {error}") from None


class _PrintableFormatter(logging.Formatter):
    """Log lines may quote a server: they reach the terminal clean."""

    def format(self, record: logging.LogRecord) -> str:
        return sanitize_text(super().format(record))


def _quiet_logging() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_PrintableFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    warnings.simplefilter("ignore")
