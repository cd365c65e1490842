"""``mcp-elicit call`` and ``mcp-elicit demo``: answer the requests of a server, or of the demo server."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import anyio
from pydantic_core import from_json

from mcp_elicit_client._concurrency import leaf_errors
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Connection, ConnectMode, connect
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.answer_options import scripted_answers
from mcp_elicit_client.cli.common import (
    CommandFailedError,
    UnansweredError,
    UsageError,
    explain_refusal,
    failure_data,
    is_output_error,
    limits,
    output_width,
    parse_json,
    quote,
    report_unanswered,
    url_rules,
)
from mcp_elicit_client.cli.handlers import handler_from_options, interactive_handler, wants_browser
from mcp_elicit_client.cli.remembered import remembered_hint, remembered_lines
from mcp_elicit_client.cli.server_address import ServerAddress
from mcp_elicit_client.cli.server_errors import explain, needs_legacy, open_log
from mcp_elicit_client.cli.suspend import run_suspending_call
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.demo.run import run_demo
from mcp_elicit_client.handlers.scripted import ScriptedAnswers
from mcp_elicit_client.handlers.terminal.console import (
    Console,
    EndOfInputError,
    InterruptedByUserError,
    LineTooLongError,
)
from mcp_elicit_client.handlers.terminal.terminal import terminal
from mcp_elicit_client.policies import RememberedAnswers, compose, hooks, protect_secrets
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.messages import LINE_TOO_LONG
from mcp_elicit_client.presentation.quoting import is_terminal, sentence
from mcp_elicit_client.registry import ElicitationRegistry
from mcp_elicit_client.typing import Answer, Request

_MAX_RESULT = 100_000
_MAX_DESCRIPTION = 300
_NUMBER_WIDTH = 3
_EXAMPLE = 'TOOL {"text": "hello"}'

_Tools = Sequence[tuple[str, str]]


def run_demo_command(options: argparse.Namespace) -> int:
    """
    Run the demo; return the exit status.

    Raises:
        CommandFailedError: If it fails.
        UsageError: If the options exclude each other.
    """
    if options.auto and options.browser:
        raise UsageError(messages.OPTIONS_CONFLICT, first="--auto", second="--browser")
    asks_user = not options.auto and (wants_browser(options) or (is_terminal(sys.stdin) and is_terminal(sys.stdout)))
    handler = interactive_handler(options) if asks_user else None
    try:
        anyio.run(run_demo, handler, functools.partial(print, flush=True), options.catalog, options.json)
    except Exception as error:  # noqa: BLE001 -- the SDK may raise anything
        _raise_output_error(error)
        raise CommandFailedError(explain(error, options.catalog), code="server") from None
    return 0


def _raise_output_error(error: Exception) -> None:
    for each in filter(is_output_error, leaf_errors(error)):
        raise each from None


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
    address = ServerAddress.from_options(options)
    if address is None:
        raise UsageError(messages.SERVER_MISSING)
    arguments = parse_json(options.args, "--args")
    if not isinstance(arguments, dict):
        raise UsageError(messages.NOT_AN_OBJECT, source="--args")
    script = scripted_answers(options)
    if options.suspend:
        return run_suspending_call(options, address, arguments)
    if script is None:
        return anyio.run(_connect_and_call, options, address, arguments, None)
    failure = ""
    try:
        status = anyio.run(_connect_and_call, options, address, arguments, script)
    except CommandFailedError as error:
        if not script.unanswered:
            raise
        status, failure = 1, error.text(options.catalog)
        if options.json:
            print(json.dumps(failure_data(error)))
    report = script.report(width=output_width(), include_unused=status == 0)
    if options.json and script.unanswered:
        print(json.dumps({"unanswered": [each.to_json() for each in script.unanswered]}))
    if report:
        raise UnansweredError("\n".join(filter(None, (failure, report))))
    return status


async def _connect_and_call(
    options: argparse.Namespace, address: ServerAddress, arguments: Mapping[str, Any], script: ScriptedAnswers | None
) -> int:
    remembered = RememberedAnswers()
    catalog: MessageCatalog = options.catalog

    def report_refusal(reason: str) -> None:
        if script is not None:
            script.note_refusal(reason)
        elif not options.headless:
            report_unanswered(reason, catalog)

    async def report_unattended(_request: Request, answer: Answer) -> None:
        if answer.by == "unattended" and script is None:
            report_refusal(answer.reason)

    policy = compose(
        script.policy if script else None,
        remembered.policy,
        protect_secrets(action="warn"),
        hooks(after=report_unattended),
    )
    registry = ElicitationRegistry(limits=limits(options), url_rules=url_rules(options), policy=policy)
    registry.on_elicitation(script or handler_from_options(options))
    registry.notifier.on_refused = lambda error: report_refusal(explain_refusal(error, catalog))
    mode: ConnectMode = "legacy" if options.legacy else "auto"
    with open_log() as errlog:
        try:
            caller = Caller(registry, options.name or address.text)
            async with connect(address.target(errlog), caller, mode=mode) as connection:
                if options.tool is None:
                    return await _choose_tools(connection, remembered, catalog, as_json=options.json)
                tool = await _tool_name(connection, options.tool)
                return await _call_tool(connection, tool, arguments, as_json=options.json)
        except CommandFailedError:
            raise
        except Exception as error:  # noqa: BLE001 -- the SDK may raise anything
            _raise_output_error(error)
            hint = f"\n{catalog.text(messages.NEEDS_LEGACY)}" if needs_legacy(error, mode) else ""
            raise CommandFailedError(explain(error, catalog, errlog) + hint, code="server") from None


async def _tool_name(connection: Connection, typed: str) -> str:
    """Return the name of the tool that the user typed, which may be its number in the list."""
    if not typed.isascii() or not typed.isdigit():
        return typed
    return _tool_at(typed, await connection.list_tools()) or typed


def _tool_at(typed: str, tools: _Tools) -> str | None:
    """Return the tool with the name *typed*, or else with that number, from 1 on; otherwise None."""
    names = [name for name, _ in tools]
    numbered = {str(number): name for number, name in enumerate(names, 1)}
    return typed if typed in names else numbered.get(typed)


async def _call_tool(
    connection: Connection, tool: str, arguments: Mapping[str, Any], *, as_json: bool, is_quoted: bool = False
) -> int:
    """Call *tool* and print its result: as it is, or quoted among lines of the host."""
    result = await connection.call_tool(tool, arguments)
    if as_json:
        print(json.dumps(result))
    else:
        for shown in _texts(result):
            text = sanitize_text(shown, limit=_MAX_RESULT)
            print(quote(text) if is_quoted else text)
    return 1 if result.get("isError") else 0


def _texts(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a result, and the types of its other parts; without parts, its structured content."""
    for part in result.get("content", []):
        yield str(part["text"]) if part.get("type") == "text" else f"[{part.get('type')}]"
    if not result.get("content") and "structuredContent" in result:
        yield json.dumps(result["structuredContent"])


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
            print(explain(error, catalog))


