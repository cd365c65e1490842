"""``mcp-elicit lint``: check the request in a file against each protocol version."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import describe_diagnostic, explain_refusal, limits, read_params, url_rules, wrap
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS
from mcp_elicit_client.core.schema.lint import LintMessage, Severity, lint
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.presentation.catalog import MessageCatalog

_SEVERITIES: Mapping[Severity, Message] = {
    "error": messages.SEVERITY_ERROR,
    "warning": messages.SEVERITY_WARNING,
    "note": messages.SEVERITY_NOTE,
}


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
