"""``mcp-elicit call``: one server, its tools, its questions."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import anyio
from pydantic_core import from_json

from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, Connection, ConnectMode, connect
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.url.inspect import UrlRules
from mcp_elicit_client.exceptions import CallError
from mcp_elicit_client.handlers.terminal.line_mode import Console, EndOfInputError, InterruptedByUserError, terminal
from mcp_elicit_client.presentation.quoting import quote
from mcp_elicit_client.registry import ElicitationRegistry
from mcp_elicit_client.typing import Handler

_RESULT = 100_000
_DESCRIPTION = 300
_TAIL = 10
_WIDTH = 78
_INVALID_REQUEST = -32600
_HINT = "\nIf this server asks as servers did before 2026-07-28, it needs --legacy."


class CallFailedError(Exception):
    """What went wrong between us and the server, in words fit for the terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    What ``call`` was told to do.

    Attributes:
        where: A command with its arguments, or a URL.
        name: What to call the server in its questions.
        tool: The tool to call; None to list or choose.
        arguments: Its arguments.
        as_json: Whether results are printed as on the wire.
        mode: Which protocol revisions to speak.
    """

    where: Sequence[str] | str
    name: str
    tool: str | None = None
    arguments: Mapping[str, Any]
    as_json: bool = False
    mode: ConnectMode = "auto"


async def call(job: Job, handler: Handler, url_rules: UrlRules) -> int:
    """
    Connect, call the tool or choose among the tools, print what comes back.

    Returns:
        The exit status.

    Raises:
        CallFailedError: If the server cannot be reached, or fails.
    """
    registry = ElicitationRegistry(url_rules=url_rules)
    registry.on_elicitation(handler)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errlog:
        where = job.where if isinstance(job.where, str) else Command(job.where, errlog)
        try:
            async with connect(where, Caller(registry, job.name), mode=job.mode) as connection:
                if job.tool is None:
                    return await _choose(connection, as_json=job.as_json)
                return await _call(connection, job.tool, job.arguments, as_json=job.as_json)
        except Exception as error:  # noqa: BLE001 -- whatever the SDK raises, in words
            if any(isinstance(each, BrokenPipeError) for each in _leaves(error)):
                raise BrokenPipeError from None
            raise CallFailedError(explain(error, errlog) + (_HINT if is_refused(error, job.mode) else "")) from None


async def _call(connection: Connection, tool: str, arguments: Mapping[str, Any], *, as_json: bool) -> int:
    result = await connection.call_tool(tool, arguments)
    if as_json:
        print(json.dumps(result))
    else:
        for part in result.get("content", []):
            shown = part["text"] if part.get("type") == "text" else f"[{part.get('type')}]"
            print(sanitize_text(str(shown), limit=_RESULT))
    return 1 if result.get("isError") else 0


async def _choose(connection: Connection, *, as_json: bool) -> int:
    """List the tools; in a terminal, go on calling the ones that are typed."""
    tools = await connection.list_tools()
    for tool, description in tools:
        print(sanitize_text(tool, multiline=False))
        if description:
            print(quote(sanitize_text(description, limit=_DESCRIPTION, multiline=False), _WIDTH))
    names = {tool for tool, _ in tools}
    while True:
        async with terminal() as console:
            line = None if console is None else await _ask_tool(console)
        if not line:
            return 0
        tool, _, text = line.partition(" ")
        try:
            arguments = from_json(text or "{}")
        except ValueError:
            print('The arguments are not JSON.  Type, for example: TOOL {"text": "hello"}')
            continue
        if tool not in names or not isinstance(arguments, dict):
            print("There is no such tool." if tool not in names else "The arguments must be a JSON object.")
            continue
        try:
            await _call(connection, tool, arguments, as_json=as_json)
        except Exception as error:  # noqa: BLE001 -- one call failed; the next may not
            print(explain(error))


async def _ask_tool(console: Console) -> str | None:
    try:
        return (await console.ask("\nTool to call, and its arguments as JSON (Enter to leave): ")).strip()
    except (EndOfInputError, InterruptedByUserError):
        return None


def explain(error: BaseException, errlog: TextIO | None = None) -> str:
    """Say in words what failed, safe to show; with the last lines of the server's own log."""
    causes = list(dict.fromkeys(sanitize_text(_describe(each), limit=500) for each in _leaves(error)))
    lines = ["the server failed: " + "; ".join(causes)]
    if errlog is not None:
        errlog.seek(0)
        tail = errlog.read()[-_RESULT:].splitlines()[-_TAIL:]
        lines += [quote(sanitize_text(line, limit=500, multiline=False), _WIDTH) for line in tail if line.strip()]
    return "\n".join(lines)


def is_refused(error: BaseException, mode: ConnectMode) -> bool:
    """Tell whether the server may have failed since it cannot ask in the newest revision's way."""
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
        return "it closed the connection"
    if isinstance(error, CallError):
        return str(error)
    code = _code(error)
    return f"{error} (error {code})" if code is not None else f"{type(error).__name__}: {error}"


def _code(error: BaseException) -> int | None:
    code = getattr(getattr(error, "error", None), "code", None)
    return code if isinstance(code, int) else None