def _tool_lines(tools: _Tools) -> Iterator[str]:
    """Yield the tools with their numbers, which the host writes before the gutter of the server's text."""
    for number, (name, description) in enumerate(tools, 1):
        texts = [sanitize_text(name, limit=_MAX_DESCRIPTION, multiline=False)]
        if description:
            texts.append(sanitize_text(description, limit=_MAX_DESCRIPTION, multiline=False))
        quoted = "\n".join(quote(text, _NUMBER_WIDTH) for text in texts).split("\n")
        for at, line in enumerate(quoted):
            yield f"{'' if at else number:>{_NUMBER_WIDTH}}{line}"


async def _ask_tool(console: Console, catalog: MessageCatalog, hint: str) -> str | None:
    if hint:
        console.write(f"\n{sentence(hint, console.width)}")
    try:
        return (await console.ask(f"\n{catalog.text(messages.TOOL_PROMPT)}")).strip()
    except LineTooLongError:
        console.write(catalog.text(LINE_TOO_LONG))
        return await _ask_tool(console, catalog, hint)
    except (EndOfInputError, InterruptedByUserError):
        return None


def _read_tool_line(line: str, tools: _Tools) -> tuple[str, dict[str, Any], Message | None]:
    """Return the tool and its arguments, and why they cannot be used; None if they can."""
    typed, _, rest = line.partition(" ")
    tool = _tool_at(typed, tools)
    try:
        arguments = from_json(rest or "{}", allow_inf_nan=False)
    except ValueError:
        return typed, {}, messages.ARGUMENTS_NOT_JSON
    if tool is None:
        return typed, {}, messages.UNKNOWN_TOOL
    if not isinstance(arguments, dict):
        return tool, {}, messages.ARGUMENTS_NOT_AN_OBJECT
    return tool, arguments, None
