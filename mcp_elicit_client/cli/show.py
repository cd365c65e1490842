"""``mcp-elicit show``: answer the request in a file."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import anyio

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import (
    CommandError,
    describe_diagnostic,
    limits,
    read_params,
    report_unanswered,
    url_rules,
    wrap,
)
from mcp_elicit_client.cli.handlers import handler_from_options
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.policies import protect_secrets
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.typing import Answer, Request

if TYPE_CHECKING:
    from mcp.types import ElicitResult


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
