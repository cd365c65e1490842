"""``mcp-elicit show`` and ``mcp-elicit lint``: answer or check the request in a file."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import anyio

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import (
    CommandError,
    describe_diagnostic,
    explain_refusal,
    read_params,
    report_unanswered,
    wrap,
)
from mcp_elicit_client.cli.handlers import handler_from_options, limits, url_rules
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS, Server
from mcp_elicit_client.core.schema.lint import LintMessage, Severity, lint
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.policies import protect_secrets
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.typing import Answer, Request

if TYPE_CHECKING:
    from mcp.types import ElicitResult

_SEVERITIES: Mapping[Severity, Message] = {
    "error": messages.SEVERITY_ERROR,
    "warning": messages.SEVERITY_WARNING,
    "note": messages.SEVERITY_NOTE,
}


# --- show


def run_show(options: argparse.Namespace) -> int:
    """
    Show a request and print its answer as JSON; return the exit status.

    Raises:
        CommandError: If the request was not answered.
    """
    catalog: MessageCatalog = options.catalog
    params = read_params(options.file, catalog)
    handler = handler_from_options(options)
    shown: list[Request] = []

    async def note_and_ask(request: Request, /) -> Answer | ElicitResult:
        shown.append(request)
        warnings = request_warnings(request, catalog)
        for warning in warnings if options.headless else ():  # user interfaces show them
            print(wrap(warning_line(warning, catalog), hanging=2), file=sys.stderr)
        warned = {warning.code for warning in warnings if not warning.is_note}
        for diagnostic in (each for each in request.diagnostics if each.code not in warned):
            text = catalog.text(messages.NOTE, text=describe_diagnostic(diagnostic))
            print(wrap(text, hanging=2), file=sys.stderr)
        return await handler(request)

    dispatcher = Dispatcher(
        protect_secrets(action="warn")(note_and_ask),
        RequestOptions(limits=limits(options), url_rules=url_rules(options)),
    )
    given = anyio.run(functools.partial(dispatcher.answer, params, server=Server.from_name(options.name)))
    wire = dispatcher.to_wire(given)
    print(json.dumps({**wire, **_details(given, shown, catalog)} if options.json else wire))
    if given.by == "user":
        return 0
    if given.by == "error" or not options.headless:
        raise CommandError(messages.NOT_ANSWERED, reason=given.reason)
    report_unanswered(given.reason, catalog)
    return 0


def _details(answer: Answer, shown: Sequence[Request], catalog: MessageCatalog) -> dict[str, Any]:
    warnings = [asdict(warning) for request in shown for warning in request_warnings(request, catalog)]
    diagnostics = [each.model_dump() for request in shown for each in request.diagnostics]
    return {"by": answer.by, "reason": answer.reason, "warnings": warnings, "diagnostics": diagnostics}


# --- lint


def run_lint(options: argparse.Namespace) -> int:
    """Check a request against each protocol version; return the exit status."""
    catalog: MessageCatalog = options.catalog
    params = read_params(options.file, catalog)
    versions = [options.protocol_version] if options.protocol_version else PROTOCOL_VERSIONS
    found = [each for each in lint(params, limits(options)) if each.protocol_version in versions]
    rejecting = {each.protocol_version for each in found if each.severity == "error"}
    if options.json:
        print(json.dumps([each.model_dump() for each in found], indent=2))
    else:
        for line in (*_lint_lines(versions, found, rejecting, catalog), *_support_lines(params, found, options)):
            print(line)
    return 1 if len(rejecting) == len(versions) else 0


def _lint_lines(
    versions: Sequence[str], found: Sequence[LintMessage], rejecting: AbstractSet[str], catalog: MessageCatalog
) -> Iterator[str]:
    for version in versions:
        message = messages.NOT_ALLOWED if version in rejecting else messages.ALLOWED
        yield catalog.text(message, version=version)
        for each in found:
            if each.protocol_version == version and each.severity != "warning":
                yield _finding_line(each.severity, each.path, each.message, catalog)


def _finding_line(severity: Severity, path: str, message: str, catalog: MessageCatalog) -> str:
    return wrap(f"{catalog.text(_SEVERITIES[severity])}: {path or '/'}: {message}", 2, 4)


def _support_lines(params: object, found: Sequence[LintMessage], options: argparse.Namespace) -> Iterator[str]:
    """Yield whether mcp-elicit supports the request, and what is the same in every protocol version."""
    catalog: MessageCatalog = options.catalog
    try:
        request = parse_request(params, limits=limits(options), url_rules=url_rules(options))
    except RequestError as error:
        yield wrap(
            catalog.text(messages.REQUEST_REJECTED, reason=explain_refusal(error, catalog).removesuffix(".")), hanging=2
        )
        return
    yield catalog.text(messages.REQUEST_SUPPORTED)
    for path, message in dict.fromkeys((each.path, each.message) for each in found if each.severity == "warning"):
        yield _finding_line("warning", path, message, catalog)
    for diagnostic in (each for each in request.diagnostics if each.code != "default_dropped"):
        yield wrap(f"{diagnostic.code}: {describe_diagnostic(diagnostic)}", 2, 4)
