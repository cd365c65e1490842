"""``mcp-elicit call`` and ``mcp-elicit demo``: answer the requests of a server, or of the demo server."""

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

from mcp_elicit_client._concurrency import leaf_errors
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, Connection, ConnectMode, connect
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.answer_options import scripted_answers
from mcp_elicit_client.cli.common import CommandFailedError, UnansweredError, UsageError, output_width, parse_json
from mcp_elicit_client.cli.handlers import handler_from_options, interactive_handler, limits, url_rules, wants_browser
from mcp_elicit_client.cli.remembered import remembered_hint, remembered_lines
from mcp_elicit_client.cli.scripted_answers import ScriptedAnswers
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.demo.run import run_demo
from mcp_elicit_client.exceptions import CallError, HandshakeRequiredError
from mcp_elicit_client.handlers.terminal.console import Console, EndOfInputError, InterruptedByUserError
from mcp_elicit_client.handlers.terminal.terminal import terminal
from mcp_elicit_client.policies import RememberedAnswers, compose, protect_secrets
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.quoting import quote, sentence
from mcp_elicit_client.registry import ElicitationRegistry

_MAX_RESULT = 100_000
_MAX_DESCRIPTION = 300
_MAX_NAME = 80
_MAX_ERROR = 500
_LOG_LINES = 10
_NUMBER_WIDTH = 3
_INVALID_REQUEST = -32600
_EXAMPLE = 'TOOL {"text": "hello"}'

_Tools = Sequence[tuple[str, str]]


def run_demo_command(options: argparse.Namespace) -> int:
    """
    Run the demo; return the exit status.

    Raises:
        CommandFailedError: If it fails.
    """
    asks_user = not options.auto and (wants_browser(options) or (sys.stdin.isatty() and sys.stdout.isatty()))
    handler = interactive_handler(options) if asks_user else None
    try:
        anyio.run(
            functools.partial(run_demo, handler, functools.partial(print, flush=True), options.catalog, options.json)
        )
    except Exception as error:  # noqa: BLE001 -- the SDK may raise anything
        raise CommandFailedError(_explain(error, options.catalog)) from None
    return 0


def run_call(options: argparse.Namespace) -> int:
    """
    Call a tool, or list the tools and let the user choose; return the exit status.

    Raises:
        CommandFailedError: If the server fails.
        UnansweredError: If the answers given in advance do not fit the
            server's requests.
        UsageError: If the arguments are not a JSON object, no server is
            named, or the answers cannot be read.
    """
    if bool(options.url) == bool(options.server_command):
        raise UsageError(messages.SERVER_MISSING)
    arguments = parse_json(options.args, "--args")
    if not isinstance(arguments, dict):
        raise UsageError(messages.NOT_AN_OBJECT, source="--args")
    script = scripted_answers(options)
    if script is None:
        return anyio.run(_connect_and_call, options, arguments, None)
    failure = ""
    try:
        status = anyio.run(_connect_and_call, options, arguments, script)
    except CommandFailedError as error:
        if not script.unanswered:
            raise
        status, failure = 1, error.text(options.catalog)
    report = script.report(include_unused=status == 0)
    if options.json and script.unanswered:
        print(json.dumps({"unanswered": [each.to_json() for each in script.unanswered]}))
    if report:
        raise UnansweredError("\n".join(filter(None, (failure, report))))
    return status


async def _connect_and_call(
    options: argparse.Namespace, arguments: Mapping[str, Any], script: ScriptedAnswers | None
) -> int:
    remembered = RememberedAnswers()
    policy = compose(script.policy if script else None, remembered.policy, protect_secrets(action="warn"))
    registry = ElicitationRegistry(limits=limits(options), url_rules=url_rules(options), policy=policy)
    registry.on_elicitation(script or handler_from_options(options))
    catalog: MessageCatalog = options.catalog
    mode: ConnectMode = "legacy" if options.legacy else "auto"
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errlog:
        where = options.url or Command(options.server_command, errlog)
        try:
            async with connect(where, Caller(registry, _server_name(options)), mode=mode) as connection:
                if options.tool is None:
                    return await _choose_tools(connection, remembered, catalog, as_json=options.json)
                tool = await _tool_name(connection, options.tool)
                return await _call_tool(connection, tool, arguments, as_json=options.json)
        except Exception as error:  # noqa: BLE001 -- the SDK may raise anything
            if any(isinstance(each, BrokenPipeError) for each in leaf_errors(error)):
                raise BrokenPipeError from None
            hint = f"\n{catalog.text(messages.NEEDS_LEGACY)}" if _needs_legacy(error, mode) else ""
            raise CommandFailedError(_explain(error, catalog, errlog) + hint) from None


def _server_name(options: argparse.Namespace) -> str:
    address: Sequence[str] = [options.url] if options.url else options.server_command
    return options.name or sanitize_text(" ".join(address), limit=_MAX_NAME, multiline=False)


async def _tool_name(connection: Connection, typed: str) -> str:
    """Return the name of the tool that the user typed, which may be its number in the list."""
    if not typed.isascii() or not typed.isdigit():
        return typed
    return _tool_at(typed, await connection.list_tools()) or typed


