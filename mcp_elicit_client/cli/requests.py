"""``mcp-elicit show`` and ``mcp-elicit lint``: answer or check the request in a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import anyio

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.messages import text
from mcp_elicit_client.cli.options import handler_from_options, read_params, url_rules
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS, Server
from mcp_elicit_client.core.schema.lint import LintMessage, lint
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.typing import Answer, Request

if TYPE_CHECKING:
    from mcp.types import ElicitResult

_MAX_FIELD_NAME = 80


def run_show(options: argparse.Namespace) -> int:
    """Show a request and print its answer as JSON; return the exit status."""
    params = read_params(options.file)
    handler = handler_from_options(options)

    async def note_and_ask(request: Request, /) -> Answer | ElicitResult:
        for diagnostic in request.diagnostics:
            print(text(messages.NOTE, text=_describe(diagnostic)), file=sys.stderr)
        return await handler(request)

    dispatcher = Dispatcher(note_and_ask, RequestOptions(url_rules=url_rules(options)))

    async def answer() -> Answer:
        return await dispatcher.answer(params, server=Server.from_name(options.name))

    given = anyio.run(answer)
    if given.by != "user":
        print(text(messages.ERROR, reason=given.reason), file=sys.stderr)
    print(json.dumps(dispatcher.to_wire(given)))
    return 1 if given.by == "error" else 0


def run_lint(options: argparse.Namespace) -> int:
    """Check a request against each protocol version; return the exit status."""
    params = read_params(options.file)
    versions = [options.protocol_version] if options.protocol_version else PROTOCOL_VERSIONS
    found = [each for each in lint(params) if each.protocol_version in versions]
    rejecting = {each.protocol_version for each in found if each.severity == "error"}
    if options.json:
        print(json.dumps([each.model_dump() for each in found], indent=2))
    else:
        for line in _lint_lines(versions, found, rejecting):
            print(line)
        for line in _support_lines(params):
            print(line)
    return 1 if len(rejecting) == len(versions) else 0


def _lint_lines(versions: Sequence[str], found: Sequence[LintMessage], rejecting: AbstractSet[str]) -> Iterator[str]:
    for version in versions:
        yield text(messages.NOT_ALLOWED if version in rejecting else messages.ALLOWED, version=version)
        for each in found:
            if each.protocol_version == version:
                yield f"  {each.severity}: {each.path or '/'}: {each.message}"


def _support_lines(params: object) -> Iterator[str]:
    try:
        request = parse_request(params)
    except RequestError as error:
        yield text(messages.REQUEST_REJECTED, reason=str(error).removesuffix("."))
        return
    yield text(messages.REQUEST_SUPPORTED)
    for diagnostic in request.diagnostics:
        yield f"  {diagnostic.code}: {_describe(diagnostic)}"


def _describe(diagnostic: Diagnostic) -> str:
    if diagnostic.field is None:
        return diagnostic.message
    return f"{sanitize_text(diagnostic.field, limit=_MAX_FIELD_NAME, multiline=False)}: {diagnostic.message}"
