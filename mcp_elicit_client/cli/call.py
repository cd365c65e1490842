"""``mcp-elicit call``, ``demo`` and ``show``: answer the requests of a server, of the demo server, or of a file."""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import anyio
from pydantic_core import from_json

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, Connection, ConnectMode, connect
from mcp_elicit_client.cli.common import (
    ARGUMENTS_NOT_AN_OBJECT,
    ARGUMENTS_NOT_JSON,
    CONNECTION_CLOSED,
    ERROR,
    NEEDS_LEGACY,
    NOT_AN_OBJECT,
    NOTE,
    SERVER_FAILED,
    SERVER_MISSING,
    TOOL_PROMPT,
    UNKNOWN_TOOL,
    CommandFailedError,
    UsageError,
    describe_diagnostic,
    parse_json,
    read_params,
)
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.url.inspect import UrlRules
from mcp_elicit_client.demo.run import run_demo
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.exceptions import CallError, MissingExtraError
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.handlers.terminal.line_mode import Console, EndOfInputError, InterruptedByUserError, terminal
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.quoting import quote
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.registry import ElicitationRegistry
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.typing import Answer, Handler, Request

if TYPE_CHECKING:
    from mcp.types import ElicitResult

_MAX_RESULT = 100_000
_MAX_DESCRIPTION = 300
_MAX_NAME = 80
_MAX_ERROR = 500
_LOG_LINES = 10
_WIDTH = 78
_INVALID_REQUEST = -32600
_EXAMPLE = 'TOOL {"text": "hello"}'


def run_demo_command(options: argparse.Namespace) -> int:
    """Run the demo; return the exit status."""
    asks_user = not options.auto and (wants_browser(options) or (sys.stdin.isatty() and sys.stdout.isatty()))
    handler = interactive_handler(options) if asks_user else None
    try:
        anyio.run(run_demo, handler, functools.partial(print, flush=True))
    except Exception as error:  # noqa: BLE001 -- the SDK may raise anything
        raise CommandFailedError(_explain(error)) from None
    return 0


def run_call(options: argparse.Namespace) -> int:
    """Call a tool, or list the tools and let the user choose; return the exit status."""
    if bool(options.url) == bool(options.server_command):
        raise UsageError(SERVER_MISSING)
    arguments = parse_json(options.args, "--args")
    if not isinstance(arguments, dict):
        raise UsageError(NOT_AN_OBJECT.format(source="--args"))
    return anyio.run(_connect_and_call, options, arguments)


async def _connect_and_call(options: argparse.Namespace, arguments: Mapping[str, Any]) -> int:
    registry = ElicitationRegistry(url_rules=url_rules(options))
    registry.on_elicitation(handler_from_options(options))
    mode: ConnectMode = "legacy" if options.legacy else "auto"
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errlog:
        where = options.url or Command(options.server_command, errlog)
        try:
            async with connect(where, Caller(registry, _server_name(options)), mode=mode) as connection:
                if options.tool is None:
                    return await _choose_tools(connection, as_json=options.json)
                return await _call_tool(connection, options.tool, arguments, as_json=options.json)
        except Exception as error:  # noqa: BLE001 -- the SDK may raise anything
            if any(isinstance(each, BrokenPipeError) for each in _leaves(error)):
                raise BrokenPipeError from None
            hint = f"\n{NEEDS_LEGACY}" if _needs_legacy(error, mode) else ""
            raise CommandFailedError(_explain(error, errlog) + hint) from None


def _server_name(options: argparse.Namespace) -> str:
    address: Sequence[str] = [options.url] if options.url else options.server_command
    return options.name or sanitize_text(" ".join(address), limit=_MAX_NAME, multiline=False)


async def _call_tool(
    connection: Connection, tool: str, arguments: Mapping[str, Any], *, as_json: bool, is_quoted: bool = False
) -> int:
    """Call *tool* and print its result: as it is, or quoted among lines of the host."""
    result = await connection.call_tool(tool, arguments)
    if as_json:
        print(json.dumps(result))
    else:
        for part in result.get("content", []):
            shown = part["text"] if part.get("type") == "text" else f"[{part.get('type')}]"
            text = sanitize_text(str(shown), limit=_MAX_RESULT)
            print(quote(text, _WIDTH) if is_quoted else text)
    return 1 if result.get("isError") else 0


async def _choose_tools(connection: Connection, *, as_json: bool) -> int:
    """List the tools; in a terminal, call the tools that the user types."""
    tools = await connection.list_tools()
    for tool, description in tools:
        print(quote(sanitize_text(tool, limit=_MAX_DESCRIPTION, multiline=False), _WIDTH))
        if description:
            described = quote(sanitize_text(description, limit=_MAX_DESCRIPTION, multiline=False), _WIDTH)
            print(textwrap.indent(described, "  "))
    while True:
        async with terminal() as console:
            line = None if console is None else await _ask_tool(console)
        if not line:
            return 0
        tool, arguments, complaint = _read_tool_line(line, {tool for tool, _ in tools})
        if complaint:
            print(complaint)
            continue
        try:
            await _call_tool(connection, tool, arguments, as_json=as_json, is_quoted=True)
        except Exception as error:  # noqa: BLE001 -- the next call may succeed
            print(_explain(error))