def _tool_at(typed: str, tools: _Tools) -> str | None:
    """Return the tool with the name *typed*, or else with that number, from 1 on; otherwise None."""
    names = [name for name, _ in tools]
    if typed in names:
        return typed
    is_number = typed.isascii() and typed.isdigit() and 1 <= int(typed) <= len(names)
    return names[int(typed) - 1] if is_number else None


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
            print(quote(text, output_width()) if is_quoted else text)
    return 1 if result.get("isError") else 0


async def _choose_tools(
    connection: Connection, remembered: RememberedAnswers, catalog: MessageCatalog, *, as_json: bool
) -> int:
    """List the tools; in a terminal, call the tools that the user chooses by number or name."""
    tools = await connection.list_tools()
    if as_json:
        print(json.dumps([{"name": name, "description": description} for name, description in tools]))
        return 0
    for line in _tool_lines(tools):
        print(line)
    while True:
        async with terminal() as console:
            hint = remembered_hint(remembered, catalog)
            typed = None if console is None else await _ask_tool(console, catalog, hint)
        if not typed:
            return 0
        lines = remembered_lines(typed, remembered, catalog)
        if lines is not None:
            print("\n".join(lines))
            continue
        tool, arguments, complaint = _read_tool_line(typed, tools)
        if complaint is not None:
            print(catalog.text(complaint, example=_EXAMPLE))
            continue
        try:
            await _call_tool(connection, tool, arguments, as_json=False, is_quoted=True)
        except Exception as error:  # noqa: BLE001 -- the next call may succeed
            print(_explain(error, catalog))


def _tool_lines(tools: _Tools) -> Iterator[str]:
    """Yield the tools with their numbers, which the host writes before the gutter of the server's text."""
    for number, (name, description) in enumerate(tools, 1):
        texts = [sanitize_text(name, limit=_MAX_DESCRIPTION, multiline=False)]
        if description:
            texts.append(sanitize_text(description, limit=_MAX_DESCRIPTION, multiline=False))
        quoted = "\n".join(quote(text, output_width() - _NUMBER_WIDTH) for text in texts).split("\n")
        for at, line in enumerate(quoted):
            yield f"{'' if at else number:>{_NUMBER_WIDTH}}{line}"


async def _ask_tool(console: Console, catalog: MessageCatalog, hint: str) -> str | None:
    if hint:
        console.write(f"\n{sentence(hint, console.width)}")
    try:
        return (await console.ask(f"\n{catalog.text(messages.TOOL_PROMPT)}")).strip()
    except (EndOfInputError, InterruptedByUserError):
        return None


def _read_tool_line(line: str, tools: _Tools) -> tuple[str, dict[str, Any], Message | None]:
    """Return the tool and its arguments, and why they cannot be used; None if they can."""
    typed, _, rest = line.partition(" ")
    tool = _tool_at(typed, tools)
    try:
        arguments = from_json(rest or "{}")
    except ValueError:
        return typed, {}, messages.ARGUMENTS_NOT_JSON
    if tool is None:
        return typed, {}, messages.UNKNOWN_TOOL
    if not isinstance(arguments, dict):
        return tool, {}, messages.ARGUMENTS_NOT_AN_OBJECT
    return tool, arguments, None


def _explain(error: BaseException, catalog: MessageCatalog, errlog: TextIO | None = None) -> str:
    """Return what failed, sanitized, with the last lines of the server's log."""
    texts = (_describe(each, catalog) for each in leaf_errors(error))
    causes = list(dict.fromkeys(sanitize_text(text, limit=_MAX_ERROR, multiline=False) for text in texts))
    lines = [catalog.text(messages.SERVER_FAILED, reason="; ".join(causes))]
    if errlog is not None:
        errlog.seek(0)
        tail = errlog.read()[-_MAX_RESULT:].splitlines()[-_LOG_LINES:]
        shown = (sanitize_text(line, limit=_MAX_ERROR, multiline=False) for line in tail if line.strip())
        lines += [quote(line, output_width()) for line in shown]
    return "\n".join(lines)


def _needs_legacy(error: BaseException, mode: ConnectMode) -> bool:
    """Return True if the server may have failed because it supports only server-initiated requests."""
    return mode == "auto" and any(
        isinstance(each, HandshakeRequiredError) or _code(each) == _INVALID_REQUEST for each in leaf_errors(error)
    )


def _describe(error: BaseException, catalog: MessageCatalog) -> str:
    if isinstance(error, (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)):
        return catalog.text(messages.CONNECTION_CLOSED)
    if isinstance(error, HandshakeRequiredError):
        return catalog.text(messages.SERVER_INITIATED)
    if isinstance(error, CallError):
        return str(error)
    code = _code(error)
    return f"{error} (error {code})" if code is not None else f"{type(error).__name__}: {error}"


def _code(error: BaseException) -> int | None:
    code = getattr(getattr(error, "error", None), "code", None)
    return code if isinstance(code, int) else None
