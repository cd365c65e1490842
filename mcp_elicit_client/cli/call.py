"""``mcp-elicit call`` and ``mcp-elicit demo``: call the tools of a server and answer its requests."""

from __future__ import annotations

import argparse
import functools
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

import anyio
from pydantic_core import from_json

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, Connection, ConnectMode, connect
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.messages import text
from mcp_elicit_client.cli.options import (
    CommandFailedError,
    UsageError,
    handler_from_options,
    interactive_handler,
    parse_json,
    url_rules,
    wants_browser,
)
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.demo.run import run_demo
from mcp_elicit_client.exceptions import CallError
from mcp_elicit_client.handlers.terminal.line_mode import Console, EndOfInputError, InterruptedByUserError, terminal
from mcp_elicit_client.presentation.quoting import quote
from mcp_elicit_client.registry import ElicitationRegistry

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
        raise UsageError(text(messages.SERVER_MISSING))
    arguments = parse_json(options.args, "--args")
    if not isinstance(arguments, dict):
        raise UsageError(text(messages.NOT_AN_OBJECT, source="--args"))
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
            hint = f"\n{text(messages.NEEDS_LEGACY)}" if _needs_legacy(error, mode) else ""
            raise CommandFailedError(_explain(error, errlog) + hint) from None


def _server_name(options: argparse.Namespace) -> str:
    address: Sequence[str] = [options.url] if options.url else options.server_command
    return options.name or sanitize_text(" ".join(address), limit=_MAX_NAME, multiline=False)


async def _call_tool(connection: Connection, tool: str, arguments: Mapping[str, Any], *, as_json: bool) -> int:
    result = await connection.call_tool(tool, arguments)
    if as_json:
        print(json.dumps(result))
    else:
        for part in result.get("content", []):
            shown = part["text"] if part.get("type") == "text" else f"[{part.get('type')}]"
            print(sanitize_text(str(shown), limit=_MAX_RESULT))
    return 1 if result.get("isError") else 0


async def _choose_tools(connection: Connection, *, as_json: bool) -> int:
    """List the tools; in a terminal, call the tools that the user types."""
    tools = await connection.list_tools()
    for tool, description in tools:
        print(sanitize_text(tool, multiline=False))
        if description:
            print(quote(sanitize_text(description, limit=_MAX_DESCRIPTION, multiline=False), _WIDTH))
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
            await _call_tool(connection, tool, arguments, as_json=as_json)
        except Exception as error:  # noqa: BLE001 -- the next call may succeed
            print(_explain(error))


async def _ask_tool(console: Console) -> str | None:
    try:
        return (await console.ask(f"\n{text(messages.TOOL_PROMPT)}")).strip()
    except (EndOfInputError, InterruptedByUserError):
        return None


def _read_tool_line(line: str, tools: set[str]) -> tuple[str, dict[str, Any], str]:
    """Return the tool and its arguments, and why they cannot be used; empty if they can."""
    tool, _, typed = line.partition(" ")
    try:
        arguments = from_json(typed or "{}")
    except ValueError:
        return tool, {}, text(messages.ARGUMENTS_NOT_JSON, example=_EXAMPLE)
    if tool not in tools:
        return tool, {}, text(messages.UNKNOWN_TOOL)
    if not isinstance(arguments, dict):
        return tool, {}, text(messages.ARGUMENTS_NOT_AN_OBJECT)
    return tool, arguments, ""


def _explain(error: BaseException, errlog: TextIO | None = None) -> str:
    """Return what failed, sanitized, with the last lines of the server's log."""
    causes = list(dict.fromkeys(sanitize_text(_describe(each), limit=_MAX_ERROR) for each in _leaves(error)))
    lines = [text(messages.SERVER_FAILED, reason="; ".join(causes))]
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
        return text(messages.CONNECTION_CLOSED)
    if isinstance(error, CallError):
        return str(error)
    code = _code(error)
    return f"{error} (error {code})" if code is not None else f"{type(error).__name__}: {error}"


def _code(error: BaseException) -> int | None:
    code = getattr(getattr(error, "error", None), "code", None)
    return code if isinstance(code, int) else None