async def _ask_tool(console: Console) -> str | None:
    try:
        return (await console.ask(f"\n{TOOL_PROMPT}")).strip()
    except (EndOfInputError, InterruptedByUserError):
        return None


def _read_tool_line(line: str, tools: set[str]) -> tuple[str, dict[str, Any], str]:
    """Return the tool and its arguments, and why they cannot be used; empty if they can."""
    tool, _, typed = line.partition(" ")
    try:
        arguments = from_json(typed or "{}")
    except ValueError:
        return tool, {}, ARGUMENTS_NOT_JSON.format(example=_EXAMPLE)
    if tool not in tools:
        return tool, {}, UNKNOWN_TOOL
    if not isinstance(arguments, dict):
        return tool, {}, ARGUMENTS_NOT_AN_OBJECT
    return tool, arguments, ""


def _explain(error: BaseException, errlog: TextIO | None = None) -> str:
    """Return what failed, sanitized, with the last lines of the server's log."""
    causes = list(
        dict.fromkeys(sanitize_text(_describe(each), limit=_MAX_ERROR, multiline=False) for each in _leaves(error))
    )
    lines = [SERVER_FAILED.format(reason="; ".join(causes))]
    if errlog is not None:
        errlog.seek(0)
        tail = errlog.read()[-_MAX_RESULT:].splitlines()[-_LOG_LINES:]
        lines += [
            quote(sanitize_text(line, limit=_MAX_ERROR, multiline=False), _WIDTH) for line in tail if line.strip()
        ]
    return "\n".join(lines)


def _needs_legacy(error: BaseException, mode: ConnectMode) -> bool:
    """Return True if the server may have failed because it supports only server-initiated requests."""
    return mode == "auto" and any(_code(each) == _INVALID_REQUEST for each in _leaves(error))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    group = getattr(error, "exceptions", None)
    if group is None:
        yield error
    else:
        for each in group:
            yield from _leaves(each)


def _describe(error: BaseException) -> str:
    if isinstance(error, (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)):
        return CONNECTION_CLOSED
    if isinstance(error, CallError):
        return str(error)
    code = _code(error)
    return f"{error} (error {code})" if code is not None else f"{type(error).__name__}: {error}"


def _code(error: BaseException) -> int | None:
    code = getattr(getattr(error, "error", None), "code", None)
    return code if isinstance(code, int) else None


# --- show


def run_show(options: argparse.Namespace) -> int:
    """Show a request and print its answer as JSON; return the exit status."""
    params = read_params(options.file)
    handler = handler_from_options(options)

    async def note_and_ask(request: Request, /) -> Answer | ElicitResult:
        for warning in request_warnings(request, ENGLISH):
            print(warning_line(warning, ENGLISH), file=sys.stderr)
        for diagnostic in request.diagnostics:
            print(NOTE.format(text=describe_diagnostic(diagnostic)), file=sys.stderr)
        return await handler(request)

    dispatcher = Dispatcher(note_and_ask, RequestOptions(url_rules=url_rules(options)))

    async def answer() -> Answer:
        return await dispatcher.answer(params, server=Server.from_name(options.name))

    given = anyio.run(answer)
    if given.by != "user":
        print(ERROR.format(reason=given.reason), file=sys.stderr)
    print(json.dumps(dispatcher.to_wire(given)))
    return 1 if given.by == "error" else 0


# --- The handler that the options select


def wants_browser(options: argparse.Namespace) -> bool:
    """Return True if requests are shown in the browser."""
    return bool(options.browser) or os.environ.get("MCP_ELICIT_UI", "").strip().casefold() == "browser"


def interactive_handler(options: argparse.Namespace) -> Handler:
    """
    Return the handler that asks the user of this computer.

    Raises:
        CommandFailedError: If an extra is missing.
    """
    if not wants_browser(options):
        return TerminalHandler()
    from mcp_elicit_client.handlers.browser import BrowserHandler

    try:
        return BrowserHandler()
    except MissingExtraError as error:
        raise CommandFailedError(str(error)) from None


def handler_from_options(options: argparse.Namespace) -> Handler:
    """
    Return the handler that the options select.

    Raises:
        CommandFailedError: If an extra is missing.
    """
    return HeadlessHandler() if options.headless else interactive_handler(options)


def url_rules(options: argparse.Namespace) -> UrlRules:
    """Return the URL rules that the options select."""
    return UrlRules(allow_loopback=options.allow_loopback)
